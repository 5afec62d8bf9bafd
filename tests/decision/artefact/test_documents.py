"""Documents that are not what rlcc writes: one sentence, whatever they hold."""

import json
import os
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field
from wording import Wording

from decision.artefact import documents
from decision.artefact.documents import Format1, dump_json, load_json, load_toml
from decision.artefact.errors import LONGEST, InputError


class Model(BaseModel):
    x: float = 0.0


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1e999", "number .*JSON"),
        ("NaN", "number .*JSON"),
        ("-Infinity", "number .*JSON"),
        ('{"a": 1, "a": 2}', "key .*twice"),
        ("9" * 5000, "is not valid JSON"),
        ("[" * 70 + "]" * 70, "nested deeper than 64"),
        ('{"a":' * 900 + "1" + "}" * 900, "nested deeper than 64"),
        ("[" * 100_000, "is not valid JSON"),
        ('"\x01"', "is not valid JSON"),
        (r'{"a": "\ud800"}', "is not valid JSON"),
        (str(2**64), "more than 64 bits"),
        (str(-(2**63) - 1), "more than 64 bits"),
        ("9" * 100_000, "more than 64 bits"),
        ("", "is not valid JSON"),
    ],
)
def test_json_that_rlcc_never_writes(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=says) as caught:
        load_json(tmp_path / "a.json")
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 2100


def test_what_rlcc_writes_is_read_back(tmp_path: Path) -> None:
    content = {"a": [1, 2.5, -(2**63)], "b": {"c": [[1], [{"d": None}]]}}
    (tmp_path / "a.json").write_text(dump_json(content))
    assert load_json(tmp_path / "a.json") == content


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 5000,
        "x = " + "[" * 80 + "]" * 80,
        "x = 1\nx = 2",
        "x = nan nan",
        "\0",
        f"x = {2**64}",
        f"x = [[{{y = {-(2**63) - 1}}}]]",
    ],
)
def test_toml_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(InputError, match=r"TOML|nested deeper"):
        load_toml(Model, tmp_path / "a.toml")


def test_a_file_is_read_up_to_its_limit_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 8)
    (tmp_path / "a").write_bytes(b"8 bytes!")
    assert documents.read_bytes(tmp_path / "a") == b"8 bytes!"
    (tmp_path / "a").write_bytes(b"9 bytes!!")
    with pytest.raises(InputError, match="is over"):
        documents.read_bytes(tmp_path / "a")


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "missing", "no name"])
def test_what_is_no_plain_file_is_not_opened(kind: str, tmp_path: Path) -> None:
    path = {"device": Path("/dev/zero"), "no name": Path("a\0b"), "folder": tmp_path}.get(kind, tmp_path / "a")
    if kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(InputError, match="no file"):
        documents.read_bytes(path)


def test_a_message_is_one_line_of_printable_characters(tmp_path: Path) -> None:
    """A name from a file must not write commands into the log of a CI job."""
    key = "a\n::error::forged\x1b[2J"
    (tmp_path / "a.toml").write_text(f"{json.dumps(key)} = 1\nx = 'text'\n")
    with pytest.raises(InputError) as caught:
        load_toml(Model, tmp_path / "a.toml")
    assert str(caught.value).isprintable()
    assert str(InputError(key)) == "a ::error::forged [2J"


def test_a_long_message_keeps_its_beginning_and_its_end() -> None:
    shown = str(InputError(f"a.json: {'9' * 10**6} is too much"))
    assert len(shown) == LONGEST
    assert shown.startswith("a.json: 99")
    assert shown.endswith("99 is too much")
    assert len(str(InputError("9" * LONGEST))) == LONGEST


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")
    rounds: int = 1
    share: float = 0.5
    on: bool = False
    ends: tuple[int, int] = (0, 1)


class First(Inner):
    kind: Literal["first"]


class Second(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["second"]
    depth: int = 1


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")
    format: Format1
    inner: Inner = Inner()
    named: dict[str, Inner] = {}
    either: list[Annotated[First | Second, Field(discriminator="kind")]] = []


@pytest.mark.parametrize(
    "text",
    [
        "format = true",
        "format = 1.0",
        "inner.rounds = true",
        "inner.rounds = 3.0",
        'inner.rounds = "3"',
        "inner.share = true",
        'inner.share = "0.5"',
        'inner.on = "no"',
        "inner.on = 1",
        "inner.ends = [0, 1.5]",
        "inner = 3",
        "inner.rounds = 1979-05-27",
        "iner.rounds = 3",
        "inner.round = 3",
        "inner.x = 3",
        "named.a.shares = 3",
        '[[either]]\nkind = "second"\ndept = 3',
        '[[either]]\nkind = "secnd"',
    ],
)
def test_types_are_strict_and_near_names_are_suggested(tmp_path: Path, text: str, wording: Wording) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text if text.startswith("format") else f"format = 1\n{text}")
    with pytest.raises(InputError) as caught:
        load_toml(Outer, path)
    wording(caught.value)


def test_what_is_of_its_type_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("format = 1\ninner = {rounds = 2, share = 1, on = true, ends = [3, 4]}")
    assert load_toml(Outer, path).inner == Inner(rounds=2, share=1.0, on=True, ends=(3, 4))
