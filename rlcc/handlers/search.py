"""`rlcc search RECIPE`: search its options for cycles and closeness to the teacher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.markup import escape
from rich.table import Table

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from rlcc.commands.console import console

if TYPE_CHECKING:
    from rlcc.search.study import ReportedPoint


def handle(
    recipe_file: Path,
    out: Path | None,
    points: int | None,
    front: int | None,
    minutes: float | None,
    point: int | None,
    to: Path | None,
) -> int:
    from rlcc.search.run import SearchRun, point_of, run

    search = SearchRun.of(recipe_file, out, points=points, front=front)
    if point is None:
        if to is not None:
            raise InputError("--to names the file of a point's recipe; say which point with --point")
        print_front(run(search, minutes), search.space.own)
        return 0
    told = point_of(search, point)
    place = to or search.folder / f"{search.name(point)}.toml"
    if place.resolve() == recipe_file.resolve():
        raise InputError(f"{place} is the recipe that is searched; choose another --to")
    write_atomically(place, search.text(told, place.parent))
    click.echo(place)
    return 0


def print_front(told: list[ReportedPoint], own: object) -> None:
    """The proved front and the recipe itself; of a search that has proved none, the predicted front."""
    from rlcc.search import page

    proved = page.made_front(told)
    numbers = proved or page.predicted_front(told)
    numbers += [
        one.number for one in told if one.point == own and one.number not in numbers and (one.whole or not proved)
    ][:1]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("point", "cycles", "error", "noise", "tables", "context", "worst", ""):
        table.add_column(column, overflow="fold")
    by_number = {one.number: one for one in told}
    for number in numbers:
        one = by_number[number]
        whole, quick = one.whole, one.quick
        assert quick is not None
        if proved and whole is not None:
            figures = [
                f"{whole.cycles}",
                f"{whole.error:.3f}",
                f"{whole.noise:.3f}",
                f"{whole.table} B",
                f"{whole.context} B",
                whole.worst,
            ]
        else:
            error = "-" if quick.error is None else f"{quick.error:.3f}"
            figures = [
                f"{quick.price.cycles:.0f} predicted",
                error,
                "",
                f"{quick.price.table} B",
                f"{quick.price.context} B",
                quick.worst,
            ]
        table.add_row(str(number), *map(escape, figures), "the recipe" if one.point == own else "")
    out = console()
    out.print()
    out.print(table)
    out.print("\nerror, noise: of what the recipe's tolerance allows, times; the noise is the teacher's own")
