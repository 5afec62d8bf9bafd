"""no_rise_above, recovers, yields, fixed_point: what flows come to that a policy scales the rate of.

A flow in a network of constant inflation sees the RTT and, if its event has it, the queue, both the same delay; no CNP,
no NACK. Its history is any that a context can hold.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.ir.interpret import trace
from decision.ir.program import Op, Program
from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.policy import Observation
from verify.behaviour.circles import Circles
from verify.behaviour.contexts import Contexts, Fields, only
from verify.behaviour.extremes import greatest
from verify.behaviour.finding import Finding, judged
from verify.behaviour.split_decision import ONE, Decided, cone
from verify.trusted import wording
from verify.trusted.properties import FixedPoint, NoRiseAbove, Recovers, Yields
from verify.trusted.wording import MAX_DECISIONS, share_of_line

GROWS = ("response_ns", "rtt_ns", "queue_bytes")
RISING = (Op.ADD, Op.SHL, Op.SHR, Op.MUL_SHR, Op.MIN, Op.MAX)
"""What never falls where an operand rises; products take none below 0."""


@dataclass(frozen=True)
class Loop:
    """A decision for flows, and what it assumes of their path."""

    decision: Decided
    observation: Observation

    @property
    def base_rtt_ns(self) -> int:
        assert self.observation.base_rtt is not None
        return int(self.observation.base_rtt)

    def rtt_ns(self, inflation: float) -> int:
        """InputError for one that no flow can be told of."""
        if (rtt := round(inflation * self.base_rtt_ns)) > U32_MAX:
            raise InputError(f"an inflation of {inflation:g} is an RTT of over 2^32 ns, which no timestamps tell")
        return rtt

    def event(self, rtt_ns: Integers) -> dict[str, Integers]:
        """Returns the event of a flow at these RTTs."""
        zeros = np.zeros_like(rtt_ns)
        assert self.observation.line_rate is not None
        bytes_a_us = int(self.observation.line_rate) // (8 * 10**6)
        queue = np.minimum(np.maximum(rtt_ns - self.base_rtt_ns, 0) * bytes_a_us // 1000, U32_MAX)
        known = {"response_ns": rtt_ns, "rtt_ns": rtt_ns, "queue_bytes": queue}
        return {name: known.get(name, zeros) for name in self.decision.program.interface.event_names}

    def check_told(self) -> None:
        """InputError where trees see what an RTT and a rate do not tell: then one event stands for no others."""
        program = self.decision.program
        known = {f"event.{name}" for name in ("request_sent_ns", *GROWS)}
        known |= {f"context.{signal.name}" for signal in program.interface.context}
        for node, name in self.decision.seen.items():
            for at in cone(program, node):
                key = program.key(program.nodes[at])
                if key is not None and not key.startswith("params.") and key not in known:
                    raise InputError(f"{name} is made of {key} too, of which an RTT and a rate say nothing")

    def within(self, rate: int) -> int:
        """The rate, if a flow can have it; else InputError."""
        least, most = self.decision.params["rate_min_q30"], self.decision.params["rate_max_q30"]
        if not least <= (rate := min(rate, LINE_RATE_Q30)) <= most:
            ends = f"{share_of_line(least)} to {share_of_line(most)}"
            raise InputError(f"{share_of_line(rate)} is not within the limits, {ends}")
        return rate

    def values(self, rtt_ns: Integers, contexts: Fields) -> list[Integers]:
        return trace(self.decision.program, self.event(rtt_ns), self.decision.params, contexts)

    def least_rtt_ns(self, node: int, edges: Integers, rates: Integers) -> Integers:
        """The shortest RTT [N] at which what is seen is above an edge, at these rates; one beyond the longest where it
        never is. By bisection: InputError for what does not only rise with the RTT."""
        program = self.decision.program
        if not _rises(program, node):
            raise InputError(f"{self.decision.seen[node]} does not only rise with the RTT")
        history = {f.name: np.zeros(1, dtype=np.int64) for f in program.state}
        low, high = np.zeros_like(rates), np.full_like(rates, U32_MAX + 1)
        while (low < high).any():
            middle = (low + high) // 2
            above = self.values(middle, self.settled(rates, history))[node] > edges
            low, high = np.where(above, low, middle + 1), np.where(above, middle, high)
        return low

    def settled(self, rates: Integers, history: Fields) -> Fields:
        """Contexts of flows at these rates, past their start."""
        return {**history, "rate_q30": rates}


def no_rise_above(loop: Loop, asked: NoRiseAbove) -> list[Finding]:
    """The RTTs are taken apart where a column that is seen goes into another cell; in each part, the greatest
    multiplier for any history."""
    of, rate = loop.decision, loop.within(asked.rate)
    loop.check_told()
    said = "x" if asked.inflation is None else wording.exact(asked.inflation)
    says, rises = wording.no_rise_above(rate, said, loop.base_rtt_ns), ONE + 1
    for low, high, cell in reversed(_parts(loop, rate)):
        box = of.anywhere
        for column, k in cell.items():
            box = box.at(column, k)
        most = greatest(of.cells, box, lambda boxes: of.of(of.cells.bounds(boxes)[1]), rises - 1)
        if most.bound < rises:
            continue
        least = ceil(1000 * high / loop.base_rtt_ns) / 1000
        value = f"{least:.3f}" if high < U32_MAX else "any: it rises at the longest RTT"
        if most.cell is None:
            raise InputError("the greatest multiplier over all histories takes too many boxes")
        holds = None if asked.inflation is None else asked.inflation * loop.base_rtt_ns >= high
        witness = of.witness(most.cell) | {"event.response_ns": high, "context.rate_q30": rate}
        text = wording.rises_to(value, most.value / ONE, low, high)
        return [
            Finding("no_rise_above", wording.no_rise_above(rate, said, loop.base_rtt_ns), judged(holds), text, witness)
        ]
    says = wording.no_rise_above(rate, said, loop.base_rtt_ns)
    return [Finding("no_rise_above", says, judged(None if asked.inflation is None else True), wording.NO_RISE)]


def _parts(loop: Loop, rate: int) -> list[tuple[int, int, dict[int, int]]]:
    """Returns the intervals of RTTs in which every column that is seen stays in its cell: lowest and highest ns, and
    the cells by column."""
    of = loop.decision
    seen = [c for c, past in enumerate(of.past) if not past]
    starts = {
        c: loop.least_rtt_ns(of.columns[c], of.cells.edges[c], np.full(len(of.cells.edges[c]), rate)) for c in seen
    }
    cuts = np.unique(np.concatenate([[0], *starts.values()]))
    cuts = cuts[cuts <= U32_MAX]
    ends = np.append(cuts[1:] - 1, U32_MAX)
    return [
        (int(low), int(high), {c: int(np.searchsorted(starts[c], low, side="right")) for c in seen})
        for low, high in zip(cuts, ends, strict=True)
    ]


def recovers(loop: Loop, asked: Recovers) -> list[Finding]:
    """Uncongested: at the base RTT."""
    least, most = loop.decision.params["rate_min_q30"], loop.decision.params["rate_max_q30"]
    says = wording.arrives(None, loop.base_rtt_ns, least, most, asked.decisions)
    return [_within(loop, "recovers", says, asked.decisions, loop.rtt_ns(1), least, most)]


def yields(loop: Loop, asked: Yields) -> list[Finding]:
    most = loop.decision.params["rate_max_q30"]
    if loop.within(asked.to) == most:
        raise InputError(f"{share_of_line(most)} is the highest rate; yields is about one below it")
    says = wording.arrives(asked.inflation, loop.base_rtt_ns, most, asked.to, asked.decisions)
    return [_within(loop, "yields", says, asked.decisions, loop.rtt_ns(asked.inflation), most, asked.to)]


def _within(loop: Loop, kind: str, says: str, limit: int | None, rtt_ns: int, start: int, end: int) -> Finding:
    """How many decisions it takes from every history: all are followed, those that nothing tells apart together.
    InputError where more than ``MAX_DECISIONS`` are allowed and some flows take more."""
    contexts = Contexts.of(loop.decision)
    history, count = contexts.all()
    now = first = loop.settled(np.full(count, start, dtype=np.int64), history)
    origin = np.arange(count)
    known: dict[bytes, int] = {}
    furthest: list[int] = []
    """Of the flows that are left, decision by decision: the rate that is furthest from the end."""
    for decisions in range(1, MAX_DECISIONS + 1):
        values = loop.values(np.asarray([rtt_ns]), now)
        now = {f.name: values[f.node] for f in loop.decision.program.state}
        left = now["rate_q30"] < end if end > start else now["rate_q30"] > end
        if not left.any():
            holds = None if limit is None else decisions <= limit
            return Finding(kind, says, judged(holds), wording.arrived(decisions), _told(first, int(origin[-1])))
        now, origin = only(now, np.flatnonzero(left)), origin[left]
        kinds, rows = np.unique(contexts.told_apart(now, len(origin)), axis=0, return_index=True)
        now, origin = only(now, rows), origin[rows]
        if (key := kinds.tobytes()) in known:
            # From there on the same flows come back: each of them goes round for good.
            turn = furthest[known[key] :]
            value = wording.never(min(turn) if end > start else max(turn))
            return Finding(kind, says, "fails", value, _told(first, int(origin[0])))
        known[key] = len(furthest)
        furthest.append(int(now["rate_q30"].min() if end > start else now["rate_q30"].max()))
    if limit is not None and limit > MAX_DECISIONS:
        raise InputError(f"after {MAX_DECISIONS} decisions some flows are still on their way")
    value = wording.LONGER
    return Finding(kind, says, judged(None if limit is None else False), value, _told(first, int(origin[0])))


def _told(contexts: Fields, row: int) -> dict[str, int]:
    return {f"context.{name}": int(column[row]) for name, column in contexts.items()}


def fixed_point(loop: Loop, ends: Circles, asked: FixedPoint) -> list[Finding]:
    """Returns the inflations at which N flows that share a line equally rest, and target * sqrt(N) + beta [RLCC,
    section 4]. The lowest is that at which a flow does not always rise in the end, the highest that at which it does
    not always fall. Raises InputError if a policy sees no such congestion, or more than it."""
    loop.check_told()
    if len(ends.seen) != 1:
        raise InputError("a fixed point is found for policies that see their congestion alone")
    target, beta = _theory(loop, loop.decision.seen[ends.seen[0]])
    says = wording.rest(asked.flows, target, beta, loop.base_rtt_ns, asked.within)
    levels = np.unique(ends.levels[:, 0])
    at = np.searchsorted(levels, ends.levels[:, 0])
    least, most = np.full(len(levels), 1 << 40), np.full(len(levels), -1)
    np.minimum.at(least, at, ends.value)
    np.maximum.at(most, at, ends.value)
    if (least > ONE).all() or (most < ONE).all():
        return [Finding("fixed_point", says, judged(False), wording.NO_REST)]
    flows = np.arange(asked.flows[0], asked.flows[1] + 1, dtype=np.int64)
    rates = LINE_RATE_Q30 // flows
    for share in (rates[0], rates[-1]):
        loop.within(int(share))
    not_rising, falling = (
        levels[np.argmax(least <= ONE)],
        np.append(levels, 1 << 40)[1 + np.flatnonzero(most >= ONE)[-1]],
    )
    low = loop.least_rtt_ns(ends.seen[0], np.full_like(rates, not_rising - 1), rates) / loop.base_rtt_ns
    high = (loop.least_rtt_ns(ends.seen[0], np.full_like(rates, falling - 1), rates) - 1) / loop.base_rtt_ns
    theory = target * np.sqrt(flows) + beta
    off = np.maximum(abs(low / theory - 1), abs(high / theory - 1))
    n = int(off.argmax())
    holds = None if asked.within is None else bool(off[n] <= asked.within)
    value = wording.rests(off[n], flows[n], low[n], high[n], theory[n])
    return [Finding("fixed_point", says, judged(holds), value)]


def _theory(loop: Loop, seen: str) -> tuple[float, float]:
    for feature in loop.observation.features:
        if isinstance(feature, RlCcCongestion | PccRlCongestion) and feature.name == seen:
            return feature.target, feature.tolerance
    raise InputError("a fixed point has a theory for policies that see rl_cc_congestion or pcc_rl_congestion")


def _rises(program: Program, node: int) -> bool:
    """Whether a value never falls as the RTT grows and the queue with it, all else the same."""
    grows: list[bool | None] = []
    """None: it stays."""
    for each in program.nodes[: node + 1]:
        args = [grows[a] for a in each.args]
        if each.op is Op.EVENT:
            grows.append(program.interface.event_names[each.imm] in GROWS or None)
        elif all(arg is None for arg in args):
            grows.append(None)
        elif each.op in (Op.SUB, Op.WRAP_SUB):  # what is subtracted stays; a request is sent at 0, so nothing wraps
            grows.append(args[0] is True and args[1] is None)
        elif each.op is Op.MUL:
            grows.append(False not in args and all(program.nodes[a].low >= 0 for a in each.args))
        else:
            grows.append(each.op in RISING and False not in args)
    return grows[node] is not False
