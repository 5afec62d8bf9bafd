"""Pages of a search: every point as Parquet, and the front as one HTML file without anything from
elsewhere (front.html.j2)."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq

from decision.artefact.output import write_atomically
from rlcc.search.pareto import front
from rlcc.search.recipe_text import recipe_text
from rlcc.search.space import SearchSpace
from rlcc.search.study import ReportedPoint

POINTS, PAGE = "points.parquet", "front.html"


def made_front(points: Sequence[ReportedPoint]) -> list[int]:
    """Returns the built points that no other beats in cycles and in error in the gate's networks."""
    return front({t.number: f for t in points if (f := _whole_figures(t)) is not None})


def predicted_front(points: Sequence[ReportedPoint]) -> list[int]:
    """The same of the quick figures, of the points within the limits."""
    return front({t.number: t.predicted for t in points if t.allowed})


def write(folder: Path, name: str, space: SearchSpace, points: Sequence[ReportedPoint]) -> None:
    """Both files, as the journal stands."""
    rows = [_row(one, set(predicted_front(points)), set(made_front(points))) for one in points]
    buffer = io.BytesIO()
    pq.write_table(_columns(rows), buffer, compression="zstd")
    write_atomically(folder / POINTS, buffer.getvalue())
    own = next((one.number for one in points if dict(one.point) == dict(space.own)), None)
    shown = [
        row | {"recipe": recipe_text(space.said(one.point), "") if row["on_quick_front"] or one.whole else ""}
        for row, one in zip(rows, points, strict=True)
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    # In a script element only "</" and "<!--" would end what is data.
    data = json.dumps({"points": shown, "own": own}, allow_nan=False).replace("<", "\\u003c")
    document = environment.get_template("front.html.j2").render(name=name, data=data, knobs=list(space.knobs))
    write_atomically(folder / PAGE, document + "\n")


def _whole_figures(one: ReportedPoint) -> tuple[float, float] | None:
    whole = one.whole
    if whole is None or whole.cycles is None or whole.error is None:
        return None
    return whole.cycles, whole.error


NUMBER, FLOAT, TRUTH, TEXT = pa.int64(), pa.float64(), pa.bool_(), pa.string()
PRICE = {
    "cycles_predicted": ("cycles", FLOAT),
    "context_bytes": ("context", NUMBER),
    "table_bytes": ("table", NUMBER),
    "code_bytes": ("code", NUMBER),
}
QUICK = {
    "error_quick": ("error", FLOAT),
    "worst_quick": ("worst", TEXT),
    "rmse": ("rmse", FLOAT),
    "unfair": ("unfair", FLOAT),
}
WHOLE = {
    "cycles": ("cycles", NUMBER),
    "proved": ("proved", TRUTH),
    "error": ("error", FLOAT),
    "noise": ("noise", FLOAT),
    "worst": ("worst", TEXT),
    "problem": ("problem", TEXT),
    "firmware": ("firmware", TEXT),
}
"""Columns: what they are of a point's price, its quick judgement, its whole one, and their type."""
KINDS = {
    **{name: kind for part in (PRICE, QUICK, WHOLE) for name, (_, kind) in part.items()},
    "point": NUMBER,
    "outdone_by": NUMBER,
    "on_quick_front": TRUTH,
    "on_front": TRUTH,
}
"""Of the columns; those that are not here are text."""


def _row(one: ReportedPoint, predicted: set[int], made: set[int]) -> dict[str, Any]:
    quick, whole = one.quick, one.whole
    return {
        "point": one.number,
        **{name: json.dumps(value) if not isinstance(value, str) else value for name, value in one.point.items()},
        **_figures(PRICE, None if quick is None else quick.price),
        **_figures(QUICK, quick),
        "broken": ", ".join(quick.broken) if quick is not None else "",
        "outdone_by": None if quick is None else quick.outdone,
        "reason": one.reason,
        "on_quick_front": one.number in predicted,
        **_figures(WHOLE, whole),
        "on_front": one.number in made,
    }


def _figures(columns: Mapping[str, tuple[str, pa.DataType]], of: object | None) -> dict[str, Any]:
    return {name: None if of is None else getattr(of, figure) for name, (figure, _) in columns.items()}


def _columns(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Types that do not depend on which points there are."""
    names = list(rows[0]) if rows else ["point"]
    return pa.table({name: pa.array([row[name] for row in rows], KINDS.get(name, TEXT)) for name in names})
