"""What the judge asks the solver, what it says where there is no answer, and where it gives up."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from decision_by_hand import A0, AT, CODE, CYCLES, KEPT, T0, T1, judge, with_code

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from verify.check.effort import Effort
from verify.check.judge import START, Cut, Judge
from verify.check.judge import Path as Way
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.solver import Undecided
from verify.check.terms import FALSE, Term, const, make, negate, var
from verify.check.walk import Lane
from verify.trusted.calibrate_programs import encode

SENT, RESPONSE = var("event.request_sent_ns"), var("event.response_ns")
OPEN = make("bvult", SENT, RESPONSE)
"""May be so or not."""


@dataclass
class Scripted(Oracle):
    """Says what it is told to, and keeps what it was asked: (conditions, whether products are multiplied)."""

    says: Callable[[set[Term], bool], bool] = lambda *_: False
    heard: list[tuple[set[Term], bool]] = field(default_factory=list)

    def impossible(self, conditions: list[Term], known: Known, multiply: bool = True, together: bool = False) -> bool:
        self.heard.append((set(conditions), multiply))
        return self.says(set(conditions), multiply)


def no_answer(*_: object) -> bool:
    raise Undecided("the solver did not answer")


def lane(known: Known | None = None, pc: int = AT["write"]) -> Lane:
    return Lane(pc, (const(0), *(var(f"register.{r}") for r in range(1, 32))), {}, {}, known or Known({}))


def asking(says: Callable[[set[Term], bool], bool]) -> tuple[Judge, Scripted]:
    oracle = Scripted(says=says)
    return judge(oracle=oracle), oracle


# --- a question ---


def test_no_answer_about_a_cut_is_no() -> None:
    """What nobody has seen to hold does not hold."""
    assert asking(no_answer)[0]._never(lane(), OPEN) is False


def test_what_the_known_ranges_decide_is_asked_of_nobody() -> None:
    found, oracle = asking(no_answer)
    known = Known({SENT: bounded(5, 9)})
    assert found._never(lane(known), make("bvult", SENT, const(5))) is True
    assert found._never(lane(known), FALSE) is True
    assert found._impossible(lane(known), FALSE) is True
    assert oracle.heard == []


def test_what_only_multiplying_shows_to_be_impossible_is_never_so() -> None:
    found, oracle = asking(lambda _, multiply: multiply)
    assert found._never(lane(), OPEN) is True
    assert [multiply for _, multiply in oracle.heard] == [False, False, True]


def test_what_may_be_is_not_never_so() -> None:
    assert asking(lambda *_: False)[0]._never(lane(), OPEN) is False


def test_a_condition_is_first_asked_with_what_concerns_it_and_then_with_everything() -> None:
    near, far = make("=", var("event.response_ns"), var("x")), make("bvult", var("y"), var("z"))
    known = Known({}, frozenset((near, far)))
    for impossible_with, questions in ((near, 1), (far, 2)):
        found, oracle = asking(lambda conditions, _, w=impossible_with: w in conditions)  # type: ignore[misc]
        assert found._impossible(lane(known), OPEN) is True
        assert [conditions for conditions, _ in oracle.heard] == [{OPEN, near}, {OPEN, near, far}][:questions]


def test_a_condition_that_nothing_concerns_is_asked_once() -> None:
    far = make("bvult", var("y"), var("z"))
    found, oracle = asking(lambda *_: False)
    assert found._impossible(lane(Known({}, frozenset((far,)))), OPEN) is False
    assert [conditions for conditions, _ in oracle.heard] == [{OPEN, far}]


def test_no_answer_about_a_claim_is_a_refusal_that_says_where() -> None:
    found, _ = asking(no_answer)
    with pytest.raises(Refused, match=f"solver .*asked about {AT['write']:#x}"):
        found._impossible(lane(), OPEN)


def test_without_answers_the_right_decision_is_refused() -> None:
    """Its two results are then equal by their terms only where the lane knows which of the two it has."""
    with pytest.raises(Refused, match="did not answer"):
        judge(with_code(plus=encode("xori", A0, A0, imm=1)), oracle=Scripted(says=no_answer)).bound()


def test_what_the_cut_before_said_of_a_value_is_asked_of_nobody_and_what_says_more_is() -> None:
    """The lane knows nothing: what holds is taken from the cut alone."""
    text, signed = "(+ event.response_ns 1)", "(+ event.request_sent_ns 1)"
    said = {text: (3, 9), signed: (-4, 4)}
    for bounds, held in (
        ({text: (3, 9)}, True),
        ({text: (2, 10), signed: (-5, 4)}, True),
        ({text: (4, 9)}, False),
        ({text: (3, 8)}, False),
        ({signed: (-3, 4)}, False),
        ({"event.response_ns": (2, 8)}, False),
        ({text: (3, 9), "event.response_ns": (2, 8)}, False),
        ({"event.response_ns": (2, 8), text: (3, 9)}, False),
    ):
        found, oracle = asking(lambda *_: False)
        assert found._holds(lane(), frozenset(), Cut(AT["write"], {}, bounds), said) is held
        assert bool(oracle.heard) is not held
    held_otherwise = Cut(AT["write"], {"x5": "event.response_ns"}, {text: (3, 9)})
    assert asking(lambda *_: False)[0]._holds(lane(), frozenset(), held_otherwise, said) is False


# --- paths that no input takes ---

SQUARE = {
    **{name: word for name, word in CODE.items() if name not in ("half", "square", "plus", "return")},
    "low": encode("mul", T1, T0, T0),
    "two": encode("addi", 7, 0, imm=2),
    "is two": encode("beq", rs1=T1, rs2=7, imm=20),
    "half": CODE["half"],
    "square": CODE["square"],
    "plus": CODE["plus"],
    "return": CODE["return"],
}
"""A branch out of the code, taken where a square is two: by no number of 32 bits."""


def test_what_goes_wrong_where_no_input_comes_is_left_aside() -> None:
    assert judge(SQUARE).bound() == CYCLES + 3 + 1 + 1
    nine = {**SQUARE, "two": encode("addi", 7, 0, imm=9)}
    with pytest.raises(Refused, match="leaves the code"):
        judge(nine).bound()


def test_a_loop_with_a_cut_in_it_is_a_circle() -> None:
    loop = with_code(take=encode("jal", 0, imm=0))
    inside = Cut(AT["take"], {**KEPT, "x10": "pointer.context"}, {})
    with pytest.raises(Refused, match="in a circle"):
        judge(loop, inside).bound()


def test_as_many_paths_as_the_limit_are_walked_and_no_more() -> None:
    found = judge()
    found.effort = Effort(paths=2, chains=1)
    assert found.bound() == CYCLES
    found = judge()
    found.effort = Effort(paths=1, chains=1)
    with pytest.raises(Refused, match=r"1 paths .*cuts") as refused:
        found.bound()
    assert refused.value.unfinished


def test_as_many_chains_as_the_effort_are_tried() -> None:
    found = judge()
    found.effort = Effort(paths=2, chains=0)
    with pytest.raises(Refused, match="more than 0 chains"):
        list(found.dearer_chains(0))


def test_a_path_is_walked_once() -> None:
    found = judge()
    found.bound()
    assert found.walked == 2
    next(found.dearer_chains(0))
    assert found.walked == 2


def test_before_anything_is_walked_nothing_is_found() -> None:
    found = judge()
    assert (found.deepest, found.walked, found.met) == (0, 0, set())


# --- chains ---


def way(
    cycles: int, following: int | None, *facts: Term, bounds: dict[Term, tuple[int, int, int, int]] | None = None
) -> Way:
    return Way(cycles, None if following is None else (following, None), Known(bounds or {}, frozenset(facts)))


def chained(ways: dict[int, list[Way]], oracle: Oracle | None = None, program: Program | None = None) -> Judge:
    """A judge that has walked these ways between its cuts."""
    found = judge(oracle=oracle, **({"program": program} if program else {}))
    found._paths.update({(number, None): paths for number, paths in ways.items()})
    return found


def test_a_cut_that_no_input_gets_beyond_costs_nothing() -> None:
    assert chained({START: []}).bound() == 0


def test_the_bound_is_the_dearest_chain() -> None:
    assert chained({START: [way(10, 0), way(11, 1)], 0: [way(3, None), way(4, None)], 1: [way(2, None)]}).bound() == 14


def test_a_dear_chain_that_no_input_takes_is_passed_over() -> None:
    """Cheap where the one is below the other, dear where it is not: never both."""
    found = chained(
        {START: [way(10, 0, OPEN), way(1, 0, negate(OPEN))], 0: [way(2, None, OPEN), way(9, None, negate(OPEN))]}
    )
    assert found.bound() == 19
    assert list(found.dearer_chains(12)) == []
    (chain,) = found.dearer_chains(11)
    assert [path.cycles for path in chain] == [10, 2]


def test_without_an_answer_a_dear_chain_stays_possible() -> None:
    found = chained({START: [way(10, None, OPEN, negate(OPEN))]}, Scripted(says=no_answer))
    assert len(list(found.dearer_chains(9))) == 1
    assert found._contradiction([way(10, None, OPEN)], True) is None


def with_trees() -> Program:
    """Two trees over a context field of 16 bits; leaves 10 or 20, and 1 or 2."""
    trees = (oblivious(((0, 0),), (10, 20)), oblivious(((0, 100),), (1, 2)))
    b = ProgramBuilder(Forest(("a",), trees, (0,), 16), FLOW_RATE)
    a = b.state_in("a", "int16")
    b.state_out("a", a)
    return b.finish(b.add(Op.TREES, (a,)))


WITH_TREES = with_trees()
RESULT = WITH_TREES.result
A = var("context.a")


def equal(name: str, value: int) -> Term:
    return make("=", var(name), const(value))


POSSIBLE = [
    (equal("tree.0", 10),),
    (equal("tree.1", 2),),
    (equal("sum.1", 11), equal("tree.0", 10)),
    (equal(f"node.{RESULT}", 22),),
]
IMPOSSIBLE = [
    (equal("tree.0", 11),),
    (equal("tree.1", 3),),
    (equal("sum.1", 23),),
    (equal("sum.1", 12),),
    (equal(f"node.{RESULT}", 12),),
    (equal("tree.0", 10), equal("tree.1", 2)),
    (equal("tree.0", 20), make("bvslt", A, const(0))),
    (make("bvslt", const(32767), A),),
]


@pytest.mark.parametrize("number", range(len(POSSIBLE)))
def test_what_trees_can_say_together_is_a_possible_chain(number: int) -> None:
    assert chained({}, program=WITH_TREES)._contradiction([way(1, None, *POSSIBLE[number])], True) is None


@pytest.mark.parametrize("number", range(len(IMPOSSIBLE)))
def test_what_trees_cannot_say_is_an_impossible_chain(number: int) -> None:
    """Nodes, trees and sums are spelt out down to the inputs, and these keep to their ranges."""
    found = chained({}, program=WITH_TREES)
    together = found._contradiction([way(1, 0, fact) for fact in IMPOSSIBLE[number]], True)
    assert together is not None
    assert together <= set(IMPOSSIBLE[number])
    assert found._contradiction([way(1, None, *together)], True) == together


def test_of_no_condition_at_all_nothing_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would rule out every chain."""
    monkeypatch.setattr(Oracle, "core", lambda *_: [])
    assert chained({})._contradiction([way(1, None, OPEN)], True) is None


def test_the_ranges_of_a_path_count_for_its_chain() -> None:
    below, above = way(1, 0, bounds={SENT: bounded(0, 4)}), way(1, None, bounds={SENT: bounded(5, 9)})
    found = chained({})
    apart = {negate(make("bvult", const(4), SENT)), negate(make("bvult", SENT, const(5)))}
    assert found._contradiction([way(1, 0, OPEN), below, above], True) == apart
    assert found._contradiction([below], True) is None
