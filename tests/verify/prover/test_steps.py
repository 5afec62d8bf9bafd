"""Lanes that stay apart by the cells of several features, told together as sums of steps: the checker follows fewer
paths to the same worst case, and believes no sum that is not so."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from options_by_hand import cuts
from students_drawn import Drawn, built, grown

from bench.drawn.students import FEATURES as DRAWN_FEATURES
from bench.drawn.students import drawn, tree
from decision.ir.forest import Branch, Leaf, oblivious
from decision.ir.program import Op
from emulator.build import Build
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.prover import cuts as cuts_module
from verify.prover.expressions import WORD, Pool
from verify.prover.lanes import Lanes
from verify.prover.prove import ENTRY, Attempt, Limits
from verify.prover.steps import FARTHEST, MOST, Watcher, _Cells, _choice, _fitted, _telling
from verify.trusted.certificate import CutClaim
from verify.trusted.costs import cycle_model

TWO_STEPS = re.compile(r"\(if (\(sltu? \d+ [^()]+\)) \d+ \(if (\(sltu? \d+ [^()]+\)) \d+ (\d+)\)\)")
COUNT = re.compile(r"\(\+( node\.\d+){2,} 0\)")
STEP = re.compile(r"\(if \((?:slt|sltu) (\d+) (?:context|node)[.\w]+\) (\d+)")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Two features now and a decision ago: 162 cells in one table."""
    features = ["previous_action", "rl_cc_congestion"]
    student = grown(np.random.default_rng(3), features, ACTIONS[1], 5, depths=(2, 3), window=2)
    return built(Drawn(student, "joint", "clang", "-O2"), tmp_path_factory.mktemp("steps"))


def attempted(build: Build) -> Attempt:
    model = cycle_model(build.engine)
    run = Attempt(build.image, build.program, build.firmware.layouts, build.engine, model, Limits())
    assert not run.execute()
    return run


def judge(build: Build, found: tuple[Cut, ...]) -> Judge:
    entry, stack = build.image.symbols[ENTRY], build.engine.limits.stack_bytes
    model = cycle_model(build.engine)
    return Judge(build.image, entry, build.program, build.firmware.layouts, found, model, stack, Oracle())


@pytest.fixture(scope="module")
def told(build: Build) -> tuple[tuple[Cut, ...], int, int]:
    """Cuts with sums of steps; how many paths there are without, and their worst case."""
    run = attempted(build)
    plain = judge(build, cuts(next(iter(cuts_module.cuts_of(run)))))
    bound = plain.bound()
    assert bound + cycle_model(build.engine).overhead == run.worst().exact
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts_module, "QUICKLY", 0)
        patch.setattr(cuts_module, "QUICKLY_MULTIPLIED", 0)
        return cuts(next(iter(cuts_module.cuts_of(run)))), plain.walked, bound


@pytest.mark.parametrize(("limit", "told_so"), [("QUICKLY_MULTIPLIED", True), ("QUICKLY", False)])
def test_sums_are_told_from_fewer_paths_on_where_each_asks_about_a_product(
    build: Build, monkeypatch: pytest.MonkeyPatch, limit: str, told_so: bool
) -> None:
    monkeypatch.setattr(cuts_module, limit, 0)
    found = next(iter(cuts_module.cuts_of(attempted(build))))
    assert any(STEP.search(text) for cut in found for text in cut.holds.values()) == told_so


@pytest.mark.parametrize(
    ("seed", "kinds", "multiplies"),
    [(3, "rl_cc_congestion", True), (37, "rtt_inflation", True), (0, "ratio", False), (14, "bucket", False)],
)
def test_a_student_multiplies_by_what_its_features_are(seed: int, kinds: str, multiplies: bool) -> None:
    student = drawn(seed)
    assert kinds in {feature.kind for feature in student.observation.features}
    assert cuts_module._multiplies(student.program()) == multiplies


@pytest.mark.parametrize(("factor", "multiplies"), [(Op.CONST, False), (Op.PARAM, True)])
def test_a_number_times_a_constant_is_no_product_of_what_is_not_known(factor: Op, multiplies: bool) -> None:
    nodes = [(Op.EVENT, ()), (factor, ()), (Op.MUL, (0, 1)), (Op.SHR, (2,)), (Op.TREES, (3,)), (Op.MUL, (4, 0))]
    program: Any = SimpleNamespace(nodes=[SimpleNamespace(op=op, args=args) for op, args in nodes])
    assert cuts_module._multiplies(program) == multiplies


def test_paths_are_as_many_as_cells_of_a_feature_and_not_of_all(
    build: Build, told: tuple[tuple[Cut, ...], int, int]
) -> None:
    found, paths, bound = told
    found_again = judge(build, found)
    assert found_again.bound() == bound
    assert found_again.met == set(range(len(found)))
    assert 3 * found_again.walked < paths


def test_a_step_that_is_another_is_met_by_no_path(build: Build, told: tuple[tuple[Cut, ...], int, int]) -> None:
    """A threshold, or what the cells beyond it add."""
    found, _, _ = told
    number, at, text = next((n, a, t) for n, cut in enumerate(found) for a, t in cut.holds.items() if STEP.search(t))
    step = STEP.search(text)
    assert step
    for group in (1, 2):
        first, last = step.span(group)
        wrong = text[:first] + str(int(step[group]) + 1) + text[last:]
        forged = [replace(c, holds={**c.holds, at: wrong}) if n == number else c for n, c in enumerate(found)]
        again = judge(build, tuple(forged))
        try:
            again.bound()
        except Refused:
            continue
        assert number not in again.met


def test_a_cut_does_not_stand_for_cells_that_it_says_to_be_empty(
    build: Build, told: tuple[tuple[Cut, ...], int, int]
) -> None:
    """Of a search's three neighbouring cells the middle one is taken out of what a cut says of a place. Said to be
    empty, its lanes go on by themselves, and all holds; not said so, the cut stands for it too, with a wrong number."""
    found, _, bound = told
    for number, at, without, empty in _with_a_cell_less(found):
        cut = replace(found[number], holds={**found[number].holds, at: without})
        said = replace(cut, bounds={**cut.bounds, empty: (1, 1)})
        again = judge(build, (*found[:number], said, *found[number + 1 :]))
        assert again.bound() == bound
        if number in again.met:
            with pytest.raises(Refused, match="another value"):
                judge(build, (*found[:number], cut, *found[number + 1 :])).bound()
            return
    pytest.fail("no lanes come to any of these cuts in a cell of their own")


def _with_a_cell_less(found: tuple[Cut, ...]) -> Iterator[tuple[int, str, str, str]]:
    """Of each sum with three cells of a feature: the cut's number, the place, the sum without the middle one, and that
    it is empty."""
    for number, cut in enumerate(found):
        for at, text in cut.holds.items():
            if steps := TWO_STEPS.search(text):
                last, middle, first = steps.groups()
                without = text[: steps.start(2) - 4] + first + text[steps.end() - 1 :]
                yield number, at, without, f"(eq {middle} {last})"


def shared_leaf() -> tuple[Branch, Branch]:
    """A tree before, and one that adds 800 for two pairs of cells: congestion low now and high before, or the other way
    round. Features: action_1, congestion_q20, action_2, congestion_q20_1."""

    def before(low: int, high: int) -> Branch:
        return Branch(3, 503, above=Leaf((high,)), below=Leaf((low,)))

    low = Branch(2, -844, above=before(735, -35), below=before(1230, 800))
    high = Branch(2, -844, above=before(87, -667), below=before(800, -744))
    leaves = tuple(37 * k * k % 997 for k in range(16))
    first = oblivious(((0, 90), (0, -2000), (2, 300), (0, 5000)), leaves)
    assert isinstance(first, Branch)
    return first, Branch(1, 23362, above=high, below=low)


def test_a_leaf_that_cells_of_several_features_share_is_said_where_their_hull_does_not_tell_it(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both pairs of cells come to the instruction that loads 800. The ranges of both together are all there is."""
    features = [FEATURES["previous_action"], FEATURES["rl_cc_congestion"]]
    student = make_student(features, ACTIONS[1], shared_leaf(), window=2, bias=20)
    build = built(Drawn(student, "branches", "clang", "-O2"), tmp_path_factory.mktemp("leaf"))
    monkeypatch.setattr(cuts_module, "QUICKLY_MULTIPLIED", 0)
    found = cuts(next(iter(cuts_module.cuts_of(attempted(build)))))
    (number,) = (n for n, cut in enumerate(found) if "tree.1" in cut.bounds)
    assert found[number].bounds["tree.1"] == (800, 800)
    again = judge(build, found)
    assert again.bound() + cycle_model(build.engine).overhead == attempted(build).worst().exact
    assert again.met == set(range(len(found)))
    unsaid = replace(found[number], bounds={t: s for t, s in found[number].bounds.items() if t != "tree.1"})
    with pytest.raises(Refused, match="returns another value"):
        judge(build, (*found[:number], unsaid, *found[number + 1 :])).bound()
    wrong = replace(found[number], bounds={**found[number].bounds, "tree.1": (801, 801)})
    other = judge(build, (*found[:number], wrong, *found[number + 1 :]))
    other.bound()
    assert number not in other.met


def test_only_sums_of_steps_are_told() -> None:
    first = _Cells("context.a", True, np.array([-5, 7]), np.array([-5, 7]), np.array([0, 1, 2, 0, 1, 2]))
    second = _Cells("event.b", False, np.array([9]), np.array([9]), np.array([0, 0, 0, 1, 1, 1]))
    numbers = np.array([10, 12, 12, 6, 8, 8], dtype=np.int64)
    fitted = _fitted(numbers, [first, second])
    assert fitted is not None
    assert [part.tolist() for part in fitted] == [[10], [0, 2, 2], [0, -4]]
    assert _choice(first, [0, 2, 2]) == "(if (slt 4294967291 context.a) 2 0)"
    assert _choice(second, [0, -4]) == "(if (sltu 9 event.b) 4294967292 0)"
    numbers[5] = 9
    assert _fitted(numbers, [first, second]) is None


@pytest.mark.parametrize(
    ("low", "high", "ends", "places", "gaps"),
    [
        ([0, 10, 10], [9, 19, 99], None, None, []),  # the last one has not searched as far as the second
        ([0, 10, 20], [9, 19, 99], [9, 19], [0, 1, 2], []),
        # Knows more than the cell it is in, and none is in the second.
        ([20, 3, 0], [99, 9, 5], [9], [1, 0, 0], ["(eq (sltu 9 event.a) (sltu 19 event.a))"]),
        ([0, 0, 10], [9, 99, 99], None, None, []),
        ([3, 3, 3], [5, 6, 7], None, None, []),
    ],
)
def test_cells_are_the_trees_and_all_lanes_have_searched_as_far(
    low: list[int], high: list[int], ends: list[int] | None, places: list[int] | None, gaps: list[str]
) -> None:
    def bounds(_: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array(low), np.array(high)

    watcher: Any = SimpleNamespace(
        features=(0,),
        thresholds={0: [9, 19]},
        cuts=SimpleNamespace(narrow=lambda _: True, atom=lambda _: "event.a"),
        state=SimpleNamespace(pool=SimpleNamespace(text=str)),
        program=SimpleNamespace(nodes=[SimpleNamespace(low=0)]),
        _cells=lambda view, node: Watcher._cells(watcher, view, node),
    )
    found = Watcher._partitions(watcher, SimpleNamespace(bounds=bounds))  # type: ignore[arg-type]
    if places is None:
        assert found == []
    else:
        (cells,) = found
        assert (cells.name, cells.signed) == ("event.a", False)
        assert (cells.ends.tolist(), cells.places.tolist()) == (ends, places)
        assert cells.gaps == gaps


def test_where_sums_can_be_told_is_looked_for_along_the_way_of_a_position() -> None:
    """7 and 9 lie on another branch; at 3 paths met, or something was told."""
    watcher: Any = SimpleNamespace(passed={n: (before, None) for n, before in ((4, 3), (7, 6), (5, 4), (9, 7), (8, 5))})
    assert list(Watcher._back(watcher, 8)) == [8, 5, 4]
    assert list(Watcher._back(watcher, 3)) == []
    watcher.passed = {n: (n - 1, None) for n in range(100)}
    assert list(Watcher._back(watcher, 99)) == list(range(99, 99 - FARTHEST, -1))


def test_a_range_of_a_product_is_kept_where_a_place_holds_the_product() -> None:
    product, value, after = "(product node.3 (+ (* 4 event.a) 0) 32)", "node.5", "(+ node.3 node.9)"
    bounds = {product: [0, 99], value: [0, 6], after: [0, 1], "(eq node.9 node.3)": [1, 1]}
    for holds, kept in (
        ({"x5": value}, {value, "(eq node.9 node.3)"}),
        ({"x5": f"(srl {product} 4)"}, {product, value, "(eq node.9 node.3)"}),
    ):
        weaker = cuts_module._weaker(CutClaim(pc=0, holds=holds, bounds=bounds), {"node.3", "node.5"})
        assert weaker.bounds.keys() == kept
        assert weaker.holds == holds


def test_lanes_that_are_followed_know_every_interval_and_fact_that_all_do() -> None:
    count = 20 * MOST
    cells, facts = np.arange(count) % 7, np.zeros(count, dtype=np.int64)
    facts[-1] = 3
    wide = np.arange(count)
    low, high = np.stack([10 * cells, wide]), np.stack([10 * cells + 9, wide + 1])
    low[0, 5], high[0, 5] = 100, 101  # only one lane knows it
    zeros = np.zeros(count, dtype=np.int64)
    rows = _telling(Lanes(np.zeros((1, count), dtype=np.int64), low, high, facts, zeros, zeros, zeros, zeros))
    assert MOST <= len(rows) < MOST + 300
    assert {5, 0, count - 1} <= set(rows.tolist())
    assert set(zip(low[0, rows].tolist(), high[0, rows].tolist(), strict=True)) == {*zip(low[0], high[0], strict=True)}


def test_a_cut_behind_sums_of_steps_is_kept_where_it_knows_no_more_than_they() -> None:
    steps = CutClaim(pc=0, holds={}, bounds={"node.3": [2, 9]})
    for bounds, kept in (
        ({}, True),
        ({"node.3": [2, 9]}, True),
        ({"node.3": [3, 9]}, False),
        ({"node.4": [0, 1]}, False),
    ):
        assert cuts_module._follows(CutClaim(pc=4, holds={}, bounds=bounds), steps) is kept


def test_what_nobody_asks_again_is_left_out_but_for_inputs_that_places_hold_as_numbers() -> None:
    """Else a value that a place is said to hold would be another than what the program makes of the input."""
    cut = CutClaim(
        pc=0,
        holds={"x5": "node.7", "context+0:4": "0"},
        bounds={
            "context.rate_q30": [0, 0],
            "event.sent_bytes": [0, 9],
            "node.3": [2, 2],
            "node.7": [1, 4],
            "(+ event.nack_count 1)": [5, 5],
            "(eq node.3 node.7)": [1, 1],
            "tree.1": [800, 800],
            "tree.2": [7, 7],
        },
    )
    cut = cut.model_copy(update={"holds": {**cut.holds, "x6": "(+ tree.0 tree.2 12)"}})
    before = CutClaim(pc=4, holds={}, bounds={})
    found = cuts_module._asked_again(cut, [before], {"context.queue"})
    assert found.bounds.keys() == {"context.rate_q30", "node.7", "tree.1"}


def test_a_number_is_how_many_comparisons_hold() -> None:
    pool = Pool()
    atoms = {n: pool.atom(f"node.{n}", 0, 1) for n in (3, 4, 5, 6)}
    words = {3: [0, 1, 1, 1], 4: [0, 0, 1, 1], 5: [0, 0, 0, 1], 6: [0, 0, 0, 0]}
    view: Any = SimpleNamespace(words=lambda n: np.array(words[n], dtype=np.int64))
    watcher: Any = SimpleNamespace(
        added=list(words),
        cuts=SimpleNamespace(node=atoms.get),
        state=SimpleNamespace(pool=pool),
        _numbers=lambda column: Watcher._numbers(watcher, column),
    )
    for numbers, text in (
        ([7, 8, 8, 9], "(+ node.3 node.5 7)"),
        ([0, 1, 2, 3], "(+ node.3 node.4 node.5 0)"),
        ([WORD, 0, 0, 0], f"(+ node.3 {WORD})"),
        ([0, 2, 2, 2], None),
    ):
        assert Watcher._count(watcher, view, np.array(numbers, dtype=np.int64)) == text


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> tuple[Build, tuple[Cut, ...]]:
    """Cuts of code that adds comparisons of a queue to a bucket, while trees part its paths."""
    student = grown(np.random.default_rng(5), ["bucket", "previous_action"], ACTIONS[1], 5, depths=(3, 3), window=3)
    made = built(Drawn(student, "branches", "clang", "-O2"), tmp_path_factory.mktemp("counting"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts_module, "QUICKLY", 0)
        return made, cuts(next(iter(cuts_module.cuts_of(attempted(made)))))


def test_a_count_of_comparisons_holds_and_one_of_others_does_not(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparisons that make up a bucket are added together while trees over older ones part the paths."""
    kinds = {feature["kind"]: feature for feature in DRAWN_FEATURES}
    features = [kinds["bucket"], kinds["previous_action"]]
    names = make_student(features, ACTIONS[1], (), window=2).forest.features
    rng = np.random.default_rng(1)
    trees = tuple(tree(rng, names, 3, -3000, 3000) for _ in range(3))
    student = make_student(features, ACTIONS[1], trees, window=2)
    build = built(Drawn(student, "branches", "clang", "-O2"), tmp_path_factory.mktemp("count"))
    monkeypatch.setattr(cuts_module, "QUICKLY", 0)
    monkeypatch.setattr(cuts_module, "QUICKLY_MULTIPLIED", 0)
    run = attempted(build)
    found = cuts(next(iter(cuts_module.cuts_of(run))))
    again = judge(build, found)
    assert again.bound() + cycle_model(build.engine).overhead == run.worst().exact
    number, at, text = next((n, a, t) for n in again.met for a, t in found[n].holds.items() if COUNT.fullmatch(t))
    forged = replace(found[number], holds={**found[number].holds, at: re.sub(r"0\)$", "1)", text)})
    other = judge(build, (*found[:number], forged, *found[number + 1 :]))
    with suppress(Refused):
        other.bound()
    assert number not in other.met
