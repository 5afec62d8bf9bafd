"""PCC-RL's tables: 1 to 5, 7 and 8."""

from netsim.network import MS, Network
from papers import published as p
from papers.contenders import DCQCN_LOSSLESS, ROBUST, TARGETS
from papers.found import Found, beside, yes
from papers.sections import (
    DROPS,
    FAIRNESS,
    GOODPUT,
    LONG_BANDWIDTH,
    QUEUE,
    RECOVERY,
    UTILISATION,
    Column,
    Section,
    cell,
    lossless_sentence,
    one_metric,
    order_and_trend,
)
from papers.theory import fixed_point
from papers.traffic import LONG, TIMES, Traffic, named
from rlcc.evaluation.grid import Times
from rlcc.reports.pages import listed, table

OURS = "PCC-RL LSTM"
INT8 = "PCC-RL LSTM, int8 weights"
PAIRS = ((OURS, "PCC-RL"), ("DCQCN", "DC2QCN"), ("HPCC", "HPCC"), ("Swift", "Swift"))
"""Ours and what it stands beside."""
OTHERS = ("RL-CC MLP", "RL-CC tree", ROBUST[1], DCQCN_LOSSLESS, "DCQCN orig.", "DCTCP", "TIMELY", "max-min")
Rows = tuple[tuple[str, str | None], ...]
"""Contenders, and what of the paper stands beside each."""
ROWS: Rows = (*PAIRS, *((label, None) for label in OTHERS))
LABELS = tuple(label for label, _ in ROWS)
LOOSE = "target 0.64"
LONG_SHORT_ROWS: Rows = (*PAIRS, (LOOSE, None), *ROWS[len(PAIRS) :])
FULL_BUFFER = 1 + Network().buffer_bytes * Network().ps_per_byte / Network().base_rtt_ps
"""RTT inflation behind a full buffer."""


def sections(times: Times) -> list[Section]:
    many = tuple(named(f"many-to-one:{n}", times) for n in p.MANY_TO_ONE)
    all_to_all = tuple(named(f"all-to-all:{n}", times) for n in p.ALL_TO_ALL)
    long_short = tuple(named(f"long-short:{n}", times) for n in p.LONG_SHORT)
    quantised = tuple(named(f"many-to-one:{n}", times) for n in p.QUANTISED)
    largest = many[-1]
    targets = tuple(f"target {t:g}" for t in TARGETS.values())
    found = [
        Section("PCC-RL, table 1: many-to-one", LABELS, many, lambda f: _table_1(f, many)),
        Section("PCC-RL, table 2: all-to-all", LABELS, all_to_all, lambda f: _table_2(f, all_to_all)),
        Section("PCC-RL, table 3: targets, 8192 to 1", targets, (largest,), lambda f: _table_3(f, largest)),
        Section("PCC-RL, table 4: targets, all-to-all", targets, all_to_all, lambda f: _table_4(f, all_to_all)),
        Section("PCC-RL, table 5: targets, long-short", targets, long_short, lambda f: _table_5(f, long_short)),
        Section("PCC-RL, table 7: float and int8", (OURS, INT8), quantised, lambda f: _table_7(f, quantised)),
        Section("PCC-RL, table 8: long-short", (*LABELS, LOOSE), long_short, lambda f: _table_8(f, long_short)),
    ]
    if times == TIMES:
        settled = named("many-to-one:8192", LONG)
        settled = Traffic("many-to-one:8192, 1 s", settled.scenario, LONG)
        after = ("PCC-RL LSTM", "RL-CC MLP", "RL-CC tree", "HPCC", "Swift")
        found.insert(
            1, Section("PCC-RL, table 1, after half a second", after, (settled,), lambda f: _settled(f, after, settled))
        )
    return found


def _table_1(f: Found, many: tuple[Traffic, ...]) -> str:
    heads = [f"{n} to 1" for n in p.MANY_TO_ONE]
    columns = (UTILISATION, FAIRNESS, QUEUE, DROPS)

    def printed(column: Column, paper: str, i: int) -> float:
        return p.TABLE_1[paper][i][columns.index(column)]

    tables = []
    for c in columns:
        tables.append(one_metric(f, c, many, heads, ROWS, lambda paper, i, c=c: printed(c, paper, i)))  # type: ignore[misc]
    tables.append(one_metric(f, GOODPUT, many, heads, ROWS))
    text = "Ours / the paper's. DC2QCN is not published; DCQCN with the defaults of the NIC stands beside it.\n\n"
    text += "\n".join(tables) + "\n" + order_and_trend(f, columns, many, PAIRS, printed)
    text += "\n" + lossless_sentence(f, LABELS, many)
    text += f"""
The paper's PCC-RL drops nothing up to 8192 flows. Ours: {yes(f.most(OURS, many[-1], "dropped_packets") == 0)}. That
is one switch of 100 Gb/s from {many[-1].times.window_ps[0] // MS} ms on; for what is lost at
the start, in a fabric of slower links and where flows come and go see [where they do not
hold](../../docs/results/measured.md).

Differences: the paper says neither its RTT nor its packet and header sizes, nor how long its 8192 flows were left to
settle before it measured. Its PCC-RL leaves 8 to 10 % of the link unused; ours aims at a queue that is never empty.
Utilisation counts what is sent in vain too: goodput, which cannot exceed 0.926 (0.909 with a probe in each burst),
says what arrived in order. All baselines here start at line rate and go back to the first lost packet; in the paper
what they do after a loss is not said.
"""
    return text


def _settled(f: Found, labels: tuple[str, ...], settled: Traffic) -> str:
    rows = [
        [label, *(cell(f, label, settled, c) for c in (UTILISATION, GOODPUT, FAIRNESS, QUEUE, DROPS))]
        for label in labels
    ]
    heads = [c.heading for c in (UTILISATION, GOODPUT, FAIRNESS, QUEUE, DROPS)]
    often = f.mean(OURS, settled, "decisions_per_flow_s")
    return f"""8192 to 1 again, measured from 0.5 to 1 s: the paper ran 2 s. A flow of {OURS} decides {often:.0f}
times a second there, {often * 0.05:.0f} times in the first 50 ms.

{table(["8192 to 1", *heads], rows)}"""


def _table_2(f: Found, traffic: tuple[Traffic, ...]) -> str:
    heads = [f"{n} hosts" for n in p.ALL_TO_ALL]
    columns = (UTILISATION, FAIRNESS, QUEUE)

    def printed(column: Column, paper: str, i: int) -> float:
        return p.TABLE_2[paper][i][columns.index(column)]

    tables = []
    for c in columns:
        tables.append(one_metric(f, c, traffic, heads, ROWS, lambda paper, i, c=c: printed(c, paper, i)))  # type: ignore[misc]
    tables.append(one_metric(f, GOODPUT, traffic, heads, ROWS))
    return f"""Ours / the paper's.

{chr(10).join(tables)}
{order_and_trend(f, columns, traffic, PAIRS, printed)}
{_none_dropped(f, traffic)}
Differences: each host has one link and 2 H flows on it, as has each receiver. Flows of one NIC are served in turn,
so here the offered load of a port never exceeds its rate for long: the sender's own link is the bottleneck, and only
chance makes queues. In the paper flow i goes to host i mod H, itself included; it does not say what becomes of that
flow.
"""


def _none_dropped(f: Found, traffic: tuple[Traffic, ...]) -> str:
    lossy = [label for label in LABELS if any(f.most(label, t, "dropped_packets") > 0 for t in traffic)]
    return f"The paper: nobody loses a packet. Ours: {f'all but {listed(lossy)}' if lossy else 'nobody'}.\n"


def _target_word(name: str) -> str:
    printed = f"target {p.TARGETS[name]}" if name in p.TARGETS else "not in the paper"
    return f"{TARGETS[name]:g} ({name}) / {printed}"


def _printed_target(rows: dict[str, tuple[float, ...]], name: str, i: int) -> float | None:
    return rows[name][i] if name in rows else None


def _table_3(f: Found, traffic: Traffic) -> str:
    lines = []
    for name, target in TARGETS.items():
        label = f"target {target:g}"
        cells = [beside(cell(f, label, traffic, c), _printed_target(p.TABLE_3, name, i)) for i, c in enumerate(COLUMNS)]
        inflation = f.figure(label, traffic, "rtt_inflation_mean").text(1)
        lines.append(
            [
                _target_word(name),
                *cells,
                cell(f, label, traffic, GOODPUT),
                inflation,
                f"{fixed_point(traffic.flows, target):.1f}",
            ]
        )
    head = ["8192 to 1", *(c.heading for c in COLUMNS), "goodput", "RTT inflation", "fixed point"]
    return f"""Ours / the paper's. Our target belongs to RL-CC's congestion feature,
target - max(inflation - 1.5, 0) sqrt(rate); the paper's 1, 2 and 20 to inflation x sqrt(rate). So only their ratio
is kept: half, one and ten times, and twice beside it. Weights are those trained at 0.064.

{table(head, lines)}
The fixed point is target x sqrt(N) + 1.5. A full buffer stands for an inflation of {FULL_BUFFER:.1f}:
{_beyond(traffic.flows)}
"""


def _beyond(flows: int) -> str:
    over = [f"{t:g}" for t in TARGETS.values() if fixed_point(flows, t) > FULL_BUFFER]
    return (
        f"the fixed point of target {listed(over)} does not fit in it, and what does not fit is dropped."
        if over
        else "all fit."
    )


COLUMNS = (UTILISATION, FAIRNESS, QUEUE, DROPS)


def _table_4(f: Found, traffic: tuple[Traffic, ...]) -> str:
    tables = []
    columns = (UTILISATION, FAIRNESS, QUEUE)
    for i, t in enumerate(traffic):
        lines = []
        for name, target in TARGETS.items():
            label = f"target {target:g}"
            printed = p.TABLE_4[name][i] if name in p.TABLE_4 else (None, None, None)
            cells = [beside(cell(f, label, t, c), x) for c, x in zip(columns, printed, strict=True)]
            lines.append([_target_word(name), *cells, cell(f, label, t, GOODPUT)])
        tables.append(table([f"{p.ALL_TO_ALL[i]} hosts", *(c.heading for c in columns), "goodput"], lines))
    spread = {t.name: [f.mean(f"target {x:g}", t, "queue_mean_us") for x in TARGETS.values()] for t in traffic}
    alike = all(max(q) - min(q) < 0.05 for q in spread.values())
    says = "makes no difference of 0.05 us of queue" if alike else "makes a difference"
    return f"""Ours / the paper's.

{chr(10).join(tables)}
The target {says} here. Where the inflation stays under 1.5 a flow has nothing to answer and sends at line rate,
whatever its target.
"""


def _table_5(f: Found, traffic: tuple[Traffic, ...]) -> str:
    lines = []
    for name, target in TARGETS.items():
        label = f"target {target:g}"
        printed = p.TABLE_5.get(name, (None,) * len(traffic))
        cells = []
        for t, seconds in zip(traffic, printed, strict=True):
            cells.append(beside(recovery(f, label, t), None if seconds is None else seconds * 1e3))
        lines.append([_target_word(name), *cells])
    return f"""Recovery in ms, ours / the paper's; behind ours how many of the rounds ended with one.

{table(["recovery ms", *(f"{n} flows" for n in p.LONG_SHORT)], lines)}
The definition of recovery and the difference of the set-ups are at table 8.
"""


def recovery(f: Found, label: str, t: Traffic) -> str:
    """In ms, and of how many rounds."""
    recoveries, of = f.figure(label, t, "recoveries").mean, rounds(t)
    shown = cell(f, label, t, RECOVERY)
    return f"{shown} ({recoveries:.0f} of {of})"


def rounds(t: Traffic) -> int:
    """Rounds of short flows, one every 10 ms, that begin in the window."""
    period = int(t.scenario.column("period_ps").max())
    begin, end = t.times.window_ps
    return sum(1 for start in range(period, t.times.duration_ps, period) if begin <= start < end)


def _table_7(f: Found, traffic: tuple[Traffic, ...]) -> str:
    columns = (UTILISATION, Column("fairness", "fairness_min_max", 1, 2, 1), QUEUE)
    lines = []
    for i, t in enumerate(traffic):
        line = [f"{t.flows}"]
        for c, k in zip(columns, range(3), strict=True):
            for label, kind in ((OURS, "float"), (INT8, "int8")):
                line.append(beside(cell(f, label, t, c), p.TABLE_7[kind][k][i]))
        line += [cell(f, OURS, t, GOODPUT), cell(f, INT8, t, GOODPUT)]
        lines.append(line)
    heads = ["use % float", "use % int8", "fairness float", "fairness int8", "queue us float", "queue us int8"]
    wide = table(["flows", *heads, "goodput float", "goodput int8"], lines)
    worse = [t.flows for t in traffic if f.mean(INT8, t, "queue_mean_us") > f.mean(OURS, t, "queue_mean_us")]
    printed = [n for i, n in enumerate(p.QUANTISED) if p.TABLE_7["int8"][2][i] > p.TABLE_7["float"][2][i]]
    lost = [t.flows for t in traffic if f.most(INT8, t, "dropped_packets") > 0]
    return f"""Ours / the paper's. Here only the weights are rounded to int8, symmetric, a scale an output channel
(Wu et al. 2020); activations, biases and arithmetic stay in float32. The paper's runs in int8 throughout, in C; so
does ours [on a page of its own](table-7.md).

{wide} int8 has the longer queue at {len(worse)} of {len(traffic)} sizes in ours, at {len(printed)} of
{len(p.QUANTISED)} in the paper's. It loses packets at {f"{len(lost)} of ours" if lost else "none of ours"}.
"""


def long_short_tables(f: Found, traffic: tuple[Traffic, ...], rows: Rows, drops: Column = DROPS) -> str:
    """Table 8 of such rows: three tables and the goodput, then how far they agree with the paper's."""
    heads = [f"{n} flows" for n in p.LONG_SHORT]
    columns = (RECOVERY, drops, LONG_BANDWIDTH)

    def printed(column: Column, paper: str, i: int) -> float | None:
        row = p.TABLE_8[paper][i]
        return None if row is None else row[columns.index(column)] * (1e3 if column is RECOVERY else 1)

    lines = []
    for label, paper in rows:
        cells = [recovery(f, label, t) for t in traffic]
        if paper is not None:
            shown = [printed(RECOVERY, paper, i) for i in range(len(traffic))]
            cells = [beside(c, x) for c, x in zip(cells, shown, strict=True)]
        lines.append([label if paper in (None, label) else f"{label} / {paper}", *cells])
    tables = [table(["recovery ms", *heads], lines)]
    for c in columns[1:]:
        tables.append(one_metric(f, c, traffic, heads, rows, lambda paper, i, c=c: printed(c, paper, i)))  # type: ignore[misc]
    tables.append(one_metric(f, GOODPUT, traffic, heads, rows))
    compared = order_and_trend(f, columns[1:], traffic, PAIRS, printed)
    never = [f"{label} at {t.flows:,}" for label, _ in rows for t in traffic if f.mean(label, t, "recoveries") == 0]
    return f"""{chr(10).join(tables)}
{compared} No round ends with a recovery: {listed(never) if never else "nobody"}."""


def _table_8(f: Found, traffic: tuple[Traffic, ...]) -> str:
    return f"""Ours / the paper's; behind our recovery how many of the {rounds(traffic[0])} rounds in the window ended
with one, a mean over seeds. The paper prints its times as us; only seconds fit its figure 3, and they are shown as
such, in ms. It says that its PCC-RL is the loose one here (table 5), so the row of target 0.64 belongs to it too.

{long_short_tables(f, traffic, LONG_SHORT_ROWS)}

Differences: the paper gives no size of a short flow, and "randomly interrupt" no rate. Here N - 1 of them start
together every 10 ms with 6 x 200 KiB each or their share of 4 MB a host, so that with 2048 flows they take more than
half of the link's time; [other sizes and intervals](robust.md) stand beside it. Recovery is the time from the
start of a round until all its flows are done and the long flow's rate is back at 0.9. A row of fewer recoveries than
rounds is one whose short flows are still there when the next come. A decision slows a flow to 1/1.2 at the most, and
comes once an RTT, which is 420 us behind a full buffer: against many flows that start at once our policies can do
little at first.
"""
