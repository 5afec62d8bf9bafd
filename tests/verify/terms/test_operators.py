"""The solver's term of every operator of a program has the value that the interpreter gives."""

import random

import bitwuzla
import numpy as np
from bitwuzla import Term

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.program import Op, Program, ProgramBuilder
from verify.terms.bits import BitTerms
from verify.terms.operators import INPUTS, OperatorTerms, signed_width

EDGES = (0, 1, 2, 1535, 1536, 2**16, 2**30, 2**31 - 1, 2**31, 2**32 - 1)


class ValueTerms(OperatorTerms):
    """Terms over the values that the interpreter gives the operands."""

    def __init__(self, bits: BitTerms, program: Program, values: list[int]) -> None:
        super().__init__(bits, program)
        self.values = values

    def value(self, n: int) -> Term:
        node = self.program.nodes[n]
        return self.bits.number(self.values[n], signed_width(node.low, node.high))


def every_operator() -> Program:
    b = ProgramBuilder(Forest(("least",), (oblivious(((0, 1535),), (-5, 7)),), (3,), 16), FLOW_RATE)
    stored = b.state_in("rate_q30", "uint32")
    past, now = b.event("request_sent_ns"), b.event("response_ns")
    rtt = b.add(Op.WRAP_SUB, (now, past))
    least = b.add(Op.MIN, (rtt, b.param("rate_max_q30")))
    leaf = b.add(Op.TREES, (least,))
    factor = b.add(Op.ADD, (leaf, b.const(9)))
    difference = b.add(Op.SUB, (leaf, factor))
    for node in (
        b.add(Op.MUL_SHR, (least, factor), 5),
        b.add(Op.MUL, (difference, leaf)),
        b.add(Op.SHL, (b.add(Op.SHR, (now,), 8),), 4),
    ):
        least = b.add(Op.MAX, (least, node))
    high = b.add(Op.SHR, (stored,), 30)
    chosen = b.add(Op.SELECT, (b.add(Op.GT, (past, now)), high, b.add(Op.EQ, (past, now))))
    b.state_out("rate_q30", b.add(Op.MIN, (stored, b.const(2**30))))
    return b.finish(b.add(Op.MAX, (chosen, b.add(Op.MIN, (least, b.const(2**20))))))


def test_terms_are_the_interpreters_values() -> None:
    program, rng, bits = every_operator(), random.Random(1), BitTerms()
    solver = bitwuzla.Bitwuzla(bits.manager, models())
    solver.check_sat()
    seen = set()
    for _ in range(60):
        event, params, context = (
            {name: rng.choice([*EDGES, rng.getrandbits(32)]) for name in names}
            for names in (FLOW_RATE.event_names, FLOW_RATE.param_names, ("rate_q30",))
        )
        values = [int(np.asarray(value).reshape(-1)[0]) for value in trace(program, event, params, context)]
        terms = ValueTerms(bits, program, values)
        for n, node in enumerate(program.nodes):
            if node.op in INPUTS:
                continue
            term = solver.get_value(terms.operator(n))
            width = term.sort().bv_size()
            assert int(term.value(10)) == values[n] % (1 << width), (n, node)
            seen.add(node.op)
    assert len(seen) >= 13


def models() -> bitwuzla.Options:
    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    return options
