"""Output of the commands: stages with their figures, progress, and the gate's table."""

import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rlcc.gate.verdict import Verdict
from rlcc.reports.folder import JSON, PAGE
from rlcc.reports.legend import COLUMNS, terms

WIDTH = 124
"""Columns of a table where the output is not a terminal."""

SHARES = {"figure": 25, "limit": 20}
"""Percent of the width that these columns have at most, so that the names of most checks stay in one line."""

LINE = 80
"""Columns of a stage's lines where the output is not a terminal."""

TIME_CHECKS = (("WCET", "budget.wcet"), ("WCET", "budget.bound"), ("decision", "budget.measured"))
"""Checks of the decision time, of which a verdict has at most one, and what the summary calls each."""

QUIET_S = 10.0
"""Between two lines of progress where nobody watches."""

Progress = Callable[[str], None]
Figures = dict[str, str]
"""Figures of a stage: key and value, with its unit."""


def console(width: int = WIDTH) -> Console:
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=width, no_color=True)


@contextmanager
def stage(name: str) -> Iterator[tuple[Figures, Progress]]:
    """Time a stage and print its figures: add them to the dictionary; call the second to report progress. Off a
    terminal, progress is a line on stderr, the first after ``QUIET_S`` and at most one in ``QUIET_S``."""
    out = Console(stderr=True)
    figures: Figures = {}
    begin = time.monotonic()
    if out.is_terminal:
        with out.status(f"{name} ...") as status:
            yield figures, lambda text: status.update(escape(f"{name}: {text}"))
    else:
        yield figures, _Lines(name, begin).say
    shown = console(LINE)
    shown.print(f"[bold]{escape(name)}[/bold]  [dim]{time.monotonic() - begin:.1f} s[/dim]", soft_wrap=True)
    for line in lines_of(figures, shown.width):
        shown.print(escape(line), soft_wrap=True)


def lines_of(figures: Figures, width: int) -> list[str]:
    """Returns indented lines ``key  value`` of at most ``width`` columns; a word that is longer stays whole."""
    column = max(map(len, figures), default=0)
    lines = []
    for key, value in figures.items():
        lines += textwrap.wrap(
            value,
            width,
            initial_indent=f"  {key:<{column}}  ",
            subsequent_indent=" " * (column + 4),
            break_long_words=False,
            break_on_hyphens=False,
        ) or [f"  {key}"]
    return lines


def counted(number: int, noun: str) -> str:
    """Returns "1 check", "2 checks", "1,000 checks"; of "property" the plural in -ies."""
    many = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{number:,} {noun if number == 1 else many}"


@contextmanager
def repeated(progress: Progress) -> Iterator[Progress]:
    """Progress whose last text is said again every second: for steps that take long and say nothing themselves."""
    texts: list[str] = []
    ended = Event()

    def repeat() -> None:
        while not ended.wait(1.0):
            if texts:
                progress(texts[-1])

    thread = Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield texts.append
    finally:
        ended.set()
        thread.join()


class _Lines:
    def __init__(self, stage: str, begin: float) -> None:
        self.stage, self.begin, self.last = stage, begin, begin

    def say(self, text: str) -> None:
        now = time.monotonic()
        if now - self.last >= QUIET_S:
            self.last = now
            click.echo(f"{self.stage}: {text}, {now - self.begin:.0f} s", err=True)


def judged(verdict: Verdict, folder: Path) -> Figures:
    """Returns the gate's figures; ``folder``: the verdict's."""
    failed = len(verdict.failures())
    return {"checks": f"{len(verdict.checks)}, {failed} failed", "verdict": str(folder / JSON)}


def print_verdict(verdict: Verdict, folder: Path) -> None:
    """Every check with its figure and limit, the legend, then the summary; ``folder``: the verdict's."""
    out = console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in COLUMNS:
        most = out.width * SHARES[column] // 100 if column in SHARES else None
        table.add_column(column, overflow="fold", max_width=most, no_wrap=column in ("group", "result"))
    group = ""
    for check in verdict.checks:
        mark = ("ok" if check.passed else "[bold red]FAIL[/bold red]") + ("*" if check.note else "")
        shown = check.group if check.group != group else ""
        group = check.group
        table.add_row(shown, escape(check.name), escape(check.value), escape(check.limit), mark)
    out.print()
    out.print(table)
    for check in verdict.failures():
        if check.detail:
            out.print(escape(f"failed: {check.name}: {check.detail}"))
    for check in verdict.checks:
        if check.note:
            out.print(escape(f"* {check.name}: {check.note}"))
    legend = Table(box=None, pad_edge=False, show_header=False)
    legend.add_column(no_wrap=True)
    for heading, meaning in (COLUMNS | terms(verdict.checks)).items():
        legend.add_row(heading, escape(meaning), style="dim")
    out.print()
    out.print(legend)
    color = {"PASS": "green", "QUICK PASS": "cyan", "FAIL": "red"}[verdict.outcome]
    judged_policy = f'policy "{escape(verdict.policy)}" on {escape(verdict.profile)}'
    out.print(f"\n[bold {color}]{verdict.outcome}[/]  {judged_policy}")
    for line in lines_of(summary(verdict, folder), out.width):
        out.print(escape(line), soft_wrap=True)


def summary(verdict: Verdict, folder: Path) -> Figures:
    """Returns the decision time, the network metric closest to its limit, the networks' seeds, what was not judged,
    note, and report."""
    checks = {check.id: check for check in verdict.checks}
    figures: Figures = {}
    for key, name in TIME_CHECKS:
        if name in checks:
            figures[key] = f"{checks[name].value}, limit {checks[name].limit}"
    closest = checks.get(verdict.measured.get("closest_to_limit") or "")
    if closest is not None:
        figures["network"] = f"closest to its limit: {closest.name}, {closest.value}, limit {closest.limit}"
    if seeds := dict.fromkeys(
        seed for each in verdict.measured.get("fidelity") or () for seed in each.get("seeds", ())
    ):
        figures["seeds"] = f"{', '.join(seeds)} (network rows)"
    if device := verdict.measured.get("device"):
        figures["device"] = f"{device['name']}: {device['title']}"
    if verdict.not_judged:
        figures["not judged"] = verdict.left_out_text
    if verdict.note:
        figures["note"] = verdict.note
    return figures | {"report": str(folder / PAGE)}
