"""The papers' figures from our runs, SVG, and PNG of many hosts over time. Okabe and Ito's colours; markers and lines
tell the same without."""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log2, pi, sqrt
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from numpy.typing import NDArray

from decision.ir.arrays import Floats
from papers.courses import Course
from papers.found import Found
from papers.sections import Column
from papers.traffic import Traffic
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
        return svg(canvas)


@dataclass(frozen=True)
class Bubbles:
    """A panel: goodput over another metric, a line a name through its runs in order of flows."""

    title: str
    x: Column
    y: Column
    lines: Mapping[str, Sequence[tuple[str, Traffic]]]
    """By name: (contender, network) of each bubble."""


def bubbles(found: Found, panels: Sequence[Bubbles], across: int = 2) -> bytes:
    """The larger a bubble, the more flows; the lines of panels have a legend each."""
    down = -(-len(panels) // across)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(3.9 * across + 0.3, 3.2 * down + 0.3), layout="constrained")
        for panel, axes in zip(panels, canvas.subplots(down, across, squeeze=False).flat, strict=False):
            for i, (name, runs) in enumerate(panel.lines.items()):
                x, y = (
                    [found.mean(who, t, column.metric) * column.factor for who, t in runs]
                    for column in (panel.x, panel.y)
                )
                colour = COLOURS[i % len(COLOURS)]
                axes.plot(x, y, color=colour, linewidth=0.8, linestyle=LINES[i % len(LINES)])
                sizes = [6 * (1 + log2(t.flows)) for _, t in runs]
                axes.scatter(x, y, sizes, color=colour, alpha=0.65, linewidths=0, label=name)
            seen = [
                found.mean(who, t, panel.x.metric) * panel.x.factor for runs in panel.lines.values() for who, t in runs
            ]
            if min(seen) > 0:
                axes.set_xscale("log")
            elif max(seen) > 0:
                axes.set_xscale("symlog", linthresh=min(x for x in seen if x > 0))
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.minorticks_off()
            axes.set_title(panel.title, fontsize=8.5)
            axes.set_xlabel(panel.x.heading)
            axes.set_ylabel(panel.y.heading)
            axes.grid(linewidth=0.5, color="#DDDDDD")
            legend = axes.legend(frameon=False, fontsize=7)
            for handle in legend.legend_handles:
                handle.set_sizes([24])
        return svg(canvas)


def radars(panels: Mapping[str, Mapping[str, Sequence[float]]], axes: Sequence[str]) -> bytes:
    """A panel a name: of each line a value from 0 to 1 an axis, further out is better."""
    angles = np.linspace(0, 2 * pi, len(axes), endpoint=False)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(4.0 * len(panels), 4.3), layout="constrained")
        shown = canvas.subplots(1, len(panels), squeeze=False, subplot_kw={"projection": "polar"})[0]
        for panel, (title, lines) in zip(shown, panels.items(), strict=True):
            for i, (name, values) in enumerate(lines.items()):
                style = {"color": COLOURS[i % len(COLOURS)], "linestyle": LINES[i % len(LINES)]}
                panel.plot([*angles, 0.0], [*values, values[0]], linewidth=1.1, label=name, **style)
            panel.set_theta_zero_location("N")
            panel.set_theta_direction(-1)
            panel.set_ylim(0, 1)
            panel.set_xticks(angles, axes, fontsize=7)
            panel.tick_params(axis="x", pad=10)
            panel.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"], fontsize=6)
            panel.text(0, 1, title, transform=panel.transAxes, fontsize=8.5)
            panel.grid(linewidth=0.5, color="#DDDDDD")
        handles, labels = shown[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 3), frameon=False)
        return svg(canvas)


def bands(panels: Mapping[str, Mapping[str, tuple[Floats, Floats]]], across: str) -> bytes:
    """A panel a name: over x [N] the mean of y [seeds, N], and from the least to the greatest of them, a line a name;
    logarithmic where all are above 0."""
    with rc_context(STYLE):
        canvas = Canvas(figsize=(4.6 * len(panels), 3.4), layout="constrained")
        for axes, (title, lines) in zip(canvas.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True):
            for i, (name, (x, y)) in enumerate(lines.items()):
                colour = COLOURS[i % len(COLOURS)]
                axes.plot(x, y.mean(axis=0), color=colour, linewidth=1.1, linestyle=LINES[i % len(LINES)], label=name)
                axes.fill_between(x, y.min(axis=0), y.max(axis=0), color=colour, alpha=0.15, linewidth=0)
            if all(y.min() > 0 for _, y in lines.values()):
                axes.set_yscale("log")
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.set_title(title, fontsize=8.5)
            axes.set_xlabel(across)
            axes.grid(linewidth=0.5, color="#DDDDDD")
            axes.legend(frameon=False, fontsize=7)
        return svg(canvas)


def courses(rows: Sequence[tuple[str, Mapping[str, Course]]]) -> bytes:
    """Rates of hosts over time and, below, what is dropped in a ms: a column a contender, each with its own time, a
    colour a host, PNG."""
    across = max(len(shown) for _, shown in rows)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(2.5 * across + 0.4, 3.4 * len(rows) + 0.2), layout="constrained")
        panels = canvas.subplots(2 * len(rows), across, squeeze=False)
        for number, (title, shown) in enumerate(rows):
            highest = max(float(np.percentile(c.host_gbps, 99.9)) for c in shown.values())
            lost = {name: c.dropped / np.diff(c.t_ms, prepend=0) for name, c in shown.items()}
            most = max(float(each.max()) for each in lost.values())
            for i, (name, c) in enumerate(shown.items()):
                rates, drops = panels[2 * number][i], panels[2 * number + 1][i]
                rates.plot(c.t_ms, c.host_gbps, linewidth=0.5)
                rates.set_ylim(0, highest * 1.15)
                rates.set_title(name, fontsize=8.5)
                drops.step(c.t_ms, lost[name], color="#D55E00", linewidth=1.0, where="pre")
                for axes in (rates, drops):
                    axes.set_xlim(0, c.t_ms[-1])
                rates.set_xticklabels([])
                drops.set_yscale("symlog", linthresh=1)
                drops.set_ylim(0, max(most * 3, 1))
                drops.set_xlabel("ms")
            panels[2 * number][0].set_ylabel(f"{title}\nGb/s of a host", fontsize=7.5)
            panels[2 * number + 1][0].set_ylabel("packets lost a ms")
        return _png(canvas)


def long_flow(rows: Sequence[tuple[Traffic, Mapping[str, Course]]], buffer_bytes: int) -> bytes:
    """The first host's goodput and the longest queue's share of the buffer over time: a column a contender, PNG."""
    across = max(len(shown) for _, shown in rows)
    with rc_context(STYLE):
        canvas = Canvas(figsize=(2.5 * across + 0.4, 1.9 * len(rows) + 0.4), layout="constrained")
        for line, (traffic, shown) in zip(
            canvas.subplots(len(rows), across, squeeze=False, sharex=True, sharey=True), rows, strict=True
        ):
            for axes, (name, c) in zip(line, shown.items(), strict=True):
                axes.plot(c.t_ms, c.host_gbps[:, 0], color=COLOURS[0], linewidth=0.8, label="long flow, % of 100 Gb/s")
                queue = 100 * c.queue_bytes / buffer_bytes
                axes.plot(c.t_ms, queue, color=COLOURS[1], linewidth=0.8, label="buffer used, %")
                axes.set_title(f"{traffic.flows} flows: {name}", fontsize=8.5)
                axes.set_ylim(0, 102)
                axes.grid(linewidth=0.5, color="#DDDDDD")
                axes.set_xlabel("ms" if traffic is rows[-1][0] else "")
        handles, labels = axes.get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
        return _png(canvas)


def join_and_leave(shown: Mapping[str, Course], fair: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> bytes:
    """Goodput of each host over time and, dashed, its fair share of line rate: a panel a contender, PNG."""
    with rc_context(STYLE):
        canvas = Canvas(figsize=(3.6 * 2 + 0.2, 2.3 * -(-len(shown) // 2)), layout="constrained")
        panels = canvas.subplots(-(-len(shown) // 2), 2, squeeze=False, sharex=True, sharey=True).flat
        for axes, (name, c) in zip(panels, shown.items(), strict=False):
            for host, colour in zip(range(c.host_gbps.shape[1]), COLOURS, strict=False):
                axes.plot(c.t_ms, c.host_gbps[:, host], color=colour, linewidth=0.9)
                axes.plot(c.t_ms, 100 * fair(c.t_ms)[:, host], color=colour, linewidth=0.6, linestyle="--")
            axes.set_title(name, fontsize=8.5)
            axes.set_ylabel("Gb/s")
            axes.set_xlabel("ms")
            axes.grid(linewidth=0.5, color="#DDDDDD")
        return _png(canvas)


def _png(canvas: Canvas) -> bytes:
    buffer = io.BytesIO()
    canvas.savefig(buffer, format="png", dpi=80, metadata={"Software": None}, pil_kwargs={"optimize": True})
    return buffer.getvalue()


def svg(canvas: Canvas) -> bytes:
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
