"""Means over seeds with their confidence, a row a cell and contender; the table on the terminal, Markdown, CSV."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan

import numpy as np
from rich.markup import escape
from rich.table import Table

from decision.artefact.errors import InputError
from decision.artefact.suggest import choices
from netsim.metric_names import METRICS, PARTS
from netsim.statistics import confidence
from rlcc.evaluation.contenders import Contender, engines_text, latency_text
from rlcc.evaluation.grid import Results

ON = ("core", "engines", "overload", "engine_queue")
"""Columns that say what a contender decides on."""

LEVEL = 0.99
"""Of the confidence intervals over seeds."""


DEFAULT = ("goodput", "latency_mean_us", "latency_p99_us", "fairness_min_max", "loss")
FINITE = ("completions", "slowdown_mean", "slowdown_p99")
"""Shown beside the defaults where flows end; a slowdown of few completions is that of the lucky ones."""
ROUNDS = ("rounds_per_s", "round_mean_us", "round_p99_us")
"""Shown beside the defaults where flows wait for one another."""
ENGINES = ("engine_utilisation", "decision_latency_mean_us", "decision_latency_p99_us")
"""Shown beside the defaults where decisions wait for engines."""


OF_PART = ("goodput", "fair", "latency_p99_us", "loss")
"""Shown of each part of a mix."""


@dataclass(frozen=True)
class Row:
    """One contender in one cell, which ``scenario`` names: mean and half-width of the confidence interval of each
    metric. NaN: nothing was measured, or one seed only."""

    scenario: str
    contender: Contender
    flows: int
    mean: dict[str, float]
    half_width: dict[str, float]


def check_metrics(names: Sequence[str]) -> None:
    """InputError where there is no such metric."""
    for name in names:
        if name not in METRICS:
            raise InputError(f"there is no metric {name!r}; choose among {choices(name, METRICS)}")


def rows(results: Results) -> list[Row]:
    """Returns the rows, by cell, then contender."""
    collected = []
    for cell in results.grid.cells:
        for contender in results.grid.contenders:
            seeds = results.of(contender, cell)
            mean, half_width = {}, {}
            for name in seeds[0].metrics:
                values = np.array([f.metrics.get(name, nan) for f in seeds])
                mean[name] = float(values.mean())
                half_width[name] = confidence(values, LEVEL) if len(seeds) > 1 and np.isfinite(values).all() else nan
            collected.append(Row(cell.name, contender, seeds[0].flows, mean, half_width))
    return collected


def shown_metrics(measured: Sequence[Row], asked: Sequence[str]) -> list[str]:
    """The metrics asked for, or else the defaults and what finite flows, engines and mixes add."""
    if asked:
        return list(asked)
    further = (*FINITE, *ROUNDS, *ENGINES, *(f"{part}_{name}" for part in PARTS for name in OF_PART))
    return [*DEFAULT, *(name for name in further if any(name in row.mean for row in measured))]


def cells(measured: Sequence[Row], names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Headings and lines of text, as every table shows them."""
    engines = any(row.contender.engines is not None for row in measured)
    heading = ["scenario", "policy", "decides in", *(["engines"] if engines else [])]
    heading += [METRICS[name].heading for name in names]
    lines = []
    for row in measured:
        words = [row.scenario, row.contender.label, latency_text(row.contender)]
        words += [engines_text(row.contender.engines)] if engines else []
        lines.append([*words, *(figure(row, name) for name in names)])
    return heading, lines


def figure(row: Row, name: str) -> str:
    """`9.51 ±0.02`; `-` where nothing was measured."""
    mean, half_width = row.mean.get(name, nan), row.half_width.get(name, nan)
    if not isfinite(mean):
        return "-"
    decimals = METRICS[name].decimals
    spread = f" ±{half_width:,.{decimals}f}" if isfinite(half_width) else ""
    return f"{mean:,.{decimals}f}{spread}"


def terminal(measured: Sequence[Row], names: Sequence[str]) -> Table:
    """The table for the terminal."""
    return plain(*cells(measured, names))


def plain(heading: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    """Headings over lines of text: the first two columns are words."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for i, name in enumerate(heading):
        table.add_column(name, justify="left" if i < 2 else "right", no_wrap=True)
    for line in lines:
        table.add_row(*map(escape, line))
    return table


def markdown(measured: Sequence[Row], names: Sequence[str]) -> str:
    """The same as Markdown."""
    heading, lines = cells(measured, names)
    rule = ["---", "---", *("--:" for _ in heading[2:])]
    return "".join("| " + " | ".join(line) + " |\n" for line in [heading, rule, *lines])


def on(contender: Contender) -> dict[str, str | int | None]:
    """Returns what a contender decides on, as columns of its own; None: nothing of that kind."""
    core, engines = contender.core, contender.engines
    values = (engines.of_nic, engines.overload, engines.depth) if engines is not None else 3 * (None,)
    return dict(zip(ON, (None if core is None else str(core), *values), strict=True))


def csv_text(measured: Sequence[Row]) -> str:
    """Every metric with its half-width, unrounded; empty where nothing was measured."""
    names = [name for name in METRICS if any(name in row.mean for row in measured)]
    names += sorted({name for row in measured for name in row.mean} - set(names))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    spread = [f"{name}_half_width" for name in names]
    writer.writerow(["scenario", "policy", "kind", "hash", "decision_latency_ps", *ON, "flows", *names, *spread])
    for row in measured:
        c = row.contender
        figures = [part.get(name, nan) for part in (row.mean, row.half_width) for name in names]
        text = [repr(value) if isfinite(value) else "" for value in figures]
        writer.writerow(
            [row.scenario, c.label, c.kind, c.hash, c.decision_latency_ps, *on(c).values(), row.flows, *text]
        )
    return buffer.getvalue()
