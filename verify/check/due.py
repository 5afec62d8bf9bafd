"""Properties of a program that leaves late answers undecided: those of its decisions, once no late answer changes a
context.

    late = 1:  every field of the context is written with what it held, asked of a solver for all inputs
    late = 0:  the program without the rule, whose properties are decided

Hence a flow goes through the states of the program without the rule, whatever late answers come in between.
"""

from decision.artefact.errors import InputError
from decision.ir.program import Op, Program
from decision.policy.once_per_rtt import answers_of, decides_once
from verify.check.meaning import Meaning, input_word
from verify.check.path_facts import Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.solver import Undecided
from verify.check.terms import TRUE, make, negate


def due_program(program: Program) -> Program:
    """Returns the program of answers that are decided on. Refused where a late answer changes the context, or may."""
    if not decides_once(program):
        return program
    try:
        answers = answers_of(program)
    except InputError as error:
        raise Refused(str(error)) from None
    for field in answers.late.state:
        if not _holds(answers.late, field.node, field.name):
            raise Refused(f"a late answer may change the context's {field.name}")
    return answers.due


def _holds(program: Program, written: int, name: str) -> bool:
    """Returns whether a node is what the field held, for all inputs."""
    place = [field.name for field in program.state].index(name)
    held = next((n for n, node in enumerate(program.nodes) if node.op is Op.STATE and node.imm == place), None)
    if held is None or written == held:
        return written == held
    node = program.nodes[held]
    known = Known({input_word(f"context.{name}", node.low, node.high): bounded(node.low, node.high)})
    meaning = Meaning(program, frozenset(), lambda condition: condition, known.product)
    same = make("=", meaning.wide(written), meaning.wide(held))
    if same is TRUE:
        return True
    try:
        return Oracle().impossible([negate(same), *known.about(same)], known)
    except Undecided:
        return False
