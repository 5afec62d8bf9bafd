"""Edits: every field in every way that its type allows, one change each, the same for the same seed."""

import json
import math
import random
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.forge.documents import DOCUMENTS, chosen, forgeries
from bench.forge.edits import Raw, Twice, edits
from bench.forge.places import dropped, field_of, places, replaced
from bench.forge.subjects import ForgerySubject
from bench.forge.texts import damaged, dumped
from bench.forge.truth import differing


def leaves(document: Any) -> dict[tuple[str | int, ...], Any]:
    return {place.path: place.value for place in places(document) if place.leaf}


def test_every_leaf_of_a_certificate_is_edited(certificate: dict[str, Any]) -> None:
    edited = {edit.path for edit in edits(certificate, random.Random(1), most=100)}
    assert set(leaves(certificate)) <= edited


def test_with_one_place_a_field_every_field_is_edited(certificate: dict[str, Any]) -> None:
    edited = {field_of(edit.path) for edit in edits(certificate, random.Random(1), most=1)}
    assert {field_of(path) for path in leaves(certificate)} <= edited


def test_an_edit_changes_what_it_names_and_nothing_else(certificate: dict[str, Any]) -> None:
    before = json.dumps(certificate)
    for edit in edits(certificate, random.Random(1), most=1):
        changed, holder = differing(certificate, edit.content), field_of(edit.path[:-1])
        assert changed or edit.name == "keys reversed"
        assert all(name.startswith((field_of(edit.path), holder)) for name in changed)
        assert edit.path == () or edit.name == "drop" or all(name.startswith(field_of(edit.path)) for name in changed)
    assert json.dumps(certificate) == before


EXPECTED = {
    7: {"+1": 8, "-1": 6, "x2": 14, "0": 0, "minus one": -1, "2^31": 2**31, "2^63": 2**63, "2^64": 2**64},
    0.5: {"+1": 1.5, "x2": 1.0, "as integer": 0, "ulp up": math.nextafter(0.5, 1)},
    True: {"flip": False, "as number": 1},
    "ab": {"empty": "", "path up": "../ab", "upper case": "AB"},
}


@pytest.mark.parametrize("value", EXPECTED)
def test_values_by_type(value: Any) -> None:
    made = {edit.name: edit.content["key"] for edit in edits({"key": value}, random.Random(1)) if edit.path == ("key",)
            and edit.name != "drop"}  # fmt: skip
    for name, other in EXPECTED[value].items():
        assert made[name] == other
        assert type(made[name]) is type(other)
    assert {name for name, other in made.items() if isinstance(other, Twice)} == {"twice", "twice, true last"}
    if isinstance(value, float):
        assert made["NaN"] == Raw("NaN")


def test_lists_and_tables() -> None:
    made = {(edit.path, edit.name): edit.content for edit in edits({"a": [1, 2], "b": {"c": 3}}, random.Random(1))}
    assert made[("a",), "first two swapped"]["a"] == [2, 1]
    assert made[("a",), "last doubled"]["a"] == [1, 2, 2]
    assert made[("a", 1), "drop"]["a"] == [1]
    assert made[("b", "c"), "drop"]["b"] == {}
    assert "zz_unknown" in made[("b",), "unknown key"]["b"]


def test_places_can_be_replaced_and_dropped() -> None:
    data = {"a": [{"b": 1}, 2]}
    assert replaced(data, ("a", 0, "b"), 5) == {"a": [{"b": 5}, 2]}
    assert dropped(data, ("a", 0)) == {"a": [2]}
    assert data == {"a": [{"b": 1}, 2]}
    assert field_of(("a", 0, "b")) == "a[].b"


JSON = st.recursive(
    st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('aé"\\ .'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab." ', min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("ab.", min_size=1), JSON, max_size=3))
def test_text_is_read_back_as_it_was(data: dict[str, Any]) -> None:
    assert json.loads(dumped(data)) == data
    assert tomllib.loads(dumped(data, toml=True).decode()) == data


def test_raw_parts_stand_as_they_are() -> None:
    assert math.isnan(json.loads(dumped({"a": [Raw("NaN")]}))["a"][0])
    assert json.loads(dumped({"a": Raw("9" * 40)}))["a"] == int("9" * 40)
    pairs = json.loads(dumped({"k": {"a": Twice(1, 2), "b": 3}}), object_pairs_hook=lambda found: found)
    assert pairs == [("k", [("a", 1), ("a", 2), ("b", 3)])]
    assert b"nan" in dumped({"a": Raw("NaN")}, toml=True)


def test_damage_is_damage() -> None:
    texts = dict(damaged(b'{"a": 1}'))
    assert len(texts["deep"]) == 10**5
    assert b"9" * 10**4 in texts["long number in a key"]
    for name in ("cut in half", "cut at the end", "not UTF-8", "deep", "zero byte", "text behind"):
        with pytest.raises((ValueError, RecursionError)):
            json.loads(texts[name])


def told(subject: ForgerySubject, seed: int) -> list[tuple[Any, ...]]:
    found = list(forgeries(subject, "certificate", random.Random(seed), 2))
    return [(f.path, f.edit, f.sealed) for f in chosen(found, 150, random.Random(seed))]


def test_the_same_seed_draws_the_same(subject: ForgerySubject) -> None:
    assert told(subject, 1) == told(subject, 1)
    assert told(subject, 1) != told(subject, 2)


def test_a_limit_leaves_every_field_one_forgery(subject: ForgerySubject, certificate: dict[str, Any]) -> None:
    fields = {field_of(path) for path, _, _ in told(subject, 1) if path}
    assert {field_of(path) for path in leaves(certificate)} <= fields


def test_every_document_of_the_issue_is_forged() -> None:
    issue = {"certificate", "manifest", "program", "student", "layout", "attestation", "verdict", "recipe"}
    assert issue <= set(DOCUMENTS)
