"""Each command has a page that names its options, its exit codes and only pages that are there."""

import importlib
import re
from pathlib import Path

import click
import pytest

from rlcc import cli

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ["run", "rollout", "distill", "evaluate", "gate", "doctor", "cycles"]


@pytest.mark.parametrize("name", PAGES)
def test_the_page_names_every_option_and_no_other(name: str) -> None:
    text = (DOCS / f"{name}.md").read_text()
    command = importlib.import_module(f"rlcc.commands.{name}").command
    known = {option for p in command.params if isinstance(p, click.Option) for option in p.opts}
    tabled = {
        option
        for row in re.findall(r"^\| (`--[^|]*) \|", text, re.MULTILINE)
        for option in re.findall(r"--[a-z-]+", row)
    }
    assert tabled == known
    assert text.startswith(f"# `rlcc {name}`: ")
    assert re.search(r"[Ee]xit code", text)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_that_are_there(name: str) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", (DOCS / f"{name}.md").read_text()):
        # emulate, emit, train and netsim have pages of their own, written with their packages
        assert (DOCS / target).exists() or Path(target).stem in cli.COMMANDS, target
