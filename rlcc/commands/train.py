"""`rlcc train RECIPE`: train a teacher in the native simulator."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from decision.documents import load_toml, read_text
from rlcc.console import Figures, Progress, stage
from rlcc.options import FOLDER, out_option
from rlcc.where import where_options

if TYPE_CHECKING:
    from teachers.round_report import RoundReport

Method = Callable[[Path, Path, bool, Figures, Progress], list[str]]
ByRounds = Callable[[Path, Path, bool, Progress], "RoundReport"]


@click.command()
@click.argument("recipe_file", metavar="RECIPE", type=FOLDER)
@click.option("--resume", is_flag=True, help="Go on from the checkpoint of an interrupted training.")
@out_option
@where_options("threads")
def command(recipe_file: Path, resume: bool, out: Path) -> None:
    """Train the policy of RECIPE; write policy.safetensors and policy.toml to OUT.

    A recipe with [training] is for ADPG, one continuous action of flows; with [ppo] for PPO, flows too; with [ddqn] for
    DDQN, flows or agents asked every period that choose a row of a table, from the beginning or from a teacher on,
    between runs or online; with [ddpg] for DDPG, flows, or such agents that set knobs between two ends; with [pg] for a
    policy gradient, long flows for each of which a row of a table is chosen. A checkpoint beside OUT is written after
    every episode: interrupt at will and go on with --resume.
    """
    with stage("train") as (figures, progress):
        tables = _tables(recipe_file)
        method = next((method for table, method in METHODS.items() if table in tables), _adpg)
        measured = method(recipe_file, out, resume, figures, progress)
    for line in measured:
        click.echo(f"  {line}")


def _tables(recipe_file: Path) -> list[str]:
    """Of the recipe; none where it is not TOML, which its reader tells."""
    try:
        return list(tomllib.loads(read_text(recipe_file)))
    except (ValueError, RecursionError):
        return []


def _adpg(recipe_file: Path, out: Path, resume: bool, figures: Figures, progress: Progress) -> list[str]:
    from teachers.adpg import Step, train
    from teachers.curriculum import load_recipe

    def tell(step: Step) -> None:
        judged = "" if step.cost is None else f", cost {step.cost:.3f} (best {step.best_cost:.3f})"
        progress(f"episode {step.episode} of {step.episodes}{judged}")

    report = train(load_recipe(recipe_file), out, resume, tell)
    figures += [
        f"{report.teacher.policy.name} {report.teacher.hash[:12]}",
        f"{report.episodes} episodes{', stopped early' if report.stopped_early else ''}",
        f"best {report.best_episode} with cost {report.cost:.3f}",
    ]
    return [str(m) for m in report.measured]


def _ddqn(recipe_file: Path, out: Path, resume: bool, progress: Progress) -> "RoundReport":
    from teachers import ddqn, ddqn_trigger, online
    from teachers.ddqn_options import DdqnConfig

    config = load_toml(DdqnConfig, recipe_file)
    if config.ddqn.trigger is not None:
        return ddqn_trigger.train(config, out, resume, progress)
    train = ddqn.train if config.ddqn.exchange is None else online.train
    return train(config, out, resume, progress)


def _ddpg(recipe_file: Path, out: Path, resume: bool, progress: Progress) -> "RoundReport":
    from teachers import ddpg
    from teachers.ddpg_options import DdpgConfig

    return ddpg.train(load_toml(DdpgConfig, recipe_file), out, resume, progress)


def _pg(recipe_file: Path, out: Path, resume: bool, progress: Progress) -> "RoundReport":
    from teachers import pg
    from teachers.pg_options import PgConfig

    return pg.train(load_toml(PgConfig, recipe_file), out, resume, progress)


def _ppo(recipe_file: Path, out: Path, resume: bool, progress: Progress) -> "RoundReport":
    from teachers import ppo
    from teachers.ppo_options import PpoConfig

    return ppo.train(load_toml(PpoConfig, recipe_file), out, resume, progress)


def _by_rounds(method: ByRounds) -> Method:
    """What is told of a training that goes round by round."""

    def told(recipe_file: Path, out: Path, resume: bool, figures: Figures, progress: Progress) -> list[str]:
        report = method(recipe_file, out, resume, progress)
        figures += [
            f"{report.teacher.policy.name} {report.teacher.hash[:12]}",
            f"{report.rounds} rounds",
            f"best {report.best_round} with {report.yardstick.told.format(report.best)}",
        ]
        return [f"round {number}: {report.yardstick.text.format(value)}" for number, value in report.curve]

    return told


METHODS = {name: _by_rounds(method) for name, method in (("ddqn", _ddqn), ("ddpg", _ddpg), ("pg", _pg), ("ppo", _ppo))}
"""By the table of a recipe that is for each; one without any is for ADPG."""
