"""What the device hands to a decision: the raw event, the operator's parameters, and their integer formats.

Every policy gets the same two structures in the same order, all fields uint32, so that one adapter a target serves all
policies. Sources: [RLCC] sections 2.5 and 3; the programmable congestion-control interfaces of ConnectX and BlueField
(timestamps are uint32 nanoseconds and wrap every 4.29 s; the rate is a Q0.20 fraction of line rate).
"""

from decision.interfaces.flow_rate import (
    CONTEXT_RATE_BITS,
    FLOW_RATE,
    LINE_RATE_Q30,
    RATE_FRACTION_BITS,
    base_rtt_recip_q32,
)

__all__ = [
    "ACTION_BITS",
    "CONTEXT_RATE_BITS",
    "EVENT_NAMES",
    "FEATURE_LIMIT",
    "INFLATION_BITS",
    "LINE_RATE_Q30",
    "PARAM_NAMES",
    "RATE_FRACTION_BITS",
    "RTT_BITS",
    "U32_MAX",
    "base_rtt_recip_q32",
]

U32_MAX = 2**32 - 1

RTT_BITS = 22
"""RTTs saturate at 2^22 - 1 ns (4.19 ms), far above what a full buffer adds (5 MiB at 100 Gb/s: 420 us)."""

INFLATION_BITS = 10
"""Fraction bits of the RTT inflation rtt / base_rtt."""

ACTION_BITS = 16
"""Fraction bits of the action: the multiplier of the rate is 1 + action / 2^16."""

FEATURE_LIMIT = 2**24
"""Integer features stay below 2^24 in magnitude: CatBoost keeps features as float32, which holds them exactly."""


EVENT_NAMES, PARAM_NAMES = FLOW_RATE.event_names, FLOW_RATE.param_names
