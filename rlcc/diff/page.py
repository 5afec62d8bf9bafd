"""A difference as one HTML page, without a script and without anything from elsewhere."""

from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from rlcc.diff.changes import Change
from rlcc.diff.decisions import Compared
from rlcc.diff.side import Side
from rlcc.diff.words import HEADINGS, inputs_text, interval_cells, number, summary

STYLE = Path(__file__).resolve().parents[1] / "reports/html/report.css"


@dataclass(frozen=True)
class Difference:
    """``said``: which traffic; ``traffic`` and ``inputs``: None where they could not be compared."""

    old: Side
    new: Side
    changes: tuple[Change, ...]
    said: str
    traffic: Compared | None
    inputs: Compared | None

    @property
    def differs(self) -> bool:
        """Returns whether a decision differs; policies of two interfaces always do."""
        return self.traffic is None or any(one is not None and one.differing for one in (self.traffic, self.inputs))


def page(found: Difference) -> str:
    """Returns the page's text; the same difference gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    compared = [(name, one) for name, one in (("traffic", found.traffic), ("test inputs", found.inputs)) if one]
    words = {"cells": interval_cells, "number": number, "inputs": inputs_text, "headings": HEADINGS}
    text = environment.get_template("diff.html.j2").render(
        found=found,
        compared=compared,
        summary=summary(found),
        style=Markup(STYLE.read_text(encoding="utf-8")),
        **words,
    )
    return text + "\n"
