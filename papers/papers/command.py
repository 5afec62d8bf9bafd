"""What the commands of the papers' pages have in common: their options, where files go, and how they end."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.policy.student import NAME, Student, load_student
from papers import contenders
from papers.contenders import PAGES, ROOT, TEACHERS, Contender
from papers.runs import Metrics, run_all
from papers.sections import Section, wanted
from rlcc.commands.run_location import add_options, place_of
from teachers.load import load

SEEDS = 3


def page_parser(page: str, description: str, work: str = "kept runs") -> argparse.ArgumentParser:
    """Options of `python -m papers.PAGE`: seeds, place of the runs, folder of finished runs."""
    parser = argparse.ArgumentParser(prog=f"python -m papers.{page}", description=description)
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=SEEDS, metavar="N", help="runs of each")
    add_options(parser)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "papers", help=work)
    return parser


def add_docs(parser: argparse.ArgumentParser) -> None:
    """For a page with pictures."""
    parser.add_argument("--docs", type=Path, default=PAGES, help="where page and pictures go")


def add_student(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--student", type=Path, help="student.json of recipes/rl-cc.toml; left out, it is made")


def student_of(options: argparse.Namespace) -> Student:
    """The one that was named, or that of RL-CC's table 2."""
    file = options.student or contenders.firmware(options.work, load(TEACHERS / "rl-cc-mlp")) / NAME
    return load_student(file)


def run_sections(
    made: Sequence[Section], who: Mapping[str, Contender], seeds: Sequence[int], options: argparse.Namespace
) -> dict[tuple[str, str, int], Metrics]:
    """All that sections are written from, run and kept where the options say."""
    return run_all(wanted(made, who, seeds), options.work / "runs", place_of(options))


def written(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, write: Callable[[argparse.Namespace], None]
) -> int:
    """The page that the arguments ask for: 0, or 2 with a sentence on why it could not be."""
    options = parser.parse_args(arguments)
    try:
        write(options)
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


def store(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
