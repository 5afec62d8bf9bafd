"""`rlcc emit STUDENT`: write integer-only C, its adapter and its vectors."""

from pathlib import Path

import click

from rlcc import stages
from rlcc.console import stage
from rlcc.options import FOLDER, out_option


@click.command()
@click.argument("student", type=FOLDER)
@click.option("--target", default="connectx6dx", show_default=True, help="generic, connectx6dx or doca-pcc.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random vectors.")
@out_option
def command(student: Path, target: str, seed: int, out: Path) -> None:
    """Write the firmware folder OUT of STUDENT: C, header, adapter, vectors, manifest."""
    with stage("emit") as (figures, _):
        stages.emit(student, target, seed, out, figures)
