"""The Jinja2 templates of every emitted file; a name that a template does not get is an error, not an empty word."""

from pathlib import Path

import jinja2

FOLDER = Path(__file__).resolve().parent.parent / "firmware_templates"


def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
