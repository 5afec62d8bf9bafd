"""The integer model held against the library that it came from, where that is installed.

The reader may misunderstand a file; nothing behind it would notice. The library itself therefore predicts the rows of
the vectors that lie on the grid, in a process of its own (predictions.py) with a limit of CPU time. A raw value that is
off by more than the stated error, or another class where the margin says the same, is an InputError: no C is written.
Anything that could not be compared is reported; it changes no byte of the firmware.
"""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.frontends.predictions import ABSENT, LIBRARIES, SUFFIXES, UNREAD
from decision.artefact import temporary
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.arrays import Floats, Integers
from decision.policy.model import Model

CPU_S = 4
"""Of the library's process: its import, the model, all rows."""
WALL_S = 60
"""Where the process waits for something else than the processor."""
MAX_EDGES, MIN_EDGES = 4000, 256
"""Rows that a model in memory is held against."""
CHILD = Path(__file__).with_name("predictions.py")
COMPARED = "compared"
NOT_ALIKE = "the file is not read as its library reads it: please report this with the file"


@dataclass(frozen=True)
class Predictions:
    """Predictions of a library on rows: ``raw`` [N, outputs]; ``labels`` [N], if it gives classes by name."""

    raw: Floats
    labels: NDArray[np.str_] | None
    library: str
    version: str


@dataclass(frozen=True)
class Comparison:
    """``state``: COMPARED, or why not. ``largest``, ``stated``: of each output the largest difference and the error."""

    state: str
    library: str = ""
    version: str = ""
    rows: int = 0
    classes: int = 0
    largest: tuple[float, ...] = ()
    stated: tuple[float, ...] = ()

    def to_json(self) -> dict[str, Any]:
        if self.state != COMPARED:
            return {"state": self.state, "library": self.library}
        return {
            "state": self.state,
            "library": self.library,
            "version": self.version,
            "rows": self.rows,
            "classes_compared": self.classes,
            "largest_difference": list(self.largest),
            "stated_error": list(self.stated),
        }

    def sentence(self) -> str:
        if self.state != COMPARED:
            return f"{self.library}: {self.state}" if self.library else self.state
        return (
            f"compared with {self.library} {self.version}: {self.rows:,} rows, largest difference "
            f"{max(self.largest):.2g}, stated error {max(self.stated):.2g}"
        )


def on_grid(model: Model, rows: Integers) -> Integers:
    """The rows within each feature's range, once each: beyond it the model is not the library's."""
    low, high = (np.array([getattr(f, end) for f in model.features], dtype=np.int64) for end in ("low", "high"))
    inside = ((rows >= low) & (rows <= high)).all(axis=1)
    return np.unique(rows[inside], axis=0)


def physical(model: Model, rows: Integers) -> Floats:
    """Returns the values of rows of integers, in each feature's own unit."""
    values: Floats = rows / np.array([2.0**f.fraction_bits for f in model.features])
    return values


def compare(model: Model, kind: str, content: bytes, rows: Integers) -> Comparison:
    """Hold the model against its library on those ``rows`` that lie on the grid. ``kind``, ``content``: the file's
    format and bytes. InputError where they differ."""
    inside = on_grid(model, rows)
    if kind not in LIBRARIES:
        return Comparison("not compared: no library's file")
    library = LIBRARIES[kind][0]
    if not len(inside) or not model.features:
        return Comparison("not compared: no row", library)
    names = [f.name for f in model.features]
    found = predicted(kind, content, names, physical(model, inside))
    return Comparison(found, library) if isinstance(found, str) else judged(model, inside, found)


def predicted(kind: str, content: bytes, names: Sequence[str], rows: Floats) -> Predictions | str:
    """Returns the predictions of a model file's library on rows [N, names] of values, in a process of its own; or why
    there are none."""
    with temporary.folder() as folder:
        source, given, out = folder / f"model{SUFFIXES[kind]}", folder / "rows.npz", folder / "predictions.npz"
        source.write_bytes(content)
        np.savez(given, names=np.array(names), rows=rows)
        command = [sys.executable, "-P", str(CHILD), kind, *map(str, (source, given, out)), str(CPU_S)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=WALL_S, check=False, cwd=folder)
        except subprocess.TimeoutExpired:
            return "not compared: time"
        if done.returncode == ABSENT:
            return "library not installed: not compared"
        if done.returncode == UNREAD:
            return f"not compared: the library does not read the file ({_last(done.stderr)})"
        if done.returncode < 0:  # SIGXCPU, or SIGKILL a second later
            return "not compared: time" if -done.returncode in (9, 24) else f"not compared: signal {-done.returncode}"
        if done.returncode or not out.exists():
            return f"not compared: {_last(done.stderr) or 'the library ended early'}"
        held = np.load(out)
        return Predictions(held["raw"], held.get("labels"), str(held["library"]), str(held["version"]))


def hold(model: Model, library: str, predict: Callable[[list[str], Floats], dict[str, Any]]) -> Model:
    """Returns the model; InputError where a library's model in memory, whose predictions of names and rows ``predict``
    gives, says something else on any threshold, its neighbours or the ends of the ranges."""
    if model.features:
        rows = edges(model)
        found = predict([f.name for f in model.features], physical(model, rows))
        raw = np.asarray(found["raw"], dtype=np.float64).reshape(len(rows), -1)
        judged(model, rows, Predictions(raw, found.get("labels"), library, version(library)))
    return model


def edges(model: Model) -> Integers:
    """At most MAX_EDGES rows of the grid: drawn ones, with a feature at a threshold or next to it, and the ends."""
    rng = np.random.default_rng(0)
    low, high = (np.array([getattr(f, end) for f in model.features], dtype=np.int64) for end in ("low", "high"))
    points = edge_points(model.forest.thresholds(), MAX_EDGES, rng)
    rows = rng.integers(low, high + 1, size=(max(len(points), MIN_EDGES), len(low)))
    return on_grid(model, with_edges(rows, points, low, high))


def edge_points(thresholds: Mapping[int, Sequence[int]], most: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """At most ``most`` of the pairs of a feature and one of its thresholds, or an integer next to it."""
    points = [(feature, t + d) for feature, ts in thresholds.items() for t in ts for d in (-1, 0, 1, 2)]
    picked: list[int] = rng.permutation(len(points))[:most].tolist()
    return [points[place] for place in picked]


def with_edges(
    rows: Integers, points: Sequence[tuple[int, int]], low: Sequence[int] | Integers, high: Sequence[int] | Integers
) -> Integers:
    """The rows within ``low`` and ``high``, the first ones with a feature at one of ``points`` each, and both ends."""
    for row, (feature, value) in enumerate(points):
        rows[row, feature] = value
    return np.concatenate([np.clip(rows, low, high), [low], [high]])


def judged(model: Model, rows: Integers, theirs: Predictions) -> Comparison:
    """The comparison on rows of the grid; InputError where a difference is beyond what the model states."""
    sums = model.forest.evaluate(rows)
    if theirs.raw.shape != sums.shape:
        raise InputError(
            f"{theirs.library} {theirs.version} gives {theirs.raw.shape[1]} raw values a row and the model as read "
            f"{sums.shape[1]}; {NOT_ALIKE}"
        )
    off = np.abs(sums / 2.0**model.leaf_bits - theirs.raw)
    stated = np.array(model.error or (0.0,) * model.outputs)
    wrong = ~(off <= stated)  # also where it is no number
    if wrong.any():
        row, output = (int(n) for n in np.argwhere(wrong)[0])
        raise InputError(
            f"{theirs.library} {theirs.version} predicts {theirs.raw[row, output]:.9g} of {_shown(model, rows[row])}, "
            f"and the model as read {sums[row, output] / 2.0**model.leaf_bits:.9g}, off by more than the stated "
            f"{stated[output]:.2g} ({int(wrong.any(axis=1).sum())} of {len(rows)} rows); {NOT_ALIKE}"
        )
    largest = tuple(map(float, off.max(axis=0)))
    classes = _judge_classes(model, rows, sums, theirs)
    return Comparison(COMPARED, theirs.library, theirs.version, len(rows), classes, largest, tuple(map(float, stated)))


def _judge_classes(model: Model, rows: Integers, sums: Integers, theirs: Predictions) -> int:
    """How many rows were decided by class, which is the library's wherever its raw values differ by more than the
    margin; InputError where it is not."""
    if theirs.labels is None or model.task == "regression":
        return 0
    if model.outputs > 1:
        greatest = np.sort(theirs.raw, axis=1)
        apart = greatest[:, -1] - greatest[:, -2]
    else:
        apart = np.abs(theirs.raw[:, 0] - model.cut / 2.0**model.leaf_bits)
    step = 0 if model.margin == 0 else 2.0**-model.leaf_bits  # the cut itself is rounded
    sure = apart > model.margin + step
    sure |= model.margin == 0 and model.outputs > 1
    labels = model.classes or tuple(map(str, range(model.class_count)))
    mine = np.array(labels)[model.decide(sums)]
    wrong = np.flatnonzero(sure & (mine != theirs.labels))
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{theirs.library} {theirs.version} decides {str(theirs.labels[row])!r} of {_shown(model, rows[row])}, and "
            f"the model as read {str(mine[row])!r} ({len(wrong)} of {int(sure.sum())} rows); {NOT_ALIKE}"
        )
    return int(sure.sum())


def report_of(firmware: Path) -> Path:
    """Returns the path of the report on a firmware folder's model: next to the folder, not in it."""
    folder = firmware.resolve()
    return folder.with_name(f"{folder.name}.compared.json")


def write_report(comparison: Comparison, firmware: Path, artefact: str, model: str) -> None:
    """Write the report on a firmware folder. ``artefact``: the folder's hash; ``model``: that of the model's file."""
    content = {"format": 1, "kind": "comparison", "firmware": artefact, "model": model, **comparison.to_json()}
    write_atomically(report_of(firmware), dump_json(content))


def _shown(model: Model, row: Integers) -> str:
    parts = [f"{f.name} = {f.physical(int(k))}" for f, k in zip(model.features, row, strict=True)]
    return ", ".join(parts[:6]) + (", .." if len(parts) > 6 else "")


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""
