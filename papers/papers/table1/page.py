"""papers/pages/connectx6dx-proxy.md: Table 1 beside the paper's, the fit of the proxy, what it leaves unexplained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from emulator.profile import Profile
from emulator.report import Cycles, EmulationReport
from papers.table1.contenders import Contender
from papers.table1.fit import PAPER_US, Fit
from papers.table1.network import DURATION, SCENARIO, SEEDS, WINDOW
from rlcc.origin import made_by
from rlcc.reports.pages import wrapped

PAPER_TEXT = {"LSTM": "400 to 450", "MLP": "17", "trees": "0.9"}
PAPER_FLOPS = {"LSTM": "2600", "MLP": "200", "trees": "at most 150 operations"}


@dataclass(frozen=True)
class Row:
    """A column of Table 1, measured."""

    contender: Contender
    operations: str
    report: EmulationReport
    closed: Mapping[str, float]

    @property
    def mean_us(self) -> float:
        assert self.report.cycles is not None
        return self.report.cycles.mean / self.report.clock_mhz


def write(rows: Sequence[Row], quick: Mapping[str, float], fits: Sequence[Fit], proxy: Profile) -> str:
    """The whole page. ``quick``: the LSTM in the network, as fast as the if-else trees."""
    parts = [_head(proxy), _table(rows), _network(rows, quick), _fit(fits, proxy), _unexplained(rows, proxy)]
    return wrapped("\n".join(parts))


def _head(proxy: Profile) -> str:
    wait = proxy.table_memory.wait_states if proxy.table_memory else 0
    return f"""# RL-CC's Table 1 again, and connectx6dx-proxy

{made_by("rlcc run recipes/rl-cc.toml && python -m papers.table1")}

The engine of a ConnectX-6Dx is not documented. What its users published are three decision times (RL-CC, section 5.1
and Table 1): a small LSTM takes 400 to 450 us, an MLP 17 us, boosted trees "as an if-else sequence" 0.9 us.
`connectx6dx-proxy` is a core of ours that takes about as long for the three: an Ibex of two stages with a multiplier of
three cycles, at {proxy.clock.mhz:g} MHz, whose constant tables lie in a memory that answers after {wait} wait states.
Those two numbers are fitted; everything else is as in `ibex-small`. **It is a proxy**: good for asking what a change of
the code would do on such an engine, no statement about the card.
"""


def _table(rows: Sequence[Row]) -> str:
    trees = next(row for row in rows if row.contender.name == "trees")
    lines = [
        "## Table 1",
        "Whole decisions, from the raw event to the new rate. Networks are the teachers' own in int8",
        "([networks](../../docs/how-to/networks.md)), the trees are distilled from the MLP; each folder's vectors run",
        "on the RTL, bit-equal to their integer meaning.",
        "",
        "| | " + " | ".join(f"{row.contender.name}" for row in rows) + " |",
        "|---" * (len(rows) + 1) + "|",
    ]

    def line(name: str, cells: list[str]) -> None:
        lines.append(f"| {name} | " + " | ".join(cells) + " |")

    line("form", [row.contender.what for row in rows])
    line("operations", [row.operations for row in rows])
    line("operations, paper", [PAPER_FLOPS[row.contender.paper] for row in rows])
    line("cycles, mean (max)", [f"{_cycles(row).mean:,.0f} ({_cycles(row).max:,})" for row in rows])
    line("**us, mean**", [f"**{row.mean_us:.3g}**" for row in rows])
    line("us, paper", [PAPER_TEXT[row.contender.paper] for row in rows])
    line("times the if-else trees", [f"x{row.mean_us / trees.mean_us:.3g}" for row in rows])
    paper = {name: us / PAPER_US["trees"] for name, us in PAPER_US.items()}
    said = {"LSTM": "x500 (450 us)", "MLP": f"x{paper['MLP']:.0f}", "trees": "x1"}
    line("the same, paper", [said[row.contender.paper] for row in rows])
    line("code, B", [f"{row.report.code_bytes:,}" for row in rows])
    line("constant tables, B", [f"{row.report.table_bytes:,}" for row in rows])
    line("context of a flow, B", [f"{row.report.context_bytes}" for row in rows])
    line("stack, B", [f"{row.report.stack_bytes_measured}" for row in rows])
    lines.append("")
    return "\n".join(lines)


def _network(rows: Sequence[Row], quick: Mapping[str, float]) -> str:
    begin, end = (t // 10**9 for t in WINDOW)
    heading = ["", "a decision, us", "event to rate, us", "engine busy", "goodput", "latency, us", "p99, us", "loss"]
    lines = [
        "## In the network with that decision time",
        f"`{SCENARIO}`: 64 flows of four hosts to one receiver, 16 queue pairs a NIC; decisions wait for the NIC's one",
        "engine ([the model](../../docs/explanation/engine-in-the-loop.md)). The emitted C decides, as late as above.",
        f"{DURATION // 10**9} ms, measured from {begin} to {end} ms, mean of {len(SEEDS)} seeds.",
        "",
        "| " + " | ".join(heading) + " |",
        "|---" * len(heading) + "|",
    ]
    trees = next(row for row in rows if row.contender.name == "trees")
    loops = [(row.contender.name, row.mean_us, row.closed) for row in rows]
    for name, us, m in (*loops, ("LSTM, as if it were as fast", trees.mean_us, quick)):
        cells = [
            name,
            f"{us:.3g}",
            f"{m['decision_latency_mean_us']:,.1f}",
            f"{m['engine_utilisation']:.2f}",
            f"{m['goodput']:.3f}",
            f"{m['latency_mean_us']:,.1f}",
            f"{m['latency_p99_us']:,.1f}",
            f"{m['loss']:.3f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    lines += [
        "",
        "The LSTM's policy is not what fails: as fast as the trees it controls the same flows. With its own time the",
        "decisions of 16 flows wait for one another, a rate is milliseconds old when it takes effect, and the buffer",
        "overflows.",
        "",
    ]
    return "\n".join(lines)


def _fit(fits: Sequence[Fit], proxy: Profile) -> str:
    heading = ["multiplier", "free", "waits of tables / scratch", "MHz", "LSTM", "MLP", "trees", "off by"]
    lines = [
        "## The fit",
        "Cycles of the three are measured on the RTL. On a two-stage core they are affine in the wait states (a test",
        "holds them to it), so three runs of a policy give them for all waits. For each multiplier: the best clock",
        "alone, with waits of the tables' memory, with waits of both memories. *off by* is the root mean square of",
        "ln(ours / the paper's), with 425 us for the LSTM.",
        "",
        "| " + " | ".join(heading) + " |",
        "|---" * len(heading) + "|",
    ]
    for fit in fits:
        chosen = _is_shipped(fit, proxy)
        cells = [
            fit.engine.multiplier,
            fit.free,
            f"{fit.engine.table_wait} / {fit.engine.data_wait}",
            f"{fit.mhz:.0f}",
            *(f"{fit.microseconds(name):.3g}" for name in PAPER_US),
            f"{fit.error:.2f}",
        ]
        lines.append("| " + " | ".join(f"**{c}**" if chosen else c for c in cells) + " |")
    lines += [
        "",
        "- A clock alone does not do it: the networks then take",
        f"  {_times(fits, 'MLP')} (MLP) and {_times(fits, 'LSTM')} (LSTM)",
        "  times as long as the trees, not 19 and 470, and no multiplier mends that.",
        "- What does is a slow memory for constants. The networks read their weights from it; if-else trees have their",
        "  constants in the code. The paper keeps weights in *shared memory*, apart from the per-flow memory, and its",
        "  interface hands over a pointer to a *global memory*.",
        "- Waits of the scratch memory as well bring the fit a little closer, with as many free numbers as times and",
        "  hundreds of MHz more: that says nothing.",
        *_kept(fits, proxy),
        "",
    ]
    return "\n".join(lines)


def _times(fits: Sequence[Fit], name: str) -> str:
    """How many times as long as the trees, with a clock alone: `4 to 8`."""
    ratios = [fit.microseconds(name) / fit.microseconds("trees") for fit in fits if fit.free == "clock"]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def _kept(fits: Sequence[Fit], proxy: Profile) -> list[str]:
    """Which row is the profile. Trees of another student are fitted by other numbers; the profile does not follow."""
    if any(_is_shipped(fit, proxy) for fit in fits):
        return ["- The bold row is the profile."]
    waits = proxy.table_memory.wait_states if proxy.table_memory else 0
    return [
        f"- No row is the profile: its {waits} wait states and {proxy.clock.mhz:g} MHz were fitted when the trees were",
        "  another student's. It is left as it was, so that figures on it stay comparable; what it gives with these",
        "  trees is Table 1 above.",
    ]


def _is_shipped(fit: Fit, proxy: Profile) -> bool:
    core = proxy.core.model_dump()
    waits = proxy.table_memory.wait_states if proxy.table_memory else None
    same = (core.get("multiplier"), waits, proxy.data_memory.wait_states)
    fitted = (fit.engine.multiplier, fit.engine.table_wait, fit.engine.data_wait)
    return same == fitted and round(fit.mhz) == proxy.clock.mhz


def _unexplained(rows: Sequence[Row], proxy: Profile) -> str:
    by_name: Mapping[str, Row] = {row.contender.name: row for row in rows}
    lstm, mlp, trees = (by_name[name].mean_us for name in ("LSTM", "MLP", "trees"))
    wait = proxy.table_memory.wait_states / proxy.clock.mhz if proxy.table_memory else 0.0
    return f"""## What remains unexplained
- The LSTM takes {lstm:.0f} us, {1 - lstm / 425:.0%} less than the middle of the paper's range, the MLP {mlp:.1f} us,
  {mlp / 17 - 1:.0%} more than its. The paper's LSTM takes 25 times as long as its MLP, ours {lstm / mlp:.0f} times:
  1188 multiply-accumulates against 60, and 60 activations against 13, come to no more. What the rest is the paper does
  not say: 24 values of state in the per-flow memory, activations dearer than a look-up, or code that does not fit an
  instruction buffer.
- {wait:.2f} us for one access is plausible for a memory that many engines share, and slow for anything nearer. The
  networks load a weight when it is used; a firmware that first copied them into scratch, were there room, would be
  faster.
- The trees are our own: the paper's are not published, only that they have at most 150 operations. Another if-else
  sequence would move the clock.
- Two numbers are fitted to three times: one ratio is left to be right or wrong. It is {lstm / trees:.0f} for the LSTM
  and the trees, where the paper has 444 to 500.
- Nothing was run on a card.
"""


def _cycles(row: Row) -> Cycles:
    assert row.report.cycles is not None
    return row.report.cycles
