"""Sums of leaves that a register holds: under which names of the trees they go on where paths meet.

Lanes hold a number each, or, where something was named before, a sum of names and a number. All of them are one sum

    sum.k or tree.i + tree.j + ..  + what all lanes have in common

where the leaves that each lane reaches say so. A lane that still knows the leaf of a tree holds its number; one that
has forgotten it, and only it, holds its name.
"""

import numpy as np

from decision.ir.arrays import Bools
from verify.prover.expressions import FIRST, WORD, Linear
from verify.prover.lanes import Ints, mixed
from verify.prover.specialise import View


def part_of_sum(sample: View, view: View, column: Ints, rows: Ints) -> int | None:
    """A partial sum of the trees or leaves of several, plus what all lanes have in common; ``sample``: of some rows."""
    pool, cuts = view.pool, view.cuts
    words, back = np.unique(column, return_inverse=True)
    back, sums = back.reshape(-1), [pool.linear(int(word)) for word in words]
    common = sums[0][1]
    if any(terms != common for _, terms in sums):
        return _named_in_some(view, sums, back)
    constants = np.array([constant for constant, _ in sums], dtype=np.int64)[back]
    for k in range(len(cuts.leaf_sums)):
        alone, together = range(k, k + 1), range(k - k % len(view.program.forest.trees), k + 1)
        for few, all_, added in ((sample.sums, view.sums, together), (sample.tree, view.tree, alone)):
            if _offset(few(k), constants[rows]) is None:
                continue
            offset = _offset(all_(k), constants)
            if offset is not None:
                return pool.sum(offset, (*((cuts.tree(tree), 1) for tree in added), *common))
    several = _several(view, constants, frozenset())
    return None if several is None else pool.sum(several[0], [*((cuts.tree(k), 1) for k in several[1]), *common])


def _named_in_some(view: View, sums: list[Linear], back: Ints) -> int | None:
    """Returns the sum of lanes that hold the names of different trees, of which the others know the leaf. ``back``:
    each lane's sum."""
    pool, cuts = view.pool, view.cuts
    common = frozenset.intersection(*(frozenset(terms) for _, terms in sums))
    places = _places(view)
    held: dict[int, Bools] = {}
    for number, (_, terms) in enumerate(sums):
        for atom, times in set(terms) - common:
            if times != 1 or atom not in places:
                return None
            for k in places[atom]:
                at = held.setdefault(k, np.zeros(len(sums), dtype=bool))
                if at[number]:
                    return None
                at[number] = True
    if any(held.keys() & set(places.get(atom, ())) for atom, _ in common):
        return None
    constants = np.array([constant for constant, _ in sums], dtype=np.int64)[back]
    for k, at in held.items():
        leaf, known = view.tree(k), ~at[back]
        if (leaf[known] < 0).any() or (leaf[known] >= FIRST).any():
            return None
        constants[known] = (constants[known] - leaf[known]) & WORD
    named = [*((cuts.tree(k), 1) for k in sorted(held)), *sorted(common)]
    if not mixed(constants):
        return pool.sum(int(constants[0]), named)
    several = _several(view, constants, frozenset(held))
    return None if several is None else pool.sum(several[0], [*((cuts.tree(k), 1) for k in several[1]), *named])


def _places(view: View) -> dict[int, range]:
    """The trees that each name of a leaf or a partial sum stands for."""
    cuts, trees = view.cuts, len(view.program.forest.trees)
    leaves = {cuts.tree(k): range(k, k + 1) for k in range(len(cuts.leaf_sums))}
    return leaves | {cuts.sum(k): range(k - k % trees, k + 1) for k in range(len(cuts.leaf_sums))}


def _several(view: View, constants: Ints, without: frozenset[int]) -> tuple[int, list[int]] | None:
    """A number, and trees of one output whose leaves make up the constants with it; none of those ``without``."""
    trees = len(view.program.forest.trees)
    known = [k for k in range(len(view.cuts.leaf_sums)) if k not in without and varies(view.tree(k))]
    for output in range(view.program.forest.outputs):
        those = [k for k in known if k // trees == output]
        chosen = combined([signed(view.tree(k)) for k in those], signed(constants))
        if chosen is not None:
            offset, taken = chosen
            return offset, [k for k, one in zip(those, taken, strict=True) if one]
    return None


def _offset(words: Ints, column: Ints) -> int | None:
    """The constant by which a column of constants differs from another, if it is one."""
    if (words < 0).any() or (words >= FIRST).any():
        return None
    difference = (column - words) & WORD
    return int(difference[0]) if (difference == difference[0]).all() else None


def varies(words: Ints) -> bool:
    """Whether a column is of constants, not all the same."""
    return bool((words >= 0).all() and (words < FIRST).all()) and mixed(words)


def signed(words: Ints) -> Ints:
    """Words as integers with sign."""
    return words - (words >> 31 << 32)


def combined(parts: list[Ints], column: Ints) -> tuple[int, list[bool]] | None:
    """(c, which parts) so that the column is c and these parts together; found by least squares, then checked."""
    if not parts:
        return None
    different = np.unique(np.stack([*parts, column]), axis=1).astype(float)
    matrix = np.vstack([different[:-1], np.ones(different.shape[1])]).T
    weights = np.linalg.lstsq(matrix, different[-1], rcond=None)[0][:-1]
    taken = [bool(one) for one in np.round(weights) == 1]
    rest = column - sum(part for part, one in zip(parts, taken, strict=True) if one)
    return (int(rest[0]), taken) if any(taken) and not mixed(rest) else None
