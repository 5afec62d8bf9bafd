"""Variants of a training recipe beside each other, in pairs: the same seeds, judged by one validation.

    python -m bench.training recipes/train-robust.toml --seeds 1 2 3 \\
        --variant 'present: training.credit.others = "apart"' --variant 'all: training.segment_time = "2 ms"; ...'

A variant is a name and keys of the recipe with values as in TOML, parted by `;`. Each is trained into build/training;
what stands there already is not trained again. The table has the cost of each seed (0 is perfect), and of every variant
the mean difference to the recipe as it is, with its standard error over the seeds. Whatever a variant changes of the
validation counts while it trains; the table is by the recipe's.
"""

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from pydantic import ValidationError

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from rlcc.reports.pages import table
from teachers.adpg import cost_of, train, validate
from teachers.checkpoint import checkpoint_path, recipe_hash
from teachers.curriculum import TrainConfig
from teachers.load import load
from teachers.validation import Changing, Measured

TRAINED = Path(__file__).parents[2] / "build" / "training"


@dataclass(frozen=True)
class JudgedTraining:
    """One seed of one variant."""

    cost: float
    measured: tuple[Measured | Changing, ...]


def variant(text: str) -> tuple[str, dict[str, Any]]:
    """A name and the keys that it changes, from ``name: key = value; key = value``."""
    name, _, changes = text.partition(":")
    try:
        return name.strip(), tomllib.loads(changes.replace(";", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"--variant {text!r} is no name and keys: {error}") from None


def changed(recipe: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The recipe with some keys replaced, tables merged."""
    merged = dict(recipe)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = changed(merged[key], value) if both else value
    return merged


def config_of(recipe: dict[str, Any], changes: dict[str, Any], seed: int) -> TrainConfig:
    try:
        return TrainConfig.model_validate(changed(changed(recipe, changes), {"training": {"seed": seed}}))
    except ValidationError as error:
        raise InputError(f"the variant {changes} of the recipe is not valid: {error}") from None


def judge(config: TrainConfig, by: TrainConfig) -> JudgedTraining:
    """Train, or go on, or take what is there; then measure as the recipe ``by`` validates."""
    out = TRAINED / recipe_hash(config)[:16]
    if not (out / "manifest.json").exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        train(config, out, resume=checkpoint_path(out).exists())
    teacher = load(out)
    measured = validate(by.model_copy(update={"policy": config.policy}), teacher.weights)
    return JudgedTraining(cost_of(by.validation, measured), measured)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--variant", action="append", default=[], type=variant, metavar="NAME: KEY = VALUE; ..")
    options = parser.parse_args(arguments)
    recipe = tomllib.loads(read_text(options.recipe))
    variants: list[tuple[str, dict[str, Any]]] = [("as it is", {}), *options.variant]
    judged: dict[str, list[JudgedTraining]] = {name: [] for name, _ in variants}
    for seed in options.seeds:
        for name, changes in variants:
            judged[name].append(judge(config_of(recipe, changes, seed), config_of(recipe, {}, seed)))
            print(f"# {name}, seed {seed}: {judged[name][-1].cost:.4f}", file=sys.stderr, flush=True)
            for m in judged[name][-1].measured:
                print(f"#   {m} cost {m.cost:.3f}", file=sys.stderr, flush=True)
    base = [one.cost for one in judged["as it is"]]
    rows = []
    for name, all_seeds in judged.items():
        costs = [one.cost for one in all_seeds]
        off = [cost - its for cost, its in zip(costs, base, strict=True)]
        error = stdev(off) / len(off) ** 0.5 if len(off) > 1 else float("nan")
        rows.append([name, *(f"{c:.3f}" for c in costs), f"{mean(costs):.3f}", f"{mean(off):+.3f} +- {error:.3f}"])
    print(table(["variant", *(f"seed {s}" for s in options.seeds), "mean", "difference"], rows), end="")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
