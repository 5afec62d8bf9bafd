"""What contexts that queue pairs share do to policies, and what at most one decision a round trip gives back.

Each policy runs many-to-one with 16 queue pairs a host, with the same seeds: contexts of their own; shared, decided on
with every answer, as policies do without `once_per_rtt`; shared, with it; and with it where the pairs of a context have
one request under way between them. Nothing else of a device is in the first table; the second is on a device file.

    python -m bench.shared_contexts [POLICY ...] [--device NAME] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from decision.artefact.documents import write_atomically
from decision.artefact.errors import InputError
from netsim.baselines import BaselineSpec
from netsim.devices import chosen
from netsim.kept import Kept
from netsim.network import MS, Network
from netsim.places import Place
from netsim.policies import NativePolicy, PolicySpec
from netsim.trials import Trial, run
from rlcc.commands.where import add_options, place_of
from rlcc.evaluation.contenders import Contender, opened
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "shared-contexts.md"
KEPT = ROOT / "build" / "shared-contexts"
TEACHERS = tuple(
    f"{name}={ROOT / 'fixtures' / 'teachers' / folder}"
    for name, folder in (("RL-CC", "rl-cc-mlp"), ("PCC-RL", "pcc-rl-lstm"), ("flagship", "robust-in-flight"))
)
SCENARIOS = ("many-to-one:4x16", "many-to-one:16x16", "many-to-one:64x16")
WINDOW_PS = (60 * MS, 120 * MS)
DEVICE = "bluefield3"
GOODPUT, TAIL = 0.005, 1.5
"""The aim: goodput at most so much of its own below that with contexts of their own, p99 at most so many times it."""


@dataclass(frozen=True)
class Way:
    """How contexts are kept: so many queue pairs share one, whether a policy decides once a round trip, and whether a
    context has one request under way."""

    name: str
    flows: int
    once: bool
    a_context: bool = False


OWN = Way("own contexts", 1, False)
WAYS = (
    OWN,
    Way("4 a context", 4, False),
    Way("4, once a RTT", 4, True),
    Way("16 a context", 16, False),
    Way("16, once a RTT", 16, True),
    Way("16, once a RTT, one request a context", 16, True, True),
)
Metrics = Mapping[str, float]


def deciding(policy: PolicySpec | BaselineSpec, once: bool) -> NativePolicy:
    """The policy with at most one decision a round trip, or with one an answer. InputError where it is no teacher."""
    if not isinstance(policy, NativePolicy):
        raise InputError("the rule is a key of policy.toml, which a teacher is read with; name teachers")
    return replace(policy, policy=policy.policy.model_copy(update={"once_per_rtt": once}))


def on(way: Way, device: str | None) -> Network:
    """The network of a way, with the rest of a device's file where one is named."""
    network = Network() if device is None else chosen(device).on(Network())
    return replace(network, context_flows=way.flows, probe_a_context=way.a_context)


def figures(
    contenders: Sequence[Contender], ways: Sequence[Way], device: str | None, seeds: Sequence[int], where: Place
) -> dict[tuple[str, str, str], Metrics]:
    """The mean over the seeds of each policy, scenario and way."""
    places = [(c, scenario, way) for c in contenders for scenario in SCENARIOS for way in ways]
    trials = [
        Trial(
            scenario,
            deciding(c.alone, way.once),
            seed=seed,
            duration_ps=WINDOW_PS[1],
            window_ps=WINDOW_PS,
            decision_latency_ps=c.decision_latency_ps,
            network=on(way, device),
            name=c.label,
        )
        for c, scenario, way in places
        for seed in seeds
    ]
    runs = [outcome.metrics for outcome in run(trials, where, Kept(KEPT))]
    found: dict[tuple[str, str, str], Metrics] = {}
    for at, (c, scenario, way) in enumerate(places):
        each = runs[at * len(seeds) : (at + 1) * len(seeds)]
        found[c.label, scenario, way.name] = {name: mean(one[name] for one in each) for name in each[0]}
    return found


def within(ours: Metrics, own: Metrics) -> bool:
    """Whether the aim is met."""
    return ours["goodput"] >= own["goodput"] * (1 - GOODPUT) and ours["latency_p99_us"] <= TAIL * own["latency_p99_us"]


def page(contenders: Sequence[Contender], device: str, seeds: Sequence[int], where: Place) -> str:
    """The page as Markdown."""
    many = f"{len(seeds)} seed" + "s" * (len(seeds) > 1)
    text = f"""# Contexts that queue pairs share
{made_by("python -m bench.shared_contexts")}

Many-to-one with 16 queue pairs a host, 60 to 120 ms, mean over {many}: goodput / 99th percentile of the latency in us /
Jain. **Bold**: the aim, goodput at most {GOODPUT:.1%} below that with own contexts and p99 at most {TAIL} times it.
"4, once a RTT": four queue pairs a context, and
[`once_per_rtt`](../reference/policy-toml.md#once_per_rtt) of the policy.
"One request a context": a request leaves only when no other of the context is under way since its last decision.
With own contexts the rule changes nothing, to the last bit (`tests/netsim/test_shared_contexts.py`).

"""
    text += "".join(f"- {c.label}: {c.kind} {c.name} `{c.hash[:12]}`\n" for c in contenders)
    for title, named in (("Shared contexts alone", None), (f"On `{device}`", device)):
        told = "" if named is None else f"The rest of `decision/devices/{device}.toml`, too: jitter, offset, floor.\n\n"
        found = figures(contenders, WAYS, named, seeds, where)
        rows = [
            [c.label, scenario.removeprefix("many-to-one:"), *(_cell(found, c.label, scenario, way) for way in WAYS)]
            for c in contenders
            for scenario in SCENARIOS
        ]
        text += f"\n## {title}\n\n{told}{table(['policy', 'hosts x pairs', *(way.name for way in WAYS)], rows)}"
    return text


def _cell(found: Mapping[tuple[str, str, str], Metrics], policy: str, scenario: str, way: Way) -> str:
    ours, own = found[policy, scenario, way.name], found[policy, scenario, OWN.name]
    said = f"{ours['goodput']:.4f} / {ours['latency_p99_us']:.1f} / {ours['jain']:.3f}"
    return f"**{said}**" if way is not OWN and within(ours, own) else said


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.shared_contexts", description="Shared contexts.")
    parser.add_argument("policies", nargs="*", help="teachers, as `rlcc evaluate` takes them; by default three")
    parser.add_argument("--device", default=DEVICE, help="of the second table")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    seeds = range(1, options.seeds + 1)
    try:
        chosen(options.device)
        with opened(options.policies or list(TEACHERS), decision_latency_ps=900_000, profile="ibex-small") as who:
            write_atomically(options.out, page(who, options.device, seeds, place_of(options)))
    except InputError as error:
        print(f"shared_contexts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
