"""docs/_site: the navigation is docs/index.md's, and a link of the built site that leads nowhere is told."""

import importlib.util
import re
from pathlib import Path
from types import ModuleType

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


def test_the_navigation_is_the_index_in_its_order() -> None:
    index = (ROOT / "docs/index.md").read_text()
    navigation = module("conf").navigation(index)
    captions = re.findall(r":caption: (.*)", navigation)
    assert captions == [heading for heading in re.findall(r"^## (.*)", index, re.MULTILINE) if heading != "Systems"]
    pages = re.findall(r"^(?!:|```)(\S+)$", navigation, re.MULTILINE)
    assert len(pages) == len(set(pages))
    wanted = index[index.index("## Begin") :]
    found = dict.fromkeys(re.findall(r"\]\(([^)#]+)\.md", wanted))
    assert pages == [page for page in found if not page.startswith("../papers/pages/")]
    assert "../papers/README" in pages


def test_the_lab_book_has_every_page_of_its_own_in_its_contents() -> None:
    contents = module("conf").chapters((ROOT / "papers/README.md").read_text()).split("\n")
    pages = [line for line in contents if line.startswith("pages/")]
    assert sorted(pages) == sorted(f"pages/{path.stem}" for path in (ROOT / "papers/pages").glob("*.md"))
