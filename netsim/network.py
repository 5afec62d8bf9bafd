"""The network: its switches' buffers and queues, its links and its NICs. Every default says where it comes from.

Lengths of time are integer picoseconds (``_ps``), sizes are bytes. At 100 Gb/s a byte lasts exactly 80 ps.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from decision.devices import TRANSPORTS
from netsim.failures import Failure

WIRE_OVERHEAD_BYTES = 14 + 4 + 20 + 20 + 8 + 12 + 4
"""Ethernet header and FCS, preamble and gap, IPv4, UDP, InfiniBand BTH, ICRC: a RoCEv2 data packet's 82 bytes."""

NS = 1_000
US = 1_000_000
MS = 1_000_000_000
MAX_CLASSES = 8
CLASSES_BY = ("flow", "sent", "size")
MAX_BYTES = 1 << 40
MAX_ENTROPY_VALUES = 1 << 16
"""The values of [UEC]'s field and of a UDP source port: 16 bits."""
INFLIGHT_BDP = Fraction(8, 5)
SELECTIVE_REPEAT = "selective-repeat"
LATEST_PS = 100_000 * MS
"""The event list holds 140 s of picoseconds; runs may last 100 s."""


@dataclass(frozen=True)
class Network:
    """Parameters of switches, links and NICs. A fabric (netsim.topology) has link rates and delays of its own."""

    link_gbps: int = 100  # [RLCC] section 6.1
    payload_bytes: int = 1024  # RL-CC, published code
    wire_overhead_bytes: int = WIRE_OVERHEAD_BYTES
    probe_wire_bytes: int = 84  # the smallest Ethernet frame, 64 bytes, and 20 of preamble and gap

    one_way_ps: int = 4 * US  # of a data packet in an empty network: RL-CC, published code
    base_rtt_ps: int = 8_192_000  # of a probe in an empty network, exactly: the 8192 ns of RL-CC, published code

    buffer_bytes: int = 5 * 2**20  # shared by a switch's ports, 5 to 10 MiB in RL-CC, published code; [PCCRL] figure 3
    dynamic_threshold: float = 0.0  # a queue may hold this times what is free of the buffer; 0: all of it
    ecn_min_bytes: int = 400_000  # HPCC artefact: 4 B KB and 16 B KB at B Gb/s, Pmax 0.2 (there at dequeue); ports
    ecn_max_bytes: int = 1_600_000  # of another rate than the NICs' have theirs in proportion
    ecn_max_probability: float = 0.2
    mark_at_dequeue: bool = False
    class_weights: tuple[int, ...] = (1,)  # a queue of each port, by deficit round robin; 0: strictly before the others
    nic_priorities: bool = False  # NICs, too, serve the lower classes strictly before the others
    class_by: str = (
        "flow"  # a flow's packets carry its own class; or that of the bytes it has "sent", or of its "size":
    )
    demotion: tuple[tuple[int, ...], ...] = ()  # bytes with which it stays in class 0, 1, ..: a row for all machines,
    # or one for each of so many equal groups of them
    telemetry: bool = True  # switches stamp their queues into packets (INT), for whoever reads them
    lossless: bool = False  # priority flow control (IEEE 802.1Qbb), thresholds of the HPCC artefact:
    pfc_reserve_bytes: int = 4096  # a link and class
    pfc_resume_bytes: int = 3072  # below the threshold at which it was paused
    scheduled_ports: bool = False  # pick packet by packet also where a FIFO would do: the same results, to check them
    pfc_headroom: float = 3.0  # of what a link carries in its delay, a link
    cnp_interval_ps: int = 4 * US  # CNP gap of ConnectX, a flow

    burst_packets: int = 4  # sent back to back when a queue pair is served
    message_packets: int = 16  # an ACK a message: RL-CC, published code
    inflight_messages: int | None = None  # cap on what is not acknowledged, for flows without a window of their own;
    # None: 1.6 BDP, which at 100 Gb/s is the smallest of the 40, 30 and 10 of RL-CC's published code

    probe_gap_ps: int = 4 * US  # a decision every RTT + 4 us: RL-CC, published code
    probe_after_bytes: int = 0  # payload that a flow sends at least between its last decision's response and a probe ..
    probe_latest_ps: int | None = None  # .. unless it has sent none for so long; None: however long ..
    probe_first: int = 1  # .. or it is new, and has made fewer decisions than this
    probe_timeout_ps: int | None = None  # None: the longest RTT there can be
    retransmit_timeout_ps: int | None = None  # None: the longest RTT there can be and a message at line rate
    spray: bool = False  # each packet takes any of the equal paths
    entropy_values: int = 0  # each packet has one of so many, which says its path by a hash; 0: a flow has one path
    trim_bytes: int = 0  # queue beyond which a data packet goes on as its header alone, as long as a probe; 0: never
    reorder_packets: int = 0  # that come beyond one that is missing before it is taken for lost; 0: a gap is a loss
    failures: tuple[Failure, ...] = ()  # links of the fabric that fail and come back
    reroute_ps: int = 0  # so much later the routes follow

    start_jitter_ps: int = 10 * US  # flows start at random within it, so that they are not in step

    decision_loss: float = 0.0  # Share of a flow's responses that no decision follows: another probe is sent.
    decision_late: float = 0.0  # Share of a flow's decisions that takes effect late.
    decision_late_by_ps: int = 10 * US  # Largest delay of these (evenly drawn); it holds up the decisions after them.
    rtt_noise_ps: int = 0  # Largest delay of the time stamp of a response or a baseline's ACK (evenly drawn).
    event_reorder: float = 0.0  # Share of the responses whose event comes late, so that later ones overtake it.
    event_reorder_by_ps: int = 10 * US  # Largest delay of these events (evenly drawn); the time stamps stay.

    context_flows: int = 1  # Consecutive flows of a NIC that share one context, and so one rate.
    probe_a_context: bool = False  # Flows of one context share one probe in flight if their policy decides once a RTT.
    rate_scale: float = 1.0  # Rate on the wire, as a share of the rate that a policy sets.
    rate_step_q30: int = 1  # Step of rates, in line rate, Q0.30; rates are rounded up to it.
    rate_least_q30: int = 0  # Lowest rate, in line rate, Q0.30.
    actuation_ps: int = 0  # Time from the end of a decision's latency until its rate holds.

    transport: str | None = None  # Repair of losses, "go-back-n" or "selective-repeat"; None: the device's default.
    message_cost_ps: int = 0  # NIC's time a message before its first packet, of a queue pair.
    policer_gbps: int | None = None  # Rate of a token bucket in front of each receiver, which drops; None: no bucket.
    policer_burst_bytes: int = 65_536  # Size of that bucket; declared.

    device_limit: float = 1.0  # of line rate: no flow of a policy has more in force while its NIC's limiter is on, ..
    device_limit_from_ps: int = 0  # .. from here on ..
    device_limit_for_ps: int = 0  # .. for so long ..
    device_limit_every_ps: int | None = None  # .. and again each time that this has passed; None: once

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None:
                continue
            if f.name in ("class_weights", "class_by", "demotion", "failures", "transport"):
                continue
            if f.type is bool:
                if not isinstance(value, bool):
                    raise InputError(f"network: {f.name} is {value!r}; it must be true or false")
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**62:
                raise InputError(f"network: {f.name} is {value!r}; it must be a number that is not negative")
            if f.type is not float and not isinstance(value, int):
                raise InputError(f"network: {f.name} is {value!r}; it must be a whole number")
        if self.link_gbps == 0 or 8000 % self.link_gbps:
            raise InputError(
                f"network: link_gbps is {self.link_gbps}; a byte must last whole picoseconds (25, 100, 400)"
            )
        if self.transport is not None and self.transport not in TRANSPORTS:
            raise InputError(
                f"network: transport is {self.transport!r}; choose {choices(str(self.transport), TRANSPORTS)}"
            )
        if self.policer_gbps is not None and (self.policer_gbps == 0 or 8000 % self.policer_gbps):
            raise InputError(
                f"network: policer_gbps is {self.policer_gbps}; a byte must last whole picoseconds (10, 25, 50), or "
                "leave it out for no policer"
            )
        if not self.data_wire_bytes <= self.policer_burst_bytes <= MAX_BYTES:
            raise InputError(
                f"network: policer_burst_bytes is {self.policer_burst_bytes}; it must hold a data packet, "
                f"{self.data_wire_bytes} bytes, and is at most {MAX_BYTES}"
            )
        if self.message_cost_ps > LATEST_PS:
            raise InputError("network: message_cost_ps is at most 100 s")
        if not 1 <= self.payload_bytes <= 9000 or not 1 <= self.probe_wire_bytes <= self.data_wire_bytes:
            raise InputError("network: payload_bytes must be 1 to 9000 and a probe no longer than a data packet")
        if max(self.one_way_ps, self.base_rtt_ps) > LATEST_PS:
            raise InputError("network: one_way_ps and base_rtt_ps are at most 100 s")
        if self.burst_packets * self.data_wire_bytes * self.ps_per_byte >= 2**32:
            raise InputError("network: a burst lasts more than 4 ms; lower burst_packets or payload_bytes")
        if self.lossless and self.dynamic_threshold > 0:
            raise InputError("network: a lossless network has PFC's thresholds; set dynamic_threshold to 0")
        if not 2 * self.data_wire_bytes <= self.buffer_bytes or self.buffer_bytes * self.ps_per_byte > 1000 * MS:
            raise InputError(f"network: buffer_bytes is {self.buffer_bytes}; it must hold 2 packets and at most 1 s")
        if self.ecn_max_bytes > MAX_BYTES:
            raise InputError(f"network: ecn_max_bytes is at most {MAX_BYTES}")
        if self.ecn_min_bytes > self.ecn_max_bytes or not 0 <= self.ecn_max_probability <= 1:
            raise InputError("network: ecn_min_bytes <= ecn_max_bytes and a probability of 0 to 1 are needed")
        messages = 1 if self.inflight_messages is None else self.inflight_messages
        if not 1 <= self.burst_packets <= self.message_packets <= 4096 or not 1 <= messages <= 4096:
            raise InputError("network: 1 <= burst_packets <= message_packets <= 4096 and 1 to 4096 messages are needed")
        weights = self.class_weights
        integers = isinstance(weights, tuple) and all(type(w) is int and 0 <= w <= 1000 for w in weights)
        if not integers or not 1 <= len(weights) <= MAX_CLASSES:
            raise InputError(f"network: class_weights is {weights!r}; give 1 to {MAX_CLASSES} weights from 0 to 1000")
        self._check_demotion()
        if self.reorder_packets > 4096 or self.reroute_ps > LATEST_PS:
            raise InputError("network: reorder_packets is at most 4096, reroute_ps at most 100 s")
        if self.entropy_values > MAX_ENTROPY_VALUES or (self.entropy_values > 0 and self.spray):
            raise InputError(
                f"network: entropy_values is {self.entropy_values}; it is at most {MAX_ENTROPY_VALUES}, and 0 where "
                "spray is true"
            )
        if self.trim_bytes > 0 and (self.lossless or self.trim_bytes > self.buffer_bytes):
            raise InputError(
                f"network: trim is {self.trim_bytes} bytes; it must fit buffer, {self.buffer_bytes}, of a lossy network"
            )
        if not isinstance(self.failures, tuple) or not all(isinstance(each, Failure) for each in self.failures):
            raise InputError(f"network: failures is {self.failures!r}; give a tuple of netsim.Failure")
        if self.failures and self.lossless:
            raise InputError("network: a link that fails loses what is on it; set lossless to false, or no failures")
        for name in ("start_jitter_ps", "probe_gap_ps", "decision_late_by_ps", "rtt_noise_ps", "event_reorder_by_ps"):
            if getattr(self, name) > LATEST_PS:
                raise InputError(f"network: {name} is {getattr(self, name)}; it is at most 100 s")
        if not self.event_reorder <= 1:
            raise InputError(f"network: event_reorder is {self.event_reorder}; it is a share of at most 1")
        if not self.decision_loss < 1 or not self.decision_late <= 1:
            raise InputError("network: decision_loss is a share below 1, decision_late one up to 1")
        if not 1 <= self.context_flows <= 4096:
            raise InputError(f"network: context_flows is {self.context_flows}; 1 to 4096 flows share a context")
        if not 0 < self.rate_scale <= 1:
            raise InputError(
                f"network: rate_scale is {self.rate_scale}; it is a share of the rate that is set, above 0"
            )
        if not 1 <= self.rate_step_q30 <= 1 << 30 or self.rate_least_q30 > 1 << 30:
            raise InputError("network: rate_step_q30 is 1 to 2^30, rate_least_q30 at most 2^30")
        if self.actuation_ps > LATEST_PS:
            raise InputError("network: actuation_ps is at most 100 s")
        if not 0 < self.device_limit <= 1:
            raise InputError(f"network: device_limit is {self.device_limit}; it is a share of line rate above 0")
        if max(self.device_limit_from_ps, self.device_limit_for_ps, self.device_limit_every_ps or 1) > LATEST_PS:
            raise InputError("network: device_limit's times are at most 100 s")
        if self.device_limit_every_ps is not None and not self.device_limit_for_ps < self.device_limit_every_ps:
            raise InputError("network: device_limit_every_ps must be longer than device_limit_for_ps")
        if self.probe_after_bytes > 2**30 or (self.probe_latest_ps or 0) > LATEST_PS:
            raise InputError("network: probe_after_bytes is at most 1 GiB, probe_latest_ps at most 100 s")
        if not 1 <= self.probe_first < 2**32:
            raise InputError(f"network: probe_first is {self.probe_first}; a new flow's first probe waits for nothing")
        for name in ("probe_timeout_ps", "retransmit_timeout_ps"):
            value = getattr(self, name)
            if value is not None and not self.longest_rtt_ps <= value <= LATEST_PS:
                raise InputError(f"network: {name} is below the longest RTT, {self.longest_rtt_ps} ps; raise it")

    def _check_demotion(self) -> None:
        if self.class_by not in CLASSES_BY:
            raise InputError(f"network: class_by is {self.class_by!r}; write {', '.join(CLASSES_BY)}")
        if (self.class_by == "flow") != (self.demotion == ()):
            raise InputError('network: demotion says flows\' classes where class_by is "sent" or "size"; give both')
        rows = self.demotion if isinstance(self.demotion, tuple) else (None,)
        for row in rows:
            if not isinstance(row, tuple) or not row or not all(type(b) is int and 1 <= b < 2**32 for b in row):
                raise InputError(f"network: demotion is {self.demotion!r}; give rows of whole bytes, [[10000, 100000]]")
            if list(row) != sorted(row):
                raise InputError(f"network: demotion has the thresholds {list(row)}; they must ascend")
            if len(row) >= len(self.class_weights):
                raise InputError(
                    f"network: demotion has {len(row)} thresholds, for {len(row) + 1} levels, and class_weights name "
                    f"{len(self.class_weights)} queues; give a weight a level"
                )
            if len(row) != len(rows[0] or ()):
                raise InputError("network: demotion's rows differ in length; give every group as many thresholds")

    @property
    def ps_per_byte(self) -> int:
        return 8000 // self.link_gbps

    @property
    def spreads(self) -> bool:
        """Returns whether a flow's packets take several of the equal paths."""
        return self.spray or self.entropy_values > 0

    @property
    def selective_repeat(self) -> bool:
        return self.transport == SELECTIVE_REPEAT

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

    def inflight_packets(self, base_rtt_ps: int) -> int:
        """The in-flight cap of a flow whose path has this base RTT."""
        messages = self.inflight_messages
        if messages is None:
            bdp_bytes = Fraction(base_rtt_ps, self.ps_per_byte)
            messages = ceil(INFLIGHT_BDP * bdp_bytes / (self.message_packets * self.payload_bytes))
        return messages * self.message_packets

    @property
    def longest_rtt_ps(self) -> int:
        """Through the full buffer of one switch. Later a probe or an ACK does not come: the way back loses nothing."""
        return self.base_rtt_ps + self.buffer_bytes * self.ps_per_byte
