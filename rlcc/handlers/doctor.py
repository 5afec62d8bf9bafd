"""`rlcc doctor`: a table of what is installed and what is missing; exit 2 if a required part is missing."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from rlcc import __version__
from rlcc.commands.console import console
from rlcc.doctor import DoctorFinding, examine


def handle() -> int:
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
