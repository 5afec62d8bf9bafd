"""`rlcc train RECIPE`: train a teacher by ADPG in the native simulator."""

from pathlib import Path

import click

from rlcc.console import stage
from rlcc.options import FOLDER, out_option


@click.command()
@click.argument("recipe_file", metavar="RECIPE", type=FOLDER)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted training.")
@out_option
def command(recipe_file: Path, resume: bool, out: Path) -> None:
    """Train the policy of RECIPE; write policy.safetensors and policy.toml to OUT.

    A checkpoint beside OUT is written after every episode: interrupt at will and go on with --resume.
    """
    from teachers.adpg import Step, train
    from teachers.curriculum import load_recipe

    config = load_recipe(recipe_file)
    with stage("train") as (figures, progress):

        def tell(step: Step) -> None:
            judged = "" if step.cost is None else f", cost {step.cost:.3f} (best {step.best_cost:.3f})"
            progress(f"episode {step.episode} of {step.episodes}{judged}")

        report = train(config, out, resume, tell)
        figures += [
            f"{report.teacher.policy.name} {report.teacher.hash[:12]}",
            f"{report.episodes} episodes{', stopped early' if report.stopped_early else ''}",
            f"best {report.best_episode} with cost {report.cost:.3f}",
        ]
    for m in report.measured:
        click.echo(f"  {m}")
