"""A value of the program is made once for lanes that know the same of it, and again for one that knows more or less."""

from random import Random

import pytest
from term_values import value_of
from wide_programs import DRAWN, program_around

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, Program, ProgramBuilder
from verify.check.meaning import Meaning, input_name, input_word
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.shared_values import LaneMemory, Shared
from verify.check.terms import Term, const, make, var

A, B, C, D = (var(f"event.{name}") for name in ("request_sent_ns", "response_ns", "cnp_count", "nack_count"))
MADE = const(7)


class Silent(Oracle):
    """Excludes nothing: only intervals and facts decide."""

    def impossible(self, conditions: list[Term], known: Known, multiply: bool = True, together: bool = False) -> bool:
        return False


def program() -> tuple[Program, dict[str, int]]:
    """sum = a + b, bit = sum > c, trees over d."""
    b = ProgramBuilder(Forest(("x",), (oblivious([(0, 5)], [1, 2]),), (0,), 0), FLOW_RATE)
    b.state_in("rate_q30", "uint32")
    b.state_out("rate_q30", b.const(0))
    sent, response, cnp, nack = (b.event(v.value.partition(".")[2]) for v in (A, B, C, D))
    nodes = {"sum": b.add(Op.WRAP_SUB, (sent, response)), "nack": nack}
    nodes["bit"] = b.add(Op.GT, (nodes["sum"], cnp))
    nodes["far"] = b.add(Op.ADD, (sent, response))
    nodes["trees"] = b.add(Op.TREES, (nack,))
    return b.finish(b.add(Op.ADD, (nodes["trees"], nodes["bit"]))), nodes


PROGRAM, NODES = program()


def made_for(node: str, *lanes: Known, free: frozenset[str] = frozenset(), fixed: dict[int, Term] | None = None) -> int:
    """How often a value is made for some lanes, one after the other."""
    shared, times = Shared(PROGRAM, free, fixed or {}), []
    for known in lanes:
        assert LaneMemory(shared, known)("value", (NODES[node],), lambda: times.append(1) or MADE) is MADE
    return len(times)


def lane(*facts: Term, **bounds: tuple[int, int]) -> Known:
    return Known({var(f"event.{name}"): bounded(*ends) for name, ends in bounds.items()}, frozenset(facts))


def test_what_is_known_of_others_makes_nothing_again() -> None:
    assert made_for("sum", lane(cnp_count=(0, 5)), lane(cnp_count=(0, 6)), lane(make("=", C, D)), lane()) == 1


@pytest.mark.parametrize("name", ["request_sent_ns", "response_ns"])
def test_what_is_known_of_a_variable_makes_its_values_again(name: str) -> None:
    assert made_for("sum", lane(**{name: (0, 5)}), lane(**{name: (0, 6)}), lane(), lane(**{name: (0, 6)})) == 3
    fact = make("bvult", var(f"event.{name}"), C)
    assert made_for("sum", lane(), lane(fact), lane(make("not", fact))) == 3
    near = {name: (0, 5)}
    assert made_for("sum", lane(fact, **near), lane(make("not", fact), **near), lane(fact, **near)) == 2


def test_what_is_known_of_a_word_with_a_variable_makes_its_values_again() -> None:
    sums = make("bvadd", A, C)
    assert made_for("sum", *(Known({sums: bounded(0, most)}) for most in (5, 6, 5))) == 2


def test_what_is_tied_to_a_variable_counts_however_far() -> None:
    """A fact about a and c, one about c and d: a bound of d may decide what a is compared with."""
    ties = make("bvult", A, C), make("bvult", C, D)
    assert made_for("sum", lane(*ties, nack_count=(0, 5)), lane(*ties, nack_count=(0, 6))) == 2
    assert made_for("sum", lane(ties[0], nack_count=(0, 5)), lane(ties[0], nack_count=(0, 6))) == 1
    word = Known({make("bvadd", A, D): bounded(0, 9), D: bounded(0, 5)})
    assert made_for("sum", word, Known({**word.bounds, D: bounded(0, 6)})) == 2


def test_a_value_that_a_cut_holds_is_its_variable_alone() -> None:
    name = f"node.{NODES['sum']}"
    assert made_for("bit", lane(request_sent_ns=(0, 5)), lane(request_sent_ns=(0, 6)), free=frozenset((name,))) == 1
    held = [Known({var(name): bounded(0, most)}) for most in (5, 6)]
    assert made_for("bit", *held, free=frozenset((name,))) == 2
    assert made_for("bit", *held) == 1


def test_a_value_that_a_cut_fixes_is_what_it_is_fixed_at() -> None:
    fixed = {NODES["sum"]: D}
    assert made_for("bit", lane(request_sent_ns=(0, 5)), lane(request_sent_ns=(0, 6)), fixed=fixed) == 1
    assert made_for("bit", lane(nack_count=(0, 5)), lane(nack_count=(0, 6)), fixed=fixed) == 2
    beyond = {NODES["far"]: D}  # no word holds it: what it is fixed at is not taken for it
    assert made_for("far", lane(request_sent_ns=(0, 5)), lane(request_sent_ns=(0, 6)), fixed=beyond) == 2


def test_leaves_and_sums_that_a_cut_holds_belong_to_the_trees() -> None:
    for name in ("tree.0", "sum.0"):
        lanes = [Known({var(name): bounded(0, most)}) for most in (5, 6)]
        assert made_for("trees", *lanes, free=frozenset((name,))) == 2
        assert made_for("nack", *lanes, free=frozenset((name,))) == 1


@pytest.mark.parametrize("op", DRAWN, ids=lambda op: op.name)
def test_what_lanes_share_is_what_each_would_have_made(op: Op) -> None:
    """Lanes around inputs, one after the other with one memory: the meaning has the values it has without, in each."""
    for seed in range(6):
        around, rng = program_around(op, seed), Random(seed)
        shared = Shared(around.program, frozenset(), {})
        names = [(name, n) for n in around.program.nodes if (name := input_name(around.program, n))]
        for inputs in (*around.inputs, *around.inputs):
            bounds = {input_word(name, n.low, n.high): bounded(n.low, n.high) for name, n in names}
            for name, n in names:
                near = rng.choice([0, 1, 100, 1 << 40])
                ends = max(n.low, inputs[name] - near), min(n.high, inputs[name] + near)
                bounds[input_word(name, n.low, n.high)] = bounded(*ends)
            alone, shares = (meaning(around.program, Known(bounds), with_) for with_ in (None, shared))
            done: dict[Term, int] = {}
            for n in range(len(around.program.nodes)):
                assert value_of(shares.value(n), inputs, done) == value_of(alone.value(n), inputs, done), (seed, n)


def meaning(program: Program, known: Known, shared: Shared | None) -> Meaning:
    silent = Silent()

    def choose(condition: Term) -> Term:
        return known.decide(condition, silent)

    if shared is None:
        return Meaning(program, frozenset(), choose, known.product)
    return Meaning(program, frozenset(), choose, known.product, {}, LaneMemory(shared, known))
