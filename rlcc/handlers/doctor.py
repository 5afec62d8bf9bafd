"""`rlcc doctor`: a table of what is installed and what is missing; exit 2 if a required part is missing."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape
from rich.table import Table

from rlcc import __version__
from rlcc.card import CardFinding, read_card
from rlcc.commands.console import console
from rlcc.doctor import DoctorFinding, examine


def handle(card: Path | None) -> int:
    if card is not None:
        return examine_card(card)
    out = console(160)  # a file or pipe has no width to keep to
    findings = list(examine())
    out.print(table_of(findings))
    defects = [finding.part for finding in findings if finding.is_defect]
    if defects:
        out.print(f"[bold red]missing:[/] {escape(', '.join(defects))}")
        return 2
    out.print("[bold green]ready[/]")
    return 0


def table_of(findings: list[DoctorFinding]) -> Table:
    table = Table(title=f"rlcc {__version__}", title_justify="left", box=None, pad_edge=False)
    for heading in ("part", "", "found, or how to get it", "needed for"):
        table.add_column(heading, overflow="fold")
    for finding in findings:
        absent = "[bold red]missing[/]" if finding.required else "[yellow]optional[/]"
        state = "[green]ok[/]" if finding.installed else absent
        table.add_row(finding.part, state, escape(finding.installed or finding.mend), finding.needed_for)
    return table


def examine_card(card: Path) -> int:
    """Prints the findings of a card's saved query; returns 1 if a setting is in the way, else 0."""
    out = console(160)
    findings = read_card(card)
    for finding in findings:
        out.print(lines_of(finding), soft_wrap=True)
    if findings:
        out.print(f"[bold red]{len(findings)} setting{'s' if len(findings) > 1 else ''} in the way[/]")
        return 1
    out.print("[bold green]no setting is in the way[/]")
    return 0


def lines_of(finding: CardFinding) -> str:
    said = f"{finding.setting} = {finding.value}" if finding.value else finding.setting
    return f"[bold]{escape(said)}[/]  {finding.effect}\n  {escape(finding.reason)}\n  mend  {escape(finding.mend)}"
