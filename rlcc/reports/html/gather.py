"""From a verdict and what the gate saw to the report as an object, in the order of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decision.artefact.errors import InputError
from decision.policy.student import Student
from rlcc.gate.checks import same_eyes
from rlcc.gate.judgement import Judgement, Sights
from rlcc.gate.verdict import Check, Verdict
from rlcc.recipe import EmulateOptions, GateOptions
from rlcc.reports.html.code import CodePart, Line, lines, parts
from rlcc.reports.html.fixed_point import Plot, plot
from rlcc.reports.html.network import series
from rlcc.reports.html.reproduction import US_PS, Again, again
from rlcc.reports.html.search import Front
from rlcc.reports.html.surface import Surface, surface
from verify.trusted.certificate import Certificate
from verify.trusted.deviation import TeacherClaim

OPEN = 12
"""Checks of a group that are shown at once; more are folded up, unless one fails."""


@dataclass(frozen=True)
class ReportFigure:
    """One number of the page's head. ``share``: of its limit; None: it has none."""

    name: str
    value: str
    limit: str
    share: float | None


@dataclass(frozen=True)
class CheckGroup:
    name: str
    checks: list[Check]

    @property
    def failed(self) -> int:
        return sum(not check.passed for check in self.checks)

    @property
    def open(self) -> bool:
        return self.failed > 0 or len(self.checks) <= OPEN


@dataclass(frozen=True)
class ReportCycles:
    """``of``: which input; ``lines`` of the emitted C."""

    of: str
    cycles: float
    microseconds: float
    parts: list[CodePart]
    lines: list[Line]


@dataclass(frozen=True)
class Report:
    """Contents of the page; a text in place of a part gives the reason why the part is missing."""

    verdict: Verdict
    figures: list[ReportFigure]
    groups: list[CheckGroup]
    surface: Surface | str
    rest: Plot | None
    series: list[dict[str, Any]]
    cycles: ReportCycles | str
    certificate: Certificate | str
    distance: TeacherClaim | None
    again: Again
    front: Front | None = None


def gather(
    judgement: Judgement,
    engine: EmulateOptions,
    options: GateOptions,
    recipe: str | None = None,
    front: Front | None = None,
) -> Report:
    """``recipe``: the name of its file, where there was one; ``front``: of a search beside."""
    verdict, sights = judgement.verdict, judgement.sights
    policy = sights.teacher.policy if sights.teacher is not None else None
    claim = verdict.measured.get("distance")
    return Report(
        verdict,
        _figures(verdict, options),
        _groups(verdict.checks),
        _left_out(verdict) or _surface(sights),
        plot(policy, sights.outcomes) if policy is not None else None,
        series(sights.outcomes, options.window),
        _cycles(judgement),
        sights.certificate or _unproved(verdict, options),
        TeacherClaim.model_validate(claim) if claim and "bound" in claim else None,
        again(verdict, sights.firmware, engine, options, recipe),
        front,
    )


def _groups(checks: Sequence[Check]) -> list[CheckGroup]:
    names = dict.fromkeys(check.group for check in checks)
    return [CheckGroup(name, [check for check in checks if check.group == name]) for name in names]


def _figures(verdict: Verdict, options: GateOptions) -> list[ReportFigure]:
    """Returns the figures that a reader asks for first: how long, how large, how close."""
    measured, figures = verdict.measured, []
    emulation = measured.get("emulation") or {}
    if emulation.get("cycles"):
        proved, bound, budget = measured.get("worst_case_cycles"), measured.get("bound_cycles"), options.budget / US_PS
        name, cycles = "slowest test vector (measured, not proved)", emulation["cycles"]["max"]
        if proved:
            name, cycles = "WCET (proved)", proved
        elif bound and bound / emulation["clock_mhz"] <= budget:
            name, cycles = "WCET bound (proved)", bound
        us = cycles / emulation["clock_mhz"]
        figures.append(ReportFigure(name, f"{cycles} cycles = {us:.3f} us", f"{budget:.3g} us", us / budget))
    checks = {check.id: check for check in verdict.checks}
    for one in (checks.get("size.code"), checks.get("size.table")):
        if one is not None and one.value.endswith(" B"):
            size, most = (int(text.removesuffix(" B")) for text in (one.value, one.limit))
            figures.append(ReportFigure(one.name, f"{size:,} B", f"{most:,} B", size / most if most else None))
    errors = measured.get("teacher")
    if errors:
        limit = options.match.rmse
        share = errors["rmse"] / limit if limit else None
        figures.append(ReportFigure("action error vs teacher, RMS", f"{errors['rmse']:.5f}", f"{limit:g}", share))
    return figures


def _left_out(verdict: Verdict) -> str:
    """Why actions were not compared; empty where they were."""
    reason = verdict.left_out.get("network", "")
    return f"Not judged ({reason})." if reason else ""


def _surface(sights: Sights) -> Surface | str:
    if sights.teacher is None:
        return "No teacher: the model comes from another library."
    if not isinstance(sights.decider, Student):
        return "No thresholds to draw: the policy is an int8 network."
    if sights.states is None:
        return "Not available: the gate stopped before the teacher's states."
    if not same_eyes(sights.decider, sights.teacher.policy).passed:
        return "Not available: student and teacher observe different signals."
    try:
        return surface(sights.decider, sights.teacher, sights.states)
    except InputError as error:
        return f"No picture: {error}."


def _cycles(judgement: Judgement) -> ReportCycles | str:
    costs, emulation = judgement.sights.costs, judgement.verdict.measured.get("emulation") or {}
    if costs is None or not emulation.get("clock_mhz"):
        return "Not available: the engine does not report cycles per instruction."
    return ReportCycles(
        costs.of,
        costs.cycles,
        costs.cycles / emulation["clock_mhz"],
        parts(costs),
        lines(costs, judgement.sights.source),
    )


def _unproved(verdict: Verdict, options: GateOptions) -> str:
    refused = next((check for check in verdict.checks if check.group == "proof" and not check.passed), None)
    if refused is not None:
        return f"No proof holds: {refused.value}."
    if not options.proof:
        return "No proof requested: the budget is compared with the slowest vector plus margin."
    return "Nothing is proved for this firmware: the budget is compared with the slowest vector plus margin."
