"""`rlcc gate FIRMWARE`: PASS or FAIL for a CI job."""

from pathlib import Path

import click

from rlcc import gate, verdict
from rlcc.console import print_verdict, stage
from rlcc.options import FOLDER, quantity
from rlcc.recipe import EmulateOptions, GateOptions, load_recipe, teacher_path
from spec.documents import validate
from spec.errors import InputError
from spec.quantity import parse_duration_ps


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option("--recipe", "recipe_file", type=FOLDER, help="Takes teacher, engine and limits from here.")
@click.option("--teacher", type=FOLDER, help="The teacher that the student is compared with.")
@click.option("--profile", help="Engine profile, name or TOML file. [default: ibex-small]")
@click.option("--compiler", help="clang or gcc. [default: clang]")
@click.option("--optimise", help="Optimisation level. [default: -O2]")
@click.option("--budget", callback=quantity(parse_duration_ps), help='What a decision may take, for example "0.9 us".')
@click.option("--scenario", "scenarios", multiple=True, help="Of the closed loop; repeatable.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Of the closed loop; repeatable.")
@click.option(
    "--certificate", type=FOLDER, help="Of the proof. [default: certificate/certificate.json beside FIRMWARE]"
)
@click.option("--out", type=FOLDER, help="Folder of the verdict. [default: verdict beside FIRMWARE]")
def command(
    firmware: Path,
    recipe_file: Path | None,
    teacher: Path | None,
    profile: str | None,
    compiler: str | None,
    optimise: str | None,
    budget: int | None,
    scenarios: tuple[str, ...],
    seeds: tuple[int, ...],
    certificate: Path | None,
    out: Path | None,
) -> int:
    """Judge FIRMWARE: equality with the model, proof, worst case against the budget, closed loop against its teacher.

    Writes verdict.json, junit.xml and summary.md. Exit code 0: PASS, 1: FAIL, 2: could not run.
    """
    folder = out or firmware.resolve().parent / "verdict"
    if firmware.resolve() != folder.resolve():
        verdict.discard(folder)  # before anything may be wrong: what stands there after a run is that run's
    engine, limits = EmulateOptions(), None
    if recipe_file is not None:
        recipe = load_recipe(recipe_file)
        engine, limits = recipe.emulate, recipe.gate
        teacher = teacher or teacher_path(recipe, recipe_file)
    if teacher is None:
        raise InputError("rlcc gate needs --teacher or a --recipe that names one")
    where = "options of rlcc gate"
    chosen = {"profile": profile, "compiler": compiler, "optimise": optimise}
    engine = validate(EmulateOptions, engine.model_dump() | {k: v for k, v in chosen.items() if v is not None}, where)
    given = {"budget": budget, "scenarios": list(scenarios) or None, "seeds": list(seeds) or None}
    options = _limits(limits, {k: v for k, v in given.items() if v is not None}, where)
    with stage("gate") as (figures, progress):
        found = gate.judge(firmware, teacher, engine, options, progress, certificate=certificate)
        verdict.write(found, folder)
        figures += [f"{len(found.checks)} checks, {len(found.failures())} failed", str(folder / verdict.JSON)]
    print_verdict(found)
    return 0 if found.passed else 1


def _limits(recipe: GateOptions | None, given: dict[str, object], where: str) -> GateOptions:
    """The recipe's limits with what the command line says instead; without a recipe a budget must be given."""
    if recipe is None and "budget" not in given:
        raise InputError("rlcc gate needs --budget or a --recipe that has one")
    base = recipe.model_dump(mode="json") if recipe is not None else {"scenarios": ["many-to-one:64"]}
    if "budget" in given:
        given = given | {"budget": f"{given['budget']} ps"}
    return validate(GateOptions, base | given, where)
