"""A model made elsewhere as a body: from its file, on its grid, to what is emitted."""

from collections.abc import Callable
from decimal import ROUND_UP, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from codegen.batch import BatchPrinter, batched
from codegen.emit import KIND, Emission, emit_body
from codegen.frontends import formats, load_with_format
from codegen.frontends.comparison import Comparison, compare, write_report
from codegen.identity import PREFIX
from codegen.lower import Options
from codegen.passes.program import LoweredProgram, lower_program
from codegen.printer import Printer
from codegen.targets import BARE
from codegen.tree_body import TreeBody
from codegen.trees_c import Physical
from codegen.vectors import Vectors
from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
from decision.artefact.output import check_place
from decision.ir.arrays import Integers
from decision.ir.program import Program
from decision.policy.model import NAME, Model, comment_text

LOOPS = Options(form="branches", without=("reorder", "rebalance"))
"""How trees are lowered for loops over rows: their questions as the model has them."""
Judge = Callable[[Integers], None]
"""Holds the model against its library on the rows [N, features] of the vectors; InputError where they differ."""
Say = Callable[[str], None]
"""Is given what goes on."""


def silent(text: str) -> None:
    """Says nothing."""


class ModelBody(TreeBody):
    file = NAME
    templates = "grid"
    decider: Model

    def __init__(self, model: Model, judge: Judge | None = None, say: Say = silent) -> None:
        super().__init__(model)
        self.judge, self.say = judge, say

    def lower(self, program: Program, options: Options) -> LoweredProgram:
        self.say(f"choosing the form of {len(self.decider.trees):,} trees of {self.decider.outputs} outputs")
        return super().lower(program, options)

    def batch(self, program: Program) -> BatchPrinter | None:
        return batched(lower_program(program, LOOPS), self.physical())

    def vectors(self, program: Program, lowered: LoweredProgram, seed: int) -> tuple[Vectors, dict[str, Any]]:
        self.say("making vectors")
        vectors, reached = super().vectors(program, lowered, seed)
        if self.judge is not None:
            self.say("comparing with the library")
            self.judge(np.stack([vectors.columns[f"event.{field}"] for field in self.decider.fields], axis=1))
        return vectors, reached

    def physical(self) -> Physical:
        model = self.decider
        features = [model.features[model.fields.index(name)] for name in model.program().forest.features]
        return lambda feature, t: f"{features[feature].shown} > {features[feature].physical(t)}"

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        model = self.decider
        return super().words(lowered, printer) | {
            "made": "read",
            "task": model.task,
            "library": model.library,
            "leaf_bits": model.leaf_bits,
            "classes": [comment_text(c) for c in model.classes],
            "error": at_most(max(model.error, default=0.0)),
            "margin": at_most(model.margin),
        }

    def details(self, lowered: LoweredProgram) -> dict[str, Any]:
        model = self.decider
        return super().details(lowered) | {
            "task": model.task,
            "features": [
                {"name": f.name, "field": field, "fraction_bits": f.fraction_bits, "low": f.low, "high": f.high}
                for f, field in zip(model.features, model.fields, strict=True)
            ],
            "outputs": model.outputs,
            "classes": list(model.classes),
            "leaf_bits": model.leaf_bits,
            "error": list(model.error),
            "margin": model.margin,
            "thresholds": sum(map(len, model.forest.thresholds().values())),
        }


def emit_file(
    path: Path,
    grid: Path | None,
    out: Path,
    *,
    seed: int = 0,
    options: Options | None = None,
    prefix: str = PREFIX,
    dumps: Path | None = None,
    say: Say = silent,
) -> dict[str, Any]:
    """Read a model file, put it on its grid, write the firmware folder ``out``; returns the manifest's details.

    ``options``: how to compile; ``prefix``: of all names in the C; ``dumps``: a folder for the trees as text after each
    pass. Next to ``out`` a report says how the model compares with its library on the vectors. InputError where the
    model or the grid is refused (codegen.frontends.load), where no form keeps the limits, or where the library predicts
    something else.
    """
    check_place(out, KIND)
    content = read_bytes(path)
    say(f"reading {path.name}")
    model, kind = load_with_format(path, grid)
    if read_bytes(path) != content:
        raise InputError(f"{path} changed while it was read; emit it again")
    parents = {"model": sha256(content)}
    if grid is not None:
        parents["grid"] = sha256(read_bytes(grid))
    found: list[Comparison] = []

    def judge(rows: Integers) -> None:
        found.append(compare(model, kind, content, rows))

    details = emit_model(
        model, out, parents=parents, seed=seed, options=options, prefix=prefix, dumps=dumps, judge=judge, say=say
    )
    write_report(found[0], out, opened(out, KIND).hash, parents["model"])
    notes = [formats.NOTES[kind]] if kind in formats.NOTES else []
    return details | {"comparison": found[0].sentence(), "notes": notes}


def emit_model(
    model: Model,
    out: Path,
    *,
    parents: dict[str, str] | None = None,
    seed: int = 0,
    options: Options | None = None,
    prefix: str = PREFIX,
    dumps: Path | None = None,
    judge: Judge | None = None,
    say: Say = silent,
) -> dict[str, Any]:
    """Write the firmware folder of a model. Returns the manifest's details. ``judge`` sees the rows of the vectors."""
    emission = Emission(BARE.name, seed, options or Options(), prefix=prefix)
    return emit_body(ModelBody(model, judge, say), out, emission, parents=parents, dumps=dumps)


def at_most(value: float) -> str:
    """Two digits that are not below the value."""
    return "0" if value == 0 else f"{Context(prec=2, rounding=ROUND_UP).create_decimal(Decimal(value)):.1e}"
