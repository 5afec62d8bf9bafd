"""docs/_site: every page is in the navigation, old addresses lead to pages, broken links of the site are reported."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "index.html": '<a href="sub/page.html#there">x</a> <img src="picture.svg"> <a href="https://example.org/">y</a>',
    "sub/page.html": '<h1 id="there">x</h1> <a href="../index.html">x</a> <a href="#there">x</a>',
    "picture.svg": "<svg/>",
}


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_site_{name}", ROOT / f"docs/_site/{name}.py")
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def checked(site: Path, pages: dict[str, str]) -> int:
    for name, text in pages.items():
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text(text)
    code = module("links").main(site)
    assert isinstance(code, int)
    return code


def test_links_that_lead_somewhere_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, GOOD) == 0
    assert re.findall(r"\d+ \w+", capsys.readouterr().out) == ["2 pages", "4 links", "0 broken", "1 to"]


@pytest.mark.parametrize("broken", ["gone.html", "sub/page.html#gone", "#gone", "sub"])
def test_a_link_that_leads_nowhere_is_told(broken: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert checked(tmp_path, GOOD | {"other.html": f'<a href="{broken}">x</a>'}) == 1
    assert f"other.html: {broken}\n" in capsys.readouterr().err


def test_every_page_of_docs_is_in_the_navigation_once() -> None:
    conf = module("conf")
    names = [conf.INDEX, *(f"docs/{kind}/index" for kind in conf.KINDS)]
    below = []
    for name in names:
        page = ROOT / f"{name}.md"
        pages = conf.contents(name, page.read_text())
        below += [(page.parent / f"{linked}.md").resolve().relative_to(ROOT).as_posix() for linked in pages]
    assert len(below) == len(set(below))
    written = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")} - {"docs/index.md"}
    assert written <= set(below), "link it from the index of its folder"
    assert {"README.md", "papers/README.md", "CHANGELOG.md", "fixtures/teachers/README.md"} >= set(below) - written


def test_the_lab_book_has_every_page_of_its_own_in_its_contents() -> None:
    pages = module("conf").contents("papers/README", (ROOT / "papers/README.md").read_text())
    assert sorted(pages) == sorted(f"pages/{path.stem}" for path in (ROOT / "papers/pages").glob("*.md"))


def test_old_addresses_lead_to_pages() -> None:
    moved = module("conf").old_addresses()
    assert len(moved) > 70
    for old, new in moved.items():
        assert (ROOT / f"docs/{new}.md").is_file(), old
        assert not (ROOT / f"docs/{old}.md").exists(), old


def test_a_redirect_is_written_at_each_old_address(tmp_path: Path) -> None:
    conf = module("conf")
    conf.write_redirects(SimpleNamespace(outdir=tmp_path), None)
    for old, new in {"gate": "reference/gate", "generated/recipes": "results/recipes"}.items():
        text = (tmp_path / f"docs/{old}.html").read_text()
        target = re.search(r"url=([^\"]+)", text)
        assert target
        assert (tmp_path / f"docs/{old}.html").parent.joinpath(target[1]).resolve() == tmp_path / f"docs/{new}.html"
