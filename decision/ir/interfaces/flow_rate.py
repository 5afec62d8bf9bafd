"""A flow that sets its rate when the response to its RTT request comes back: RL-CC, PCC-RL.

Sources: [RLCC] sections 2.5 and 3; the programmable congestion-control interfaces of ConnectX and BlueField (timestamps
are uint32 nanoseconds and wrap every 4.29 s; the rate is a Q0.20 fraction of line rate).

``OPTIONS`` are what a policy may ask for beyond that; each adds to the interface, and each set of them is one:
    start       the decision starts and brakes by itself (decision/policy/start.py): the operator tunes when, and the
                context holds the flow's phase above its rate
    rtt_slack   the operator says how much shorter a flow's path is than the base RTT
    in_flight   a second knob caps what is in flight, by the rate (decision/policy/in_flight.py)
    device_rate the event carries the NIC's own rate in force, where the device changes it
                (decision/policy/device_rate.py)
    target_ratio the operator turns the target of the congestion features (decision/policy/target.py)
    acks        the event carries what was acknowledged, and how much of it by ACKs that echo an ECN mark
    window      the cap of ``in_flight`` is a window: the flow decides on what became of its packets
                (decision/ir/interfaces/completion.py) and asks for no RTT; the rate paces the window
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from enum import IntEnum

from decision.ir.interface import After, Geometric, Interface, Knob, LogUniform, Signal, Span, Uniform
from decision.ir.interfaces.completion import COMPLETION, PATH_RTT, RTT
from decision.ir.interfaces.completion import DELAYS_NS as PATH_RTTS_NS

RATE_FRACTION_BITS = 20
"""Fraction bits of the rate the device takes: Q0.20, 1 << 20 is line rate."""

CONTEXT_RATE_BITS = 30
"""Fraction bits of the rate kept in the flow context: ten more than the device's, so that a multiplier of 1.001 still
moves a flow at 1/8192 of line rate (128 in Q0.20, where the step would be lost)."""

LINE_RATE_Q30 = (1 << CONTEXT_RATE_BITS) - 1
"""Line rate as the flow context and the parameters hold it: the greatest rate below 1."""

RTT_BITS = 22
"""RTTs saturate at 2^22 - 1 ns (4.19 ms), far above what a full buffer adds (5 MiB at 100 Gb/s: 420 us)."""

INFLATION_BITS = 10
"""Fraction bits of the RTT inflation rtt / base_rtt."""

MIN_BASE_RTT_NS = 1025
"""Whose reciprocal, Q42, 32 bits hold."""

RATES = (1, LINE_RATE_Q30)
DEVICE_RATE = "device_rate_q20"
CONGESTION_GAIN = "congestion_gain_q28"
TARGET_RATIO = "target_ratio"
RTT_SLACK = "rtt_slack_ns"
ACKED = "acked_bytes"
WINDOW = "window_bytes"
MARKED = "marked_bytes"

DELAYS_NS = (270_336, 73_728, 24_576, 16_384, 491_520)
QUEUES_BYTES = tuple(12 * delay for delay in DELAYS_NS)
"""What such delays are at 100 Gb/s, about."""
RATE_LEVELS = (2**30, 2**26, 2**20, 2**16)
SENT_BYTES = (256 << 10, 1 << 20, 1 << 30)
BASE_RTTS_NS = (MIN_BASE_RTT_NS, 8_192, 100_000, 1_000_000, 4_000_000)
COUNTS = ("event.cnp_count", "event.nack_count", "event.sent_bytes")


def base_rtt_recip_q42(base_rtt_ns: int) -> int:
    """The operator's parameter for a base RTT in ns: floor(2^42 / base_rtt_ns); one below the least is taken for
    1024 ns. An RTT times it is the inflation, Q10, in the product's high word."""
    return min(2**42 // base_rtt_ns, 2**32 - 1)


FLOW_RATE = Interface(
    name="flow_rate",
    agent="flow",
    trigger="response",
    event=(
        Signal("request_sent_ns", "ns, wraps", "when the RTT request left the NIC", Uniform(0, 2**32 - 1)),
        Signal(
            "response_ns",
            "ns, wraps",
            "when its response came back",
            After("request_sent_ns", LogUniform(4e3, 4e6)),
            grows=(0, 2**22),
            beside={"context.rate_q30": RATE_LEVELS},
        ),
        Signal(
            "cnp_count",
            "packets",
            "congestion notification packets since the flow's last decision",
            Geometric(0.5),
            grows=(0, 2**22),
            beside={"event.sent_bytes": SENT_BYTES},
        ),
        Signal(
            "nack_count",
            "packets",
            "negative acknowledgements since the flow's last decision",
            Geometric(0.8),
            grows=(0, 2**22),
            beside={"event.sent_bytes": SENT_BYTES},
        ),
        Signal("sent_bytes", "bytes", "payload sent since the flow's last decision", LogUniform(1e3, 1e7)),
        Signal(
            "queue_bytes",
            "bytes",
            "queue the request met at its most congested port (0 without telemetry)",
            LogUniform(1, 5e6, less=1),
            grows=(0, 2**30),
            beside={"context.rate_q30": RATE_LEVELS},
        ),
    ),
    params=(
        Signal(
            "base_rtt_recip_q42",
            "2^42 / ns",
            "reciprocal of the RTT in an empty network",
            grows=(2**20, 2**32 - 1),
            levels=tuple(map(base_rtt_recip_q42, BASE_RTTS_NS)),
            factors=(1 << 29,),
            settable=(2**20, base_rtt_recip_q42(MIN_BASE_RTT_NS)),
        ),
        Signal("rate_min_q30", "line rate / 2^30", "lowest rate of a flow", settable=RATES),
        Signal("rate_max_q30", "line rate / 2^30", "highest rate of a flow", settable=RATES),
        Signal("rate_initial_q30", "line rate / 2^30", "rate of a new flow", settable=RATES),
    ),
    knobs=(
        Knob(
            "rate_q20",
            "line rate / 2^20",
            "the flow's rate from now on",
            1,
            1 << RATE_FRACTION_BITS,
            finer=CONTEXT_RATE_BITS - RATE_FRACTION_BITS,
        ),
    ),
    context=(
        Signal(
            "rate_q30",
            "line rate / 2^30",
            "rate, fraction of line rate; 0 = new flow",
            LogUniform(2**10, 2**30 + 1, zero=0.05),
            grows=(1, 2**30),
            beside={"event.response_ns": DELAYS_NS, "event.queue_bytes": QUEUES_BYTES},
            levels=(2**30,),
            factors=(LINE_RATE_Q30, 1 << 29, 1 << 26),
        ),
    ),
    mixes=(
        (COUNTS,),
        (COUNTS,),
        (COUNTS, ("event.queue_bytes",)),
        (("event.nack_count",), ("event.queue_bytes",)),
        (("context.rate_q30",),),
    ),
    initial="rate_initial_q30",
    site="flow",
    spans=(Span("rtt_ns", "ns", "from the RTT request to its response", "response_ns", "request_sent_ns"),),
)


PHASED_RATE = (
    "bits 31..30: phase of the start; bits 29..0: rate, fraction of line rate, of which bit 0 is 1 between a brake and "
    "the next response; 0 = new flow"
)


class Phase(IntEnum):
    """Phase of a flow's start. Bit 1: the rate grows by itself; bit 0: the brake is still to come. A settled
    flow's word is its rate alone, which no other phase's is; 0 is a new flow, which starts."""

    SETTLED = 0
    ARMED = 1
    RECOVERING = 2
    STARTING = 3


INFLATIONS = (0, 1 << 24)
"""Of an RTT over the base RTT, Q10: beyond what there is to brake for (4 ms over 1025 ns are 2^22)."""


def _with_start(flow: Interface) -> Interface:
    return replace(
        flow,
        params=(
            *flow.params,
            Signal("slow_start_until_q10", "base RTTs / 2^10", "RTT that ends slow start", settable=INFLATIONS),
            Signal("brake_above_q10", "base RTTs / 2^10", "RTT above which a flow brakes", settable=INFLATIONS),
            Signal("brake_rate_q30", "line rate / 2^30", "highest rate of a flow that has just braked", settable=RATES),
            Signal("recover_until_q10", "base RTTs / 2^10", "RTT that ends the recovery", settable=INFLATIONS),
        ),
        context=(replace(flow.context[0], meaning=PHASED_RATE), *flow.context[1:]),
        new_phase=Phase.STARTING,
        phases=tuple((phase.name, int(phase)) for phase in Phase),
    )


def _with_in_flight(flow: Interface) -> Interface:
    line_rate = "most bytes in flight at line rate"
    return replace(
        flow,
        params=(
            *flow.params,
            Signal("in_flight_line_q2", "bytes / 2^2", line_rate, settable=(4, 2**32 - 4)),
            Signal("in_flight_min_bytes", "bytes", "may be in flight at any rate", settable=(1, 2**30)),
        ),
        knobs=(*flow.knobs, Knob("in_flight_bytes", "bytes", "the most that may be in flight from now on", 1, 2**30)),
    )


def _with_device_rate(flow: Interface) -> Interface:
    most = 1 << RATE_FRACTION_BITS
    return replace(
        flow,
        event=(
            *flow.event,
            Signal(
                DEVICE_RATE,
                "line rate / 2^20",
                "the NIC's own rate of the flow, in force now (0: not told)",
                LogUniform(1, most + 1, zero=0.5),
                grows=(0, most + 2),
                levels=(most,),
            ),
        ),
    )


GAIN_BITS = 28
"""Fraction bits of the gain by which an operator turns the target: 1 << 28 is the trained target."""

GAINS = (1 << 20, 2**32 - 2**4)
"""Of a target 16 times the trained one, to a quarter of it (2^-28 less, so that there is something out of range)."""


def _with_target_ratio(flow: Interface) -> Interface:
    unit, meaning = f"1 / 2^{GAIN_BITS}", "(trained target / target)^2; 2^28: as trained"
    levels = (GAINS[0], 1 << 26, 1 << GAIN_BITS, 1 << 30, GAINS[1])
    gain = Signal(CONGESTION_GAIN, unit, meaning, levels=levels, factors=(1 << GAIN_BITS,), settable=GAINS)
    return replace(flow, params=(*flow.params, gain))


def _with_acks(flow: Interface) -> Interface:
    acknowledged = {f"event.{ACKED}": SENT_BYTES}  # next to which a send ratio grows in single steps
    acked = Signal(
        ACKED,
        "bytes",
        "payload acknowledged since the flow's last decision",
        LogUniform(1e3, 1e7),
        beside={"event.sent_bytes": SENT_BYTES},
    )
    marked = Signal(
        MARKED,
        "bytes",
        "of these, by ACKs that echo an ECN mark",
        LogUniform(1, 1e7, zero=0.5),
        grows=(0, 2**30),
        beside=acknowledged,
    )
    event = [replace(s, grows=(0, 2**30), beside=acknowledged) if s.name == "sent_bytes" else s for s in flow.event]
    return replace(flow, event=(*event, acked, marked), mixes=(*flow.mixes, ((f"event.{ACKED}", f"event.{MARKED}"),)))


def _with_rtt_slack(flow: Interface) -> Interface:
    meaning = "base RTT less that of the flow's own path: RTTs count so much longer"
    slack = Signal(RTT_SLACK, "ns", meaning, levels=(1_024, 100_000), settable=(0, 2**RTT_BITS - 1))
    return replace(flow, params=(*flow.params, slack))


def _with_window(flow: Interface) -> Interface:
    rates = {"context.rate_q30": RATE_LEVELS}
    force = replace(flow.context[0], beside={f"event.{RTT}": DELAYS_NS})
    path_rtt = Signal(PATH_RTT, "ns", "RTT in an empty network", settable=PATH_RTTS_NS)
    return replace(
        flow,
        event=tuple(replace(s, grows=(0, 2**RTT_BITS), beside=rates) if s.name == RTT else s for s in COMPLETION),
        params=(*flow.params, path_rtt),
        knobs=(flow.knobs[0], replace(flow.knobs[1], name=WINDOW)),
        context=(force, *flow.context[1:]),
        mixes=((("context.rate_q30",),),),
        site="flow_window",
        spans=(),
    )


OPTIONS: dict[str, Callable[[Interface], Interface]] = {
    "start": _with_start,
    "rtt_slack": _with_rtt_slack,
    "in_flight": _with_in_flight,
    "device_rate": _with_device_rate,
    "target_ratio": _with_target_ratio,
    "acks": _with_acks,
    "window": _with_window,
}
"""By the table of policy.toml that asks for each, or its observation's key, in the order in which they add to the
interface."""


def flow_interface(chosen: Collection[str]) -> Interface:
    """Returns the interface of flows with these options. A window is the cap of ``in_flight``."""
    implied = {*chosen, *(("in_flight",) if "window" in chosen else ())}
    flow, names = FLOW_RATE, [name for name in OPTIONS if name in implied]
    for name in names:
        flow = OPTIONS[name](flow)
    return replace(flow, name="_".join(["flow", *names])) if names else flow


WINDOWED = (("in_flight", "window"), ("in_flight", "target_ratio", "window"))
"""The sets of options with a window."""

NO_WINDOW = [
    [name for bit, name in enumerate(OPTIONS) if chosen >> bit & 1] for chosen in range(2 ** len(OPTIONS) // 2)
]
FLOWS = tuple(map(flow_interface, [*NO_WINDOW, *WINDOWED]))
"""All of them, ``FLOW_RATE`` first."""
