"""`rlcc distill TEACHER ROLLOUTS`: fit an integer tree ensemble to a teacher by DAgger."""

from pathlib import Path

import click

from decision.artefact.documents import validate
from decision.artefact.manifest import opened
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import KIND as ROLLOUTS
from rlcc import stages
from rlcc.commands.console import stage
from rlcc.commands.options import FOLDER, out_option, renamed_option
from rlcc.commands.where import where_options
from teachers.load import load

DEFAULT = DistillOptions()


@click.command()
@click.argument("teacher", type=FOLDER)
@click.argument("rollouts", type=FOLDER)
@click.option("--trees", type=int, default=DEFAULT.trees, show_default=True, help="Maximum number of trees.")
@click.option("--depth", type=int, default=DEFAULT.depth, show_default=True, help="Maximum tree depth.")
@click.option(
    "--borders", type=int, default=DEFAULT.borders, show_default=True, help="Candidate thresholds per feature."
)
@click.option("--window", type=int, help="History length, decisions. [default: the teacher's window]")
@click.option("--rounds", type=int, default=DEFAULT.rounds, show_default=True, help="Maximum number of DAgger rounds.")
@click.option(
    "--patience",
    type=int,
    default=DEFAULT.patience,
    show_default=True,
    help="Stop after this many rounds without improvement.",
)
@click.option("--rows", type=int, default=DEFAULT.rows, show_default=True, help="Decisions sampled per run.")
@click.option(
    "--uniform-state-samples",
    type=float,
    default=DEFAULT.uniform_state_samples,
    show_default=True,
    help="Weight of uniform-state samples, in runs.",
)
@click.option(
    "--monotone-decreasing",
    multiple=True,
    help="Feature with a monotone decreasing effect on the rate, by its name in student.json.",
)
@click.option(
    "--max-deviation",
    type=float,
    help="Maximum deviation from the teacher's action range; states beyond it become rows.",
)
@renamed_option("--anywhere", "--uniform-state-samples")
@renamed_option("--falling", "--monotone-decreasing")
@renamed_option("--within", "--max-deviation")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True)
@out_option
@where_options("threads")
def command(
    teacher: Path, rollouts: Path, seed: int, out: Path, monotone_decreasing: tuple[str, ...], **limits: float | None
) -> None:
    """Distil TEACHER into trees on ROLLOUTS; write student.json and student.cbm to OUT.

    DAgger rounds run in the networks of the rollouts.
    """
    asked = {name: value for name, value in limits.items() if value is not None}
    options = validate(
        DistillOptions, asked | {"monotone_decreasing": list(monotone_decreasing)}, "options of rlcc distill"
    )
    network = validate(RolloutOptions, opened(rollouts, ROLLOUTS).details["options"], str(rollouts))
    with stage("distill") as (figures, progress):
        stages.distill(load(teacher), rollouts, options, network, seed, out, figures, progress)
