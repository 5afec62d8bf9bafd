"""python docs/_site/links.py SITE: every link and picture of the built site leads to a file and an anchor there.

Addresses of other sites are counted, not asked. Exit code 1 and a line a broken link otherwise.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Anchors of a page, and what it refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.append(value)


def main(site: Path) -> int:
    """Check, say what was checked; 0 or 1."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    broken, checked, outside = [], 0, 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                outside += 1
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file()
            if there and parts.fragment and target in pages:
                there = unquote(parts.fragment) in pages[target].anchors
            if not there:
                broken.append(f"{path.relative_to(site)}: {link}")
    print("\n".join(broken), end="\n" if broken else "", file=sys.stderr)
    print(f"docs: {len(pages)} pages, {checked} links, {len(broken)} broken; {outside} to other sites were not asked")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
