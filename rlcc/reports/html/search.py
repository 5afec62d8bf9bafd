"""The front of a search that lies beside the verdict: points that were made, by cycles and by what they are off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from decision.artefact.errors import InputError
from rlcc.reports.html.frame import HtmlFrame

PLACE, TABLE, PAGE = "search", "points.parquet", "front.html"
FRAME = HtmlFrame(480.0, 240.0)
MARGIN = 0.08
"""Of the span of the points, on both sides of them."""


@dataclass(frozen=True)
class BuiltPoint:
    """A point that was made whole. ``x`` and ``y`` in pixels; ``error``: of what is allowed, 1 is at the limit."""

    number: int
    cycles: int
    proved: bool
    error: float
    noise: float
    on_front: bool
    x: float
    y: float


@dataclass(frozen=True)
class Front:
    """``page``: where the whole front lies, seen from the report; ``cycles`` and ``error``: ends of the axes."""

    made: list[BuiltPoint]
    judged: int
    page: str
    cycles: tuple[float, float]
    error: tuple[float, float]
    frame: HtmlFrame = FRAME


def beside(verdict: Path) -> Front | None:
    """Returns the search that `rlcc search` leaves next to a verdict's folder; None if there is none to read, or it has
    no point yet. InputError where its table is not readable."""
    table = verdict.parent / PLACE / TABLE
    if not table.is_file() or find_spec("pyarrow") is None:
        return None
    from pyarrow import ArrowException
    from pyarrow.parquet import read_table

    try:
        points = read_table(table, columns=["point", "cycles", "proved", "error", "noise", "on_front"]).to_pylist()
    except (ArrowException, OSError) as error:
        raise InputError(f"{table} is not the table of a search ({error}); remove it, or search again") from None
    return front(points, f"../{PLACE}/{PAGE}")


def front(points: Sequence[Mapping[str, Any]], page: str) -> Front | None:
    """``points``: rows of the search's table."""
    made = [p for p in points if p["cycles"] is not None and p["error"] is not None]
    if not made:
        return None
    cycles, error = (_span([float(p[name]) for p in made]) for name in ("cycles", "error"))

    def place(p: Mapping[str, Any]) -> BuiltPoint:
        across, up = ((p[name] - low) / (high - low) for name, (low, high) in (("cycles", cycles), ("error", error)))
        off = (float(p["error"]), float(p["noise"] or 0.0))
        at = FRAME.x(across), FRAME.y(up)
        return BuiltPoint(p["point"], p["cycles"], bool(p["proved"]), *off, bool(p["on_front"]), *at)

    return Front(sorted(map(place, made), key=lambda m: (m.cycles, m.error)), len(points), page, cycles, error)


def _span(values: Sequence[float]) -> tuple[float, float]:
    room = MARGIN * (max(values) - min(values)) or 1.0
    return max(0.0, min(values) - room), max(values) + room
