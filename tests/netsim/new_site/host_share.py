"""Hosts that set what each of their flows may send at, every period: agents at a place that rlcc does not have."""

from decision.ir.interface import Interface, Knob, LogUniform, Signal, Uniform

HOST_SHARE = Interface(
    name="host_share",
    agent="host",
    trigger="period",
    site="host",
    event=(
        Signal("flows", "flows", "that send now", Uniform(0, 1 << 16)),
        Signal("sent_packets", "packets", "since the host's last decision", LogUniform(1, 1e9, less=1)),
    ),
    params=(Signal("line_bytes", "bytes", "what the host's NIC sends in a period", settable=(1, 2**31 - 1)),),
    knobs=(Knob("share_q16", "line rate / 2^16", "of each of the host's flows", 1, 1 << 16),),
)
