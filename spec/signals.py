"""What the device hands to a decision: the raw event, the operator's parameters, and their integer formats.

Every policy gets the same two structures in the same order, all fields uint32, so that one adapter a target serves all
policies. Sources: RL-CC sections 2.5 and 3; the programmable congestion-control interfaces of ConnectX and BlueField
(timestamps are uint32 nanoseconds and wrap every 4.29 s; the rate is a Q0.20 fraction of line rate).
"""

from dataclasses import dataclass

U32_MAX = 2**32 - 1

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

ACTION_BITS = 16
"""Fraction bits of the action: the multiplier of the rate is 1 + action / 2^16."""

FEATURE_LIMIT = 2**24
"""Integer features stay below 2^24 in magnitude: CatBoost keeps features as float32, which holds them exactly."""


@dataclass(frozen=True)
class Signal:
    """One uint32 that the device gives (event) or the operator sets (parameter)."""

    name: str
    unit: str
    meaning: str


EVENT: tuple[Signal, ...] = (
    Signal("request_sent_ns", "ns, wraps", "when the RTT request left the NIC"),
    Signal("response_ns", "ns, wraps", "when its response came back"),
    Signal("cnp_count", "packets", "congestion notification packets since the flow's last decision"),
    Signal("nack_count", "packets", "negative acknowledgements since the flow's last decision"),
    Signal("sent_bytes", "bytes", "payload sent since the flow's last decision"),
    Signal("queue_bytes", "bytes", "queue the request met at its most congested port (0 without telemetry)"),
)

PARAMS: tuple[Signal, ...] = (
    Signal("base_rtt_recip_q32", "2^32 / ns", "reciprocal of the RTT in an empty network"),
    Signal("rate_min_q30", "line rate / 2^30", "lowest rate of a flow"),
    Signal("rate_max_q30", "line rate / 2^30", "highest rate of a flow"),
    Signal("rate_initial_q30", "line rate / 2^30", "rate of a new flow"),
)

EVENT_NAMES = tuple(signal.name for signal in EVENT)
PARAM_NAMES = tuple(signal.name for signal in PARAMS)


def base_rtt_recip_q32(base_rtt_ns: int) -> int:
    """The operator's parameter for a base RTT in ns: floor(2^32 / base_rtt_ns)."""
    return 2**32 // base_rtt_ns
