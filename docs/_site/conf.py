"""The site of the documentation: the Markdown as it is, found from docs/index.md (`make docs`).

The sources are the whole checkout, so that links from docs/ to README.md, CHANGELOG.md, fixtures/ and papers/ are links
of the site too. The navigation follows the indexes: docs/index.md leads to the index of each kind of page, that index
to its pages. The README of the lab book leads to the lab book's pages. moved.toml lists old addresses; each leads to
the new one.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]
INDEX = "docs/index"
KINDS = ("tutorial", "how-to", "reference", "explanation", "results", "contributing")
"""Folders of docs/, each with an index."""
LAB_BOOK = "papers/README"
MOVED = Path(__file__).with_name("moved.toml")

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
    """Returns the pages that a text links to, without their suffix, each once."""
    return list(dict.fromkeys(re.findall(r"\]\(([^):#]+)\.md(?:#[^)]*)?\)", text)))


def contents(name: str, text: str) -> list[str]:
    """Returns the pages below the page ``name`` in the navigation, relative to it; empty for most pages.

    A page of docs/ is below the index of its folder, a page of the lab book below the lab book's README. Any other page
    is below the index that links to it.
    """
    if name == INDEX:
        return ["../README", *(f"{kind}/index" for kind in KINDS)]
    if name == LAB_BOOK:
        return [page for page in pages_of(text) if page.startswith("pages/")]
    folder = posixpath.dirname(name)
    kinds = [f"docs/{kind}" for kind in KINDS]
    if name not in [f"{kind}/index" for kind in kinds]:
        return []
    below = []
    for page in pages_of(text):
        home = posixpath.dirname(posixpath.normpath(posixpath.join(folder, page)))
        owned = home in kinds or home in ("docs", "papers/pages")
        if home == folder or not owned:
            below.append(page)
    return below


def toctree(pages: list[str]) -> str:
    """Returns the hidden table of contents of ``pages``."""
    return "\n".join(["", "", "```{toctree}", ":hidden:", *pages, "```"])


def old_addresses() -> dict[str, str]:
    """Returns old page -> new page, both below docs/ and without a suffix, as moved.toml lists them."""
    moved = tomllib.loads(MOVED.read_text())
    merged: dict[str, str] = moved.pop("merged", {})
    return merged | {old: f"{kind}/{posixpath.basename(old)}" for kind, olds in moved.items() for old in olds}


def redirect(target: str) -> str:
    """Returns a page that leads to ``target``, an address relative to the page, and keeps the anchor."""
    return (
        f'<!doctype html><title>rlcc</title><meta http-equiv="refresh" content="0; url={target}">'
        f'<script>location.replace("{target}" + location.hash)</script><a href="{target}">This page has moved.</a>\n'
    )


def add_navigation(app: Sphinx, name: str, source: list[str]) -> None:
    pages = contents(name, source[0])
    if pages:
        source[0] += toctree(pages)


def write_redirects(app: Sphinx, error: Exception | None) -> None:
    """Writes a page at the site's address, which shows docs/index, and one at each old address."""
    if error:
        return
    site = Path(app.outdir)
    (site / "index.html").write_text(redirect(f"{INDEX}.html"))
    for old, new in old_addresses().items():
        page = site / f"docs/{old}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(redirect(posixpath.relpath(f"{new}.html", posixpath.dirname(old) or ".")))


def setup(app: Sphinx) -> None:
    app.connect("source-read", add_navigation)
    app.connect("build-finished", write_redirects)
