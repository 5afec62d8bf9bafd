"""`rlcc run RECIPE`: every stage of a recipe, from the teacher to the verdict."""

from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path

from codegen.emit import emission_of, options_for
from codegen.targets import targets_named, unserved
from decision.artefact.cache import private_cache
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import check_place
from decision.artefact.renamed_keys import from_record
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.deciders import student_of
from distill.options import DistillOptions
from emulator.build import build as build_firmware
from emulator.core_ahead import built_ahead
from emulator.firmware_folder import read_firmware
from rlcc import stages
from rlcc.commands.console import counted, judged, print_verdict, stage
from rlcc.commands.run import RUNS, STAGES
from rlcc.gate.check_cache import Remembered
from rlcc.gate.emulation_store import KIND as EMULATION
from rlcc.gate.emulation_store import keep
from rlcc.gate.job import Evidence
from rlcc.gate.network_cache import NetworkCache
from rlcc.recipe import Recipe, deployment_of, load_recipe, teacher_path
from rlcc.reports import folder as reports
from rlcc.reports.html.page import page
from teachers.load import load
from verify.prover.certify import unprovable


def check_fresh(recipe: Recipe, first: str, rollouts: Path, student: Path, firmware: Path) -> None:
    """The artefact that a run starts from must be of this recipe: InputError where it was made with other options."""
    made: object = None
    asked: object = None
    place = rollouts
    if first == "distill":
        made, asked = opened(rollouts, "rollouts").details.get("options"), recipe.rollout.model_dump(mode="json")
    elif first == "emit":
        place = student
        made = from_record(DistillOptions, student_of(opened(student, "student")).report.get("options", {}))
        asked = recipe.distill.model_dump(mode="json")
    elif first in ("emulate", "verify", "gate"):
        place = firmware
        emission = emission_of(opened(firmware, "firmware"))
        made = (emission.target, emission.options, list(emission.fix))
        asked = (recipe.emit.target, options_for(recipe.emit.target, recipe.emit.compiler()), recipe.emit.constants)
    if made != asked:
        raise InputError(f"{place} was made with other options than the recipe's; start at an earlier stage")


def handle(recipe_file: Path, out: Path | None, first: str, no_cache: bool) -> int:
    with private_cache() if no_cache else nullcontext(), ExitStack() as until_end:
        return _run(recipe_file, out, first, Remembered(use=not no_cache), until_end)


def _run(recipe_file: Path, out: Path | None, first: str, remembered: Remembered, until_end: ExitStack) -> int:
    from rlcc.gate import gate as gate_stage
    from rlcc.gate.certified import PLACE as CERTIFICATE
    from rlcc.gate.certified import discard as discard_certificate
    from rlcc.gate.networks_ahead import networks_ahead

    recipe = load_recipe(recipe_file)
    folder = out or RUNS / recipe.name
    reports.discard(folder / "verdict")
    teacher, deployment = teacher_path(recipe, recipe_file), deployment_of(recipe, recipe_file)
    loaded = load(teacher) if recipe.pupil.of == FLOW_RATE else None  # flows' own options are their teacher's
    agents = recipe.pupil.of if loaded is None else loaded.policy.observation.agents
    reasons = [unserved(target, agents) for target in targets_named(recipe.emit.target)]
    if all(reasons):
        raise InputError(f"{recipe_file}: emit.target: {reasons[0]}")
    recipe.emit.compiler()
    tools = recipe.emulate.toolchain()
    to_run = STAGES[STAGES.index(first) :]
    rollouts, student, firmware = folder / "rollouts", folder / "student", folder / "firmware"
    for kind in ("rollouts", "student", "firmware", EMULATION):
        check_place(folder / kind, kind)
    check_fresh(recipe, first, rollouts, student, firmware)
    loaded = loaded or load(teacher)
    cache = NetworkCache(stored=remembered.use)
    if "emulate" in to_run[1:]:
        until_end.enter_context(built_ahead(tools.profile.core))

    if "rollout" in to_run:
        with stage("rollout") as (figures, progress):
            stages.rollout(loaded, recipe.rollout, rollouts, figures, progress, deployment)
    if "distill" in to_run:
        with stage("distill") as (figures, progress):
            stages.distill_recipe(
                recipe, loaded, rollouts, student, figures, progress, deployment, cache, cached=remembered.use
            )
            if cache.reused:
                figures["cached"] = counted(cache.reused, "network run")
    if "emit" in to_run:
        with stage("emit") as (figures, _):
            stages.emit(student, recipe.emit, recipe.seed, firmware, figures)
    evidence = Evidence(
        remembered=remembered, deployment=deployment, teacher=loaded, networks=cache, recipe=recipe_file
    )
    if "emulate" in to_run:
        with stage("emulate") as (figures, progress):
            build = build_firmware(read_firmware(firmware), tools)
            report = stages.emulate(build, figures, progress)
            keep(report, build, folder / EMULATION, evidence.remembered)
            evidence = replace(evidence, build=build, emulation=report)
    if "verify" in to_run:
        certificate = firmware.resolve().parent / CERTIFICATE
        discard_certificate(certificate)
        ahead_of_gate = networks_ahead(teacher, recipe.emulate, recipe.gate, evidence)
        with stage("verify") as (figures, progress), ahead_of_gate:
            build = evidence.build or build_firmware(read_firmware(firmware), tools)
            evidence = replace(evidence, build=build)
            missing = unprovable(build) if recipe.gate.proof else "gate.proof is false"
            if not missing:
                stages.certify(build, loaded, recipe.gate, certificate, figures, progress, evidence.remembered)
            else:
                figures["not proved"] = missing
    with stage("gate") as (figures, progress):
        judgement = gate_stage.judge(firmware, teacher, recipe.emulate, recipe.gate, progress, evidence=evidence)
        verdict = judgement.verdict
        progress("report")
        place = folder / "verdict"
        reports.write(verdict, page(judgement, recipe.emulate, recipe.gate, recipe_file.name, place), place)
        figures |= judged(verdict, place) | remembered.told()
    print_verdict(verdict, place)
    return 0 if verdict.passed else 1
