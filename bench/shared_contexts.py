"""Cost of contexts that queue pairs share, and effect of at most one decision a round trip.

Each policy runs many-to-one with 16 queue pairs a host, with the same seeds in each configuration:

- each queue pair has its own context
- queue pairs share a context and decide on every answer, as policies do without `once_per_rtt`
- queue pairs share a context with `once_per_rtt`
- in addition, the queue pairs of a context have one request under way between them

The first table models nothing else of a device; the second uses a device file.

    python -m bench.shared_contexts [POLICY ...] [--device NAME] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from bench.shipped import POLICIES, listed
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.baselines import BaselineSpec
from netsim.devices import chosen
from netsim.network import MS, Network
from netsim.places import Place
from netsim.policies import NativePolicy, PolicySpec
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.commands.run_location import add_options, place_of
from rlcc.evaluation.contenders import Contender, opened
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "shared-contexts.md"
KEPT = ROOT / "build" / "shared-contexts"
SCENARIOS = ("many-to-one:4x16", "many-to-one:16x16", "many-to-one:64x16")
WINDOW_PS = (60 * MS, 120 * MS)
DEVICE = "bluefield3"
GOODPUT, TAIL = 0.005, 1.5
"""The aim: largest relative loss of goodput, and largest ratio of p99, against contexts of their own."""


@dataclass(frozen=True)
class Way:
    """Configuration of contexts.

    - ``flows``: queue pairs that share a context
    - ``once``: whether a policy decides at most once a round trip
    - ``a_context``: whether a context has at most one request under way
    """

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
    """Returns the policy with ``once_per_rtt`` set to ``once``. Raises InputError for a policy that is no teacher."""
    if not isinstance(policy, NativePolicy):
        raise InputError("the rule is a key of policy.toml, which a teacher is read with; name teachers")
    return replace(policy, policy=policy.policy.model_copy(update={"once_per_rtt": once}))


def on(way: Way, device: str | None) -> Network:
    """Returns the network of a way. A named device adds the rest of its file."""
    network = Network() if device is None else chosen(device).on(Network())
    return replace(network, context_flows=way.flows, probe_a_context=way.a_context)


def figures(
    contenders: Sequence[Contender], ways: Sequence[Way], device: str | None, seeds: Sequence[int], where: Place
) -> dict[tuple[str, str, str], Metrics]:
    """Returns the mean over the seeds for each policy, scenario and way."""
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
    """Returns whether the aim is met."""
    return ours["goodput"] >= own["goodput"] * (1 - GOODPUT) and ours["latency_p99_us"] <= TAIL * own["latency_p99_us"]


def page(contenders: Sequence[Contender], device: str, seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    many = counted(len(seeds), "seed")
    text = f"""# Contexts that queue pairs share
{made_by("python -m bench.shared_contexts")}

Many-to-one with 16 queue pairs a host, 60 to 120 ms, mean over {many}: goodput / 99th percentile of the latency in us /
Jain. **Bold**: the aim, goodput at most {GOODPUT:.1%} below that with own contexts and p99 at most {TAIL} times it.
"4, once a RTT": four queue pairs a context, and
[`once_per_rtt`](../reference/policy-toml.md#once_per_rtt) of the policy.
"One request a context": a request leaves only when no other of the context is under way since its last decision.
With own contexts the rule changes nothing, to the last bit (`tests/netsim/test_shared_contexts.py`).

"""
    text += listed(contenders)
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
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
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
        with opened(options.policies or list(POLICIES), decision_latency_ps=900_000, profile="ibex-small") as who:
            write_atomically(options.out, page(who, options.device, seeds, place_of(options)))
    except InputError as error:
        print(f"shared_contexts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
