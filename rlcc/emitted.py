"""Is a firmware folder as this rlcc emits it? Asked before a compiler reads its C, or a simulation runs it."""

from collections.abc import Iterable
from pathlib import Path

import click

from codegen.differences import differences
from codegen.emit import KIND, emission_of, program_of
from decision.deciders import Decider, decider_file, load_decider
from decision.documents import load_json
from decision.errors import InputError
from decision.manifest import Manifest, opened
from decision.program import Program
from decision.ranks import same_decision, with_values
from emulator.firmware import PROGRAM

OPTION = "--foreign-sources"

foreign_option = click.option(
    OPTION, "foreign", is_flag=True, help="Compile C that is not as rlcc emits it: only where you trust its author."
)


def check_emitted(folders: Iterable[Path], *, foreign: bool) -> None:
    """InputError for the first firmware folder that is not as this rlcc emits it for the student or network in it;
    nothing is asked where ``foreign`` sources are meant."""
    for folder in () if foreign else folders:
        manifest = opened(folder, KIND)
        instead = f"{OPTION} takes it where you trust who wrote its C (docs/emulate.md says what that risks)"
        try:
            wrong = differences(folder, manifest)
        except InputError as error:
            raise InputError(f"{error}; {instead}") from None
        if wrong:
            more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            raise InputError(f"{folder} is not as this rlcc emits it: {wrong[0]}{more}; emit it again; {instead}")


def checked_program(firmware: Path, manifest: Manifest) -> tuple[Decider, Program]:
    """What decides, and the program that the vectors are held to, which must be its whole decision."""
    decider = load_decider(firmware)
    program = Program.from_json(load_json(firmware / PROGRAM))
    came = program_of(decider, emission_of(manifest).fix)
    if not same_decision(with_values(program, {s.name: s.storage for s in came.state}), came):
        beside = decider_file(firmware)
        raise InputError(f"{firmware / PROGRAM} is not the program of {beside} beside it; emit the firmware again")
    return decider, program
