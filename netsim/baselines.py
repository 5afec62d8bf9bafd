"""Hand-written congestion control by name or from a TOML file, for use wherever a policy may stand.

    by_name("dcqcn")             one of the presets in netsim/parameters
    load(Path("my-dcqcn.toml"))  a preset copied and changed

The presets name the source of each value; docs/reference/baselines.md says how the algorithms were read. A value in
base RTTs ("1.4 RTT") or BDPs ("0.78 BDP") is the rule by which it scales: `BaselineSpec.at` gives it in one network.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainSerializer,
    RootModel,
    model_validator,
)

from decision.artefact.documents import Format1, load_toml, read_text, validate
from decision.artefact.errors import InputError
from decision.artefact.quantity import (
    LINE_FRACTION,
    RATE_BPS,
    SIZE_BYTES,
    TIME_PS,
    parse,
    parse_duration_ps,
    parse_size_bytes,
)
from decision.artefact.quantity_fields import DurationPs, RateBps, SizeBytes
from decision.artefact.strict import Strict
from decision.artefact.suggest import choices
from decision.policy.policy import POLICY_NAME
from netsim import _core

PARAMETERS = Path(__file__).parent / "parameters"
US, MS = 10**6, 10**9


@dataclass(frozen=True)
class Rate:
    """A rate as it was written: so many b/s, or a share of the NIC's line rate."""

    text: str
    value: Fraction
    of_line: bool

    def at(self, link_gbps: int) -> float:
        """The rate as a fraction of line rate."""
        return float(self.value if self.of_line else self.value / (link_gbps * 10**9))


def _read_rate(text: object) -> Rate:
    if isinstance(text, Rate):
        return text
    try:
        value = parse(text, {**RATE_BPS, **LINE_FRACTION}, "40 Mb/s")
    except InputError as error:
        raise ValueError(str(error)) from None
    of_line = str(text).rstrip().endswith(tuple(LINE_FRACTION))
    if value <= 0 or (of_line and value > 1):
        raise ValueError(f"{text!r} is not within 0 and line rate")
    return Rate(str(text), value, of_line)


@dataclass(frozen=True)
class NetworkFacts:
    """Facts that an operator knows: the NICs' rate, the longest base RTT of any two machines, a switch's buffer."""

    link_gbps: int
    base_rtt_ps: int
    buffer_bytes: int

    @property
    def bdp_bytes(self) -> Fraction:
        return Fraction(self.base_rtt_ps * self.link_gbps, 8000)


@dataclass(frozen=True)
class ScaledQuantity:
    """A time in base RTTs or a size in BDPs of the network, as it was written."""

    text: str
    value: Fraction
    unit: str  # "RTT" or "BDP"

    def at(self, facts: NetworkFacts) -> int:
        """Returns the time in ps, or the size in bytes, rounded to nearest."""
        return round(self.value * (facts.base_rtt_ps if self.unit == "RTT" else facts.bdp_bytes))


def _scaled(unit: str, units: Mapping[str, int], read: Callable[[object], int]) -> BeforeValidator:
    """Reads a quantity in ``unit`` as `ScaledQuantity`, and any other, which has one of ``units``, by ``read``."""

    def validate(text: object) -> int | ScaledQuantity:
        try:
            if not isinstance(text, str) or not text.rstrip().endswith(unit):
                parse(text, {**units, unit: 1}, f"0.5 {unit}")  # for the sentence: all units that are possible
                return read(text)
            value = parse(text, {unit: Fraction(1)}, f"0.5 {unit}")
        except InputError as error:
            raise ValueError(str(error)) from None
        if not 0 < value <= 1000:
            raise ValueError(f"{text!r} is not within 0 and 1000 {unit}")
        return ScaledQuantity(text, value, unit)

    return BeforeValidator(validate)


def absolute(value: int | ScaledQuantity) -> int:
    """Returns a value that does not scale; InputError where it does and no network has been named."""
    if isinstance(value, ScaledQuantity):
        raise InputError(f"{value.text} scales with the network; take the baseline at a network's facts first")
    return value


def _within(low: int, high: int, unit: str, scale: int, zero: bool = False) -> AfterValidator:
    """``low`` to ``high`` times ``scale``, in a sentence with the unit; 0 too where that means "none"."""

    def validate(value: int | ScaledQuantity) -> int | ScaledQuantity:
        if isinstance(value, ScaledQuantity):
            return value
        if not (low * scale <= value <= high * scale or (zero and value == 0)):
            raise ValueError(f"must lie between {low} and {high} {unit}" + (", or be 0" if zero else ""))
        return value

    return AfterValidator(validate)


StepRate = Annotated[Rate, BeforeValidator(_read_rate), PlainSerializer(lambda rate: rate.text)]
Period = Annotated[DurationPs, _within(10, 10**9, "ns", 1000)]
Share = Annotated[float, Field(strict=True, gt=0, le=1)]
_Time = Annotated[
    int | ScaledQuantity,
    _scaled("RTT", TIME_PS, parse_duration_ps),
    PlainSerializer(lambda v: v.text if isinstance(v, ScaledQuantity) else f"{v} ps"),
]
ScaledPeriod = Annotated[_Time, _within(10, 10**9, "ns", 1000)]
ScaledDuration = Annotated[_Time, _within(1, 10**6, "us", US, zero=True)]
ScaledSize = Annotated[
    int | ScaledQuantity,
    _scaled("BDP", SIZE_BYTES, parse_size_bytes),
    PlainSerializer(lambda v: v.text if isinstance(v, ScaledQuantity) else f"{v} B"),
]
Floor = Annotated[float, Field(strict=True, ge=0, lt=1)]
Packets = Annotated[float, Field(strict=True, gt=0, le=10**6)]
Count = Annotated[int, Field(strict=True, ge=0, le=1000)]


class EcnSettings(Strict):
    """RED marking at switch ports: none under ``kmin``, ``pmax`` at ``kmax``, always above it.

    Thresholds in bytes hold at ports of ``link`` and grow with the rate of a port. Thresholds in BDPs are of the NICs'
    rate. ``buffer_share`` is the largest share of a switch's buffer for ``kmax``, and ``kmin`` shrinks with it. Packets
    are marked by the queue that they meet (``marking`` "enqueue") or leave behind ("dequeue").
    """

    link: RateBps | None = None
    """Port rate for which thresholds in bytes hold; they grow with the rate of a port."""
    kmin: ScaledSize
    """Queue length below which no packet is marked."""
    kmax: ScaledSize
    """Queue length above which each packet is marked."""
    pmax: Share
    """Probability of a mark at kmax."""
    buffer_share: Share | None = None
    """Largest share of a switch's buffer for kmax."""
    marking: Literal["enqueue", "dequeue"]
    """Queue that decides: the one that a packet meets, or leaves behind."""

    @model_validator(mode="after")
    def _order(self) -> "EcnSettings":
        kinds = {isinstance(self.kmin, ScaledQuantity), isinstance(self.kmax, ScaledQuantity)}
        if len(kinds) > 1:
            raise ValueError("kmin and kmax must both be in bytes, or both in BDPs")
        if (True in kinds) == (self.link is not None):
            raise ValueError("link is the rate at which thresholds in bytes hold; give it with those, and only there")
        if self.link is not None and not 10**9 <= self.link <= 10**13:
            raise ValueError("link must lie between 1 Gb/s and 10 Tb/s")
        kmin, kmax = (k.value if isinstance(k, ScaledQuantity) else k for k in (self.kmin, self.kmax))
        if kmin > kmax:
            raise ValueError("kmin must not be more than kmax")
        return self

    def at(self, facts: NetworkFacts) -> "EcnSettings":
        """Returns the settings at ports of the NICs' rate, with thresholds in whole bytes."""
        rate = facts.link_gbps * 10**9
        sizes = [
            k.at(facts) if isinstance(k, ScaledQuantity) else Fraction(k * rate, self.link or rate) for k in self._both
        ]
        if self.buffer_share is not None:
            most = Fraction(self.buffer_share) * facts.buffer_bytes
            sizes = [size * min(Fraction(1), most / sizes[1]) for size in sizes] if sizes[1] else sizes
        kmin, kmax = map(round, sizes)
        return self.model_copy(update={"link": rate, "kmin": kmin, "kmax": kmax, "buffer_share": None})

    @property
    def _both(self) -> tuple[int | ScaledQuantity, int | ScaledQuantity]:
        return self.kmin, self.kmax


class BaselineSpec(Strict):
    """Hand-written algorithm, as a simulation needs it. Each kind has its own parameters below."""

    needs_int: ClassVar[bool] = False
    transport: ClassVar[str | None] = None  # of its own; None: the network's

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=POLICY_NAME)
    """Name of the baseline."""
    kind: str
    acknowledge: Literal["packet", "message"]
    """Unit of an acknowledgement: a packet, or a message of 16 packets."""
    burst_packets: int = Field(strict=True, ge=1, le=16)  # back to back when the NIC serves the flow
    """Packets that leave back to back when the NIC serves the flow."""
    cnp_interval: Annotated[DurationPs, _within(1, 10**6, "us", US, zero=True)] | None = None
    """Shortest time between two congestion notification packets of a flow."""
    ecn: EcnSettings | None = None

    @property
    def cnp_interval_ps(self) -> int | None:
        """A receiver's shortest time between two CNPs of a flow; 0: one for each mark; None: it sends none."""
        return self.cnp_interval

    def at(self, facts: NetworkFacts) -> Self:
        """Returns the algorithm in one network: nothing of it scales any more."""
        changes: dict[str, Any] = {name: value.at(facts) for name, value in self if isinstance(value, ScaledQuantity)}
        if self.ecn is not None:
            changes["ecn"] = self.ecn.at(facts)
        return self.model_copy(update=changes)

    def build(self, flows: int, link_gbps: int) -> Any:
        """A fresh ``_core.Baseline`` for ``flows`` flows behind NICs of ``link_gbps``; None for the ideal."""
        raise NotImplementedError

    def _rate_min(self, rate: Rate, link_gbps: int) -> float:
        if rate.at(link_gbps) > 1:
            raise InputError(f"{self.name}: rate_min {rate.text} is more than a NIC of {link_gbps} Gb/s sends")
        return rate.at(link_gbps)


class DcqcnSpec(BaselineSpec):
    """DCQCN, [DCQCN]."""

    kind: Literal["dcqcn"]
    gain: Share
    initial_alpha: Share
    alpha_divisor: Annotated[float, Field(strict=True, ge=1, le=1024)]
    cut_floor: Floor
    alpha_period: Period
    monitor_period: Annotated[DurationPs, _within(10, 4_000_000, "ns", 1000, zero=True)]
    increase_period: Period
    byte_reset: Annotated[SizeBytes, _within(1000, 10**9, "B", 1, zero=True)]
    recovery_stages: Count
    additive_step: StepRate
    hyper_step: StepRate
    rate_min: StepRate
    clamp_target: Annotated[bool, Field(strict=True)]
    loss_is_cnp: Annotated[bool, Field(strict=True)] = False

    @model_validator(mode="after")
    def _hears(self) -> "DcqcnSpec":
        if self.ecn is None or self.cnp_interval is None:
            raise ValueError("DCQCN hears of congestion by CNPs: give cnp_interval and the table ecn")
        return self

    def build(self, flows: int, link_gbps: int) -> "_core.Dcqcn":
        c = _core.DcqcnConfig()
        c.gain, c.initial_alpha = self.gain, self.initial_alpha
        c.alpha_divisor, c.cut_floor = self.alpha_divisor, self.cut_floor
        c.alpha_period_ps, c.increase_period_ps = self.alpha_period, self.increase_period
        c.monitor_period_ps, c.byte_reset = self.monitor_period, self.byte_reset
        c.recovery_stages, c.clamp_target = self.recovery_stages, self.clamp_target
        c.loss_is_cnp = self.loss_is_cnp
        c.additive_step, c.hyper_step = self.additive_step.at(link_gbps), self.hyper_step.at(link_gbps)
        c.rate_min = self._rate_min(self.rate_min, link_gbps)
        return _core.Dcqcn(c, flows)


class HpccSpec(BaselineSpec):
    """HPCC, [HPCC]."""

    needs_int: ClassVar[bool] = True

    kind: Literal["hpcc"]
    acknowledge: Literal["packet"]  # a window of less than a message would wait for ever for its ACK
    eta: Share
    max_stage: Count
    additive_step: StepRate
    rate_min: StepRate

    def build(self, flows: int, link_gbps: int) -> "_core.Hpcc":
        c = _core.HpccConfig()
        c.eta, c.max_stage = self.eta, self.max_stage
        c.additive_step = self.additive_step.at(link_gbps)
        c.rate_min = self._rate_min(self.rate_min, link_gbps)
        return _core.Hpcc(c, flows)


class PowerTcpSpec(BaselineSpec):
    """PowerTCP, [POWERTCP]. ``target``: power at which a window stays, over that of a full link without a queue."""

    needs_int: ClassVar[bool] = True

    kind: Literal["powertcp"]
    acknowledge: Literal["packet"]  # a window of less than a message would wait for ever for its ACK
    gain: Share
    target: Share
    arrival_floor: Share
    additive_step: StepRate
    rate_min: StepRate

    def build(self, flows: int, link_gbps: int) -> "_core.PowerTcp":
        c = _core.PowerTcpConfig()
        c.gain, c.target, c.arrival_floor = self.gain, self.target, self.arrival_floor
        c.additive_step = self.additive_step.at(link_gbps)
        c.rate_min = self._rate_min(self.rate_min, link_gbps)
        return _core.PowerTcp(c, flows)


class _Windowed(BaselineSpec):
    acknowledge: Literal["packet"]  # a window of less than a message would wait for ever for its ACK
    window_min: Packets
    window_max: Packets
    initial_window: Annotated[float, Field(strict=True, ge=0, le=10**6)]

    @model_validator(mode="after")
    def _windows(self) -> "_Windowed":
        if self.window_min > self.window_max:
            raise ValueError("window_min must not be more than window_max")
        return self


class SwiftSpec(_Windowed):
    """Swift, [SWIFT]."""

    kind: Literal["swift"]
    base_target: ScaledPeriod
    hop_target: Annotated[_Time, _within(1, 1000, "us", US, zero=True)]
    scaling_range: ScaledDuration
    scaling_window_min: Packets
    scaling_window_max: Packets
    additive_step: Packets
    decrease: Share
    decrease_max: Share

    @model_validator(mode="after")
    def _scaling(self) -> "SwiftSpec":
        if self.scaling_window_min >= self.scaling_window_max:
            raise ValueError("scaling_window_min must be less than scaling_window_max")
        return self

    def build(self, flows: int, link_gbps: int) -> "_core.Swift":
        c = _core.SwiftConfig()
        c.base_target_ps, c.hop_target_ps = absolute(self.base_target), absolute(self.hop_target)
        c.scaling_range_ps = absolute(self.scaling_range)
        c.scaling_window_min, c.scaling_window_max = self.scaling_window_min, self.scaling_window_max
        c.additive_step, c.decrease, c.decrease_max = self.additive_step, self.decrease, self.decrease_max
        c.window_min, c.window_max, c.initial_window = self.window_min, self.window_max, self.initial_window
        return _core.Swift(c, flows)


class TimelySpec(BaselineSpec):
    """TIMELY, [TIMELY]."""

    kind: Literal["timely"]
    weight: Share
    decrease: Share
    low: Period
    high: Period
    min_rtt: Period
    additive_step: StepRate
    hyper_step: StepRate
    hyper_after: Count
    rate_min: StepRate

    @model_validator(mode="after")
    def _order(self) -> "TimelySpec":
        if self.low > self.high:
            raise ValueError("low must not be more than high")
        return self

    def build(self, flows: int, link_gbps: int) -> "_core.Timely":
        c = _core.TimelyConfig()
        c.weight, c.decrease, c.hyper_after = self.weight, self.decrease, self.hyper_after
        c.low_ps, c.high_ps, c.min_rtt_ps = self.low, self.high, self.min_rtt
        c.additive_step, c.hyper_step = self.additive_step.at(link_gbps), self.hyper_step.at(link_gbps)
        c.rate_min = self._rate_min(self.rate_min, link_gbps)
        return _core.Timely(c, flows)


class DctcpSpec(_Windowed):
    """DCTCP, [DCTCP]."""

    kind: Literal["dctcp"]
    gain: Share
    initial_alpha: Share
    additive_step: Packets

    @model_validator(mode="after")
    def _hears(self) -> "DctcpSpec":
        if self.ecn is None:
            raise ValueError("DCTCP hears of congestion by ECN marks: give the table ecn")
        return self

    def build(self, flows: int, link_gbps: int) -> "_core.Dctcp":
        c = _core.DctcpConfig()
        c.gain, c.initial_alpha, c.additive_step = self.gain, self.initial_alpha, self.additive_step
        c.window_min, c.window_max, c.initial_window = self.window_min, self.window_max, self.initial_window
        return _core.Dctcp(c, flows)


class CubicSpec(BaselineSpec):
    """TCP CUBIC without ECN, [CUBIC]: windows in packets, losses repaired by SACK whatever the network's transport."""

    transport: ClassVar[str | None] = "selective-repeat"

    kind: Literal["cubic"]
    acknowledge: Literal["packet"]  # ACKs clock packets out
    scale: Annotated[float, Field(strict=True, gt=0, le=1000)]
    decrease: Annotated[float, Field(strict=True, gt=0, lt=1)]
    fast_convergence: Annotated[bool, Field(strict=True)]
    window_max: Packets
    initial_window: Packets

    def build(self, flows: int, link_gbps: int) -> "_core.Cubic":
        c = _core.CubicConfig()
        c.scale, c.decrease, c.fast_convergence = self.scale, self.decrease, self.fast_convergence
        c.window_max, c.initial_window = self.window_max, self.initial_window
        return _core.Cubic(c, flows)


class NsccSpec(BaselineSpec):
    """NSCC of Ultra Ethernet, [UEC]. ``target`` and ``drained_delay`` are in base RTTs, ``quick_delay``
    in targets, ``window_max`` in BDPs. The other windows and steps are in packets. ``network_rtt`` is the base RTT by
    which ``target`` and steps are. Without it each flow's own is."""

    kind: Literal["nscc"]
    acknowledge: Literal["packet"]  # each one's delay and mark
    network_rtt: ScaledPeriod | None = None
    target: Annotated[float, Field(strict=True, gt=0, le=100)]
    reference_bdp: Annotated[SizeBytes, _within(1, 10**9, "B", 1)]
    reference_rtt: Period
    proportional_step: Packets
    fair_step: Packets
    steady_step: Packets
    fast_share: Share
    fast_delay: Period
    decrease: Share
    decrease_max: Share
    delay_gain: Share
    drained_delay: Floor
    adjust_packets: Count
    quick_delay: Annotated[float, Field(strict=True, ge=1, le=1000)]
    quick_share: Floor
    window_min: Packets
    window_max: Annotated[float, Field(strict=True, gt=0, le=1000)]

    @model_validator(mode="after")
    def _hears(self) -> "NsccSpec":
        if self.ecn is None:
            raise ValueError("NSCC hears of congestion by ECN marks as well: give the table ecn")
        return self

    def build(self, flows: int, link_gbps: int) -> "_core.Nscc":
        c = _core.NsccConfig()
        c.network_rtt_ps = 0 if self.network_rtt is None else absolute(self.network_rtt)
        c.target, c.reference_bdp_bytes, c.reference_rtt_ps = self.target, self.reference_bdp, self.reference_rtt
        c.proportional_step, c.fair_step, c.steady_step = self.proportional_step, self.fair_step, self.steady_step
        c.fast_share, c.fast_delay_ps = self.fast_share, self.fast_delay
        c.decrease, c.decrease_max = self.decrease, self.decrease_max
        c.delay_gain, c.drained_delay, c.adjust_packets = self.delay_gain, self.drained_delay, self.adjust_packets
        c.quick_delay, c.quick_share = self.quick_delay, self.quick_share
        c.window_min, c.window_max = self.window_min, self.window_max
        return _core.Nscc(c, flows)


class MaxMinSpec(BaselineSpec):
    """The ideal allocation. No algorithm runs at the senders: the simulator hands out the rates."""

    kind: Literal["max-min"]

    def build(self, flows: int, link_gbps: int) -> None:
        return None


_AnyBaseline = Annotated[
    DcqcnSpec | HpccSpec | PowerTcpSpec | SwiftSpec | TimelySpec | DctcpSpec | CubicSpec | NsccSpec | MaxMinSpec,
    Field(discriminator="kind"),
]
_KINDS = "dcqcn, hpcc, powertcp, swift, timely, dctcp, cubic, nscc, max-min"


class _Document(RootModel[_AnyBaseline]):
    @model_validator(mode="before")
    @classmethod
    def _kind(cls, data: Any) -> Any:
        if isinstance(data, dict) and not isinstance(data.get("kind"), str):
            raise ValueError(f"kind is missing or no text; it is one of {_KINDS}")
        return data


def names() -> list[str]:
    """The presets."""
    return sorted(path.stem for path in PARAMETERS.glob("*.toml"))


@lru_cache
def by_name(name: str) -> BaselineSpec:
    """The preset of that name; InputError lists the names there are."""
    if name not in names():
        raise InputError(f"there is no baseline {name!r}; the names are {choices(name, names())}")
    return load(PARAMETERS / f"{name}.toml")


def changed(name: str, changes: Mapping[str, Any]) -> BaselineSpec:
    """Returns the preset of that name with other values, as a TOML file would have them. InputError if one is wrong."""
    if name not in names():
        raise InputError(f"there is no baseline {name!r}; the names are {choices(name, names())}")
    preset = tomllib.loads(read_text(PARAMETERS / f"{name}.toml"))
    return validate(_Document, preset | dict(changes), f"the baseline {name}").root


def load(path: Path | str) -> BaselineSpec:
    """Read and check a baseline's TOML file. InputError names the key and what is wrong with it."""
    return load_toml(_Document, Path(path)).root
