"""NSCC of Ultra Ethernet as an integer program: event, parameters and context in, window out.

Source of the rules: [UEC], as the consortium's simulator computes them and netsim/core/baseline_nscc.cpp restates them.

                  not marked                                      marked
    below target  proportional increase, fast where all is empty  nothing
    from it on    fair increase: the queue drains                 decrease by the mean delay, once a base RTT

Quick adapt: on a loss, or far beyond the target, the window becomes what arrived since the last look.

Formats. Every value is exact but for these floors and caps; ``bench/nscc/exact.py`` states them again in rationals.

    mean_q8       ns / 2^8      mean' = floor(mean (1 - g)) + floor(delay g), g = 53687091 / 2^32 (1/80)
    excess_q8     1 / 2^8       (mean - target) / mean, of whole ns
    pending       2^11 bytes^2  steps times acknowledged bytes, to be divided by the window
    growth        2^7 bytes     pending / (window / 16), at most 2^10 at once; the remainder stays pending
    steps, window bytes

Bounds, for every bit pattern of event and context, and parameters within their ranges:

    window        mtu_bytes .. window_max_bytes
    step          less than 2^20 bytes an RTT, which nscc_params holds each setting to
    growth        at most 128 KiB at once
    ignored       at most the largest window, whatever was in flight
    delay         at most 16.8 ms; an RTT of 0 was not timed and counts as one at the target, in a loss as the base RTT
    acknowledged  at most 4 MiB an event, whatever was sent
    lost          at most 16 MiB an event and kind
    counts        of bytes wrap after 4 GiB; what is pending is held to 2^31 units
    clock         one that goes back expires a timer at once, or delays it by one period: no flow is stuck

An event that acknowledges and loses is a loss whose acknowledged bytes count as arrived. A new flow's timers start at
clock 0: they have expired unless the first event falls within a period of it. Every comparison of two values is written
with the operator that the compiled code branches on; the prover joins paths by those.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.completion import DELAYS_NS
from decision.ir.interfaces.flow_window import FLOW_WINDOW_NSCC, MAX_WINDOW_BYTES, STEP_BITS
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.quotients import Division, divided

MAX_DELAY_NS = DELAYS_NS[1]
MEAN_BITS = 8
GAIN_Q32 = round(2**32 / 80)
"""Weight of the newest delay in the mean: delay_alpha 0.0125."""
KEEP_Q32 = 2**32 - GAIN_Q32
EXCESS_BITS = 8
GAMMA_Q24 = round(0.8 * 2**24)
MAX_CUT_Q32 = 1 << 31
"""Largest part of the window that a decrease takes: one half."""
FAST_DELAY_NS = 1_000
DRAINED_SHIFT = 2
"""An unmarked packet beyond the target counts with a quarter of the base RTT in the mean: its queue has drained."""
MAX_ACKED = (1 << 22) - 1
MAX_LOST = (1 << 24) - 1
MAX_RTT_NS = (1 << 25) - 1
MAX_PENDING = (1 << 31) - 1
SETTLED = (1 << 27) - 1
"""Count of undelayed bytes above every window: the flow increases fast until it meets a delay."""
PENDING_SHIFT = 11
WINDOW_SHIFT = 4
GROWTH_BITS = 10
GROWTH_SHIFT = PENDING_SHIFT - WINDOW_SHIFT
MAX_STEP = (1 << STEP_BITS) - 1
"""Bytes an RTT."""
MIN_PACKET = 256
"""Smallest payload in bytes. Growth comes in units of 128 bytes, half of it."""

REFERENCE_BDP = 150_000
"""Bytes of the path that the steps are stated for; they grow with the BDP of the own one."""
REFERENCE_RTT_NS = 12_000
NS_BITS = 8 * 10**9
"""A rate in b/s times a time in ns is so many times the bytes that it carries."""


@dataclass(frozen=True)
class NsccPath:
    """Payload of a packet in bytes, rate of the sender's port in b/s, RTT of the empty path in ns. ``network_rtt``: RTT
    of the network's longest path, by which target and steps are; None: the own path's."""

    mtu: int
    line_rate: int
    base_rtt: int
    network_rtt: int | None = None

    @property
    def scaling_rtt(self) -> int:
        """Returns the RTT by which target and steps are, in ns."""
        return self.base_rtt if self.network_rtt is None else self.network_rtt

    def bdp(self, rtt: int) -> Fraction:
        """Returns the bytes that the port sends in an RTT of ``rtt`` ns."""
        return Fraction(self.line_rate) * rtt / NS_BITS


@dataclass(frozen=True)
class NsccSteps:
    """Settings of the algorithm, as netsim/parameters/nscc.toml names them: base RTTs, BDPs, packets, shares."""

    target: float = 1.0
    window_max: float = 1.5
    proportional_step: float = 4.0
    fair_step: float = 5.0
    steady_step: float = 0.15
    fast_share: float = 0.25
    adjust_packets: float = 8.0
    quick_delay: float = 4.0
    quick_share: float = 0.125


def nscc_params(network: NsccPath, steps: NsccSteps) -> dict[str, int]:
    """Returns the operator's parameters, each rounded to the nearest.

    InputError where one is out of its range, a positive setting rounds to 0, or the proportional step of an empty path
    exceeds the program's largest.
    """
    if network.mtu < MIN_PACKET:
        raise InputError(f"mtu is {network.mtu} bytes, and it must be at least {MIN_PACKET}")
    exact = {name: Fraction(str(value)) for name, value in vars(steps).items()}
    scale = network.bdp(network.scaling_rtt) / REFERENCE_BDP
    packet = network.mtu * scale
    target, largest = exact["target"] * network.scaling_rtt, exact["window_max"] * network.bdp(network.base_rtt)
    values = {
        "mtu_bytes": Fraction(network.mtu),
        "window_max_bytes": largest,
        "path_rtt_ns": Fraction(network.base_rtt),
        "target_delay_ns": target,
        "fair_bytes": exact["fair_step"] * packet,
        "room_gain_q24": exact["proportional_step"] * packet / REFERENCE_RTT_NS * 2**24,
        "steady_bytes": exact["steady_step"] * packet,
        "fast_share_q24": exact["fast_share"] * scale * 2**24,
        "adjust_bytes": exact["adjust_packets"] * network.mtu,
        "quick_delay_ns": exact["quick_delay"] * target,
        "quick_gate_bytes": exact["quick_share"] * largest,
    }
    params = {name: round(value) for name, value in values.items()}
    for signal in FLOW_WINDOW_NSCC.params:
        low, high = signal.settable or signal.range
        if not low <= params[signal.name] <= high:
            raise InputError(f"{signal.name} comes to {params[signal.name]}, and it must be in {low}..{high}")
        if values[signal.name] > 0 and params[signal.name] == 0:
            raise InputError(f"{signal.name} comes to {float(values[signal.name]):.2g} and would be rounded to 0")
    step = params["room_gain_q24"] * params["target_delay_ns"] >> 24
    if step > MAX_STEP:
        raise InputError(f"proportional_step comes to {step} bytes an RTT, and it must be at most {MAX_STEP}")
    if params["window_max_bytes"] < params["mtu_bytes"]:
        raise InputError(
            f"the largest window comes to {params['window_max_bytes']} bytes, less than a packet of {network.mtu}"
        )
    return params


@dataclass
class _Operations:
    """Short names of the builder's operations. A condition is 0 or 1."""

    b: ProgramBuilder = field(default_factory=lambda: ProgramBuilder(Forest((), (), (0,), 0), FLOW_WINDOW_NSCC))

    def op(self, op: Op, *args: int, name: str = "", note: str = "") -> int:
        return self.b.add(op, args, 0, name, note)

    def at_most(self, x: int, most: int, name: str = "", note: str = "") -> int:
        return self.op(Op.MIN, x, self.b.const(most), name=name, note=note)

    def plus(self, x: int, y: int, name: str = "", note: str = "") -> int:
        return self.op(Op.ADD, x, y, name=name, note=note)

    def wrapping(self, x: int, y: int, name: str = "", note: str = "") -> int:
        """(x + y) mod 2^32."""
        return self.since(x, self.since(self.b.const(0), y), name, note)

    def since(self, later: int, earlier: int, name: str = "", note: str = "") -> int:
        return self.op(Op.WRAP_SUB, later, earlier, name=name, note=note)

    def over(self, x: int, y: int, name: str = "", note: str = "") -> int:
        """How far x is above y; 0 where it is not."""
        less = self.at_most(self.since(x, y), self.b.nodes[x].high)
        return self.choose(self.above(x, y), less, self.b.const(0), name, note)

    def choose(self, condition: int, x: int, y: int, name: str = "", note: str = "") -> int:
        return self.op(Op.SELECT, condition, x, y, name=name, note=note)

    def both(self, x: int, y: int, name: str = "", note: str = "") -> int:
        return self.op(Op.MIN, x, y, name=name, note=note)

    def either(self, x: int, y: int, name: str = "", note: str = "") -> int:
        return self.op(Op.MAX, x, y, name=name, note=note)

    def no(self, condition: int, name: str = "") -> int:
        return self.op(Op.EQ, condition, self.b.const(0), name=name)

    def above(self, x: int, y: int, name: str = "", note: str = "") -> int:
        return self.op(Op.GT, x, y, name=name, note=note)

    def high(self, x: int, up: int, factor: int, name: str = "", note: str = "") -> int:
        """(x * 2^up * factor) >> 32: one high word."""
        scaled = self.b.add(Op.SHL, (x,), up) if up else x
        return self.b.add(Op.MUL_SHR, (scaled, factor), 32, name, note)


def nscc_program() -> Program:
    """Returns the decision program, on the interface ``flow_window_nscc``."""
    n = _Operations()
    b = n.b
    zero = b.const(0)
    now = b.event("now_ns")
    mtu, largest = b.param("mtu_bytes"), b.param("window_max_bytes")
    base = n.at_most(b.param("path_rtt_ns"), MAX_DELAY_NS, "base_ns")
    target = n.at_most(b.param("target_delay_ns"), MAX_DELAY_NS, "target_ns")

    smallest = n.at_most(mtu, MAX_WINDOW_BYTES, "smallest_bytes")
    most = n.op(Op.MAX, n.at_most(largest, MAX_WINDOW_BYTES), smallest, name="largest_bytes")

    def capped(window: int, name: str) -> int:
        return n.op(Op.MIN, most, window, name=name)

    def bounded(window: int, name: str, note: str = "") -> int:
        return n.op(Op.MAX, capped(window, f"{name}_capped"), smallest, name=name, note=note)

    stored = b.state_in("window_bytes", "uint32", "window; 0 = new flow")
    new = n.no(stored, "is_new_flow")
    window = bounded(n.choose(new, largest, stored), "window_before", "whatever the context holds")

    def timer(name: str, note: str) -> tuple[int, int]:
        kept = b.state_in(f"{name}_ns", "uint32", note)
        return kept, n.since(now, kept, f"since_{name}", "wraps")

    acked = n.at_most(b.event("acked_bytes"), MAX_ACKED, "acked", "at most 4 MiB an event")
    lost = zero
    for kind in ("trimmed", "nacked", "skipped", "expired"):
        part = n.at_most(b.event(f"{kind}_bytes"), MAX_LOST, kind)
        lost = part if lost == zero else n.plus(lost, part, "lost")
    loses = n.above(lost, zero, "loses")
    marked = n.above(b.event("marked_bytes"), zero, "marked")
    untimed = n.no(b.event("rtt_ns"), "untimed")
    rtt = n.at_most(b.event("rtt_ns"), MAX_RTT_NS)
    queued = n.at_most(n.over(rtt, base), MAX_DELAY_NS, "queued_ns", "0 where nothing was timed")
    delay = n.choose(untimed, target, queued, "delay_ns", "queueing delay; the target where nothing was timed")
    early = n.above(target, delay, "early")
    late = n.no(early, "late")

    # The mean delay. A loss met a long queue of which no acknowledgement tells: a base RTT's.
    drained = n.both(n.no(marked), n.above(delay, target), "drained")
    sample = n.choose(drained, b.add(Op.SHR, (base,), DRAINED_SHIFT), delay)
    sample = n.choose(loses, n.op(Op.MAX, base, queued), sample, "sample_ns")
    mean_before = b.state_in("mean_q8", "uint32", "mean queueing delay, ns / 2^8")
    mean_q8 = n.plus(
        n.high(mean_before, 0, b.const(KEEP_Q32), "mean_kept"),
        n.high(sample, MEAN_BITS, b.const(GAIN_Q32), "mean_added"),
        "mean_after",
    )
    mean = b.add(Op.SHR, (mean_q8,), MEAN_BITS, "mean_ns")

    # Quick adapt, once a base RTT with the target's queue.
    heard = n.plus(acked, lost)
    ignored = b.state_in("ignored", "uint32", "bytes whose congestion quick adapt has dealt with")
    ignored = n.both(n.at_most(largest, MAX_WINDOW_BYTES), ignored, "ignored_before", "at most the largest window")
    left = n.over(ignored, heard, "left_to_ignore")
    skipped = n.both(n.either(marked, loses), n.above(left, zero), "skipped", "congestion of before quick adapt")
    looked, since_looked = timer("looked", "ns, wraps: when quick adapt looked last")
    due = n.above(since_looked, n.plus(base, target), "look_due")
    looks = n.both(due, n.no(skipped), "looks")
    arrived = n.wrapping(b.state_in("arrived", "uint32", "bytes acknowledged since then"), acked, "arrived_now")
    lost_before = b.state_in("has_lost", "uint32", "not 0: bytes were lost since quick adapt")
    has_lost = n.either(n.above(lost_before, zero), loses, "has_lost_now")
    hard = n.either(has_lost, n.above(delay, b.param("quick_delay_ns")), "hard")
    few = n.above(b.param("quick_gate_bytes"), arrived, "few_arrived")
    adapts = n.both(n.both(looks, n.no(new)), n.both(hard, few), "adapts")
    done = n.either(skipped, adapts, "done")

    # The four cases; those that increase add to what is pending.
    raises = n.no(marked, "raises")
    undelayed = b.state_in("undelayed", "uint32", "bytes acknowledged without delay, in a row")
    empty = n.both(n.both(raises, early), n.above(b.const(FAST_DELAY_NS), delay), "empty", "no queue at all")
    row = n.at_most(n.wrapping(undelayed, acked), SETTLED)
    fast = n.both(empty, n.above(row, window), "fast", "a whole window came back without delay")
    row = n.choose(fast, b.const(SETTLED), row, "undelayed_row")
    room = n.over(target, delay, "room_ns")
    step = n.at_most(n.high(room, 8, b.param("room_gain_q24")), MAX_STEP)
    step = n.choose(early, step, n.at_most(b.param("fair_bytes"), MAX_STEP), "step_bytes")
    slow = n.both(raises, n.no(fast), "slow")
    gained = n.high(acked, 9, b.add(Op.SHL, (step,), 12), "gained", "2^11 bytes^2")
    pending = n.at_most(
        b.state_in("pending", "uint32", "increase to come, 2^11 bytes^2"), MAX_PENDING, "pending_before"
    )
    pending_now = n.plus(pending, n.choose(slow, gained, zero), "pending_now")
    ends_fast = n.choose(marked, late, n.both(early, n.no(empty)), "ends_fast")
    undelayed_now = n.choose(empty, row, n.choose(ends_fast, zero, undelayed), "undelayed_now")

    decreased, since_decreased = timer("decreased", "ns, wraps: when the window was cut last")
    congested = n.both(marked, n.both(late, n.above(mean, target)), "congested")
    cuts = n.both(congested, n.above(since_decreased, base), "cuts", "once a base RTT")
    excess = divided(
        b,
        Division(
            n.over(mean, target, "excess_ns"),
            n.op(Op.MAX, mean, b.const(1)),
            MAX_DELAY_NS,
            EXCESS_BITS,
        ),
        name="excess_q8",
        note="of the mean",
    )
    share = n.at_most(n.op(Op.MUL, excess, b.const(GAMMA_Q24)), MAX_CUT_Q32, "cut_q32", "at most a half")
    cut = n.since(window, n.high(window, 0, share))
    faster = n.plus(window, n.high(acked, 8, b.param("fast_share_q24")))
    stepped = n.choose(fast, capped(faster, "window_faster"), window)
    stepped = n.choose(cuts, bounded(cut, "window_cut"), stepped, "window_stepped")

    # Pending increases take effect after some bytes, or a base RTT.
    adjusted, since_adjusted = timer("adjusted", "ns, wraps: when the steady increase came last")
    unadjusted = b.state_in("unadjusted", "uint32", "bytes acknowledged since increases took effect")
    unadjusted = n.wrapping(unadjusted, acked)
    adjusts = n.either(n.above(unadjusted, b.param("adjust_bytes")), n.above(since_adjusted, base), "adjusts")
    sixteenths = n.op(Op.MAX, b.add(Op.SHR, (stepped,), WINDOW_SHIFT), b.const(1), name="window_16", note="in 16 bytes")
    most_16 = MAX_WINDOW_BYTES >> WINDOW_SHIFT
    growth = divided(b, Division(pending_now, sixteenths, most_16, 0, GROWTH_BITS), name="growth", note="2^7 bytes")
    rest = n.since(pending_now, n.op(Op.MUL, growth, sixteenths), "pending_rest")
    steady = n.choose(n.above(base, since_adjusted), zero, n.at_most(b.param("steady_bytes"), MAX_STEP), "steady")
    grown = n.plus(n.plus(stepped, b.add(Op.SHL, (growth,), GROWTH_SHIFT)), steady)
    grown = capped(grown, "window_grown")

    shrunk = bounded(n.over(window, lost), "window_shrunk", "less what was lost")
    risen = n.choose(adjusts, grown, stepped)
    followed = n.choose(loses, shrunk, risen)
    after = n.choose(done, n.choose(adapts, bounded(arrived, "window_adapted"), window), followed, "window_after")

    acks = n.both(n.no(done), n.no(loses), "acknowledges", "neither lost nor dealt with")
    settles = n.both(acks, adjusts, "settles")
    b.state_out("window_bytes", after)
    b.state_out("looked_ns", n.choose(looks, now, looked))
    b.state_out("decreased_ns", n.choose(n.both(acks, cuts), now, decreased))
    steadied = n.both(settles, n.no(n.above(base, since_adjusted)))
    b.state_out("adjusted_ns", n.choose(steadied, now, adjusted))
    b.state_out("mean_q8", mean_q8)
    b.state_out("ignored", n.choose(adapts, n.at_most(b.event("in_flight_bytes"), MAX_WINDOW_BYTES), left))
    b.state_out("arrived", n.choose(looks, zero, arrived))
    b.state_out("has_lost", n.choose(adapts, zero, has_lost))
    b.state_out("undelayed", n.choose(acks, undelayed_now, undelayed))
    b.state_out("pending", n.choose(done, zero, n.choose(loses, pending, n.choose(adjusts, rest, pending_now))))
    b.state_out("unadjusted", n.choose(n.either(done, settles), zero, unadjusted))
    return b.finish(after)
