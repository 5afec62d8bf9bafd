"""Ends of decisions while all that is seen stays the same, found again as a map on numbered states.

Once a window has passed, the remembered signals are the level itself, so that a state is a level and the intervals of
the past decisions that are still compared. Each state has one successor; states that have none before them are taken
away until only circles are left.
"""

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from decision.ir.arrays import Integers
from decision.ir.interpret import trace
from decision.ir.program import Op
from verify.check.cells import Table
from verify.check.history import History
from verify.check.refused import Refused
from verify.trusted import wording
from verify.trusted.certificate import FindingClaim
from verify.trusted.properties import NoCycle

MAX_STATES = 1 << 22


@dataclass(frozen=True)
class Turns:
    """``level`` [N]: of each state in a circle the number of its level; ``value`` [N]: the multiplier there, Q16;
    ``length`` [N]: decisions until it comes back; ``levels``: how many there are; ``edges``: of each thing that is
    seen, by node."""

    history: History
    edges: dict[int, Integers]
    level: Integers
    value: Integers
    length: Integers

    @property
    def levels(self) -> int:
        return prod(len(cuts) + 1 for cuts in self.edges.values())

    @staticmethod
    def of(history: History) -> "Turns":
        map_ = _Map.of(history)
        following = map_.following
        left = np.arange(len(following))
        while len(fewer := np.unique(following[left])) < len(left):
            left = fewer
        length = np.zeros(len(left), dtype=np.int64)
        there = np.searchsorted(left, following[left])
        at = there.copy()
        turn = 1
        while not length.all():
            length[(length == 0) & (at == np.arange(len(left)))] = turn
            at, turn = there[at], turn + 1
        return Turns(history, map_.edges, left // map_.decisions, map_.value[left], length)


@dataclass(frozen=True)
class _Map:
    """States are numbered by level, then by the intervals of the decided fields."""

    history: History
    edges: dict[int, Integers]
    fields: tuple[str, ...]

    @staticmethod
    def of(history: History) -> "_Map":
        seen = history.seen
        fields = tuple(name for name in history.names if history.root(name) not in seen)
        made = _Map(history, {node: history.levels(node) for node in seen}, fields)
        if made.count > MAX_STATES:
            raise Refused(f"{made.count} states of levels and past decisions are too many to follow again")
        return made

    @property
    def shape(self) -> list[int]:
        seen = [len(cuts) + 1 for cuts in self.edges.values()]
        return seen + [len(self.history.edges[name]) + 1 for name in self.fields]

    @property
    def count(self) -> int:
        return prod(self.shape)

    @property
    def decisions(self) -> int:
        return prod(len(self.history.edges[name]) + 1 for name in self.fields)

    @cached_property
    def _axes(self) -> list[Integers]:
        """The interval of each thing seen, then of each field, in every state [N]."""
        return list(np.unravel_index(np.arange(self.count), self.shape)) if self.shape else []

    @cached_property
    def _cells(self) -> tuple[Integers, ...]:
        """The forest's cell [N] of each column in every state."""
        table, nodes, places = self.history.table, list(self.edges), self._axes
        cells = []
        for node, edges in zip(table.columns, table.edges, strict=True):
            name = _field_of(table, node)
            if name is None:
                level, cuts, most = places[nodes.index(node)], self.edges[node], table.program.nodes[node].high
            elif name in self.fields:
                level, cuts = places[len(nodes) + self.fields.index(name)], self.history.edges[name]
                most = self.history.high[name]
            else:  # of a signal, which is the level once a window has passed
                seen = self.history.root(name)
                level, cuts, most = places[nodes.index(seen)], self.edges[seen], table.program.nodes[seen].high
            cells.append(_coarser(level, cuts, most, edges))
        return tuple(cells)

    @cached_property
    def value(self) -> Integers:
        """The multiplier [N], Q16."""
        return np.broadcast_to(self.history.table.value[self._cells], (self.count,))

    @cached_property
    def following(self) -> Integers:
        """The state after a decision [N]."""
        table, history, places = self.history.table, self.history, self._axes
        after = list(places[: len(self.edges)])
        for name in self.fields:
            source, cuts = history.source[name], history.edges[name]
            newer = _field_of(table, source)
            if newer is None:
                written = np.broadcast_to(table.of_sums(source)[self._cells], (self.count,))
                after.append(np.searchsorted(cuts, written, side="left"))
            else:
                place = places[len(self.edges) + self.fields.index(newer)]
                after.append(_coarser(place, history.edges[newer], history.high[newer], cuts))
        return np.asarray(np.ravel_multi_index(tuple(after), self.shape) if after else [0], dtype=np.int64)


def _field_of(table: Table, node: int) -> str | None:
    """The context's field that a node reads; None for what is computed."""
    read = table.program.nodes[node]
    return table.program.state[read.imm].name if read.op is Op.STATE else None


def _coarser(interval: Integers, cuts: Integers, most: int, fewer: Integers) -> Integers:
    """From intervals between ``cuts``, up to ``most``, to the ones between ``fewer`` that hold them."""
    return np.asarray(np.searchsorted(fewer, np.append(cuts, most), side="left")[interval])


def no_cycle(turns: Turns, asked: NoCycle) -> FindingClaim:
    """Without a witness."""
    says, length = wording.no_cycle(asked.length), turns.length
    bad = (length >= 2) & (length <= asked.length)
    if not bad.any():
        value = wording.no_circles(turns.levels, int(length.max(initial=1)))
        return FindingClaim(says=says, verdict="holds", value=value, witness={})
    value = wording.circles(np.unique(length[bad]).tolist(), len(np.unique(turns.level[bad])), turns.levels)
    return FindingClaim(says=says, verdict="fails", value=value, witness={})


def circling(turns: Turns, asked: NoCycle, claim: FindingClaim) -> None:
    """Refused where the program, at the witness's levels and from its context, does not go round in such a circle."""
    history, table = turns.history, turns.history.table
    if claim.verdict == "holds":
        if claim.witness:
            raise Refused(f"{claim.says}: there is no circle, yet there is a witness")
        return
    names = {**{name: name for name in history.seen.values()}, **{f"context.{n}": n for n in history.names}}
    if set(claim.witness) != set(names):
        raise Refused(f"{claim.says}: the witness does not have what is seen and remembered")
    levels = {node: np.asarray([claim.witness[name]]) for node, name in history.seen.items()}
    for node, level in levels.items():
        if not table.program.nodes[node].low <= level[0] <= table.program.nodes[node].high:
            raise Refused(f"{claim.says}: the witness has {level[0]}, which is out of its range")
    zero = np.zeros(1, dtype=np.int64)
    context = {name: claim.witness[f"context.{name}"] for name in history.names}
    if not history.fits(context):
        raise Refused(f"{claim.says}: the witness does not fit its fields")
    now = {name: np.asarray([value]) for name, value in context.items()}
    begin, force = history.kind(now, 1), {signal.name: zero for signal in table.program.interface.context}
    event = dict.fromkeys(table.program.interface.event_names, zero)
    for turn in range(1, asked.length + 1):
        values = trace(table.program, event, table.params, {**force, **now}, forced=levels)
        now = {name: values[node] for name, node in history.source.items()}
        if history.kind(now, 1) == begin:
            if turn > 1:
                return
            break
    raise Refused(f"{claim.says}: the witness does not show it")
