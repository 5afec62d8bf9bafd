"""Pictures of an evaluation: goodput against latency, and for each scenario queue, flows, slowdown and radar; each as
PNG to look at, as SVG and PDF for a paper.

Contenders keep their colour, line and marker in all of them; of more than ``TOGETHER`` there are several pictures of
each kind. The colours are Okabe and Ito's, which the colour-blind
tell apart; line styles and markers tell the same without colour. If there are several seeds, a drawing over time shows
the first one; every other drawing shows all.
"""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice, pairwise
from math import ceil, isfinite, log10, nan, pi
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray
from PIL import Image

from netsim import scenarios, workloads
from netsim.network import Network
from netsim.samples import Samples
from rlcc.evaluation.contenders import Contender, engines_text
from rlcc.evaluation.grid import Cell, Results
from rlcc.evaluation.summary import Row

DPI = 144
TOGETHER = 8
"""Contenders in a picture: more colours nobody tells apart."""
VECTORS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
"""Kinds, and metadata that is left out, so that the same evaluation gives the same bytes."""
LARGE_BYTES = 200_000
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    (0, (1, 0.6)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (3, 1)),
    (0, (2, 2)),
)

GRID: dict[str, Any] = {"linewidth": 0.6, "color": "#DDDDDD", "zorder": 0}

RADAR = {
    "goodput": "goodput",
    "fairness": "fairness\nmin/max",
    "completion": "completion\n1 / slowdown",
    "latency": "latency",
    "p99": "p99\nlatency",
    "delivered": "delivered\n1 − loss",
}
"""Axes of the radar. Those of [PCCRL] figure 4 are utilisation, fairness, queue latency and drops; goodput stands for
utilisation because packets sent in vain use the link too. Flows that end are not meant to be equal, so that their
completion stands for fairness."""

SIZE_BINS = 12
"""Of a slowdown curve, with an equal number of flows each."""


def draw(results: Results, measured: Sequence[Row]) -> Iterator[tuple[str, bytes]]:
    """File names and contents."""
    some = list(parts(results))
    for number, part in enumerate(some, start=1):
        last = f"-{number}" if len(some) > 1 else ""
        for name, figure in _figures(part, measured):
            yield f"{name}{last}.png", _png(figure)
            figure.set_layout_engine("none")  # it stands as it was laid out, which takes most of the time
            for kind in VECTORS:
                yield f"{name}{last}.{kind}", _vector(figure, kind)


def parts(results: Results) -> Iterator[Results]:
    """Evenly as few as there may be, with up to ``TOGETHER`` contenders each."""
    grid = results.grid
    count = ceil(len(grid.contenders) / TOGETHER)
    for contenders in np.array_split(np.arange(len(grid.contenders)), count):
        some = tuple(grid.contenders[i] for i in contenders)
        outcomes = [one for cell in grid.cells for contender in some for one in results.of(contender, cell)]
        yield Results(replace(grid, contenders=some), outcomes)


def _figures(results: Results, averages: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    measured = [row for row in averages if row.contender in results.grid.contenders]
    yield "goodput-latency", goodput_latency(results, measured)
    yield "radar", radar(results, measured)
    for cell in results.grid.cells:
        name = re.sub(r"[^a-z0-9]+", "-", cell.name.lower()).strip("-")
        yield f"queue-{name}", queue(results, cell)
        if scenarios.read(cell.scenario).traffic not in workloads.NAMES:
            yield f"flows-{name}", flows(results, cell)
        ended = [f.completed_bytes for c in results.grid.contenders for f in results.samples(c, cell)]
        if np.unique(np.concatenate(ended)).size > 1:  # of flows of one size the table says all
            yield f"slowdown-{name}", slowdown(results, cell)


def goodput_latency(results: Results, averages: Sequence[Row]) -> Figure:
    """A panel a kind of traffic, a marker a contender and scenario: the more flows, the larger, joined by a line. Bars:
    the confidence intervals over the seeds."""
    kinds = list(dict.fromkeys(_kind(cell.name) for cell in results.grid.cells))
    measured = [row for row in averages if isfinite(row.mean["latency_mean_us"])]  # something arrived
    latencies = [row.mean["latency_mean_us"] for row in measured] or [1.0]
    figure, panels = _panels(len(kinds), 4.2 if len(kinds) > 1 else 8.0, 3.6)
    for kind, axes in zip(kinds, panels, strict=True):
        for i, contender in enumerate(results.grid.contenders):
            line = [row for row in measured if row.contender is contender and _kind(row.scenario) == kind]
            x, y = ([row.mean[name] for row in line] for name in ("latency_mean_us", "goodput"))
            axes.plot(x, y, color=_colour(i), linestyle=_line(i), linewidth=0.8, alpha=0.6, zorder=2)
            spread = [_bars(line, name) for name in ("latency_mean_us", "goodput")]
            axes.errorbar(
                x, y, xerr=spread[0], yerr=spread[1], fmt="none", ecolor=_colour(i), elinewidth=0.9, capsize=2, zorder=3
            )
            size = [_area(row.flows) for row in line]
            # Hollow: what lies under it is seen.
            axes.scatter(
                x, y, s=size, marker=_marker(i), facecolor="none", edgecolor=_colour(i), linewidth=1.4, zorder=4
            )
        axes.set_xscale("log")
        axes.set_xlim(min(latencies) / 1.2, max(latencies) * 1.2)
        axes.set_xlabel("mean packet latency, us", fontsize=9)
        own = [cell.name for cell in results.grid.cells if _kind(cell.name) == kind]
        axes.set_title(own[0] if len(own) == 1 else kind, fontsize=9)
        counts = sorted({row.flows for row in averages if _kind(row.scenario) == kind})
        if len(counts) > 1:
            chosen = [counts[j] for j in sorted({0, len(counts) // 2, len(counts) - 1})]
            grey = [axes.scatter([], [], s=_area(n), color="#AAAAAA", label=f"{n:,} flows") for n in chosen]
            axes.legend(handles=grey, loc="best", fontsize=7.5, frameon=True, framealpha=0.8, edgecolor="none")
    _plain_ticks(panels[0])
    figure.supylabel("goodput / line rate", fontsize=9)
    bars = ", bars: 99 % confidence" if len(results.grid.seeds) > 1 else ""
    figure.suptitle(f"Goodput against latency: top left is best, larger markers are more flows{bars}", fontsize=10)
    _legend(figure, results, markers=True)
    return figure


def queue(results: Results, cell: Cell) -> Figure:
    """The longest queue of any switch port over time: a panel a contender, those of the others behind it."""
    grid = results.grid
    shown = [results.samples(c, cell)[0] for c in grid.contenders]
    figure, panels = _panels(len(shown), 4.0 if len(shown) > 1 else 8.0, 2.4 if len(shown) > 1 else 4.2)
    for i, axes in enumerate(panels):
        for j, f in enumerate(shown):
            style: dict[str, Any] = {"color": _colour(i), "linewidth": 1.1, "zorder": 3}
            if j != i:
                style = {"color": "#BBBBBB", "linewidth": 0.6, "zorder": 2}
            axes.plot(f.t_us / 1e3, f.queue_bytes / 1e3, **style)
        axes.set_title(_shown(grid.contenders[i]), fontsize=9)
        _window(axes, cell)
    panels[0].set_yscale("symlog", linthresh=1)
    panels[0].set_ylim(bottom=0)
    panels[0].yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    figure.supxlabel("time, ms", fontsize=9)
    figure.supylabel("longest queue of a port, KB", fontsize=9)
    others = "; grey: the others" if len(shown) > 1 else ""
    figure.suptitle(f"{cell.name}: queue over time (shaded: the window that is measured{others})", fontsize=10)
    return figure


def flows(results: Results, cell: Cell) -> Figure:
    """Goodput of up to 16 flows over time, and the mean of all in black: a panel a contender."""
    grid = results.grid
    figure, panels = _panels(len(grid.contenders), 4.0, 2.6)
    # The start of a run may spike far above what follows; it is cut rather than all else flattened.
    shown = [results.samples(c, cell)[0] for c in grid.contenders]
    together = _samples_together(shown)
    smooth = [_averaged(f.flow_gbps[f.t_us * 1e6 > cell.times.window_ps[0]], together) for f in shown]
    top = max(float(rates.max(initial=0)) for rates in smooth)
    for i, (contender, axes) in enumerate(zip(grid.contenders, panels, strict=True)):
        f, t = shown[i], shown[i].t_us / 1e3
        lines = axes.plot(_averaged(t, together), _averaged(f.flow_gbps, together), color=_colour(i))
        for line in lines:
            line.set(linewidth=0.5, alpha=0.45)
        axes.plot(t, f.mean_gbps, color="black", linewidth=1.2)
        axes.set_ylim(0, top * 1.1 or 1)
        _window(axes, cell)
        axes.set_title(contender.label, fontsize=9)
    figure.supxlabel("time, ms", fontsize=9)
    figure.supylabel("goodput of a flow, Gb/s", fontsize=9)
    count = shown[0].flow_gbps.shape[1]
    number = results.of(grid.contenders[0], cell)[0].flows
    which = "each flow" if count == number else f"{count} of {number:,} flows"
    over = f", each averaged over {cell.times.duration_ps / 1e9 / len(shown[0].t_us) * together:.3g} ms"
    title = f"{cell.name}: {which} (thin{over if together > 1 else ''}) and the mean of all (black)"
    figure.suptitle(title, fontsize=10)
    return figure


def _samples_together(shown: Sequence[Samples]) -> int:
    """Samples to average so that a flow delivers some 32 packets of 1 KB in them: fewer would show single packets. At
    least 20 points are left."""
    f = shown[0]
    interval_us = float(f.t_us[-1]) / len(f.t_us)
    typical_gbps = max(float(np.median(f.mean_gbps)) for f in shown)
    packets = typical_gbps * 1e3 * interval_us / (8 * 1024)
    return int(min(max(ceil(32 / packets), 1), max(len(f.t_us) // 20, 1))) if packets > 0 else 1


def _averaged(values: NDArray[np.float32], together: int) -> NDArray[np.float32]:
    """Means of so many rows; what is left over at the end goes."""
    even = len(values) // together * together
    parts = values[:even].reshape(-1, together, *values.shape[1:])
    return np.asarray(parts.mean(axis=1), dtype=np.float32)


def slowdown(results: Results, cell: Cell) -> Figure:
    """Completion time over that in an empty network by flow size: a panel the median, one the 99th percentile."""
    figure, panels = _panels(2, 5.2, 4.2)
    for i, contender in enumerate(results.grid.contenders):
        seeds = results.samples(contender, cell)
        size = np.concatenate([f.completed_bytes for f in seeds])
        slow = np.concatenate([f.completed_slowdown for f in seeds])
        if not size.size:
            continue
        x, curves = slowdown_by_size(size, slow)
        style: dict[str, Any] = {"color": _colour(i), "marker": _marker(i), "markersize": 5.5, "fillstyle": "none"}
        for axes, curve in zip(panels, curves.T, strict=True):
            axes.plot(x, curve, linestyle=_line(i), linewidth=1.2, **style)
    for axes, title in zip(panels, ("median", "99th percentile"), strict=True):
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("flow size, KB", fontsize=9)
    panels[0].set_xscale("log")
    panels[0].set_yscale("log")
    _plain_ticks(panels[0])
    _plain_ticks(panels[0], "y")
    figure.supylabel("slowdown", fontsize=9)
    figure.suptitle(f"{cell.name}: completion time / alone in the network", fontsize=10)
    _legend(figure, results, markers=True)
    return figure


def slowdown_by_size(
    size: NDArray[np.int64], slow: NDArray[np.float32], bins: int = SIZE_BINS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Flows in order of size in bins of an equal number: mean size in KB [bins], median and p99 slowdown [bins, 2].
    Flows of one size are one bin."""
    order = np.argsort(size, kind="stable")
    size, slow = size[order], slow[order]
    if np.unique(size).size <= bins:
        edges = [0, *(np.flatnonzero(np.diff(size)) + 1).tolist(), size.size]
    else:
        edges = np.unique(np.linspace(0, size.size, bins + 1).astype(int)).tolist()
    parts = [slice(a, b) for a, b in pairwise(edges) if b > a]
    x = np.array([size[part].mean() / 1e3 for part in parts])
    return x, np.array([np.quantile(slow[part], (0.5, 0.99)) for part in parts]).reshape(-1, 2)


def radar(results: Results, measured: Sequence[Row]) -> Figure:
    """A panel a scenario; every axis from 0 to 1, further out is better."""
    grid = results.grid
    figure, panels = _panels(len(grid.cells), 3.4, 3.5, polar=True)
    for cell, axes in zip(grid.cells, panels, strict=True):
        for i, contender in enumerate(grid.contenders):
            score = scores(
                next(r for r in measured if r.contender is contender and r.scenario == cell.name), cell.network
            )
            angles = np.linspace(0, 2 * pi, len(score), endpoint=False)
            around, closed = np.append(angles, 0.0), [*score.values(), score["goodput"]]
            axes.plot(around, closed, color=_colour(i), linestyle=_line(i), marker=_marker(i), markersize=3.5, lw=1.2)
            axes.fill(around, closed, color=_colour(i), alpha=0.06)
        axes.set_theta_zero_location("N")
        axes.set_theta_direction(-1)
        axes.set_ylim(0, 1)
        axes.set_xticks(angles, [RADAR[name] for name in score], fontsize=7.5)
        axes.tick_params(axis="x", pad=12)
        axes.set_yticks([0.25, 0.5, 0.75, 1.0], ["", "0.5", "", "1"], fontsize=7, color="#666666")
        axes.set_title(cell.name, fontsize=9, pad=12)
    figure.suptitle("Each axis from 0 to 1, further out is better", fontsize=10)
    _legend(figure, results, markers=True)
    return figure


def scores(row: Row, network: Network) -> dict[str, float]:
    """The axes of the radar in [0, 1], higher is better; 0 where nothing was measured. Goodput: of the payload's share
    of a packet. Latency: of an empty network / measured. Completion: 1 / mean slowdown."""
    m = row.mean
    empty_us = m.get("latency_mean_us", nan) - m.get("queue_mean_us", nan)
    finite = "slowdown_mean" in m
    raw = {
        "goodput": m.get("goodput", nan) * network.data_wire_bytes / network.payload_bytes,
        **({"completion": 1 / m["slowdown_mean"]} if finite else {"fairness": m.get("fairness_min_max", nan)}),
        "latency": empty_us / m.get("latency_mean_us", nan),
        "p99": empty_us / m.get("latency_p99_us", nan),
        "delivered": 1 - m.get("loss", nan),
    }
    return {name: min(max(value, 0.0), 1.0) if isfinite(value) else 0.0 for name, value in raw.items()}


def _bars(rows: Sequence[Row], name: str) -> NDArray[np.float64]:
    """Half-widths below and above [2, rows], 0 where there is none; below at most nearly to 0, as a logarithm needs."""
    half = np.array([row.half_width.get(name, nan) for row in rows])
    half = np.where(np.isfinite(half), half, 0.0)
    mean = np.array([row.mean[name] for row in rows])
    return np.stack([np.minimum(half, 0.95 * np.abs(mean)), half])


def _area(flows: int) -> float:
    """Returns the area of a marker, in points squared."""
    return 20.0 + 30.0 * float(log10(max(flows, 1)) ** 1.5)


def _kind(scenario: str) -> str:
    """`many-to-one@rl-cc-cluster` of `many-to-one:64@rl-cc-cluster`."""
    return re.sub(r":[^@]*", "", scenario)


def _panels(number: int, width: float, height: float, *, polar: bool = False) -> tuple[Figure, list[Any]]:
    """A grid of equal panels, up to three side by side."""
    across = min(number, 3)
    down = ceil(number / across)
    figure = Figure(figsize=(max(width * across, 5.0), height * down + 0.6), layout="constrained")
    kind = {"projection": "polar"} if polar else {}
    grid = figure.subplots(down, across, squeeze=False, sharex=not polar, sharey=not polar, subplot_kw=kind)
    panels = list(grid.flat)
    for spare in panels[number:]:
        spare.remove()
    for i, axes in enumerate(panels[:number]):
        axes.grid(**GRID)
        if not polar:
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(labelsize=8, labelbottom=i + across >= number)
    return figure, panels[:number]


def _window(axes: Axes, cell: Cell) -> None:
    begin, end = cell.times.window_ps
    axes.axvspan(begin / 1e9, end / 1e9, color="#F3F3F3", zorder=-1)
    axes.set_xlim(0, cell.times.duration_ps / 1e9)


def _plain_ticks(axes: Axes, which: str = "x") -> None:
    """10 and 20 instead of powers of ten: latencies and slowdowns rarely span more than two decades. At least a factor
    of two is shown, so that noise does not look like a difference."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axis.get_view_interval()
    if not 0 < low < high:
        return
    wider = max((2 / (high / low)) ** 0.5, 1.0)
    low, high = low / wider, high * wider
    (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    span = log10(high / low)
    steps = (1, 1.5, 2, 3, 4, 5, 7) if span < 1 else (1, 2, 5) if span < 2.5 else (1,)
    ticks = [m * 10.0**e for e in range(-3, 9) for m in steps]
    axis.set_ticks([t for t in ticks if low <= t <= high], minor=False)
    axis.set_ticks([], minor=True)
    axis.set_major_formatter(lambda value, _: f"{value:,g}")


def _legend(figure: Figure, results: Results, *, markers: bool = False, lines: bool = True) -> None:
    """Below the picture, so that it covers nothing."""
    handles = [
        Line2D(
            [], [], color=_colour(i), linestyle=_line(i) if lines else "", marker=_marker(i) if markers else "",
            markersize=5, linewidth=1.3, label=_shown(contender),
        )
        for i, contender in enumerate(results.grid.contenders)
    ]  # fmt: skip
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=ceil(len(handles) / ceil(len(handles) / 5)),
        fontsize=8,
        frameon=False,
    )


def _shown(contender: Contender) -> str:
    """The label, and the engines that it decides on."""
    engines = "" if contender.engines is None else f" (engines: {engines_text(contender.engines)})"
    return contender.label + engines


def _colour(i: int) -> str:
    return next(islice(cycle(COLOURS), i, None))


def _marker(i: int) -> str:
    return next(islice(cycle(MARKERS), i, None))


def _line(i: int) -> Any:
    return next(islice(cycle(LINES), i, None))


def _vector(figure: Figure, kind: str) -> bytes:
    """Letters of an SVG are outlines, those of a PDF TrueType: as they were set, wherever it is opened."""
    drawn = io.BytesIO()
    with rc_context({"svg.hashsalt": "rlcc", "pdf.fonttype": 42}):
        figure.savefig(drawn, format=kind, metadata=VECTORS[kind])
    return drawn.getvalue()


def _png(figure: Figure) -> bytes:
    """A picture of many panels is given a palette, which makes a quarter of its size."""
    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, metadata={"Software": None})
    if drawn.tell() < LARGE_BYTES:
        return drawn.getvalue()
    with Image.open(drawn) as image:  # Pillow is what matplotlib itself writes PNG with
        image.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT).save(small, format="png", optimize=True)
    return small.getvalue()
