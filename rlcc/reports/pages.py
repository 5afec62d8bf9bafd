"""Markdown of generated pages: figures with their confidence, tables, enumerations, paragraphs of one width."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from netsim.statistics import confidence

NONE = "-"
"""Nothing to measure, or nothing printed."""


@dataclass(frozen=True)
class Figure:
    """Mean over seeds and half-width of its 99 % confidence interval; NaN where there is none."""

    mean: float
    half: float = nan

    @classmethod
    def of(cls, values: Sequence[float] | NDArray[np.float64]) -> "Figure":
        """Returns the figure of one value per seed."""
        return cls(float(np.mean(values)), confidence(values))

    def times(self, factor: float) -> "Figure":
        return Figure(self.mean * factor, abs(self.half * factor))

    def text(self, decimals: int) -> str:
        """`9.51 ±0.02`; a half-width that rounds to nothing is left out."""
        if not isfinite(self.mean):
            return NONE
        shown = f"{self.mean:,.{decimals}f}"
        spread = f"{self.half:,.{decimals}f}" if isfinite(self.half) else ""
        return f"{shown} ±{spread}" if spread.strip("0.,") else shown


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown that reads as plain text too: columns under each other, the first on the left, figures on the right."""
    lines = [list(heading), *map(list, rows)]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(heading))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0])]
        padded += [cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True)]
        return f"| {' | '.join(padded)} |\n"

    rule = f"| {'-' * widths[0]} | {' | '.join('-' * (w - 1) + ':' for w in widths[1:])} |\n"
    return line(lines[0]) + rule + "".join(map(line, lines[1:]))


def rows_of(page: str, heading: Sequence[str]) -> list[list[str]]:
    """Returns the rows that a page's table with this heading has."""
    rows: list[list[str]] = []
    within = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        begins = cells == list(heading)
        within = begins or (within and bool(cells))
        if within and not begins and not cells[0].startswith("---"):
            rows.append(cells)
    return rows


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def wrapped(text: str, width: int = 120) -> str:
    """Markdown with its paragraphs and list items filled anew; tables, code, headings and pictures as they are. Text
    that follows a table at once gets the empty line that ends it."""
    text = re.sub(r"(?m)^(\|.*\|)\n(?=[^|\n])", r"\1\n\n", text)
    out: list[str] = []
    for block in (part.strip("\n") for part in text.split("\n\n")):
        if block.startswith(("|", "#", "!", "    ")) or not block.strip():
            head, _, rest = block.partition("\n")
            more = block.startswith("#") and rest
            out.append(f"{head}\n{wrapped(rest, width)}" if more else block)
            continue
        items: list[str] = []
        for line in block.split("\n"):
            if line.startswith("- ") or not items:
                items.append(line)
            else:
                items[-1] += " " + line.strip()
        out.append("\n".join(_filled(item, width) for item in items))
    return "\n\n".join(part.strip("\n") for part in out if part) + "\n"


def _filled(item: str, width: int) -> str:
    behind = "  " if item.startswith("- ") else ""
    return textwrap.fill(item, width, subsequent_indent=behind, break_long_words=False, break_on_hyphens=False)
