"""What rarer RTT probes cost and save: goodput, 99th percentile of the latency, loss, at several schedules of the NIC.

A probe of 84 bytes behind each burst of four packets takes 1.9 % of what a flow could send. A schedule lets a flow
send so many bytes between its last event and the next probe (`probe_after`), unless it has sent no probe for so long
(`probe_latest`), and none within `probe_gap` of its last decision (netsim/network.py). Policies are those of today,
which were trained with the first schedule.

    python -m bench.probes [POLICY ...] [--seeds N] [--jobs N] [--out FILE]
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from bench.papers.found import table
from decision.documents import write_atomically
from decision.errors import InputError
from decision.processors import usable_cores
from netsim.network import MS, US, Network
from netsim.places import of_jobs
from netsim.trials import Trial, run
from rlcc.evaluation.contenders import Contender, opened

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "generated" / "probes.md"
TEACHERS = {"MLP": "rl-cc-mlp", "LSTM": "rl-cc-lstm-small"}
KIB = 1024

SCHEDULES: Mapping[str, Network] = {
    "each burst (today's)": Network(),
    "16 KiB": Network(probe_after_bytes=16 * KIB),
    "16 KiB or 100 us": Network(probe_after_bytes=16 * KIB, probe_latest_ps=100 * US),
    "64 KiB or 100 us": Network(probe_after_bytes=64 * KIB, probe_latest_ps=100 * US),
    "64 KiB or 1 ms": Network(probe_after_bytes=64 * KIB, probe_latest_ps=MS),
    "gap of 20 us": Network(probe_gap_ps=20 * US),
}
SCENARIOS = ("many-to-one:8", "many-to-one:64", "many-to-one:1024", "long-short:33", "incast:32")
DURATION_PS = 80 * MS
WINDOW_PS = (20 * MS, 80 * MS)


def page(contenders: Sequence[Contender], seeds: Sequence[int], jobs: int) -> str:
    """The tables as Markdown, one a policy."""
    places = [(c, schedule, scenario, seed) for scenario in SCENARIOS for c in contenders for schedule in SCHEDULES
              for seed in seeds]  # fmt: skip
    trials = [
        Trial(
            scenario,
            c.policy,
            seed=seed,
            duration_ps=DURATION_PS,
            window_ps=WINDOW_PS,
            decision_latency_ps=c.decision_latency_ps,
            network=SCHEDULES[schedule],
            name=c.label,
        )
        for c, schedule, scenario, seed in places
    ]
    cells: dict[tuple[str, str, str], list[Mapping[str, float]]] = {}
    for (c, schedule, scenario, _), outcome in zip(places, run(trials, of_jobs(jobs)), strict=True):
        cells.setdefault((c.label, schedule, scenario), []).append(outcome.metrics)
    text = f"""# What rarer RTT probes cost and save
Made by `python -m bench.probes`. Do not edit it.

Goodput / 99th percentile of the latency in us / packets lost of those sent; {DURATION_PS // MS} ms from an empty
network, measured from {WINDOW_PS[0] // MS} ms on, mean over {len(seeds)} seeds. "16 KiB or 100 us": a probe after
16 KiB of payload since the flow's last event, or when its last probe left 100 us ago, whichever comes first; none
within 4 us of a decision. The policies were trained with a probe behind each burst.

"""
    text += "".join(f"- {c.label}: {c.kind} {c.name} `{c.hash[:12]}`\n" for c in contenders)
    for c in contenders:
        rows = [[s, *(_cell(cells[c.label, s, scenario]) for scenario in SCENARIOS)] for s in SCHEDULES]
        text += f"\n## {c.label}\n\n{table(['probe after', *SCENARIOS], rows)}"
    return text


def _cell(runs: Sequence[Mapping[str, float]]) -> str:
    """`0.917 / 12.6 / 0 %`."""
    goodput, p99, loss = (mean(m[name] for m in runs) for name in ("goodput", "latency_p99_us", "loss"))
    return f"{goodput:.3f} / {p99:.1f} / {100 * loss:.2g} %"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.probes", description="What rarer RTT probes cost and save.")
    parser.add_argument("policies", nargs="*", help="as `rlcc evaluate` takes them; by default two teachers")
    parser.add_argument("--seeds", type=int, choices=range(1, 100), default=2, metavar="N", help="runs of each; 2")
    parser.add_argument("--jobs", type=int, default=usable_cores(), help="processes at a time")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    teachers = [f"{label}={ROOT / 'fixtures' / 'teachers' / name}" for label, name in TEACHERS.items()]
    try:
        with opened(options.policies or teachers, decision_latency_ps=900_000, profile="ibex-small") as who:
            write_atomically(options.out, page(who, range(1, options.seeds + 1), options.jobs))
    except InputError as error:
        print(f"probes: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
