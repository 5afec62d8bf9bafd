"""Under which branches control comes to a place, and what a register holds where several ways meet.

A path is the branches on the way and whether each was taken; where both ways of a branch have met again, the path is
that before it. A place is reached on any of a set of paths.
"""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
from bitwuzla import Kind, Term
from numpy.typing import NDArray

from verify.rv64.values import NOWHERE, MachineWord, MachineWords, PointerUse
from verify.terms.bits import BitTerms

Path = tuple[tuple[int, bool], ...]
Paths = frozenset[Path]
START: Paths = frozenset({()})


def taken(paths: Paths, branch: int, way: bool) -> Paths:
    """Returns the paths behind a branch."""
    return frozenset((*path, (branch, way)) for path in paths)


def met(sets: Sequence[Paths]) -> Paths:
    """Returns the paths where several meet."""
    found = set().union(*sets)
    rest = sorted(found, key=len)
    while rest:
        path = rest.pop()
        if not path or path not in found:
            continue
        (branch, way), before = path[-1], path[:-1]
        other = (*before, (branch, not way))
        if other in found:
            found -= {path, other}
            found.add(before)
            rest.append(before)
    return frozenset(found)


class Branches:
    """The conditions of the branches so far, each a word of 0 or 1."""

    def __init__(self, words: MachineWords, bits: BitTerms, samples: int) -> None:
        self.words, self.bits, self.count = words, bits, samples
        self.flags: dict[int, MachineWord] = {}

    def condition(self, paths: Paths) -> list[Term]:
        """Returns what is true on the paths and on no other: nothing if all ways lead here."""
        if () in paths:
            return []
        ways = [self._all([self._literal(*step) for step in path]) for path in sorted(paths)]
        return [reduce(lambda a, b: self.bits.term(Kind.OR, [a, b]), ways)]

    def nodes(self, paths: Paths) -> frozenset[int]:
        """Returns the program's nodes that the condition contains."""
        return NOWHERE.union(*(self.flags[branch].nodes for path in paths for branch, _ in path))

    def mask(self, paths: Paths) -> NDArray[np.bool_]:
        """Returns which of the samples take one of the paths."""
        reached = np.zeros(self.count, dtype=bool)
        for path in paths:
            here = np.ones(self.count, dtype=bool)
            for branch, way in path:
                here &= (self.flags[branch].samples != 0) == way
            reached |= here
        return reached

    def merged(self, ways: Sequence[tuple[Paths, MachineWord | None]]) -> MachineWord | None:
        """Returns the word that holds each way's where that way is taken; None where one holds nothing, or pointers to
        different things meet."""
        first = ways[0][1]
        if all(word is first for _, word in ways):
            return first
        found: dict[Path, MachineWord] = {}
        for paths, word in ways:
            if word is None:
                return None
            found |= dict.fromkeys(paths, word)
        try:
            return self._choice(found, 0)
        except PointerUse:
            return None

    def _choice(self, found: Mapping[Path, MachineWord], depth: int) -> MachineWord:
        """The word of the path that is taken, of paths that are the same up to a depth."""
        words = list(found.values())
        if all(_same(word, words[0]) for word in words):
            return words[0]
        branches = {path[depth][0] for path in found}
        if len(branches) > 1:
            raise ValueError("paths of one beginning go through one branch next")
        sides = [{path: word for path, word in found.items() if path[depth][1] is way} for way in (True, False)]
        above, below = (self._choice(side, depth + 1) if side else None for side in sides)
        if above is None or below is None:
            chosen = above or below
            assert chosen is not None
            return chosen
        return self.words.choice(self.flags[branches.pop()], above, below)

    def _literal(self, branch: int, way: bool) -> Term:
        flag = self.bits.true(self.flags[branch].term)
        return flag if way else self.bits.term(Kind.NOT, [flag])

    def _all(self, terms: list[Term]) -> Term:
        return reduce(lambda a, b: self.bits.term(Kind.AND, [a, b]), terms)


def _same(a: MachineWord, b: MachineWord) -> bool:
    return a is b or (a.constant and b.constant and a.base == b.base and a.signed == b.signed)
