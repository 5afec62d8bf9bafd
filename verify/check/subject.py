"""The student whose program the machine code was proved against: it lies next to the code and is compared with the
program.

A certificate's claims about a policy's behaviour or teacher are claims about the program. The student tells how the
program's columns are meant and which parameters it was distilled for, so it has to be this program's.
"""

from decision.artefact.errors import InputError
from decision.ir.fixed import fixed
from decision.ir.program import Program
from decision.ir.ranks import same_decision, with_values
from decision.policy.deciders import student_of as student_in
from decision.policy.student import Student
from emulator.firmware import Firmware
from verify.check.refused import Refused


def student_of(firmware: Firmware) -> Student:
    """Returns the student whose whole decision the program is, values in place of ranks. Refused where there is none,
    or where its decision is another."""
    try:
        student = student_in(firmware.manifest)
    except InputError as error:
        raise Refused(f"a claim about a policy needs its student: {error}") from None
    if not _decides_alike(firmware.program, student):
        raise Refused("student.json is another policy than the program that the machine code was proved equal to")
    return student


def _decides_alike(program: Program, student: Student) -> bool:
    """Whether the program is the student's; parameters that it does not read may be constants in it, at the student's
    values."""
    whole = student.program()
    values = with_values(program, {field.name: field.storage for field in whole.state})
    if same_decision(values, whole):
        return True
    read = {node.imm for node in program.nodes if program.key(node) in _parameters(program)}
    names = program.interface.param_names
    constants = {name: value for name, value in student.params().items() if names.index(name) not in read}
    return same_decision(values, fixed(whole, constants))


def _parameters(program: Program) -> set[str]:
    return {f"params.{name}" for name in program.interface.param_names}
