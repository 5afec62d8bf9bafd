"""Dear chains are passed over where no input takes them, and only there: against all chains, one by one."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.check import chains as module
from verify.check.chains import START, Chains, Path
from verify.check.known import Known, bounded
from verify.check.refused import Refused
from verify.check.terms import var

FACTS = st.frozensets(st.sampled_from([1, -1, 2, -2, 3, -3]), max_size=3)
LAYERS = st.lists(st.lists(st.tuples(st.integers(1, 3), FACTS), min_size=1, max_size=5), min_size=1, max_size=4)


@dataclass
class Walked:
    """Paths from cut 0 to 1 to 2 .. and out; facts are numbers, of which n and -n are never so together."""

    layers: list[list[Path]]
    asked: int = 0

    def impossible(self, chain: list[Path]) -> bool:
        self.asked += 1
        facts: set[Any] = set().union(*(path.known.facts for path in chain))
        return any(-fact in facts for fact in facts)

    def bound(self, key: Any) -> int:
        return sum(max(path.cycles for path in layer) for layer in self.layers[key[0] :])

    def chains(self) -> Chains:
        return Chains(lambda key: self.layers[max(key[0], 0)], self.bound, self.impossible)

    def every(self) -> list[list[Path]]:
        found: list[list[Path]] = [[]]
        for layer in self.layers:
            found = [[*chain, path] for chain in found for path in layer]
        return found


def walked(layers: list[list[tuple[int, Any]]]) -> Walked:
    last = len(layers) - 1
    return Walked(
        [
            [Path(cycles, None if n == last else (n + 1, None), Known({}, frozenset(facts))) for cycles, facts in layer]
            for n, layer in enumerate(layers)
        ]
    )


def names(found: list[list[Path]]) -> list[list[int]]:
    return sorted([id(path) for path in chain] for chain in found)


def dear(of: Walked, limit: int) -> list[list[Path]]:
    return [c for c in of.every() if sum(p.cycles for p in c) > limit and not Walked(of.layers).impossible(c)]


@given(LAYERS, st.integers(0, 12))
def test_all_dear_chains_that_may_be_possible_are_found_once(layers: list[list[tuple[int, Any]]], limit: int) -> None:
    of = walked(layers)
    assert names(list(of.chains().dearer(limit))) == names(dear(of, limit))


def test_what_stands_for_several_knows_no_more_than_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what any of them knows a chain that may be possible is lost: this is the claim that all rests on."""
    of = walked([[(1, {1}), (1, {-1})], [(2, {1})]])
    assert len(list(of.chains().dearer(0))) == 1
    known = Known({}, frozenset().union(*(path.known.facts for path in of.layers[0])))
    monkeypatch.setattr(module, "_common", lambda _: known)
    assert not list(of.chains().dearer(0))


def test_what_all_know_of_a_word_is_the_hull() -> None:
    a, b = var("event.response_ns"), var("event.request_sent_ns")
    first, second = {a: bounded(3, 4), b: bounded(0, 1)}, {a: bounded(-7, -2)}
    common = module._common([Path(1, None, Known(first)), Path(1, None, Known(second))])
    ends = zip((min, max, min, max), first[a], second[a], strict=True)
    assert common.bounds == {a: tuple(outer(one, other) for outer, one, other in ends)}


def test_the_reason_is_found_once() -> None:
    """The first path and the last are never taken together, whatever lies between: 5 ** 3 chains."""
    between = [[(n, {2}) for n in range(5)]] * 3
    of = walked([[(1, {1})], *between, [(1, {-1})]])
    assert not list(of.chains().dearer(0))
    assert of.asked < 20


def test_paths_that_cost_the_same_are_asked_about_together() -> None:
    of = walked([[(1, {1})], *[[(2, {n, 1}) for n in range(10, 60)]] * 3, [(1, {-1}), (1, {2})]])
    assert len(of.every()) == 2 * 50**3
    chains = of.chains()
    found = chains.dearer(0)
    assert next(found)[-1] is of.layers[-1][1]
    assert of.asked < 30


@pytest.mark.parametrize("several", [(0, 3), (1, 2), (0, 1, 3)])
def test_a_reason_is_as_small_as_it_can_be(several: tuple[int, ...]) -> None:
    """Facts are sets that a path asks for, impossible where all of several paths come together."""
    paths = [Path(1, None, Known({}, frozenset())) for _ in range(4)]
    wanted = [paths[n] for n in several]
    chains = Chains(lambda _: paths, lambda _: 0, lambda chain: all(any(p is w for p in chain) for w in wanted))
    for count in range(len(several), 5):
        for chosen in combinations(range(4), count):
            if set(several) <= set(chosen):
                assert [id(p) for p in chains._fewest([paths[n] for n in chosen])] == [id(p) for p in wanted]


def test_first_paths_are_asked_about_where_all_have_no_answer() -> None:
    of = walked([[(1, {1, -1})], [(1, {2})]])
    silent = Chains(of.chains().paths, of.bound, lambda chain: len(chain) < 2 and of.impossible(chain))
    assert not list(silent.dearer(0))


@pytest.mark.parametrize("paths", [3, 4])
def test_as_many_chains_as_the_limit_are_tried_and_no_more(paths: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CHAINS", 3)
    of = walked([[(10 + n, {n + 1}) for n in range(paths)]])
    if paths == 3:
        assert len(list(of.chains().dearer(9))) == 3
    else:
        with pytest.raises(Refused, match="more than 3 chains of paths may cost more than 9 cycles"):
            list(of.chains().dearer(9))


def test_the_call_comes_first() -> None:
    keys: list[Any] = []

    def paths(key: Any) -> list[Path]:
        keys.append(key)
        return []

    assert not list(Chains(paths, lambda _: 0, lambda _: False).dearer(0))
    assert keys == [(START, None)]
