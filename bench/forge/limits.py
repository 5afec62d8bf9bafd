"""Limits just below what was measured: a verdict that passes under one says something false.

The figures are those of the true verdict, which the recipe's own networks gave.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

from bench.forge import judges
from bench.forge.documents import Forgery
from bench.forge.judges import Files
from bench.forge.places import value_at
from bench.forge.subjects import ForgerySubject
from bench.forge.texts import dumped
from emulator.profile import load_profile
from rlcc.gate.checks import US_PS
from rlcc.recipe import load_recipe

Path = tuple[str, ...]
BELOW: Mapping[tuple[str, str], Path] = {
    ("sizes", "code"): ("emulation", "code_bytes"),
    ("sizes", "table"): ("emulation", "table_bytes"),
    ("sizes", "context"): ("emulation", "context_bytes"),
    ("match", "rmse"): ("teacher", "rmse"),
    ("match", "p99"): ("teacher", "p99"),
    ("match", "maximum"): ("teacher", "maximum"),
    ("neighbourhood", "limit"): ("neighbourhood", "distance"),
    ("neighbourhood", "proved_limit"): ("distance", "bound"),
}
"""A limit of a recipe's gate, and where the verdict's ``measured`` has its figure."""


def limits(subject: ForgerySubject) -> Iterator[Forgery]:
    """Recipes with one limit below its figure: a byte, a cycle, a thousandth of it."""
    if not subject.files.recipe.is_file():
        return
    measured = json.loads(subject.files.verdict.read_bytes())["measured"]
    for (table, key), place in BELOW.items():
        figure = _figure(measured, place)
        if isinstance(figure, int | float) and figure > 0:
            below = figure - 1 if isinstance(figure, int) else figure * 0.999
            yield _limit((table, key), below)
    cycles = measured["worst_case_cycles"] or measured["bound_cycles"]
    if cycles:
        engine = load_profile(load_recipe(subject.files.recipe).emulate.profile)
        for step in (1, 2):
            yield _limit(("budget",), f"{int((cycles - step) * US_PS / engine.clock.mhz)} ps")


def _figure(measured: Any, place: Path) -> Any:
    try:
        return value_at(measured, place)
    except (KeyError, TypeError):
        return None


def _limit(path: Path, value: Any) -> Forgery:
    def write(files: Files) -> None:
        recipe = tomllib.loads(files.recipe.read_text())
        table = recipe["gate"]
        for step in path[:-1]:
            table = table.setdefault(step, {})
        table[path[-1]] = value
        files.recipe.write_bytes(dumped(recipe, toml=True))

    return Forgery("limits", path, f"below its figure: {value}", True, write, (judges.gate_unsigned,))
