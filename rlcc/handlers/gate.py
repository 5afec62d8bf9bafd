"""`rlcc gate FIRMWARE`: a verdict for a CI job."""

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from decision.artefact.cache import private_cache
from decision.artefact.documents import dump_json, validate
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from emulator.core_ahead import built_ahead
from netsim.deployment import Deployment
from rlcc.commands.console import judged, print_verdict, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import given_flags, not_within
from rlcc.commands.time_limit import time_limit
from rlcc.gate.check_cache import Remembered
from rlcc.gate.job import Evidence
from rlcc.gate.judgement import Judgement
from rlcc.gate.reference import read_reference
from rlcc.gate.verdict import Verdict
from rlcc.recipe import EmulateOptions, GateOptions, Sizes, deployment_of, load_recipe, teacher_path
from rlcc.reports import folder as reports
from rlcc.reports import github, sarif
from rlcc.reports.html.page import page

WHERE = "options of rlcc gate"
SIMULATION_ONLY = (
    "rollouts", "scenarios", "seeds", "require", "device", "linux",
    "max_outside", "around", "around_action", "no_distance_proof",
)  # fmt: skip
"""Parameters of the simulations that --quick skips."""


def handle(firmware: Path, out: Path | None, **asked: Any) -> int:
    folder = out or firmware.resolve().parent / ("quick-verdict" if asked["quick"] else "verdict")
    try:
        if out is not None:
            not_within(firmware, out)
        _keep_reference(asked["reference"], folder)
        if firmware.resolve() != folder.resolve():
            reports.discard(folder)  # before anything may be wrong: what stands there after a run is that run's
        if asked["sarif_file"] is not None:
            sarif.discard(asked["sarif_file"], firmware)
        with time_limit(asked["time_limit"], "the gate"), private_cache() if asked["no_cache"] else nullcontext():
            verdict = _judged(firmware, folder, asked)
    except InputError as error:
        if github.running_there():
            click.echo(github.refusal(str(error)))
        raise
    print_verdict(verdict, folder)
    if github.running_there():
        for line in github.failures(verdict, firmware):
            click.echo(line)
        github.summarise(verdict, os.environ)
    return 0 if verdict.holds else 1


def without_recipe(verdict: Verdict) -> str:
    """Returns what a missing recipe has to do with the failures; empty where none of their limits is a recipe's."""
    names = [check.id for check in verdict.failures() if check.group in ("teacher", "network", "behaviour")]
    if not names:
        return ""
    return (
        f"judged without a recipe: {', '.join(names[:3])}{' ..' * (len(names) > 3)} used default networks and limits; "
        "give --recipe FILE if one made this firmware"
    )


def _keep_reference(reference: Path | None, folder: Path) -> None:
    """InputError where this run's verdict would take the place of the one that it is held against."""
    if reference is not None and folder.resolve() in (reference.resolve(), *reference.resolve().parents):
        raise InputError(f"{reference} is in {folder}, which this run writes anew; keep the reference elsewhere")


def _judged(firmware: Path, folder: Path, asked: dict[str, Any]) -> Verdict:
    from rlcc.gate import gate

    engine, options, teacher = EmulateOptions(), None, asked["teacher"]
    deployment = Deployment()
    if asked["recipe_file"] is not None:
        recipe = load_recipe(asked["recipe_file"])
        engine, options = recipe.emulate, recipe.gate
        deployment = deployment_of(recipe, asked["recipe_file"])
        teacher = teacher or teacher_path(recipe, asked["recipe_file"])
    chosen = given({name: asked[name] for name in EmulateOptions.model_fields})
    engine = validate(EmulateOptions, engine.model_dump() | chosen, WHERE)
    options = _options(options, asked)
    if asked["max_regression"] is not None and asked["reference"] is None:
        raise InputError("--max-regression is what may be above a reference; give --reference too")
    if (asked["attestation"] is None) != (asked["key"] is None):
        raise InputError("--attestation is checked with the public key of who signed it; give --attestation and --key")
    if asked["quick"] and (refused := given_flags(*SIMULATION_ONLY)):
        raise InputError(
            f"{next(iter(refused.values()))} is for simulations, and --quick skips them; leave out one of the two"
        )
    reference = read_reference(asked["reference"]) if asked["reference"] is not None else None
    remembered = Remembered(use=not asked["no_cache"])
    evidence = Evidence(
        asked["certificate"], asked["rollouts"], reference, remembered, deployment, recipe=asked["recipe_file"]
    )
    with stage("gate") as (figures, progress), built_ahead(engine.toolchain().profile.core):
        judgement = gate.judge(firmware, teacher, engine, options, progress, evidence=evidence, quick=asked["quick"])
        if asked["attestation"] is not None:
            verdict = _with_attestation(judgement, asked)
            judgement = replace(judgement, verdict=verdict)
        if asked["recipe_file"] is None:
            noted = judgement.verdict.model_copy(update={"note": without_recipe(judgement.verdict)})
            judgement = replace(judgement, verdict=noted)
        verdict = judgement.verdict
        progress("report")
        recipe_name = None if asked["recipe_file"] is None else asked["recipe_file"].name
        reports.write(verdict, page(judgement, engine, options, recipe_name, folder), folder)
        if asked["sarif_file"] is not None:
            write_atomically(asked["sarif_file"], dump_json(sarif.sarif(verdict, firmware)))
        figures |= judged(verdict, folder) | remembered.told()
    return verdict


def _with_attestation(judgement: Judgement, asked: dict[str, Any]) -> Verdict:
    """Returns the verdict with one more check, last of the group proof: what was judged is as signed."""
    from rlcc.attestation import attested

    verdict, sights = judgement.verdict, judgement.sights
    check = attested(sights.firmware, sights.certificate, asked["attestation"], asked["key"])
    return verdict.model_copy(update={"checks": [*verdict.checks, check]})


def _options(recipe: GateOptions | None, asked: dict[str, Any]) -> GateOptions:
    """The recipe's limits with what the command line says instead; without a recipe a budget must be given."""
    if recipe is None and asked["budget"] is None:
        raise InputError("rlcc gate needs --budget or a --recipe that has one")
    base: dict[str, Any] = {} if recipe is None else recipe.model_dump(mode="json")
    names = ("budget", "scenarios", "seeds", "require", "margin", "max_regression", "run_on_host", "device")
    said = given({name: asked[name] for name in names} | {"proof": False if asked["no_certificate"] else None})
    if asked["linux"]:
        base["linux"] = (base.get("linux") or {}) | {"paths": list(asked["linux"])}
    sizes = {name: asked[f"max_{name}"] for name in Sizes.model_fields}
    around = {"limit": asked["max_outside"], "share": asked["around"], "action": asked["around_action"]}
    around["proof"] = False if asked["no_distance_proof"] else None
    base["neighbourhood"] = base.get("neighbourhood", {}) | given(around)
    base["sizes"] = base.get("sizes", {}) | given(sizes)
    return validate(GateOptions, base | said, WHERE)
