"""Stages of a command: figures in short lines, progress off a terminal now and then, plurals that agree."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from rlcc.commands import console
from rlcc.gate.names import named
from rlcc.gate.verdict import Check, Verdict
from rlcc.reports.legend import COLUMNS, terms

WORDS = st.lists(st.text("abcdefgh.,=:0123456789", min_size=1, max_size=60), min_size=1, max_size=12).map(" ".join)


def test_off_a_terminal_progress_is_a_line_now_and_then(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: clock[0])
    with console.stage("train") as (figures, progress):
        for second in range(25):
            clock[0] = 100.0 + second
            progress(f"round {second}")
        figures["rounds"] = "25 [of 30]"
    said = capsys.readouterr()
    assert [re.findall(r"\d+", line) for line in said.err.splitlines()] == [["10", "10"], ["20", "20"]]
    assert [line.split()[:2] for line in said.out.splitlines()] == [["train", "24.0"], ["rounds", "25"]]


@settings(max_examples=examples(30))
@given(st.dictionaries(st.text("abcdefgh", min_size=1, max_size=14), WORDS, min_size=1, max_size=6))
def test_figures_fit_into_the_width_and_lose_no_word(figures: dict[str, str]) -> None:
    lines = console.lines_of(figures, console.LINE)
    assert " ".join(lines).split() == [word for item in figures.items() for word in " ".join(item).split()]
    assert [line for line in lines if len(line) > console.LINE] == []
    values = [line for line in lines if not line.startswith("   ")]
    assert [line.split()[0] for line in values] == list(figures)


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(1, "check", "1 check"), (2000, "tree", "2,000 trees"), (0, "property", "0 properties")],
)
def test_plurals_agree(number: int, noun: str, text: str) -> None:
    assert console.counted(number, noun) == text


@pytest.mark.parametrize("width", [60, 80, 124])
def test_each_row_of_the_verdict_shows_its_result_and_the_legend_explains_each_column(
    width: int, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = dict.fromkeys(("policy", "profile", "firmware", "student", "teacher"), "p")
    long = {"value": "0.18502, searched 408 of 408 cells, " * 3, "limit": "0.25 (nearby: ±20% of a feature), " * 3}
    checks = [
        named("network.*", part="loss", of="many-to-one:256@leaf-spine:4x4x2", metric="loss")(passed=True, **long),
        named("object_code.forbidden")(passed=False, note="a remark", **long),
    ]
    wide = console.console
    monkeypatch.setattr(console, "console", lambda: wide(width))
    console.print_verdict(Verdict(checks=checks, measured={}, **texts), Path("v"))
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[1].split() == list(COLUMNS)
    assert [line.split()[-1] for line in lines if line.endswith(("ok", "FAIL*"))] == ["ok", "FAIL*"]
    *_, before, after = (number for number, line in enumerate(lines) if not line)
    legend = [line.partition("  ")[0] for line in lines[before + 1 : after] if not line.startswith(" ")]
    assert legend == [*COLUMNS, *terms(checks)]
    own = {"teacher", "loss", "nearby", "feature", "cells", "many-to-one", "leaf-spine", "forbidden"}
    assert own | {"threshold", "student", "trees"} == terms(checks).keys(), "and what these meanings name"
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        (["budget.wcet", "budget.slowest_vector"], ["WCET", "report"]),
        (["budget.bound", "network.loss[many-to-one:8]"], ["WCET", "network", "report"]),
        (["network.loss[many-to-one:8]", "budget.measured"], ["decision", "network", "report"]),
        (["budget.not_run"], ["report"]),
    ],
)
def test_a_verdict_ends_with_what_matters(ids: list[str], keys: list[str]) -> None:
    texts = dict.fromkeys(("policy", "profile", "firmware", "student", "teacher"), "p")
    checks = [
        Check(id=each, group="budget", name=f"name of {each}", value=f"value of {each}", limit="1", passed=True)
        for each in ids
    ]
    measured: dict[str, Any] = {"closest_to_limit": "network.loss[many-to-one:8]"}
    found = console.summary(Verdict(checks=checks, measured=measured, **texts), Path("v"))
    assert list(found) == keys
    assert found["report"] == "v/report.html"
    assert [each for each in ids if f"value of {each}" in str(found)] == ids[: len(keys) - 1]
    measured["fidelity"] = [{"seeds": {"11": 0.0, "12": None}}, {"seeds": {"11": 0.0}}]
    found = console.summary(Verdict(checks=checks, measured=measured, **texts), Path("v"))
    assert [*keys[:-1], "seeds", "report"] == list(found)
    assert re.findall(r"\d+", found["seeds"]) == ["11", "12"]
