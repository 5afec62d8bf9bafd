"""The event of a sender: an acknowledgement, a negative one or a timeout tells what became of a flow's packets.

Sources: [UEC]'s congestion control (bytes acknowledged, ECN mark, RTT and entropy value of an acknowledged packet; loss
by NACK, by SACK and by timeout). Host transfer engines tell bytes and RTT of a completion.

An event may acknowledge and lose at once. ``rtt_ns`` is 0 where nothing was timed. The clock wraps every 4.29 s.
"""

from decision.ir.interface import LogUniform, Signal, Uniform

NOW, RTT, PATH_RTT = "now_ns", "rtt_ns", "path_rtt_ns"
LOSSES = {
    "trimmed_bytes": "payload lost: a switch trimmed it",
    "nacked_bytes": "payload lost: the receiver refused it",
    "skipped_bytes": "payload lost: selective acknowledgements skip it",
    "expired_bytes": "payload lost: its timer expired",
}
DELAYS_NS = (1, (1 << 24) - 1)
"""Base RTTs and target delays, to 16.8 ms."""
BYTES = LogUniform(1, 2**22, less=1)

COMPLETION = (
    Signal(NOW, "ns, wraps", "the sender's clock", Uniform(0, 2**32 - 1)),
    Signal(RTT, "ns", "RTT of the newest packet acknowledged; 0: not timed", LogUniform(1e3, 2**24, zero=0.1)),
    Signal("acked_bytes", "bytes", "payload acknowledged since the flow's last decision", BYTES),
    Signal("marked_bytes", "bytes", "of these, in packets with an ECN mark", LogUniform(1, 2**22, zero=0.6)),
    *(Signal(name, "bytes", meaning, LogUniform(64, 2**20, zero=0.9)) for name, meaning in LOSSES.items()),
    Signal("in_flight_bytes", "bytes", "sent, neither acknowledged nor lost, after this event", BYTES),
    Signal("path_id", "code", "entropy value of the newest packet acknowledged", Uniform(0, 2**16 - 1)),
)
