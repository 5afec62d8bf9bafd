"""Markdown: the table of checks and the costliest lines, for a job summary."""

from rlcc.gate.verdict import Verdict
from rlcc.reports.legend import COLUMNS, terms


def markdown(verdict: Verdict) -> str:
    hashes = {"firmware": verdict.firmware, "student": verdict.student, "teacher": verdict.teacher}
    lines = [
        f"# {verdict.outcome}: {cell(verdict.policy)} on {cell(verdict.profile)}",
        "",
        ", ".join(f"{name} `{of[:12]}`" for name, of in hashes.items() if of),
        "",
        "## Checks",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
    ]
    for check in verdict.checks:
        told = " ".join(filter(None, ("ok" if check.passed else "**FAIL**", check.detail, check.note)))
        cells = [check.group, check.name, check.value, check.limit, told]
        lines.append("| " + " | ".join(map(cell, cells)) + " |")
    if device := verdict.measured.get("device"):
        lines += ["", f"Judged on the device model {cell(device['name'])}: {cell(device['title'])}."]
    if verdict.not_judged:
        lines += ["", f"Not judged: {cell(verdict.left_out_text)}."]
    if verdict.note:
        lines += ["", f"Note: {cell(verdict.note)}."]
    legend = COLUMNS | terms(verdict.checks)
    lines += ["", *(f"- **{heading}**: {meaning}" for heading, meaning in legend.items())]
    path = verdict.worst_path
    if path is not None:
        lines += ["", "## Most expensive C lines", f"{path.cycles:g} cycles, {cell(path.input)}.", ""]
        lines += ["| line | function | cycles | code |", "|---:|---|---:|---|"]
        lines += [f"| {c.line or ''} | {cell(c.function)} | {c.cycles:g} | {code(c.text)} |" for c in path.lines]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text in a table: no mark-up of its own. ``<`` and ``[`` would begin a tag or a link."""
    plain = printable(text)
    for mark in ("\\", "|", "<", "[", "`"):
        plain = plain.replace(mark, f"\\{mark}")
    return plain


def code(text: str) -> str:
    """Text as code in a table, where only the bar and the quote are read; emitted C has no backslash."""
    plain = printable(text).replace("`", " ").replace("\\", "/").replace("|", "\\|")
    return f"`{plain}`" if plain.strip() else ""


def printable(text: str) -> str:
    """In one line, without what a terminal or an XML document would not take."""
    return "".join(c if c.isprintable() else " " for c in text)
