"""policy.toml: everything a teacher's weights do not say about themselves.

format = 1
name = "rl-cc-mlp"

[architecture]
kind = "mlp"                # or "lstm", "layers": decision/policy/architecture.py
hidden = [12]
activation = "relu"         # after each hidden layer
output = "tanh"             # after the output, where the action map wants it in [-1, 1]
bias = false

[input]                     # how the network's rows stand: decision/policy/input_layout.py
order = "newest_first"

[observation]               # features in order, `window` decisions
window = 2
base_rtt = "8192 ns"
line_rate = "100 Gb/s"
rtt_max = "4 ms"
[[observation.features]]
kind = "previous_action"
[[observation.features]]
kind = "rl_cc_congestion"
target = 0.064
beta = 1.5
scale = -12.5

[action]
kind = "tanh_map"
step = 0.2

[limits]                    # fractions of line rate: "line", "%" or "ppm"
rate_min = "1 ppm"
rate_max = "100 %"
rate_initial = "100 %"

[provenance]                # free text: command, seed, figures
"""

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from decision.artefact.documents import Format1, load_toml, parse_toml, validate
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationNs, LineFractionQ30, RateBps
from decision.artefact.strict import Strict
from decision.ir.context_expressions import Carried, carried_by
from decision.ir.interface import TRIGGERED, Interface
from decision.ir.interfaces import INTERFACES
from decision.ir.interfaces.flow_rate import (
    CONGESTION_GAIN,
    FLOW_RATE,
    LINE_RATE_Q30,
    MIN_BASE_RTT_NS,
    RTT_BITS,
    RTT_SLACK,
    TARGET_RATIO,
    base_rtt_recip_q42,
    flow_interface,
)
from decision.policy.actions import AnyAction
from decision.policy.architecture import Architecture
from decision.policy.bursts import Bursts
from decision.policy.features import FEATURE_KINDS, AnyFeature, Path, PccRlCongestion, Place, RlCcCongestion
from decision.policy.flow_options import FLOW_NAMES, OBSERVED, check_options, implied, observed
from decision.policy.in_flight import InFlight
from decision.policy.input_layout import InputLayout
from decision.policy.layers import placed
from decision.policy.output_range import OutputRange
from decision.policy.probes import Probes
from decision.policy.start import Start
from decision.policy.target import TargetRatio, congestion_gain_q28
from decision.policy.trigger import Trigger, check_trigger, triggered

MAX_WINDOW = 16
POLICY_NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$"


def _is_none(value: object) -> bool:
    return value is None


class Observation(Strict):
    """Features in order, the window of decisions, and what is assumed of the place: of a flow its path, of other agents
    the values of the operator's parameters. ``device_rate``: flows are told of their NIC's own rate in force;
    ``target_ratio``: the target is an operator's parameter, and so many times the trained one; ``acks``: flows are told
    what was acknowledged, and how much of it by ACKs that echo an ECN mark; ``rtt_slack``: an RTT counts so much longer
    as the flow's base RTT is shorter than ``base_rtt``."""

    interface: str = Field(default=FLOW_RATE.name, exclude_if=lambda name: name in FLOW_NAMES)
    """Interface of the agents: signals, parameters and knobs."""
    window: int = Field(ge=1, le=MAX_WINDOW)
    """Number of decisions in the observation."""
    base_rtt: DurationNs | None = Field(default=None, exclude_if=_is_none)
    """RTT of the empty network; of flows only."""
    line_rate: RateBps | None = Field(default=None, exclude_if=_is_none)
    """Line rate of the NIC; of flows only."""
    rtt_max: DurationNs | None = Field(default=None, exclude_if=_is_none)
    """Largest RTT that is told apart; of flows only."""
    device_rate: Annotated[bool, Field(strict=True)] = Field(default=False, exclude_if=lambda told: not told)
    """The NIC reports its own rate in force."""
    target_ratio: TargetRatio | None = Field(default=None, exclude_if=_is_none)
    """Operator's target over the trained one; makes the target a parameter."""
    acks: Annotated[bool, Field(strict=True)] = Field(default=False, exclude_if=lambda told: not told)
    """Flows are told what was acknowledged."""
    rtt_slack: Annotated[bool, Field(strict=True)] = Field(default=False, exclude_if=lambda told: not told)
    """RTTs count longer by the flow's slack: base_rtt less the base RTT of its own path."""
    params: dict[str, Annotated[int, Field(strict=True)]] = Field(
        default_factory=dict, exclude_if=lambda params: not params
    )
    """Values of the operator's parameters by name; of agents that are no flows."""
    features: list[AnyFeature] = Field(min_length=1, max_length=256)

    @model_validator(mode="before")
    @classmethod
    def _implied(cls, data: Any) -> Any:
        chosen = observed(data) if isinstance(data, dict) else []
        return {"interface": flow_interface(chosen).name} | data if chosen else data

    @model_validator(mode="after")
    def _ranges(self) -> "Observation":
        if self.interface not in INTERFACES:
            raise ValueError(f"there is no interface {self.interface!r}; there are {', '.join(INTERFACES)}")
        if self.interface in FLOW_NAMES:
            self._check_path()
        elif any(value is not None for value in (self.base_rtt, self.line_rate, self.rtt_max)):
            raise ValueError(f"base_rtt, line_rate and rtt_max are of flows; {self.interface} has params")
        self._check_params()
        self._check_features()
        if self.target_ratio is not None and not any(hasattr(feature, "target") for feature in self.features):
            raise ValueError("target_ratio turns the target of congestion features, and there is none; leave it out")
        return self

    def _check_path(self) -> None:
        if self.base_rtt is None or self.line_rate is None or self.rtt_max is None:
            raise ValueError("base_rtt, line_rate and rtt_max are needed")
        if not MIN_BASE_RTT_NS <= self.base_rtt < self.rtt_max:
            raise ValueError(f"base_rtt is {self.base_rtt} ns; it must lie between {MIN_BASE_RTT_NS} ns and rtt_max")
        if self.rtt_max >= 2**RTT_BITS:
            raise ValueError(f"rtt_max is {self.rtt_max} ns; the firmware's RTT holds at most {2**RTT_BITS - 1} ns")
        if not 10**8 <= self.line_rate <= 10**14:
            raise ValueError(f"line_rate is {self.line_rate} b/s; it must lie between 100 Mb/s and 100 Tb/s")

    def _check_params(self) -> None:
        names = () if self.interface in FLOW_NAMES else self.agents.param_names
        if tuple(sorted(self.params)) != tuple(sorted(names)):
            raise ValueError(
                f"params are {', '.join(self.params) or 'none'}; they must be {', '.join(names) or 'none'}"
            )
        for parameter in self.agents.params:
            low, high = parameter.settable or parameter.range
            if not low <= self.params.get(parameter.name, low) <= high:
                raise ValueError(f"params: {parameter.name} is {self.params[parameter.name]}, not {low} to {high}")

    def _check_features(self) -> None:
        kind_of: dict[str, str] = {}
        carried: dict[str, Carried] = {}
        for feature in self.features:
            if feature.name in kind_of or (feature.kind in FEATURE_KINDS and feature.kind in kind_of.values()):
                other = kind_of.get(feature.name, feature.kind)
                if other == feature.kind:
                    named = feature.kind if feature.kind in FEATURE_KINDS else feature.name
                    raise ValueError(f"the feature {named} stands twice")
                raise ValueError(f"{other} and {feature.kind} would both be {feature.name} in the C; keep one of them")
            kind_of[feature.name] = feature.kind
            if isinstance(feature, RlCcCongestion | PccRlCongestion) and feature.fraction_bits < 4:
                raise ValueError(f"the target of {feature.kind} is too large for a 24-bit integer feature")
            for each in carried_by(feature.expression(self.place)):
                if carried.setdefault(each.field, each) != each:
                    raise ValueError(
                        f"{feature.name}: a feature before it keeps another {each.field}; keep one of them"
                    )
            decides = ("action",) if self.agents.context else self.agents.mapped_names
            if feature.decided is not None and feature.decided not in decides:
                raise ValueError(f"{feature.kind}: agents of {self.interface} set {', '.join(decides)}")

    @property
    def labels(self) -> list[str]:
        """Returns readable names of the features: their kind, or their name where a kind may stand more than once."""
        return [feature.kind if feature.kind in FEATURE_KINDS else feature.name for feature in self.features]

    @property
    def agents(self) -> Interface:
        """Returns the interface of the agents."""
        return INTERFACES[self.interface]

    @property
    def place(self) -> Place:
        """Returns the quantities that can be observed."""
        if self.base_rtt is None or self.line_rate is None or self.rtt_max is None:
            return Place(self.agents)
        return Place(self.agents, Path(self.base_rtt, self.line_rate, self.rtt_max))

    @property
    def known(self) -> dict[str, float]:
        """Returns what a teacher knows of its agent's place, by name."""
        if self.base_rtt is None:
            return dict(self.params)
        ratio = {} if self.target_ratio is None else {TARGET_RATIO: self.target_ratio}
        return {"base_rtt_ns": self.base_rtt} | ratio | ({RTT_SLACK: 0.0} if self.rtt_slack else {})

    @property
    def size(self) -> int:
        """Length of a feature row: window x features."""
        return self.window * len(self.features)

    def with_window(self, window: int) -> "Observation":
        """The same features over another number of decisions."""
        if not 1 <= window <= MAX_WINDOW:
            raise InputError(f"a window of {window} decisions is outside 1..{MAX_WINDOW}")
        return self.model_copy(update={"window": window})


class Limits(Strict):
    """Bounds of the rate and the rate of a new flow, Q0.30 fractions of line rate."""

    rate_min: LineFractionQ30
    """Lowest rate of a flow."""
    rate_max: LineFractionQ30
    """Highest rate of a flow."""
    rate_initial: LineFractionQ30
    """Rate of a new flow."""

    @model_validator(mode="after")
    def _order(self) -> "Limits":
        if not self.rate_min <= self.rate_initial <= self.rate_max:
            raise ValueError("rate_min <= rate_initial <= rate_max does not hold")
        return self


class Header(Strict):
    """The fields that a policy, a student and a quantised network have in common: what an agent observes and sets.

    Optional fields; the default switches each off:

    - ``start``: how flows start, brake once and recover
    - ``in_flight``: limit of a flow's data in flight, by its rate
    - ``probes``: when flows ask for their RTT
    - ``bursts``: how much of a flow leaves back to back
    - ``once_per_rtt``: an answer to a request from before the last decision is counted, not decided on
    - ``trigger``: when the policy decides at all
    """

    observation: Observation
    action: AnyAction
    limits: Limits | None = Field(default=None, exclude_if=_is_none)
    start: Start | None = Field(default=None, exclude_if=_is_none)
    in_flight: InFlight | None = Field(default=None, exclude_if=_is_none)
    probes: Probes | None = Field(default=None, exclude_if=_is_none)
    bursts: Bursts | None = Field(default=None, exclude_if=_is_none)
    once_per_rtt: Annotated[bool, Field(strict=True)] = Field(default=False, exclude_if=lambda once: not once)
    """Count a response to a request from before the last decision, and do not decide on it."""
    trigger: Trigger | None = Field(default=None, exclude_if=_is_none)

    @model_validator(mode="before")
    @classmethod
    def _interface(cls, data: Any) -> Any:
        return triggered(implied(data))

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Raises ValueError where the action map is none for agents that observe so, or limits, options, probes or
        bursts of flows are missing or nobody's."""
        agents, interface = self.observation.agents, self.observation.interface
        told = {name: getattr(self.observation, name) for name in OBSERVED}
        check_options(interface, {"start": self.start, "in_flight": self.in_flight}, told)
        self.action.check(agents)
        check_trigger(self.trigger, interface, self.action, self.observation.window)
        if (self.limits is None) != (not agents.context):
            raise ValueError(
                f"limits are needed: agents of {interface} have a rate in force"
                if self.limits is None
                else f"limits are of a rate in force, and agents of {interface} have none"
            )
        if self.probes is not None and interface not in FLOW_NAMES:
            raise ValueError(f"probes are of flows, which ask for their RTT, and agents of {interface} are none")
        if self.bursts is not None and interface not in FLOW_NAMES:
            raise ValueError(f"bursts are of flows, which send packets, and agents of {interface} are none")
        if self.once_per_rtt and interface not in FLOW_NAMES:
            raise ValueError(f"once_per_rtt is of flows, which ask for their RTT, and agents of {interface} are none")
        if self.in_flight is not None and self.in_flight.window:
            if not self.once_per_rtt:
                raise ValueError("in_flight.window: each acknowledgement is an event; write once_per_rtt = true")
            if self.probes is not None:
                raise ValueError("in_flight.window: flows with a window ask for no RTT; leave probes out")
            if self.bursts is not None:
                raise ValueError("in_flight.window: acknowledgements clock packets out one by one; leave bursts out")
        return self

    @property
    def header(self) -> "Header":
        """The fields that every decider has, alone: those of a student of it."""
        return Header(**{name: getattr(self, name) for name in Header.model_fields})

    @property
    def burst_bytes(self) -> int | None:
        """Returns the longest burst of a flow in the network that it was made for; None where the NIC decides."""
        seen = self.observation
        if self.bursts is None or seen.base_rtt is None or seen.line_rate is None:
            return None
        return self.bursts.bytes(seen.base_rtt, seen.line_rate)

    @property
    def first_window_bytes(self) -> int | None:
        """Returns what a new flow may have in flight before its first decision, in the network that it was made for;
        None: what its first rate gives."""
        seen = self.observation
        if self.in_flight is None or seen.base_rtt is None or seen.line_rate is None:
            return None
        return self.in_flight.first_bytes(seen.base_rtt, seen.line_rate)

    def params(self) -> dict[str, int]:
        """Returns the operator's parameters, in the device's integers, for what the policy assumes of its network."""
        seen, limits = self.observation, self.limits
        if seen.base_rtt is None or seen.line_rate is None or limits is None:
            return dict(seen.params)
        return {
            "base_rtt_recip_q42": base_rtt_recip_q42(seen.base_rtt),
            "rate_min_q30": limits.rate_min,
            "rate_max_q30": min(limits.rate_max, LINE_RATE_Q30),
            "rate_initial_q30": min(limits.rate_initial, LINE_RATE_Q30),
            **({} if self.start is None else self.start.params(seen.base_rtt)),
            **({} if self.in_flight is None else self.in_flight.params(seen.base_rtt, seen.line_rate)),
            **({} if seen.target_ratio is None else {CONGESTION_GAIN: congestion_gain_q28(seen.target_ratio)}),
            **({RTT_SLACK: 0} if seen.rtt_slack else {}),
        }


def header_of(data: Mapping[str, Any], where: str) -> Header:
    """Returns the header of a document. KeyError where a part is missing, InputError where the parts do not fit."""
    missing = [key for key, field in Header.model_fields.items() if field.is_required() and key not in data]
    if missing:
        raise KeyError(missing[0])
    return validate(Header, {key: data[key] for key in Header.model_fields if key in data}, where)


class Policy(Header):
    """A teacher's policy.toml, checked."""

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=POLICY_NAME)
    """Name of the policy."""
    architecture: Architecture
    provenance: dict[str, Any] = Field(default_factory=dict)
    """Free text: command, seed, figures."""

    @model_validator(mode="after")
    def _trains(self) -> "Policy":
        what = "an LSTM" if self.architecture.kind == "lstm" else "a recurrent layer"
        if self.architecture.recurrent and self.observation.window != 1:
            raise ValueError(f"{what} sees one decision at a time: observation.window must be 1")
        if self.architecture.recurrent and self.trigger is not None:
            raise ValueError(f"{what} that is not asked forgets what it did not see; a policy with a trigger is an mlp")
        placed(self.architecture.sequence, self.observation.size)
        clipped = self.architecture.output != "tanh" or self.architecture.output_clip is not None
        if clipped and not self.action.squashed:
            raise ValueError(
                f"architecture.output is of outputs in [-1, 1]; the action map {self.action.kind} has none"
            )
        return self

    @property
    def saved_size(self) -> int:
        """Values that a trigger sees as they were when it fired last; 0 where there is none."""
        return 0 if self.trigger is None else self.trigger.saved * len(self.observation.features)

    def saved_initial(self) -> list[float]:
        """Returns what a trigger sees of them in an agent's first decision."""
        return [f.initial for f in self.observation.features] * (0 if self.trigger is None else self.trigger.saved)

    def untriggered(self) -> "Policy":
        """The same, asked every time."""
        content = self.model_dump(mode="json", exclude={"trigger"})
        content["observation"]["interface"] = self.observation.interface.removesuffix(f"_{TRIGGERED.name}")
        return Policy.model_validate(content)

    @property
    def output_activation(self) -> str:
        """Returns the activation behind the last layer. An output that nothing follows in its file is cut off by the
        action map."""
        if not self.action.squashed:
            return "identity"
        return "clip" if self.architecture.output == "none" else self.architecture.output


class PolicyFile(Policy):
    """A policy.toml beside weights. Facts that weights do not contain and that change the result must be stated: what
    follows the hidden layers, and the order of a row's decisions."""

    input: InputLayout = Field(default_factory=InputLayout)
    output: OutputRange = Field(default_factory=OutputRange)

    @model_validator(mode="after")
    def _told(self) -> "PolicyFile":
        if self.architecture.hidden and "activation" not in self.architecture.model_fields_set:
            raise ValueError(
                "architecture.activation is missing; say what follows the hidden layers, for example "
                'activation = "relu", or "tanh", the default of many frameworks'
            )
        self.input.check(self.observation.labels, self.observation.window)
        if self.output != OutputRange() and not self.action.squashed:
            raise ValueError(f"output.low and high are of outputs in [-1, 1]; the map {self.action.kind} has none")
        self.output.check(self.action.outputs)
        if self.trigger is not None and self.input not in (InputLayout(), InputLayout(order="newest_first")):
            raise ValueError("input: of a policy with a trigger, whose network sees the row too, nothing is folded")
        return self

    @property
    def policy(self) -> Policy:
        """The policy over rlcc's own rows."""
        return Policy.model_construct(
            self.model_fields_set - {"input", "output"}, **{name: getattr(self, name) for name in Policy.model_fields}
        )

    @staticmethod
    def of(policy: Policy) -> "PolicyFile":
        """A policy whose network was trained over rlcc's own rows."""
        fields = {name: getattr(policy, name) for name in Policy.model_fields}
        own = InputLayout(order="newest_first")
        return PolicyFile.model_construct(
            policy.model_fields_set | {"input"}, **fields, input=own, output=OutputRange()
        )


def load_policy(path: FilePath) -> PolicyFile:
    """Read and check a policy.toml. InputError names the key and what is wrong with it."""
    return load_toml(PolicyFile, path)


def read_policy(content: bytes, where: str) -> PolicyFile:
    """The same of the file's bytes; ``where`` names it."""
    return parse_toml(PolicyFile, content, where)
