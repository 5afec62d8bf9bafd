"""Helpers of tests of pages, rlcc's and the lab book's: headings, sections, links, and the line of a generated page."""

import importlib.util
import re
from pathlib import Path

from rlcc import cli

LINK = re.compile(r"\[([^]]+)\]\(([^)#]+)#([^)]+)\)")
MADE = re.compile(
    r"# .*\n+Made by `([^`]+)` at (?:commit [0-9a-f]{7,}(?: with changes)?|version \S+) on \S.*\. Do not edit it\."
)


def anchor(heading: str) -> str:
    """The anchor of a heading: lower case, hyphens for spaces, no punctuation."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def broken(page: Path) -> list[str]:
    """Links of a page, as they stand there, that lead to no file or no heading."""
    lost = []
    for link in re.findall(r"\]\(([^) ]+)\)", page.read_text()):
        if "://" in link:
            continue
        target, _, heading = link.partition("#")
        there = page.parent / target if target else page
        if not there.exists():
            lost.append(link)
        elif heading:
            headings = re.findall(r"^#+ (.*)$", there.read_text(), re.MULTILINE)
            lost += [] if heading in {anchor(h) for h in headings} else [link]
    return lost


def section(page: Path, heading: str) -> list[str]:
    """Lines of a page below the heading that an anchor leads to, as far as the next one."""
    parts = re.split(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return next(text for name, text in zip(parts[1::2], parts[2::2], strict=True) if anchor(name) == heading).split(
        "\n"
    )


def numbers(text: str) -> list[str]:
    return re.findall(r"[-+]?[0-9][0-9.,]*[0-9]|[0-9]", text)


def lines_with(text: str, page: Path, heading: str) -> list[str]:
    """Lines of a section that have every figure which a link's text has behind its last colon."""
    return [line for line in section(page, heading) if set(numbers(text.split(": ")[-1])) <= {*numbers(line)}]


def cells_of(lines: list[str], first: str) -> list[list[str]]:
    """The cells of a table's rows whose first cell matches."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line.startswith("|")]
    return [row for row in rows if re.fullmatch(first, row[0])]


def commands_of(page: Path) -> list[str]:
    """The commands that a generated page says it was made by. AssertionError where it says none, as it should."""
    made = MADE.match(page.read_text())
    assert made, "take the line below the title from rlcc.origin.made_by"
    return made[1].split(" && ")


def is_there(command: str, makefile: Path) -> bool:
    """Whether a command of a generated page names a module, a command of rlcc or a target that there is."""
    program, what = re.sub("^python -m", "python", command).split()[:2]
    if program == "python":
        return importlib.util.find_spec(what) is not None
    if program == "rlcc":
        return what in cli.COMMANDS
    return program == "make" and bool(re.search(rf"^{what}:", makefile.read_text(), re.MULTILINE))
