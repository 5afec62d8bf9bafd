"""The fields that a policy, a student and a quantised network have in common are declared once, in ``Header``."""

import ast
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.ir.forest import oblivious
from decision.policy.header_fields import Headed
from decision.policy.network_policy import NetworkPolicy
from decision.policy.policy import Header, Policy, header_of
from decision.policy.student import Student

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify", "rlcc")
HEADER = set(Header.model_fields)
SHARED = 4
"""Header fields; a class that declares as many is a copy of it."""


def declared(tree: ast.AST) -> dict[str, set[str]]:
    """The header fields that each class of a file declares."""
    return {
        node.name: {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)} & HEADER
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }


def copies(tree: ast.AST) -> list[str]:
    return [name for name, fields in declared(tree).items() if len(fields) >= SHARED]


def test_one_class_declares_the_fields() -> None:
    found = [
        name for p in PACKAGES for path in (ROOT / p).rglob("*.py") for name in copies(ast.parse(path.read_text()))
    ]
    assert found == ["Header"]


def test_a_copy_would_be_found() -> None:
    body = "\n".join(f"    {name}: int = 0" for name in list(Header.model_fields)[:SHARED])
    assert copies(ast.parse(f"class Copy:\n{body}\n")) == ["Copy"]


def test_policy_student_and_network_have_it() -> None:
    assert issubclass(Policy, Header)
    assert issubclass(Student, Headed)
    assert issubclass(NetworkPolicy, Headed)
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((0, 9),), (1, -1)),))
    for name in Header.model_fields:
        assert getattr(student, name) is getattr(student.header, name)
    assert student.params() == student.header.params()


def test_it_is_frozen_and_changed_as_a_whole() -> None:
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((0, 9),), (1, -1)),))
    with pytest.raises(ValidationError, match="frozen"):
        student.header.limits = None  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        student.header = student.header  # type: ignore[misc]
    wider = student.with_parts(observation=student.observation.with_window(2))
    assert (wider.observation.window, wider.forest, student.observation.window) == (2, student.forest, 1)


def test_a_header_whose_parts_do_not_fit_is_refused() -> None:
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (oblivious(((0, 9),), (1, -1)),))
    table = student.header.model_dump(mode="json")
    assert header_of(table, "here") == student.header
    with pytest.raises(ValidationError, match="limits are needed"):
        Header.model_validate(table | {"limits": None})
    with pytest.raises(KeyError, match="action"):
        header_of({"observation": table["observation"]}, "here")
