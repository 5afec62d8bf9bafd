"""Paths that the program excludes without a solver: what a join says of the trees' sum, against the cells before it."""

import time
from types import SimpleNamespace
from typing import cast

import decision_by_hand as hand
import numpy as np

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import Op, Program, ProgramBuilder
from verify.code.arguments import structures
from verify.prover.concrete import Runner
from verify.prover.expressions import WORD
from verify.prover.inputs import Condition
from verify.prover.lanes import Ints
from verify.prover.state import State
from verify.prover.worst import _Search


def program() -> tuple[Program, int, int]:
    """Trees over a product of two inputs and over the rate; returned is their sum and 1000. Also the nodes of product
    and sum."""
    trees = (oblivious(((0, 700), (1, 50)), (1, 20, 300, 4000)), oblivious(((0, 90),), (5, 60)))
    b = ProgramBuilder(Forest(("inflation", "rate"), trees, (0,), 16), FLOW_RATE)
    rate = b.state_in("rate_q30", "uint32")
    inflation = b.add(Op.MUL_SHR, (b.event("response_ns"), b.param("base_rtt_recip_q42")), 32, "inflation")
    total = b.add(Op.TREES, (inflation, rate), name="sum")
    b.state_out("rate_q30", rate)
    done = b.finish(b.add(Op.ADD, (total, b.const(1000))))
    return done, inflation, total


PROGRAM, INFLATION, TOTAL = program()


class Told:
    """A search, and conditions on the rate, the product (by its word) and the sum (by its name)."""

    def __init__(self) -> None:
        self.state = State(structures(PROGRAM, hand.LAYOUTS), (0, b""))
        self.search = _Search(self.state, [], cast(Runner, SimpleNamespace(program=PROGRAM)), 0, {})
        pool = self.state.pool
        product = pool.product(pool.atom("event.response_ns"), pool.atom("params.base_rtt_recip_q42"), 32)
        self.words = product, pool.atom("context.rate_q30"), self.search.cuts.node(TOTAL)
        for word in self.words:
            self.state.base(word)

    def conditions(self, *ends: tuple[int, int]) -> list[Condition]:
        return [(word, low, high) for word, (low, high) in zip(self.words, ends, strict=True)]


CELL = (91, 700), (51, 1 << 20)  # the sum is 300 + 60 or, beyond 700, 4060


def summed(response: Ints, recip: Ints, rate: Ints) -> Ints:
    """What the trees' sum is for these inputs, by the program."""
    none = np.zeros(len(rate), dtype=np.int64)
    event = dict.fromkeys(hand.FLOW_RATE.event_names, none) | {"response_ns": response}
    params = dict.fromkeys(hand.FLOW_RATE.param_names, none) | {"base_rtt_recip_q42": recip}
    ((returned,), _) = evaluate(PROGRAM, event, params, {"rate_q30": rate})
    return np.asarray(returned, dtype=np.int64) - 1000


def sums() -> set[int]:
    """All that the sum can be."""
    places = np.array([(p, rate) for p in (0, 700, 701) for rate in (0, 50, 51, 90, 91)])
    response, rate = places.T
    return set(summed(response, np.full(len(rate), 1 << 31), rate).tolist()) | set(
        summed(2 * response, np.full(len(rate), 1 << 31), rate).tolist()
    )


def test_a_sum_that_no_cell_of_the_path_has_excludes_it() -> None:
    told = Told()
    of_cell = {s for s in sums() if not told.search._contradict(told.conditions(*CELL, (s, s)))}
    assert len(of_cell) == 1
    assert of_cell < sums()
    (only,) = of_cell
    assert not told.search._contradict(told.conditions(*CELL, (only - 9, only + 9)))
    assert told.search._contradict(told.conditions(*CELL, (only + 1, 10_000)))
    assert told.search._contradict(told.conditions(*CELL, (-5, only - 1)))
    wider = ((91, 701), CELL[1])  # beyond the threshold the other leaf is possible too
    assert not told.search._contradict(told.conditions(*wider, (only + 1, 10_000)))


def test_no_solver_is_asked_and_only_what_it_takes_is_excluded() -> None:
    told = Told()
    far = told.state.pool.atom("params.rate_max_q30")
    told.state.base(far)
    conditions = [*told.conditions(*CELL, (4061, 4061)), (far, 5, 6)]
    assert told.search._ask(conditions, time.thread_time() + 60) == ("unsat", {})
    (core,) = told.search.excluded
    assert far not in {word for word, _, _ in core}
    assert told.words[2] in {word for word, _, _ in core}
    assert told.search._excluded({word: (low, high) for word, low, high in conditions})
    assert not told.search._excluded({word: (low, high) for word, low, high in told.conditions(*CELL, (360, 360))})


def test_conditions_that_an_input_meets_are_never_excluded() -> None:
    """By 300 random inputs and intervals around what they make of the three words."""
    told, rng = Told(), np.random.default_rng(5)
    response, recip, rate = (rng.integers(0, 1 << rng.integers(1, 33, 300)) for _ in range(3))
    values = (response.astype(np.uint64) * recip.astype(np.uint64) >> np.uint64(32)).astype(np.int64), rate
    for case in np.stack([*values, summed(response, recip, rate)]).T.tolist():
        widths = rng.integers(0, 900, (3, 2)).tolist()
        ends = [(max(v - a, 0), min(v + b, WORD)) for v, (a, b) in zip(case, widths, strict=True)]
        assert not told.search._contradict(told.conditions(*ends)), (case, ends)
