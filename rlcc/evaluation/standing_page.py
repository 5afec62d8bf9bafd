"""One page of Markdown on where each policy of a suite stands beside the baselines (standing.md.j2)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from rich.markup import escape
from rich.table import Table

from decision.artefact.errors import InputError
from rlcc.evaluation.standing import STANDINGS, Standing, StandingComparison, axes, compare, tally
from rlcc.evaluation.suite import Suite, cells
from rlcc.evaluation.summary import Row, figure
from rlcc.origin import made_by
from rlcc.reports.markdown import cell as for_table

TEMPLATE = "standing.md.j2"
START = ("start_goodput", "start_latency_p99_us", "start_loss", "early_loss", "late_dropped_packets")


@dataclass(frozen=True)
class JudgedCell:
    """A policy in all cells: its rows, the yardstick's, and its comparisons by cell, then baseline."""

    label: str
    rows: Sequence[Row]
    ideal: Sequence[Row]
    comparisons: Mapping[str, Mapping[str, StandingComparison]]
    early: Mapping[str, Mapping[str, str]]
    """By cell: what each baseline lost in the first moments."""

    def tally(self, baseline: str, cells: Collection[str] | None = None) -> dict[Standing, int]:
        """Returns how many of ``cells`` (all, where they are left out) stand how."""
        return tally(
            by_baseline[baseline] for cell, by_baseline in self.comparisons.items() if cells is None or cell in cells
        )

    @property
    def lost(self) -> list[StandingComparison]:
        return [c for by_baseline in self.comparisons.values() for c in by_baseline.values() if c.standing == "loss"]


def others(labels: Iterable[str], suite: Suite) -> list[str]:
    """Returns the contenders that are not the suite's own. InputError where that is nobody."""
    beside = {*suite.baselines, suite.yardstick}
    judged = [label for label in dict.fromkeys(labels) if label not in beside]
    if not judged:
        raise InputError(f"suite {suite.name} has these baselines itself; name a policy to set beside them")
    return judged


def judge(rows: Sequence[Row], suite: Suite) -> list[JudgedCell]:
    """The others among the rows of all contenders."""
    return [_judged(label, rows, suite) for label in others((row.contender.label for row in rows), suite)]


def terminal(judged: Sequence[JudgedCell], suite: Suite) -> Table:
    """How many cells each policy wins and loses, for the terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("policy", "beside", *STANDINGS):
        table.add_column(name, justify="left" if name in ("policy", "beside") else "right", no_wrap=True)
    for policy in judged:
        for name in suite.baselines:
            table.add_row(escape(policy.label), name, *(str(count) for count in policy.tally(name).values()))
    return table


def page(judged: Sequence[JudgedCell], suite: Suite) -> str:
    """The page as Markdown."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {"text": for_table}
    return templates.get_template(TEMPLATE).render(
        suite=suite,
        parts=parts(suite),
        judged=judged,
        made_by=made_by(f"rlcc evaluate --suite {suite.name}"),
        standings=STANDINGS,
        words=words,
        figures=figures,
        figure=figure,
        start=START,
    )


def parts(suite: Suite) -> dict[str, tuple[str, ...] | None]:
    """Returns the cells of a suite by what they may be used for; None without a heading: all, and none is held out."""
    every = cells(suite)
    held_out = tuple(cell.name for cell in every if cell.held_out)
    others = tuple(cell.name for cell in every if not cell.held_out)
    if not held_out:
        return {"": None}
    return {"Cells that may be tuned on": others, "Held-out cells": held_out}


def words(comparison: StandingComparison) -> str:
    """`win`, `mixed: p99 worse`: what keeps the cell from being won, or makes the other's better."""
    if comparison.standing == "mixed":
        return f"mixed: {', '.join(comparison.better)} better, {', '.join(comparison.worse)} worse"
    return f"{'**loss**' if comparison.standing == 'loss' else comparison.standing}"


def figures(row: Row) -> str:
    """`goodput 0.9235 ±0.0001, p99 10.10 ±0.22, ...` of what counts in the cell."""
    return ", ".join(f"{axis.word} {figure(row, axis.metric)}" for axis in axes(row))


def _judged(label: str, rows: Sequence[Row], suite: Suite) -> JudgedCell:
    of = {(row.contender.label, row.scenario): row for row in rows}
    own = [row for row in rows if row.contender.label == label]
    return JudgedCell(
        label,
        own,
        [of[suite.yardstick, row.scenario] for row in own],
        {row.scenario: {name: compare(row, of[name, row.scenario]) for name in suite.baselines} for row in own},
        {row.scenario: {name: figure(of[name, row.scenario], "early_loss") for name in suite.baselines} for row in own},
    )
