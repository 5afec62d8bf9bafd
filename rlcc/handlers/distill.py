"""`rlcc distill TEACHER ROLLOUTS`: fit an integer tree ensemble to a teacher by DAgger."""

from pathlib import Path
from typing import Any

from decision.artefact.documents import validate
from decision.artefact.manifest import opened
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import KIND as ROLLOUTS
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from teachers.load import load


def handle(teacher: Path, rollouts: Path, seed: int, out: Path, **limits: Any) -> None:
    options = validate(DistillOptions, given(limits), "options of rlcc distill")
    network = validate(RolloutOptions, opened(rollouts, ROLLOUTS).details["options"], str(rollouts))
    with stage("distill") as (figures, progress):
        stages.distill(load(teacher), rollouts, options, network, seed, out, figures, progress)
