"""A difference as one HTML page, without a script and without anything from elsewhere."""

from pathlib import Path

import jinja2
from markupsafe import Markup

from rlcc.diff.difference import PolicyDifference
from rlcc.diff.words import HEADINGS, inputs_text, interval_cells, number, summary

STYLE = Path(__file__).resolve().parents[1] / "reports/html/report.css"


def page(found: PolicyDifference) -> str:
    """Returns the page's text; the same difference gives the same bytes."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {"cells": interval_cells, "number": number, "inputs": inputs_text, "headings": HEADINGS}
    text = environment.get_template("diff.html.j2").render(
        found=found,
        summary=summary(found),
        style=Markup(STYLE.read_text(encoding="utf-8")),
        **words,
    )
    return text + "\n"
