"""The Jinja2 templates of every emitted file; a name that a template does not get is an error, not an empty word."""

from functools import cache
from pathlib import Path

import jinja2

HERE = Path(__file__).resolve().parent
NAME = "firmware_templates"
FOLDER = next((folder for folder in (HERE / NAME, HERE.parent / NAME) if folder.is_dir()), HERE / NAME)
"""In a wheel beneath this package, in a checkout beside it."""


@cache
def environment() -> jinja2.Environment:
    """Each template is compiled once a process, and again where its file has changed."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
