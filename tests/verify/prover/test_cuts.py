"""What cuts say: no more than paths from the last ones before can find out, and what is needed behind them."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from options_by_hand import cuts
from students_drawn import Drawn, built

from bench.drawn.students import drawn
from bench.drawn.wide import drawn_wide
from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from decision.policy.student import Student
from emulator.build import Build
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.prover import cuts as cuts_module
from verify.prover.equality import Returns
from verify.prover.expressions import Pool
from verify.prover.prove import ENTRY, Attempt, Limits
from verify.prover.specialise import Cuts
from verify.prover.steps import Watcher, _by_cell, _Cells
from verify.trusted.certificate import CutClaim
from verify.trusted.costs import cycle_model


def student(seed: int, folder: Path, compiler: str = "clang") -> tuple[Build, Attempt]:
    """A student of ``bench.drawn`` and its proof."""
    return proved(drawn(seed), folder, compiler)


def proved(one: Student, folder: Path, compiler: str = "clang") -> tuple[Build, Attempt]:
    build = built(Drawn(one, "auto", compiler, "-O2"), folder)
    model = cycle_model(build.engine)
    run = Attempt(build.image, build.program, build.firmware.layouts, build.engine, model, Limits())
    assert not run.execute()
    return build, run


def unmet(build: Build, found: tuple[Cut, ...]) -> set[int]:
    """Addresses of cuts that no path comes to; Refused where something is not as it should be."""
    entry, stack = build.image.symbols[ENTRY], build.engine.limits.stack_bytes
    model = cycle_model(build.engine)
    judge = Judge(build.image, entry, build.program, build.firmware.layouts, found, model, stack, Oracle())
    judge.bound()
    return {cut.pc for number, cut in enumerate(found) if number not in judge.met}


@pytest.mark.slow
def test_a_cut_behind_those_that_hold_a_quotient_does_not_say_how_it_came_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, run = student(46, tmp_path)
    assert unmet(build, cuts(next(iter(cuts_module.cuts_of(run))))) == set()
    monkeypatch.setattr(cuts_module, "_forgotten", lambda *_: False)
    assert len(unmet(build, cuts(next(iter(cuts_module.cuts_of(run)))))) == 1


@pytest.mark.slow
def test_a_product_within_a_product_has_the_name_that_a_place_holds_it_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build, run = student(99, tmp_path)
    assert unmet(build, cuts(next(iter(cuts_module.cuts_of(run))))) == set()
    text = Pool.text
    monkeypatch.setattr(Pool, "text", lambda pool, word, names=None: text(pool, word))
    assert len(unmet(build, cuts(next(iter(cuts_module.cuts_of(run)))))) == 4


@pytest.mark.slow
def test_what_paths_find_out_behind_the_last_cuts_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A flow that brakes comes from a new one or from the last phases; of one that does not nothing else is left."""
    build, run = student(35, tmp_path)

    def usual() -> tuple[Cut, ...]:
        form, *_ = cuts_module.cuts_of(run)
        return cuts(form)

    assert unmet(build, usual()) == set()
    monkeypatch.setattr(cuts_module, "_found_since", lambda *_: set())
    with pytest.raises(Refused, match="function returns another"):
        unmet(build, usual())


@pytest.mark.slow
@pytest.mark.parametrize("number", [18, 63, 64])
def test_a_form_holds_where_code_of_gcc_leaves_more_paths_than_are_quickly_followed(
    number: int, tmp_path: Path
) -> None:
    """18: one product by two names; 63: hundreds of joins; 64: a sum whose ends GCC knows."""
    build, run = student(number, tmp_path, "gcc")
    assert any(followed(build, cuts(form)) for form in cuts_module.cuts_of(run))


def followed(build: Build, found: tuple[Cut, ...]) -> bool:
    """Whether the checker follows these cuts."""
    try:
        unmet(build, found)
    except Refused:
        return False
    return True


def test_a_quotient_keeps_its_name_behind_each_cut_that_holds_what_follows_from_it(tmp_path: Path) -> None:
    """It does so too if nothing is known of it: else the solver is asked about the division for each tree."""
    _, run = student(0, tmp_path)
    quotient = next(node.args for node in run.program.nodes if node.op is Op.TREES)[0]
    rank = next(field.node for field in run.program.state if field.name.endswith("_rank"))
    named = f"(eq node.{quotient} node.{quotient})"
    usual, every, _ = cuts_module.cuts_of(run)
    assert len(usual) < len(every)
    behind = [
        cut
        for cut in (*usual, *every)
        if f"node.{rank}" in cut.holds.values() and f"node.{quotient}" not in cut.holds.values()
    ]
    assert any(f"node.{quotient}" not in cut.bounds for cut in behind)
    assert all(named in cut.bounds for cut in behind)


def claim(**bounds: int) -> CutClaim:
    return CutClaim(pc=0, holds={}, bounds={name.replace("_", "."): [n, n] for name, n in bounds.items()})


@pytest.mark.slow
def test_what_paths_know_apart_is_not_told_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build, run = student(66, tmp_path)
    form, *_ = cuts_module.cuts_of(run)
    assert unmet(build, cuts(form)) == set()
    monkeypatch.setattr(Watcher, "_apart", lambda *_: False)
    form, *_ = cuts_module.cuts_of(run)
    with pytest.raises(Refused, match="leaves another value"):
        unmet(build, cuts(form))


@pytest.mark.slow
def test_what_a_trigger_decided_is_told_where_nothing_of_its_sum_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nobody knows whether the trigger has fired: of a function that saves what the agent saw only if it has, the
    context would not be shown to be right."""
    build, run = proved(drawn_wide(8), tmp_path)
    form, *_ = cuts_module.cuts_of(run)
    assert unmet(build, cuts(form)) == set()
    monkeypatch.setattr(cuts_module, "_parts_held", lambda *_: set())
    form, *_ = cuts_module.cuts_of(run)
    with pytest.raises(Refused, match="leaves another value"):
        unmet(build, cuts(form))


WIDE, EVERY = {1}, {1, 2}


@pytest.mark.parametrize(
    ("wide", "every", "alone", "tried", "places"),
    [
        (20_000, 100, False, [(WIDE, False), (WIDE, True)], False),
        (20_001, 100, False, [(WIDE, False), (EVERY, True), (WIDE, True)], True),
        (400, 100, True, [(EVERY, True), (WIDE, False), (WIDE, True)], False),
        (399, 100, True, [(WIDE, False), (WIDE, True)], False),
        (10**6, 20_001, True, [(WIDE, False), (WIDE, True)], False),
    ],
)
def test_cuts_at_every_join_come_first_where_paths_join_by_leaves_and_they_leave_far_fewer(
    wide: int,
    every: int,
    alone: bool,
    tried: list[tuple[set[int], bool]],
    places: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The three joins at position 2 are of too few lanes for wide cuts."""
    meetings = [None, *(SimpleNamespace(number=n, origins=[0]) for n in (1, 2, 2, 2))]
    run: Any = SimpleNamespace(joiner=SimpleNamespace(meetings=meetings), program=None)
    monkeypatch.setattr(cuts_module, "_paths", lambda _, at: {1: wide, 2: every}[len(at)])
    monkeypatch.setattr(cuts_module, "_multiplies", lambda _: False)
    monkeypatch.setattr(cuts_module, "_by_leaves_alone", lambda _: alone)
    monkeypatch.setattr(cuts_module, "_form", lambda run, joins, at, *, comparisons, watched: (sorted(at), comparisons))
    forms = cuts_module.cuts_of(run)
    assert list(forms) == [(sorted(at), comparisons) for at, comparisons in tried]
    assert forms.places is places


def test_a_walk_for_the_sums_of_steps_proves_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, run = student(3, tmp_path)
    compared = run.again()
    assert not compared.execute(Watcher)
    assert isinstance(compared.joiner, Watcher)
    forms = [cuts_module._with_steps(compared, compared.joiner, [], comparisons=True)]
    monkeypatch.setattr(Returns, "check", lambda *_: pytest.fail("compared again"))
    forms += [cuts_module._with_steps(*cuts_module._watched(run), [], comparisons=True)]
    assert forms[0] == forms[1] != []


def test_what_was_known_at_the_last_cuts_and_not_said_is_left_out() -> None:
    """Position 0 leads to 1 and 2, both to 3; at 4 it is the cut at 3 that was the last."""
    following = [[1, 2], [3], [3], [4], []]
    run: Any = SimpleNamespace(graph=SimpleNamespace(positions=[SimpleNamespace(following=f) for f in following]))
    known = [claim(node_1=1, node_2=2, node_3=3), claim(node_1=1, node_3=4)]
    apart = [(1, claim(node_2=2)), (2, claim(node_2=2))]
    everything = claim(node_1=1, node_2=2, node_3=3, node_4=4)
    left = cuts_module._without_forgotten(run, [(4, everything), (3, everything)], apart, known)
    assert left == [(3, claim(node_2=2, node_4=4)), (4, claim(node_2=2, node_4=4))]
    assert cuts_module._without_forgotten(run, [(3, everything)], [], []) == [(3, everything)]


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


def triggered() -> Program:
    """Two sums of one tree each; the rest follows from them."""
    b = ProgramBuilder(Forest(("a",), (Branch(0, 7, Leaf((1, 2)), Leaf((3, 4))),), (0, 0), 16), FLOW_RATE)
    asked = b.event("queue_bytes")
    sums = [b.add(Op.TREES, (asked,), imm) for imm in (0, 1)]
    fired = b.add(Op.GT, (sums[1], b.const(2)))
    return b.finish(b.add(Op.SELECT, (fired, sums[0], b.const(0))))


def test_what_follows_from_a_sum_is_told_where_no_part_of_it_is_held_nor_will_be() -> None:
    """From position 0 two ways lead to 4: by 1 and 2, or by 3."""
    program = triggered()
    first, second = (n for n, node in enumerate(program.nodes) if node.op is Op.TREES)
    fired = next(n for n, node in enumerate(program.nodes) if node.op is Op.GT)
    following = [[1, 3], [2], [4], [4], []]
    graph = SimpleNamespace(positions=[SimpleNamespace(following=f) for f in following])
    of = {first: {first}, second: {second}, fired: {second}, program.result: {first, second}}
    behind = [of.get(n, set()) for n in range(len(program.nodes))]
    run: Any = SimpleNamespace(graph=graph, joiner=SimpleNamespace(behind=behind), program=program)
    bounds = {"event.queue_bytes": [0, 7], f"node.{fired}": [1, 1], f"node.{second}": [3, 4]}
    bounds |= {f"node.{first}": [1, 3], f"node.{program.result}": [1, 1]}

    def left(*held: tuple[int, str]) -> dict[int, set[int]]:
        asked = [(n, CutClaim(pc=n, holds={"x5": word} if word else {}, bounds=bounds)) for n, word in held]
        known = {n: set(cut.bounds) for n, cut in cuts_module._without_ongoing(run, asked)}
        assert all("event.queue_bytes" in names for names in known.values())
        return {n: {int(name[5:]) for name in names if name.startswith("node")} for n, names in known.items()}

    assert left((2, "")) == {2: set()}  # nobody knows whether the trees come yet
    for part in ("tree.1", "(+ sum.1 2)"):
        assert left((0, ""), (1, part), (2, ""), (3, "")) == {0: set(), 1: set(), 2: {fired}, 3: {fired}}
    assert left((1, "(+ tree.0 tree.1)"), (2, "")) == {1: set(), 2: {fired, program.result}}
    assert left((1, "tree.1"), (2, "tree.1")) == {1: set(), 2: set()}
    assert left((1, "tree.1"), (2, f"node.{second}")) == {1: set(), 2: {fired, second}}
    assert left((1, "tree.0"), (2, "tree.1"), (3, ""), (4, f"node.{first}")) == {
        1: set(), 2: set(), 3: {fired, program.result}, 4: {fired, first, program.result}
    }  # fmt: skip


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
            "cuts": SimpleNamespace(narrow=lambda _: True, atom=lambda n: 900 + n),
            "features": (),
            "computed": [OVER, UNDER, EITHER, CHOSEN.result],
            "behind": [set[int]() for _ in CHOSEN.nodes],
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


def test_a_difference_that_a_place_holds_is_held_under_any_spelling() -> None:
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    response, sent = b.event("response_ns"), b.event("request_sent_ns")
    rtt, most = b.add(Op.WRAP_SUB, (response, sent)), b.param("rate_max_q30")
    program, pool = b.finish(b.add(Op.MIN, (rtt, most))), Pool()
    of = Cuts(program, pool)
    run: Any = SimpleNamespace(program=program, cuts=of, state=SimpleNamespace(pool=pool))
    difference = pool.make("sub", of.atom(response), of.atom(sent))
    assert cuts_module._spelt_out(run, {difference, of.atom(most)}) == {rtt}
    assert cuts_module._spelt_out(run, {pool.make("sub", of.atom(sent), of.atom(response))}) == set()
    assert of.atom(response) == pool.atom("event.response_ns") != of.node(response)


def test_a_feature_is_over_where_only_what_follows_from_it_is_left() -> None:
    """2: a feature, made of 1; 3 follows from it."""
    made: dict[int, tuple[int, ...]] = {0: (), 1: (0,), 2: (1,), 3: (2,), 4: (0,)}
    run: Any = SimpleNamespace(
        program=SimpleNamespace(nodes=[SimpleNamespace(args=args) for args in made.values()]),
        joiner=SimpleNamespace(computed=[1, 2, 3, 4], features=(2, 0)),
    )
    for held, numbered, over in (
        ({3}, set(), {2}),
        (set(), {3}, {2}),
        ({2, 3}, set(), set()),
        ({1, 3}, set(), set()),
        ({3}, {2}, set()),
        ({4}, set(), set()),
    ):
        assert cuts_module._over(run, held, numbered) == over
