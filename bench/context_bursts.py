"""Why the tail of the flagship grows where queue pairs share a context: its bursts, and its weights.

    python -m bench.context_bursts [--seeds N] [--where PLACE] [--jobs N] [--out FILE]

The flagship and the same policy with RL-CC's weights and action map run many-to-one with 16 queue pairs a host and
`once_per_rtt`: with contexts of their own and with 16 queue pairs a context, each with bursts of 1, 2 and 4 packets.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from bench.shared_contexts import ROOT, TAIL, WINDOW_PS
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from netsim.network import Network
from netsim.places import Place
from netsim.policies import NativePolicy, native
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.load import load

PAGE = ROOT / "docs" / "results" / "context-bursts.md"
TEACHERS = ROOT / "fixtures" / "teachers"
SCENARIOS = ("many-to-one:16x16", "many-to-one:64x16")
BURSTS = (1, 2, 4)
"""Packets that leave back to back."""
FLOWS = (1, 16)
"""Queue pairs a context."""
LATENCY_PS = 900_000
"""Of a decision."""
Key = tuple[str, str, int, int]
"""Policy, scenario, packets a burst, queue pairs a context."""


def policies() -> dict[str, NativePolicy]:
    """Returns the flagship, and its frame around RL-CC's weights and action map."""
    flagship, plain = (load(TEACHERS / name) for name in ("robust-in-flight", "rl-cc-mlp"))
    once = flagship.policy.model_copy(update={"once_per_rtt": True})
    other = once.model_copy(update={"action": plain.policy.action})
    return {"flagship": native(once, flagship.weights), "flagship with RL-CC's weights": native(other, plain.weights)}


def tails(seeds: Sequence[int], where: Place) -> dict[Key, float]:
    """Returns the 99th percentile of the latency in us, mean over the seeds."""
    chosen = policies()
    keys = [
        (name, scenario, burst, flows)
        for name in chosen
        for scenario in SCENARIOS
        for burst in BURSTS
        for flows in FLOWS
    ]
    trials = [
        Trial(
            scenario,
            chosen[name],
            seed=seed,
            duration_ps=WINDOW_PS[1],
            window_ps=WINDOW_PS,
            decision_latency_ps=LATENCY_PS,
            network=replace(Network(), context_flows=flows, burst_packets=burst),
            name=name,
        )
        for name, scenario, burst, flows in keys
        for seed in seeds
    ]
    runs = [outcome.metrics["latency_p99_us"] for outcome in run(trials, where)]
    return {key: mean(runs[at * len(seeds) : (at + 1) * len(seeds)]) for at, key in enumerate(keys)}


def page(found: Mapping[Key, float], seeds: Sequence[int]) -> str:
    """Returns the page as Markdown."""
    many = counted(len(seeds), "seed")
    rows = [
        [name, scenario.removeprefix("many-to-one:"), *(_cell(found, name, scenario, burst) for burst in BURSTS)]
        for name, scenario in dict.fromkeys((name, scenario) for name, scenario, _, _ in found)
    ]
    heading = ["policy", "hosts x pairs", *(f"bursts of {burst}" for burst in BURSTS)]
    return f"""# Bursts of queue pairs that share a context
{made_by("python -m bench.context_bursts")}

Many-to-one with 16 queue pairs a host and `once_per_rtt`, 60 to 120 ms, mean over {many}: 99th percentile of the
latency in us with contexts of their own, then with 16 queue pairs a context, and the ratio. **Bold**: at most {TAIL}
times. Bursts have {Network().burst_packets} packets by default. The flagship is the teacher `robust-in-flight`; with
RL-CC's weights it keeps its start, its cap and its requests.
[What follows](measured.md#why-robust-in-flight-has-long-tails-there).

{table(heading, rows)}"""


def _cell(found: Mapping[Key, float], name: str, scenario: str, burst: int) -> str:
    own, shared = (found[name, scenario, burst, flows] for flows in FLOWS)
    text = f"{own:.1f} / {shared:.1f} = {shared / own:.2f}"
    return f"**{text}**" if shared <= TAIL * own else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    parser = argparse.ArgumentParser(prog="python -m bench.context_bursts", description="Bursts and shared contexts.")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=3, metavar="N", help="runs of each; 3")
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    seeds = range(1, options.seeds + 1)
    try:
        write_atomically(options.out, page(tails(seeds, place_of(options)), seeds))
    except InputError as error:
        print(f"context_bursts: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
