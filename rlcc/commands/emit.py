"""`rlcc emit SOURCE`: write integer-only C of a distilled student (a folder) or of a model made elsewhere (a file)."""

from pathlib import Path
from typing import Any

import click

from codegen.choose import FORMS, OBJECTIVES
from codegen.engines import ENGINES
from codegen.lower import PASSES
from codegen.targets import TARGETS
from rlcc import stages
from rlcc.console import Figures, stage
from rlcc.options import FOLDER, out_option
from rlcc.recipe import EmitOptions
from spec.documents import validate
from spec.errors import InputError


@click.command()
@click.argument("source", type=FOLDER)
@click.option("--grid", type=FOLDER, help="Of a model file: TOML with the range of each feature.")
@click.option("--target", help=f"Of a student: {', '.join(TARGETS)}, or all.  [default: {EmitOptions().target}]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the random vectors.")
@click.option("--engine", type=click.Choice(list(ENGINES)), help="Cost model that chooses.  [default: ibex-small]")
@click.option("--optimise", type=click.Choice(OBJECTIVES), help="What to keep small.  [default: worst]")
@click.option("--form", type=click.Choice(FORMS), help="Form of the trees.  [default: auto]")
@click.option("--max-code", type=click.IntRange(0), help="Bytes of code, predicted.")
@click.option("--max-table", type=click.IntRange(0), help="Bytes of constant tables.  [default: 2048]")
@click.option("--max-cycles", type=click.IntRange(0), help="Of the trees, predicted: the smallest form that keeps it.")
@click.option("--without", multiple=True, help=f"Leave out a pass: {', '.join(PASSES)}. Repeatable.")
@click.option("--one-function", is_flag=True, default=None, help="No function of its own for a tree in branches.")
@click.option("--fix", multiple=True, help="A parameter that becomes a constant. Repeatable.")
@click.option("--dump-passes", "dumps", type=FOLDER, help="Folder for the decision as text after each pass.")
@out_option
def command(source: Path, grid: Path | None, seed: int, dumps: Path | None, out: Path, **given: Any) -> None:
    """Write the firmware folder OUT of SOURCE: C, header, vectors, manifest; of a student its adapter too.

    SOURCE is the folder of a student, or a model: CatBoost (.cbm, .json), XGBoost (.json), LightGBM (.txt), treelite
    (.tl).
    """
    chosen = {name: list(v) if isinstance(v, tuple) else v for name, v in given.items() if v not in (None, ())}
    options = validate(EmitOptions, chosen, "options of rlcc emit")
    with stage("emit") as (figures, _):
        if source.is_file():
            if "target" in chosen or "fix" in chosen:
                raise InputError("--target and --fix are for students; the C of a model fits any target")
            _emit_model(source, grid, options, seed, out, figures, dumps)
        else:
            if not source.exists():
                raise InputError(f"there is no {source}; give the folder of a student, or a model file")
            if grid is not None:
                raise InputError("--grid is for model files; a student brings its grid along")
            stages.emit(source, options, seed, out, figures, dumps)


def _emit_model(
    path: Path, grid: Path | None, options: EmitOptions, seed: int, out: Path, figures: Figures, dumps: Path | None
) -> None:
    from codegen.model_emit import at_most, emit_file

    details = emit_file(path, grid, out, seed=seed, options=options.compiler(), dumps=dumps)
    grids = ", ".join(f["field"] for f in details["features"])
    error, visits = max(details["error"]), details["visits"]
    figures += [
        f"{details['trees']} trees of depth <= {details['depth']}, {details['thresholds']} thresholds on {grids}",
        f"{details['task']}, {details['outputs']} x Q.{details['leaf_bits']}",
        f"off the library by {at_most(error)} at most" if error else "equal to the library",
        f"{details['form']['form']}, {details['form']['predicted']['tables']} B of tables",
        f"{details['vectors']:,} vectors, {visits['made']} of {visits['wanted']} branches visited on both sides",
    ]
