"""Each command has a page that names its options, its exit codes and only pages that are there."""

import importlib
import re
from pathlib import Path

import click
import pytest
from page_links import LINK, broken, cells_of, commands_of, is_there, lines_with, numbers, section

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EVERY_PAGE = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
PACKAGES = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc", "bench", "papers")
ENDS = ("py", "cpp", "hpp", "toml")
SOURCES = [path for package in PACKAGES for end in ENDS for path in (ROOT / package).rglob(f"*.{end}")]
PAGES = ["run", "rollout", "import", "distill", "evaluate", "gate", "doctor", "cycles", "diff"]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_names_every_option_and_no_other(name: str) -> None:
    text = (DOCS / f"reference/{name}.md").read_text()
    command = importlib.import_module(f"rlcc.commands.{name}").command
    known = {option for p in command.params if isinstance(p, click.Option) and not p.hidden for option in p.opts}
    tabled = {
        option
        for row in re.findall(r"^\| (`--[^|]*) \|", text, re.MULTILINE)
        for option in re.findall(r"--[a-z-]+", row)
    }
    assert tabled == known
    assert text.startswith(f"# `rlcc {name}`: ")
    assert re.search(r"[Ee]xit code", text)


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_pages_and_headings_that_are_there(page: Path) -> None:
    assert not broken(page)


GENERATED = [
    page
    for page in sorted(DOCS.glob("results/*.md"))
    if page.stem not in ("index", "measured", "training-methods", "training-tried")
]


@pytest.mark.parametrize("page", GENERATED, ids=lambda page: page.name)
def test_a_generated_page_says_what_made_it_of_which_source_and_where(page: Path) -> None:
    for command in commands_of(page):
        assert is_there(command, ROOT / "Makefile"), command


def test_the_index_is_one_screen_and_leads_to_every_kind_of_page() -> None:
    index = (DOCS / "index.md").read_text()
    assert index.count("\n") <= 30
    for folder in {page.parent for page in DOCS.glob("*/index.md")}:
        assert f"({folder.name}/index.md)" in index


def test_the_times_of_the_index_are_those_of_the_recipes() -> None:
    rows = cells_of((DOCS / "index.md").read_text().splitlines(), r"\[.*recipes/.*")
    assert len(rows) == 8
    recipes = {row[0].split("]")[0][1:]: row for row in cells_of(section(DOCS / "results/recipes.md", "recipes"), ".*")}
    for policy, _, time, limit, proved in rows:
        name = policy.rpartition("/")[2].removesuffix(".toml)")
        recipe = recipes[name]
        assert recipe[1] == "PASS", name
        assert (f"{recipe[8]} us", f"{recipe[12]} us") == (time, limit), name
        assert (recipe[7] == "yes") == (proved == "yes"), name


SYSTEMS = [line for line in section(DOCS / "results/index.md", "systems") if line.startswith("|")][2:]


@pytest.mark.parametrize("row", SYSTEMS, ids=lambda row: row.split("|")[1].strip())
def test_figures_of_the_table_of_systems_stand_where_they_lead(row: str) -> None:
    """What a link says behind its colon stands on one line of the section; cycles on the line of the row's recipe."""
    _, _, recipe, student, cycles, beside, _, _ = row.split("|")
    name = re.search(r"\[([\w-]+)\]\(\.\./\.\./recipes/\1\.toml\)", recipe)
    figures = LINK.findall(cycles + beside)
    assert name
    assert figures
    for text, page, heading in figures:
        there = lines_with(text, DOCS / "results" / page, heading)
        assert there, f"{page}#{heading} says another thing than {text}"
        if page == "recipes.md":
            row_there = next(line for line in there if f"[{name[1]}]" in line)
            cells = [cell.strip() for cell in row_there.split("|")]
            assert cycles.strip().endswith(cells[2])
            assert cells[7] == numbers(text)[0]
            assert cells[8] == ("yes" if "proved" in text else "bounded" if "bounded" in text else "no")
            assert numbers(student) == cells[4:6]


def lost_cells(standing: str, train: str) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Returns the lost cells of the suite, and those that docs/results/training-tried.md explains, with baselines."""
    found = set(re.findall(r"^- (.+), to (\w+) \(", standing, re.MULTILINE))
    section = train.partition("## Lost cells\n")[2].partition("\n#")[0]
    told = re.findall(r"^\| `([^`]+)` \| ([a-z, ]+) \| [^|]+ \| [^|]+ \|$", section, re.MULTILINE)
    return found, {(cell, baseline) for cell, baselines in told for baseline in baselines.split(", ")}


def test_each_cell_that_the_flagship_loses_has_a_reason_and_what_was_tried() -> None:
    standing = (DOCS / "results/standing.md").read_text()
    found, told = lost_cells(standing, (DOCS / "results/training-tried.md").read_text())
    assert len(found) > 10
    assert told == found


def test_a_lost_cell_that_nobody_told_of_is_seen() -> None:
    row = "| `incast:8` | hpcc | a reason | a try |"
    found, told = lost_cells("- incast:8, to swift (p99): 1", f"## Lost cells\n{row}\n\n### Next\n")
    assert found == {("incast:8", "swift")}
    assert told == {("incast:8", "hpcc")}


STRANGE = {"all-to-all:8", "long-short:513", "long-short:2048", "incast:512"}
"""Traffic of the suite that the flagship was never trained on, besides datamining."""


def kind_of(cell: str) -> str:
    """Of a cell of the suite, what of it the flagship had never met."""
    if "@" in cell:
        return "fabrics"
    if "Gb/s" in cell:
        return "line rates"
    return "traffic" if cell in STRANGE or cell.startswith("datamining") else "kinds that it was trained on"


def test_what_the_flagship_was_never_trained_on_is_counted_as_the_suite_has_it() -> None:
    table = (DOCS / "results/standing.md").read_text().partition("### All cells\n")[2].partition("\n#")[0]
    words = {"win": 0, "level": 1, "mixed": 2, "loss": 3}
    counts: dict[str, list[int]] = {}
    for line in table.splitlines():
        cell, *answers = (part.strip() for part in line.strip("|").split("|"))
        verdicts = [answer.strip("*").partition(":")[0] for answer in answers]
        if not verdicts or not words.keys() >= set(verdicts):
            continue  # a title
        row = counts.setdefault(kind_of(cell), [0] * 5)
        row[0] += 1
        for verdict in verdicts:
            row[1 + words[verdict]] += 1
    never = [row for kind, row in counts.items() if not kind.endswith("was trained on")]
    counts["never trained on, together"] = [sum(column) for column in zip(*never, strict=True)]
    told = cells_of(section(DOCS / "results/training-tried.md", "what-it-was-never-trained-on"), "|".join(counts))
    assert {row[0]: [int(cell) for cell in row[1:]] for row in told} == counts
    assert sum(row[0] for kind, row in counts.items() if "together" not in kind) == 46


def test_the_run_that_shows_properties_found_what_the_page_of_all_policies_has() -> None:
    """A run prints in two columns, lines broken: compared are its numbers."""
    shown = (DOCS / "reference/properties.md").read_text().split("behaviour ", 1)[1].split("```", 1)[0]
    section = (DOCS / "results" / "properties.md").read_text().split("## rl-cc-mlp", 1)[1].split("## ", 1)[0]
    findings = [line.split(" | ", 2)[2] for line in section.splitlines() if line.startswith(("| f", "| h"))]
    assert len(findings) == 10
    for number in set(re.findall(r"[0-9][0-9.]*[0-9]", " ".join(findings))):
        assert re.search(rf"\b{re.escape(number)}\b", shown), number


README = ROOT / "README.md"
VERDICT = (
    "test vectors: C",
    "WCET over",
    "many-to-one:8, goodput",
    "many-to-one:8, mean latency",
    "many-to-one:8192, mean latency",
)
"""Rows of the verdict of recipes/rl-cc.toml, in the order of README's table."""


def printed_row(name: str) -> str:
    """Returns the line of the verdict in docs/results/recipes.md that has this check's figure and limit."""
    lines = section(DOCS / "results/recipes.md", "the-verdict-of-recipesrl-cctoml")
    return next(line for line in lines if name in line)


def test_readme_is_one_page_and_its_verdict_is_one_that_was_reached() -> None:
    assert README.read_text().count("\n") <= 90
    shown = [row for row in cells_of(section(README, "the-verdict"), ".*") if numbers(row[1])]
    for name, (check, figure, limit) in zip(VERDICT, shown, strict=True):
        assert {*numbers(figure), *numbers(limit)} <= {*numbers(printed_row(name))}, check
    assert "56.30" in printed_row(VERDICT[-1])


def test_the_readme_counts_checks_and_measurements_as_the_pages_do() -> None:
    readme = README.read_text()
    checks = {
        row[0].split("]")[0].strip("["): row[2]
        for row in cells_of(section(DOCS / "results/recipes.md", "recipes"), ".*")
    }
    counts = [checks[name].split()[0] for name in ("demo", "rl-cc")]
    assert re.findall(r"(\d+) checks", readme) == counts
    passed, failed = re.findall(r"Figures: (\d+) PASS, (\d+) FAIL", (DOCS / "results/loops.md").read_text())[0]
    assert f"simulated {int(passed) + int(failed)} measurements" in readme
    assert f"{passed} of them agree" in readme


def book_column(heading: str, metric: str, column: int) -> dict[str, float]:
    """Returns algorithm -> its own mean in one column of a table of the lab book."""
    rows: dict[str, float] = {}
    table = ""
    for line in section(ROOT / "papers/pages/tables.md", heading):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            table = ""
        elif not table:
            table = cells[0]
        elif table == metric and not cells[0].startswith("-"):
            rows[cells[0].split(" / ")[0]] = float(cells[column].split()[0].replace(",", ""))
    return rows


def test_results_in_the_readme_are_those_of_the_lab_book() -> None:
    long, short = re.findall(r"^\*\*.*?(?=\n\n)", README.read_text(), re.MULTILINE | re.DOTALL)
    queue = book_column("pcc-rl-table-1-many-to-one", "queue latency us", 2)
    waits = [round(queue[name]) for name in ("RL-CC tree", "Swift", "DCQCN", "DCQCN, PFC")]
    assert [int(figure.replace(",", "")) for figure in re.findall(r"waits ([\d,]+) us", long)] == waits
    goodput = book_column("pcc-rl-table-1-many-to-one", "goodput", 2)
    arrives = [round(100 * goodput[name]) for name in ("RL-CC tree", "Swift", "DCQCN")]
    assert [int(figure) for figure in re.findall(r"(\d+)%", long)] == arrives
    drops = book_column("pcc-rl-table-1-many-to-one", "drops Gb/s", 2)
    assert drops["DCQCN"] > drops["DCQCN, PFC"] == drops["RL-CC tree"] == 0
    goodput = book_column("pcc-rl-table-8-long-short", "goodput", 4)
    delivered = [f"{100 * goodput[name]:.0f}" for name in ("RL-CC tree", "DCQCN", "Swift", "robust-in-flight")]
    assert re.findall(r"(\d+)%", short) == delivered


def test_a_source_that_is_named_by_a_key_stands_in_the_bibliography() -> None:
    keys = set(re.findall(r"^\| \[([A-Z0-9]+)\] \|", (DOCS / "reference/bibliography.md").read_text(), re.MULTILINE))
    cited = re.compile(r"\[([A-Z][A-Z0-9]{2,})\] (?:sections?|eq\.|[Tt]able|[Ff]igure|algorithm) ")
    used = {key for path in SOURCES for key in cited.findall(path.read_text())}
    assert {"RLCC", "PCCRL", "ACC", "SWIFT"} <= used <= keys
