"""A flow that sets its window in bytes when an acknowledgement, a negative one or a timeout tells what became of its
packets: [UEC] NSCC, Swift.

Sources: [UEC]'s congestion control (bytes acknowledged, ECN mark, RTT and entropy value of an acknowledged packet; loss
by NACK, by SACK and by timeout; window in bytes). The library headers of [MRC] have the operator's parameters, host
transfer engines bytes and RTT of a completion.

An event may acknowledge and lose at once. ``rtt_ns`` is 0 where nothing was timed. The clock wraps every 4.29 s.
"""

from dataclasses import replace

from decision.ir.formats import U32_MAX
from decision.ir.interface import Interface, Knob, LogUniform, Signal, Uniform
from decision.ir.interfaces.flow_rate import RATE_FRACTION_BITS

MAX_WINDOW_BYTES = (1 << 26) - 1
"""Largest window: 400 Gb/s for 1.3 ms."""

MAX_DELAY_NS = (1 << 24) - 1
"""Largest base RTT and target delay, 16.8 ms."""

WINDOWS_BYTES = (1, MAX_WINDOW_BYTES)
DELAYS_NS = (1, MAX_DELAY_NS)
BYTES = LogUniform(1, 2**22, less=1)


def _lost(name: str, meaning: str) -> Signal:
    return Signal(name, "bytes", meaning, LogUniform(64, 2**20, zero=0.9))


FLOW_WINDOW = Interface(
    name="flow_window",
    agent="flow",
    trigger="response",
    event=(
        Signal("now_ns", "ns, wraps", "the sender's clock", Uniform(0, 2**32 - 1)),
        Signal("rtt_ns", "ns", "RTT of the newest packet acknowledged; 0: not timed", LogUniform(1e3, 2**24, zero=0.1)),
        Signal("acked_bytes", "bytes", "payload acknowledged since the flow's last decision", BYTES),
        Signal("marked_bytes", "bytes", "of these, in packets with an ECN mark", LogUniform(1, 2**22, zero=0.6)),
        _lost("trimmed_bytes", "payload lost: a switch trimmed it"),
        _lost("nacked_bytes", "payload lost: the receiver refused it"),
        _lost("skipped_bytes", "payload lost: selective acknowledgements skip it"),
        _lost("expired_bytes", "payload lost: its timer expired"),
        Signal("in_flight_bytes", "bytes", "sent, neither acknowledged nor lost, after this event", BYTES),
        Signal("path_id", "code", "entropy value of the newest packet acknowledged", Uniform(0, 2**16 - 1)),
    ),
    params=(
        Signal("mtu_bytes", "bytes", "smallest window: a packet's payload", settable=(64, 1 << 16)),
        Signal("window_max_bytes", "bytes", "largest window, and a new flow's", settable=WINDOWS_BYTES),
        Signal("path_rtt_ns", "ns", "RTT in an empty network", settable=DELAYS_NS),
        Signal("target_delay_ns", "ns", "queueing delay to aim at", settable=DELAYS_NS),
    ),
    knobs=(Knob("window_bytes", "bytes", "the most that may be in flight from now on", 1, MAX_WINDOW_BYTES),),
)

FLOW_WINDOW_PACED = replace(
    FLOW_WINDOW,
    name="flow_window_paced",
    knobs=(
        *FLOW_WINDOW.knobs,
        Knob("pacing_rate_q20", "line rate / 2^20", "rate at which the window is sent", 1, 1 << RATE_FRACTION_BITS),
    ),
    site=FLOW_WINDOW.name,
)


STEP_BITS = 20
"""A step of NSCC is less than 2^20 bytes an RTT."""

FLOW_WINDOW_NSCC = replace(
    FLOW_WINDOW,
    name="flow_window_nscc",
    params=(
        *FLOW_WINDOW.params,
        Signal("fair_bytes", "bytes an RTT", "increase at the target and above", settable=(0, (1 << STEP_BITS) - 1)),
        Signal("room_gain_q24", "bytes an RTT / ns / 2^24", "increase by delay below target", settable=(0, U32_MAX)),
        Signal("steady_bytes", "bytes an RTT", "increase at any delay", settable=(0, (1 << STEP_BITS) - 1)),
        Signal("fast_share_q24", "1 / 2^24", "increase without delay, by acknowledged bytes", settable=(0, U32_MAX)),
        Signal("adjust_bytes", "bytes", "acknowledged bytes before an increase", settable=(0, MAX_WINDOW_BYTES)),
        Signal("quick_delay_ns", "ns", "queueing delay that calls for quick adapt", settable=(1, MAX_DELAY_NS)),
        Signal("quick_gate_bytes", "bytes", "quick adapt if less arrived", settable=(0, MAX_WINDOW_BYTES)),
    ),
    site=FLOW_WINDOW.name,
)
"""The same with the numbers of NSCC that a controller sets ([UEC], [MRC])."""
