"""Pages, docstrings, comments, help and errors keep to the rules of prose that a machine can check.

prose.toml has what is still broken, by group. A group that has more fails; one that has far fewer fails too, until its
number is lowered.
"""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import click
import pytest

from bench import prose, reference

LIMITS = tomllib.loads(Path(__file__).with_name("prose.toml").read_text(encoding="utf-8"))
SLACK = 25
"""A number may be above what is found by this much, so that two changes can lower it side by side."""


def faults(found: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """Returns what is wrong with the counts: more than the limit, or a limit that is not lowered."""
    wrong = [f"{name}: {found.get(name, 0)}, at most {limit}" for name, limit in limits.items() if found[name] > limit]
    wrong += [
        f"{name}: lower {limit} to {found[name]}" for name, limit in limits.items() if limit > found[name] + SLACK
    ]
    return wrong + [f"{name}: is in no list" for name in found.keys() - limits.keys()]


@pytest.fixture(scope="module")
def counts() -> dict[str, prose.ProseCount]:
    return prose.measured()


@pytest.mark.parametrize("rule", ["last", "long", "banned"])
def test_sentences_keep_to_the_rules_or_are_in_the_list(rule: str, counts: dict[str, prose.ProseCount]) -> None:
    found = {group: getattr(count, rule) for group, count in counts.items()}
    assert not faults(found, LIMITS["late" if rule == "last" else rule]), "python -m bench.prose shows which"


def test_the_pages_keep_their_share(counts: dict[str, prose.ProseCount]) -> None:
    """Shares of sentences: 4 % may begin with such a word, 6 % be long."""
    docs = counts["docs"]
    assert docs.sentences > 2000
    assert docs.last < 0.04 * docs.sentences
    assert docs.long < 0.06 * docs.sentences


def test_docstrings_of_public_functions_begin_with_a_verb_or_are_in_the_list() -> None:
    groups = {group: paths for group, paths in prose.files().items() if group != "docs"}
    found = {group: sum(len(prose.formless(path.read_text())) for path in paths) for group, paths in groups.items()}
    assert not faults(found, LIMITS["formless"])


def test_messages_of_errors_are_no_longer_than_a_sentence() -> None:
    for paths in [paths for group, paths in prose.files().items() if group != "docs"]:
        for path in paths:
            for message in prose.messages(path.read_text()):
                assert len(message.split()) <= prose.MAX_WORDS, f"{path}: {message}"


def test_help_begins_with_its_subject_and_ends_with_a_stop() -> None:
    for name, command in reference.commands():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                text = option.help or ""
                assert not prose.is_last(text), f"rlcc {name}: {text}"
                assert text.split(" [default")[0].rstrip("] ").endswith("."), f"rlcc {name}: {text}"
        found = prose.count(prose.markdown(command.help or ""))
        assert (found.last, found.long) == (0, 0), f"rlcc {name}"


def test_a_class_name_has_one_owner_or_is_in_the_list() -> None:
    found = {name: len(modules) for name, modules in prose.owners().items()}
    listed = LIMITS["owners"]
    assert not {name: prose.owners()[name] for name in found if found[name] > listed.get(name, 1)}
    assert not {name for name in listed if found.get(name, 1) < listed[name]}, "lower its number or take it out"


TEXTS: dict[str, tuple[str, Callable[[str], int], int]] = {
    "late": ("Of the flows two rest. The flow rests.", lambda text: prose.count([text]).last, 1),
    "a question": ("What is a knob? It is an output.", lambda text: prose.count([text]).last, 0),
    "bold": ("**Where it fails.** The flow starts at once.", lambda text: prose.count([text]).last, 1),
    "long": (" ".join(["a word", *["and another"] * 20]), lambda text: prose.count([text]).long, 1),
    "banned": ("The table stands beside the other one.", lambda text: prose.count([text]).banned, 1),
    "code": ("The key `so many beside` is code.", lambda text: prose.count([text]).banned, 0),
    "cells": ("| Of a flow and more | b |", lambda text: prose.count(prose.markdown(text)).last, 1),
    "a block": ("```sh\nOf a flow and more\n```", lambda text: prose.count(prose.markdown(text)).sentences, 0),
    "formless": ('def f():\n    """The sum of both."""', lambda text: len(prose.formless(text)), 1),
    "a verb": ('def f():\n    """Returns the sum."""', lambda text: len(prose.formless(text)), 0),
    "private": ('def _f():\n    """The sum of both."""', lambda text: len(prose.formless(text)), 0),
    "a message": ('raise InputError(f"{a} is wrong; " + "mend it")', lambda text: len(prose.messages(text)), 1),
}
"""Name -> a text, what counts in it, and the count."""


@pytest.mark.parametrize("name", TEXTS)
def test_each_rule_finds_its_fault_and_no_other(name: str) -> None:
    text, rule, expected = TEXTS[name]
    assert rule(text) == expected


def test_a_list_only_shrinks() -> None:
    assert faults({"a": 3}, {"a": 2})
    assert faults({"a": 3}, {"a": 4 + SLACK})
    assert faults({"a": 3, "b": 0}, {"a": 3})
    assert not faults({"a": 3}, {"a": 3 + SLACK})
