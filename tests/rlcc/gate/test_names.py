"""Names of checks: each has one place, every kind of property a title, and the documentation knows them all."""

import ast
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from rlcc.gate.names import NAMES, TITLES, named
from rlcc.gate.verdict import Group, Verdict
from verify.trusted.properties import Property

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/reference/gate.md").read_text()


def table(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of docs/reference/gate.md."""
    rows = PAGE.partition(f"\n## {heading}\n")[2].partition("\n|")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:] if row]


def test_no_check_is_named_elsewhere() -> None:
    """A rewording touches one file: nothing else builds a check."""
    callers = [
        path.relative_to(ROOT).as_posix()
        for folder in ("rlcc", "bench")
        for path in (ROOT / folder).rglob("*.py")
        if re.search(r"\bCheck\b", path.read_text())
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and "Check" in [getattr(part, "id", "") for part in (node.func, *node.args)]
    ]
    assert callers == ["rlcc/gate/names.py"]


def test_ids_begin_with_their_group() -> None:
    groups = {group.replace(" ", "_") for group in get_args(Group)}
    assert {key.partition(".")[0] for key in NAMES} <= {*groups, "*"}
    check = named("*.all", part="object_code", group="object code")(value="", limit="", passed=True)
    assert (check.id, check.group) == ("object_code.all", "object code")
    check = named("network.*", part="loss", of="a:1", metric="loss")(value="", limit="", passed=True)
    assert (check.id, check.group) == ("network.loss[a:1]", "network")
    with pytest.raises(ValidationError):
        named("*.all", part="weather", group="weather")(value="", limit="", passed=True)


def test_names_differ_and_each_kind_of_property_has_a_title() -> None:
    assert len(set(NAMES.values())) == len(NAMES)
    kinds = {one.model_fields["kind"].default for one in get_args(get_args(Property)[0])}
    assert set(TITLES) == {*kinds, "none"}


def test_a_verdict_has_each_id_once() -> None:
    texts = dict.fromkeys(("policy", "profile", "firmware", "student", "teacher"), "p")
    one, other = (named("size.code")(value=value, limit="", passed=True) for value in ("1", "2"))
    with pytest.raises(ValidationError, match=re.escape("size.code")):
        Verdict(checks=[one, other], measured={}, **texts)


def test_the_documentation_has_every_check_by_its_id_and_name() -> None:
    assert {row[0].strip("`"): row[1] for row in table("The checks")} == NAMES


def test_the_documentation_maps_the_names_of_format_1() -> None:
    """The old names are history and stand there alone; each leads to an id that is."""
    rows = table("Names in format 1")
    later = {"network.required.*", "network.no_required", "network.measured.*"}
    later |= {"network.device.goodput", "network.device.latency"}
    later |= {"equality.logic", "equality.logic_vectors", "equality.logic_wrapper"}
    later |= {"proof.rv64", "proof.adapter"}
    assert {row[1].strip("`") for row in rows} == set(NAMES) - later
    assert len({row[0] for row in rows}) == len(rows)
