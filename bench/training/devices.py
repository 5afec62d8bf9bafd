"""Training over devices: what it buys where queue pairs share contexts, next to the rule `once_per_rtt`.

    python -m bench.training.devices [--seeds N] [--where PLACE] [--jobs N] [--out FILE]

The recipe is trained as it is, and in variants. The table is that of `bench.shared_contexts`, on the device: own
contexts, 4 and 16 a context, each with the rule and without it. A training is made once and stays in build/training.
"""

import argparse
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.shared_contexts import DEVICE, OWN, SCENARIOS, WINDOW_PS, Way, figures, within
from bench.training.__main__ import TRAINED, changed
from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.network import MS
from netsim.places import Place
from rlcc.commands.console import counted
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import opened
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.training_cache import place_of as cached_at
from teachers.training_cache import trained

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "results" / "training-devices.md"
RECIPE = ROOT / "recipes" / "train-rl-cc-devices.toml"
BASELINE = ROOT / "fixtures" / "teachers" / "rl-cc-mlp"
WAYS = (
    OWN,
    Way("4 a context", 4, False),
    Way("16 a context", 16, False),
    Way("4, once a RTT", 4, True),
    Way("16, once a RTT", 16, True),
)
TEN = "training.horizon = 10\n"


@dataclass(frozen=True)
class Variant:
    """Keys that a variant changes in the recipe, and what that means in words."""

    name: str
    keys: str
    says: str


RECIPE_ITSELF = Variant("devices", "", "the recipe: 1 to 16 queue pairs a context, a decision answers for 64 deltas")
VARIANTS = (
    RECIPE_ITSELF,
    Variant("own", 'training.randomise.devices = ["bluefield3:1"]', "64 deltas, contexts of their own"),
    Variant("ten", TEN, "a decision answers for 10 deltas"),
    Variant(
        "ten-long",
        TEN + "training.episodes = 30\ntraining.segments = 40\nvalidation.every = 30",
        "10 deltas, six times as many decisions",
    ),
    Variant("ten-own", TEN + 'training.randomise.devices = ["bluefield3:1"]', "10 deltas, contexts of their own"),
    Variant("ten-rule", TEN + "policy.once_per_rtt = true", "10 deltas, `once_per_rtt` already while it learns"),
)


def train_all(document: dict[str, Any], variants: Sequence[Variant]) -> list[tuple[Variant, Path, float]]:
    """Returns the folder of each variant's teacher, and the CPU seconds of its training."""
    found = []
    for variant in variants:
        recipe = changed(document, tomllib.loads(variant.keys))
        seed = recipe["training"]["seed"]
        _, training = trained(recipe, seed, TRAINED)
        found.append((variant, cached_at(recipe, seed, TRAINED), training.cpu_seconds))
    return found


def page(variants: Sequence[Variant], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    teachers = train_all(tomllib.loads(read_text(RECIPE)), variants)
    names = [f"RL-CC={BASELINE}", *(f"{variant.name}={folder}" for variant, folder, _ in teachers)]
    with opened(names, decision_latency_ps=900_000, profile="ibex-small") as contenders:
        found = figures(contenders, WAYS, DEVICE, seeds, where)
        rows = [
            [c.label, scenario.removeprefix("many-to-one:"), *(_cell(found, c.label, scenario, way) for way in WAYS)]
            for c in contenders
            for scenario in SCENARIOS
        ]
        gains = {way.name: _gains(found, way) for way in WAYS}
    trainings = [[v.name, v.says, f"{seconds:.0f}"] for v, _, seconds in teachers]
    start, end = (at // MS for at in WINDOW_PS)
    return f"""# Training over devices
{made_by("python -m bench.training.devices")}

RL-CC's network, trained on `{RECIPE.relative_to(ROOT)}`: each network of an episode draws a device, and so how many
queue pairs share a context ([the keys](../reference/training.md#training-over-devices)). The weights are
judged as in [shared contexts](shared-contexts.md), on `{DEVICE}`: many-to-one with 16 queue pairs a host,
{start} to {end} ms, mean over {counted(len(seeds), "seed")}: goodput / 99th percentile of the latency in us / Jain.
**Bold**: goodput at most 0.5 % below that of RL-CC's weights with own contexts, and p99 at most 1.5 times it.

{table(["training", "differs in", "CPU s"], trainings)}
"RL-CC" is `fixtures/teachers/rl-cc-mlp`, which was trained with contexts of their own and without a device. Each
training has one seed.

{table(["policy", "hosts x pairs", *(way.name for way in WAYS)], rows)}
## What training buys
- The recipe's weights, and RL-CC's, with 16 queue pairs a context: {gains["16 a context"]}.
- The same with the rule: {gains["16, once a RTT"]}.
- With own contexts: {gains["own contexts"]}.

A decision has to answer for what it did. 16 queue pairs a context make 16 decisions a round trip, so ten deltas end
before one of them shows the effect. Weights that learn with ten push harder than those that saw no shared context.
The longer horizon alone brings most of the goodput (`own`). Shared contexts in the training then shorten the p99 by 8
and 11 % at 16x16 and 64x16, and not at 4x16. The training has 4x16 and 16x16 itself, not 64x16. Each training has one
seed, so the table does not tell how much of a difference is chance.

## What it cannot
Training does not replace [`once_per_rtt`](../reference/policy-toml.md#once_per_rtt). The policy sees RTTs and its last
action. Neither tells how many decisions were made since the request left, so one set of weights has to serve 1 and 16
decisions a round trip. The rule compares two time stamps and makes it one everywhere.
"""


def _gains(found: Any, way: Way) -> str:
    """Returns goodput and p99 of the recipe's weights for those of RL-CC, scenario by scenario."""
    ours, theirs = ([found[who, scenario, way.name] for scenario in SCENARIOS] for who in ("devices", "RL-CC"))
    return "; ".join(
        f"{mine['goodput']:.3f} for {its['goodput']:.3f} and {mine['latency_p99_us']:.1f} for "
        f"{its['latency_p99_us']:.1f} us"
        for mine, its in zip(ours, theirs, strict=True)
    )


def _cell(found: Any, policy: str, scenario: str, way: Way) -> str:
    ours, own = found[policy, scenario, way.name], found["RL-CC", scenario, OWN.name]
    said = f"{ours['goodput']:.4f} / {ours['latency_p99_us']:.1f} / {ours['jain']:.3f}"
    return f"**{said}**" if within(ours, own) else said


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    parser = argparse.ArgumentParser(prog="python -m bench.training.devices", description="Training over devices.")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        text = page(VARIANTS, range(1, options.seeds + 1), place_of(options))
    except InputError as error:
        print(f"devices: {error}", file=sys.stderr)
        return 2
    write_atomically(options.out, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
