"""What a search leaves for people: every point as Parquet, and the front as one HTML file without anything from
elsewhere (front.html.j2)."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jinja2
import pyarrow as pa
import pyarrow.parquet as pq

from decision.documents import write_atomically
from rlcc.search.front import front
from rlcc.search.space import Space
from rlcc.search.study import Told
from rlcc.search.written import recipe_text

POINTS, PAGE = "points.parquet", "front.html"


def made_front(told: Sequence[Told]) -> list[int]:
    """Of the points that were made, those that none of them beats in cycles and in error in the gate's networks."""
    return front({t.number: f for t in told if (f := _whole_figures(t)) is not None})


def predicted_front(told: Sequence[Told]) -> list[int]:
    """The same of the quick figures, of the points within the limits."""
    return front({t.number: t.predicted for t in told if t.allowed})


def write(folder: Path, name: str, space: Space, told: Sequence[Told]) -> None:
    """Both files, as the journal stands."""
    rows = [_row(one, set(predicted_front(told)), set(made_front(told))) for one in told]
    buffer = io.BytesIO()
    pq.write_table(_columns(rows), buffer, compression="zstd")
    write_atomically(folder / POINTS, buffer.getvalue())
    own = next((one.number for one in told if dict(one.point) == dict(space.own)), None)
    shown = [
        row | {"recipe": recipe_text(space.said(one.point), "") if row["on_quick_front"] or one.whole else ""}
        for row, one in zip(rows, told, strict=True)
    ]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=jinja2.StrictUndefined
    )
    # In a script element only "</" and "<!--" would end what is data.
    data = json.dumps({"points": shown, "own": own}, allow_nan=False).replace("<", "\\u003c")
    document = environment.get_template("front.html.j2").render(name=name, data=data, knobs=list(space.knobs))
    write_atomically(folder / PAGE, document + "\n")


def _whole_figures(one: Told) -> tuple[float, float] | None:
    whole = one.whole
    if whole is None or whole.cycles is None or whole.error is None:
        return None
    return whole.cycles, whole.error


def _row(one: Told, predicted: set[int], made: set[int]) -> dict[str, Any]:
    quick, whole = one.quick, one.whole
    price = quick.price if quick is not None else None
    return {
        "point": one.number,
        **{name: json.dumps(value) if not isinstance(value, str) else value for name, value in one.point.items()},
        "cycles_predicted": None if price is None else price.cycles,
        "context_bytes": None if price is None else price.context,
        "table_bytes": None if price is None else price.table,
        "code_bytes": None if price is None else price.code,
        "error_quick": None if quick is None else quick.error,
        "worst_quick": None if quick is None else quick.worst,
        "rmse": None if quick is None else quick.rmse,
        "unfair": None if quick is None else quick.unfair,
        "broken": ", ".join(quick.broken) if quick is not None else "",
        "outdone_by": None if quick is None else quick.outdone,
        "reason": one.reason,
        "on_quick_front": one.number in predicted,
        "cycles": None if whole is None else whole.cycles,
        "proved": None if whole is None else whole.proved,
        "error": None if whole is None else whole.error,
        "noise": None if whole is None else whole.noise,
        "worst": None if whole is None else whole.worst,
        "problem": None if whole is None else whole.problem,
        "firmware": None if whole is None else whole.firmware,
        "on_front": one.number in made,
    }


NUMBERS = {"point", "context_bytes", "table_bytes", "code_bytes", "outdone_by", "cycles"}
FLOATS = {"cycles_predicted", "error_quick", "rmse", "unfair", "error", "noise"}
TRUTHS = {"proved", "on_quick_front", "on_front"}


def _columns(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Types that do not depend on which points there are."""

    def kind(name: str) -> pa.DataType:
        if name in NUMBERS:
            return pa.int64()
        return pa.float64() if name in FLOATS else pa.bool_() if name in TRUTHS else pa.string()

    names = list(rows[0]) if rows else ["point"]
    return pa.table({name: pa.array([row[name] for row in rows], kind(name)) for name in names})
