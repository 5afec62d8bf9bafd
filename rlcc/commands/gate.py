"""`rlcc gate FIRMWARE`: PASS or FAIL for a CI job."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from decision.artefact.cache import private_cache
from decision.artefact.documents import dump_json, validate, write_atomically
from decision.artefact.errors import InputError
from decision.artefact.quantity import parse_duration_ps
from netsim.deployment import Deployment
from rlcc.commands.console import judged, print_verdict, stage
from rlcc.commands.options import FOLDER, not_within, quantity, share
from rlcc.commands.time_limit import time_limit
from rlcc.commands.where import where_options
from rlcc.gate.judgement import Judgement
from rlcc.gate.reference import read_reference
from rlcc.gate.remembered import Remembered
from rlcc.gate.verdict import Verdict
from rlcc.recipe import EmulateOptions, GateOptions, deployment_of, load_recipe, teacher_path
from rlcc.reports import folder as reports
from rlcc.reports import github, sarif
from rlcc.reports.html.page import page

Command = TypeVar("Command", bound=Callable[..., Any])
WHERE = "options of rlcc gate"
SIMULATION_ONLY = {
    "rollouts": "--rollouts", "scenarios": "--scenario", "seeds": "--seed", "linux": "--linux",
    "max_outside": "--max-outside", "around": "--around", "around_action": "--around-action",
    "no_distance_proof": "--no-distance-proof",
}  # fmt: skip
"""Options of the groups of checks that --quick skips, by parameter."""


def _limits(command: Command) -> Command:
    """What the firmware must hold."""
    bytes_of = click.IntRange(0, 2**31 - 1)
    for option in reversed(
        [
            click.option(
                "--budget", callback=quantity(parse_duration_ps), help='Maximum decision time, for example "0.9 us".'
            ),
            click.option(
                "--no-certificate",
                is_flag=True,
                help="Compare the budget with measured cycles only; require no certificate.",
            ),
            click.option(
                "--margin", callback=share, help='Margin on the slowest vector if nothing is proved. [default: "10 %"]'
            ),
            click.option("--max-code", type=bytes_of, help="Maximum code size, bytes. [default: the profile's]"),
            click.option(
                "--max-table", type=bytes_of, help="Maximum size of constant tables, bytes. [default: the profile's]"
            ),
            click.option(
                "--max-context", type=bytes_of, help="Maximum context size, bytes per flow. [default: the profile's]"
            ),
            click.option("--max-stack", type=bytes_of, help="Maximum stack size, bytes. [default: the profile's]"),
            click.option(
                "--max-outside",
                type=click.FloatRange(0, 4),
                help="Maximum deviation from the teacher's action range. [default: 0.25]",
            ),
            click.option(
                "--around", callback=share, help='Neighbourhood: relative change of each signal. [default: "20 %"]'
            ),
            click.option(
                "--around-action",
                type=click.FloatRange(0, 4),
                help="Neighbourhood: absolute change of each past action. [default: 0.02]",
            ),
            click.option(
                "--no-distance-proof",
                is_flag=True,
                help="Accept an unproved deviation bound; its check says why.",
            ),
            click.option("--reference", type=FOLDER, help="verdict.json of an earlier firmware, the reference."),
            click.option(
                "--max-regression", callback=share, help='Maximum regression from the reference. [default: "5 %"]'
            ),
        ]
    ):
        command = option(command)
    return command


@click.command()
@click.argument("firmware", type=FOLDER)
@click.option("--recipe", "recipe_file", type=FOLDER, help="Recipe with teacher, engine and limits.")
@click.option("--teacher", type=FOLDER, help="Teacher to compare the student with.")
@click.option("--profile", help="Engine profile, name or TOML file. [default: ibex-small]")
@click.option("--compiler", help="clang or gcc. [default: clang]")
@click.option("--optimise", help="Optimisation level. [default: -O2]")
@_limits
@click.option(
    "--rollouts", type=FOLDER, help="Held-out rollouts of `rlcc rollout`. [default: simulated with a separate seed]"
)
@click.option("--scenario", "scenarios", multiple=True, help="Closed-loop networks. Repeatable.")
@click.option("--seed", "seeds", multiple=True, type=click.IntRange(0), help="Closed-loop networks. Repeatable.")
@click.option(
    "--certificate", type=FOLDER, help="Certificate file. [default: certificate/certificate.json next to FIRMWARE]"
)
@click.option(
    "--attestation", type=FOLDER, help="Envelope of `rlcc attest`: files and claims must match. Requires --key."
)
@click.option("--key", type=FOLDER, help="Public Ed25519 key of the signer, PEM.")
@click.option(
    "--linux",
    multiple=True,
    metavar="PATH",
    help="Path for a run in a real kernel: RATE, RTT, QUEUE. netsim must predict it.",
)
@click.option(
    "--quick", is_flag=True, help="Skip rollouts and networks. The best outcome is then QUICK PASS, not PASS."
)
@click.option("--run-on-host", is_flag=True, help="Also run the C on this machine under sanitizers.")
@click.option(
    "--no-cache",
    is_flag=True,
    help="Take nothing from the cache: check a certificate again, and build the emulated core anew.",
)
@click.option("--time-limit", type=click.IntRange(1), default=900, show_default=True, help="Time limit, seconds.")
@click.option("--sarif", "sarif_file", type=FOLDER, help="Output file, SARIF.")
@click.option(
    "--out", type=FOLDER, help="Output folder of the verdict. [default: verdict, or quick-verdict, next to FIRMWARE]"
)
@where_options("threads")
def command(firmware: Path, out: Path | None, **asked: Any) -> int:
    """Judge FIRMWARE: equality with the model, proof, worst case and budget, sizes, regression, actions and closed
    loop.

    --quick judges all but actions and closed loop. A model from another library has no teacher; its actions and closed
    loop are not judged. Writes verdict.json, junit.xml, summary.md and report.html. Exit code 0: PASS or QUICK PASS, 1:
    FAIL, 2: could not run.
    """
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
    return 0 if verdict.passed else 1


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
    chosen = {name: asked[name] for name in ("profile", "compiler", "optimise") if asked[name] is not None}
    engine = validate(EmulateOptions, engine.model_dump() | chosen, WHERE)
    options = _options(options, asked)
    if asked["max_regression"] is not None and asked["reference"] is None:
        raise InputError("--max-regression is what may be above a reference; give --reference too")
    if (asked["attestation"] is None) != (asked["key"] is None):
        raise InputError("--attestation is checked with the public key of who signed it; give --attestation and --key")
    if asked["quick"] and (given := [flag for name, flag in SIMULATION_ONLY.items() if asked[name]]):
        raise InputError(f"{given[0]} is for rollouts and networks, which --quick skips; leave out one of the two")
    reference = read_reference(asked["reference"]) if asked["reference"] is not None else None
    remembered = Remembered(use=not asked["no_cache"])
    evidence = gate.Evidence(
        asked["certificate"], asked["rollouts"], reference, remembered, deployment, recipe=asked["recipe_file"]
    )
    with stage("gate") as (figures, progress):
        judgement = gate.judge(firmware, teacher, engine, options, progress, evidence=evidence, quick=asked["quick"])
        if asked["attestation"] is not None:
            verdict = _with_attestation(judgement, asked)
            judgement = replace(judgement, verdict=verdict)
        verdict = judgement.verdict
        progress("report")
        recipe_name = None if asked["recipe_file"] is None else asked["recipe_file"].name
        reports.write(verdict, page(judgement, engine, options, recipe_name, folder), folder)
        if asked["sarif_file"] is not None:
            write_atomically(asked["sarif_file"], dump_json(sarif.sarif(verdict, firmware)))
        figures |= judged(verdict, folder)
        if remembered.hits:
            figures["cached"] = ", ".join(remembered.hits)
    return verdict


def _with_attestation(judgement: Judgement, asked: dict[str, Any]) -> Verdict:
    """With the check that files and claims are as signed, last of those of the proof: of what was judged."""
    from rlcc.attestation import attested

    verdict, sights = judgement.verdict, judgement.sights
    check = attested(sights.firmware, sights.certificate, asked["attestation"], asked["key"])
    return verdict.model_copy(update={"checks": [*verdict.checks, check]})


def _options(recipe: GateOptions | None, asked: dict[str, Any]) -> GateOptions:
    """The recipe's limits with what the command line says instead; without a recipe a budget must be given."""
    if recipe is None and asked["budget"] is None:
        raise InputError("rlcc gate needs --budget or a --recipe that has one")
    base: dict[str, Any] = {} if recipe is None else recipe.model_dump(mode="json")
    said = {
        "budget": None if asked["budget"] is None else f"{asked['budget']} ps",
        "scenarios": list(asked["scenarios"]) or None,
        "seeds": list(asked["seeds"]) or None,
        "margin": asked["margin"],
        "max_regression": asked["max_regression"],
        "proof": False if asked["no_certificate"] else None,
        "run_on_host": True if asked["run_on_host"] else None,
    }
    if asked["linux"]:
        base["linux"] = (base.get("linux") or {}) | {"paths": list(asked["linux"])}
    sizes = {name: asked[f"max_{name}"] for name in ("code", "table", "context", "stack")}
    around = {"limit": asked["max_outside"], "share": asked["around"], "action": asked["around_action"]}
    around["proof"] = False if asked["no_distance_proof"] else None
    base["neighbourhood"] = base.get("neighbourhood", {}) | {k: v for k, v in around.items() if v is not None}
    base["sizes"] = base.get("sizes", {}) | {name: value for name, value in sizes.items() if value is not None}
    return validate(GateOptions, base | {name: value for name, value in said.items() if value is not None}, WHERE)
