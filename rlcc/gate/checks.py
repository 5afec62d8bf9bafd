"""The gate's checks: what was measured, beside what is allowed. Each is a pure function of reports and metrics."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from decision.ir.program import Program
from decision.policy.deciders import Pupil
from decision.policy.policy import Header, Policy
from emulator.firmware import SOURCE, VECTORS
from emulator.host import HostReport
from emulator.linux.cell import FRAME_BYTES
from emulator.profile import EngineLimits
from emulator.report import EmulationReport
from rlcc.evaluation.prediction import GOODPUT, QUEUE_BYTES, RTT, Compared
from rlcc.gate.names import TITLES, named
from rlcc.gate.neighbourhood import Outside
from rlcc.gate.remedies import mend
from rlcc.gate.teacher_match import Errors
from rlcc.gate.verdict import Check, Group
from rlcc.recipe import Match, Neighbourhood, Sizes
from verify.behaviour.finding import Finding
from verify.trusted.deviation import TeacherClaim

US_PS = 1_000_000


def equality(hosts: list[HostReport], report: EmulationReport) -> list[Check]:
    """Every vector on every back end against the program's NumPy meaning."""
    checks = []
    for host in hosts:
        checks.append(
            named("equality.host", of=host.compiler)(
                value=f"{host.mismatches} of {host.vectors} differ" + (f", {host.fault}" if host.fault else ""),
                limit="0 differ, no undefined behaviour",
                passed=host.passed,
                detail=host.first_mismatch or "",
                file=SOURCE,
            )
        )
    stopped = report.fault or (None if report.cycles else "did not run")
    checks.append(
        named("equality.core", profile=report.profile, compiler=report.compiler)(
            value=f"{report.mismatches} of {report.vectors} differ" + (f", {stopped}" if stopped else ""),
            limit="0 differ",
            passed=stopped is None and report.mismatches == 0,
            detail=report.first_mismatch or "",
            file=SOURCE,
        )
    )
    return checks


def as_emitted(differing: list[str]) -> list[Check]:
    """The folder must be what this rlcc emits for the student in it: also the header's defaults and the adapter, which
    no vector runs. Asked before any compiler sees the C."""
    return [
        named("equality.emitted")(
            value=f"different: {', '.join(differing)}" if differing else "all are",
            limit="all",
            passed=not differing,
            detail="emit the firmware again with this version of rlcc" if differing else "",
            file=differing[0].partition(":")[0] if differing else "",
        )
    ]


def coverage(program: Program, rows: NDArray[np.int64]) -> list[Check]:
    """Equality says nothing of what no vector visits: there must be vectors on both sides of every threshold, right
    beside it. ``rows`` [N, features] are the tree inputs of the vectors."""
    places = [(f, t + step) for f, ts in program.forest.thresholds().items() for t in ts for step in (0, 1)]
    seen = [set(column.tolist()) for column in rows.T]
    missed = [(program.forest.features[f], value) for f, value in places if value not in seen[f]]
    detail = f"no vector has {missed[0][0]} = {missed[0][1]}; emit the firmware again" if missed else ""
    return [
        named("equality.thresholds")(
            value=f"{len(places) - len(missed)} of {len(places)} sides",
            limit="all",
            passed=not missed,
            detail=detail,
            file=VECTORS,
        )
    ]


def without_thresholds(what: str) -> Check:
    """The row of a decider that compares no feature with a threshold."""
    return named("equality.thresholds")(value=f"no thresholds: {what}", limit="not judged", passed=True)


def not_judged(groups: Sequence[Group], reason: str) -> list[Check]:
    """A failing row for each group of checks that the gate did not come to."""
    return [
        named("*.all", part=group.replace(" ", "_"), group=group)(
            value="not reached", limit="reached", passed=False, detail=reason
        )
        for group in groups
    ]


def on_linux(compared: Iterable[Compared]) -> list[Check]:
    """Returns the checks of a real kernel's TCP under the firmware, compared with netsim's prediction."""
    checks = []
    for one in compared:
        seen, packets = one.linux, one.queue_off_bytes / FRAME_BYTES
        checks.append(
            named("network.linux", of=one.cell)(
                value=f"goodput {seen.goodput:.4f} ({one.netsim.goodput:.4f}), RTT {seen.rtt_us:,.0f} us "
                f"({one.rtt_off:+.1%}), queue {seen.queue_bytes:,.0f} B ({packets:+.2f} packets)",
                limit=f"{GOODPUT:.0%}, {RTT:.0%}, {QUEUE_BYTES // FRAME_BYTES} packets",
                passed=not one.failing,
                detail=f"{', '.join(one.failing)}: {one.reason}" if one.failing else "",
            )
        )
    return checks


def object_code(report: EmulationReport) -> list[Check]:
    """No float, division, library call, static data; what the engine cannot hold is a matter of `sizes`."""
    return [
        named("object_code.forbidden")(
            value="; ".join(report.forbidden) or "none found",
            limit="none allowed",
            passed=not report.forbidden,
            file=SOURCE,
        )
    ]


def sizes(report: EmulationReport, engine: EngineLimits, asked: Sizes) -> list[Check]:
    """Code, tables, context and stack: what the engine allows, or less where that was asked for."""
    stack = None if report.stack_bytes is None else max(report.stack_bytes, report.stack_bytes_measured)
    rows = [
        ("code", report.code_bytes, engine.code_bytes, asked.code),
        ("table", report.table_bytes, engine.table_bytes, asked.table),
        ("context", report.context_bytes, engine.context_bytes, asked.context),
        ("stack", stack, engine.stack_bytes, asked.stack),
    ]
    return [
        named(f"size.{name}")(
            value="not known" if size is None else f"{size} B",
            limit=f"{most if own is None else min(most, own)} B",
            passed=size is not None and size <= (most if own is None else min(most, own)),
            file=SOURCE,
        )
        for name, size, most, own in rows
    ]


def budget(
    report: EmulationReport,
    budget_ps: int,
    proved: int | None = None,
    *,
    bound: int | None = None,
    margin: float = 0.0,
    line: int = 0,
) -> list[Check]:
    """The worst case against the budget at the profile's clock: proved for all inputs where there is a certificate,
    else a ``bound`` that holds for all inputs, where it is within the budget; and the slowest vector on the core, which
    must not be slower than that. Without: that vector and a margin. ``line``: of the C, where most of it is spent."""
    limit = _us(budget_ps)
    if report.cycles is None:
        return [named("budget.not_run")(value="did not run", limit=limit, passed=False, file=SOURCE, line=line)]
    slowest = f"slowest: vector {report.slowest.index} ({report.slowest.kind})" if report.slowest else ""
    if proved is None and bound is not None and bound * US_PS / report.clock_mhz <= budget_ps:
        proved, key, how = bound, "budget.bound", f"{bound} cycles, the bound"
    elif proved is not None:
        key, how = "budget.wcet", f"{proved} cycles, as proved"
    else:
        most, state = _most_cycles(report)
        worst_ps = most * (1 + margin) * US_PS / report.clock_mhz
        added = f" + {margin:.4%}".replace(".0000%", "%") if margin else ""
        value = f"{most} cycles{added} at {report.clock_mhz:g} MHz = {_us(worst_ps)}"
        seen = slowest if state == "hot" else f"in the state {state}; hot {report.cycles.max}"
        seen += "" if bound is None else f"; no input takes more than {bound} cycles"
        check = named(
            "budget.measured",
            vectors=report.vectors,
            with_margin=" and margin" if added else "",
            state="" if state == "hot" else f", {state}",
        )
        return [check(value=value, limit=limit, passed=worst_ps <= budget_ps, detail=seen, file=SOURCE, line=line)]
    worst_ps = proved * US_PS / report.clock_mhz
    return [
        named(key)(
            value=f"{proved} cycles at {report.clock_mhz:g} MHz = {_us(worst_ps)}",
            limit=limit,
            passed=worst_ps <= budget_ps,
            file=SOURCE,
            line=line,
        ),
        named("budget.slowest_vector", vectors=report.vectors)(
            value=f"{report.cycles.max} cycles",
            limit=how,
            passed=report.cycles.max <= proved,
            detail=slowest,
            file=SOURCE,
            line=line,
        ),
    ]


def _most_cycles(report: EmulationReport) -> tuple[int, str]:
    """The slowest decision of an engine that is at work, and what its caches held: another flow's context is what a NIC
    with many flows has there at each decision. ``cold``, the first decision ever, is reported and not judged."""
    assert report.cycles is not None
    most = {"hot": report.cycles.max}
    most |= {name: cost.cycles.max for name, cost in report.states.items() if name == "other-flow"}
    state = max(most, key=lambda name: most[name])
    return most[state], state


def behaviour(findings: Iterable[Finding]) -> list[Check]:
    """Returns the checks of the policy's behaviour, decided for all inputs. A property that is not decided does not
    pass."""
    checks: list[Check] = []
    numbers = Counter[str]()
    for finding in findings:
        numbers[finding.kind] += 1
        check = named(
            "behaviour.*",
            part=finding.kind,
            of=str(numbers[finding.kind]),
            title=TITLES[finding.kind],
            says=finding.says,
        )
        checks.append(
            check(
                value=finding.value,
                limit="must hold" if finding.verdict != "found" else "none asked for",
                passed=finding.verdict in ("holds", "found"),
                detail=finding.shown,
            )
        )
    return checks


def teacher(errors: Errors, allowed: Match) -> list[Check]:
    """The program's actions beside its teacher's. NaN never passes."""
    rows = [
        ("rmse", "action error, RMS", errors.rmse, allowed.rmse),
        ("p99", "action error, 99th percentile", errors.p99, allowed.p99),
        ("maximum", "action error, maximum", errors.maximum, allowed.maximum),
    ]
    return [
        named(f"teacher.{figure}", decisions=f"{errors.decisions:,}", rollouts=errors.rollouts)(
            value=f"{error:.5f}",
            limit=f"{most:g}",
            passed=error <= most,
            detail="" if error <= most else _furthest_in(errors, figure, mend(kind)),
        )
        for figure, kind, error, most in rows
    ]


def _furthest_in(errors: Errors, figure: str, mends: str) -> str:
    """The network in which an action error is largest, where it is known, and what usually brings it nearer."""
    network = errors.networks.get(figure, "")
    return f"largest in {network}{mends}" if network else mends.removeprefix("; ")


def same_eyes(pupil: Pupil, policy: Policy) -> Check:
    """A student of other features or actions than its teacher's cannot be set beside it state by state: it could act on
    what the teacher does not see. Its window is its own."""
    other = [] if pupil.observation == policy.observation.with_window(pupil.observation.window) else ["observation"]
    for name in Header.model_fields:
        if name != "observation" and getattr(pupil, name) != getattr(policy, name):
            other.append("action map" if name == "action" else name)
    return named("teacher.interface")(
        value=", ".join(other) + " not the teacher's" if other else "all are the teacher's",
        limit="all",
        passed=not other,
        detail="distil the student from this teacher again" if other else "",
    )


def neighbourhood(outside: Outside, allowed: Neighbourhood) -> Check:
    """The student's action beside the range of its teacher's around a state, in the state where it is furthest out. NaN
    does not pass, and no student with more intervals than were looked into: one of them could hide anything."""
    low, high = outside.teacher
    passed = outside.distance <= allowed.limit and not outside.missed
    place = f"student {outside.action:+.4f}, teacher {low:+.4f} to {high:+.4f} around {outside.state}"
    unseen = (
        f"{outside.missed} intervals of signals were not looked into: more thresholds than can be judged; distil with "
        "fewer trees or borders"
    )
    return named("teacher.deviation")(
        value=f"{outside.distance:.5f}, searched {outside.visited:,} of {outside.cells:,} cells",
        limit=f"{allowed.limit:g} (nearby: ±{allowed.share:.0%} of a feature, ±{allowed.action:g} of an action)",
        passed=passed,
        detail="" if passed else unseen if outside.missed else place + mend("outside"),
    )


def without_cells(reason: str, *, passed: bool) -> Check:
    """The row of a decider that has no cells to look into."""
    limit = "not judged" if passed else "measured"
    return named("teacher.deviation")(value="not measured", limit=limit, passed=passed, note=reason, detail=reason)


def all_states(claim: TeacherClaim | str, allowed: Neighbourhood) -> Check:
    """The same over all states whose signals stay below 2^24. ``claim``: the proved distance, or why there is none,
    which passes only where the recipe demands no proof."""
    limit = allowed.limit if allowed.proved_limit is None else allowed.proved_limit
    check = named("teacher.deviation_bound")
    most = f"{limit:g} (nearby: ±{allowed.share:.0%} of a feature, ±{allowed.action:g} of an action)"
    if isinstance(claim, str):
        if allowed.proof:
            return check(value="no proof", limit=most, passed=False, detail=claim)
        return check(value="no proof, not demanded", limit="not judged", passed=True, note=claim)
    low, high = claim.around
    state = ", ".join(f"{name} = {value}" for name, value in claim.witness.items())
    return check(
        value=f"at most {claim.bound:.5f}, at least {claim.reached:.5f}",
        limit=most,
        passed=claim.bound <= limit,
        detail=""
        if claim.bound <= limit
        else f"student {claim.student:+.4f}, teacher {low:+.4f} to {high:+.4f} around {state}",
    )


def undefined_in_states(reason: str) -> Check:
    """The row of agents whose actions have no distance from a neighbourhood."""
    return named("teacher.deviation_bound")(value="not defined", limit="not judged", passed=True, note=reason)


def _us(ps: float) -> str:
    return f"{ps / US_PS:.3f} us"
