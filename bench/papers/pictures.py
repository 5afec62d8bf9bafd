"""The figures of RL-CC from our runs, SVG. Okabe and Ito's colours; markers and lines tell the same without."""

import io
import re
from collections.abc import Sequence
from math import isfinite, sqrt
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from bench.papers.found import Found
from bench.papers.sections import Column
from bench.papers.traffic import Traffic
from rlcc.evaluation.pictures import COLOURS, LINES, MARKERS

Group = tuple[str, Sequence[Traffic]]
"""A row of panels: its name, and its networks in order of flows."""

STYLE: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rlcc",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 8.5,
}


def curves(
    found: Found,
    groups: Sequence[Group],
    columns: Sequence[Column],
    contenders: Sequence[str],
    theory: Sequence[tuple[str, float, float]] = (),
) -> bytes:
    """A panel a group and metric: the metric over the number of flows, with 99 % confidence, a line a contender.

    ``theory`` draws name, a and b of a sqrt(N) + b into every panel.
    """
    with rc_context(STYLE):
        wide = 2.5 if len(columns) > 1 else 6.0
        size = (wide * len(columns) + 0.3, 2.3 * len(groups) + 0.6 if len(columns) > 1 else 3.6)
        canvas = Canvas(figsize=size, layout="constrained")
        panels = canvas.subplots(len(groups), len(columns), squeeze=False)
        for (name, traffic), line in zip(groups, panels, strict=True):
            for column, axes in zip(columns, line, strict=True):
                _panel(axes, found, traffic, column, contenders)
                _theory(axes, traffic, theory)
                axes.set_title(column.heading if len(groups) == 1 else f"{name}: {column.heading}", fontsize=8.5)
        for axes in panels[-1]:
            axes.set_xlabel("flows")
        handles, labels = panels[0][0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 5), frameon=False)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
        return re.sub(rb"\n +", b"\n", buffer.getvalue())  # a tenth is indentation


def _panel(axes: Axes, found: Found, traffic: Sequence[Traffic], column: Column, contenders: Sequence[str]) -> None:
    seen: list[float] = []
    for i, label in enumerate(contenders):
        figures = [found.figure(label, t, column.metric).times(column.factor) for t in traffic]
        means = np.array([f.mean for f in figures])
        halves = np.array([f.half if isfinite(f.half) else 0.0 for f in figures])
        halves = np.minimum(halves, means)  # none of the metrics is negative
        axes.errorbar(
            [t.flows for t in traffic],
            means,
            yerr=halves,
            label=label,
            color=COLOURS[i],
            marker=MARKERS[i],
            linestyle=LINES[i],
            markersize=3.5,
            linewidth=1.1,
            elinewidth=0.8,
        )
        seen += means[np.isfinite(means)].tolist()
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    _scale(axes, column, seen)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.grid(linewidth=0.5, color="#DDDDDD")


def _scale(axes: Axes, column: Column, seen: Sequence[float]) -> None:
    """From 0 on where the figures allow it; logarithmic where they are far apart, down to 0 where some are 0."""
    highest = max(seen, default=0.0)
    smallest = min((x for x in seen if x > highest * 1e-4), default=highest)
    axes.set_ylim(0, max(highest * 1.15, 10**-column.decimals))
    if column.better > 0 or highest <= 20 * smallest:
        return
    if min(seen) > 0:
        axes.set_yscale("log")
        axes.set_ylim(smallest / 2, highest * 2)
    else:
        axes.set_yscale("symlog", linthresh=10 ** np.floor(np.log10(smallest)))
        axes.set_ylim(0, highest * 3)


def _theory(axes: Axes, traffic: Sequence[Traffic], theory: Sequence[tuple[str, float, float]]) -> None:
    flows = np.geomspace(traffic[0].flows, traffic[-1].flows, 60)
    for (name, a, b), line in zip(theory, (":", (0, (1, 3))), strict=False):
        axes.plot(flows, [a * sqrt(n) + b for n in flows], color="black", linestyle=line, linewidth=1.0, label=name)
