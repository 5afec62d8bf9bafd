"""README: a row each numbered table and figure, with its page, a figure that stands there and the command that made it;
the generated pages say what made them; links lead somewhere."""

import re
import tomllib
from pathlib import Path

import pytest
from page_links import LINK, broken, cells_of, commands_of, is_there, lines_with, section

PROJECT = Path(__file__).resolve().parents[1]
README = PROJECT / "README.md"
PAGES = sorted((PROJECT / "pages").glob("*.md"))
PAPERS = {  # the numbers of the figures, and of the tables, in the text of each
    "PCC-RL": (range(1, 10), range(1, 9)),
    "RL-CC": (range(1, 13), range(1, 3)),
    "ACC": (range(1, 18), range(1, 2)),
    "AuTO": (range(7, 19), range(0)),
    "HAECN": (range(1, 8), range(1, 2)),
}
STATES = ("shown", "in part", "not shown")
RECORDED = ("pages/acc-central.md",)
"""Pages whose program was removed with what it ran: the commit that a page names has both."""
AT_COMMIT = "the page says at which commit"
"""The command of their rows."""
TRAINED = " --train"
"""Options of a command that its page does not name: trainings come first."""


def rows_of(paper: str) -> list[list[str]]:
    """Cells of a paper's rows: number, what it shows, state, where here, command, the rest."""
    return cells_of(section(README, paper.lower()), "(figure|table) [0-9]+")


def command_on_its_page(where: str, command: str) -> bool:
    """Whether the command is the last of those by which a page of ``where`` was made; none where no page is."""
    pages = re.findall(r"\]\((pages/[\w-]+\.md)#", where)
    if set(pages) & set(RECORDED):
        return command == AT_COMMIT
    commands = {commands_of(PROJECT / page)[-1] for page in pages}
    return command.strip("`").removesuffix(TRAINED) in commands if pages else command == ""


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_and_table_of_a_paper_has_a_row_that_says_where_or_why_not(paper: str) -> None:
    rows = rows_of(paper)
    figures, tables = PAPERS[paper]
    assert [row[0] for row in rows] == [*(f"figure {n}" for n in figures), *(f"table {n}" for n in tables)]
    for number, shows, state, where, _, rest in rows:
        assert shows, number
        assert state in STATES, number
        assert bool(where) == (state != "not shown"), number
        assert rest or state == "shown", number
        for target in re.findall(r"\]\(([^)]+)\)", where + rest):
            assert "#" in target or not target.endswith(".md"), f"{number}: {target} leads to no section"
        for text, page, heading in LINK.findall(where):
            there = lines_with(text, PROJECT / page, heading) if ": " in text else True
            assert there, f"{number}: {page}#{heading} has not: {text}"


@pytest.mark.parametrize("paper", PAPERS)
def test_a_row_with_a_page_of_the_lab_book_has_the_command_that_made_it(paper: str) -> None:
    for number, _, _, where, command, _ in rows_of(paper):
        assert command_on_its_page(where, command), number


def test_a_command_of_another_page_is_seen() -> None:
    where = "[x](pages/scale.md#heading)"
    assert command_on_its_page(where, "`python -m papers.scale`")
    assert not command_on_its_page(where, "`python -m papers.robust`")
    assert not command_on_its_page(where, "")
    assert not command_on_its_page("[x](../docs/explanation/netsim.md#heading)", "`python -m papers.scale`")
    assert command_on_its_page("[x](pages/acc-central.md#heading)", AT_COMMIT)
    assert not command_on_its_page("[x](pages/acc-central.md#heading)", "`python -m papers.acc`")


def test_the_counts_of_the_papers_figures_and_tables_are_those_of_the_rows() -> None:
    counts = {}
    for paper in PAPERS:
        rows = rows_of(paper)
        counts[paper] = [*(sum(row[2] == state for row in rows) for state in STATES), len(rows)]
    counts["together"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    head = cells_of(README.read_text().partition("\n## ")[0].split("\n"), "|".join(counts))
    assert {row[0]: [int(cell) for cell in row[1:]] for row in head} == counts


@pytest.mark.parametrize("page", [README, *PAGES], ids=lambda page: page.name)
def test_links_lead_to_pages_and_headings_that_are_there(page: Path) -> None:
    assert not broken(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_says_what_made_it_of_which_source_and_where(page: Path) -> None:
    for command in commands_of(page):
        assert f"pages/{page.name}" in RECORDED or is_there(command, PROJECT / "Makefile"), command


def test_readme_leads_to_every_page_and_every_picture_is_on_one() -> None:
    text = README.read_text()
    assert not [page.name for page in PAGES if f"(pages/{page.name}" not in text]
    shown = {name for page in PAGES for name in re.findall(r"\]\(figures/([\w-]+\.\w+)\)", page.read_text())}
    assert {path.name for path in (PROJECT / "pages/figures").iterdir()} == shown


def test_make_pages_writes_every_page() -> None:
    """Each command of the package is in a list of the Makefile."""
    makefile = (PROJECT / "Makefile").read_text().replace("\\\n", " ")
    lists = dict(re.findall(r"^(TRAINING|PLAIN|OF_RECIPES) := (.*)", makefile, re.MULTILINE))
    commands = {
        path.parent.name if path.name == "__main__.py" else path.stem
        for path in (PROJECT / "papers").rglob("*.py")
        if "sys.exit(main())" in path.read_text()
    }
    assert {"papers", *" ".join(lists.values()).split()} == commands
    assert all("--train" in (PROJECT / f"papers/{name}.py").read_text() for name in lists["TRAINING"].split())


def test_the_project_needs_rlcc_and_no_other_package() -> None:
    """All other imports are packages of rlcc's extras."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert project["dependencies"] == ["rlcc[all]"]
    imported = {
        name
        for path in (PROJECT / "papers").rglob("*.py")
        for name in re.findall(r"^\s*(?:from|import) (\w+)", path.read_text(), re.MULTILINE)
    }
    assert not imported & {"bench", "tests"}
