"""The teachers that are kept: they load, and they control congestion."""

from pathlib import Path

import pytest

import teachers
from decision.artefact.errors import InputError
from netsim.network import MS
from teachers.report import fit, main, measure_all
from teachers.validation import Measured, measure, measure_changing

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "teachers"
NAMES = ["rl-cc-mlp", "rl-cc-lstm-small", "pcc-rl-lstm"]
CEILING = 1024 / 1106  # payload of a packet on the wire


@pytest.mark.parametrize("name", NAMES)
def test_has_the_architecture_of_the_paper(name: str) -> None:
    architecture = teachers.load(FOLDER / name).policy.architecture
    expected = {"rl-cc-mlp": ([12], None), "rl-cc-lstm-small": ([12], 12), "pcc-rl-lstm": ([32, 16], 16)}[name]
    assert (architecture.hidden, architecture.lstm) == expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flows", [8, 64])
def test_controls_congestion(name: str, flows: int) -> None:
    teacher = teachers.load(FOLDER / name)
    found = measure(teacher.policy, teacher.weights, flows, settle_ps=40 * MS, measure_ps=20 * MS, seed=11)
    assert 0.88 <= found.goodput <= CEILING
    assert found.loss == 0
    assert found.inflation == pytest.approx(found.ideal_inflation, rel=0.03)
    assert found.jain > 0.98


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_controls_up_to_1024_flows(name: str) -> None:
    found = list(measure_all(teachers.load(FOLDER / name), (2, 4, 16, 64, 128, 256, 512, 1024), seed=12))
    assert all(m.goodput >= 0.88 and m.loss == 0 for m in found)
    line = fit(found)
    assert line.slope == pytest.approx(0.064, rel=0.05)
    assert line.intercept == pytest.approx(1.5, rel=0.05)
    assert line.r2 > 0.99


@pytest.mark.slow_except("rl-cc-mlp")
@pytest.mark.parametrize("name", ["rl-cc-mlp", "rl-cc-lstm-small", "pcc-rl-lstm"])
def test_8192_flows_lose_nothing(name: str) -> None:
    teacher = teachers.load(FOLDER / name)
    found = measure(teacher.policy, teacher.weights, 8192, settle_ps=50 * MS, measure_ps=120 * MS, seed=3)
    assert found.loss == 0
    assert found.goodput >= 0.89
    assert found.inflation < 11  # 7.3 in theory; Swift: 15.5


def test_the_robust_teacher_controls_crowds_and_loses_nothing_at_their_start() -> None:
    teacher = teachers.load(FOLDER / "robust")
    assert teacher.policy.start is not None
    for flows in (8, 64):
        start = measure(teacher.policy, teacher.weights, flows, settle_ps=0, measure_ps=40 * MS, seed=11)
        assert start.loss == 0
        found = measure(teacher.policy, teacher.weights, flows, settle_ps=40 * MS, measure_ps=20 * MS, seed=11)
        assert 0.88 <= found.goodput <= CEILING
        assert found.inflation == pytest.approx(found.ideal_inflation, rel=0.05)
        assert found.jain > 0.98


@pytest.mark.parametrize("scenario", ["long-short:33", "incast:32"])
def test_the_robust_teacher_loses_nothing_where_flows_come_and_go(scenario: str) -> None:
    robust, plain = (teachers.load(FOLDER / name) for name in ("robust", "rl-cc-mlp"))
    ours = measure_changing(robust.policy, robust.weights, scenario, time_ps=40 * MS, seed=11)
    theirs = measure_changing(plain.policy, plain.weights, scenario, time_ps=40 * MS, seed=11)
    assert ours.loss == 0 < theirs.loss
    assert ours.goodput >= 0.9 * ours.ideal_goodput
    assert ours.slowdown < 1.5 * ours.ideal_slowdown


def test_one_set_of_weights_serves_both_ways_of_the_robust_teacher() -> None:
    by_rate, capped = (teachers.load(FOLDER / name) for name in ("robust", "robust-in-flight"))
    assert by_rate.policy.in_flight is None
    assert capped.policy.in_flight is not None
    assert by_rate.weights.keys() == capped.weights.keys()
    assert all((by_rate.weights[name] == capped.weights[name]).all() for name in by_rate.weights)


def test_the_teacher_that_decides_once_a_round_trip_is_rl_ccs_in_all_else() -> None:
    plain, once = (teachers.load(FOLDER / name) for name in ("rl-cc-mlp", "rl-cc-once-per-rtt"))
    own = {"name": plain.policy.name, "once_per_rtt": False, "provenance": plain.policy.provenance}
    assert once.policy.once_per_rtt
    assert once.policy.model_copy(update=own) == plain.policy
    assert plain.weights.keys() == once.weights.keys()
    assert all((plain.weights[name] == once.weights[name]).all() for name in plain.weights)


@pytest.mark.parametrize("scenario", ["long-short:33", "incast:32", "websearch:60%"])
def test_the_cap_lets_flows_start_faster_without_loss(scenario: str) -> None:
    by_rate, capped = (
        measure_changing(teacher.policy, teacher.weights, scenario, time_ps=40 * MS, seed=11)
        for teacher in (teachers.load(FOLDER / name) for name in ("robust", "robust-in-flight"))
    )
    assert capped.loss == 0
    assert capped.goodput >= 0.89 * capped.ideal_goodput  # the long flow climbs by a decision every second burst
    assert capped.slowdown < 1.2 * capped.ideal_slowdown + 0.5
    assert capped.slowdown < by_rate.slowdown


def test_fit_finds_the_line_it_was_given() -> None:
    def at(flows: int, inflation: float) -> Measured:
        return Measured(flows, 0.9, 1.0, 0.0, 10.0, 11.0, inflation, 0.0, 1.0)

    line = fit([at(n, 0.05 * n**0.5 + 1.25) for n in (2, 8, 64, 512)])
    assert (line.slope, line.intercept, line.r2) == pytest.approx((0.05, 1.25, 1.0))
    assert fit([at(4, 2.0), at(9, 2.0), at(16, 3.0)]).r2 < 0.9
    with pytest.raises(InputError):
        fit([at(4, 2.0)])


def test_report_of_nothing_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["nowhere"]) == 2
    assert "no teacher nowhere" in capsys.readouterr().err
