"""Policies and baselines under go-back-N and under selective repeat: a policer, one port, an incast and a fabric.

`robust-in-flight` runs twice: as it is, and with a cut by losses (`[start.loss]`) and the same weights.

    python -m bench.transports [POLICY ...] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.contenders_page import write_page
from bench.shipped import POLICIES, beside_cut, listed
from decision.devices import TRANSPORTS
from netsim.network import MS, Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.evaluation.contenders import Contender
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "transports.md"
KEPT = ROOT / "build" / "transports"
CONTENDERS = (*POLICIES, "dcqcn", "hpcc", "swift", "dctcp", "timely", "nscc")


@dataclass(frozen=True)
class TransportScene:
    """Where a contender runs, and the metrics that are shown, each with its heading and decimals."""

    name: str
    scenario: str
    window_ps: tuple[int, int]
    metrics: tuple[tuple[str, str, int], ...]
    policer_gbps: int | None = None

    def trial(self, contender: Contender, transport: str, seed: int) -> Trial:
        """Returns one run of a contender."""
        return Trial(
            self.scenario,
            contender.alone,
            seed=seed,
            duration_ps=self.window_ps[1],
            window_ps=self.window_ps,
            decision_latency_ps=contender.decision_latency_ps,
            network=Network(transport=transport, policer_gbps=self.policer_gbps),
            name=contender.label,
        )


LOAD = (("goodput", "goodput", 3), ("latency_p99_us", "p99, us", 1), ("loss", "loss", 4))
SCENES = (
    TransportScene(
        "Three flows into a policer of 50 Gb/s", "many-to-one:3", (20 * MS, 60 * MS), (*LOAD[::2], LOAD[1]), 50
    ),
    TransportScene("64 flows to one receiver, the start too", "many-to-one:64", (0, 20 * MS), LOAD),
    TransportScene(
        "Incasts of 128 flows",
        "incast:128",
        (0, 40 * MS),
        (("slowdown_mean", "mean slowdown", 2), ("slowdown_p99", "p99 slowdown", 2), ("loss", "loss", 4)),
    ),
    TransportScene(
        "Web search at 60 % in a fabric of 32 hosts",
        "websearch:60%@leaf-spine:4x8x4",
        (2 * MS, 12 * MS),
        (("mice_slowdown_p99", "p99 slowdown of mice", 2), *LOAD[::2]),
    ),
)


def page(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    text = f"""# Under both transports
{made_by("python -m bench.transports")}

100 Gb/s, {counted(len(seeds), "seed")}. A cell is go-back-N / selective repeat. Goodput is a share of the
link, and of the policer's rate in the first table. Losses are shares of what is sent.

"""
    text += listed(contenders)
    for scene in SCENES:
        asked = [(c, transport) for c in contenders for transport in TRANSPORTS]
        trials = [scene.trial(c, transport, seed) for c, transport in asked for seed in seeds]
        outcomes = iter(run(trials, where, Kept(KEPT)))
        found = {(c.label, transport): [next(outcomes).metrics for _ in seeds] for c, transport in asked}
        scale = 1.0 if scene.policer_gbps is None else Network().link_gbps / scene.policer_gbps
        rows = []
        for c in contenders:
            cells = []
            for metric, _, digits in scene.metrics:
                factor = scale if metric == "goodput" else 1.0
                values = [factor * mean(m[metric] for m in found[c.label, transport]) for transport in TRANSPORTS]
                cells.append(" / ".join(f"{value:.{digits}f}" for value in values))
            rows.append([c.label, *cells])
        heads = ["algorithm", *(heading for _, heading, _ in scene.metrics)]
        begin, end = (time / MS for time in scene.window_ps)
        text += f"\n## {scene.name}\n`{scene.scenario}`, {begin:g} to {end:g} ms.\n\n" + table(heads, rows)
    return text


def with_cut_rows(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page, the flagship with a cut by losses among its rows."""
    return page(beside_cut(contenders), seeds, where)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    return write_page(arguments, "transports", "Both transports.", with_cut_rows, PAGE, CONTENDERS, seeds=1)


if __name__ == "__main__":
    sys.exit(main())
