"""A model made elsewhere as a body: from its file, on its grid, to what is emitted."""

from decimal import ROUND_UP, Context, Decimal
from pathlib import Path
from typing import Any

from codegen.emit import KIND, Emission, emit_body
from codegen.frontends import load
from codegen.lower import Options
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.targets import BARE
from codegen.tree_body import TreeBody
from codegen.trees_c import Physical
from decision.documents import read_bytes
from decision.manifest import check_place, sha256
from decision.model import NAME, Model, comment_text


class ModelBody(TreeBody):
    file = NAME
    templates = "grid"
    decider: Model

    def __init__(self, model: Model) -> None:
        super().__init__(model)

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
    dumps: Path | None = None,
) -> dict[str, Any]:
    """Read a model file, put it on its grid, write the firmware folder ``out``; returns the manifest's details.

    ``options``: how to compile; ``dumps``: a folder for the trees as text after each pass. InputError where the model
    or the grid is refused (codegen.frontends.load), or where no form keeps the limits.
    """
    check_place(out, KIND)
    model = load(path, grid)
    parents = {"model": sha256(read_bytes(path))}
    if grid is not None:
        parents["grid"] = sha256(read_bytes(grid))
    return emit_model(model, out, parents=parents, seed=seed, options=options, dumps=dumps)


def emit_model(
    model: Model,
    out: Path,
    *,
    parents: dict[str, str] | None = None,
    seed: int = 0,
    options: Options | None = None,
    dumps: Path | None = None,
) -> dict[str, Any]:
    """Write the firmware folder of a model. Returns the manifest's details."""
    emission = Emission(BARE.name, seed, options or Options())
    return emit_body(ModelBody(model), out, emission, parents=parents, dumps=dumps)


def at_most(value: float) -> str:
    """Two digits that are not below the value."""
    return "0" if value == 0 else f"{Context(prec=2, rounding=ROUND_UP).create_decimal(Decimal(value)):.1e}"
