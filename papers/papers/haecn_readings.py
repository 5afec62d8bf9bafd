"""HAECN's networks read otherwise than by papers.haecn: more servers, larger flows, more time.

    rlcc run recipes/acc.toml && rlcc run recipes/haecn.toml && python -m papers.haecn_readings [--seeds N]

The paper's senders send to "the server connected to leaf switch 1". To one server over a hundred flows share 25 Gb/s,
and whatever is marked is marked; to all servers of leaf 1 a few share each, and what congests is also the spines' six
links to it. Who decides, on one CPU a switch, is the first page's: networks in float32 and in int8, and trees.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from netsim.network import MS
from netsim.result_store import Kept
from netsim.scenarios import Flows, Scenario
from netsim.series import record
from netsim.simulation import Simulation
from papers.command import add_docs, page_parser, store, written
from papers.haecn import (
    BASELINES,
    FORMS,
    NETWORK,
    PAPER,
    Outcomes,
    Place,
    Ports,
    add_runs,
    bursty,
    deciding,
    fabric,
    outcomes_of,
    packets_of,
    stabilising,
    trial,
)
from papers.pictures import STYLE, svg
from rlcc.commands.run_location import place_of
from rlcc.evaluation.pictures import COLOURS, LINES
from rlcc.origin import made_by

COMMAND = "rlcc run recipes/acc.toml && rlcc run recipes/haecn.toml && python -m papers.haecn_readings"
HOSTS = (12, 24, 36, 48)
SIZES = (100_000, 1_000_000, 5_000_000)
HALF_PS = 50 * MS
"""Until more hosts send, over time; the paper's halves are some 150 ms."""
EVERY_PS = 2 * MS
SYSTEMS = (*BASELINES, "ACC", "HAECN")
PICTURE = "figures/haecn-figure-7.svg"


def to_all(hosts: int, size: int) -> Place:
    """Every fourth host outside leaf 1 sends one flow of ``size`` bytes, to the servers of leaf 1 in turn, at once."""
    made = fabric(hosts)
    sender = np.arange(hosts + 3, made.hosts, 4)
    flows = Flows(host=sender, receiver=np.arange(sender.size) % hosts, **packets_of(size))
    duration = 6 * -(-sender.size // hosts) * size * 8000 // 25 + 10 * MS
    scenario = Scenario(f"to-all:{hosts}x{size}", made.hosts, 12 * hosts, flows, topology=made)
    return Place(_all(hosts, size), scenario, duration, (0, duration))


def _all(hosts: int, size: int) -> str:
    return f"to all, {hosts}, {size // 1000} KB"


Course = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Milliseconds, and the goodput of the link as a share of it."""


def over_time(hosts: int, ports: dict[str, Ports]) -> dict[str, Course]:
    """Gradual stabilisation, seed 1."""
    place = stabilising(hosts, HALF_PS)
    found: dict[str, Course] = {}
    for who in (*BASELINES, *ports):
        asked = trial(place, who, ports.get(who), 1)
        run = Simulation(
            asked.scenario,
            asked.policy,
            seed=asked.seed,
            duration_ps=asked.duration_ps,
            network=asked.network,
            cohorts=asked.cohorts,
        )
        series = record(run, asked.duration_ps, EVERY_PS)
        share = series.flow_gbps.sum(axis=1) / NETWORK.link_gbps
        found[who] = series.t_ps.astype(np.float64) * 1e-9, share.astype(np.float64)
    return found


def picture(shown: dict[int, dict[str, Course]]) -> bytes:
    """A panel a number of hosts."""
    with rc_context(STYLE):
        canvas = Figure(figsize=(2.4 * len(shown) + 0.6, 2.8), layout="constrained")
        panels = canvas.subplots(1, len(shown), sharey=True, squeeze=False)[0]
        for axes, (hosts, courses) in zip(panels, shown.items(), strict=True):
            for who, (t, share) in courses.items():
                system, _, form = who.partition(", ")
                colour, line = COLOURS[SYSTEMS.index(system)], LINES[FORMS.index(form) if form else 0]
                axes.plot(t, share, linewidth=1.0, label=who, color=colour, linestyle=line)
            axes.set(title=f"{hosts} hosts a leaf", xlabel="ms", ylim=(0, 1))
            axes.grid(linewidth=0.5, color="#DDDDDD")
        panels[0].set_ylabel("goodput of the link")
        canvas.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
        return svg(canvas)


def page(o: Outcomes, shown: dict[int, dict[str, Course]]) -> str:
    largest = SIZES[-1]
    lines = [
        "# HAECN's networks read otherwise",
        made_by(COMMAND),
        "",
        '[HAECN] section 5 sends to "the server connected to leaf switch 1", and names neither buffer nor Pmax, nor '
        "what an inference takes. Fabric and deciders are those of [the first page](haecn.md); "
        f"{o.seeds} seeds; the decisions of a switch's ports wait for one CPU. A "
        f"choice takes {', '.join(f'{who} {ports.busy_ps * 1e-6:.1f} us' for who, ports in o.ports.items())}: int8 and "
        "trees as measured on `ibex-small`, float32 reckoned, all as there.",
        "",
        "## To all servers of leaf 1",
        "Every fourth host outside leaf 1 sends one flow to its servers in turn, at once.",
    ]
    for size in SIZES:
        lines += _table(
            o, f"Mean FCT, us: flows of {size // 1000} KB", [_all(hosts, size) for hosts in HOSTS], "fct_mean_us"
        )
    lines += _table(
        o, f"p99 of the FCT, us: flows of {largest // 1000} KB", [_all(h, largest) for h in HOSTS], "fct_p99_us"
    )
    lines += [
        "",
        "## To one server, 5 MB",
        "The first page's network with the paper's size of flows, and with 24 hosts.",
    ]
    one = [f"bursty, {hosts}" for hosts in HOSTS]
    lines += _table(o, "Mean FCT, us", one, "fct_mean_us")
    lines += [
        "",
        "## Against the others, 5 MB",
        "Mean FCT of HAECN in % of each, mean of the seeds (least to greatest); ACC's of the same form.",
        "",
        f"| | paper | {' | '.join(f'{to}, {form}' for to in ('to all', 'to one') for form in FORMS)} |",
        "|---" * (2 + 2 * len(FORMS)) + "|",
    ]
    for hosts in (36, 48):
        for other, theirs in PAPER[str(hosts)].items():
            cells = [
                o.against(place, f"HAECN, {form}", _beside(other, form), "fct_mean_us")
                for place in (_all(hosts, largest), f"bursty, {hosts}")
                for form in FORMS
            ]
            lines.append(f"| {hosts} hosts, {other} | {theirs:+d} | {' | '.join(cells)} |")
    lines += ["", _words(o), "", "## Gradual stabilisation over time", f"![goodput over time]({PICTURE})"]
    lines += _settled_table(shown, [*BASELINES, *o.ports])
    return "\n".join(lines) + "\n"


def _settled_table(shown: Mapping[int, Mapping[str, Course]], everybody: Sequence[str]) -> list[str]:
    """Goodput of the second half, and how far HAECN's is above each other's at the most."""
    settled = {
        who: {hosts: float(c[who][1][len(c[who][1]) // 2 :].mean()) for hosts, c in shown.items()} for who in everybody
    }
    rows = [f"| {who} | {' | '.join(f'{share:.3f}' for share in of.values())} |" for who, of in settled.items()]
    told = []
    for other, theirs in PAPER["throughput"].items():
        most = max(
            settled[f"HAECN, {form}"][hosts] / settled[_beside(other, form)][hosts] - 1
            for form in FORMS
            for hosts in shown
        )
        told.append(f"{other} {most:+.1%} (paper up to {theirs:+d})")
    return [
        "",
        f"Goodput of the link, mean of the second half ({HALF_PS // MS} ms, seed 1):",
        "",
        f"| hosts a leaf | {' | '.join(map(str, shown))} |",
        "|---|" + "---|" * len(shown),
        *rows,
        "",
        f"HAECN's, at the most of these hosts and forms, against {'; '.join(told)}.",
    ]


def _table(o: Outcomes, title: str, places: Sequence[str], metric: str) -> list[str]:
    rows = [
        f"| {who} | " + " | ".join(f"{o.mean(p, who, metric):,.0f}" for p in places) + " |"
        for who in (*BASELINES, *o.ports)
    ]
    return [
        "",
        f"{title}:",
        "",
        "| hosts a leaf | " + " | ".join(map(str, HOSTS)) + " |",
        "|---|" + "---|" * len(HOSTS),
        *rows,
    ]


def _words(o: Outcomes) -> str:
    """What the table says, by whom HAECN stands beside."""
    said = []
    for other in PAPER["36"]:
        off = [
            float(np.mean(o.changes(place, f"HAECN, {form}", _beside(other, form), "fct_mean_us")))
            for hosts in (36, 48)
            for place in (_all(hosts, SIZES[-1]), f"bursty, {hosts}")
            for form in FORMS
        ]
        theirs = f"{PAPER['36'][other]:+d} and {PAPER['48'][other]:+d}"
        gained = "as the paper has it" if max(off) <= -10 else "in part" if min(off) <= -10 else "not there"
        said.append(f"{other} {min(off):+.1f} to {max(off):+.1f} % (paper {theirs}: {gained})")
    return (
        f"Against {'; '.join(said)}. One link that flows of one size share alike lets them all end when it has carried "
        "all of them, whoever marks and whatever it takes to decide: there a mean FCT a third shorter is only had by "
        "serving one flow after another, which marking does not do."
    )


def _beside(other: str, form: str) -> str:
    return f"ACC, {form}" if other == "ACC" else other


def _write(options: argparse.Namespace) -> None:
    places = [
        *(to_all(hosts, size) for size in SIZES for hosts in HOSTS),
        *(bursty(hosts, SIZES[-1]) for hosts in HOSTS),
    ]
    with deciding(options.acc_run, options.run) as (ports, _):
        outcomes = outcomes_of(places, ports, options.seeds, Kept(options.work / "runs"), place_of(options))
        shown = {hosts: over_time(hosts, ports) for hosts in HOSTS}
    store(options.docs / PICTURE, picture(shown))
    store(options.docs / "haecn-readings.md", page(outcomes, shown).encode())


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = page_parser("haecn_readings", "HAECN's networks read otherwise.")
    add_docs(parser)
    add_runs(parser)
    return written(parser, arguments, _write)


if __name__ == "__main__":
    sys.exit(main())
