"""`rlcc train RECIPE`: train a teacher in the native simulator."""

import tomllib
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from decision.artefact.documents import load_toml, read_text
from rlcc.commands.console import Figures, Progress, stage

if TYPE_CHECKING:
    from teachers.methods import Method
    from teachers.round_report import RoundReport


def handle(recipe_file: Path, resume: bool, out: Path) -> None:
    with stage("train") as (figures, progress):
        from teachers.methods import ADPG, method_of

        method = method_of(_tables(recipe_file))
        train = _adpg if method is ADPG else partial(_by_rounds, method)
        measured = train(recipe_file, out, resume, figures, progress)
    for line in measured:
        click.echo(f"  {line}")


def _tables(recipe_file: Path) -> list[str]:
    """Returns the names of the recipe's tables; none if it is not TOML, which its reader reports."""
    try:
        return list(tomllib.loads(read_text(recipe_file)))
    except (ValueError, RecursionError):
        return []


def _adpg(recipe_file: Path, out: Path, resume: bool, figures: Figures, progress: Progress) -> list[str]:
    from teachers.adpg import EpisodeReport, train
    from teachers.curriculum import load_recipe

    def tell(step: EpisodeReport) -> None:
        judged = "" if step.cost is None else f", cost {step.cost:.3f} (best {step.best_cost:.3f})"
        progress(f"episode {step.episode} of {step.episodes}{judged}")

    report = train(load_recipe(recipe_file), out, resume, tell)
    figures |= {
        "teacher": f"{report.teacher.policy.name} {report.teacher.hash[:12]}",
        "episodes": f"{report.episodes}{', stopped early' if report.stopped_early else ''}",
        "best episode": f"{report.best_episode}, cost {report.cost:.3f}",
    }
    return [str(m) for m in report.measured]


def _by_rounds(
    method: "Method", recipe_file: Path, out: Path, resume: bool, figures: Figures, progress: Progress
) -> list[str]:
    """Returns the report of a training that goes round by round."""
    report = cast("RoundReport", method.train(load_toml(method.config, recipe_file), out, resume, progress))
    figures |= {
        "teacher": f"{report.teacher.policy.name} {report.teacher.hash[:12]}",
        "rounds": str(report.rounds),
        "best round": f"{report.best_round}, {report.yardstick.told.format(report.best)}",
    }
    return [f"round {number}: {report.yardstick.text.format(value)}" for number, value in report.curve]
