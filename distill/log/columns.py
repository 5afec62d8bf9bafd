"""The columns that an import reads: their names, where they stand in a log, and in which unit.

A log's column is found under rlcc's name (docs/reference/import.md), or where ``NAME=COLUMN`` or ``NAME=COLUMN in
UNIT`` says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from decision.artefact.errors import InputError
from decision.artefact.quantity import LINE_FRACTION, RATE_BPS, SIZE_BYTES, TIME_PS
from decision.artefact.suggest import choices
from decision.ir.formats import ACTION_BITS
from decision.ir.interface import STORAGE_RANGE, Interface
from decision.ir.program import Op
from decision.policy.actions import Level, Scale
from decision.policy.features import AnyFeature
from decision.policy.policy import Header, Observation
from decision.policy.records import MAKER
from decision.policy.tree_decision import build_observer
from distill.log.features import feature_columns

RUN, TIME, STEP, RTT = "run", "t_ps", "step", "rtt_ns"
APPLIED, LABEL = "applied", "label"
TIMESTAMPS = ("request_sent_ns", "response_ns")
"""What ``rtt_ns`` stands for, where agents are told these."""
MAX_TIME_PS = 2**62 - 1
SHARES = {"x": Fraction(1), "%": Fraction(1, 100)}
"""Units of a multiplier."""
Units = Mapping[str, int | Fraction]


@dataclass(frozen=True)
class Quantity:
    """A column of integers in rlcc's unit: ``low <= value <= high``. ``units``: factors from units in which a log may
    have it; ``whole``: how many of rlcc's unit are one in a log that names none; ``default``: what stands in each row
    where the log has no such column (None: it must have it)."""

    low: int
    high: int
    units: Units
    whole: int = 1
    offset: int = 0
    default: int | None = None


@dataclass(frozen=True)
class Column:
    """Place of a quantity in a log. ``factor``: from the log's unit to rlcc's; ``unit``: as it was named, or ""."""

    name: str
    source: str
    factor: Fraction
    unit: str


@dataclass(frozen=True)
class Layout:
    """The columns of a log of agents that observe and set what ``header`` says. ``identities``: the columns that name
    agent and run, of any type; ``quantities``: the others, by name; ``unread``: signals that no feature looks at;
    ``features``: what may stand in place of signals."""

    header: Header
    identities: tuple[str, ...]
    quantities: Mapping[str, Quantity]
    unread: tuple[str, ...]
    features: Mapping[str, AnyFeature]

    @property
    def interface(self) -> Interface:
        return self.header.observation.agents

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.identities, *self.quantities, *self.features)

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns of what the policy decides."""
        return prefixed(LABEL, self.header)

    @property
    def applied(self) -> tuple[str, ...]:
        """Columns of what was applied."""
        return prefixed(APPLIED, self.header)


def layout(header: Header) -> Layout:
    """Returns the columns that a log of such a policy may have."""
    observation = header.observation
    agents = observation.agents
    read = observed_signals(observation)
    unread = tuple(name for name in agents.event_names if name not in read)
    columns = {TIME: Quantity(0, MAX_TIME_PS, TIME_PS), STEP: Quantity(0, STORAGE_RANGE["uint32"][1], {}, default=0)}
    for signal in agents.event:
        default = 0 if signal.name in unread else None
        columns[signal.name] = Quantity(*signal.range, units_of(signal.name, signal.unit, observation), default=default)
    if set(TIMESTAMPS) <= {*agents.event_names}:
        columns[RTT] = Quantity(0, 2**32 - 1, units_of(RTT, "ns", observation), default=0)
    if agents.context:
        kept = agents.context[0].name
        columns[kept] = Quantity(
            1, 1 << 30, units_of(kept, "line rate / 2^30", observation)
        )  # records have line rate itself as 2^30
        for knob in agents.knobs[1:]:
            columns[knob.name] = Quantity(knob.low, knob.high, units_of(knob.name, knob.unit, observation), default=0)
        if agents.new_phase is not None:
            columns |= {"phase": Quantity(0, 3, {}, default=0), MAKER: Quantity(0, 1, {}, default=0)}
    for kind in (APPLIED, LABEL):
        columns |= dict(zip(prefixed(kind, header), _decided(header, in_force=kind == APPLIED), strict=True))
    return Layout(header, (agents.agent, RUN), columns, unread, feature_columns(observation))


def prefixed(kind: str, header: Header) -> tuple[str, ...]:
    """Returns the columns of what is decided: ``label`` of a multiplier, ``label.KNOB`` of knobs."""
    if isinstance(header.action, Scale):
        return (kind,)
    return tuple(f"{kind}.{name}" for name in header.action.values)


def observed_signals(observation: Observation) -> set[str]:
    """Returns the signals of the event that a feature looks at."""
    program = build_observer(observation).program
    names = program.interface.event_names
    return {names[node.imm] for node in program.nodes if node.op is Op.EVENT}


def _decided(header: Header, *, in_force: bool) -> list[Quantity]:
    """Returns the range of each decided value: that of the action map, or that of the agents if others decided."""
    action, observation = header.action, header.observation
    if isinstance(action, Scale):
        one = 1 << ACTION_BITS
        low, high = (-one, 3 * one) if in_force else action.limits_q16()
        return [Quantity(low, high, SHARES, whole=one, offset=-one)]
    quantities = []
    for knob in observation.agents.knobs:
        if knob.name not in action.values:
            continue
        low, high = knob.low, knob.high
        if isinstance(action, Level) and not in_force:
            low, high = action.knobs[knob.name].low, action.knobs[knob.name].high
        quantities.append(Quantity(low, high, units_of(knob.name, knob.unit, observation)))
    return quantities


def units_of(name: str, unit: str, observation: Observation) -> Units:
    """Returns factors from the units of a quantity to one of rlcc's, by the ending of its name; none: counts."""
    for ending, one in (("_ps", 1), ("_ns", 10**3), ("_us", 10**6)):
        if name.endswith(ending):
            return {each: Fraction(size, one) for each, size in TIME_PS.items()}
    for ending, one in (("_bytes", 1), ("_kb", 10**3)):
        if name.endswith(ending):
            return {each: Fraction(size, one) for each, size in SIZE_BYTES.items()}
    if unit.startswith("line rate / 2^"):
        whole = 1 << int(unit.removeprefix("line rate / 2^"))
        shares = {each: Fraction(share) * whole for each, share in LINE_FRACTION.items()}
        line = observation.line_rate
        return shares | (
            {} if line is None else {each: Fraction(size * whole, line) for each, size in RATE_BPS.items()}
        )
    return {}


def resolved(layout: Layout, asked: Iterable[str], there: Iterable[str], where: str) -> dict[str, Column]:
    """Returns where each column stands in a log whose columns are ``there``; those with a default may be missing.
    ``asked``: "NAME=COLUMN" or "NAME=COLUMN in UNIT". InputError where a name, a unit or a column is unknown, stands
    twice, or is missing."""
    present = list(there)
    said: dict[str, tuple[str, str]] = {}
    for text in asked:
        name, source, unit = _parts(text)
        if name not in layout.names:
            raise InputError(
                f"--column {text}: there is no column {name!r} for this policy; there are {choices(name, layout.names)}"
            )
        if name in said:
            raise InputError(f"--column {text}: {name} is given twice; give it once")
        if source not in present:
            raise InputError(f"--column {text}: {where} has no column {source!r}; it has {choices(source, present)}")
        said[name] = source, unit
    columns = {}
    for name in layout.names:
        source, unit = said.get(name, (name, ""))
        if source in present:
            columns[name] = Column(name, source, _factor(layout, name, unit), unit)
    return _complete(layout, columns, present, where)


def _complete(layout: Layout, columns: dict[str, Column], present: list[str], where: str) -> dict[str, Column]:
    """InputError where a column that the policy needs is missing, or what it stands for is there twice."""
    names = {*columns}
    if RTT in names and names & {*TIMESTAMPS}:
        raise InputError(f"{where} has {RTT} and {' and '.join(sorted(names & {*TIMESTAMPS}))}; give one of the two")
    needed = [layout.interface.agent, *(name for name, each in layout.quantities.items() if each.default is None)]
    if names & {*layout.features}:
        needed = [layout.interface.agent, TIME, *layout.features]
    for name in needed:
        if name in names or name in (*layout.labels, *layout.applied) or (RTT in names and name in TIMESTAMPS):
            continue
        instead = f" (or {RTT})" if name in TIMESTAMPS else ""
        raise InputError(
            f"{where} has no column {name}{instead}, which this policy needs; it has {', '.join(present)}; say which "
            f"one it is with --column {name}=COLUMN"
        )
    for group in (layout.labels, layout.applied):
        missing = [name for name in group if name not in names]
        if missing and len(missing) < len(group):
            raise InputError(f"{where} has no column {missing[0]}, but others of what is decided; give all or none")
    return columns


def column_of(text: str) -> str:
    """Returns the log's column of "NAME=COLUMN in UNIT"."""
    return _parts(text)[1]


def _parts(text: str) -> tuple[str, str, str]:
    """Name, column and unit of an option."""
    name, equals, rest = text.partition("=")
    column, within, unit = rest.rpartition(" in ")
    source = column.strip() if within else rest.strip()
    if not equals or not name.strip() or not source or (within and not unit.strip()):
        raise InputError(f"--column {text}: write NAME=COLUMN, or NAME=COLUMN in UNIT")
    return name.strip(), source, unit.strip() if within else ""


def _factor(layout: Layout, name: str, unit: str) -> Fraction:
    quantity = layout.quantities.get(name)
    units: Units = {} if quantity is None else quantity.units
    if unit and unit not in units:
        known = f"one of {', '.join(units)}" if units else "no unit: it is no quantity that has one"
        raise InputError(f"--column {name}: the unit {unit!r} is unknown; give {known}")
    whole = 1 if quantity is None else quantity.whole
    return Fraction(units[unit]) * whole if unit else Fraction(whole)
