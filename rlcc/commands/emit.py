"""`rlcc emit SOURCE`: write integer-only C of a distilled student (a folder) or of a model made elsewhere (a file)."""

from pathlib import Path

import click

from rlcc import stages
from rlcc.console import Figures, stage
from rlcc.options import FOLDER, out_option
from spec.errors import InputError

STUDENT_TARGET = "connectx6dx"


@click.command()
@click.argument("source", type=FOLDER)
@click.option("--grid", type=FOLDER, help="Of a model file: TOML with the range of each feature.")
@click.option("--target", help=f"Of a student: generic, connectx6dx or doca-pcc.  [default: {STUDENT_TARGET}]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random vectors.")
@out_option
def command(source: Path, grid: Path | None, target: str | None, seed: int, out: Path) -> None:
    """Write the firmware folder OUT of SOURCE: C, header, vectors, manifest; of a student its adapter too.

    SOURCE is the folder of a student, or a model: CatBoost (.cbm, .json), XGBoost (.json), LightGBM (.txt), treelite
    (.tl).
    """
    with stage("emit") as (figures, _):
        if source.is_file():
            if target is not None:
                raise InputError("--target is for students; the C of a model fits any target")
            _emit_model(source, grid, seed, out, figures)
        else:
            if grid is not None:
                raise InputError("--grid is for model files; a student brings its grid along")
            stages.emit(source, target or STUDENT_TARGET, seed, out, figures)


def _emit_model(path: Path, grid: Path | None, seed: int, out: Path, figures: Figures) -> None:
    from codegen.model_emit import at_most, emit_file

    details = emit_file(path, grid, out, seed=seed)
    grids = ", ".join(f["field"] for f in details["features"])
    error, visits = max(details["error"]), details["visits"]
    figures += [
        f"{details['trees']} trees of depth <= {details['depth']}, {details['thresholds']} thresholds on {grids}",
        f"{details['task']}, {details['outputs']} x Q.{details['leaf_bits']}",
        f"off the library by {at_most(error)} at most" if error else "equal to the library",
        f"{details['vectors']:,} vectors, {visits['made']} of {visits['wanted']} branches visited on both sides",
    ]
