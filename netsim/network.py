"""The network: one switch, its links and its NICs. Every default says where it comes from.

Lengths of time are integer picoseconds (``_ps``), sizes are bytes. At 100 Gb/s a byte lasts exactly 80 ps.
"""

from dataclasses import dataclass, fields

from netsim import _core
from spec.errors import InputError

WIRE_OVERHEAD_BYTES = 14 + 4 + 20 + 20 + 8 + 12 + 4
"""Ethernet header and FCS, preamble and gap, IPv4, UDP, InfiniBand BTH, ICRC: a RoCEv2 data packet's 82 bytes."""

US = 1_000_000
MS = 1_000_000_000
LATEST_PS = 100_000 * MS
"""The event list holds 140 s of picoseconds; runs may last 100 s."""


@dataclass(frozen=True)
class Network:
    """Parameters of switch, links and NICs."""

    link_gbps: int = 100  # RL-CC section 6.1
    payload_bytes: int = 1024  # RL-CC, published code
    wire_overhead_bytes: int = WIRE_OVERHEAD_BYTES
    probe_wire_bytes: int = 84  # the smallest Ethernet frame, 64 bytes, and 20 of preamble and gap

    one_way_ps: int = 4 * US  # of a data packet in an empty network: RL-CC, published code
    base_rtt_ps: int = 8_192_000  # of a probe in an empty network, exactly: the 8192 ns of RL-CC, published code

    buffer_bytes: int = 5 * 2**20  # shared by all ports, 5 to 10 MiB in RL-CC, published code; PCC-RL, figure 3
    ecn_min_bytes: int = 400_000  # HPCC artefact: 4 B KB and 16 B KB at B Gb/s, Pmax 0.2 (there at dequeue)
    ecn_max_bytes: int = 1_600_000
    ecn_max_probability: float = 0.2
    cnp_interval_ps: int = 4 * US  # CNP gap of ConnectX, a flow

    burst_packets: int = 4  # sent back to back when a queue pair is served
    message_packets: int = 16  # an ACK a message: RL-CC, published code
    inflight_messages: int = 40  # cap on what is not acknowledged: RL-CC, published code

    probe_gap_ps: int = 4 * US  # a decision every RTT + 4 us: RL-CC, published code
    probe_timeout_ps: int | None = None  # None: the longest RTT there can be
    retransmit_timeout_ps: int | None = None  # None: the longest RTT there can be and a message at line rate
    start_jitter_ps: int = 10 * US  # flows start at random within it, so that they are not in step

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
                raise InputError(f"network: {f.name} is {value!r}; it must be a number that is not negative")
            if f.name != "ecn_max_probability" and not isinstance(value, int):
                raise InputError(f"network: {f.name} is {value!r}; it must be a whole number")
        if self.link_gbps == 0 or 8000 % self.link_gbps:
            raise InputError(
                f"network: link_gbps is {self.link_gbps}; a byte must last whole picoseconds (25, 100, 400)"
            )
        if not 1 <= self.payload_bytes <= 9000 or not 1 <= self.probe_wire_bytes <= self.data_wire_bytes:
            raise InputError("network: payload_bytes must be 1 to 9000 and a probe no longer than a data packet")
        if min(self.uplink_delay_ps, self.downlink_delay_ps, self.control_delay_ps) < 1:
            raise InputError("network: one_way_ps and base_rtt_ps leave no time for the links; raise them")
        if not 2 * self.data_wire_bytes <= self.buffer_bytes or self.buffer_bytes * self.ps_per_byte >= 2**32:
            raise InputError(f"network: buffer_bytes is {self.buffer_bytes}; it must hold 2 packets and at most 4 ms")
        if self.ecn_min_bytes > self.ecn_max_bytes or not 0 <= self.ecn_max_probability <= 1:
            raise InputError("network: ecn_min_bytes <= ecn_max_bytes and a probability of 0 to 1 are needed")
        if not 1 <= self.burst_packets <= self.message_packets <= 4096 or not 1 <= self.inflight_messages <= 4096:
            raise InputError("network: 1 <= burst_packets <= message_packets <= 4096 and 1 to 4096 messages are needed")
        if self.start_jitter_ps > LATEST_PS or self.probe_gap_ps > LATEST_PS:
            raise InputError("network: start_jitter_ps and probe_gap_ps are at most 100 s")
        for name in ("probe_timeout_ps", "retransmit_timeout_ps"):
            value = getattr(self, name)
            if value is not None and not self.longest_rtt_ps <= value <= LATEST_PS:
                raise InputError(f"network: {name} is below the longest RTT, {self.longest_rtt_ps} ps; raise it")

    @property
    def ps_per_byte(self) -> int:
        return 8000 // self.link_gbps

    @property
    def data_wire_bytes(self) -> int:
        return self.payload_bytes + self.wire_overhead_bytes

    @property
    def _data_ps(self) -> int:
        return self.data_wire_bytes * self.ps_per_byte

    @property
    def uplink_delay_ps(self) -> int:
        """Host to switch, forwarding included. A data packet is sent twice and travels over both links."""
        return (self.one_way_ps - 2 * self._data_ps) // 2

    @property
    def downlink_delay_ps(self) -> int:
        return self.one_way_ps - 2 * self._data_ps - self.uplink_delay_ps

    @property
    def control_delay_ps(self) -> int:
        """The way back, constant: what is left of the base RTT. A probe follows a data packet of its own flow on the
        uplink and waits for it at the port, hence a data packet's and a probe's time on the wire."""
        there = self.uplink_delay_ps + self._data_ps + self.probe_wire_bytes * self.ps_per_byte + self.downlink_delay_ps
        return self.base_rtt_ps - there

    @property
    def longest_rtt_ps(self) -> int:
        """Through a full buffer. Later than that a probe or an ACK does not come: the way back loses nothing."""
        return self.base_rtt_ps + self.buffer_bytes * self.ps_per_byte

    def core(self, decision_latency_ps: int) -> "_core.NetworkConfig":
        """The same for the simulator's core."""
        message_ps = self.message_packets * self._data_ps
        core = _core.NetworkConfig()
        core.ps_per_byte = self.ps_per_byte
        core.payload_bytes = self.payload_bytes
        core.data_wire_bytes = self.data_wire_bytes
        core.probe_wire_bytes = self.probe_wire_bytes
        core.uplink_delay_ps = self.uplink_delay_ps
        core.downlink_delay_ps = self.downlink_delay_ps
        core.control_delay_ps = self.control_delay_ps
        core.buffer_bytes = self.buffer_bytes
        core.ecn_min_bytes = self.ecn_min_bytes
        core.ecn_max_bytes = self.ecn_max_bytes
        core.ecn_max_probability = self.ecn_max_probability
        core.cnp_interval_ps = self.cnp_interval_ps
        core.burst_packets = self.burst_packets
        core.message_packets = self.message_packets
        core.inflight_packets = self.inflight_messages * self.message_packets
        core.probe_gap_ps = self.probe_gap_ps
        core.probe_timeout_ps = self.probe_timeout_ps or self.longest_rtt_ps
        core.retransmit_timeout_ps = self.retransmit_timeout_ps or self.longest_rtt_ps + message_ps
        core.start_jitter_ps = self.start_jitter_ps
        core.decision_latency_ps = decision_latency_ps
        return core
