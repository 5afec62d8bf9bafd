"""A learnt policy with a window, and NSCC in integers, next to NSCC in floats, Swift, DCTCP and DCQCN: one port,
incasts, a fabric, a collective, where switches trim packets, packets are spread over paths, and a link fails.

    python -m bench.windows [POLICY ...] [--seeds N] [--where PLACE] [--jobs N] [--out FILE]
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from bench.contenders_page import write_page
from bench.shipped import listed
from netsim.failures import Failure
from netsim.network import MS, SELECTIVE_REPEAT, Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial, run
from rlcc.commands.console import counted
from rlcc.evaluation.contenders import Contender
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "results" / "windows.md"
KEPT = ROOT / "build" / "windows"
DOCUMENT = ROOT / "docs" / "window" / "nscc.toml"
TEACHER = ROOT / "fixtures" / "teachers" / "robust-window"
LEARNT, INTEGERS, LATE, FLOATS = "learnt", "NSCC integers", "NSCC integers 0.9us", "nscc"
CONTENDERS = (
    f"{LEARNT}={TEACHER}@0us",
    f"{LEARNT} 0.9us={TEACHER}@0.9us",
    f"{INTEGERS}={DOCUMENT}@0us",
    f"{LATE}={DOCUMENT}@0.9us",
    FLOATS,
    "swift",
    "dctcp",
    "dcqcn",
)
FABRIC = "leaf-spine:4x8x4"
LINK = Failure("leaf0-spine1", 4 * MS, 2 * MS)
TRIM_BYTES = 100_000
"""About a BDP of the networks here, 102 to 103 KB."""
ENTROPY_VALUES = 256
HELD = 256
"""Packets beyond a missing one before a network that spreads packets counts it as lost."""
PLAIN = Network(transport=SELECTIVE_REPEAT)
TRIMMED = replace(PLAIN, trim_bytes=TRIM_BYTES)
SPREAD = replace(TRIMMED, entropy_values=ENTROPY_VALUES, reorder_packets=HELD)
NETWORKS = {
    "plain": PLAIN,
    "trimmed": TRIMMED,
    "spread": SPREAD,
    "spread, a link fails": replace(SPREAD, failures=(LINK,), reroute_ps=MS),
}
LOAD = (
    ("goodput", "goodput", 3),
    ("latency_p99_us", "p99, us", 1),
    ("queue_mean_us", "queue, us", 2),
    ("loss", "loss", 4),
    ("trimmed", "trimmed", 4),
    ("timeouts", "timeouts", 0),
)
FLOWS = (("slowdown_mean", "mean slowdown", 2), ("slowdown_p99", "p99 slowdown", 2), *LOAD[3:])
ROUNDS = (
    ("rounds", "rounds", 1),
    ("round_mean_us", "mean round, us", 0),
    ("round_p99_us", "p99 round, us", 0),
    *LOAD[3:],
)


@dataclass(frozen=True)
class WindowScene:
    """A contender's scenarios, their networks, and the metrics that are shown (heading, decimals)."""

    name: str
    scenario: str
    window_ps: tuple[int, int]
    metrics: tuple[tuple[str, str, int], ...]
    networks: tuple[str, ...]

    def trial(self, contender: Contender, network: str, seed: int) -> Trial:
        """Returns one run of a contender."""
        return Trial(
            self.scenario,
            contender.alone,
            seed=seed,
            duration_ps=self.window_ps[1],
            window_ps=self.window_ps,
            decision_latency_ps=contender.decision_latency_ps,
            network=NETWORKS[network],
            name=contender.label,
        )


SCENES = (
    WindowScene("8 flows to one receiver", "many-to-one:8", (4 * MS, 12 * MS), LOAD, ("plain",)),
    WindowScene("64 flows to one receiver, the start too", "many-to-one:64", (0, 10 * MS), LOAD, ("plain", "trimmed")),
    WindowScene("Incasts of 128 flows", "incast:128", (0, 20 * MS), FLOWS, ("plain", "trimmed")),
    WindowScene(
        f"Web search at 60 % on {FABRIC}", f"websearch:60%@{FABRIC}", (2 * MS, 10 * MS), FLOWS, tuple(NETWORKS)
    ),
    WindowScene(
        f"Ring all-reduce of 32 machines, 4 MB, on {FABRIC}",
        f"ring-all-reduce:32x4MB@{FABRIC}",
        (0, 10 * MS),
        ROUNDS,
        tuple(NETWORKS),
    ),
    WindowScene(
        f"Exchange of 32 machines, 4 MB, on {FABRIC}",
        f"exchange:32x4MB@{FABRIC}",
        (0, 10 * MS),
        ROUNDS,
        tuple(NETWORKS),
    ),
)


def page(contenders: Sequence[Contender], seeds: Sequence[int], where: Place) -> str:
    """Returns the page as Markdown."""
    text = f"""# Windows in the network
{made_by("python -m bench.windows")}

100 Gb/s, {counted(len(seeds), "seed")}, selective repeat. `learnt` is the teacher `robust-window`; its beta, `rtt_max`
and largest window were chosen in these scenes. NSCC in integers is the program of `docs/window/nscc.toml`, interpreted
in the simulator; `nscc` is the baseline in floats. [Windows](../how-to/windows.md) shows how to emit both.

| network | difference from plain |
|---|---|
| plain | - |
| trimmed | a packet that meets a queue of more than {TRIM_BYTES // 1000} KB goes on as its header |
| spread | trimmed, and packets are spread over the paths by {ENTROPY_VALUES} entropy values |
| spread, a link fails | spread, and `{LINK.link}` fails at 4 ms for 2 ms; the routes follow 1 ms later |

Goodput is a share of the links. Losses and trimmed packets are shares of what is sent. A slowdown is a flow's time over
the time that it takes alone. `nan`: no flow ended.

Integers and floats differ for three reasons:

- The largest window is stated in bytes of payload for the integers, and in packets on the wire for the floats. The
  integers' is 8 % larger with packets of 1 KiB, and it is a new flow's window: more is lost or trimmed at a start.
- A loss costs the integers its bytes. It costs the floats a packet, however many were lost.
- After a timeout the integers have one packet in flight until they have decided.

DCQCN does not cut its rate by losses, so that trimmed packets are repeated at the rate that marks leave.

"""
    text += listed(contenders)
    for scene in SCENES:
        asked = [(c, network) for network in scene.networks for c in contenders]
        outcomes = iter(run([scene.trial(c, network, s) for c, network in asked for s in seeds], where, Kept(KEPT)))
        found = {(c.label, network): [next(outcomes).metrics for _ in seeds] for c, network in asked}
        rows = [
            [network, c.label, *(shown(found[c.label, network], metric, n) for metric, _, n in scene.metrics)]
            for c, network in asked
        ]
        begin, end = (time / MS for time in scene.window_ps)
        text += f"\n## {scene.name}\n`{scene.scenario}`, {begin:g} to {end:g} ms.\n\n"
        text += table(["network", "algorithm", *(heading for _, heading, _ in scene.metrics)], rows)
        text += distance(scene, contenders, found)
    return text


def shown(runs: Sequence[dict[str, float]], metric: str, digits: int) -> str:
    """Returns the mean of the runs; `-` for what they do not have."""
    return f"{mean(m[metric] for m in runs):.{digits}f}" if metric in runs[0] else "-"


def distance(
    scene: WindowScene, contenders: Sequence[Contender], found: dict[tuple[str, str], list[dict[str, float]]]
) -> str:
    """Returns the largest difference of NSCC in integers from NSCC in floats in the scene's first two metrics."""
    labels = {c.label for c in contenders}
    if not {INTEGERS, FLOATS} <= labels:
        return ""
    parts = []
    for metric, heading, _ in scene.metrics[:2]:
        pairs = [
            (mean(m[metric] for m in found[INTEGERS, n]), mean(m[metric] for m in found[FLOATS, n]))
            for n in scene.networks
        ]
        most = max(abs(ours - theirs) / theirs for ours, theirs in pairs)
        parts.append(f"{heading.removesuffix(', us')} within {100 * most:.1f} %")
    return f"\nIntegers and floats: {', '.join(parts)}.\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and returns 0, or prints the reason why not and returns 2."""
    return write_page(arguments, "windows", "Flows with windows.", page, PAGE, CONTENDERS, seeds=1)


if __name__ == "__main__":
    sys.exit(main())
