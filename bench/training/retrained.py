"""Whether the recipes of fixtures/teachers end in what is shipped, and what a training costs.

    python -m bench.training.retrained [NAME ..] [--out FILE]

Every recipe is trained anew as a user does, by `rlcc train` in a process of its own. The result is the shipped teacher
if all of its files have the same bytes. Exit code 1 where one has others.
"""

import argparse
import filecmp
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.cpu import children_s
from decision.artefact import manifest
from decision.artefact.documents import load_json, load_toml, read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.commands.streams import tell
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.methods import method_of

ROOT = Path(__file__).resolve().parents[2]
TEACHERS = ROOT / "fixtures" / "teachers"
RECIPES = ROOT / "recipes"
NAMES = tuple(sorted(folder.name for folder in TEACHERS.iterdir() if (folder / manifest.NAME).exists()))
PAGE = ROOT / "docs" / "results" / "retrained.md"


@dataclass(frozen=True)
class Retrained:
    """``others``: the files that differ from the shipped ones. Seconds of all threads, and of the clock."""

    name: str
    method: str
    seed: int
    kernels: str
    others: tuple[str, ...]
    cpu_seconds: float
    seconds: float


def differing(mine: Path, shipped: Path) -> tuple[str, ...]:
    """Returns the shipped folder's files that are not there with the same bytes."""
    names = [*load_json(shipped / manifest.NAME)["files"], manifest.NAME]
    _, other, missing = filecmp.cmpfiles(mine, shipped, names, shallow=False)
    return (*other, *missing)


def retrained(name: str) -> Retrained:
    """Train it. InputError where the recipe cannot be trained."""
    recipe = RECIPES / f"train-{name}.toml"
    method = method_of(tomllib.loads(read_text(recipe)))
    its = getattr(load_toml(method.config, recipe), method.table)
    tell(f"retrained: training {name}")
    with TemporaryDirectory() as folder:
        out = Path(folder) / name
        began, before = time.monotonic(), children_s()
        command = [sys.executable, "-m", "rlcc", "train", str(recipe), "--out", str(out)]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if ended.returncode:
            said = ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"]
            raise InputError(f"{recipe} was not trained: {said[-1]}")
        seconds, cpu = time.monotonic() - began, children_s() - before
        return Retrained(name, method.name, its.seed, its.kernels, differing(out, TEACHERS / name), cpu, seconds)


def page(found: Sequence[Retrained], command: str) -> str:
    """The page as Markdown."""
    rows = [
        [
            f"[{each.name}](../../recipes/train-{each.name}.toml)",
            each.method,
            str(each.seed),
            each.kernels,
            "the same" if not each.others else f"others: {', '.join(each.others)}",
            f"{each.cpu_seconds:.0f}",
            f"{each.seconds:.0f}",
        ]
        for each in found
    ]
    same = sum(not each.others for each in found)
    return f"""# The shipped teachers, trained again
{made_by(command)}

`rlcc train recipes/train-NAME.toml`, each in a process of its own, beside `fixtures/teachers/NAME`: weights, policy and
manifest. **{same} of {len(found)}** end in the same bytes. "kernels" are those of MKL that the recipe asks for
([why](../reference/training.md#the-same-bytes)). Seconds of CPU are of all threads, those of the clock beside whatever
else the machine did.

{table(["teacher", "method", "seed", "kernels", "bytes", "CPU s", "clock s"], rows)}"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, write the page; 0, 1 where bytes differ, 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.retrained", description="The teachers again.")
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help="by default all")
    parser.add_argument("--out", type=Path, help="the page; docs/results/retrained.md, where all are trained")
    options = parser.parse_args(arguments)
    try:
        found = [retrained(name) for name in options.names or NAMES]
        text = page(found, " ".join(["python -m bench.training.retrained", *options.names]))
        if options.names and options.out is None:
            print(text)
        else:
            write_atomically(options.out or PAGE, text)
    except InputError as error:
        print(f"retrained: {error}", file=sys.stderr)
        return 2
    return int(any(each.others for each in found))


if __name__ == "__main__":
    sys.exit(main())
