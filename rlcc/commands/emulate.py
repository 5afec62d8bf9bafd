"""`rlcc emulate FIRMWARE`: run every vector on the cycle-accurate core."""

from pathlib import Path

import click

from rlcc import stages
from rlcc.console import stage
from rlcc.options import FOLDER
from rlcc.recipe import EmulateOptions
from spec.documents import dump_json, validate, write_atomically

DEFAULT = EmulateOptions()


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option("--profile", default=DEFAULT.profile, show_default=True, help="Name or TOML file of the engine profile.")
@click.option("--compiler", default=DEFAULT.compiler, show_default=True, help="clang, or an installed RISC-V gcc.")
@click.option("--optimise", default=DEFAULT.optimise, show_default=True, help="Optimisation level.")
@click.option("--json", "json_file", type=FOLDER, help="Also write the report as JSON.")
def command(firmware: Path, profile: str, compiler: str, optimise: str, json_file: Path | None) -> int:
    """Run every vector of FIRMWARE on the core: bit-equality and cycles of one decision, call to return.

    Exit code 0: all equal, nothing forbidden; 1: not so; 2: could not run.
    """
    given = {"profile": profile, "compiler": compiler, "optimise": optimise}
    engine = validate(EmulateOptions, given, "options of rlcc emulate")
    with stage("emulate") as (figures, progress):
        report = stages.emulate(firmware, engine, figures, progress)
    if report.slowest is not None:
        click.echo(f"slowest: vector {report.slowest.index} ({report.slowest.kind}), {report.slowest.cycles} cycles")
    for wrong in (report.first_mismatch, report.fault, *report.forbidden):
        if wrong:
            click.echo(wrong)
    if json_file is not None:
        write_atomically(json_file, dump_json(report.to_json()))
    return 0 if report.passed else 1
