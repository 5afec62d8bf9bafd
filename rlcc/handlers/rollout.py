"""`rlcc rollout TEACHER`: watch a teacher decide in the network; write the rollouts (Parquet)."""

from pathlib import Path

from decision.artefact.documents import validate
from decision.artefact.quantity import parse_duration_ps
from distill.options import RolloutOptions
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.options import quantity
from teachers.load import load

TIME = quantity(parse_duration_ps)


def handle(
    teacher: Path, scenarios: tuple[str, ...], seeds: tuple[int, ...], duration: int, decision_latency: int, out: Path
) -> None:
    times = {"duration": f"{duration} ps", "decision_latency": f"{decision_latency} ps"}
    chosen = {"scenarios": list(scenarios), "seeds": list(seeds), **times}
    options = validate(RolloutOptions, chosen, "options of rlcc rollout")
    with stage("rollout") as (figures, progress):
        stages.rollout(load(teacher), options, out, figures, progress)
