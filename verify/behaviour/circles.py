"""no_cycle: what a decision comes to where all that it sees stays as it is.

States that nothing distinguishes are one of finitely many kinds (a cell of the signals and of each field of the
context), and a decision maps kinds to kinds. Every start therefore ends in a circle. The circles are left over when the
map is applied to all kinds until their number no longer falls.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.interpret import trace
from verify.behaviour.contexts import MAX_CONTEXTS, Contexts, Fields, only
from verify.behaviour.finding import Finding, judged
from verify.behaviour.split_decision import Decided
from verify.trusted import wording
from verify.trusted.properties import NoCycle


@dataclass(frozen=True)
class Circles:
    """``seen``: the nodes that are no memory; ``levels`` [N, seen] a value of each, which stays; ``now`` [N] the
    contexts; ``value`` [N] the multiplier. Each row is a kind that comes back: after ``length`` [N] decisions."""

    decision: Decided
    seen: list[int]
    levels: Integers
    now: Fields
    value: Integers
    contexts: Contexts
    following: Integers

    @cached_property
    def length(self) -> Integers:
        length, start = np.zeros(len(self.levels), dtype=np.int64), np.arange(len(self.levels))
        at = self.following
        for turn in range(1, len(start) + 1):
            length[(length == 0) & (at == start)] = turn
            if length.all():
                break
            at = self.following[at]
        return length


def circles(decision: Decided) -> Circles:
    """All of them. InputError where the kinds are too many to follow."""
    contexts = Contexts.of(decision)
    fields, count = contexts.all()
    seen = list(decision.seen)
    axes = [_levels(decision, contexts, node) for node in seen]
    if (total := int(np.prod([float(len(axis)) for axis in axes]) * count)) > MAX_CONTEXTS:
        raise InputError(
            f"{total} kinds of contexts and of what is seen are too many to follow; {MAX_CONTEXTS} are not"
        )
    combined = np.asarray(list(product(*axes)), dtype=np.int64)
    levels = np.repeat(combined, count, axis=0)
    now = {name: np.tile(fields[name], len(combined)) for name in contexts.edges}
    before = len(levels) + 1
    while len(levels) < before:
        before = len(levels)
        now, value = _after(decision, seen, levels, now, contexts)
        _, first = np.unique(_kinds(levels, now, contexts), axis=0, return_index=True)
        levels, now = levels[first], only(now, first)
    then, value = _after(decision, seen, levels, now, contexts)
    both = np.concatenate([_kinds(levels, now, contexts), _kinds(levels, then, contexts)])
    _, place = np.unique(both, axis=0, return_inverse=True)
    here, there = np.split(place.reshape(-1), 2)
    return Circles(decision, seen, levels, now, value, contexts, np.argsort(here)[there])


def _levels(decision: Decided, contexts: Contexts, node: int) -> Integers:
    """The least value of each cell of what is seen, by what it is compared with now and later."""
    now = [cuts for column, cuts in zip(decision.columns, decision.cells.edges, strict=True) if column == node]
    later = [f.name for f in decision.program.state if decision.written(f.node) == node]
    cuts = np.unique(np.concatenate([*now, *(contexts.edges[name] for name in later)]))
    low, high = decision.program.nodes[node].low, decision.program.nodes[node].high
    return np.append(low, cuts[(cuts >= low) & (cuts < high)] + 1)


def _kinds(levels: Integers, now: Fields, contexts: Contexts) -> Integers:
    return np.concatenate([levels, contexts.told_apart(now, len(levels))], axis=1)


def _after(
    decision: Decided, seen: list[int], levels: Integers, now: Fields, contexts: Contexts
) -> tuple[Fields, Integers]:
    """The contexts after a decision that sees these levels, and its value."""
    program, zeros = decision.program, np.zeros(len(levels), dtype=np.int64)
    forced = {node: levels[:, n] for n, node in enumerate(seen)}
    event = dict.fromkeys(program.interface.event_names, zeros)
    values = trace(program, event, decision.params, {**dict.fromkeys(contexts.others, zeros), **now}, forced=forced)
    written = {f.name: values[decision.written(f.node)] for f in program.state if f.name in contexts.edges}
    return written, values[decision.node]


def no_cycle(circles: Circles, asked: NoCycle) -> list[Finding]:
    says = wording.no_cycle(asked.length)
    total, longest = len(np.unique(circles.levels, axis=0)), int(circles.length.max(initial=1))
    bad = np.flatnonzero((circles.length >= 2) & (circles.length <= asked.length))
    if not len(bad):
        return [Finding("no_cycle", says, judged(True), wording.no_circles(total, longest))]
    row = int(bad[0])
    witness = dict(zip(circles.decision.seen.values(), map(int, circles.levels[row]), strict=True))
    witness |= {f"context.{name}": int(column[row]) for name, column in circles.now.items()}
    lengths = sorted(set(circles.length[bad].tolist()))
    value = wording.circles(lengths, len(np.unique(circles.levels[bad], axis=0)), total)
    return [Finding("no_cycle", says, judged(False), value, witness)]
