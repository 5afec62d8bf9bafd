"""Is a firmware folder as this rlcc emits it? Asked before a compiler reads its C, or a simulation runs it."""

from pathlib import Path

from codegen.differences import differences
from codegen.emit import KIND, emission_of, program_of
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened
from decision.ir.program import Program
from decision.ir.program_json import program_from_json
from decision.ir.ranks import same_decision, with_values
from decision.policy.deciders import Decider, decider_file, load_decider
from emulator.firmware import PROGRAM
from rlcc.commands.options import FOREIGN_SOURCES


def emitted(folder: Path, *, foreign: bool) -> Opened:
    """The firmware in a folder, read once: what is used after the check are the bytes that were checked.

    InputError where it is not as this rlcc emits it for the student or network in it, which is not asked where
    ``foreign`` sources are meant."""
    manifest = opened(folder, KIND)
    if not foreign:
        instead = (
            f"{FOREIGN_SOURCES} takes it where you trust who wrote its C "
            "(docs/reference/emulate.md says what that risks)"
        )
        try:
            wrong = differences(manifest)
        except InputError as error:
            raise InputError(f"{error}; {instead}") from None
        if wrong:
            more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise InputError(f"{folder} is not as this rlcc emits it: {wrong[0]}{more}; emit it again; {instead}")
    return manifest


def checked_program(firmware: Opened) -> tuple[Decider, Program]:
    """Returns the decider, and the program that the vectors are compared with, which must be its whole decision."""
    decider = load_decider(firmware)
    program = program_from_json(firmware.json(PROGRAM))
    came = program_of(decider, emission_of(firmware).fix)
    if not same_decision(with_values(program, {s.name: s.storage for s in came.state}), came):
        beside = decider_file(firmware)
        raise InputError(
            f"{firmware.folder / PROGRAM} is not the program of {beside} beside it; emit the firmware again"
        )
    return decider, program
