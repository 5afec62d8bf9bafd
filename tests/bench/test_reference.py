"""The reference pages are made from the code, and name every command, option, key and public name."""

import re
from pathlib import Path

import click
import pytest
from pydantic import BaseModel, Field

import rlcc
from bench import reference
from decision.artefact.quantity_fields import SizeBytes
from rlcc import cli

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", reference.PAGES)
def test_the_pages_are_as_they_are_made(name: str) -> None:
    assert (FOLDER / name).read_text() == reference.PAGES[name](), "python -m bench.reference writes it anew"


def sections(name: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)$", (FOLDER / name).read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_has_a_section_with_all_its_options() -> None:
    page = sections("cli.md")
    assert list(page) == [f"rlcc {name}" for name in cli.COMMANDS]
    assert len(page) > 18
    for name, command in reference.commands():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert f"`{option.opts[0]}`" in page[f"rlcc {name}"]


def test_a_command_that_is_new_is_missing_from_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli.COMMANDS, "gate2", "A new command.")
    monkeypatch.setattr(reference, "commands", lambda: iter(()))
    assert "rlcc gate2" in reference.command_page()
    assert reference.command_page() != (FOLDER / "cli.md").read_text()


def test_every_file_that_is_read_has_its_keys() -> None:
    """What load_toml reads is on the page."""
    root = FOLDER.parents[1]
    packages = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc")
    sources = "".join(path.read_text() for package in packages for path in (root / package).rglob("*.py"))
    read = set(re.findall(r"load_toml\((\w+),", sources)) - {"_Document"}  # a baseline's file, by its kind
    listed = {model.__name__ for _, models in reference.FILES.values() for model in models}
    assert read <= listed
    assert len(read) > 5


def test_every_public_name_has_a_section() -> None:
    assert list(sections("python.md")) == [f"rlcc.{name}" for name in rlcc.__all__]


class Inner(BaseModel):
    size: SizeBytes = 4096
    """Size, bytes."""


class Outer(BaseModel):
    tables: list[Inner] = []
    names: dict[str, Inner] = {}
    need: int = Field(description="A number.")


def test_keys_are_walked_into_tables_with_units_and_meanings() -> None:
    rows = [row.strip("| ").split(" | ") for row in reference.key_rows(Outer)]
    assert [key for key, *_ in rows] == ["`tables[].size`", "`names.NAME.size`", "`need`"]
    assert [default for _, _, default, _ in rows] == ['`"4096"`'] * 2 + ["-"]
    assert [meaning for *_, meaning in rows] == ["Size, bytes."] * 2 + ["A number."]


def test_exit_codes_on_the_page_are_those_of_the_command_line() -> None:
    codes = re.findall(r"^\| (\d+) \|", (FOLDER / "errors.md").read_text(), re.MULTILINE)
    assert codes == ["0", "1", str(cli.COULD_NOT_RUN), str(cli.INTERRUPTED)]
