"""Behaviour of a flow whose rate a policy scales, found again: no_rise_above, recovers, yields, fixed_point.

The ways differ from the prover's (verify/behaviour/loops.py): it follows all contexts step by step; here every state
is visited once, its only successor noted, and distances are read off the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Integers
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30
from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.policy import Observation
from verify.check.cells import ONE
from verify.check.circles import Turns
from verify.check.path import Path
from verify.check.refused import Refused
from verify.trusted import wording
from verify.trusted.certificate import FindingClaim, Verdict
from verify.trusted.properties import FixedPoint, NoRiseAbove

MAX_CONTEXTS = 1 << 22
MAX_STATES = 1 << 24
RATE_BITS = 32


def judged(holds: bool | None) -> Verdict:
    """None: no limit is set."""
    return "found" if holds is None else "holds" if holds else "fails"


def finding(says: str, verdict: Verdict, value: str) -> FindingClaim:
    """Without a witness, which the certificate's own has to show."""
    return FindingClaim(says=says, verdict=verdict, value=value, witness={})


# --- no_rise_above -------------------------------------------------------------------------------------------------


def no_rise_above(path: Path, asked: NoRiseAbove) -> FindingClaim:
    """The longest stretch of RTTs, in which all signals stay in their intervals, where some history rises."""
    rate = path.rate(asked.rate)
    path.check_told()
    said = "x" if asked.inflation is None else wording.exact(asked.inflation)
    says = wording.no_rise_above(rate, said, path.base_rtt_ns)
    for low, high, cells in reversed(_stretches(path, rate)):
        most = _most(path, cells)
        if most > ONE:
            least = ceil(1000 * high / path.base_rtt_ns) / 1000
            value = f"{least:.3f}" if high < U32_MAX else "any: it rises at the longest RTT"
            holds = None if asked.inflation is None else asked.inflation * path.base_rtt_ns >= high
            return finding(says, judged(holds), wording.rises_to(value, most / ONE, low, high))
    return finding(says, judged(None if asked.inflation is None else True), wording.NO_RISE)


def rises(path: Path, asked: NoRiseAbove, claim: FindingClaim) -> None:
    """Refused where the witness does not rise at the RTT and rate that it names, the last of the stretch."""
    table, witness = path.history.table, dict(claim.witness)
    if claim.value == wording.NO_RISE:
        if witness:
            raise Refused(f"{claim.says}: nothing rises, yet there is a witness")
        return
    rtt, rate = witness.pop("event.response_ns", None), witness.pop("context.rate_q30", None)
    if set(witness) != set(table.names) or rtt is None or not 0 <= rtt <= U32_MAX or rate != path.rate(asked.rate):
        raise Refused(f"{claim.says}: the witness is no RTT and rate with what the trees look at")
    place = table.place(witness, claim.says)
    low, high, cells = next(each for each in _stretches(path, rate) if each[0] <= rtt <= each[1])
    there = all(place[c] == k for c, k in cells.items())
    most = _most(path, cells)
    # The stretch is the claim's, which was found again, and the witness attains its greatest multiplier.
    claimed = claim.value.endswith(f" at {low} to {high} ns") and most > ONE
    if not there or rtt != high or not claimed or int(table.value[place]) != most:
        raise Refused(f"{claim.says}: the witness does not show it")


def _most(path: Path, cells: Mapping[int, int]) -> int:
    """The greatest multiplier, Q16, over all histories, where the columns that are seen are in these intervals."""
    table = path.history.table
    return int(table.value[tuple(cells.get(c, slice(None)) for c in range(len(table.columns)))].max())


def _stretches(path: Path, rate: int) -> list[tuple[int, int, dict[int, int]]]:
    """Least and greatest RTT, ns, and the interval of each column that is seen, by column."""
    table = path.history.table
    starts = {
        c: path.first_above(node, table.edges[c], np.full(len(table.edges[c]), rate, dtype=np.int64))
        for c, node in enumerate(table.columns)
        if node in path.history.seen
    }
    cuts = sorted({0, *(int(start) for each in starts.values() for start in each if start <= U32_MAX)})
    ends = [*(cut - 1 for cut in cuts[1:]), U32_MAX]
    return [
        (low, high, {c: int((each <= low).sum()) for c, each in starts.items()})
        for low, high in zip(cuts, ends, strict=True)
    ]


# --- recovers, yields ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Journey:
    """From rate ``start`` to ``end``, Q0.30, at one RTT."""

    path: Path
    rtt_ns: int
    start: int
    end: int

    def arrived(self, rates: Integers) -> NDArray[np.bool_]:
        return rates >= self.end if self.end > self.start else rates <= self.end

    def after(self, contexts: Mapping[str, Integers]) -> dict[str, Integers]:
        """The contexts [N] after a decision, by the whole program."""
        values = self.path.values(np.asarray([self.rtt_ns]), contexts)
        return {field.name: values[field.node] for field in self.path.program.state}

    def finding(self, says: str, limit: int | None, told: list[FindingClaim]) -> FindingClaim:
        """``told``: where it says that a flow is followed in vain, its witness shows that, and no other is followed."""
        if [each.value for each in told] == [wording.LONGER]:
            if limit is not None and limit > wording.MAX_DECISIONS:
                raise Refused(f"{says}: {wording.LONGER} does not decide it")
            return finding(says, judged(None if limit is None else False), wording.LONGER)
        ways = self.ways
        if ways.rate is not None:
            return finding(says, "fails", wording.never(ways.rate))
        longest = int(ways.taken.max())
        return finding(says, judged(None if limit is None else longest <= limit), wording.arrived(longest))

    def shown(self, claim: FindingClaim) -> None:
        """Refused where the witness takes another number of decisions than the claim's."""
        context = {name.removeprefix("context."): value for name, value in claim.witness.items()}
        names = {field.name for field in self.path.program.state}
        if {f"context.{name}" for name in names} != set(claim.witness):
            raise Refused(f"{claim.says}: the witness is no context of the program")
        if not self.path.history.fits(context) or context["rate_q30"] != self.start:
            raise Refused(f"{claim.says}: the witness does not start at the rate, or does not fit its fields")
        now = {name: np.asarray([value]) for name, value in context.items()}
        if claim.value == wording.LONGER:
            arrived = False
            for _ in range(wording.MAX_DECISIONS):
                now = self.after(now)
                arrived = arrived or bool(self.arrived(now["rate_q30"])[0])
        else:
            ways = self.ways
            taken = int(ways.taken[np.searchsorted(ways.begin, self._keys(now, 1)[0])])
            arrived = claim.value != (wording.arrived(taken) if taken else wording.never(ways.rate or 0))
        if arrived:
            raise Refused(f"{claim.says}: the witness does not show it")

    @cached_property
    def ways(self) -> "Ways":
        """From a context of every kind, each state on the way visited once."""
        history = self.path.history
        contexts = history.kinds(MAX_CONTEXTS)
        count = len(next(iter(contexts.values()))) if contexts else 1
        contexts["rate_q30"] = np.full(count, self.start, dtype=np.int64)
        begin = front = self._keys(contexts, count)
        keys, following = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        known = np.zeros(0, dtype=np.int64)
        while len(front):
            contexts = self.after(contexts)
            after = self._keys(contexts, len(front))
            keys.append(front)
            following.append(np.where(self.arrived(contexts["rate_q30"]), -1, after))
            known = np.union1d(known, front)
            if len(known) > MAX_STATES:
                raise Refused(f"more than {MAX_STATES} states lie between the rates; they are not followed again")
            new, rows = np.unique(following[-1], return_index=True)
            fresh = (new >= 0) & ~np.isin(new, known, assume_unique=True)
            front, contexts = new[fresh], {name: column[rows[fresh]] for name, column in contexts.items()}
        return self._read(np.concatenate(keys), np.concatenate(following), np.sort(begin))

    def _keys(self, contexts: Mapping[str, Integers], count: int) -> Integers:
        return (self.path.history.kind(dict(contexts), count) << RATE_BITS) | contexts["rate_q30"]

    def _read(self, keys: Integers, following: Integers, begin: Integers) -> "Ways":
        """Returns the ways, by doubling: after 2^k rounds each state knows where it is after 2^k decisions, and how
        many these were."""
        order = np.argsort(keys)
        there = np.searchsorted(keys[order], following[order])
        end = len(keys)
        step = np.append(np.where(following[order] < 0, end, there), end)
        taken, at = np.append(np.ones(end, dtype=np.int64), 0), step
        for _ in range(end.bit_length()):
            taken, at = taken + taken[at], at[at]
        starts = np.searchsorted(keys[order], begin)
        caught = at[starts] != end
        if not caught.any():
            return Ways(begin, taken[starts], None)
        circle = left = np.unique(at[starts][caught])
        while len(left := np.setdiff1d(step[left], circle)):
            circle = np.union1d(circle, left)
        rates = keys[order][circle] & ((1 << RATE_BITS) - 1)
        rate = int(rates.min() if self.end > self.start else rates.max())
        return Ways(begin, np.where(caught, 0, taken[starts]), rate)


@dataclass(frozen=True)
class Ways:
    """``begin`` [N]: keys of the contexts to begin with, ascending; ``taken`` [N]: decisions of each, 0 where it never
    arrives; ``rate``: of those in circles the one furthest from the end, None where all arrive."""

    begin: Integers
    taken: Integers
    rate: int | None


def recovery(path: Path) -> Journey:
    """At the base RTT, from the lowest rate to the highest."""
    return Journey(path, path.rtt_ns(1), path.params["rate_min_q30"], path.params["rate_max_q30"])


def yielding(path: Path, inflation: float, to: int) -> Journey:
    """At an inflation, from the highest rate down."""
    most = path.params["rate_max_q30"]
    if path.rate(to) == most:
        raise Refused("yields is about a rate below the highest")
    return Journey(path, path.rtt_ns(inflation), most, to)


# --- fixed_point ---------------------------------------------------------------------------------------------------


def fixed_point(path: Path, turns: Turns, observation: Observation, asked: FixedPoint) -> FindingClaim:
    """Returns the inflations at which N flows that share a line alike neither all rise nor all fall [RLCC, section
    4]."""
    path.check_told()
    seen = path.history.seen
    if len(seen) != 1:
        raise Refused("a fixed point is found for policies that see their congestion alone")
    ((node, name),) = seen.items()
    target, beta = _theory(observation, name)
    says = wording.rest(asked.flows, target, beta, path.base_rtt_ns, asked.within)
    low_edges = [path.program.nodes[node].low, *(int(cut) + 1 for cut in turns.edges[node])]
    values = [turns.value[turns.level == k] for k in range(len(low_edges))]
    not_rising = [k for k, at in enumerate(values) if at.min() <= ONE]
    not_falling = [k for k, at in enumerate(values) if at.max() >= ONE]
    if not not_rising or not not_falling:
        return finding(says, "fails", wording.NO_REST)
    flows = np.arange(asked.flows[0], asked.flows[1] + 1, dtype=np.int64)
    rates = LINE_RATE_Q30 // flows
    for share in (rates[0], rates[-1]):
        path.rate(int(share))
    begin = low_edges[not_rising[0]]
    beyond = low_edges[not_falling[-1] + 1] if not_falling[-1] + 1 < len(low_edges) else 1 << 40
    low = path.first_above(node, np.full_like(rates, begin - 1), rates) / path.base_rtt_ns
    high = (path.first_above(node, np.full_like(rates, beyond - 1), rates) - 1) / path.base_rtt_ns
    theory = np.array([target * sqrt(n) + beta for n in flows.tolist()])
    off = np.maximum(np.abs(low / theory - 1), np.abs(high / theory - 1))
    n = int(off.argmax())
    holds = None if asked.within is None else bool(off[n] <= asked.within)
    return finding(says, judged(holds), wording.rests(off[n], flows[n], low[n], high[n], theory[n]))


def _theory(observation: Observation, seen: str) -> tuple[float, float]:
    for feature in observation.features:
        if isinstance(feature, RlCcCongestion | PccRlCongestion) and feature.name == seen:
            return feature.target, feature.tolerance
    raise Refused("a fixed point has a theory for policies that see rl_cc_congestion or pcc_rl_congestion")
