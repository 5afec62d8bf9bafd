"""The report as one HTML file that asks the network for nothing: styles, script, data and drawings stand in it.

Its content policy lets run the one script whose hash it names and load nothing, whatever a policy's name may hold.
"""

import base64
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from rlcc.reports.html.gather import Report
from rlcc.reports.legend import COLUMNS, terms

FOLDER = Path(__file__).parent
TEMPLATE, STYLE, SCRIPTS = "report.html.j2", "report.css", ("surface.js", "series.js")


@cache
def environment() -> jinja2.Environment:
    """The template is compiled once a process, and again where its file has changed."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render(report: Report) -> str:
    """The same report gives the same bytes."""
    drawn = {
        "surface": None if isinstance(report.surface, str) else report.surface.page,
        "series": report.series,
    }
    script = "".join((FOLDER / name).read_text(encoding="utf-8") for name in SCRIPTS)
    return (
        environment()
        .get_template(TEMPLATE)
        .render(
            report=report,
            verdict=report.verdict,
            legend=COLUMNS | terms(report.verdict.checks),
            style=Markup((FOLDER / STYLE).read_text(encoding="utf-8")),
            script=Markup(script),
            script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
            data=Markup(_json(drawn)),
        )
    )


def _json(drawn: Any) -> str:
    """Nothing in it ends the element that holds it."""
    text = json.dumps(drawn, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
