"""The tables of options in the docs are those of the models and of the commands."""

import re
from pathlib import Path

import click
import pytest
from pydantic import BaseModel, Field

from bench.option_records import duration_text
from bench.option_tables import RECIPE_TABLES, TRAIN_TABLES, key_rows, option_rows, page, pages, records
from decision.artefact.quantity import parse_duration_ps
from rlcc.commands.model_options import FILE

ALL_TABLES = RECIPE_TABLES | TRAIN_TABLES


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_the_pages_are_as_they_are_made(path: Path) -> None:
    text = path.read_text()
    assert page(text, path.stem) == text, "python -m bench.option_tables writes it anew"


@pytest.mark.parametrize("path", pages(), ids=lambda path: path.name)
def test_a_row_that_was_changed_by_hand_is_found(path: Path) -> None:
    text = path.read_text()
    begins = "Maximum|Seed|Number|Learning|Column"
    changed = re.sub(rf"^(\| `[^|]*\|[^|]*\| (?:{begins}) ?)", r"\1other ", text, flags=re.MULTILINE)
    assert changed != text
    assert page(changed, path.stem) == text


def test_the_records_of_the_command_line_are_as_they_are_made() -> None:
    assert FILE.read_text() == records(), "python -m bench.option_tables writes it anew"


@pytest.mark.parametrize("prefix", list(ALL_TABLES))
def test_every_key_says_what_it_means(prefix: str) -> None:
    for row in key_rows(prefix, ALL_TABLES[prefix]):
        key, _, meaning = row.strip("| ").split(" | ", 2)
        assert key.startswith(f"`{prefix}.")
        assert meaning.endswith(".")
        assert "None" not in meaning


class Inner(BaseModel):
    deep: int = Field(default=3, description="Depth.")


class Outer(BaseModel):
    table: Inner | None = None
    names: list[str] = Field(default=[], description="Names.")
    need: str = Field(description="Needed.")


def test_rows_have_key_default_and_meaning_and_those_of_inner_tables() -> None:
    assert list(key_rows("t", Outer)) == [
        "| `t.table.deep` | `3` | Depth. |",
        "| `t.names` | `[]` | Names. |",
        "| `t.need` | - | Needed. |",
    ]


def test_option_rows_leave_hidden_options_out() -> None:
    options = [
        click.Option(["--seed"], type=click.IntRange(0, 9), default=1, show_default=True, help="Seed."),
        click.Option(["--old"], hidden=True),
        click.Option(["--out"], help="Folder. [default: runs]"),
    ]
    assert list(option_rows(click.Command("x", params=list(options)))) == [
        "| `--seed` | 1 | Seed. 0 to 9. |",
        "| `--out` | runs | Folder. |",
    ]


@pytest.mark.parametrize("text", ["200 ms", "1 s", "900 ns", "1500 us", "7 ps", "0 s"])
def test_a_duration_is_written_in_its_largest_unit(text: str) -> None:
    assert duration_text(parse_duration_ps(text)) == text
