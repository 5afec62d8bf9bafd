"""`rlcc rollout TEACHER`: watch a teacher decide in the network; write the rollouts (Parquet)."""

from pathlib import Path
from typing import Any

from decision.artefact.documents import validate
from distill.options import RolloutOptions
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.model_options import given
from teachers.load import load


def handle(teacher: Path, out: Path, **asked: Any) -> None:
    options = validate(RolloutOptions, given(asked), "options of rlcc rollout")
    with stage("rollout") as (figures, progress):
        stages.rollout(load(teacher), options, out, figures, progress)
