"""Measurements of a training as it goes: a table, a file for TensorBoard, and the curves as a picture.

    my-teacher.training/scalars.csv             a row a step, a column a scalar; empty where it was not measured
    my-teacher.training/events.out.tfevents.*   the same for `tensorboard --logdir my-teacher.training`
    my-teacher.training/curves.svg              drawn when training ends, or is interrupted

The folder stands beside the teacher's, which says what it is by its manifest: a log is no part of an artefact. A
training that is resumed keeps the rows up to its checkpoint and goes on behind them.
"""

import csv
import io
import time
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from types import TracebackType

from decision.artefact.documents import read_text
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.artefact.system_errors import writing_to
from teachers import event_file

CSV, CURVES, EVENTS = "scalars.csv", "curves.svg", "events.out.tfevents"

Row = dict[str, float]


def log_path(out: Path) -> Path:
    """The log of the training that writes the folder ``out``."""
    return out.parent / f"{out.name}.training"


class TrainingLog:
    """``step``: what it counts (`round`, `episode`); ``after``: the last step that is kept of what stands there.
    InputError where the folder cannot be written, or what stands there is no log."""

    def __init__(self, folder: Path, step: str, after: int = 0) -> None:
        self.folder, self.step = folder, step
        self.rows: list[tuple[int, Row]] = [row for row in _read(folder / CSV, step) if row[0] <= after]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if after == 0:
                for old in (*folder.glob(f"{EVENTS}.*"), folder / CURVES, folder / CSV):
                    old.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}; name another place with --out") from None
        files = len(list(folder.glob(f"{EVENTS}.*")))
        self._events = folder / f"{EVENTS}.{files:010d}.rlcc"
        self._append(event_file.header(time.time()) + event_file.begun(time.time(), after + 1))

    def add(self, number: int, scalars: Mapping[str, float | None]) -> None:
        """Adds the measurements of one step; None or NaN: nothing."""
        row = {name: float(value) for name, value in scalars.items() if value is not None and isfinite(value)}
        self.rows.append((number, row))
        write_atomically(self.folder / CSV, self.table())
        self._append(event_file.scalars(time.time(), number, row))

    def table(self) -> str:
        """The rows as CSV, numbers as short as they read back."""
        text = io.StringIO()
        names = self.names()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([self.step, *names])
        writer.writerows([number, *(repr(row[n]) if n in row else "" for n in names)] for number, row in self.rows)
        return text.getvalue()

    def names(self) -> list[str]:
        """Returns the names of all scalars, in the order in which they first came."""
        return list(dict.fromkeys(name for _, row in self.rows for name in row))

    def draw(self) -> None:
        """A panel a scalar over the steps."""
        from matplotlib import rc_context
        from matplotlib.figure import Figure

        names = self.names()
        if not names:
            return
        columns = min(3, len(names))
        lines = -(-len(names) // columns)
        with rc_context({"svg.hashsalt": "rlcc", "svg.fonttype": "none", "font.size": 8}):
            canvas = Figure(figsize=(3.4 * columns, 2.1 * lines), layout="constrained")
            for at, name in enumerate(names):
                points = [(number, row[name]) for number, row in self.rows if name in row]
                axes = canvas.add_subplot(lines, columns, at + 1)
                axes.plot(*zip(*points, strict=True), color="#0072B2", marker="o", markersize=2, linewidth=1)
                axes.set_title(name, fontsize=8)
                axes.set_xlabel(self.step)
                axes.grid(linewidth=0.6, color="#DDDDDD")
            drawn = io.BytesIO()
            canvas.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
        write_atomically(self.folder / CURVES, drawn.getvalue())

    def __enter__(self) -> "TrainingLog":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.draw()

    def _append(self, data: bytes) -> None:
        with writing_to(self._events), self._events.open("ab") as file:
            file.write(data)


def _read(path: Path, step: str) -> list[tuple[int, Row]]:
    if not path.exists():
        return []
    try:
        first, *rows = csv.reader(io.StringIO(read_text(path)))
        if first[:1] != [step]:
            raise ValueError
        return [
            (int(n), {name: float(x) for name, x in zip(first[1:], values, strict=True) if x}) for n, *values in rows
        ]
    except ValueError:
        raise InputError(f"{path} is no log of a training in {step}s; move it away, and train again") from None
