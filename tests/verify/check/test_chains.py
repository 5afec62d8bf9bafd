"""Dear chains are passed over where no input takes them, and only there: against all chains, one by one."""

from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import pytest
from decision_by_hand import judge
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from verify.check import chains as module
from verify.check.chains import START, Chains, Path
from verify.check.path_facts import Known, bounded
from verify.check.refused import Refused
from verify.check.terms import var

WORD = var("event.response_ns")
FACTS = st.frozensets(st.sampled_from([1, -1, 2, -2, 10, 11, 12]), max_size=3)
ENDS = st.none() | st.tuples(st.integers(0, 9), st.integers(0, 4))
# Cycles, how many cuts it leads on by, the instruction before that, facts, the least value of a word and how many more.
WAYS = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 2), st.booleans(), FACTS, ENDS), min_size=1, max_size=4)
LAYERS = st.lists(st.tuples(WAYS, WAYS), min_size=1, max_size=4)


@dataclass
class Walked:
    """Paths between cuts 0, 1, .., of each with two instructions before it, and out. Facts are numbers, of which n and
    -n are never so together, nor are 10, 11 and 12; a word is known by bounds."""

    ways: dict[Any, list[Path]]
    asked: int = 0
    bounds: dict[Any, int] = field(default_factory=dict)

    def contradiction(self, chain: list[Path], whatever: bool = True) -> frozenset[Any] | None:
        self.asked += 1
        facts: set[Any] = set().union(*(path.known.facts for path in chain))
        ends = [path.known.bounds[WORD] for path in chain if WORD in path.known.bounds]
        if ends and max(end[0] for end in ends) > min(end[1] for end in ends):
            return frozenset(c for path in chain for c in path.conditions if not isinstance(c, int))
        if {10, 11, 12} <= facts:
            return frozenset({10, 11, 12})
        return next((frozenset({fact, -fact}) for fact in sorted(facts) if -fact in facts), None)

    def bound(self, key: Any) -> int:
        if key not in self.bounds:
            rests = (path.cycles + (self.bound(path.following) if path.following else 0) for path in self.paths(key))
            self.bounds[key] = max(rests)
        return self.bounds[key]

    def paths(self, key: Any) -> list[Path]:
        return self.ways[max(key[0], 0), key[1]]

    def chains(self) -> Chains:
        return Chains(self.paths, self.bound, self.contradiction)

    def every(self, key: Any = (0, None)) -> list[list[Path]]:
        return [
            [path, *rest]
            for path in self.paths(key)
            for rest in (self.every(path.following) if path.following else [[]])
        ]


def branching(layers: list[tuple[list[Any], list[Any]]]) -> Walked:
    ways: dict[Any, list[Path]] = {}
    for n, layer in enumerate(layers):
        for before, found in zip((None, "load"), layer, strict=True):
            ways[n, before] = [
                Path(
                    cycles,
                    (n + on, "load" if load else None) if n + on < len(layers) else None,  # type: ignore[arg-type]
                    Known({} if ends is None else {WORD: bounded(ends[0], sum(ends))}, facts),
                )
                for cycles, on, load, facts, ends in found
            ]
    return Walked(ways)


def walked(layers: list[list[tuple[int, Any]]]) -> Walked:
    """One cut after the other: cycles and facts."""
    return branching([([(cycles, 1, False, frozenset(facts), None) for cycles, facts in of], []) for of in layers])


def names(found: list[list[Path]]) -> list[list[int]]:
    return sorted([id(path) for path in chain] for chain in found)


def dear(of: Walked, limit: int) -> list[list[Path]]:
    return [c for c in of.every() if sum(p.cycles for p in c) > limit and Walked(of.ways).contradiction(c) is None]


@settings(max_examples=examples(150))
@given(LAYERS, st.integers(0, 12))
def test_all_dear_chains_that_may_be_possible_are_found_once(layers: list[Any], limit: int) -> None:
    of = branching(layers)
    assert names(list(of.chains().dearer(limit))) == names(dear(of, limit))


def test_what_stands_for_several_knows_no_more_than_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what any of them knows a chain that may be possible is lost: this is the claim that all rests on."""
    of = walked([[(1, {1}), (1, {-1})], [(2, {1})]])
    assert len(list(of.chains().dearer(0))) == 1
    known = Known({}, frozenset().union(*(path.known.facts for path in of.ways[0, None])))
    monkeypatch.setattr(module, "_common", lambda _: known)
    assert not list(of.chains().dearer(0))


def test_what_all_know_of_a_word_is_the_hull() -> None:
    other = var("event.request_sent_ns")
    known = [{WORD: bounded(3, 4), other: bounded(0, 1)}, {WORD: bounded(-7, -2)}, {WORD: bounded(5, 9)}]
    for bounds in permutations(known):
        common = module._common([Path(1, None, Known(of)) for of in bounds])
        assert common.bounds == {WORD: (3, (1 << 32) - 2, -7, 9)}


def test_a_range_of_a_group_rules_out_only_what_that_of_each_does() -> None:
    """Through the judge's own question: what is known of several is a range, which a chain's other paths have to
    meet."""
    of = judge()
    several = [Path(1, (0, None), Known({WORD: bounded(low, low + 1)})) for low in (2, 6)]
    for low, high, possible in ((0, 1, 0), (2, 2, 1), (4, 5, 0), (7, 9, 1), (3, 6, 2), (8, 9, 0)):
        ends = {START: several, 0: [Path(1, None, Known({WORD: bounded(low, high)}))]}
        chains = Chains(lambda key, of=ends: of[key[0]], lambda _: 1, of._contradiction)  # type: ignore[misc]
        assert len(list(chains.dearer(0))) == possible


@pytest.mark.parametrize("first", list(permutations([(2, {11}), (1, {2})])))
@pytest.mark.parametrize("second", list(permutations([(2, {12}), (1, {3})])))
def test_of_three_paths_that_are_never_taken_together_two_are(first: Any, second: Any) -> None:
    of = walked([[(1, {10})], list(first), list(second)])
    assert len(list(of.chains().dearer(0))) == 3


@pytest.mark.parametrize("at", [(0, 4), (1, 2), (0, 1), (3, 4)])
@pytest.mark.parametrize("between", [5, 7])
def test_the_reason_is_found_once(at: tuple[int, int], between: int) -> None:
    """Two paths that are never taken together, wherever they are in 5 ** 3 chains, or 7 ** 3."""
    layers = [[(n, {2}) for n in range(between)] for _ in range(5)]
    layers[at[0]], layers[at[1]] = [(1, {1})], [(1, {-1})]
    of = walked(layers)
    assert not list(of.chains().dearer(0))
    assert of.asked < 20


def test_a_reason_counts_for_other_paths_with_the_same_conditions() -> None:
    """No two of these paths are the same, and each is never taken with any of the others' layer."""
    of = walked([[(n, {1}) for n in range(1, 9)], [(n, {2}) for n in range(3)], [(n, {-1}) for n in range(1, 9)]])
    assert not list(of.chains().dearer(0))
    assert of.asked == 1


def test_where_intervals_have_nothing_in_common_nobody_is_asked() -> None:
    for ends, possible in (((0, 4), 1), ((5, 9), 1), ((6, 9), 0), ((-3, -1), 0)):
        paths = {START: [Path(1, (0, None), Known({WORD: bounded(3, 5)}))]}
        paths[0] = [Path(1, None, Known({WORD: bounded(*ends)}))]
        asked = list[int]()
        chains = Chains(
            lambda key, of=paths: of[key[0]],
            lambda _: 1,
            lambda chain, _, to=asked: to.append(len(chain)),  # type: ignore[misc]
        )
        assert len(list(chains.dearer(0))) == possible
        assert bool(asked) == possible


def test_paths_that_cost_the_same_are_asked_about_together() -> None:
    of = walked([[(1, {1})], *[[(2, {n, 1}) for n in range(20, 70)]] * 3, [(1, {-1}), (1, {2})]])
    found = of.chains().dearer(0)
    assert next(found)[-1] is of.ways[4, None][1]
    assert of.asked < 30


def test_paths_that_stand_for_several_are_the_same_when_asked_again() -> None:
    """They are told apart as objects, and so are the reasons that are made of them."""
    chains = walked([[(2, {1}), (2, {2}), (3, {1})]]).chains()
    first = chains._together((0, None))
    assert [id(path) for path in first] == [id(path) for path in chains._together((0, None))]
    assert len(first) == 2


@pytest.mark.parametrize("first", range(3))
def test_first_paths_are_asked_about_where_all_have_no_answer(first: int) -> None:
    layers: list[Any] = [[(1, {2})] for _ in range(4)]
    layers[first] = [(1, {1, -1})]
    of = walked(layers)
    silent = Chains(of.paths, of.bound, lambda chain, _: of.contradiction(chain) if len(chain) < 4 else None)
    assert not list(silent.dearer(0))


@pytest.mark.parametrize("paths", [3, 4])
def test_as_many_chains_as_the_limit_are_tried_and_no_more(paths: int) -> None:
    of = walked([[(10 + n, {n + 1}) for n in range(paths)]])
    chains = Chains(of.paths, of.bound, of.contradiction, most=3)
    if paths == 3:
        assert len(list(chains.dearer(9))) == 3
    else:
        with pytest.raises(Refused, match=r"3 chains .*9 cycles") as refused:
            list(chains.dearer(9))
        assert refused.value.unfinished


def test_single_paths_are_tried_as_many_as_the_limit_too() -> None:
    of = walked([[(1, {n}) for n in range(20, 30)] for _ in range(3)])
    with pytest.raises(Refused, match="more than 20 chains"):
        list(Chains(of.paths, of.bound, of.contradiction, most=20).dearer(0))


def test_the_call_comes_first() -> None:
    keys: list[Any] = []

    def paths(key: Any) -> list[Path]:
        keys.append(key)
        return []

    assert not list(Chains(paths, lambda _: 0, lambda *_: None).dearer(0))
    assert keys == [(START, None)]
