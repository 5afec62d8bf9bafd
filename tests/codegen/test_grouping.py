"""Which trees share a table: of few trees the smallest partition of all, held to every partition there is."""

from collections.abc import Iterator

import numpy as np
import pytest

from codegen.engines import engine_named
from codegen.grouping import groupings
from codegen.joint import size_of, thresholds_of
from codegen.walk import Feature, Sum, Walk
from decision.ir.forest import oblivious

IBEX = engine_named("ibex-small")


def drawn(trees: int, seed: int) -> Walk:
    rng = np.random.default_rng(seed)
    grown = [
        oblivious([(int(rng.integers(3)), int(rng.integers(-9, 9))) for _ in range(3)], [(int(v),) for v in range(8)])
        for _ in range(trees)
    ]
    return Walk(tuple(Feature(n, -10, 10) for n in "abc"), tuple(grown), (Sum(0),))


def partitions(members: list[int]) -> Iterator[list[list[int]]]:
    if not members:
        yield []
        return
    for rest in partitions(members[1:]):
        yield [[members[0]], *rest]
        for k, part in enumerate(rest):
            yield [*rest[:k], [members[0], *part], *rest[k + 1 :]]


@pytest.mark.parametrize("seed", range(4))
def test_no_partition_into_as_many_groups_is_smaller(seed: int) -> None:
    walk = drawn(5, seed)
    least: dict[int, int] = {}
    for parts in partitions(list(range(5))):
        entries = sum(size_of(thresholds_of([walk.trees[t] for t in part])) for part in parts)
        least[len(parts)] = min(entries, least.get(len(parts), entries))
    for groups, rest in groupings(walk, [1 << 16], IBEX):
        assert not rest
        entries = sum(size_of(thresholds_of([walk.trees[t] for t in group.trees])) for group in groups)
        assert entries == least[len(groups)]


def test_trees_that_no_table_has_room_for_are_left_out_and_no_table_is_larger() -> None:
    walk = drawn(6, 1)
    for groups, rest in groupings(walk, [20], IBEX):
        assert sorted([*rest, *(t for group in groups for t in group.trees)]) == list(range(6))
        assert sum(size_of(thresholds_of([walk.trees[t] for t in group.trees])) for group in groups) <= 20


def test_many_trees_are_joined_before_they_are_weighed() -> None:
    walk = drawn(30, 2)
    fewest = min(len(groups) for groups, _ in groupings(walk, [4096], IBEX))
    assert fewest == 1  # 19 thresholds a feature at most
