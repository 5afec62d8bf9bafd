"""Warnings before a table is believed: intervals that say nothing, windows that lie in the start."""

from collections.abc import Iterator, Sequence
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from netsim.metric_names import METRICS
from netsim.samples import Samples
from netsim.scenarios import instantiate
from rlcc.evaluation.grid import Cell, Results
from rlcc.evaluation.summary import Row, figure

MOVED = {"longest queue": 0.2, "goodput": 0.05}
"""From the window's first third to its last, relative: what has moved further has not settled."""
QUEUE_BYTES = 10_000
"""A few packets: queues below come and go as these do."""
TOLD = 3
"""Figures, or policies, that a warning names."""


def doubts(results: Results, measured: Sequence[Row], names: Sequence[str]) -> list[str]:
    """A sentence a doubt, of the figures that a table shows (``names``)."""
    return [*_wide(measured, names), *_start(results)]


def _wide(measured: Sequence[Row], names: Sequence[str]) -> Iterator[str]:
    wide = [
        f"{row.scenario} {row.contender.label} {METRICS[name].heading} {figure(row, name)}"
        for row in measured
        for name in names
        if isfinite(row.half_width.get(name, nan)) and row.half_width[name] > abs(row.mean[name])
    ]
    if wide:
        yield f"{_some(wide)}: the interval is wider than the figure; give more --seed, or a longer --duration"


def _start(results: Results) -> Iterator[str]:
    for cell in results.grid.cells:
        if not _steady(cell, results.grid.seeds[0]):
            continue
        moved: dict[str, list[str]] = {}
        for contender in results.grid.contenders:
            for what in _moved(results.samples(contender, cell), cell):
                moved.setdefault(what, []).append(contender.label)
        for what, labels in moved.items():
            yield (
                f"{cell.name}, {_some(labels)}: the {what} moves by over {MOVED[what]:.0%} from the first third of the "
                "measured window to its last; it lies in the start, or nothing settles; give a longer --duration"
            )


def _steady(cell: Cell, seed: int) -> bool:
    """Whether all flows are there when the window begins, and stay."""
    scenario = instantiate(cell.scenario, seed, cell.times.duration_ps, cell.network)
    packets, start_ps = scenario.column("packets"), scenario.column("start_ps")
    return not packets.any() and bool((start_ps <= cell.times.window_ps[0]).all())


def _moved(runs: Sequence[Samples], cell: Cell) -> list[str]:
    """Returns the metrics that have not settled, by the mean over the seeds."""
    begin, end = (edge / 1e6 for edge in cell.times.window_ps)
    inside = [(run.t_us > begin) & (run.t_us <= end) for run in runs]
    queue = _thirds([run.queue_bytes[part] for run, part in zip(runs, inside, strict=True)])
    goodput = _thirds([run.mean_gbps[part] for run, part in zip(runs, inside, strict=True)])
    least = {"longest queue": QUEUE_BYTES, "goodput": 0.0}
    of = {"longest queue": queue, "goodput": goodput}
    return [
        what
        for what, (first, last) in of.items()
        if max(first, last) > least[what] and abs(first - last) > MOVED[what] * max(first, last)
    ]


def _thirds(series: Sequence[NDArray[np.float32]]) -> tuple[float, float]:
    """Means over the first and the last third."""
    if not series or min(map(len, series)) < 3:
        return 0.0, 0.0
    ends = [(values[: len(values) // 3].mean(), values[-(len(values) // 3) :].mean()) for values in series]
    first, last = np.mean(ends, axis=0).tolist()
    return first, last


def _some(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - TOLD} more" if len(texts) > TOLD else ""
    return ", ".join(texts[:TOLD]) + more
