"""`rlcc cycles FIRMWARE`: which part, tree and line of the emitted C costs what on the core."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape
from rich.table import Table

from decision.artefact.documents import dump_json, validate
from decision.artefact.output import write_atomically
from emulator.build import build
from emulator.firmware_folder import read_firmware
from rlcc.commands.console import console, stage
from rlcc.commands.model_options import given
from rlcc.commands.options import not_within
from rlcc.gate.emission_check import emitted
from rlcc.recipe import EmulateOptions

if TYPE_CHECKING:
    from rlcc.cycles.measure import PathCosts


def handle(firmware: Path, lines: int, out: Path | None, foreign: bool, **chosen: str | None) -> None:
    from rlcc.cycles.measure import measure

    engine = validate(EmulateOptions, given(chosen), "options of rlcc cycles")
    if out is not None:
        not_within(firmware, out)
    read = emitted(firmware, foreign=foreign)
    with stage("cycles") as (figures, progress):
        made = build(read_firmware(read), engine.toolchain())
        used, paths = made.engine, measure(made, progress)
        figures |= {
            "engine": used.label(),
            "compiler": f"{engine.compiler} {engine.optimise}",
            **{path.name: f"{path.cycles:.4g} cycles = {used.microseconds(path.cycles):.3f} us" for path in paths},
        }
        if out is not None:
            figures["pictures"] = str(out)
            _write(out, paths, f"{firmware.name} on {used.label()}, {engine.compiler} {engine.optimise}")
    for path in paths:
        click.echo(f"{path.name}: {path.of}")
    _print_parts(paths)
    _print_lines(paths, lines)


def _print_parts(paths: list[PathCosts]) -> None:
    table = _table("part", paths)
    names = dict.fromkeys(part for path in paths for part in path.by_part())
    for name in names:
        _row(table, [name], [(path.by_part().get(name, 0.0), path.cycles) for path in paths])
    console().print(table)


def _print_lines(paths: list[PathCosts], count: int) -> None:
    known: dict[tuple[str, int], list[float]] = {}
    texts: dict[tuple[str, int], str] = {}
    for n, path in enumerate(paths):
        for cost in path.lines:
            key = (cost.function, cost.line)
            known.setdefault(key, [0.0] * len(paths))[n] += cost.cycles
            texts[key] = cost.text or cost.function
    dearest = sorted(known, key=lambda key: (-known[key][0], -known[key][-1], key))[:count]
    if not dearest:
        return
    table = _table("line", paths, "the C")
    for key in dearest:
        shares = [(cycles, path.cycles) for cycles, path in zip(known[key], paths, strict=True)]
        _row(table, [str(key[1] or "-")], shares, [texts[key][:80]])
    console().print(table)


def _table(first: str, paths: list[PathCosts], *more: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(first)
    for path in paths:
        table.add_column(path.name, justify="right")
        table.add_column("", justify="right")
    for name in more:
        table.add_column(name, no_wrap=True)
    return table


def _row(table: Table, first: list[str], shares: list[tuple[float, float]], last: list[str] | None = None) -> None:
    cells = [cell for cycles, total in shares for cell in (f"{cycles:.1f}", f"{cycles / total:.0%}")]
    table.add_row(*map(escape, [*first, *cells, *(last or [])]))


def _write(out: Path, paths: list[PathCosts], title: str) -> None:
    from rlcc.cycles.flame import flame

    out.mkdir(parents=True, exist_ok=True)
    for path in paths:
        write_atomically(out / f"{path.name}.svg", flame(path, f"{title}: {path.name}, {path.of}"))
    document: dict[str, Any] = {
        path.name: {"of": path.of, "cycles": path.cycles, "lines": [vars(cost) for cost in path.lines]}
        for path in paths
    }
    write_atomically(out / "cycles.json", dump_json(document))
