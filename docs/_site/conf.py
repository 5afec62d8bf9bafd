"""The site of the documentation: the Markdown as it is, found from docs/index.md (`make docs`).

The sources are the whole checkout, so that links from docs/ to README.md, CHANGELOG.md, fixtures/ and papers/ are links
of the site too. What a page is found by is the tables of docs/index.md: the heading of each is a part of the
navigation. Pages of the lab book are found from its README.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
INDEX = "docs/index"
LAB_BOOK = "papers/README"
ITS_PAGES = "pages/"

project = "rlcc"
author = "the authors of rlcc"
release = re.search(r'__version__ = "(.*)"', (ROOT / "rlcc/__init__.py").read_text())[1]  # type: ignore[index]
root_doc = INDEX
include_patterns = [
    *("README.md", "CHANGELOG.md", "docs/**", "fixtures/teachers/README.md"),
    *("papers/README.md", "papers/pages/**"),
]
extensions = ["myst_parser"]
myst_heading_anchors = 4
highlight_language = "none"

html_theme = "furo"
html_title = "rlcc"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["static"]
html_css_files = ["wide.css"]


def pages_of(text: str) -> list[str]:
    """The pages that a text leads to, without their suffix, each once."""
    return list(dict.fromkeys(re.findall(r"\]\(([^)#]+)\.md(?:#[^)]*)?\)", text)))


def navigation(index: str) -> str:
    """Hidden tables of contents, one a table "I want to" of ``index``: the pages that it leads to, each once, but those
    of the lab book."""
    seen: set[str] = set()
    parts = []
    for heading, text in re.findall(r"^## (.*)\n(\| I want to \|(?:(?!## ).*\n?)*)", index, re.MULTILINE):
        pages = [page for page in pages_of(text) if page not in seen and not page.startswith(f"../papers/{ITS_PAGES}")]
        seen.update(pages)
        if pages:
            parts.append("\n".join(["```{toctree}", ":hidden:", f":caption: {heading}", *pages, "```"]))
    return "\n\n".join(parts)


def chapters(lab_book: str) -> str:
    """The hidden table of contents of the lab book: its pages, in the order in which its README leads to them."""
    pages = [page for page in pages_of(lab_book) if page.startswith(ITS_PAGES)]
    return "\n".join(["```{toctree}", ":hidden:", *pages, "```"])


def add_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    if name == INDEX:
        source[0] += "\n\n" + navigation(source[0])
    if name == LAB_BOOK:
        source[0] += "\n\n" + chapters(source[0])


def lead_to_the_index(app: Sphinx, error: Exception | None) -> None:
    """The site's address shows docs/index."""
    if not error:
        leads = '<!doctype html><title>rlcc</title><meta http-equiv="refresh" content="0; url=docs/index.html">\n'
        (Path(app.outdir) / "index.html").write_text(leads)


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
    app.connect("build-finished", lead_to_the_index)
