"""What cuts say: no more than paths from the last ones before can find out, and what is needed behind them."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from options_by_hand import cuts
from students_drawn import Drawn, built

from bench.drawn.students import drawn
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.build import Build
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.prover import cuts as cuts_module
from verify.prover.cuts import JoinCut
from verify.prover.expressions import Pool
from verify.prover.joins import Meeting
from verify.prover.prove import ENTRY, Attempt, Limits
from verify.prover.steps import Watcher, _by_cell, _Cells
from verify.trusted.certificate import CutClaim
from verify.trusted.costs import cycle_model


def student(seed: int, folder: Path, compiler: str = "clang") -> tuple[Build, Attempt]:
    """A student of ``bench.drawn`` and its proof."""
    build = built(Drawn(drawn(seed), "auto", compiler, "-O2"), folder)
    model = cycle_model(build.engine)
    run = Attempt(build.image, build.program, build.firmware.layouts, build.engine, model, Limits())
    assert not run.execute()
    return build, run


def unmet(build: Build, found: tuple[Cut, ...]) -> set[int]:
    """Addresses of cuts that no path comes to; Refused where something is not as it should be."""
    judge = followed(build, found)
    return {cut.pc for number, cut in enumerate(found) if number not in judge.met}


def followed(build: Build, found: tuple[Cut, ...]) -> Judge:
    """The checker, which has walked all paths; Refused where something is not as it should be."""
    entry, stack = build.image.symbols[ENTRY], build.engine.limits.stack_bytes
    model = cycle_model(build.engine)
    judge = Judge(build.image, entry, build.program, build.firmware.layouts, found, model, stack, Oracle())
    judge.bound()
    return judge


@pytest.mark.slow
def test_a_cut_behind_those_that_hold_a_quotient_does_not_say_how_it_came_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, run = student(46, tmp_path)
    assert unmet(build, cuts(cuts_module.cuts_of(run))) == set()
    monkeypatch.setattr(cuts_module, "_forgotten", lambda *_: False)
    assert len(unmet(build, cuts(cuts_module.cuts_of(run)))) == 1


@pytest.mark.slow
def test_a_product_within_a_product_has_the_name_that_a_place_holds_it_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, run = student(99, tmp_path)
    assert unmet(build, cuts(cuts_module.cuts_of(run))) == set()
    text = Pool.text
    monkeypatch.setattr(Pool, "text", lambda pool, word, names=None: text(pool, word))
    assert len(unmet(build, cuts(cuts_module.cuts_of(run)))) == 1


@pytest.mark.slow
def test_what_paths_know_apart_is_not_told_together_and_what_they_find_out_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flow that brakes comes from a new one or from the last phases; of one that does not nothing else is left."""
    build, run = student(35, tmp_path)
    assert unmet(build, cuts(cuts_module.cuts_of(run))) == set()
    monkeypatch.setattr(Watcher, "_apart", lambda *_: False)
    with pytest.raises(Refused, match="function leaves another"):
        unmet(build, cuts(cuts_module.cuts_of(run)))
    monkeypatch.undo()
    monkeypatch.setattr(cuts_module, "_found_since", lambda *_: set())
    with pytest.raises(Refused, match="function returns another"):
        unmet(build, cuts(cuts_module.cuts_of(run)))


def claim(**bounds: int) -> CutClaim:
    return CutClaim(pc=0, holds={}, bounds={name.replace("_", "."): [n, n] for name, n in bounds.items()})


NONE = np.zeros(0, dtype=np.int64)


def placed(number: int, cut: CutClaim) -> JoinCut:
    return JoinCut(Meeting(number, NONE, NONE, NONE), cut)


@pytest.mark.slow
@pytest.mark.parametrize("number", [18, 63, 64])
def test_a_certificate_of_many_paths_by_gcc_holds(number: int, tmp_path: Path) -> None:
    """18: one product by two names; 63: hundreds of joins; 64: a sum whose ends GCC knows."""
    build, run = student(number, tmp_path, "gcc")
    assert followed(build, cuts(cuts_module.cuts_of(run))).walked < 2_000


def test_a_value_behind_the_trees_is_told_by_what_it_is_by_what_each_tree_adds_and_not_at_all() -> None:
    """Two trees of leaves 0 and 8; at the join the first adds 0 to 3 and the second 8; a cut before holds the first."""
    program = doubled()
    (total, twice) = (n for n, node in enumerate(program.nodes) if node.op in (Op.TREES, Op.SHL))
    run: Any = SimpleNamespace(program=program, cuts=SimpleNamespace(leaf_ranges=[(0, 8), (0, 8)]))
    name = f"node.{twice}"
    at = CutClaim(pc=0, holds={"x5": name}, bounds={name: [16, 18], "node.0": [1, 1]})
    meeting = replace(placed(1, at).meeting, leaves=np.array([[0, 3], [8, 8]]))
    before = {f"node.{n}" for n in range(total)}

    def told(*last: CutClaim) -> list[Any]:
        variants = cuts_module._variants(run, JoinCut(meeting, at), list(last), before)
        assert all(p.cut.bounds["node.0"] == [1, 1] for p in variants)
        return [p.cut.bounds.get(name) for p in variants]

    step = CutClaim(pc=0, holds={"x5": "(+ tree.0 7)"}, bounds={})
    assert told() == [[16, 18], [16, 22], None]
    assert told(step) == [[16, 18], [16, 32], None]
    assert told(step.model_copy(update={"bounds": {"tree.0": [0, 4]}})) == [[16, 18], [16, 24], None]


def doubled() -> Program:
    """Twice the sum of two trees with leaves 0 and 8."""
    b = ProgramBuilder(Forest(("f",), (oblivious(((0, 5),), (0, 8)),) * 2, (0,), 16), FLOW_RATE)
    return b.finish(b.add(Op.SHL, (b.add(Op.TREES, (b.event("response_ns"),)),), 1))


def test_what_was_known_at_the_last_cuts_and_not_said_is_left_out() -> None:
    """Position 0 leads to 1 and 2, both to 3; at 4 it is the cut at 3 that was the last."""
    following = [[1, 2], [3], [3], [4], []]
    run: Any = SimpleNamespace(graph=SimpleNamespace(positions=[SimpleNamespace(following=f) for f in following]))
    known = [claim(node_1=1, node_2=2, node_3=3), claim(node_1=1, node_3=4)]
    apart = [placed(1, claim(node_2=2)), placed(2, claim(node_2=2))]
    everything = claim(node_1=1, node_2=2, node_3=3, node_4=4)
    left = cuts_module._without_forgotten(run, [placed(4, everything), placed(3, everything)], apart, known)
    assert [(p.number, p.cut) for p in left] == [(n, claim(node_2=2, node_4=4)) for n in (3, 4)]
    (alone,) = cuts_module._without_forgotten(run, [placed(3, everything)], [], [])
    assert alone.cut == everything


def chosen() -> Program:
    """4: a > b; 5: c > b; 6: one of both; 7: a, or b where one of both."""
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    first, second, third = (b.event(name) for name in ("response_ns", "request_sent_ns", "queue_bytes"))
    over, under = b.add(Op.GT, (first, second)), b.add(Op.GT, (third, second))
    either = b.add(Op.MAX, (over, under))
    return b.finish(b.add(Op.SELECT, (either, second, first)))


CHOSEN = chosen()
OVER, UNDER = (n for n, node in enumerate(CHOSEN.nodes) if node.op is Op.GT)
EITHER = next(n for n, node in enumerate(CHOSEN.nodes) if node.op is Op.MAX)


@pytest.mark.parametrize(
    ("decided", "said", "since"),
    [
        (set(), {}, {OVER, UNDER, EITHER}),
        ({OVER}, {}, {UNDER}),  # what follows from it need not be found again
        ({OVER}, {f"node.{OVER}": [0, 0]}, {OVER, UNDER, EITHER}),
        ({OVER, UNDER, EITHER}, {f"node.{EITHER}": [0, 0]}, {EITHER}),
        ({EITHER}, {}, {OVER, UNDER}),
    ],
)
def test_a_number_is_found_since_where_no_path_had_it_nor_what_it_is_made_of(
    decided: set[int], said: dict[str, list[int]], since: set[int]
) -> None:
    bounds = {f"node.{n}": [0, 0] for n in (OVER, UNDER, EITHER)}
    cut = CutClaim(pc=4, holds={}, bounds={**bounds, "event.queue_bytes": [3, 3], f"node.{CHOSEN.result}": [0, 7]})
    before = (CutClaim(pc=0, holds={}, bounds=said), frozenset(decided))
    nothing = (CutClaim(pc=0, holds={}, bounds={}), frozenset[int]())
    assert cuts_module._found_since(CHOSEN, cut, [before]) == {f"node.{n}" for n in since}
    held = (CutClaim(pc=0, holds={f"x{5 + k}": text for k, text in enumerate(said)}, bounds={}), frozenset(decided))
    assert cuts_module._found_since(CHOSEN, cut, [nothing, held]) == {f"node.{n}" for n in since}


@pytest.mark.parametrize(
    ("numbers", "apart"),
    [
        ({}, False),
        ({OVER: ([1, 1, 1, 1], [1, 1, 1, 1])}, False),  # all know it
        ({OVER: ([0, 0, 0, 0], [1, 1, 1, 1])}, False),  # nobody does
        ({OVER: ([0, 0, 1, 1], [0, 0, 1, 1])}, False),  # by the cell
        ({OVER: ([0, 1, 0, 1], [0, 1, 0, 1])}, True),
        ({OVER: ([0, 0, 0, 1], [1, 1, 1, 1])}, True),  # one does
        ({EITHER: ([0, 1, 0, 1], [0, 1, 0, 1])}, True),
        ({CHOSEN.result: ([0, 7, 0, 7], [0, 7, 0, 7])}, False),  # a place holds it
    ],
)
def test_lanes_are_apart_that_know_different_numbers_in_one_cell(
    numbers: dict[int, tuple[list[int], list[int]]], apart: bool
) -> None:
    held = 900 + CHOSEN.result
    cells = [_Cells("a", False, np.array([5]), np.array([5]), np.array([0, 0, 1, 1]))]

    def watcher(**changes: Any) -> Any:
        of = {
            "program": CHOSEN,
            "state": SimpleNamespace(pool=SimpleNamespace(atoms=lambda word: {word} if word >= 900 else set())),
            "cuts": SimpleNamespace(narrow=lambda _: True),
            "features": (),
            "computed": [OVER, UNDER, EITHER, CHOSEN.result],
            "behind": [set[int]() for _ in CHOSEN.nodes],
            "_atom": lambda n: 900 + n,
        }
        return SimpleNamespace(**{**of, **changes})

    def bounds(n: int) -> tuple[Any, Any]:
        low, high = numbers.get(n, ([0] * 4, [9] * 4))
        return np.array(low), np.array(high)

    open_: Any = SimpleNamespace(lanes=SimpleNamespace(values=np.array([[7] * 4, [7, 8, 7, 8]])), bounds=bounds)
    by_value: Any = SimpleNamespace(lanes=SimpleNamespace(values=np.array([[held] * 4])), bounds=bounds)
    if CHOSEN.result not in numbers:
        assert Watcher._apart(watcher(), open_, {}, cells) is apart
        if apart:  # of what is behind the trees, or a feature is made of, nothing is lost
            assert not Watcher._apart(watcher(behind=[{0} for _ in CHOSEN.nodes]), open_, {}, cells)
            assert not Watcher._apart(watcher(features=(CHOSEN.result,)), open_, {}, cells)
    assert not Watcher._apart(watcher(), open_, {5: held}, cells)
    assert not Watcher._apart(watcher(), by_value, {}, cells)


def test_a_column_is_by_cell_where_each_cell_has_one_value() -> None:
    cells = _Cells("a", False, np.array([5]), np.array([5]), np.array([0, 0, 1, 1]))
    for column, wanted in (([3, 3, 4, 4], True), ([3, 3, 3, 3], True), ([3, 4, 4, 4], False), ([3, 4, 3, 4], False)):
        assert _by_cell(np.array(column), cells) is wanted


def test_words_in_an_expression_have_their_names() -> None:
    pool = Pool()
    a, b, square = pool.atom("event.a"), pool.atom("event.b"), pool.atom("node.7")
    squared = pool.make("mul", a, a)
    word = pool.make("mulhu", pool.make("add", squared, b), squared)
    assert pool.text(word) == pool.text(word, {}) != pool.text(word, {squared: square})
    assert "event.a" not in pool.text(word, {squared: square})
    assert pool.text(word, {word: square}) == "node.7"
    assert pool.text(pool.sum(4, [(squared, 3), (b, 1)]), {squared: square}).count("node.7") == 1
