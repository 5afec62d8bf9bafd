"""Knobs in order: one that by its interface may not lie below another never does, whatever the trees say.

The form of the program shows it: the greater of two values is below neither, ranges that do not meet are in order, and
so are rows of a table. If it does not, inputs are tried.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interpret import evaluate
from decision.ir.program import Op, Program
from verify.behaviour.finding import Finding
from verify.trusted import wording

Columns = Mapping[str, NDArray[np.int64]]


def ascending(program: Program, inputs: tuple[Columns, Columns, Columns]) -> list[Finding]:
    """A finding for each pair of knobs. ``inputs``: events, parameters and contexts to try. InputError where the
    interface asks for no order."""
    knobs = program.interface.knobs
    results = dict(zip(program.interface.knob_names, program.results, strict=True))
    pairs = [(knob.name, knob.not_below) for knob in knobs if knob.not_below is not None]
    if not pairs:
        raise InputError(f"ascending: {program.interface.name} has no knob that may not lie below another")
    return [_finding(program, inputs, knob, floor, results) for knob, floor in pairs]


def _finding(
    program: Program, inputs: tuple[Columns, Columns, Columns], knob: str, floor: str, results: Mapping[str, int]
) -> Finding:
    says = wording.ordered(knob, floor)
    if not_below(program, results[knob], results[floor]):
        return Finding("ascending", says, "holds", "for all inputs")
    made = dict(zip(results, evaluate(program, *inputs)[0], strict=True))
    below = np.flatnonzero(made[knob] < made[floor])
    if not below.size:
        return Finding("ascending", says, "undecided", "the program's form does not show it, and no input refutes it")
    at = int(below[0])
    groups = zip(("event", "params", "context"), inputs, strict=True)
    witness = {f"{group}.{name}": int(column[at]) for group, columns in groups for name, column in columns.items()}
    return Finding("ascending", says, "fails", f"{int(made[knob][at])} below {int(made[floor][at])}", witness)


def not_below(program: Program, a: int, b: int) -> bool:
    """Whether node ``a`` is at least node ``b`` by the form of both."""
    first, second = program.nodes[a], program.nodes[b]
    if a == b or first.low >= second.high:
        return True
    if first.op is second.op is Op.TABLE and first.args == second.args:
        rows = zip(program.tables[first.imm], program.tables[second.imm], strict=False)
        return all(mine >= other for mine, other in rows)
    if first.op is Op.MAX and any(not_below(program, part, b) for part in first.args):
        return True
    return second.op is Op.MIN and any(not_below(program, a, part) for part in second.args)
