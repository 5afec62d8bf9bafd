"""A flow that sets its window in bytes by what became of its packets (decision/ir/interfaces/completion.py): NSCC in
[UEC], Swift. The library headers of [MRC] have the operator's parameters."""

from dataclasses import replace

from decision.ir.formats import U32_MAX
from decision.ir.interface import Interface, Knob, Signal
from decision.ir.interfaces.completion import COMPLETION, DELAYS_NS

MAX_WINDOW_BYTES = (1 << 26) - 1
"""Largest window: 400 Gb/s for 1.3 ms."""

WINDOWS_BYTES = (1, MAX_WINDOW_BYTES)

FLOW_WINDOW = Interface(
    name="flow_window",
    agent="flow",
    trigger="response",
    event=COMPLETION,
    params=(
        Signal("mtu_bytes", "bytes", "smallest window: a packet's payload", settable=(64, 1 << 16)),
        Signal("window_max_bytes", "bytes", "largest window, and a new flow's", settable=WINDOWS_BYTES),
        Signal("path_rtt_ns", "ns", "RTT in an empty network", settable=DELAYS_NS),
        Signal("target_delay_ns", "ns", "queueing delay to aim at", settable=DELAYS_NS),
    ),
    knobs=(Knob("window_bytes", "bytes", "the most that may be in flight from now on", 1, MAX_WINDOW_BYTES),),
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
        Signal("quick_delay_ns", "ns", "queueing delay that calls for quick adapt", settable=DELAYS_NS),
        Signal("quick_gate_bytes", "bytes", "quick adapt if less arrived", settable=(0, MAX_WINDOW_BYTES)),
    ),
    site=FLOW_WINDOW.name,
)
"""The same with the numbers of NSCC that a controller sets ([UEC], [MRC])."""
