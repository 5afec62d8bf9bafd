"""Ways to decide without Python in the loop: a teacher's network, the emitted C, the integer decision program, a core.

Each function returns a policy specification, to be used in any number of simulations:

    native(policy, weights)     an MLP or LSTM in C++ (float32)
    compiled(path, params)      a shared library with the emitted C
    program(program, params)    the integer decision program, interpreted
    decider(address, ..)        an emulated core, which also says what each decision takes
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from netsim import _core
from spec.actions import Multiplier, Table, TanhMap
from spec.errors import InputError
from spec.features import PccRlCongestion, RlCcCongestion
from spec.policy import Policy
from spec.program import Op, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES, U32_MAX, base_rtt_recip_q32
from spec.weights import shapes as weight_shapes

Weights = Mapping[str, NDArray[np.float32]]
RATE_ONE_Q30 = 1 << 30


@dataclass(frozen=True)
class Site:
    """What a policy is told of a network that is not the one that it was made for: as RL-CC's equation 5 has it, every
    flow's own base RTT [flows]."""

    base_rtt_ns: NDArray[np.uint32] = field(repr=False)
    link_gbps: int


class PolicySpec(Protocol):
    """What a simulation needs of a policy."""

    @property
    def needs_int(self) -> bool:
        """It reads queue lengths, which switches have to stamp into packets."""

    def build(self, flows: int, site: Site | None = None) -> Any:
        """A fresh ``_core.Policy`` for ``flows`` new flows; ``site`` None: in the network that it was made for."""


@dataclass(frozen=True)
class NativePolicy:
    """A teacher evaluated in C++. ``policy`` says what the weights mean."""

    policy: Policy
    weights: Weights = field(repr=False)

    @property
    def needs_int(self) -> bool:
        return any(
            f.kind == "queue_inflation" or getattr(f, "signal", "rtt") == "queue"
            for f in self.policy.observation.features
        )

    def build(self, flows: int, site: Site | None = None) -> "_core.NativePolicy":
        config = _native_config(self.policy)
        if site is not None:
            config.line_rate_bps = site.link_gbps * 1e9
        core = _core.NativePolicy(config, _network_weights(self.policy, self.weights), flows)
        if site is not None:
            core.set_base_rtts(site.base_rtt_ns)
        return core

    def with_weights(self, weights: Weights) -> "NativePolicy":
        """The same policy with other weights."""
        return replace(self, weights=_checked(self.policy, weights))

    def network(self) -> "_core.NetworkWeights":
        return _network_weights(self.policy, self.weights)


@dataclass(frozen=True)
class CompiledPolicy:
    """The emitted C in a shared library (``rlcc_decide``, ``rlcc_flow_bytes``)."""

    path: Path
    params: Mapping[str, int]
    needs_int: bool = False

    def build(self, flows: int, site: Site | None = None) -> "_core.CompiledPolicy":
        try:
            return _on_site(_core.CompiledPolicy(str(self.path), _params(self.params), flows), site)
        except RuntimeError as error:
            raise InputError(
                f"{self.path} is not a compiled policy: {error}; build it from a firmware folder"
            ) from None


@dataclass(frozen=True)
class ProgramPolicy:
    """The integer decision program, interpreted in C++."""

    program: Program
    params: Mapping[str, int]

    @property
    def needs_int(self) -> bool:
        return reads_queues(self.program)

    def build(self, flows: int, site: Site | None = None) -> "_core.ProgramPolicy":
        return _on_site(_core.ProgramPolicy(_program_config(self.program), _params(self.params), flows), site)


@dataclass(frozen=True)
class DeciderPolicy:
    """An emulated core behind ``spec/include/rlcc_decider.h``. ``keep`` is what owns it: it lives as long as this and
    every simulation of it. One simulation at a time may use a core, which carries its state from one to the next."""

    address: int
    context_bytes: int
    clock_mhz: float
    params: Mapping[str, int]
    keep: object = field(default=None, repr=False)
    needs_int: bool = False

    def build(self, flows: int, site: Site | None = None) -> "_core.DeciderPolicy":
        params = _params(self.params)
        try:
            core = _core.DeciderPolicy(self.address, self.context_bytes, self.clock_mhz, params, flows, self.keep)
        except ValueError as error:
            raise InputError(f"the core cannot decide here: {error}; build it again with this rlcc") from None
        return _on_site(core, site)


def native(policy: Policy, weights: Weights) -> NativePolicy:
    """A teacher: policy.toml and its weights by their canonical names (``fc0.weight`` .. ``out.weight``)."""
    return NativePolicy(policy, _checked(policy, weights))


def compiled(path: Path | str, params: Mapping[str, int], needs_int: bool = False) -> CompiledPolicy:
    """The emitted C as a shared library; ``params`` are the operator's, by their names in spec.signals. Whether it
    reads queue lengths its program says (``reads_queues``)."""
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file} does not exist; compile the firmware folder into a shared library first")
    _params(params)
    return CompiledPolicy(file.resolve(), dict(params), needs_int)


def program(program: Program, params: Mapping[str, int]) -> ProgramPolicy:
    """An integer decision program (spec.program)."""
    if not program.state or program.state[0].name != "rate_q30":
        raise InputError("the decision program keeps no rate_q30 as its first field; build it with spec.decision")
    _params(params)
    return ProgramPolicy(program, dict(params))


def decider(
    address: int,
    context_bytes: int,
    clock_mhz: float,
    params: Mapping[str, int],
    keep: object = None,
    needs_int: bool = False,
) -> DeciderPolicy:
    """The core behind ``address``, a pointer to an ``rlcc_decider`` that ``keep`` owns. Each decision takes its cycles
    at ``clock_mhz``; contexts are ``context_bytes`` long and begin with the rate (Q0.30). Where the core faults a run
    raises InputError with the core's own sentence."""
    if not isinstance(address, int) or not 0 < address < 2**64:
        raise InputError(f"{address!r} is no address of a core that decides")
    if not isinstance(context_bytes, int) or not 4 <= context_bytes <= 65536:
        raise InputError(f"a context of {context_bytes!r} bytes is not possible; choose 4 to 65536")
    if not 0 < clock_mhz <= 10_000:
        raise InputError(f"a clock of {clock_mhz} MHz is not possible; choose up to 10,000")
    _params(params)
    return DeciderPolicy(address, context_bytes, float(clock_mhz), dict(params), keep, needs_int)


Integer = TypeVar("Integer", _core.CompiledPolicy, _core.ProgramPolicy, _core.DeciderPolicy)


def _on_site(policy: Integer, site: Site | None) -> Integer:
    """The operator's parameter of each flow: the reciprocal of its base RTT."""
    if site is not None:
        each, back = np.unique(site.base_rtt_ns, return_inverse=True)
        recips = np.array([base_rtt_recip_q32(int(ns)) for ns in each], np.uint32)
        policy.set_base_rtt_recips(recips[back])
    return policy


def _params(params: Mapping[str, int]) -> "_core.Params":
    if set(params) != set(PARAM_NAMES):
        raise InputError(f"the parameters must be {', '.join(PARAM_NAMES)}; got {', '.join(sorted(params)) or 'none'}")
    for name, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value <= U32_MAX:
            raise InputError(f"parameter {name} is {value!r}; it must be a whole number that uint32 holds")
    if not 1 <= params["rate_initial_q30"] <= RATE_ONE_Q30:
        raise InputError("parameter rate_initial_q30 must be 1 to 2^30")
    return _core.Params(*(int(params[name]) for name in PARAM_NAMES))


def _checked(policy: Policy, weights: Weights) -> dict[str, NDArray[np.float32]]:
    """float32 copies of the weights. Biases may be left out, or given where policy.toml has none: then they count."""
    shapes = weight_shapes(policy)
    checked = {}
    for name, array in weights.items():
        wanted = shapes.get(name)
        if wanted is None and name.endswith(".bias") and f"{name[:-5]}.weight" in shapes:
            wanted = shapes[f"{name[:-5]}.weight"][:1]
        if wanted is None:
            raise InputError(f"policy {policy.name}: the weights hold {name}, which its architecture does not have")
        values = np.ascontiguousarray(array, dtype=np.float32)
        if values.shape != wanted:
            raise InputError(f"policy {policy.name}: {name} has shape {values.shape}, its policy.toml says {wanted}")
        if not np.isfinite(values).all():
            raise InputError(f"policy {policy.name}: {name} holds NaN or infinity; train or export it again")
        checked[name] = values
    missing = [name for name in shapes if name not in checked and "bias" not in name]
    if missing:
        raise InputError(f"policy {policy.name}: the weights lack {', '.join(missing)}")
    return checked


def _network_weights(policy: Policy, weights: Weights) -> "_core.NetworkWeights":
    def layer(weight: str, bias: str) -> Any:
        w = weights[weight]
        b = weights.get(bias)
        return _core.Layer.make(w, np.zeros(w.shape[0], dtype=np.float32) if b is None else b)

    core = _core.NetworkWeights()
    core.hidden = [layer(f"fc{i}.weight", f"fc{i}.bias") for i in range(len(policy.architecture.hidden))]
    if policy.architecture.lstm is not None:
        core.lstm_units = policy.architecture.lstm
        core.lstm_input = layer("lstm.weight_ih", "lstm.bias_ih")
        core.lstm_state = layer("lstm.weight_hh", "lstm.bias_hh")
    core.output = layer("out.weight", "out.bias")
    return core


def _native_config(policy: Policy) -> "_core.NativeConfig":
    observation, limits = policy.observation, policy.limits
    core = _core.NativeConfig()
    core.features = [_feature(f) for f in observation.features]
    core.window = observation.window
    core.base_rtt_ns = observation.base_rtt
    core.rtt_max_ns = observation.rtt_max
    core.line_rate_bps = observation.line_rate
    core.action = _action(policy.action)
    core.rate_min_q30, core.rate_max_q30 = limits.rate_min, limits.rate_max
    core.rate_initial_q30 = limits.rate_initial
    return core


def _feature(f: Any) -> "_core.FeatureConfig":
    if isinstance(f, RlCcCongestion | PccRlCongestion):
        kind = _core.FeatureKind.congestion
        return _core.FeatureConfig(kind, f.signal == "queue", f.target, f.tolerance, f.factor, f.initial)
    return _core.FeatureConfig(getattr(_core.FeatureKind, f.kind), False, 0.0, 0.0, 1.0, f.initial)


def _action(a: TanhMap | Multiplier | Table) -> "_core.ActionConfig":
    step = a.step if isinstance(a, TanhMap) else 0.0
    low, high = (a.low, a.high) if isinstance(a, Multiplier) else (1.0, 1.0)
    multipliers = list(a.multipliers) if isinstance(a, Table) else []
    return _core.ActionConfig(getattr(_core.ActionKind, a.kind), step, low, high, multipliers)


def _program_config(program: Program) -> "_core.ProgramConfig":
    flat = program.flatten()
    core = _core.ProgramConfig()
    nodes = []
    for op, args, imm in zip(flat["ops"], flat["args"], flat["imms"], strict=True):
        if op == Op.TREES:
            core.tree_args = list(args)
            args = []
        a, b, c = [*args, 0, 0, 0][:3]
        nodes.append(_core.ProgramNode(op, a, b, c, imm))
    core.nodes = nodes
    trees = zip(flat["tree_features"], flat["tree_thresholds"], flat["tree_leaves"], strict=True)
    core.trees = [_core.ProgramTree(*tree) for tree in trees]
    core.tables = flat["tables"]
    core.bias = flat["bias"]
    core.state_nodes = flat["state_nodes"]
    core.result = flat["results"][0]
    named = [i for i, node in enumerate(program.nodes) if node.name == "multiplier_q16"]
    core.multiplier_node = named[0] if named else -1
    return core


def reads_queues(program: Program) -> bool:
    """The program uses the queue length that a probe brings back."""
    return any(node.op == Op.EVENT and EVENT_NAMES[node.imm] == "queue_bytes" for node in program.nodes)
