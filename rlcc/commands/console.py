"""What commands print: a line a stage with its figures, progress, and the gate's table."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from rlcc.gate.verdict import Verdict

WIDTH = 124
"""Columns of a table where the output is not a terminal."""

QUIET_S = 10.0
"""Between two lines of progress where nobody watches."""

Progress = Callable[[str], None]
Figures = list[str]


def console(width: int = WIDTH) -> Console:
    return Console(highlight=False) if sys.stdout.isatty() else Console(highlight=False, width=width, no_color=True)


@contextmanager
def stage(name: str) -> Iterator[tuple[Figures, Progress]]:
    """Time a stage and print its line: append figures to the list; call the second to say what is going on. Off a
    terminal that is a line on stderr, the first after ``QUIET_S`` and at most one in so many."""
    out = Console(stderr=True)
    figures: Figures = []
    begin = time.monotonic()
    if out.is_terminal:
        with out.status(f"{name} ...") as status:
            yield figures, lambda text: status.update(escape(f"{name}: {text}"))
    else:
        yield figures, _Lines(name, begin).say
    line = f"[bold]{name:<9}[/bold] {escape(', '.join(figures))}  [dim]{time.monotonic() - begin:.1f} s[/dim]"
    console().print(line, soft_wrap=True)


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


def print_verdict(verdict: Verdict) -> None:
    """Every check with its figure and limit, then PASS or FAIL."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "check", "value", "limit", ""):
        table.add_column(column, overflow="fold")
    group = ""
    for check in verdict.checks:
        mark = ("ok" if check.passed else "[bold red]FAIL[/bold red]") + ("*" if check.note else "")
        shown = check.group if check.group != group else ""
        group = check.group
        table.add_row(shown, escape(check.name), escape(check.value), escape(check.limit), mark)
    out = console()
    out.print()
    out.print(table)
    for check in verdict.failures():
        if check.detail:
            out.print(escape(f"{check.name}: {check.detail}"))
    for check in verdict.checks:
        if check.note:
            out.print(escape(f"* {check.name}: {check.note}"))
    word = "[bold green]PASS[/bold green]" if verdict.passed else "[bold red]FAIL[/bold red]"
    out.print(f"\n{word}  {escape(verdict.policy)} on {escape(verdict.profile)}")
