"""Which trees share a table: every partition of few trees into groups is weighed, exactly.

    least[1][S] = entries of the table of all trees in S
    least[k][S] = min over the T in S that hold its first tree of  least[1][T] + least[k - 1][S - T]

S runs over the sets of trees, as bits. Trees outside S stay in branches; of all S whose tables fit, the one that leaves
the fewest cycles there. More trees than ``EXACT`` are joined greedily first, the two whose joint table grows least,
until there are so few clusters; every stage on the way is a candidate too.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from codegen.engines import CostModel
from codegen.joint import WORD_BITS, Group, join, size_of, thresholds_of
from codegen.passes.reorder import worst
from codegen.walk import Walk

Cluster = tuple[int, ...]
"""Trees, by number, ascending."""
Grouping = tuple[list[Group], list[int]]
"""Groups, not placed in a word yet, and the trees that are in none."""

EXACT = 10
"""Clusters of which all partitions are weighed: 3^10 steps a number of groups."""
MAX_GROUPS = 8
NEVER = np.iinfo(np.int64).max // 4
"""Entries of a set that has too few members for so many groups."""


def groupings(walk: Walk, limits: Sequence[int], engine: CostModel) -> list[Grouping]:
    """Returns the groups that may share tables, for each limit of entries."""
    sizes = _TableSizes(walk)
    cycles = [worst(tree, walk, engine) for tree in walk.trees]
    chosen: dict[tuple[Cluster, ...], None] = {}
    for most in limits:
        stages = list(_stages(sizes, most))
        for clusters in stages[:-1]:
            chosen[_in_a_word(sizes, clusters)] = None
        for clusters in _exact(sizes, stages[-1], most, cycles):
            chosen[clusters] = None
    joined: dict[Cluster, Group] = {}
    for cluster in (cluster for clusters in chosen for cluster in clusters):
        if cluster not in joined:
            joined[cluster] = join(walk, cluster)
    every = range(len(walk.trees))
    return [
        ([joined[c] for c in clusters], [tree for tree in every if not any(tree in c for c in clusters)])
        for clusters in chosen
        if clusters
    ]


def _stages(sizes: "_TableSizes", most: int) -> Iterator[tuple[Cluster, ...]]:
    """Yields the stages of the greedy joining up to ``most`` entries, until ``EXACT`` clusters are left."""
    clusters: list[Cluster] = [(tree,) for tree in range(len(sizes.walk.trees)) if sizes.entries((tree,)) <= most]
    yield tuple(clusters)
    while len(clusters) > EXACT and (pair := _closest(sizes, clusters, most)) is not None:
        clusters = [c for c in clusters if c not in pair] + [tuple(sorted(pair[0] + pair[1]))]
        yield tuple(clusters)


def _in_a_word(sizes: "_TableSizes", clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    """The clusters whose fields a word holds, those first that take the fewest bits a tree."""
    kept: list[Cluster] = []
    bits = 0
    for cluster in sorted(clusters, key=lambda c: (sizes.bits(c) / len(c), c)):
        if bits + sizes.bits(cluster) <= WORD_BITS:
            kept.append(cluster)
            bits += sizes.bits(cluster)
    return tuple(sorted(kept))


def _closest(sizes: "_TableSizes", clusters: list[Cluster], most: int) -> tuple[Cluster, Cluster] | None:
    """The two clusters whose joint tables grow least, if all tables together then stay below ``most``."""
    alone = [sizes.entries(cluster) for cluster in clusters]
    entries = sum(alone)
    if entries - sorted(alone)[-2] > most:  # a joint table has at least the entries of the larger one
        return None
    best: tuple[int, Cluster, Cluster] | None = None
    for i, a in enumerate(clusters):
        for j, b in enumerate(clusters[i + 1 :], i + 1):
            grown = sizes.joint(a, b) - alone[i] - alone[j]
            if entries + grown <= most and (best is None or grown < best[0]):
                best = (grown, a, b)
    return (best[1], best[2]) if best else None


def _exact(
    sizes: "_TableSizes", clusters: Sequence[Cluster], most: int, cycles: Sequence[int]
) -> Iterator[tuple[Cluster, ...]]:
    """For each number of groups the partition that leaves the fewest cycles in branches, of those the smallest."""
    if len(clusters) > EXACT:
        clusters = clusters[:EXACT]
    sets = np.arange(1 << len(clusters), dtype=np.int64)
    members = [tuple(sorted(t for k, c in enumerate(clusters) if s >> k & 1 for t in c)) for s in sets]
    alone = np.array([sizes.entries(m) if m else 0 for m in members], dtype=np.int64)
    saved = np.array([sum(cycles[t] for t in m) for m in members], dtype=np.int64)
    least, taken = alone, [sets]
    for count in range(1, MAX_GROUPS + 1):
        if count > 1:
            least, first = _one_more(alone, least, sets)
            taken.append(first)
        fits = np.flatnonzero((least <= most) & (sets > 0))
        if fits.size:
            best = int(fits[np.lexsort((least[fits], -saved[fits]))[0]])
            parts, left = [], best
            for choice in reversed(taken):
                parts.append(int(choice[left]))
                left ^= parts[-1]
            if all(parts):
                yield tuple(sorted(members[part] for part in parts))


def _one_more(
    alone: NDArray[np.int64], least: NDArray[np.int64], sets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Least entries of each set in one group more, and the group that its first member is in: of equals the lowest."""
    best, first = np.full(len(sets), NEVER), sets.copy()
    splits = _splits(len(sets))
    if splits.groups.size:
        entries = alone[splits.groups] + least[splits.others]
        fewest = np.minimum.reduceat(entries, splits.starts)
        sizes = np.diff(splits.starts, append=entries.size)
        attained = np.flatnonzero(entries == np.repeat(fewest, sizes))
        lowest = splits.groups[attained[attained.searchsorted(splits.starts)]]
        found = fewest < NEVER
        best[splits.wholes[found]], first[splits.wholes[found]] = fewest[found], lowest[found]
    return best, first


@dataclass(frozen=True)
class _Splits:
    """Every set of two members or more, ascending in ``wholes``, parted into ``groups``, one of which holds the first
    member, and ``others``; ``starts``: where the parts of each set begin, its groups ascending."""

    wholes: NDArray[np.int64]
    starts: NDArray[np.intp]
    groups: NDArray[np.int64]
    others: NDArray[np.int64]


@lru_cache(maxsize=EXACT + 1)
def _splits(count: int) -> _Splits:
    """Returns the splits of all sets below ``count``, a power of two."""
    sets = np.arange(count, dtype=np.int64)
    parted = []
    for group in range(1, count):
        lowest = group & -group
        others = sets[(sets & (group | (lowest - 1)) == 0) & (sets > 0)]
        parted.append(np.stack([others | group, np.full_like(others, group), others]))
    wholes, groups, others = np.concatenate([np.zeros((3, 0), np.int64), *parted], axis=1)
    order = np.argsort(wholes, kind="stable")
    distinct, starts = np.unique(wholes[order], return_index=True)
    return _Splits(distinct, starts, groups[order], others[order])


class _TableSizes:
    """How large the tables of clusters would be, each asked once."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self._classes: dict[Cluster, int] = {}
        self._columns = [frozenset(walk.columns(tree)) for tree in walk.trees]
        self._thresholds = [thresholds_of([tree]) for tree in walk.trees]

    def joint(self, a: Cluster, b: Cluster) -> int:
        return self.entries(tuple(sorted(a + b)))

    def entries(self, cluster: Cluster) -> int:
        return self._of(cluster) * len(frozenset[int]().union(*(self._columns[tree] for tree in cluster)))

    def bits(self, cluster: Cluster) -> int:
        """Returns the bits of a table's index."""
        return (self._of(cluster) - 1).bit_length()

    def _of(self, cluster: Cluster) -> int:
        if cluster not in self._classes:
            thresholds: dict[int, set[int]] = {}
            for tree in cluster:
                for feature, values in self._thresholds[tree].items():
                    thresholds[feature] = thresholds.get(feature, set()) | values
            self._classes[cluster] = size_of(thresholds)
        return self._classes[cluster]
