"""The CPU time of trainings with kernels that every processor has, beside those of one make.

    python -m bench.training.kernels [NAME ..] [--episodes N] [--pairs N]

Each pair trains a recipe of ADPG with "any", "intel" and "amd" one after the other, each in a process of its own, and
takes the seconds of all its threads. The table has the medians and what "any" costs as a share of each other.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, get_args

from bench.cpu import children_s
from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from rlcc.reports.pages import table
from teachers.curriculum import Kernels

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("robust", "rl-cc-mlp", "pcc-rl-lstm")
TRAIN = """
import json, sys
from pathlib import Path
from teachers.adpg import train
from teachers.curriculum import TrainConfig
train(TrainConfig.model_validate(json.loads(sys.stdin.read())), Path(sys.argv[1]))
"""


def seconds_of(document: dict[str, Any], kernels: str) -> float:
    """Returns the CPU time of a training. InputError where the recipe cannot be trained."""
    content = document | {"training": document["training"] | {"kernels": kernels}}
    with TemporaryDirectory() as folder:
        before = children_s()
        command = [sys.executable, "-c", TRAIN, str(Path(folder) / "teacher")]
        ended = subprocess.run(
            command, cwd=ROOT, input=json.dumps(content), capture_output=True, text=True, check=False
        )
        if ended.returncode:
            raise InputError(f"not trained with {kernels}: {ended.stderr.strip().splitlines()[-1]}")
        return children_s() - before


def measured(name: str, episodes: int, pairs: int) -> list[str]:
    """Returns the table's row of a recipe."""
    document = tomllib.loads(read_text(ROOT / "recipes" / f"train-{name}.toml"))
    document["training"] |= {"episodes": episodes}
    seconds = [{kernels: seconds_of(document, kernels) for kernels in get_args(Kernels)} for _ in range(pairs)]
    row = [f"{median(each[kernels] for each in seconds):.1f}" for kernels in get_args(Kernels)]
    shares = [f"{median(each['any'] / each[other] for each in seconds):.2f}" for other in ("intel", "amd")]
    return [name, *row, *shares]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 with a sentence where a recipe was not trained."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.kernels", description="Seconds of CPU.")
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], metavar="NAME", help="by default all")
    parser.add_argument("--episodes", type=int, default=3)
    parser.add_argument("--pairs", type=int, default=3)
    options = parser.parse_args(arguments)
    try:
        rows = [measured(name, options.episodes, options.pairs) for name in options.names or NAMES]
    except InputError as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 2
    print(table(["recipe", "any, s", "intel, s", "amd, s", "any / intel", "any / amd"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
