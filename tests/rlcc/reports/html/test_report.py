"""The report as an object and as text: what stands in it, whatever the verdict; no name in it is taken for HTML."""

import re
import shlex
from dataclasses import replace
from typing import Any

import pytest
from made_judgements import MANIFEST, choice, judgement, level, scale, verdict

from rlcc.cycles.measure import LineCost, PathCosts
from rlcc.gate.judgement import Judgement, Sights
from rlcc.gate.verdict import Check
from rlcc.recipe import EmulateOptions, GateOptions
from rlcc.reports.html.code import lines, parts
from rlcc.reports.html.fixed_point import plot
from rlcc.reports.html.gather import Report, gather
from rlcc.reports.html.network import series
from rlcc.reports.html.render import render
from verify.trusted.certificate import Certificate, sealed

MEGABYTE = 1_000_000


def options(**changes: Any) -> GateOptions:
    return GateOptions.model_validate({"budget": "0.9 us", "scenarios": ["many-to-one:2"], **changes})


def report(made: Judgement, recipe: str | None = "a.toml", **changes: Any) -> Report:
    return gather(made, EmulateOptions(), options(**changes), recipe)


def failed(**changes: Any) -> Check:
    texts = {"id": "teacher.rmse", "group": "teacher", "name": "action error", "value": "0.02", "limit": "0.01"}
    return Check(**{**texts, "passed": False, "detail": "distil it again", **changes})


@pytest.mark.parametrize("pair", [scale, level, choice])
def test_the_same_judgement_gives_the_same_bytes_and_few_of_them(pair: Any) -> None:
    page = render(report(judgement(*pair())))
    assert page == render(report(judgement(*pair())))
    assert len(page.encode()) < MEGABYTE


def test_no_address_stands_in_it_but_the_names_of_svg() -> None:
    page = render(report(judgement(*scale())))
    assert set(re.findall(r"\b\w+://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"\b(src|srcset|action|import|url)\s*[=(]\s*[\"']?(?!#)(http|//|file)", page)


def certified(findings: list[dict[str, Any]]) -> Certificate:
    """A certificate of nothing, with properties."""
    worst = {"bound": 9, "exact": 9, "witness": {"event.response_ns": 5}, "outputs": {"rate": 1}, "rtl_cycles": 9}
    files = {"firmware": "0", "files": {}, "image": "0", "entry": "f", "compiler": "clang", "compiler_version": "1"}
    engine = {"profile": {"name": "ibex-small"}, "core": "c", "model": "exact", "calibration": {"above": 0, "below": 0}}
    return sealed(
        {
            "format": 3,
            "subject": {**files, "flags": ["-O2"]},
            "engine": engine,
            "claims": {"equality": True, "safety": True, "stack_bytes": 0, "worst_case": worst},
            "assumptions": [],
            "tools": {},
            "cells": 1,
            "cuts": [],
            "queries": [],
            "behaviour": [{"asked": {"kind": "step"}, "findings": findings}],
        }
    )


def test_the_properties_of_a_certificate_stand_in_it() -> None:
    finding = {"says": "the multiplier is bounded", "verdict": "found", "value": "0.8 to 1.2", "witness": {}}
    made = judgement(*scale())
    page = render(report(replace(made, sights=replace(made.sights, certificate=certified([finding])))))
    assert re.search(r"found</td><td>the multiplier is bounded</td><td>0\.8 to 1\.2</td></tr>", page)


@pytest.mark.parametrize("pair", [scale, level])
def test_what_others_named_is_text(pair: Any) -> None:
    odd = '<script>alert("x")</script><img src=x onerror=alert(1)>'
    made = judgement(*pair(), policy=odd, profile=odd, checks=[failed(name=odd, value=odd, limit=odd, detail=odd)])
    page = render(report(made, recipe=f"{odd}.toml"))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script") == 2, "the data and the program"
    assert page.count("</script>") == 2


def test_a_verdict_that_fails_says_first_why() -> None:
    page = render(report(judgement(*scale(), checks=[failed()])))
    assert ">FAIL</p>" in page
    assert page.index('class="failures"') < page.index('id="checks"')
    assert "distil it again" in page
    assert ">PASS</p>" in render(report(judgement(*scale())))
    assert "has no check" in render(report(judgement(*scale(), checks=[])))


def test_many_checks_are_folded_up_but_where_one_fails() -> None:
    many = [failed(id=f"teacher.rmse[{n}]", name=f"{n}", passed=True) for n in range(500)]
    made = report(judgement(*scale(), checks=many))
    assert [group.open for group in made.groups] == [False]
    assert len(render(made).encode()) < MEGABYTE
    made = report(judgement(*scale(), checks=[*many, failed()]))
    assert [(group.open, group.failed) for group in made.groups] == [(True, 1)]


def test_without_teacher_proof_or_core_it_says_so() -> None:
    student, _, _ = scale()
    made = Judgement(verdict(teacher=""), Sights(MANIFEST, student))
    told = report(made, recipe=None, proof=False)
    assert isinstance(told.surface, str)
    assert told.series == []
    assert told.rest is None
    assert "No proof requested" in str(told.certificate)
    assert isinstance(told.cycles, str)
    page = render(told)
    assert "gate firmware --profile ibex-small" in page
    assert "--scenario" not in page
    refused = failed(group="proof", name="certificate", value="not there")
    assert report(judgement(*scale(), checks=[refused])).certificate == f"No proof holds: {refused.value}."


def test_the_commands_are_those_of_the_run() -> None:
    told = report(judgement(*scale()), recipe="my recipe.toml").again
    assert told.commands == ("rlcc run 'my recipe.toml'", "rlcc gate firmware --recipe 'my recipe.toml'")
    (command,) = report(judgement(*scale()), recipe=None, seeds=[3, 4]).again.commands
    words = shlex.split(command)
    assert words[:5] == ["rlcc", "gate", "firmware", "--teacher", "teacher"]
    assert words[5:10] == ["--profile", "ibex-small", "--compiler", "clang", "--optimise=-O2"]
    assert words[10:] == ["--budget", "0.9 us", "--scenario", "many-to-one:2", "--seed", "3", "--seed", "4"]


def test_the_c_is_shown_where_the_path_runs_and_the_dearest_line_is_the_hottest() -> None:
    source = "\n".join(f"line {n}" for n in range(1, 41))
    spent = (LineCost("features", "rlcc_decide", 20, "", 4.0), LineCost("tree 1", "tree_01", 21, "", 8.0))
    own = PathCosts("worst", "an input", 15.0, (*spent, LineCost("call and return", "_start", 0, "", 3.0)))
    shown = lines(own, source)
    assert [line.number for line in shown] == [0, 18, 19, 20, 21, 22, 23, 0]
    assert shown[0].text.startswith("17 lines")
    assert [(line.cycles, line.heat) for line in shown if line.cycles] == [(4.0, 0.5), (8.0, 1.0)]
    assert [(part.name, part.cycles, part.stage) for part in parts(own)] == [
        ("features", 4.0, 0),
        ("tree 1", 8.0, 1),
        ("call and return", 3.0, 4),
    ]


def test_intervals_too_short_to_tell_a_rate_are_left_out() -> None:
    (outcome,) = [one for one in judgement(*scale()).sights.outcomes if one.scenario == "many-to-one:2"][:1]
    assert outcome.samples is not None
    t_us = outcome.samples.t_us.copy()
    t_us[20] = t_us[19] + 0.01
    short = replace(outcome, samples=replace(outcome.samples, t_us=t_us))
    drawn = series([short, replace(short, policy="student")], (0, 10**9))
    assert len(drawn[0]["teacher"]["t"]) == len(drawn[0]["teacher"]["mean"]) == len(t_us) - 1
    assert drawn[0]["window"] == [0, 1]


def test_flows_rest_where_they_were_measured_beside_the_theory() -> None:
    student, teacher, states = scale()
    drawn = plot(teacher.policy, judgement(student, teacher, states).sights.outcomes)
    assert drawn is not None
    assert [rest.flows for rest in drawn.rests] == [2, 8]
    assert [rest.theory for rest in drawn.rests] == pytest.approx([1.5 + 0.064 * 2**0.5, 1.5 + 0.064 * 8**0.5])
    assert drawn.teacher[0].y == drawn.student[0].y
    assert drawn.student[0].x > drawn.teacher[0].x, "neither hides the other"
    queue, agent, met = level()
    assert plot(agent.policy, judgement(queue, agent, met).sights.outcomes) is None
