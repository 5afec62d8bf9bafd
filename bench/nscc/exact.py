"""NSCC in exact rationals, event by event, with the floors and caps that the firmware states (decision/policy/nscc.py).

It shares no code with the integer program: values are fractions in bytes, ns and bytes^2. Besides arithmetic it takes
``floor_to``, where a stated format ends, and the caps ``MOST_*``, ``STEP_LIMIT`` and ``SETTLED``.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor

CLOCK = 2**32
COUNTS = 2**32
GAIN = Fraction(53687091, 2**32)
GAMMA = Fraction(13421773, 2**24)
LARGEST_CUT = Fraction(1, 2)
FAST_DELAY = 1000
MOST_DELAY = 2**24 - 1
MOST_ACKED = 2**22 - 1
MOST_WINDOW = 2**26 - 1
MOST_LOST = 2**24 - 1
MOST_PENDING = 2**31 - 1
STEP_LIMIT = 2**20 - 1
SETTLED = 2**27 - 1
PENDING_UNIT = 2**11
GROWTH_UNIT = 2**7
WINDOW_UNIT = 2**4
MOST_GROWTH = 2**10


@dataclass(frozen=True)
class WindowEvent:
    """One event of ``flow_window``: ns, bytes; ``lost``: by kind."""

    now: int
    rtt: int = 0
    acked: int = 0
    marked: int = 0
    lost: tuple[int, ...] = ()
    in_flight: int = 0


@dataclass(frozen=True)
class Numbers:
    """The operator's parameters: bytes, ns, bytes an RTT, and two gains as fractions."""

    mtu: int
    window_max: int
    base_rtt: int
    target: int
    fair: int
    room_gain: Fraction
    steady: int
    fast_share: Fraction
    adjust: int
    quick_delay: int
    quick_gate: int

    @staticmethod
    def of(params: dict[str, int]) -> "Numbers":
        """From the parameters of the firmware."""
        return Numbers(
            mtu=min(params["mtu_bytes"], MOST_WINDOW),
            window_max=min(params["window_max_bytes"], MOST_WINDOW),
            base_rtt=params["path_rtt_ns"],
            target=min(params["target_delay_ns"], MOST_DELAY),
            fair=min(params["fair_bytes"], STEP_LIMIT),
            room_gain=Fraction(params["room_gain_q24"], 2**24),
            steady=min(params["steady_bytes"], STEP_LIMIT),
            fast_share=Fraction(params["fast_share_q24"], 2**24),
            adjust=params["adjust_bytes"],
            quick_delay=params["quick_delay_ns"],
            quick_gate=params["quick_gate_bytes"],
        )


@dataclass(frozen=True)
class ExactFlow:
    """State of a flow. ``pending``: bytes^2; ``mean``: ns; times in ns of the wrapping clock."""

    window: Fraction = Fraction(0)
    mean: Fraction = Fraction(0)
    ignored: int = 0
    looked: int = 0
    arrived: int = 0
    lost: bool = False
    """Whether bytes were lost since quick adapt."""
    undelayed: int = 0
    pending: Fraction = Fraction(0)
    decreased: int = 0
    adjusted: int = 0
    unadjusted: int = 0
    branches: frozenset[str] = field(default=frozenset(), compare=False)
    """Rules that the last event took, by name."""

    @staticmethod
    def of(context: dict[str, int]) -> "ExactFlow":
        """From the fields of the firmware's context, whatever they hold."""
        return ExactFlow(
            Fraction(context["window_bytes"]),
            Fraction(context["mean_q8"], 2**8),
            context["ignored"],
            context["looked_ns"],
            context["arrived"],
            context["has_lost"] > 0,
            context["undelayed"],
            Fraction(context["pending"]) * PENDING_UNIT,
            context["decreased_ns"],
            context["adjusted_ns"],
            context["unadjusted"],
        )

    def context(self) -> dict[str, int]:
        """Returns the fields of the firmware's context. AssertionError where a value is between two of a format."""
        return {
            "window_bytes": whole(self.window),
            "mean_q8": whole(self.mean * 2**8),
            "ignored": self.ignored,
            "looked_ns": self.looked,
            "arrived": self.arrived,
            "has_lost": int(self.lost),
            "undelayed": self.undelayed,
            "pending": whole(self.pending / PENDING_UNIT),
            "decreased_ns": self.decreased,
            "adjusted_ns": self.adjusted,
            "unadjusted": self.unadjusted,
        }


def floor_to(value: Fraction, unit: Fraction | int) -> Fraction:
    """Returns the greatest multiple of ``unit`` that is not above ``value``."""
    return floor(value / unit) * Fraction(unit)


def whole(value: Fraction) -> int:
    """Returns the integer that the value is. AssertionError where it is none."""
    assert value.denominator == 1, value
    return int(value)


def decide(flow: ExactFlow, event: WindowEvent, numbers: Numbers) -> ExactFlow:
    """Returns the flow after an event; its window is the decision."""

    def bounded(window: Fraction) -> Fraction:
        return max(min(window, Fraction(numbers.window_max)), Fraction(numbers.mtu))

    branches: set[str] = set()
    new = flow.window == 0
    flow = replace(
        flow,
        window=bounded(Fraction(numbers.window_max) if new else flow.window),
        ignored=min(flow.ignored, numbers.window_max),
        pending=min(flow.pending, Fraction(MOST_PENDING) * PENDING_UNIT),
    )
    base = min(numbers.base_rtt, MOST_DELAY)
    acked, lost = min(event.acked, MOST_ACKED), sum(min(part, MOST_LOST) for part in event.lost)
    marked = event.marked > 0
    queued = min(max(event.rtt - base, 0), MOST_DELAY)
    delay = queued if event.rtt else numbers.target

    drained = not marked and delay > numbers.target
    sample = max(base, queued) if lost else base // 4 if drained else delay
    mean = averaged(flow.mean, sample)

    ignored = max(flow.ignored - acked - lost, 0)
    arrived = (flow.arrived + acked) % COUNTS
    skips = (marked or lost > 0) and ignored > 0
    looks = not skips and (event.now - flow.looked) % CLOCK > base + numbers.target
    has_lost = flow.lost or lost > 0
    hard = has_lost or delay > numbers.quick_delay
    adapts = looks and not new and hard and arrived < numbers.quick_gate
    after = replace(
        flow,
        mean=mean,
        ignored=min(event.in_flight, MOST_WINDOW) if adapts else ignored,
        looked=event.now if looks else flow.looked,
        arrived=0 if looks else arrived,
        lost=has_lost and not adapts,
        unadjusted=(flow.unadjusted + acked) % COUNTS,
    )
    if skips or adapts:
        branches.add("adapts" if adapts else "skips")
        window = bounded(Fraction(arrived)) if adapts else flow.window
        return replace(after, window=window, pending=Fraction(0), unadjusted=0, branches=frozenset(branches))
    if lost:
        return replace(after, window=bounded(flow.window - lost), branches=frozenset({"loses"}))

    window, pending = flow.window, flow.pending
    late = delay >= numbers.target
    if late and marked:
        branches.add("late, marked")
        after = replace(after, undelayed=0)
        if floor(mean) > numbers.target and (event.now - flow.decreased) % CLOCK > base:
            branches.add("cut")
            excess = floor_to(Fraction(floor(mean) - numbers.target, floor(mean)), Fraction(1, 2**8))
            window -= floor_to(window * min(GAMMA * excess, LARGEST_CUT), 1)
            after = replace(after, decreased=event.now)
    elif late:
        branches.add("fair")
        pending += gained(numbers.fair, acked)
    elif not marked:
        fast = False
        if delay < FAST_DELAY:
            undelayed = min((flow.undelayed + acked) % COUNTS, SETTLED)
            fast = undelayed > flow.window
            after = replace(after, undelayed=SETTLED if fast else undelayed)
        else:
            after = replace(after, undelayed=0)
        branches.add("fast" if fast else "proportional")
        if fast:
            window += floor_to(acked * numbers.fast_share, 1)
        else:
            step = min(floor(numbers.room_gain * (numbers.target - delay)), STEP_LIMIT)
            pending += gained(step, acked)
    window = bounded(window)

    since = (event.now - flow.adjusted) % CLOCK
    if after.unadjusted > numbers.adjust or since > base:
        branches.add("adjusts")
        sixteenths = max(floor_to(window, WINDOW_UNIT), Fraction(WINDOW_UNIT))
        growth = min(floor_to(pending / sixteenths, GROWTH_UNIT), Fraction(MOST_GROWTH * GROWTH_UNIT))
        pending -= growth * sixteenths
        window += growth
        if since >= base:
            branches.add("steady")
            window += numbers.steady
            after = replace(after, adjusted=event.now)
        window = bounded(window)
        after = replace(after, unadjusted=0)
    return replace(after, window=window, pending=pending, branches=frozenset(branches))


def averaged(mean: Fraction, delay: int) -> Fraction:
    """Returns the mean delay after a sample: two floors to 2^-8 ns."""
    unit = Fraction(1, 2**8)
    return floor_to(mean * (1 - GAIN), unit) + floor_to(delay * GAIN, unit)


def gained(step: int, acked: int) -> Fraction:
    """Returns what bytes acknowledged at a step add to what is pending, bytes^2."""
    return floor_to(Fraction(step * acked), PENDING_UNIT)
