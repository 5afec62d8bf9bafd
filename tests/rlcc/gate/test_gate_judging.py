"""The gate with the slow parts in its hands replaced: what it asks, of what, in which order, and what comes of it."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from made_reports import report

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.student import load_student
from emulator.build import Build
from emulator.compile import Toolchain
from emulator.firmware_folder import read_firmware
from emulator.host import HostReport
from emulator.report import Cycles, EmulationReport
from emulator.tree_inputs import tree_inputs
from netsim.policies import Installed
from rlcc.cycles.measure import LineCost, PathCosts
from rlcc.gate import comparison, gate
from rlcc.gate.certified import Certified
from rlcc.gate.check_cache import Remembered
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.fidelity import ROLES, FidelityComparison, compare
from rlcc.gate.job import Evidence
from rlcc.gate.names import named
from rlcc.gate.neighbourhood import Outside
from rlcc.gate.provenance import PARENTS
from rlcc.gate.teacher_match import Errors
from rlcc.gate.verdict import CostlyLine, Verdict, WorstPath
from rlcc.recipe import EmulateOptions, GateOptions, Sizes
from teachers.load import load
from verify.behaviour.decide import Behaviour
from verify.check.refused import Refused
from verify.code.failures import Failure
from verify.ranges.bound import Bound
from verify.trusted.certificate import FindingClaim, PropertyClaim
from verify.trusted.deviation import TeacherClaim
from verify.trusted.properties import NoCycle, Step

REPORT = report(clock_mhz=330.0, cycles=Cycles(100, 120.0, 120, 130), slowest=None)
METRICS = {"goodput": 0.95, "latency_mean_us": 20.0, "jain": 0.9, "loss": 0.001}
COSTS = PathCosts("worst", "witness", 130.0, (LineCost("part", "f", 42, "x", 9.0),))
PATH = WorstPath(input="witness", cycles=130, lines=[CostlyLine(function="f", line=42, text="x", cycles=9)])
PROOF = named("proof.certificate")(value="holds", limit="it", passed=True)
EYES = named("teacher.interface")(value="they do", limit="the same", passed=True)
CLAIM = TeacherClaim(
    teacher="7" * 64,
    share=0.2,
    action=0.02,
    signals={"congestion_q20": [0, 2**24 - 1]},
    step=328,
    bound=0.22,
    reached=0.21,
    witness={"action_1": 0, "congestion_q20": 5},
    student=0.2,
    around=[-0.16, -0.01],
)
OUTSIDE = Outside(0.1, 0.2, (-0.1, 0.1), "a state", 0.1, 100, 10, 4, 4, 0, True)
LATENCY_PS = round(120 * 1_000_000 / 330)


def options(**changes: Any) -> GateOptions:
    match = {"rmse": 0.01, "p99": 0.05, "maximum": 0.35, "duration": "2 ms", "seed": 5}
    asked = {"budget": "0.9 us", "scenarios": ["many-to-one:2"], "seeds": [3], "duration": "4 ms", "match": match}
    return GateOptions.model_validate({**asked, "window": ["1 ms", "3 ms"], **changes})


NO_BOUND = Failure("loop", 0, "of the test")


@dataclass
class Stage:
    """What the replaced parts answer, and what they were asked."""

    folder: Path
    report: EmulationReport = REPORT
    differing: list[str] = field(default_factory=list)
    proof: Certified = field(
        default_factory=lambda: Certified(
            PROOF,
            SimpleNamespace(  # type: ignore[arg-type]
                hash="c" * 64,
                claims=SimpleNamespace(worst_case=SimpleNamespace(cycles=135)),
                behaviour=[],
                teacher=None,
            ),
        )
    )
    errors: Errors = field(default_factory=lambda: Errors("rollouts of the test", 10, 0.001, 0.01, 0.1))
    student: dict[str, float] = field(default_factory=lambda: dict(METRICS))
    outside: Outside = OUTSIDE
    claimed: Callable[[], TeacherClaim] = lambda: CLAIM
    found_again: Callable[[], int] = lambda: 1
    same_eyes: bool = True
    unprovable: str = ""
    bound: Bound | Failure = NO_BOUND
    asked: dict[str, list[Any]] = field(default_factory=dict)
    meanwhile: Callable[[], None] = lambda: None
    said: list[str] = field(default_factory=list)

    def judge(self, evidence: Evidence | None = None, engine: EmulateOptions | None = None, **changes: Any) -> Verdict:
        return gate.judge(
            self.folder / "firmware",
            self.folder / "teacher",
            engine or EmulateOptions(),
            options(**changes),
            self.said.append,
            evidence=evidence,
        ).verdict


def compared() -> list[FidelityComparison]:
    """Of a student that is as its teacher, who has no noise."""
    same = [PolicyMetrics(name, "many-to-one:2", (3,), (METRICS,)) for name in ROLES]
    return compare(same, options().tolerance)


def unlinked(firmware: Path, tools: Toolchain) -> Build:
    """A build of which the replaced parts need no code."""
    return Build(read_firmware(firmware), tools, (), (), (), None, None)


@pytest.fixture(scope="session")
def rows(good: Path) -> Any:
    return tree_inputs(read_firmware(good / "firmware"))


@pytest.fixture
def stage(good: Path, rows: Any, monkeypatch: pytest.MonkeyPatch) -> Stage:
    made = Stage(good)

    def answering(name: str, answer: Callable[[], Any]) -> None:
        def part(*given: Any, **named: Any) -> Any:
            made.asked.setdefault(name, []).append((given, named))
            return answer()

        monkeypatch.setattr(gate if hasattr(gate, name) else comparison, name, part)

    outcomes = [
        lambda: PolicyMetrics("teacher", "many-to-one:2", (3,), (METRICS,)),
        lambda: PolicyMetrics("student", "many-to-one:2", (3,), (made.student,)),
        lambda: PolicyMetrics("teacher, 10 ns later", "many-to-one:2", (3,), (METRICS,)),
    ]
    answering("differences", lambda: made.differing)
    answering("run_vectors", lambda: made.report)

    def building(firmware: Any, tools: Any) -> Build:
        made.asked.setdefault("build_firmware", []).append((firmware.folder, tools))
        return Build(firmware, tools, (), (), (), None, None)

    monkeypatch.setattr(gate, "build_firmware", building)
    answering("host_compilers", lambda: {"clang": None, "gcc": None})
    answering(
        "run_on_host",
        lambda: HostReport(made.asked["run_on_host"][-1][1]["compiler"], "12", "-O2", 1000, 0, None, None),
    )
    answering("certified", lambda: made.proof)
    answering("unprovable", lambda: made.unprovable)
    answering("bounded", lambda: made.bound)
    answering("slowest_costs", lambda: COSTS)
    answering("tree_inputs", lambda: rows)
    answering("own_rollouts", lambda: ["own"])
    answering("given_rollouts", lambda: ["given"])
    answering("compare", lambda: made.errors)
    answering("furthest", lambda: made.outside)
    answering("distance", lambda: made.claimed())
    answering("distance_again", lambda: made.found_again())
    answering("same_eyes", lambda: EYES.model_copy(update={"passed": made.same_eyes}))
    monkeypatch.setattr(gate.StatesMet, "watching", lambda self, runs: runs)
    monkeypatch.setattr(comparison, "native", lambda policy, weights: ("native", policy, weights))
    monkeypatch.setattr(comparison, "interpreted_program", lambda program, installed: ("program", program, installed))

    def network(*given: Any, **named: Any) -> list[PolicyMetrics]:
        made.asked.setdefault("network", []).append((given, named))
        made.meanwhile()
        return [outcome() for outcome in outcomes]

    monkeypatch.setattr(comparison.closed_loop, "run", network)
    return made


def failed(verdict: Verdict) -> list[str]:
    return [check.group for check in verdict.checks if not check.passed]


def test_a_good_folder_passes_with_every_group_in_its_order(stage: Stage) -> None:
    found = stage.judge()
    assert found.passed
    groups = list(dict.fromkeys(check.group for check in found.checks))
    assert groups == ["equality", "object code", "size", "proof", "budget", "teacher", "network"]
    assert [check.id for check in found.checks] == [
        *(f"equality.{what}" for what in ("core", "emitted", "parents", "thresholds")),
        "object_code.forbidden",
        *(f"size.{what}" for what in ("code", "table", "context", "stack")),
        "proof.certificate",
        *("budget.wcet", "budget.slowest_vector"),
        *(f"teacher.{what}" for what in ("rmse", "p99", "maximum", "interface", "deviation", "deviation_bound")),
        *(f"network.{metric}[many-to-one:2]" for metric in ("goodput", "latency", "fairness", "loss")),
    ]
    manifest = opened(stage.folder / "firmware", "firmware")
    assert (found.firmware, found.student) == (manifest.hash, manifest.parents["student"])
    assert (found.policy, found.teacher) == ("hand-made", load(stage.folder / "teacher").hash)
    assert found.profile.startswith("ibex-small")
    assert found.worst_path == PATH
    assert found.measured == {
        "emulation": REPORT.to_json(),
        "certificate": "c" * 64,
        "worst_case_cycles": 135,
        "bound_cycles": None,
        "teacher": vars(stage.errors),
        "network": [PolicyMetrics(name, "many-to-one:2", (3,), (METRICS,)).to_json() for name in ROLES],
        "fidelity": [one.to_json() for one in compared()],
        "closest_to_limit": "network.goodput[many-to-one:2]",
        "neighbourhood": vars(OUTSIDE),
        "distance": CLAIM.model_dump(mode="json"),
    }


def test_each_part_is_asked_about_this_folder(stage: Stage) -> None:
    stage.judge(engine=EmulateOptions(profile="ibex-maxperf", optimise="-O3"))
    firmware, teacher = stage.folder / "firmware", load(stage.folder / "teacher")
    student = load_student(firmware / "student.json")
    ((given, _),) = stage.asked["differences"]
    assert given[0] == opened(firmware, "firmware")
    ((folder, tools),) = stage.asked["build_firmware"]
    assert (folder, tools.profile.name, tools.compiler.name, tools.opt) == (firmware, "ibex-maxperf", "clang", "-O3")
    ((given, named),) = stage.asked["run_vectors"]
    build = given[0]
    assert (build.firmware.folder, build.toolchain) == (firmware, tools)
    ((given, named),) = stage.asked["slowest_costs"]
    assert (given[0], given[1], named) == (build, 0, {"certificate": stage.proof.certificate})
    ((given, _),) = stage.asked["certified"]
    assert given[:2] == (build, firmware.resolve().parent / "certificate/certificate.json")
    assert given[2].profile == "ibex-maxperf"
    ((given, _),) = stage.asked["own_rollouts"]
    assert (given[0].hash, given[1], given[2].seed) == (teacher.hash, ["many-to-one:2"], 5)
    ((given, _),) = stage.asked["compare"]
    assert (given[1], given[2], given[3].hash) == (student.observation, student.params(), teacher.hash)
    assert (list(given[4]), given[5]) == (["own"], "rollouts of seed 5")
    ((given, _),) = stage.asked["network"]
    entries, networks = given[:2]
    assert [(e.name, e.policy[0], e.decision_latency_ps) for e in entries] == [
        ("teacher", "native", LATENCY_PS),
        ("student", "program", LATENCY_PS),
        ("teacher, 10 ns later", "native", LATENCY_PS + 10_000),
    ]
    assert entries[2].policy is entries[0].policy
    assert entries[0].policy[1] == teacher.policy
    assert entries[1].policy[2] == Installed.of(student, entries[1].policy[1])
    assert (networks.scenarios, networks.seeds) == (["many-to-one:2"], [3])
    assert (networks.duration_ps, networks.window_ps) == (4 * 10**9, (10**9, 3 * 10**9))
    assert "run_on_host" not in stage.asked
    places = [
        next(n for n, said in enumerate(stage.said) if word in said) for word in ("certificate", "core", "actions")
    ]
    assert places == sorted(places)
    assert any("worst path" in said for said in stage.said)


def test_actions_may_be_compared_in_scenarios_of_their_own(stage: Stage) -> None:
    stage.judge(match={"scenarios": "papers", "seed": 5})
    ((given, _),) = stage.asked["own_rollouts"]
    assert given[1] == ["many-to-one:8", "many-to-one:64", "many-to-one:512", "many-to-one:1024", "many-to-one:2048"]
    ((given, _),) = stage.asked["network"]
    assert given[1].scenarios == ["many-to-one:2"]


def test_what_was_built_and_run_before_is_not_made_again(stage: Stage) -> None:
    tools = EmulateOptions().toolchain()
    build = unlinked(stage.folder / "firmware", tools)
    assert stage.judge(Evidence(build=build, emulation=REPORT)).passed
    assert not {"build_firmware", "run_vectors"} & set(stage.asked)
    assert stage.asked["slowest_costs"][0][0][0] is build
    stage.asked.clear()
    assert stage.judge(Evidence(build=build)).passed
    assert [given[0] for given, _ in stage.asked["run_vectors"]] == [build]


def test_the_toolchain_is_that_of_the_build(stage: Stage) -> None:
    tools = EmulateOptions(profile="ibex-maxperf").toolchain()
    build = unlinked(stage.folder / "firmware", tools)
    assert stage.judge(Evidence(build=build)).profile.startswith("ibex-maxperf")


def test_an_emulation_kept_beside_the_firmware_is_not_run_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = replace(REPORT, cycles=Cycles(100, 120.0, 120, 131))
    asked: list[Any] = []
    monkeypatch.setattr(gate, "stored_report", lambda *given: asked.append(given) or earlier)
    assert stage.judge().measured["emulation"] == earlier.to_json()
    assert "run_vectors" not in stage.asked
    assert [place for _, place, _ in asked] == [(stage.folder / "emulation").resolve()]


def test_the_worst_path_is_the_slowest_vectors_and_the_budget_names_its_line(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    unplaced = replace(COSTS, lines=(LineCost("part", "f", 0, "", 9.0),))
    stage.report = report(clock_mhz=330.0, cycles=Cycles(100, 120.0, 120, 130))
    asked: list[int] = []
    for costs, line in ((COSTS, 42), (unplaced, 0)):
        monkeypatch.setattr(gate, "slowest_costs", lambda *given, costs=costs, **_: asked.append(given[1]) or costs)
        verdict = stage.judge()
        assert asked.pop() == 7, "the slowest vector's number"
        assert {check.line for check in verdict.checks if check.group == "budget"} == {line}


def test_into_the_cells_of_knobs_that_are_set_anew_nothing_looks(stage: Stage) -> None:
    for context, looked in ((("rate_q30",), True), ((), False)):
        stage.asked.clear()
        agents = SimpleNamespace(context=context)
        pupil = SimpleNamespace(
            pupil=SimpleNamespace(observation=SimpleNamespace(agents=agents), forest=SimpleNamespace(outputs=1)),
            teacher=SimpleNamespace(policy=None, weights=None, hash=""),
        )
        job = SimpleNamespace(say=stage.said.append, options=options())
        checks, measured = comparison.around_the_states(job, pupil, None)  # type: ignore[arg-type]
        assert ("furthest" in stage.asked, "distance" in stage.asked, len(checks)) == (looked, looked, 3)
        assert [check.value.startswith("not ") for check in checks[1:]] == [not looked] * 2
        assert [part is not None for part in measured.values()] == [looked, looked]
        assert checks[0].id == EYES.id


def test_a_build_of_another_folder_is_not_taken_for_this_one(stage: Stage, tmp_path: Path) -> None:
    tools, elsewhere = EmulateOptions().toolchain(), tmp_path / "firmware"
    shutil.copytree(stage.folder / "firmware", elsewhere)
    build = unlinked(elsewhere, tools)
    with pytest.raises(InputError, match="not the firmware"):
        stage.judge(Evidence(build=build, emulation=REPORT))


def test_a_folder_that_is_not_as_emitted_is_judged_by_that_alone(stage: Stage) -> None:
    stage.differing = ["rlcc_policy.c"]
    found = stage.judge()
    assert [check.id for check in found.checks] == [
        *("equality.emitted", "equality.parents"),
        *(f"{group}.all" for group in ("object_code", "size", "proof", "budget", "teacher", "network")),
    ]
    assert [check.passed for check in found.checks] == [False, True, *[False] * 6]
    asked = stage.judge(property=[Step()])
    assert [check.group for check in asked.checks if check.group == "behaviour"] == ["behaviour"]
    stage.asked.pop("differences")
    stage.judge()
    assert found.measured == {}
    assert list(stage.asked) == ["differences"]


@pytest.mark.parametrize(
    ("change", "group"),
    [
        ({"mismatches": 1}, "equality"),
        ({"fault": "trap"}, "equality"),
        ({"cycles": None}, "equality"),
        ({"forbidden": ("static data",)}, "object code"),
        ({"code_bytes": 10**6}, "size"),
        ({"cycles": Cycles(1, 1.0, 1, 136)}, "budget"),
    ],
)
def test_each_part_of_the_core_can_fail_the_whole(stage: Stage, change: dict[str, Any], group: str) -> None:
    stage.report = replace(REPORT, **change)
    found = stage.judge()
    assert not found.passed
    assert group in failed(found)
    equal = group != "equality"
    assert ("compare" in stage.asked, "network" in stage.asked, "teacher" in found.measured) == (equal, equal, equal)
    ran = "cycles" not in change or change["cycles"] is not None
    assert (found.worst_path is not None) == (ran and "fault" not in change)


def test_each_part_beside_the_teacher_can_fail_the_whole(stage: Stage) -> None:
    stage.errors = replace(stage.errors, p99=0.06)
    assert failed(stage.judge()) == ["teacher"]
    stage.errors = replace(stage.errors, p99=0.01)
    stage.student["goodput"] = 0.9
    assert failed(stage.judge()) == ["network"]
    stage.student["goodput"] = METRICS["goodput"]
    assert failed(stage.judge(budget="1 ns")) == ["budget"]
    assert failed(stage.judge(sizes=Sizes(stack=15))) == ["size"]


def test_the_cells_of_the_forest_are_judged_where_both_see_the_same(stage: Stage) -> None:
    found = stage.judge()
    (((student, teacher, allowed), _),) = stage.asked["furthest"]
    assert (student.name, teacher.hash, allowed) == ("hand-made", found.teacher, options().neighbourhood)
    (((seen, policy), _),) = stage.asked["same_eyes"]
    assert (seen.name, policy) == (student.name, teacher.policy)
    ids = [check.id for check in found.checks if check.group == "teacher"]
    assert ids[-3:] == [
        "teacher.interface",
        "teacher.deviation",
        "teacher.deviation_bound",
    ]
    assert any("cells of the" in said for said in stage.said)
    stage.outside = replace(OUTSIDE, distance=0.9)
    assert failed(stage.judge()) == ["teacher"]
    stage.asked.clear()
    stage.same_eyes = False
    blind = stage.judge()
    assert failed(blind) == ["teacher"] * 3
    assert (blind.measured["neighbourhood"], blind.measured["distance"]) == (None, None)
    assert "furthest" not in stage.asked


def test_all_states_are_judged_by_the_limit_that_the_recipe_says(stage: Stage) -> None:
    stage.judge()
    (((student, policy, weights, teacher, around, say), _),) = stage.asked["distance"]
    there = load(stage.folder / "teacher")
    assert (student.name, policy, teacher) == ("hand-made", there.policy, there.hash)
    assert weights.keys() == there.weights.keys()
    assert around == options().neighbourhood.around
    say("so many boxes")
    assert stage.said[-1] == "so many boxes"
    assert any("all states" in said for said in stage.said)
    assert stage.judge(neighbourhood={"limit": 0.3, "proved_limit": 0.22}).passed
    assert failed(stage.judge(neighbourhood={"limit": 0.3, "proved_limit": 0.219})) == ["teacher"]


def certified_with(stage: Stage, **claims: Any) -> None:
    """The certificate that holds says this besides."""
    assert stage.proof.certificate is not None
    said = {**vars(stage.proof.certificate), **claims}
    stage.proof = replace(stage.proof, certificate=SimpleNamespace(**said))  # type: ignore[arg-type]


def test_a_distance_that_the_certificate_holds_is_not_proved_anew(stage: Stage) -> None:
    certified_with(stage, teacher=CLAIM.model_copy(update={"share": 0.2, "action": 0.02, "bound": 0.249}))
    found = stage.judge()
    assert "distance" not in stage.asked
    assert found.measured["distance"]["bound"] == 0.249
    assert stage.judge(neighbourhood={"proved_limit": 0.249}).passed
    assert failed(stage.judge(neighbourhood={"proved_limit": 0.248})) == ["teacher"]
    for another in ({"share": 0.1}, {"action": 0.01}):
        stage.asked.clear()
        assert stage.judge(neighbourhood=another).measured["distance"] == CLAIM.model_dump(mode="json")
        assert len(stage.asked["distance"]) == 1
    stage.proof = replace(stage.proof, certificate=None)  # it does not hold: nothing of it is taken
    stage.asked.clear()
    assert stage.judge().measured["distance"] == CLAIM.model_dump(mode="json")


def test_the_certificates_properties_are_taken_and_others_decided(stage: Stage) -> None:
    def claim(asked: Any) -> PropertyClaim:
        told = FindingClaim(says=f"by certificate, {asked.kind}", verdict="fails", value="0", witness={"x": 1})
        return PropertyClaim(asked=asked.model_dump(mode="json"), findings=[told])

    step, circles = Step(at_least=0.9), NoCycle()
    certified_with(stage, behaviour=[claim(step)])
    rows = [check for check in stage.judge(property=[circles, Step(), step]).checks if check.group == "behaviour"]
    assert ["by certificate" in row.name for row in rows] == [False, False, True]
    assert [row.id for row in rows] == ["behaviour.no_cycle[1]", "behaviour.step[1]", "behaviour.step[2]"]
    assert [row.passed for row in rows] == [True, True, False]
    assert rows[2].detail == "with x=1"
    assert "behaviour" in stage.said
    stage.said.clear()
    stage.judge(property=[step])
    assert "behaviour" not in stage.said


def test_a_distance_that_is_not_proved_fails_where_the_recipe_does_not_say_otherwise(stage: Stage) -> None:
    def refused() -> TeacherClaim:
        raise InputError("by-hand is an LSTM")

    stage.claimed = refused
    for demanded in ({}, {"proved_limit": 4.0}):
        found = stage.judge(neighbourhood=demanded)
        (check,) = [check for check in found.checks if not check.passed]
        assert (check.id, check.value, check.detail) == ("teacher.deviation_bound", "no proof", "by-hand is an LSTM")
        assert found.measured["distance"] == {"refused": "by-hand is an LSTM"}
        assert found.measured["neighbourhood"] == vars(OUTSIDE)
    found = stage.judge(neighbourhood={"proof": False})
    assert found.passed
    (check,) = [check for check in found.checks if check.id == "teacher.deviation_bound"]
    assert (check.limit, check.note) == ("not judged", "by-hand is an LSTM")
    assert all(text in check.value for text in ("no proof", "not demanded"))
    stage.claimed = lambda: CLAIM
    assert failed(stage.judge(neighbourhood={"proof": False, "limit": 0.219})) == ["teacher"]


def test_a_distance_that_the_checker_does_not_find_again_is_not_proved(stage: Stage) -> None:
    def refused() -> int:
        raise Refused("a state may be further outside")

    stage.found_again = refused
    (check,) = [check for check in stage.judge().checks if not check.passed]
    assert (check.id, check.value) == ("teacher.deviation_bound", "no proof")


def test_a_property_of_which_nothing_is_found_has_a_row_that_fails(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlcc.gate.behaviour.decided_twice", lambda *_: Behaviour("", ((Step(), ()),)))
    rows = [check for check in stage.judge(property=[Step()]).checks if check.group == "behaviour"]
    assert [row.passed for row in rows] == [False]


def test_a_threshold_without_vectors_fails_and_stops(stage: Stage, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "tree_inputs", lambda _: np.zeros_like(rows))
    assert failed(stage.judge()) == ["equality", "teacher", "network"]
    assert "network" not in stage.asked


def test_a_forged_parent_fails_and_nothing_else_is_left_out_for_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = named(PARENTS)(value="another", limit="as named", passed=False)
    monkeypatch.setattr(gate, "provenance", lambda *_: wrong)
    assert failed(stage.judge()) == ["equality"]
    assert {"compare", "network"} <= set(stage.asked)


def test_the_host_is_asked_with_each_of_its_compilers(stage: Stage) -> None:
    found = stage.judge(run_on_host=True)
    assert [named["compiler"] for _, named in stage.asked["run_on_host"]] == ["clang", "gcc"]
    assert {given[0].folder for given, _ in stage.asked["run_on_host"]} == {stage.folder / "firmware"}
    assert [check.id for check in found.checks][:2] == ["equality.host[clang]", "equality.host[gcc]"]
    assert any("the host, gcc" in said for said in stage.said)


def test_a_proof_that_does_not_hold_fails_and_its_cycles_count_for_nothing(stage: Stage) -> None:
    stage.proof = Certified(PROOF.model_copy(update={"passed": False}), None)
    found = stage.judge()
    assert failed(found) == ["proof"]
    assert (found.measured["certificate"], found.measured["worst_case_cycles"]) == (None, None)
    assert "budget.measured" in [check.id for check in found.checks]


@pytest.mark.parametrize(
    ("proof", "unprovable", "given", "asked"),
    [
        (True, "", False, True),
        (True, "no model", False, False),
        (True, "no model", True, True),
        (True, "", True, True),
        (False, "", False, False),
        (False, "", True, False),
    ],
)
def test_a_certificate_is_asked_for_where_there_can_be_one(
    stage: Stage, tmp_path: Path, proof: bool, unprovable: str, given: bool, asked: bool
) -> None:
    stage.unprovable = unprovable
    evidence = Evidence(certificate=tmp_path / "c.json" if given else None, remembered=Remembered(use=False))
    found = stage.judge(evidence, proof=proof)
    assert ("certified" in stage.asked) is asked
    if asked:
        ((call, _),) = stage.asked["certified"]
        assert call[1] == (tmp_path / "c.json" if given else stage.folder.resolve() / "certificate/certificate.json")
        assert call[4] is evidence.remembered
    (row,) = [check for check in found.checks if check.group == "proof"]
    assert row.passed is (asked or not proof)
    assert row.detail == ("no model" if proof and not asked else "")
    budget = next(check for check in found.checks if check.group == "budget")
    assert budget.id == ("budget.wcet" if asked else "budget.measured")
    assert ("margin" in budget.name) is not asked
    assert budget.line == 42
    assert stage.asked["slowest_costs"][0][1] == {"certificate": stage.proof.certificate if asked else None}


def test_where_nothing_is_proved_equal_the_budget_is_held_by_a_bound(stage: Stage) -> None:
    stage.bound = Bound(140, 32, 1000)
    found = stage.judge(proof=False)
    assert found.measured["bound_cycles"] == 140
    worst, slowest = [check for check in found.checks if check.group == "budget"]
    assert worst.id == "budget.bound"
    assert worst.value.startswith("140 cycles")
    assert slowest.limit == "140 cycles, the bound"
    stage.judge()
    assert len(stage.asked["bounded"]) == 1  # where there is a certificate none is looked for


def test_given_rollouts_are_compared_and_named(stage: Stage, tmp_path: Path) -> None:
    stage.judge(Evidence(rollouts=tmp_path / "held-out"))
    ((given, _),) = stage.asked["given_rollouts"]
    assert (given[0], given[1].hash) == (tmp_path / "held-out", load(stage.folder / "teacher").hash)
    ((compared, _),) = stage.asked["compare"]
    assert (compared[4], compared[5]) == (["given"], "rollouts held-out")
    assert "own_rollouts" not in stage.asked


def test_a_reference_is_of_the_same_engine_and_its_regression_counts(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    check = named("regression.code")(value="1", limit="0", passed=False)
    monkeypatch.setattr(gate, "check_same_engine", lambda *given: asked.append(given))
    monkeypatch.setattr(gate, "regression", lambda *given: asked.append(given) or [check])
    reference: Any = object()
    assert failed(stage.judge(Evidence(reference=reference), max_regression=0.25)) == ["regression"]
    assert asked == [(reference, REPORT), (reference, REPORT, 135, 0.25, 42)]
    asked.clear()
    assert stage.judge().passed
    assert asked == []


# --- what keeps a folder from being judged ---------------------------------------------------------------------------


@pytest.fixture
def copied(stage: Stage, tmp_path: Path) -> Stage:
    stage.folder = Path(shutil.copytree(stage.folder, tmp_path / "copy"))
    return stage


def reseal(copied: Stage, resealed: Any, edit: Callable[[Path], None]) -> None:
    """Change the copied firmware, and seal it."""
    folder = copied.folder / "firmware"
    old = folder.rename(copied.folder / "old")
    resealed(old, folder, edit)


@pytest.mark.parametrize("when", ["differences", "run_vectors", "compare"])
def test_a_folder_that_changes_while_it_is_judged_is_refused(
    copied: Stage, resealed: Any, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Whenever it happens, and though the new one is sealed too."""
    place = comparison if when == "compare" else gate
    answer = getattr(place, when)

    def meanwhile(*given: Any, **named: Any) -> Any:
        reseal(copied, resealed, lambda folder: (folder / "rlcc_policy.h").write_text("/* another */\n"))
        return answer(*given, **named)

    monkeypatch.setattr(place, when, meanwhile)
    with pytest.raises(InputError, match=r"it was (judged|read)"):
        copied.judge()


def test_one_that_changed_after_it_was_built_is_refused(copied: Stage, resealed: Any) -> None:
    build = unlinked(copied.folder / "firmware", EmulateOptions().toolchain())
    reseal(copied, resealed, lambda folder: (folder / "rlcc_policy.h").write_text("/* another */\n"))
    with pytest.raises(InputError, match="changed while it"):
        copied.judge(Evidence(build=build))


def test_one_that_changes_meanwhile_without_a_seal_is_refused_too(copied: Stage) -> None:
    copied.meanwhile = lambda: (copied.folder / "firmware/rlcc_policy.h").write_text("/* another */\n") and None
    with pytest.raises(InputError, match="changed after rlcc"):
        copied.judge()


def test_one_that_is_written_again_as_it_was_is_judged(copied: Stage, resealed: Any) -> None:
    copied.meanwhile = lambda: reseal(copied, resealed, lambda _: None)
    assert copied.judge().passed


def test_another_teacher_is_refused_before_anything_runs(copied: Stage, save_teacher: Callable[..., None]) -> None:
    shutil.rmtree(copied.folder / "teacher")
    save_teacher(copied.folder / "teacher", gain=0.5)
    with pytest.raises(InputError, match="from another teacher"):
        copied.judge()
    assert copied.asked == {}


def test_a_student_is_not_judged_without_a_teacher(stage: Stage) -> None:
    with pytest.raises(InputError, match="needs --teacher or"):
        gate.judge(stage.folder / "firmware", None, EmulateOptions(), options())
    assert stage.asked == {}


@pytest.mark.parametrize("kind", ["student", "firmware"])
def test_what_is_no_teacher_is_refused(copied: Stage, kind: str) -> None:
    shutil.rmtree(copied.folder / "teacher")
    shutil.copytree(copied.folder / kind, copied.folder / "teacher")
    with pytest.raises(InputError, match=f"of kind {kind}"):
        copied.judge()


def test_a_folder_without_a_student_is_refused(copied: Stage, resealed: Any) -> None:
    reseal(copied, resealed, lambda folder: (folder / "student.json").unlink())
    with pytest.raises(InputError, match=r"holds none of student\.json, network\.json, model\.json"):
        copied.judge()


@pytest.mark.parametrize("name", ["student.json", "program.json"])
def test_a_program_that_is_not_its_students_is_refused(copied: Stage, resealed: Any, name: str) -> None:
    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        content["ensemble"]["trees"][0]["leaves"][0] ^= 1
        (folder / name).write_text(json.dumps(content))

    reseal(copied, resealed, edit)
    with pytest.raises(InputError, match=r"the program of student\.json"):
        copied.judge()
    assert copied.asked == {}


def test_an_engine_or_compiler_that_is_not_there_is_said_first(stage: Stage) -> None:
    for engine, says in (
        (EmulateOptions(profile="nosuch"), "no engine profile 'nosuch'"),
        (EmulateOptions(optimise="-Oh"), "-Oh"),
    ):
        with pytest.raises(InputError, match=says):
            stage.judge(engine=engine)
    assert stage.asked == {}


def test_a_compiler_that_is_not_there_is_said_first(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, isa: str) -> None:
        raise InputError(f"there is no {name} for {isa}")

    monkeypatch.setattr("emulator.compile.find_compiler", missing)
    with pytest.raises(InputError, match="no clang for rv32im"):
        stage.judge()
    assert stage.asked == {}


def test_the_gate_speaks_to_no_one_where_no_one_listens(stage: Stage) -> None:
    firmware, teacher = stage.folder / "firmware", stage.folder / "teacher"
    assert gate.judge(firmware, teacher, EmulateOptions(), options()).verdict.passed
