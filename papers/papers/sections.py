"""What a section of the page is, and what several of them need: tables of one metric, agreement in order and trend."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from papers.contenders import Contender
from papers.found import Found, beside
from papers.runs import Run
from papers.traffic import Traffic
from rlcc.reports.pages import listed, table


@dataclass(frozen=True)
class Picture:
    """An SVG file beside the page."""

    name: str
    draw: Callable[[Found], bytes]


@dataclass(frozen=True)
class Section:
    """A table or figure of a paper: whose runs in which networks it needs, and how it is written from them."""

    title: str
    contenders: tuple[str, ...]
    traffic: tuple[Traffic, ...]
    write: Callable[[Found], str]
    pictures: tuple[Picture, ...] = field(default=())


@dataclass(frozen=True)
class Column:
    """A metric as it is shown: times ``factor``, with so many decimals. ``better`` is the better sign."""

    heading: str
    metric: str
    factor: float
    decimals: int
    better: int


UTILISATION = Column("utilisation %", "utilisation", 100, 1, 1)
GOODPUT = Column("goodput", "goodput", 1, 3, 1)
FAIRNESS = Column("fairness %, min/max", "fairness_min_max", 100, 0, 1)
QUEUE = Column("queue latency us", "queue_mean_us", 1, 1, -1)
DROPS = Column("drops Gb/s", "drop_gbps", 1, 1, -1)
DROPS_FINE = Column("drops Gb/s", "drop_gbps", 1, 2, -1)
INFLATION = Column("RTT inflation", "rtt_inflation_mean", 1, 2, -1)
LATENCY = Column("latency us", "latency_mean_us", 1, 2, -1)
LOSS = Column("loss", "loss", 1, 4, -1)
UNFAIRNESS = Column("unfairness", "unfairness", 1, 4, -1)
DROPS_PER_FLOW = Column("packets lost a flow", "drops_per_flow", 1, 1, -1)
LONG_BANDWIDTH = Column("long flow %", "long_bandwidth", 100, 0, 1)
COMPLETION = Column("completion", "completion_normalised_mean", 1, 1, -1)
COMPLETION_P99 = Column("completion p99", "completion_normalised_p99", 1, 1, -1)
RECOVERY = Column("recovery ms", "recovery_us", 1e-3, 2, -1)

Printed = Callable[[str, int], float | None]
"""What the paper prints of an algorithm in the i-th network."""


def cell(found: Found, contender: str, traffic: Traffic, column: Column) -> str:
    return found.figure(contender, traffic, column.metric).times(column.factor).text(column.decimals)


def one_metric(
    found: Found,
    column: Column,
    traffic: Sequence[Traffic],
    heads: Sequence[str],
    rows: Sequence[tuple[str, str | None]],
    printed: Printed | None = None,
) -> str:
    """A row a contender, a column a network: ours, or `ours / the paper's` in rows that the paper has."""
    lines = []
    for label, paper in rows:
        cells = [cell(found, label, t, column) for t in traffic]
        if printed is not None and paper is not None:
            cells = [beside(ours, printed(paper, i)) for i, ours in enumerate(cells)]
        lines.append([label if paper in (None, label) or printed is None else f"{label} / {paper}", *cells])
    return table([column.heading, *heads], lines)


def wanted(made: Sequence[Section], who: Mapping[str, Contender], seeds: Sequence[int]) -> list[Run]:
    """All runs of all sections; a run that two of them need is there twice."""
    return [Run(who[c], t, seed) for s in made for t in s.traffic for c in s.contenders for seed in seeds]


def by_metric(
    columns: Sequence[Column], contenders: Sequence[str], traffic: Sequence[Traffic], heads: Sequence[str]
) -> list[Section]:
    """A section a metric, of all contenders in all networks."""
    rows = [(label, None) for label in contenders]

    def one(column: Column) -> Section:
        title = f"{column.heading[0].upper()}{column.heading[1:]}"
        return Section(title, tuple(contenders), tuple(traffic), lambda f: one_metric(f, column, traffic, heads, rows))

    return [one(column) for column in columns]


def several(found: Found, columns: Sequence[Column], rows: Sequence[tuple[str, str, Traffic]], first: str) -> str:
    """A row a (text, contender, network), a column a metric; ours alone."""
    lines = [[text, *(cell(found, label, t, c) for c in columns)] for text, label, t in rows]
    return table([first, *(c.heading for c in columns)], lines)


def agreement(pairs: Sequence[tuple[float, float]]) -> tuple[int, int]:
    """Of all pairs of (ours, the paper's): how many are in the same order in both, and how many are ordered in both."""
    same = both = 0
    for (ours, theirs), (other, printed) in combinations(pairs, 2):
        a, b = _sign(ours - other), _sign(theirs - printed)
        both += a != 0 and b != 0
        same += a != 0 and a == b
    return same, both


def order_and_trend(
    found: Found,
    columns: Sequence[Column],
    traffic: Sequence[Traffic],
    rows: Sequence[tuple[str, str]],
    printed: Callable[[Column, str, int], float | None],
) -> str:
    """A table: how many pairs of algorithms in one network, and steps of an algorithm to the next network, go the same
    way in our runs and in the paper. Ours are compared as they are shown."""

    def shown(column: Column, label: str, t: Traffic) -> float:
        return round(found.mean(label, t, column.metric) * column.factor, column.decimals)

    lines = []
    for column in columns:
        order, trend = [0, 0], [0, 0]
        for i, t in enumerate(traffic):
            known = [(shown(column, a, t), printed(column, b, i)) for a, b in rows]
            _add(order, agreement([(x, y) for x, y in known if y is not None]))
        for label, paper in rows:
            steps = [(shown(column, label, t), printed(column, paper, i)) for i, t in enumerate(traffic)]
            for one, two in pairwise(steps):
                if one[1] is not None and two[1] is not None:
                    _add(trend, agreement([(one[0], one[1]), (two[0], two[1])]))
        lines.append([column.heading, f"{order[0]} of {order[1]}", f"{trend[0]} of {trend[1]}"])
    return table(["the same way in both", "pairs of algorithms", "steps to more flows"], lines)


def lossless_up_to(found: Found, contender: str, traffic: Sequence[Traffic]) -> Traffic | None:
    """The last network before the first in which a packet was dropped, of networks in ascending order."""
    last = None
    for t in traffic:
        if found.most(contender, t, "dropped_packets") > 0:
            break
        last = t
    return last


def lossless_sentence(found: Found, contenders: Sequence[str], traffic: Sequence[Traffic]) -> str:
    """`Nothing is dropped up to: A 8192 flows, B none.`"""

    def words() -> Iterator[str]:
        for label in contenders:
            last = lossless_up_to(found, label, traffic)
            yield f"{label}: {'no size' if last is None else f'{last.flows:,} flows'}"

    sizes = listed([f"{t.flows:,}" for t in traffic])
    return f"Of {sizes} flows, no packet is dropped, with any seed, up to: {'; '.join(words())}.\n"


def _sign(x: float) -> int:
    return (x > 0) - (x < 0)


def _add(counts: list[int], more: tuple[int, int]) -> None:
    counts[0] += more[0]
    counts[1] += more[1]
