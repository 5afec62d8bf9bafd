"""Where paths meet: lanes become one only under names of the program, and what is kept of them holds in all of them."""

import decision_by_hand as hand
import numpy as np
import pytest

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.quotients import Division, divided
from emulator.profile import load_profile
from verify.code.graph import Graph, build_graph
from verify.prover import joins
from verify.prover.expressions import UNKNOWN, WORD
from verify.prover.joins import Joiner, _classes, _decided, _in_order, _products, _shift, _wanted
from verify.prover.lanes import Ints, Lanes
from verify.prover.lanes import joined as side_by_side
from verify.prover.partial_sums import _offset, combined
from verify.prover.prove import structures
from verify.prover.specialise import Cuts
from verify.prover.state import State
from verify.trusted.costs import cycle_model
from verify.trusted.machine import decode

MODEL = cycle_model(load_profile("ibex-small"))
WRITE = list(hand.CODE).index("write")


def column(*values: int) -> Ints:
    return np.array(values, dtype=np.int64)


class Meeting:
    """The decision by hand at its store: least = min(rtt, rate_max) is in t0 on both paths, under another name."""

    def __init__(self, program: Program = hand.PROGRAM, *, care: int = 0, give_up: int = 100) -> None:
        self.state = State(structures(program, hand.LAYOUTS), (0, b""))
        self.cuts = Cuts(program, self.state.pool)
        self.graph: Graph = build_graph({hand.AT[n]: decode(w, hand.AT[n]) for n, w in hand.CODE.items()}, hand.BASE)
        self.join = Joiner(self.state, self.graph, program, self.cuts, MODEL, give_up, care)
        pool = self.state.pool
        sent, response = (pool.atom(f"event.{name}") for name in ("request_sent_ns", "response_ns"))
        self.rtt, self.most = pool.make("sub", response, sent), pool.atom("params.rate_max_q30")
        self.less = pool.make("sltu", self.rtt, self.most)
        self.least = self.cuts.node(hand.LEAST)
        self.t0 = self.state.columns.setdefault(("register", hand.T0, 4), len(self.state.columns))

    def lane(self, word: int, *, less: bool | None, cycles: int = 0, trail: int = -1) -> Lanes:
        """One that holds ``word`` in t0, and knows whether the RTT is less than rate_max."""
        lane = self.state.start()
        self.state.widen(lane)
        lane.values[self.t0, 0] = word
        lane.before[:] = WRITE - 1
        lane.cycles[:], lane.trail[:] = cycles, trail
        if less is not None:
            lane.facts[:] = self.state.facts(frozenset({(self.less, less)}))
        return lane

    def __call__(self, *lanes: Lanes) -> Lanes:
        return self.join(WRITE, side_by_side(list(lanes)))


def test_two_ways_to_a_value_of_the_program_go_on_under_its_name() -> None:
    at = Meeting()
    done = at(at.lane(at.rtt, less=True, cycles=9, trail=4), at.lane(at.most, less=False, cycles=7, trail=5))
    assert len(done) == 1
    assert done.values[at.t0].tolist() == [at.least]
    assert done.facts.tolist() == [0]  # what one lane alone knew is forgotten
    assert (done.origin.tolist(), done.trail.tolist(), done.cycles.tolist()) == ([1], [-1], [0])
    meeting = at.join.meetings[1]
    assert (meeting.number, meeting.trails.tolist(), meeting.cycles.tolist()) == (WRITE, [4, 5], [9, 7])
    assert meeting.cuts == {("register", hand.T0, 4): at.least}
    assert at.cuts.declared == {at.least}


def test_a_fact_that_both_know_is_kept() -> None:
    at = Meeting()
    first, second = (at.lane(at.most, less=False, cycles=cycles) for cycles in (3, 4))
    done = at(first, second)
    assert len(done) == 1
    assert at.state.fact_sets[done.facts[0]] == {(at.less, False)}
    assert done.values[at.t0].tolist() == [at.most]  # the same word in both: it needs no name


def beside(at: Meeting, word: int, name: str = "event.queue_bytes") -> int:
    """A word with another value in its upper half."""
    return at.state.pool.sum(0, [(word, 1), (at.state.pool.atom(name), 1 << 16)])


def test_a_value_of_the_program_has_its_name_beside_another_value_too() -> None:
    at = Meeting()
    first, second = at.lane(beside(at, at.rtt), less=True), at.lane(beside(at, at.most), less=False)
    done = at(first, second)
    assert done.values[at.t0].tolist() == [beside(at, at.least)]
    assert at.cuts.declared == {at.least, *at.state.pool.atoms(beside(at, 0))}


@pytest.mark.parametrize("wrong", ["the other side", "another value beside it", "one more", "nothing beside it"])
def test_a_value_beside_others_has_no_name(wrong: str) -> None:
    at = Meeting()
    good = at.lane(beside(at, at.most), less=False)
    bad = {
        "the other side": at.lane(beside(at, at.rtt), less=False),
        "another value beside it": at.lane(beside(at, at.rtt, "event.nack_count"), less=True),
        "one more": at.lane(at.state.pool.make("add", beside(at, at.rtt), 1), less=True),
        "nothing beside it": at.lane(at.rtt, less=True),
    }[wrong]
    assert len(at(good, bad)) == 2


@pytest.mark.parametrize("wrong", ["the other side", "not known which", "one more", "nothing"])
def test_lanes_of_other_values_stay_apart(wrong: str) -> None:
    at = Meeting()
    good = at.lane(at.most, less=False)
    bad = {
        "the other side": at.lane(at.rtt, less=False),
        "not known which": at.lane(at.rtt, less=None),
        "one more": at.lane(at.state.pool.make("add", at.rtt, 1), less=True),
        "nothing": at.lane(UNKNOWN, less=True),
    }[wrong]
    done = at(good, bad)
    assert len(done) == 2
    assert sorted(done.values[at.t0].tolist()) == sorted([at.most, int(bad.values[at.t0, 0])])
    assert at.join.meetings[1:] == []


def test_a_register_that_nothing_reads_any_more_is_forgotten() -> None:
    at = Meeting()
    lane = at.lane(at.most, less=False)
    t1 = at.state.columns["register", hand.T1, 4]
    lane.values[t1, 0] = at.rtt
    done = at(lane)
    assert done.values[t1].tolist() == [UNKNOWN]
    assert done.values[at.t0].tolist() == [at.most]


def test_intervals_become_their_hull() -> None:
    at = Meeting()
    row = at.state.base(at.most)
    first, second = (at.lane(at.most, less=False, cycles=cycles) for cycles in (3, 4))
    first.low[row], first.high[row] = 10, 20
    second.low[row], second.high[row] = 15, 90
    done = at(first, second)
    assert (done.low[row].tolist(), done.high[row].tolist()) == ([10], [90])
    assert (at.join.meetings[1].low[row], at.join.meetings[1].high[row]) == (10, 90)


def test_a_lane_that_no_input_takes_any_more_leaves_nothing_behind() -> None:
    """It learnt that the RTT is not below rate_max, and then of both that it is."""
    at = Meeting()
    rtt, most = at.state.base(at.rtt), at.state.base(at.most)

    def known(least: int, greatest: int) -> Lanes:
        lane = at.lane(at.most, less=False)
        lane.low[most], lane.high[most] = least, greatest
        return lane

    gone = known(1000, 2000)
    gone.low[rtt], gone.high[rtt] = 0, 5
    done = at(known(100, 150), gone, known(120, 200))
    assert len(done) == 1
    assert (done.low[most, 0], done.high[most, 0]) == (100, 200)
    assert at.join.meetings[1].trails.size == 2


def test_careful_joining_keeps_lanes_apart_that_know_a_value_of_the_program_otherwise() -> None:
    """Both hold the same word; of the minimum behind it one says more."""
    apart = []
    for care in (0, 1, 2):
        at = Meeting(care=care)
        apart.append(len(at(at.lane(at.most, less=False), at.lane(at.most, less=None))))
    assert apart == [1, 2, 2]


def test_what_follows_from_registers_behind_the_trees_keeps_lanes_apart_only_with_the_most_care(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = set(range(len(hand.PROGRAM.nodes)))
    monkeypatch.setattr(joins, "_following", lambda program, held: everything)
    apart = []
    for care in (0, 1, 2):
        at = Meeting(care=care)
        at.join.after_trees = everything
        apart.append(len(at(at.lane(at.most, less=False), at.lane(at.most, less=None))))
    assert apart == [1, 1, 2]


# --- what they are made of -------------------------------------------------------------------------------------------


def test_equal_columns_are_a_class_and_each_is_counted() -> None:
    keys = np.array([[1, 2, 1, 2, 1], [5, 5, 5, 6, 5]], dtype=np.int64)
    first, classes, counts = _classes(keys)
    for at in range(keys.shape[1]):
        assert (keys[:, first[classes[at]]] == keys[:, at]).all()
    assert sorted(counts.tolist()) == [1, 1, 3]
    assert len(np.unique(classes)) == len(first) == 3


def test_columns_whose_hashes_fall_together_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ones:
        def integers(self, low: int, high: int, size: int) -> Ints:
            return np.ones(size, dtype=np.int64)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Ones())
    first, classes, counts = _classes(np.array([[1, 2, 0], [2, 1, 3]], dtype=np.int64))  # each adds up to 3
    assert (len(first), counts.tolist(), len(np.unique(classes))) == (3, [1, 1, 1], 3)


def test_a_column_is_another_plus_a_constant_or_it_is_not() -> None:
    assert _offset(column(1, 2, 3), column(11, 12, 13)) == 10
    assert _offset(column(5, WORD), column(4, WORD - 1)) == WORD  # modulo 2^32
    assert _offset(column(1, 2, 3), column(11, 12, 14)) is None
    assert _offset(column(1, UNKNOWN), column(1, 1)) is None
    assert _offset(column(1, WORD + 5), column(1, 1)) is None  # an expression is no constant


def test_a_column_is_a_constant_and_some_of_others_or_it_is_not() -> None:
    parts = [column(1, 1, 5, 5), column(-7, 20, -7, 20), column(3, 4, 9, 1)]
    assert combined(parts, parts[0] + parts[1] + 40) == (40, [True, True, False])
    assert combined(parts, parts[2] - 3) == (-3, [False, False, True])
    assert combined(parts, 2 * parts[0]) is None
    assert combined(parts, column(0, 0, 0, 1)) is None
    assert combined(parts, column(6, 6, 6, 6)) is None
    assert combined([], parts[0]) is None


def test_a_column_is_another_shifted_left_or_it_is_not() -> None:
    assert _shift(column(0, 3, 5), column(0, 12, 20)) == 2
    assert _shift(column(1, WORD), column(4, WORD - 3)) == 2  # of a negative one: modulo 2^32
    assert _shift(column(3, 5), column(3, 5)) == _shift(column(0, 0), column(0, 0)) == 0
    assert _shift(column(3, 5), column(12, 21)) is None
    assert _shift(column(3, 0), column(0, 0)) is None
    assert _shift(column(3, UNKNOWN), column(6, 6)) is None
    assert _shift(column(3, WORD + 5), column(6, 6)) is None  # an expression is no constant


def test_of_values_that_are_the_same_the_one_that_is_left_gives_the_name() -> None:
    order = _in_order(hand.PROGRAM)
    assert order[: len(hand.PROGRAM.outputs)] == list(hand.PROGRAM.outputs)
    assert sorted(order) == list(range(len(hand.PROGRAM.nodes)))


@pytest.mark.parametrize("most", [2, 1])
def test_an_input_of_trees_with_many_cells_gives_the_name_before_a_value_that_is_left(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else what branches find out about the value is not known of the input."""
    monkeypatch.setattr(joins, "MAX_COMBINATIONS", most)
    b = ProgramBuilder(Forest(("x", "y"), (oblivious([(0, 5)], [1, 2]),), (0,), 0), FLOW_RATE)
    kept = b.state_in("rate_q30", "uint32")
    asked = b.add(Op.SHR, (kept,), 3)
    total = b.add(Op.TREES, (kept, asked))
    left = b.add(Op.SELECT, (b.add(Op.GT, (total, b.const(1))), kept, asked))
    b.state_out("rate_q30", left)
    program = b.finish(total)
    place = {n: k for k, n in enumerate(_in_order(program))}
    assert (place[kept] == 0) is (most < 2)
    assert place[left] < place[asked]


def test_what_follows_from_the_trees_is_known() -> None:
    b = ProgramBuilder(Forest(("x",), (oblivious([(0, 5)], [1, 2]),), (0,), 0), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    x = b.event("request_sent_ns")
    before = b.add(Op.SHR, (x,), 3)
    total = b.add(Op.TREES, (x,))
    after = b.add(Op.ADD, (total, before))
    b.state_out("rate_q30", b.const(0))
    program = b.finish(after)
    told = [program.nodes[n].op for n in _decided(program)]
    assert told == [Op.TREES, Op.ADD]


def test_what_is_known_of_a_partial_sum_outlives_the_register_that_held_it() -> None:
    """A clamp puts its bound in the sum's place; that the sum lies beyond it is known of the sum by its name."""
    b = ProgramBuilder(
        Forest(("x", "y"), (oblivious([(0, 5)], [1, 2]), oblivious([(1, 7)], [1, 4])), (0,), 0), FLOW_RATE
    )
    b.state_in("rate_q30", "uint32")
    total = b.add(Op.TREES, (b.event("response_ns"), b.event("cnp_count")))
    b.state_out("rate_q30", b.const(0))
    b.add(Op.ADD, (total, b.const(1)))  # there are nodes enough for ``hand.LEAST`` to be one
    program = b.finish(total)
    meeting = Meeting(program)
    state, cuts = meeting.state, meeting.cuts
    part = cuts.sum(0)
    compared = state.pool.sum(0, ((part, 1), (cuts.tree(1), 1)))
    row = state.base(compared)
    lanes = side_by_side([meeting.lane(0, less=None) for _ in range(2)])
    lanes.low[row, 1] += 1
    columns = list(range(len(lanes.values)))
    assert part not in meeting.join.used(lanes, columns)  # nothing goes on under its name
    cuts.declared |= {part, cuts.tree(1)}
    used = meeting.join.used(lanes, columns)
    assert [used[part].tolist(), used[cuts.tree(1)].tolist()] == [[False, True], [False, True]]
    lanes.low[row, 1], lanes.high[row, 1] = state.ranges[row][0], state.ranges[row][1] - 1
    assert meeting.join.used(lanes, columns)[part].tolist() == [False, True]


def test_of_a_division_nothing_is_wanted_that_is_behind_the_bits_which_registers_hold() -> None:
    b = ProgramBuilder(Forest(("ratio",), (oblivious(((0, 3),), (0, 1)),), (0,), 16), FLOW_RATE)
    over = b.add(Op.MAX, (b.add(Op.SHR, (b.event("sent_bytes"),), 8), b.const(1)))
    ratio = divided(b, Division(b.add(Op.SHR, (b.event("queue_bytes"),), 8), over, 2**24 - 1, 4))
    program = b.finish(b.add(Op.TREES, (ratio,), name="sum"))
    narrower = [n for n, node in enumerate(program.nodes) if node.name in ("remainder", "quotient_q4")]
    del narrower[-2]  # what remains at the end nobody asks for
    remainder, quotient = narrower[3:5]  # after the second bit of four; the first is the dividend
    assert [program.nodes[n].name for n in (remainder, quotient)] == ["remainder", "quotient_q4"]
    everything, behind = _wanted(program, set()), _wanted(program, {remainder, quotient})
    assert set(narrower) <= everything
    assert behind.isdisjoint(narrower[:5])
    assert set(narrower[5:]) <= behind
    assert ratio in behind
    assert remainder in _wanted(program, {quotient})  # one alone does not stand for both


def test_two_products_that_a_choice_is_between_have_no_name_and_one_beside_another_value_has() -> None:
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE)
    first, second = b.event("response_ns"), b.event("request_sent_ns")
    which = b.add(Op.GT, (first, second))
    products = [b.add(Op.MUL_SHR, (first, second), shift) for shift in (32, 40, 48)]
    either = b.add(Op.SELECT, (which, *products[:2]))
    program = b.finish(b.add(Op.SELECT, (which, either, products[2])))
    assert {program.nodes[n].imm for n in _products(program)} == {48}
