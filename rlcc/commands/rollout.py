"""`rlcc rollout TEACHER`: watch a teacher decide in the network; write the rollouts (Parquet)."""

from pathlib import Path

import click

from decision.artefact.documents import validate
from decision.artefact.quantity import parse_duration_ps
from distill.options import RolloutOptions
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.options import FOLDER, out_option, quantity, scenario_option, seed_option
from rlcc.commands.where import where_options
from teachers.load import load

TIME = quantity(parse_duration_ps)


@click.command()
@click.argument("teacher", type=FOLDER)
@scenario_option
@seed_option(1)
@click.option("--duration", default="40 ms", show_default=True, callback=TIME, help="Duration of each run.")
@click.option("--decision-latency", default="900 ns", show_default=True, callback=TIME, help="Decision latency.")
@out_option
@where_options("threads")
def command(
    teacher: Path, scenarios: tuple[str, ...], seeds: tuple[int, ...], duration: int, decision_latency: int, out: Path
) -> None:
    """Simulate TEACHER; write one row per decision to OUT/rollouts.parquet."""
    times = {"duration": f"{duration} ps", "decision_latency": f"{decision_latency} ps"}
    chosen = {"scenarios": list(scenarios), "seeds": list(seeds), **times}
    options = validate(RolloutOptions, chosen, "options of rlcc rollout")
    with stage("rollout") as (figures, progress):
        stages.rollout(load(teacher), options, out, figures, progress)
