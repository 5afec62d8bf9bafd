"""The columns of Table 1 as firmware: the small LSTM and the MLP in int8, their trees as if-else and as rlcc emits.

Made by rlcc's own commands, kept in a work folder, made again only where they are missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError
from papers.contenders import TEACHERS
from rlcc import cli

SCENARIOS = ("many-to-one:2", "many-to-one:8", "many-to-one:64", "many-to-one:512", "many-to-one:1024")
"""What the quantisation is calibrated on: the sizes that the recipes distil from."""


@dataclass(frozen=True)
class Contender:
    """A column: its firmware, what the paper has in its place."""

    name: str
    what: str
    firmware: Path
    paper: str


def contenders(work: Path, student: Path, say: Callable[[str], None]) -> tuple[Contender, ...]:
    """Make what is missing in ``work``; ``student``: the distilled trees."""
    if not student.is_dir():
        raise InputError(f"there is no {student}; make it with `make demo`, or name another student with --student")
    return (
        Contender("LSTM", "int8, 12 + LSTM 12", _network(work, "rl-cc-lstm-small", "lstm-int8", say), "LSTM"),
        Contender("MLP", "int8, hidden 12", _network(work, "rl-cc-mlp", "mlp-int8", say), "MLP"),
        Contender("trees", "if-else", _trees(work, student, "branches", say), "trees"),
        Contender("trees, rlcc", "as `rlcc emit` makes them", _trees(work, student, "auto", say), "trees"),
    )


def _network(work: Path, teacher: str, form: str, say: Callable[[str], None]) -> Path:
    folder = work / teacher
    if not (folder / "rollouts").is_dir():
        say(f"{teacher}: rollouts")
        scenarios = [word for name in SCENARIOS for word in ("--scenario", name)]
        _run("rollout", TEACHERS / teacher, *scenarios, "--out", folder / "rollouts")
    if not (folder / form).is_dir():
        say(f"{teacher}: {form}")
        _run("emit", TEACHERS / teacher, "--form", form, "--rollouts", folder / "rollouts", "--out", folder / form)
    return folder / form


def _trees(work: Path, student: Path, form: str, say: Callable[[str], None]) -> Path:
    say(f"trees: {form}")
    folder = work / "trees" / form
    _run("emit", student, "--form", form, "--out", folder)
    return folder


def _run(*arguments: object) -> None:
    if cli.main([str(a) for a in arguments]) != 0:
        raise InputError(f"`rlcc {' '.join(map(str, arguments))}` failed")
