"""The results on one picture: docs/results.svg, from figures of pages in docs/results and papers/pages.

`python -m bench.results_picture` draws it anew.
"""

import re
import sys
from dataclasses import dataclass
from functools import cache
from math import log10
from pathlib import Path

from bench import svg
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "docs" / "results", ROOT / "papers" / "pages")
PICTURE = ROOT / "docs" / "results.svg"
WIDTH, HEIGHT = 980, 430
OURS = ("RL-CC tree", "robust-in-flight", "rlcc")
BASELINES = ("DCQCN", "HPCC", "Swift", "DCTCP", "TIMELY")


@dataclass(frozen=True)
class Bar:
    label: str
    value: float


@cache
def _lines(page: str, section: str) -> tuple[str, ...]:
    text = next(file for folder in PAGES if (file := folder / f"{page}.md").exists()).read_text()
    begin = re.search(rf"^##+ {re.escape(section)}$", text, re.MULTILINE)
    if begin is None:
        raise InputError(f"page {page}.md has no section {section!r}; bench/results_picture.py reads it")
    return tuple(re.split(r"^##+ ", text[begin.end() :], maxsplit=1, flags=re.MULTILINE)[0].splitlines())


def figure(page: str, section: str, table: str, row: str, column: str) -> float:
    """The first number of a cell; ``table`` is what the first cell of its heading holds. InputError: there is none."""
    heading: list[str] = []
    for line in _lines(page, section):
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        if line.startswith("|") and not heading and cells[0] == table:
            heading = cells
        elif not line.startswith("|"):
            heading = []
        elif heading and cells[0].split(" / ")[0] == row:
            number = re.match(r"[0-9][0-9,.]*", cells[heading.index(column)])
            if number:
                return float(number[0].replace(",", ""))
    raise InputError(f"page {page}.md, {section}: no {table!r} with a row {row!r} and a column {column!r}")


def draw() -> str:
    """The picture."""
    parts = [
        *_bars(20, "The same 10 trees", "worst cycles, ibex-small", exported(), "{:,.0f}"),
        *_bars(20, "A whole decision", "mean us, connectx6dx-proxy", decided(), "{:,.3g}", top=232),
        *_scatter(370, "1024 flows to one", crowd()),
        *_shares(700, "128 flows that come and go", changing()),
    ]
    return svg.frame(
        WIDTH, HEIGHT, "cycles against float and int8; goodput against latency beside the baselines", parts
    )


def exported() -> list[Bar]:
    """Exports of a student's trees: the best peer with floats, with integers, plain if-else, rlcc."""
    page, section, row = "codegen-bench", "Symmetric", "student, ibex-small, clang"
    columns = {
        "float exporter": "best exact float peer",
        "integer exporter": "best integer peer",
        "if-else": "best plain form",
        "rlcc": "rlcc, worst",
    }
    return [Bar(label, figure(page, section, "worst case, cycles", row, column)) for label, column in columns.items()]


def decided() -> list[Bar]:
    """RL-CC's Table 1: whole decisions of networks in int8 and of trees."""
    columns = {"LSTM, int8": "LSTM", "MLP, int8": "MLP", "trees, if-else": "trees", "trees, rlcc": "trees, rlcc"}
    return [Bar(name, figure("connectx6dx-proxy", "Table 1", "", "us, mean", of)) for name, of in columns.items()]


def crowd() -> dict[str, tuple[float, float]]:
    """Queue latency in us and goodput with 1024 flows to one."""
    section, column = "PCC-RL, table 1: many-to-one", "1024 to 1"
    read = {
        name: tuple(figure("tables", section, table, name, column) for table in ("queue latency us", "goodput"))
        for name in ("RL-CC tree", *BASELINES)
    }
    return {name: (latency, goodput) for name, (latency, goodput) in read.items()}


def changing() -> list[Bar]:
    """Goodput of a long flow and 127 short ones every 10 ms."""
    column, table = "128 flows", "goodput"
    pages = {"RL-CC tree": "tables", "robust-in-flight": "robust"} | dict.fromkeys(BASELINES, "tables")
    sections = {"tables": "PCC-RL, table 8: long-short", "robust": "Table 8, every 10 ms"}
    return [Bar(name, figure(page, sections[page], table, name, column)) for name, page in pages.items()]


def _heading(x: float, y: float, title: str, below: str) -> list[str]:
    return [f'<g font-weight="600">{svg.text(x, y, title, size=14)}</g>', svg.text(x, y + 17, below, "soft", size=11.5)]


def _kind(label: str) -> str:
    return "ours" if label.endswith(OURS) else "other"


def _bars(x: float, title: str, below: str, bars: list[Bar], shown: str, top: float = 32) -> list[str]:
    """Bars on a scale of powers of ten, each with its figure."""
    parts = _heading(x, top, title, f"{below}, log scale")
    least = min(bar.value for bar in bars) / 3
    whole = log10(max(bar.value for bar in bars) / least)
    for n, bar in enumerate(bars):
        y = top + 32 + 34 * n
        length = 145 * log10(bar.value / least) / whole
        parts.append(svg.text(x + 100, y + 15, bar.label, anchor="end", size=12))
        parts.append(
            f'<rect class="{_kind(bar.label)}" x="{x + 108:g}" y="{y:g}" width="{length:.1f}" height="21" rx="3"/>'
        )
        parts.append(svg.text(x + 114 + length, y + 15, shown.format(bar.value), "mono", size=12))
    return parts


def _scatter(x: float, title: str, points: dict[str, tuple[float, float]]) -> list[str]:
    """Goodput over latency on a scale of powers of ten: up and to the left is better."""
    left, top, wide, high = x + 34, 80, 240, 300
    parts = _heading(x, 32, title, "goodput over queue latency; up and left is better")

    def across(latency: float) -> float:
        return left + wide * log10(latency / 10) / log10(1000 / 10)

    def down(goodput: float) -> float:
        return top + high * (1 - goodput)

    for goodput in (0, 0.25, 0.5, 0.75, 1):
        y = down(goodput)
        parts.append(f'<path class="grid" d="M{left:g} {y:g}H{left + wide:g}"/>')
        parts.append(svg.text(left - 5, y + 4, f"{goodput:g}", "soft", "end", 11))
    for latency in (10, 100, 1000):
        at = across(latency)
        parts.append(f'<path class="grid" d="M{at:.1f} {top:g}V{top + high:g}"/>')
        parts.append(svg.text(at, top + high + 16, f"{latency} us", "soft", "middle", 11))
    dots = {name: (across(latency), down(goodput)) for name, (latency, goodput) in points.items()}
    taken = [(at - 6, y - 6, at + 6, y + 6) for at, y in dots.values()]
    for name, (at, y) in dots.items():
        parts.append(f'<circle class="{_kind(name)}" cx="{at:.1f}" cy="{y:.1f}" r="5"/>')
        long = 6.6 * len(name)
        places = [(at + 9, y + 4), (at - long / 2, y - 10), (at - long / 2, y + 20), (at - 9 - long, y + 4)]
        spots = [(begin, line - 11, begin + long, line + 2) for begin, line in places]
        free = next(n for n, spot in enumerate(spots) if not any(_meet(spot, other) for other in taken))
        taken.append(spots[free])
        parts.append(svg.text(round(places[free][0], 1), round(places[free][1], 1), name, size=12))
    return parts


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Do two boxes (left, top, right, bottom) overlap?"""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _shares(x: float, title: str, bars: list[Bar]) -> list[str]:
    """Bars from 0 to 1."""
    parts = _heading(x, 32, title, "goodput; robust-in-flight is the teacher")
    for n, bar in enumerate(bars):
        y = 80 + 42 * n
        length = 110 * bar.value
        parts.append(svg.text(x + 100, y + 16, bar.label, anchor="end", size=12))
        parts.append(
            f'<rect class="{_kind(bar.label)}" x="{x + 108:g}" y="{y:g}" width="{length:.1f}" height="24" rx="3"/>'
        )
        parts.append(svg.text(round(x + 114 + length, 1), y + 16, f"{bar.value:.3f}", "mono", size=12))
    return parts


if __name__ == "__main__":
    write_atomically(PICTURE, draw().encode())
    print(f"results: {PICTURE}", file=sys.stderr)
