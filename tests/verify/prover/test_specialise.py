"""The program in the lanes: whatever a lane knows of its inputs, each node's expression and bounds hold for all of
them."""

from typing import Any

import numpy as np
from drawing import drawn_programs, drawn_students
from expression_values import value_of
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.ir.forest import Branch, Forest, Leaf, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, ProgramBuilder
from verify.prover.explore import input_ranges
from verify.prover.expressions import FIRST, MODULUS, UNKNOWN, WORD, Pool
from verify.prover.lanes import Ints, Lanes
from verify.prover.prove import unfollowed
from verify.prover.specialise import Cuts, View, _turns
from verify.prover.state import State

LANES, INPUTS = 6, 12


def view_of(program: Program, boxes: dict[str, Ints], used: tuple[int, ...] = ()) -> View:
    """Lanes that know of each input, by its name, that it lies between boxes[name] [2, lanes]."""
    state = State((), (0, b""))
    cuts = Cuts(program, state.pool)
    ranges = input_ranges(program)
    for name, (low, high) in ranges.items():
        state.base(state.pool.atom(name, low, high))
    count = next(iter(boxes.values())).shape[1]
    low, high = (np.stack([boxes[name][end] for name in ranges]) for end in (0, 1))
    none = np.zeros(count, dtype=np.int64)
    lanes = Lanes(np.zeros((0, count), dtype=np.int64), low, high, none, none, none, none, none)
    return View(state, cuts, lanes, {cuts.node(n): np.ones(count, dtype=bool) for n in used})


def whole(program: Program, lanes: int = 1) -> dict[str, Ints]:
    return {name: np.tile(np.array([ends]).T, (1, lanes)) for name, ends in input_ranges(program).items()}


def drawn_boxes(program: Program, rng: np.random.Generator) -> dict[str, Ints]:
    """A point, a few values, or the whole range."""
    boxes = {}
    for name, (low, high) in input_ranges(program).items():
        first = rng.integers(low, high, LANES, endpoint=True) >> rng.integers(0, 20, LANES)
        first = np.clip(first, low, high)
        width = rng.choice([0, 1, 7, 1000, high - low], LANES)
        boxes[name] = np.stack([first, np.minimum(first + width, high)])
    return boxes


def traced(program: Program, inputs: dict[str, Ints]) -> list[Ints]:
    parts: dict[str, dict[str, Ints]] = {"event": {}, "params": {}, "context": {}}
    for name, column in inputs.items():
        group, _, field = name.partition(".")
        parts[group][field] = column
    return trace(program, parts["event"], parts["params"], parts["context"])


def held(program: Program, seed: int) -> int:
    """Checks every node in every lane on inputs of the lane; how many expressions there were."""
    rng = np.random.default_rng(seed)
    boxes = drawn_boxes(program, rng)
    view, told = view_of(program, boxes), 0
    for lane in range(LANES):
        inputs = {
            name: rng.integers(low[lane], high[lane], INPUTS, endpoint=True).astype(np.int64)
            for name, (low, high) in boxes.items()
        }
        for name, (low, high) in boxes.items():
            inputs[name][:2] = low[lane], high[lane]
        values = traced(program, inputs)
        atoms = {view.pool.atom(name): column for name, column in inputs.items()}
        for n in range(len(program.nodes)):
            low, high = view.bounds(n)
            assert int(low[lane]) <= int(values[n].min()) <= int(values[n].max()) <= int(high[lane]), n
            word = int(view.words(n)[lane])
            if word == UNKNOWN:
                continue
            told += 1
            for row in range(INPUTS):
                here = {atom: int(column[row]) & WORD for atom, column in atoms.items()}
                named = {view.cuts.tree(k): k for k in range(len(view.cuts.leaf_ranges))}
                here |= {
                    atom: leaf(program, values, named[atom], row) & WORD
                    for atom in view.pool.atoms(word) & named.keys()
                }
                assert value_of(view.pool, word, here) == int(values[n][row]) & WORD, n
    assert view.possible.all()  # some input takes each lane
    return told


def leaf(program: Program, values: list[Ints], k: int, row: int) -> int:
    """What tree k (as in Cuts) adds in a row: what a leaf's own name stands for."""
    trees = program.forest.trees
    args = next(node.args for node in program.nodes if node.op is Op.TREES)
    node: Any = trees[k % len(trees)]
    while isinstance(node, Branch):
        node = node.above if int(values[args[node.feature]][row]) > node.threshold else node.below
    assert isinstance(node, Leaf)
    return node.value[k // len(trees)]


@settings(max_examples=examples(40))
@given(drawn_programs(nodes=25), st.integers(0, 2**32))
def test_every_node_is_what_its_lane_says_in_any_program(program: Program, seed: int) -> None:
    assume(not unfollowed(program, 0))
    assert held(program, seed) > 0


@settings(max_examples=examples(15))
@given(drawn_students(windows=2, trees=4), st.integers(0, 2**32))
def test_every_node_is_what_its_lane_says_in_a_students_program(student: Any, seed: int) -> None:
    assert held(student.program(), seed) > 0


@settings(max_examples=examples(40))
@given(drawn_programs(nodes=25), st.integers(0, 2**32))
def test_every_node_is_a_multiple_of_its_step_in_any_program(program: Program, seed: int) -> None:
    boxes = drawn_boxes(program, np.random.default_rng(seed))
    steps = Cuts(program, Pool()).steps
    for values, step in zip(traced(program, {name: ends[0] for name, ends in boxes.items()}), steps, strict=True):
        assert all(int(value) % step == 0 for value in values)


# --- one thing at a time ---------------------------------------------------------------------------------------------


def built(make: Any, forest: Forest | None = None) -> tuple[Program, int]:
    """The program whose result is ``make(builder)``, and that node."""
    b = ProgramBuilder(forest or Forest((), (), (0,), 0), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    node = make(b)
    b.state_out("rate_q30", b.const(0))
    program = b.finish(b.add(Op.MIN, (b.add(Op.MAX, (node, b.const(0))), b.const(WORD))))
    wanted = b.nodes[node]
    return program, next(n for n, other in enumerate(program.nodes) if other == wanted)


def boxed(program: Program, **boxes: list[tuple[int, int]]) -> dict[str, Ints]:
    lanes = len(next(iter(boxes.values())))
    narrowed = {f"event.{name}": np.array(ends, dtype=np.int64).T for name, ends in boxes.items()}
    return whole(program, lanes) | narrowed


def test_a_minimum_is_the_operand_that_the_lane_decides() -> None:
    program, node = built(lambda b: b.add(Op.MIN, (b.event("request_sent_ns"), b.event("response_ns"))))
    view = view_of(
        program,
        boxed(program, request_sent_ns=[(0, 5), (9, 20), (0, 9)], response_ns=[(5, 9), (0, 8), (5, 9)]),
    )
    sent, response = (view.pool.atom(f"event.{name}") for name in ("request_sent_ns", "response_ns"))
    assert view.words(node).tolist() == [sent, response, UNKNOWN]
    assert [end.tolist() for end in view.bounds(node)] == [[0, 0, 0], [5, 8, 9]]


def test_a_word_beside_itself_without_its_lowest_bit_is_greater_by_that_bit() -> None:
    def odd(b: ProgramBuilder, low: int) -> int:
        word = b.event("request_sent_ns")
        return b.add(Op.GT, (word, b.add(Op.SHL, (b.add(Op.SHR, (word,), low),), low)))

    program, node = built(lambda b: odd(b, 1))
    view = view_of(program, whole(program))
    assert view.words(node).tolist() == [view.pool.make("and", view.pool.atom("event.request_sent_ns"), 1)]
    program, node = built(lambda b: odd(b, 2))
    assert view_of(program, whole(program)).words(node).tolist() == [UNKNOWN]


def test_quotients_are_multiples_of_the_bits_that_are_not_there_yet() -> None:
    def quotient(b: ProgramBuilder) -> int:
        first = b.add(Op.GT, (b.event("request_sent_ns"), b.event("response_ns")))
        high = b.add(Op.SELECT, (first, b.const(8), b.const(0)))
        second = b.add(Op.GT, (b.event("response_ns"), b.event("queue_bytes")))
        return b.add(Op.SELECT, (second, b.add(Op.ADD, (high, b.const(4))), high))

    program, node = built(quotient)
    cuts = Cuts(program, Pool())
    assert cuts.steps[node] == 4
    assert cuts.pool.make("or", cuts.node(node), 3) == cuts.pool.sum(3, ((cuts.node(node), 1),))


def test_what_a_fact_says_of_a_comparison_decides_it() -> None:
    program, node = built(lambda b: b.add(Op.GT, (b.event("request_sent_ns"), b.event("response_ns"))))
    view = view_of(program, whole(program, 3))
    sent, response = (view.pool.atom(f"event.{name}") for name in ("request_sent_ns", "response_ns"))
    less = view.pool.make("sltu", response, sent)
    view.lanes.facts = np.array(
        [0, view.state.facts(frozenset({(less, True)})), view.state.facts(frozenset({(less, False)}))]
    )
    assert view.words(node).tolist() == [UNKNOWN, 1, 0]


def test_a_node_of_one_value_is_that_constant() -> None:
    program, node = built(lambda b: b.add(Op.ADD, (b.event("request_sent_ns"), b.const(7))))
    program_, narrow = built(lambda b: b.add(Op.SHR, (b.event("request_sent_ns"),), 4))
    assert view_of(program_, boxed(program_, request_sent_ns=[(32, 47)])).words(narrow).tolist() == [2]
    view = view_of(program, boxed(program, request_sent_ns=[(5, 5)]))
    assert [int(end[0]) for end in view.bounds(node)] == [12, 12]


def test_a_tree_is_the_leaf_that_the_box_leaves_or_its_own_name() -> None:
    forest = Forest(("signal",), (oblivious([(0, 100)], [-5, 7]), oblivious([(0, 200)], [10, 20])), (1000,), 0)
    program, node = built(lambda b: b.add(Op.TREES, (b.add(Op.SHR, (b.event("request_sent_ns"),), 16),)), forest)
    ends = [(0, 100), (101, 200), (100, 101), (0, 65535)]
    view = view_of(program, boxed(program, request_sent_ns=[(a << 16, (b << 16) + 65535) for a, b in ends]))
    assert view.tree(0).tolist() == [(-5) & WORD, 7, view.cuts.tree(0), view.cuts.tree(0)]
    assert view.tree(1).tolist() == [10, 10, 10, view.cuts.tree(1)]
    assert [end.tolist() for end in view.bounds(node)] == [[1005, 1017, 1005, 1005], [1005, 1017, 1017, 1027]]
    constant, terms = view.pool.linear(int(view.words(node)[3]))
    assert (constant, dict(terms)) == (1000, {view.cuts.tree(0): 1, view.cuts.tree(1): 1})


def test_answers_that_exclude_each_other_lead_to_no_leaf() -> None:
    """Above 200 but not above 100: no leaf, whatever the box."""
    forest = Forest(("signal",), (oblivious([(0, 100), (0, 200)], [1, 2, 999, 4]),), (0,), 0)
    program, node = built(lambda b: b.add(Op.TREES, (b.event("request_sent_ns"),)), forest)
    view = view_of(program, whole(program))
    assert [int(end[0]) for end in view.bounds(node)] == [1, 4]
    assert [box.value for box in view.cuts.boxes[0]] == [(4,), (2,), (1,)]


def test_a_name_that_registers_hold_stands_for_its_node() -> None:
    """A cut: where lanes hold it, the node is that atom, and what is made of the node is made of it."""
    program, node = built(lambda b: b.add(Op.SHR, (b.add(Op.SHR, (b.event("request_sent_ns"),), 3),), 2))
    inner = program.nodes[node].args[0]
    free, cut = view_of(program, whole(program)), view_of(program, whole(program), used=(inner,))
    assert int(cut.words(inner)[0]) == cut.cuts.node(inner)
    assert cut.pool.atoms(int(cut.words(node)[0])) == {cut.cuts.node(inner)}
    assert free.pool.atoms(int(free.words(node)[0])) == {free.pool.atom("event.request_sent_ns")}


def test_a_lane_that_the_program_excludes_is_not_possible() -> None:
    """Trees that add 5 to 27 cannot be 28; a lane that has found them to be is of no input."""
    forest = Forest(("signal",), (oblivious([(0, 100)], [5, 7]), oblivious([(0, 200)], [0, 20])), (0,), 0)
    program, node = built(lambda b: b.add(Op.TREES, (b.event("request_sent_ns"),)), forest)
    view = view_of(program, whole(program, 3))
    row = view.state.base(int(view.words(node)[0]))
    view.state.widen(view.lanes)
    for value, possible in ((28, False), (4, False), (27, True)):
        view.lanes.low[row] = view.lanes.high[row] = [5, value, 27]
        again = View(view.state, view.cuts, view.lanes, {})
        again.bounds(node)
        assert again.possible.tolist() == [True, possible, True]


def test_what_was_learnt_of_a_node_is_not_looked_for() -> None:
    program, node = built(lambda b: b.add(Op.SHR, (b.event("request_sent_ns"),), 3))
    view = view_of(program, whole(program, 2))
    view.learn(node, np.array([7, FIRST], dtype=np.int64))
    assert view.words(node).tolist() == [7, FIRST]


@given(st.lists(st.tuples(*[st.integers(-(2**33), 2**33)] * 4), min_size=1, max_size=4))
def test_the_turns_that_are_left_out_meet_no_bounds(ends: list[tuple[int, int, int, int]]) -> None:
    """Of the three multiples of 2^32 by which a word's range may stand for a node's."""
    first, last, least, most = (np.array(column, dtype=np.int64) for column in zip(*ends, strict=True))
    left = {-MODULUS, 0, MODULUS} - set(_turns(first, last, least, most))
    assert not any(((first + turn <= most) & (last + turn >= least)).any() for turn in left)


def test_a_node_is_held_under_the_name_of_what_it_is_made_of() -> None:
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    few = b.add(Op.MIN, (b.event("nack_count"), b.const(7)))
    more = b.add(Op.GT, (b.event("cnp_count"), b.const(5)))
    total = b.add(Op.ADD, (few, more))
    program = b.finish(total)
    boxes = whole(program, lanes=2)
    boxes["event.cnp_count"] = np.array([[0, 6], [5, 9]])
    view = view_of(program, boxes, used=(few, total))
    for n, held_in in ((total, [True, True]), (few, [True, False]), (more, [False, False])):
        assert view.holds(total, np.full(2, view.cuts.node(n))).tolist() == held_in
