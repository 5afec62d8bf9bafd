"""`rlcc check TEACHER`: what rlcc reads a trained policy as, before anything is made from it."""

from pathlib import Path

import click
import numpy as np
from rich.markup import escape
from rich.table import Table

from decision.documents import validate, write_atomically
from decision.errors import InputError
from distill.options import RolloutOptions
from rlcc import teacher_sheet
from rlcc.console import console, stage
from rlcc.options import FOLDER

CHECKED_DURATION = "20 ms"
"""Of the network whose rows the picture draws."""


@click.command()
@click.argument("teacher", type=FOLDER)
@click.option(
    "--row",
    "rows",
    multiple=True,
    help="A row of the network's own columns, numbers with commas between: what is decided there. Repeatable.",
)
@click.option(
    "--rows",
    "file",
    type=FOLDER,
    help="CSV of your own forward passes: inputs by name (previous_action_0, ..), then outputs.",
)
@click.option("--picture", type=FOLDER, help="PNG: the action over the two columns that move it most.")
@click.option("--scenario", default="many-to-one:8", show_default=True, help="Whose rows --picture draws.")
@click.pass_context
def command(
    context: click.Context, teacher: Path, rows: tuple[str, ...], file: Path | None, picture: Path | None, scenario: str
) -> None:
    """Say what TEACHER (a folder, or weights with a policy.toml beside them) is read as: layers, columns, actions.

    Exit code 1 where your own forward passes differ.
    """
    from teachers.load import load_with_layout
    from teachers.parity import TOLERANCE, parity

    loaded, layout = load_with_layout(teacher)
    out = console()
    out.print(escape(teacher_sheet.headline(loaded)))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("column", "name", "what the network saw"):
        table.add_column(title, overflow="fold")
    for cells in teacher_sheet.columns(loaded, layout):
        table.add_row(*map(escape, cells))
    out.print(table)
    for text in rows:
        row = _row(text, len(teacher_sheet.columns(loaded, layout)))
        for line in teacher_sheet.decided(loaded.policy, teacher_sheet.outputs(loaded, layout, row)):
            out.print(escape(f"{text}: {line}"))
    if picture is not None:
        _draw(teacher, scenario, picture)
    if file is not None:
        same = parity(loaded, file)
        word, off = ("same" if same.passed else "OTHER"), f"{same.difference:.2g} off ({TOLERANCE:g} allowed)"
        there = f"in row {same.worst}: {same.theirs:.6f} there, {same.ours:.6f} here"
        out.print(escape(f"{word}: {same.rows:,} rows of {file}, at most {off}, {there}"), soft_wrap=True)
        context.exit(0 if same.passed else 1)


def _row(text: str, width: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    try:
        row = np.asarray([[float(number) for number in text.split(",")]])
    except ValueError:
        raise InputError(f"--row {text!r} is not numbers with commas between") from None
    if row.shape[1] != width:
        raise InputError(f"--row {text!r} has {row.shape[1]} numbers; the network takes {width}")
    return row


def _draw(teacher: Path, scenario: str, picture: Path) -> None:
    from distill.rollout import collect, teacher_policy
    from rlcc.action_picture import picture as drawn
    from teachers.load import load

    loaded = load(teacher)
    options = validate(RolloutOptions, {"scenarios": [scenario], "duration": CHECKED_DURATION}, "rlcc check")
    with stage("picture") as (figures, progress):
        progress(f"{CHECKED_DURATION} of {scenario}")
        (run,) = collect(teacher_policy(loaded), options)
        rows, complete = run.trajectories.float_rows(loaded.policy.observation)
        if not complete.any():
            raise InputError(f"nobody decided anything in {CHECKED_DURATION} of {scenario}; choose another --scenario")
        write_atomically(picture, drawn(loaded, rows[complete]))
        figures.append(f"{picture}: {int(complete.sum()):,} decisions of {scenario}")
