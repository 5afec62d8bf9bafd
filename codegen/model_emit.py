"""`rlcc emit` of a model made elsewhere: its trees become a firmware folder.

rlcc_model.h  rlcc_model.c  rlcc_model.mk               what a firmware engineer embeds
rlcc_model_selftest.c  vectors.inc  vectors.csv         the vectors, for a C compiler and for everybody else
model.json  manifest.json                               the integer model, and what it was made from
"""

from decimal import ROUND_UP, Context, Decimal
from importlib import metadata
from pathlib import Path
from typing import Any

from codegen.ctypes99 import I32, literal
from codegen.frontends import load
from codegen.lower import Options
from codegen.model_print import PrintedTrees, comment_text, field_names, physical_value, print_trees, shown_name
from codegen.model_vectors import make
from codegen.templates import environment
from decision.documents import read_bytes, write_atomically
from decision.manifest import check_place, sha256, writing
from decision.model import Model

KIND = "model-firmware"
FILES = ("rlcc_model.h", "rlcc_model.c", "rlcc_model.mk", "rlcc_model_selftest.c")
MODEL_NAME = "model.json"


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
    return emit_model(model, out, name=path.name, parents=parents, seed=seed, options=options, dumps=dumps)


def emit_model(
    model: Model,
    out: Path,
    *,
    name: str,
    parents: dict[str, str] | None = None,
    seed: int = 0,
    options: Options | None = None,
    dumps: Path | None = None,
) -> dict[str, Any]:
    """Write the firmware folder of a model; ``name`` stands in the header. Returns the manifest's details."""
    details: dict[str, Any] = {}
    chosen = options or Options()
    printed = print_trees(model, chosen)
    if dumps is not None:
        for number, dump in enumerate(printed.dumps):
            write_atomically(dumps / f"{number:02d}-{dump.name}.txt", dump.text)
    with writing(out, KIND, parents=parents, tools=("jinja2", "numpy"), seed=seed, details=details) as folder:
        vectors = make(model, seed=seed)
        text = model.dump()
        for file, content in render(model, printed, name, sha256(text.encode())).items():
            write_atomically(folder / file, content)
        write_atomically(folder / "vectors.csv", vectors.to_csv(model))
        write_atomically(folder / "vectors.inc", vectors.to_inc())
        write_atomically(folder / MODEL_NAME, text)
        details |= _details(model) | {
            "vectors": len(vectors),
            "visits": {"wanted": vectors.branches, "made": vectors.visited},
            "compiled": chosen.to_json(),
            "form": printed.choice.to_json(),
        }
    return details


def render(model: Model, printed: PrintedTrees, name: str, model_hash: str) -> dict[str, str]:
    """The C, the header, the Makefile fragment and the self-test, by file name."""
    templates = environment()
    names = field_names(model.features)
    context = {
        "rlcc_version": metadata.version("rlcc"),
        "name": comment_text(name),
        "model_hash": model_hash,
        "model": model,
        "cut": literal(model.cut, I32),
        "printed": printed,
        "fields": [
            {
                "field": field,
                "meaning": f"{shown_name(f)}, {physical_value(f.low, f)} to {physical_value(f.high, f)}",
                "low": f.low,
                "high": f.high,
            }
            for field, f in zip(names, model.features, strict=True)
        ],
        "classes": [comment_text(c) for c in model.classes],
        "thresholds": sum(map(len, model.thresholds().values())),
        "error": at_most(max(model.error, default=0.0)),
        "margin": at_most(model.margin),
    }
    return {file: templates.get_template(f"model/{file}.j2").render(**context) for file in FILES}


def at_most(value: float) -> str:
    """Two digits that are not below the value."""
    return "0" if value == 0 else f"{Context(prec=2, rounding=ROUND_UP).create_decimal(Decimal(value)):.1e}"


def _details(model: Model) -> dict[str, Any]:
    return {
        "task": model.task,
        "features": [
            {"name": f.name, "field": field, "fraction_bits": f.fraction_bits, "low": f.low, "high": f.high}
            for f, field in zip(model.features, field_names(model.features), strict=True)
        ],
        "outputs": model.outputs,
        "classes": list(model.classes),
        "leaf_bits": model.leaf_bits,
        "error": list(model.error),
        "margin": model.margin,
        "trees": len(model.trees),
        "depth": model.depth,
        "thresholds": sum(map(len, model.thresholds().values())),
    }
