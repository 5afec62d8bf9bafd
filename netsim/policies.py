"""Ways to decide without Python in the loop: a teacher's network, the emitted C, the integer decision program, a core.

Each function returns a policy specification, to be used in any number of simulations:

    native(policy, weights)       a network in C++ (float32)
    compiled(path, installed)     a shared library with the emitted C
    program(program, installed)   the integer decision program, interpreted
    decider(address, ..)          an emulated core, which also says what each decision takes
    fixed(interface, knobs)       a setting that stays as it is

Agents are flows that set their rate unless another interface is named; where its agents live: netsim/sites.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.expression import signals
from decision.ir.interface import Interface
from decision.ir.interfaces.flow_rate import (
    CONGESTION_GAIN,
    CONTEXT_RATE_BITS,
    DEVICE_RATE,
    FLOW_RATE,
    LINE_RATE_Q30,
    TARGET_RATIO,
)
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from decision.ir.program import Program
from decision.ir.tape import Names, Tape
from decision.policy.actions import Action, Choice, Table
from decision.policy.algorithm import Algorithm
from decision.policy.deciders import Pupil
from decision.policy.device_rate import device_rate_program
from decision.policy.features import Place
from decision.policy.layers import GATES, PlacedLayer
from decision.policy.once_per_rtt import late_program
from decision.policy.policy import Header, Policy
from decision.policy.start import Start, start_program
from decision.policy.target import congestion_gain_q28, target_ratio
from decision.policy.weights import TRIGGER
from decision.policy.weights import shapes as weight_shapes
from netsim import _core
from netsim.baselines import BaselineSpec, by_name
from netsim.programs import program_config
from netsim.sites import Paths, SiteFacts, WindowPaths, device, has_agents

Weights = Mapping[str, NDArray[np.float32]]
Where = Paths | WindowPaths | SiteFacts
"""The knowledge of agents about their network."""
STAGE_PARTS = {"input": "ih", "state": "hh"}
"""Parts of a recurrent layer and the ends of their weights' names."""


class PolicySpec(Protocol):
    """Policy, as a simulation needs it. One whose agents are no flows says so: ``interface``."""

    @property
    def needs_int(self) -> bool:
        """It reads queue lengths, which switches have to stamp into packets."""

    def build(self, agents: int, where: Where | None = None) -> Any:
        """A fresh ``_core.Decider`` for ``agents`` new agents; ``where`` None: in the network that it was made for."""


def interface_of(policy: object) -> Interface:
    """Returns the interface of its event and knobs."""
    interface = getattr(policy, "interface", FLOW_RATE)
    assert isinstance(interface, Interface)
    return interface


def has_windows(policy: object) -> bool:
    """Returns whether its agents are flows with a window in bytes, which decide on each acknowledgement."""
    return interface_of(policy).site_name == FLOW_WINDOW.name


def like_baseline(policy: object) -> BaselineSpec | None:
    """Returns the baseline whose marking, bursts and acknowledgements flows have: flows with windows those of NSCC.
    None where they send probes."""
    return by_name("nscc") if has_windows(policy) else policy if isinstance(policy, BaselineSpec) else None


def header_of(policy: object) -> Header | None:
    """Returns what a policy observes, sets and asks of its flows' network; None where only its program is known."""
    if isinstance(policy, NativePolicy):
        return policy.policy
    return policy.installed.header if isinstance(policy, IntegerPolicy) else None


@dataclass(frozen=True)
class NativePolicy:
    """A teacher evaluated in C++. ``policy`` says what the weights mean. While it learns it may explore: ``explore`` is
    the probability that a decision is drawn at random, and the seed of that; ``explore_trigger`` the same of whether
    its trigger fires; ``disturb`` what each output is moved by at the most, evenly, and the seed of that; ``draw`` the
    seed by which a choice is drawn, each row with the probability of its softmax, all of an agent by one number a
    group."""

    policy: Policy
    weights: Weights = field(repr=False)
    explore: tuple[float, int] | None = None
    explore_trigger: tuple[float, int] | None = None
    disturb: tuple[float, int] | None = None
    draw: int | None = None

    @property
    def interface(self) -> Interface:
        return self.policy.observation.agents

    @property
    def needs_int(self) -> bool:
        observation = self.policy.observation
        read = {name for f in observation.features for name in signals(f.expression(observation.place))}
        return self.interface.agent == "flow" and "queue_bytes" in read

    def build(self, agents: int, where: Where | None = None) -> "_core.NativeDecider":
        place = self.policy.observation.place
        if isinstance(where, Paths) and place.assumed is not None:
            place = replace(place, assumed=replace(place.assumed, line_rate_bps=where.link_gbps * 1e9))
        core = _core.NativeDecider(
            _native_config(self.policy, place), network_weights(self.policy, self.weights), agents
        )
        if self.policy.trigger is not None:
            core.set_trigger(network_weights(self.policy, self.weights, trigger=True))
        if self.explore is not None:
            core.explore(*self.explore)
        if self.disturb is not None:
            core.disturb(*self.disturb)
        if self.draw is not None:
            core.draw(self.draw)
        if self.explore_trigger is not None:
            core.explore_trigger(*self.explore_trigger)
        for name, values in (where.known(self.interface) if where is not None else {}).items():
            core.set_known(list(self.policy.observation.known).index(name), values.astype(np.float64))
        if _asks_programs(self.policy):
            for param, each in _params_of(self.interface, where, self.policy):
                core.set_program_param(param, each)
        return core

    def with_weights(self, weights: Weights) -> "NativePolicy":
        """The same policy with other weights."""
        return replace(self, weights=_checked(self.policy, weights))

    def network(self) -> "_core.NetworkWeights":
        return network_weights(self.policy, self.weights)


@dataclass(frozen=True)
class Installed:
    """Needs of a decider in integers besides its program: what it is told, and what it asks of its network.

    ``params``: the operator's, by their names in the interface; ``needs_int``: it reads queue lengths; ``header``: by
    which parameters follow other networks, and which asks for probes, bursts and one decision a round trip;
    ``algorithm``: by whose settings all parameters follow other networks."""

    params: Mapping[str, int]
    interface: Interface = field(default=FLOW_RATE, repr=False)
    needs_int: bool = False
    header: Header | None = None
    algorithm: Algorithm | None = None

    @staticmethod
    def of(pupil: Pupil | Algorithm, program: Program) -> "Installed":
        """As its teacher was trained, or the algorithm is set; ``program``: its own."""
        if isinstance(pupil, Algorithm):
            return Installed(pupil.params(), program.interface, algorithm=pupil)
        return Installed(pupil.params(), program.interface, reads_queues(program), pupil.header)

    def device(self) -> "_core.DeviceConfig":
        """InputError where a parameter is missing or out of its range."""
        return device(self.interface, self.params, self.header is not None and self.header.once_per_rtt)


@dataclass(frozen=True)
class IntegerPolicy(ABC):
    """One that decides in integers, behind the interface of a card."""

    installed: Installed

    @property
    def interface(self) -> Interface:
        return self.installed.interface

    @property
    def needs_int(self) -> bool:
        return self.installed.needs_int

    @abstractmethod
    def core(self, agents: int) -> "_core.CompiledDecider | _core.ProgramDecider | _core.CoreDecider":
        """SiteFacts the parameters that hold for all agents."""

    def build(
        self, agents: int, where: Where | None = None
    ) -> "_core.CompiledDecider | _core.ProgramDecider | _core.CoreDecider":
        """SiteFacts those too that the network says of each agent."""
        core = self.core(agents)
        for param, values in _params_of(self.interface, where, self.installed.header, self.installed.algorithm):
            core.set_param(param, values)
        return core


@dataclass(frozen=True)
class CompiledPolicy(IntegerPolicy):
    """The emitted C in a shared library (``rlcc_decide``, and the bytes of an agent's context: ``rlcc_flow_bytes``)."""

    path: Path

    def core(self, agents: int) -> "_core.CompiledDecider":
        symbol = f"rlcc_{self.interface.agent}_bytes"
        try:
            return _core.CompiledDecider(str(self.path), symbol, self.installed.device(), agents)
        except RuntimeError as error:
            raise InputError(
                f"{self.path} is not a compiled policy: {error}; build it from a firmware folder"
            ) from None


@dataclass(frozen=True)
class ProgramPolicy(IntegerPolicy):
    """The integer decision program, interpreted in C++."""

    program: Program

    def core(self, agents: int) -> "_core.ProgramDecider":
        return _core.ProgramDecider(program_config(self.program), self.installed.device(), agents)


@dataclass(frozen=True)
class DeciderPolicy(IntegerPolicy):
    """An emulated core behind ``decision/include/rlcc_decider.h``. ``keep`` owns it: it lives as long as this and
    every simulation of it. One simulation at a time may use a core, which carries its state from one to the next."""

    address: int
    context_bytes: int
    clock_mhz: float
    keep: object = field(default=None, repr=False)

    def core(self, agents: int) -> "_core.CoreDecider":
        at = self.address, self.context_bytes, self.clock_mhz
        try:
            return _core.CoreDecider(*at, self.installed.device(), agents, self.keep)
        except ValueError as error:
            raise InputError(f"the core cannot decide here: {error}; build it again with this rlcc") from None

    def content(self) -> None:
        raise InputError("a core behind an address decides in this process only, so its runs cannot be kept")


@dataclass(frozen=True)
class FixedPolicy:
    """Knobs that stay as they are, whatever happens; in the interface's own units."""

    interface: Interface = field(repr=False)
    knobs: Mapping[str, int]
    needs_int: bool = False

    def build(self, agents: int, where: Where | None = None) -> "_core.FixedDecider":
        has_agents(self.interface)
        return _core.FixedDecider([self.knobs[knob.name] << knob.finer for knob in self.interface.knobs])


def native(policy: Policy, weights: Weights) -> NativePolicy:
    """A teacher: policy.toml and its weights by their canonical names (``fc0.weight`` .. ``out.weight``)."""
    return NativePolicy(policy, _checked(policy, weights))


def compiled(path: Path | str, installed: Installed) -> CompiledPolicy:
    """The emitted C as a shared library."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} does not exist; compile the firmware folder into a shared library first")
    installed.device()
    return CompiledPolicy(installed, file.resolve())


def program(program: Program, installed: Installed) -> ProgramPolicy:
    """An integer decision program (decision.ir.program); its interface says what its agents are, and its nodes whether
    queue lengths are read."""
    first = [field.name for field in program.interface.context]
    if [field.name for field in program.state[: len(first)]] != first:
        raise InputError(
            f"the decision program keeps no {first[0]} as its first field; decision.policy.tree_decision builds it"
        )
    told = replace(installed, interface=program.interface, needs_int=reads_queues(program))
    told.device()
    return ProgramPolicy(told, program)


def interpreted(pupil: Pupil | Algorithm) -> ProgramPolicy:
    """The program of a student, as its teacher was trained, or of a hand-written algorithm."""
    made = pupil.program()
    return program(made, Installed.of(pupil, made))


def turned(policy: PolicySpec, ratio: float) -> PolicySpec:
    """The same policy at a target ``ratio`` times the trained one. InputError where it has no such parameter, or where
    the ratio is not within its range."""
    try:
        ratio = target_ratio(ratio)
    except ValueError as error:
        raise InputError(f"target: {error}") from None
    if CONGESTION_GAIN in interface_of(policy).param_names:
        if isinstance(policy, IntegerPolicy):
            params = {**policy.installed.params, CONGESTION_GAIN: congestion_gain_q28(ratio)}
            return replace(policy, installed=replace(policy.installed, params=params))
        if isinstance(policy, NativePolicy):
            observation = policy.policy.observation.model_copy(update={TARGET_RATIO: ratio})
            return replace(policy, policy=policy.policy.model_copy(update={"observation": observation}))
    raise InputError(
        "its target is not the operator's to turn: write target_ratio = 1 into the observation of the teacher's "
        "policy.toml, and make of that what is to be turned"
    )


def fixed(interface: Interface, knobs: Mapping[str, int]) -> FixedPolicy:
    """A setting of the interface's knobs, by their names. InputError where one is missing or out of its range."""
    if set(knobs) != set(interface.knob_names):
        raise InputError(f"{interface.name}: the knobs are {', '.join(interface.knob_names)}; got {', '.join(knobs)}")
    for knob in interface.knobs:
        value = knobs[knob.name]
        if isinstance(value, bool) or not isinstance(value, int) or not knob.low <= value <= knob.high:
            raise InputError(f"{interface.name}: {knob.name} is {value!r}; it must be {knob.low} to {knob.high}")
        if knob.not_below is not None and value < knobs[knob.not_below]:
            raise InputError(f"{interface.name}: {knob.name} is {value}, below {knob.not_below}; give as much or more")
    return FixedPolicy(interface, dict(knobs))


def decider(
    address: int, context_bytes: int, clock_mhz: float, installed: Installed, keep: object = None
) -> DeciderPolicy:
    """The core behind ``address``, a pointer to an ``rlcc_decider`` that ``keep`` owns. Each decision takes its cycles
    at ``clock_mhz``; contexts are ``context_bytes`` long and begin as the interface says. If the core faults, a run
    raises InputError with the core's own sentence."""
    if not isinstance(address, int) or not 0 < address < 2**64:
        raise InputError(f"{address!r} is no address of a core that decides")
    least = 4 if installed.interface.context else 0
    if not isinstance(context_bytes, int) or not least <= context_bytes <= 65536:
        raise InputError(f"a context of {context_bytes!r} bytes is not possible; choose {least} to 65536")
    if not 0 < clock_mhz <= 10_000:
        raise InputError(f"a clock of {clock_mhz} MHz is not possible; choose up to 10,000")
    installed.device()
    return DeciderPolicy(installed, address, context_bytes, float(clock_mhz), keep)


def _params_of(
    interface: Interface, where: Where | None, header: Header | None, algorithm: Algorithm | None = None
) -> list[tuple[int, NDArray[np.uint32]]]:
    """Returns the parameters by their places in the interface."""
    in_flight, start = (None, None) if header is None else (header.in_flight, header.start)
    if isinstance(where, Paths) and len(interface.knobs) > 1 and in_flight is None:
        raise InputError(
            "the parameters cap what is in flight in the network that they are for; hand over the policy's in_flight, "
            "by which those of another network follow"
        )
    if where is None:
        return []
    if isinstance(where, Paths):
        params: Mapping[str, NDArray[np.uint32]] = where.params(interface, in_flight, start)
    else:
        params = where.params(algorithm) if isinstance(where, WindowPaths) else where.values
    return [(interface.param_names.index(name), values) for name, values in params.items()]


def _checked(policy: Policy, weights: Weights) -> dict[str, NDArray[np.float32]]:
    """float32 copies of the weights. Biases may be left out, or given where policy.toml has none: then they count."""
    shapes = weight_shapes(policy)
    checked = {}
    for name, array in weights.items():
        shape = shapes.get(name)
        if shape is None and name.endswith(".bias") and f"{name[:-5]}.weight" in shapes:
            shape = shapes[f"{name[:-5]}.weight"][:1]
        if shape is None:
            raise InputError(f"policy {policy.name}: the weights hold {name}, which its architecture does not have")
        values = np.ascontiguousarray(array, dtype=np.float32)
        if values.shape != shape:
            raise InputError(f"policy {policy.name}: {name} has shape {values.shape}, its policy.toml says {shape}")
        if not np.isfinite(values).all():
            raise InputError(f"policy {policy.name}: {name} holds NaN or infinity; train or export it again")
        checked[name] = values
    missing = [name for name in shapes if name not in checked and "bias" not in name]
    if missing:
        raise InputError(f"policy {policy.name}: the weights lack {', '.join(missing)}")
    return checked


def network_weights(policy: Policy, weights: Weights, trigger: bool = False) -> "_core.NetworkWeights":
    """Returns the weights of the policy, or of its trigger, whose hidden layers have ReLU and whose outputs nothing
    follows."""
    of, hidden, output = "", policy.architecture.activations, policy.output_activation
    if trigger and policy.trigger is not None:
        of, hidden, output = TRIGGER, ("relu",) * len(policy.trigger.hidden), "identity"

    def layer(weight: str, bias: str, activation: str = "identity") -> Any:
        w = weights[weight] if weights[weight].ndim > 1 else weights[weight][:, None]  # a layer_norm's factors
        b = weights.get(bias)
        return _core.Layer.make(w, np.zeros(w.shape[0], dtype=np.float32) if b is None else b, activation)

    core = _core.NetworkWeights()
    core.hidden = [layer(f"{of}fc{i}.weight", f"{of}fc{i}.bias", after) for i, after in enumerate(hidden)]
    if not trigger:
        width = [policy.observation.size, *policy.architecture.hidden][-1]
        core.stages = [_stage(each, layer) for each in policy.architecture.behind_hidden(width)]
        core.output_limit = inf if policy.architecture.output_clip is None else policy.architecture.output_clip
    core.output = layer(f"{of}out.weight", f"{of}out.bias", output)
    return core


def _stage(placed: PlacedLayer, layer: Callable[..., Any]) -> "_core.Stage":
    """``layer``: makes a layer of the names of its weights and its bias."""
    kind, name = placed.layer.kind, placed.name
    parts = {}
    if kind in GATES:
        parts = {part: layer(f"{name}.weight_{of}", f"{name}.bias_{of}") for part, of in STAGE_PARTS.items()}
    elif kind in ("linear", "layer_norm"):
        parts = {"input": layer(f"{name}.weight", f"{name}.bias")}
    return _core.Stage.make(kind, placed.inputs, placed.outputs, number=placed.layer.number, **parts)


def _native_config(policy: Policy, place: Place) -> "_core.NativeConfig":
    observation, action, limits, start = policy.observation, policy.action, policy.limits, policy.start
    bounds = first = config = None
    if _asks_programs(policy):
        config = device(observation.agents, policy.params())
    if limits is not None:
        most = 1 << CONTEXT_RATE_BITS if start is None else LINE_RATE_Q30  # below the bits of a phase
        bounds = min(limits.rate_min, most), min(limits.rate_max, most)
        first = min(limits.rate_initial, most)
    names = Names(observation.agents.event_names, tuple(observation.known), action.values)
    return _core.NativeConfig(
        signals=len(names.event),
        knobs=len(observation.agents.knobs),
        features=[_tape(f.tape(names, place)) for f in observation.features],
        initial=[f.initial for f in observation.features],
        window=observation.window,
        known=[float(value) for value in observation.known.values()],
        action=_tape(action.tape()),
        decides=len(action.values),
        knob=_tape(action.knob_tape(bounds)),
        in_force=first,
        device=config,
        start=_start_config(start, place),
        late=_late_config(policy),
        saved=policy.saved_size,
        groups=_rows(action),
    )


def _rows(action: Action) -> Sequence[int]:
    """How many rows each group of outputs chooses from, which is what may be explored; none where none chooses."""
    if isinstance(action, Table):
        return [action.outputs]
    return action.sizes if isinstance(action, Choice) else []


def _asks_programs(policy: Policy) -> bool:
    """Integer programs have a part in what the network decides: a start, a cap, the NIC's own rate, late answers."""
    parts = policy.start is not None or policy.in_flight is not None
    return parts or policy.observation.device_rate or policy.once_per_rtt


def _start_config(start: Start | None, place: Place) -> "_core.StartConfig | None":
    """Returns what is in force before a decision, and who makes it, as an integer program; None if the knob that was
    set last is in force and the network makes every step."""
    if start is not None:
        program, nodes = start_program(start, place)
        return _core.StartConfig(program_config(program), nodes.rate, nodes.made, program.state[0].node)
    if DEVICE_RATE not in place.interface.event_names:
        return None
    program, in_force = device_rate_program(place.interface)
    return _core.StartConfig(program_config(program), in_force, -1, -1)


def _late_config(policy: Policy) -> "_core.LateConfig | None":
    """Which answers are not decided on, as an integer program; None where every one is."""
    if not policy.once_per_rtt:
        return None
    program, late = late_program(policy.observation.agents)
    return _core.LateConfig(program_config(program), late)


def _tape(tape: Tape) -> "_core.TapeConfig":
    steps = [(int(step.op), step.a, step.b, step.c) for step in tape.steps]
    kept = [(each.register, each.back, each.initial) for each in tape.kept]
    return _core.TapeConfig(list(tape.constants), steps, list(tape.results), kept)


def reads_queues(program: Program) -> bool:
    """The program uses the queue length that a flow's probe brings back."""
    return program.interface.agent == FLOW_RATE.agent and any(
        program.key(node) == "event.queue_bytes" for node in program.nodes
    )
