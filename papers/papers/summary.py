"""Where ours wins and where it loses, from the runs of PCC-RL's tables 1, 2 and 8."""

from collections.abc import Sequence
from math import isfinite

from papers.contenders import BASELINES
from papers.found import Found
from papers.sections import FAIRNESS, GOODPUT, LATENCY, LONG_BANDWIDTH, LOSS, RECOVERY, Column
from papers.traffic import Traffic
from rlcc.reports.pages import Figure, listed, table

OURS = ("PCC-RL LSTM", "RL-CC tree")
RIVALS = tuple(label for label in BASELINES if label != "max-min")
STEADY = (GOODPUT, LATENCY, FAIRNESS, LOSS)
CHANGING = (LONG_BANDWIDTH, RECOVERY, GOODPUT, LOSS)
VERDICTS = ("wins", "level", "loses")

REASONS = {
    GOODPUT: "a probe in every burst of four packets takes 1.9 % of the link (0.909 at most; a baseline 0.926); where "
    "flows come and go, what is lost and sent again",
    LATENCY: "the target asks for at least 1.5 base RTTs; telemetry (HPCC) can keep the queue near empty, and a queue "
    "that new flows have filled is drained in steps",
    FAIRNESS: "with thousands of flows each decides seldom, and its rate moves by a factor of 1.2 at the most",
    LOSS: "flows start at once, at a rate not meant for so many, and a decision slows them to 1/1.2 at the most",
    LONG_BANDWIDTH: "the short flows lose packets, go back to them and so stay for longer than their size asks for",
    RECOVERY: "it lasts until the short flows are done; and the long flow comes back by 1.2 a decision at the most",
}
"""Why ours may be worse by a metric: printed only of metrics in which it is."""


def summary(found: Found, steady: Sequence[Traffic], changing: Sequence[Traffic]) -> str:
    """The section."""
    parts = [
        f"""## Where ours wins, where it loses
Against each baseline alone, in the {len(steady)} steady networks (goodput, latency, fairness, loss) and in the
{len(changing)} where flows come and go (long flow, recovery, goodput, loss): wins / level / loses. "Level" is a
difference within both confidence intervals, or in digits that are not shown.

{_against_each(found, steady, changing)}"""
    ]
    lost: set[Column] = set()
    for ours in OURS:
        for traffic, columns in ((steady, STEADY), (changing, CHANGING)):
            parts.append(_against_best(found, ours, traffic, columns))
            lost |= {c for t in traffic for c in columns if verdict(found, ours, best(found, t, c), t, c) == "loses"}
    parts.insert(
        1,
        """Against the best of them in each network and metric, each time another if need be: ours, whether it wins or
loses, and in brackets the best of theirs. The last column names baselines that are level or better in all four.""",
    )
    if lost:
        reasons = "".join(f"- {c.heading}: {why}.\n" for c, why in REASONS.items() if c in lost)
        parts.append(f"What stands behind it where ours loses:\n\n{reasons}")
    return "\n\n".join(parts)


def _against_each(found: Found, steady: Sequence[Traffic], changing: Sequence[Traffic]) -> str:
    lines = []
    for rival in RIVALS:
        line = [rival]
        for ours in OURS:
            for traffic, columns in ((steady, STEADY), (changing, CHANGING)):
                given = [verdict(found, ours, rival, t, c) for t in traffic for c in columns]
                line.append(" / ".join(str(given.count(v)) for v in VERDICTS))
        lines.append(line)
    return table(["against", *(f"{ours}, {what}" for ours in OURS for what in ("steady", "changing"))], lines)


def _against_best(found: Found, ours: str, traffic: Sequence[Traffic], columns: Sequence[Column]) -> str:
    lines = []
    for t in traffic:
        cells = []
        for c in columns:
            rival = best(found, t, c)
            said = verdict(found, ours, rival, t, c)
            mine, other = (shown(found, label, t, c).text(c.decimals) for label in (ours, rival))
            cells.append(f"{mine} level" if said == "level" else f"{mine} {said} ({rival} {other})")
        above = [r for r in RIVALS if all(verdict(found, ours, r, t, c) != "wins" for c in columns)]
        lines.append([t.name, *cells, listed(above) or "nobody"])
    return table([ours, *(c.heading for c in columns), "level or better in all"], lines)


def best(found: Found, t: Traffic, column: Column) -> str:
    """The baseline that is best by this metric; one of which nothing was measured only where that holds of all."""
    known = [label for label in RIVALS if isfinite(shown(found, label, t, column).mean)]
    return max(known, key=lambda label: column.better * shown(found, label, t, column).mean, default=RIVALS[0])


def verdict(found: Found, ours: str, rival: str, t: Traffic, column: Column) -> str:
    return compared(shown(found, ours, t, column), shown(found, rival, t, column), column)


def compared(mine: Figure, other: Figure, column: Column) -> str:
    """`wins`, `level` or `loses`. Nothing measured (no round ended, say) is worse than anything."""
    known = isfinite(mine.mean), isfinite(other.mean)
    if not all(known):
        return "level" if known[0] == known[1] else ("wins" if known[0] else "loses")
    margin = sum(f.half for f in (mine, other) if isfinite(f.half))
    gap = column.better * (mine.mean - other.mean)
    if abs(gap) <= margin or round(mine.mean, column.decimals) == round(other.mean, column.decimals):
        return "level"
    return "wins" if gap > 0 else "loses"


def shown(found: Found, label: str, t: Traffic, column: Column) -> Figure:
    return found.figure(label, t, column.metric).times(column.factor)
