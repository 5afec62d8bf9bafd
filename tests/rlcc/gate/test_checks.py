"""The gate's rules on made-up reports: where exactly it passes, where it fails, and that nothing passes unmeasured."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_reports import report

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import Op, ProgramBuilder
from emulator.host import HostReport
from emulator.profile import EngineLimits
from emulator.report import Cycles, EmulationReport, StateCost
from rlcc.gate import checks, gate
from rlcc.gate.neighbourhood import Outside
from rlcc.gate.teacher_match import Errors
from rlcc.gate.verdict import Check, Verdict
from rlcc.recipe import Match, Neighbourhood, Sizes
from verify.trusted.deviation import TeacherClaim

US = 1_000_000


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+\.?\d*", text)]


def host(**changes: Any) -> HostReport:
    return replace(HostReport("gcc", "gcc 12", "-O2", 1000, 0, None, None), **changes)


def passed(checks: list[Check]) -> bool:
    assert checks
    return all(check.passed for check in checks)


# --- budget ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cycles", "holds"), [(314, True), (315, True), (316, False)])
def test_exactly_the_budget_passes_and_one_cycle_more_fails(cycles: int, holds: bool) -> None:
    (check,) = gate.budget(report(cycles=Cycles(1, 1.0, 1, cycles)), 900_000)  # 0.9 us at 350 MHz: 315 cycles
    assert check.passed is holds
    assert f"{cycles} cycles" in check.value
    assert "0.900 us" in check.limit


@pytest.mark.parametrize("mhz", [330.0, 333.3, 466.7, 866.7, 1000.0])
def test_the_edge_holds_at_clocks_that_no_float_holds(mhz: float) -> None:
    for cycles in range(1, 3000):
        budget_ps = math.ceil(cycles * US * 10 / round(mhz * 10))  # the least whole ps that the cycles fit into
        assert passed(gate.budget(report(clock_mhz=mhz, cycles=Cycles(1, 1.0, 1, cycles)), budget_ps))
        assert not passed(gate.budget(report(clock_mhz=mhz, cycles=Cycles(1, 1.0, 1, cycles)), budget_ps - 1))


def test_the_maximum_is_judged_not_the_mean_and_the_slowest_vector_is_named() -> None:
    (check,) = gate.budget(report(cycles=Cycles(1, 2.0, 3, 10_000)), US)
    assert not check.passed
    assert "vector 7 (edge:all)" in check.detail


@pytest.mark.parametrize(("slowest", "proved", "passed_checks"), [(134, 135, 2), (135, 135, 2), (136, 135, 1)])
def test_the_budget_is_held_against_what_was_proved(slowest: int, proved: int, passed_checks: int) -> None:
    """A vector that is slower than the proved worst case says that the proof is of something else."""
    found = gate.budget(report(cycles=Cycles(1, 1.0, 1, slowest)), US, proved)
    assert f"{proved} cycles" in found[0].value
    assert sum(check.passed for check in found) == passed_checks
    assert not gate.budget(report(cycles=Cycles(1, 1.0, 1, slowest)), 1, proved)[0].passed


@pytest.mark.parametrize(("margin", "holds"), [(0.0, True), (0.05, True), (0.0501, False), (1.0, False)])
def test_what_is_only_measured_needs_a_margin(margin: float, holds: bool) -> None:
    (check,) = gate.budget(report(cycles=Cycles(1, 1.0, 1, 300)), 900_000, margin=margin)  # 300 * 1.05 = 315 cycles
    assert check.passed is holds
    assert check.id == "budget.measured"
    assert ("margin" in check.name) is (margin > 0)


def test_a_proof_needs_no_margin() -> None:
    first, _ = gate.budget(report(cycles=Cycles(1, 1.0, 1, 310)), 900_000, 315, margin=0.5)
    assert first.passed
    assert first.id == "budget.wcet"


@pytest.mark.parametrize(("slowest", "bound", "within"), [(300, 315, True), (315, 315, True), (300, 316, False)])
def test_a_bound_within_the_budget_needs_no_margin(slowest: int, bound: int, within: bool) -> None:
    """One above it says nothing but how much is not known: then what was measured is judged, by its margin."""
    found = gate.budget(report(cycles=Cycles(1, 1.0, 1, slowest)), 900_000, bound=bound, margin=0.05)
    assert found[0].id == ("budget.bound" if within else "budget.measured")
    assert len(found) == 1 + within
    assert passed(found)
    if not within:
        assert "more than 316 cycles" in found[0].detail


def test_a_vector_slower_than_the_bound_fails() -> None:
    assert not passed(gate.budget(report(cycles=Cycles(1, 1.0, 1, 311)), 900_000, bound=310))


def test_the_budget_names_the_costliest_line() -> None:
    for check in gate.budget(report(), 1, 315, line=42) + gate.budget(report(), 1, line=42):
        assert (check.file, check.line) == ("rlcc_policy.c", 42)


def test_what_another_flow_left_in_the_caches_counts() -> None:
    slower = {
        name: StateCost(Cycles(1, 1.0, 1, n), {}, 0.0, 0.0) for name, n in (("cold", 13_753), ("other-flow", 398))
    }
    found = report(clock_mhz=1800.0, cycles=Cycles(1, 1.0, 1, 264), states=slower)
    (check,) = gate.budget(found, 150_000)  # hot: 0.147 us
    assert not check.passed
    assert check.value.startswith("398 cycles")
    assert "other-flow" in check.name
    assert passed(gate.budget(found, 222_000))


def test_firmware_that_did_not_run_meets_no_budget() -> None:
    assert not passed(gate.budget(report(cycles=None, slowest=None), 10**12))
    with pytest.raises(InputError, match="did not run"):
        gate.decision_latency_ps(report(cycles=None))


# --- equality and object code ----------------------------------------------------------------------------------------


def test_all_equal_passes() -> None:
    assert passed(gate.equality([host(), host(compiler="clang")], report()))
    assert passed(gate.object_code(report()))


@pytest.mark.parametrize(
    ("hosts", "core"),
    [
        ([host(mismatches=1, first_mismatch="vector 3")], report()),
        ([host(), host(fault="vector 2: signed integer overflow")], report()),
        ([host()], report(mismatches=1, first_mismatch="vector 3")),
        ([host()], report(fault="vector 9: trap")),
        ([host()], report(cycles=None)),
    ],
)
def test_one_back_end_that_differs_or_stops_fails(hosts: list[HostReport], core: EmulationReport) -> None:
    checks = gate.equality(hosts, core)
    assert len(checks) == len(hosts) + 1
    assert sum(not check.passed for check in checks) == 1


def test_anything_forbidden_fails_and_is_shown() -> None:
    (check,) = gate.object_code(report(forbidden=("calls __udivsi3", "static data")))
    assert not check.passed
    assert check.value == "calls __udivsi3; static data"


def test_what_an_engine_cannot_hold_fails_as_a_size_and_nowhere_else() -> None:
    over = report(code_bytes=4097, oversized=("code of 4097 bytes, ibex-small has 4096",))
    checks = [*gate.object_code(over), *gate.sizes(over, LIMITS, Sizes())]
    assert [check.id for check in checks if not check.passed] == ["size.code"]


# --- sizes -----------------------------------------------------------------------------------------------------------

LIMITS = EngineLimits(
    context_bytes=120, stack_bytes=1024, code_bytes=4096, table_bytes=2048, reason="made up for a test"
)


@pytest.mark.parametrize(
    ("change", "asked", "failing"),
    [
        ({}, {}, None),
        ({"code_bytes": 4096}, {}, None),
        ({"code_bytes": 4097}, {}, "code"),
        ({"table_bytes": 2049}, {}, "table"),
        ({"context_bytes": 124}, {}, "context"),
        ({"stack_bytes": 1040}, {}, "stack"),
        ({"stack_bytes_measured": 1040}, {}, "stack"),
        ({"stack_bytes": None}, {}, "stack"),
        ({"code_bytes": None}, {}, "code"),
        ({}, {"code": 700, "table": 0, "context": 12, "stack": 16}, None),
        ({}, {"code": 699}, "code"),
        ({"table_bytes": 1}, {"table": 0}, "table"),
        ({}, {"context": 11}, "context"),
        ({}, {"stack": 15}, "stack"),
        ({"code_bytes": 4097}, {"code": 9999}, "code"),  # what is asked for is no leave to break the engine's limit
    ],
)
def test_sizes_are_held_against_engine_and_options(
    change: dict[str, Any], asked: dict[str, int], failing: str | None
) -> None:
    found = checks.sizes(report(**change), LIMITS, Sizes(**asked))
    assert [check.id for check in found if not check.passed] == ([f"size.{failing}"] if failing else [])


# --- the teacher's actions -------------------------------------------------------------------------------------------


def test_action_errors_are_what_they_are_called() -> None:
    errors = Errors.of([np.array([0.0] * 98 + [0.3, -0.4])], "rollouts of the test")
    assert (errors.decisions, errors.p99, errors.maximum) == (100, 0.3, 0.4)
    assert errors.rmse == pytest.approx(0.05)
    for nothing in ([], [np.empty(0)]):
        with pytest.raises(InputError, match="no decision"):
            Errors.of(nothing, "rollouts of the test")


# --- the student beside its teacher, state by state ------------------------------------------------------------------

OUTSIDE = Outside(0.25, 0.2, (-0.16, -0.1), "congestion_q20 = 5 (delta 0.0618)", 0.36, 9, 2, 10_000, 8_000, 0, False)
PLACE = "student +0.2000, teacher -0.1600 to -0.1000 around congestion_q20 = 5 (delta 0.0618)"
AROUND = Neighbourhood(limit=0.25)


def test_a_student_outside_its_teachers_actions_is_named_with_the_state() -> None:
    just = checks.neighbourhood(OUTSIDE, AROUND)
    assert (just.passed, just.detail) == (True, "")
    assert just.value == "0.25000, searched 8,000 of 10,000 cells"
    assert numbers(just.limit) == [0.25, 20, 0.02]
    for distance in (np.nextafter(0.25, 1), float("nan")):
        more = checks.neighbourhood(replace(OUTSIDE, distance=distance), AROUND)
        assert (more.passed, more.detail) == (False, PLACE)


def test_a_distance_over_all_states_is_held_against_its_own_limit_or_the_same() -> None:
    claim = TeacherClaim(
        teacher="7" * 64,
        share=0.2,
        action=0.02,
        signals={"congestion_q20": [0, 2**24 - 1]},
        step=328,
        bound=0.25,
        reached=0.24983,
        witness={"action_1": -7, "congestion_q20": 5},
        student=0.2,
        around=[-0.16, -0.1],
    )
    just = checks.all_states(claim, AROUND)
    assert (just.group, just.id) == ("teacher", "teacher.deviation_bound")
    assert (just.passed, just.detail) == (True, "")
    assert numbers(just.value) == [0.25, 0.24983]
    assert numbers(just.limit) == [0.25, 20, 0.02]
    more = checks.all_states(claim, Neighbourhood(limit=0.25, proved_limit=0.249))
    assert (more.passed, numbers(more.limit)) == (False, [0.249, 20, 0.02])
    assert more.detail == "student +0.2000, teacher -0.1600 to -0.1000 around action_1 = -7, congestion_q20 = 5"
    assert checks.all_states(claim, Neighbourhood(limit=0.1, proved_limit=0.25)).passed
    refused = checks.all_states("it is an LSTM", AROUND)
    assert (refused.passed, refused.value, refused.detail) == (False, "no proof", "it is an LSTM")


@pytest.mark.parametrize("distance", [0.0, 0.25, 0.3])
def test_intervals_that_were_not_looked_into_do_not_pass(distance: float) -> None:
    check = checks.neighbourhood(replace(OUTSIDE, distance=distance, missed=1), AROUND)
    assert not check.passed
    assert check.detail.startswith("1 intervals of signals")


@pytest.mark.parametrize(
    "differing",
    [
        (),
        ("observation",),
        ("action map",),
        ("limits",),
        ("start",),
        ("in_flight",),
        ("probes",),
        ("bursts",),
        ("trigger",),
        ("once_per_rtt",),
        ("observation", "limits"),
    ],
)
def test_a_student_has_its_teachers_eyes_and_hands(differing: tuple[str, ...]) -> None:
    def of(name: str, who: str) -> str:
        return f"{name} of the {who if name in differing else 'teacher'}"

    seen = SimpleNamespace(window=2)
    observation: dict[int, Any] = {2: seen if "observation" not in differing else "another"}
    student: Any = SimpleNamespace(
        observation=seen,
        action=of("action map", "student"),
        limits=of("limits", "student"),
        start=of("start", "student"),
        in_flight=of("in_flight", "student"),
        probes=of("probes", "student"),
        bursts=of("bursts", "student"),
        trigger=of("trigger", "student"),
        once_per_rtt=of("once_per_rtt", "student"),
    )
    policy: Any = SimpleNamespace(
        observation=SimpleNamespace(with_window=observation.__getitem__),
        action=of("action map", "teacher"),
        limits=of("limits", "teacher"),
        start=of("start", "teacher"),
        in_flight=of("in_flight", "teacher"),
        probes=of("probes", "teacher"),
        bursts=of("bursts", "teacher"),
        trigger=of("trigger", "teacher"),
        once_per_rtt=of("once_per_rtt", "teacher"),
    )
    check = checks.same_eyes(student, policy)
    assert check.passed == (not differing)
    assert check.value.startswith(", ".join(differing) or "all are")
    assert ("distil the student" in check.detail) == bool(differing)


def test_a_network_that_is_easy_hides_none_that_is_not() -> None:
    bad = np.array([0.0] * 98 + [0.3, -0.4])
    alone = Errors.of([bad], "rollouts of the test")
    beside = Errors.of([np.zeros(100_000), bad, np.empty(0)], "rollouts of the test")
    assert beside == replace(alone, decisions=100_100)


@pytest.mark.parametrize("worse", [{"rmse": 0.021}, {"p99": 0.051}, {"maximum": 0.31}, {"rmse": math.nan}])
def test_each_action_error_has_its_limit(worse: dict[str, float]) -> None:
    allowed = Match(rmse=0.02, p99=0.05, maximum=0.3)
    fine = Errors("rollouts of the test", 1000, 0.02, 0.05, 0.3)
    assert passed(checks.teacher(fine, allowed))
    assert [check.passed for check in checks.teacher(replace(fine, **worse), allowed)].count(False) == 1


def test_what_a_check_of_equality_shows() -> None:
    stopped, wrong = host(fault="vector 2: overflow"), host(mismatches=3, first_mismatch="vector 5")
    shown = [(*c.value.split(", "), c.detail) for c in gate.equality([host(), stopped, wrong], report(fault="trap"))]
    assert shown == [
        ("0 of 1000 differ", ""),
        ("0 of 1000 differ", "vector 2: overflow", ""),
        ("3 of 1000 differ", "vector 5"),
        ("0 of 1000 differ", "trap", ""),
    ]
    shown = [(c.value, c.detail) for c in gate.equality([], report(mismatches=1, first_mismatch="vector 7"))]
    assert shown == [("1 of 1000 differ", "vector 7")]
    (silent,) = gate.equality([], report(cycles=None))
    assert silent.value.split(", ")[1] == "did not run"
    (fine,) = gate.equality([], report())
    assert fine.value == "0 of 1000 differ"


def test_a_folder_as_emitted_passes_and_another_names_its_files() -> None:
    (fine,) = checks.as_emitted([])
    assert (fine.passed, fine.value, fine.detail, fine.file) == (True, "all are", "", "")
    (wrong,) = checks.as_emitted(["manifest.json: layout", "rlcc_policy.c"])
    assert (wrong.passed, wrong.file) == (False, "manifest.json")
    assert wrong.value == "different: manifest.json: layout, rlcc_policy.c"
    assert "emit the firmware" in wrong.detail


def test_what_checks_of_code_size_and_budget_show() -> None:
    assert gate.object_code(report())[0].value == "none found"
    found = checks.sizes(report(code_bytes=None), LIMITS, Sizes())
    assert [check.value for check in found] == ["not known", "0 B", "12 B", "16 B"]
    (hot,) = gate.budget(report(), US)
    assert hot.id == "budget.measured"
    assert hot.detail == "slowest: vector 7 (edge:all)"
    assert gate.budget(report(slowest=None), US)[0].detail == ""
    slower = {"other-flow": StateCost(Cycles(1, 1.0, 1, 398), {}, 0.0, 0.0)}
    (cold,) = gate.budget(report(states=slower), US)
    assert "other-flow; hot 315" in cold.detail


def test_a_threshold_that_no_vector_stands_beside_fails() -> None:
    ensemble = Forest(("x", "y"), (oblivious(((0, 5), (1, -3)), (1, 2, 3, 4)),), (0,), 16)
    program = ProgramBuilder(ensemble, FLOW_RATE)
    features = (program.event("cnp_count"), program.add(Op.SUB, (program.const(0), program.event("nack_count"))))
    trees = program.add(Op.TREES, features)
    program.state_in("rate_q30", "uint32")
    program.state_out("rate_q30", program.event("cnp_count"))
    built = program.finish(trees)
    rows = np.array([[5, -3], [6, -2], [7, 0]])
    assert passed(checks.coverage(built, rows))
    for missing in range(2):
        (check,) = checks.coverage(built, np.delete(rows, missing, axis=0))
        assert not check.passed
        assert check.value == "2 of 4 sides"
        assert f"x = {5 + missing}" in check.detail


def test_a_verdict_without_checks_is_no_pass() -> None:
    content = dict.fromkeys(("policy", "firmware", "student", "teacher", "profile"), "x")
    assert not Verdict(**content, checks=[], measured={}).passed


def test_both_decide_after_the_mean_of_the_core() -> None:
    assert gate.decision_latency_ps(report(cycles=Cycles(100, 210.0, 300, 315))) == 600_000
