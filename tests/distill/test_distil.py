"""DAgger: the student drives the program that becomes firmware, the teacher labels; same inputs, same bytes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from catboost import CatBoostRegressor

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.renamed_keys import from_record
from decision.ir.forest import oblivious
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.program import Op
from decision.policy.records import Trajectories
from decision.policy.student import NAME, load_student
from distill import dataset, distil, quantise, rollout
from distill.closeness import Distance
from distill.dataset import join
from distill.fit import enforce
from distill.fitted_student import MODEL, Fitted
from distill.options import DistillOptions, RolloutOptions
from distill.student_artefact import KIND
from netsim import simulate
from netsim.network import MS
from netsim.policies import interpreted
from teachers.inference import decide
from teachers.teacher import make_teacher


def test_the_student_on_disk_is_the_student(fitted: Any, student_folder: Path, teacher: Any) -> None:
    manifest = opened(student_folder, KIND)
    assert manifest.parents == {"teacher": teacher.hash, "rollouts": "0" * 64}
    assert load_student(student_folder / NAME) == fitted.student


def test_the_cbm_on_disk_predicts_what_the_ensemble_computes(fitted: Any, student_folder: Path, runs: Any) -> None:
    model = CatBoostRegressor()
    model.load_model(str(student_folder / MODEL))
    ensemble, params = fitted.student.forest, fitted.student.params()
    x = np.concatenate([r.trajectories.integer_rows(fitted.student.observation, params)[0] for r in runs])
    points = np.concatenate([x, quantise.edge_points(ensemble, x, seed=2)])
    error = np.abs(ensemble.evaluate(points)[:, 0] / 2**ensemble.leaf_bits - model.predict(points.astype(np.float32)))
    assert error.max() == 0
    assert quantise.quantise(model, ensemble.features, ensemble.leaf_bits) == ensemble


def test_the_same_inputs_and_seed_give_the_same_bytes(
    fitted: Any, teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, tmp_path: Path
) -> None:
    again = distil.distil(teacher, runs, small, network, seed=1)
    for name, each in (("a", fitted), ("b", again)):
        distil.save(each, "0" * 64, tmp_path / name, seed=1)
    files = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert files == ["manifest.json", "student.cbm", "student.json"]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_dagger_rounds_label_the_states_that_the_student_ran_into(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Round 1's rows were driven by round 0's student (replayed here), in networks with seeds of their own, and the
    label is what the TEACHER would have done there."""
    seen: list[tuple[list[rollout.Rollout], list[dataset.Dataset]]] = []
    students = []
    label, fit = distil.label, distil._fit

    def watched_label(given: list[rollout.Rollout], *rest: Any, **options: Any) -> list[dataset.Dataset]:
        seen.append((given, label(given, *rest, **options)))
        return seen[-1][1]

    def watched_fit(*rest: Any) -> Fitted:
        students.append(fit(*rest))
        return students[-1]

    monkeypatch.setattr(distil, "label", watched_label)
    monkeypatch.setattr(distil, "_fit", watched_fit)
    distil.distil(teacher, runs, small.model_copy(update={"rounds": 2}), network, seed=1)
    assert len(students) == 3  # the first fit and two rounds
    assert len(seen) == 4  # the teacher's own decisions, then each student's
    for number in (1, 2, 3):
        driven, labelled = seen[number]
        driver = students[number - 1].student
        assert [r.seed for r in driven] == [1 + 1000 * number] * 2
        for run, data in zip(driven, labelled, strict=True):
            rows, whole = run.trajectories.integer_rows(driver.observation, driver.params())
            assert whole.all()
            low, high = driver.action.limits_q16()
            own = np.clip(driver.forest.evaluate(rows)[:, 0], low, high)
            assert np.array_equal(own, run.trajectories.columns["action_q16"])  # the student drove
            wanted, _ = decide(teacher, run.trajectories)
            assert np.array_equal(data.y, wanted - 1)  # the teacher labelled
            assert np.array_equal(data.x, rows)
            assert np.abs(data.y[:, 0] - own / 2**16).max() > 0.001  # and they do not agree everywhere
        states = {tuple(row) for data in labelled for row in data.x}
        teachers = {tuple(row) for data in seen[0][1] for row in data.x}
        assert len(states - teachers) > len(states) / 2


def test_rows_limits_each_run(runs: Any, teacher: Any) -> None:
    parts = dataset.label(runs, teacher, teacher.policy.observation, rows=100, seed=1)
    assert [len(p) for p in parts] == [min(100, len(r.trajectories)) for r in runs]
    assert all(p.weight.sum() == pytest.approx(1) for p in parts)


@pytest.mark.slow_except("many-to-one:2-4000000000")
@pytest.mark.parametrize(
    ("scenario", "duration_ps"),
    [("many-to-one:2", 4 * MS), ("many-to-one:8", 8 * MS), ("long-short:4", 21 * MS)],
)
def test_integer_rows_are_the_state_that_the_running_program_saw(fitted: Any, scenario: str, duration_ps: int) -> None:
    """Replays each flow step by step from a zeroed context through the NumPy meaning: rates, actions and the trees'
    features must be those that the simulator recorded and those that ``Trajectories`` computes from the records."""
    student = fitted.student
    decision = student.program()
    trees = next(node for node in decision.nodes if node.op is Op.TREES)
    params = student.params()
    result = simulate(
        scenario, interpreted(student), seed=5, duration_ps=duration_ps, window_ps=(0, 10**9), record=True
    )
    records = Trajectories.of(result.records)
    rows, _ = records.integer_rows(student.observation, params)
    used = [student.forest.features.index(name) for name in decision.forest.features]
    columns = records.columns
    compared = 0
    for flow in np.unique(columns["flow"])[:3]:
        state: dict[str, Any] = {}
        for row in np.flatnonzero(columns["flow"] == flow):
            if columns["step"][row] == 0:
                state = {s.name: np.int64(0) for s in decision.state}
            event = {name: columns[name][row] for name in FLOW_RATE.event_names}
            values = trace(decision, event, params, state)
            assert [min(int(values[a][0]), FEATURE_LIMIT - 1) for a in trees.args] == rows[row, used].tolist()
            known = int(state["rate_q30"]) or params["rate_initial_q30"]
            assert int(columns["rate_q30"][row]) == known
            state = {s.name: values[s.node][0] for s in decision.state}
            compared += 1
    assert compared > 30
    if scenario.startswith("long-short"):
        assert np.count_nonzero(columns["step"] == 0) >= 7  # short flows came back as new ones


def test_an_lstm_teacher_gives_a_student_that_looks_at_four_decisions(make_policy: Any, tmp_path: Path) -> None:
    policy = make_policy(
        architecture={"kind": "lstm", "hidden": [4], "lstm": 4, "bias": False}, observation={"window": 1}
    )
    rng = np.random.default_rng(3)
    shapes = {"fc0.weight": (4, 2), "lstm.weight_ih": (16, 4), "lstm.weight_hh": (16, 4), "out.weight": (1, 4)}
    weights = {name: rng.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}
    weights |= {name: np.zeros(16, np.float32) for name in ("lstm.bias_ih", "lstm.bias_hh")}
    teacher = make_teacher(policy, weights, "the test")
    network = RolloutOptions.model_validate({"scenarios": ["many-to-one:2", "many-to-one:8"], "duration": "15 ms"})
    limits = {"trees": 4, "depth": 3, "rounds": 1, "rows": 2000, "window": 4, "learning_rate": [0.4]}
    options = DistillOptions.model_validate(limits | {"comparison_window": ["5 ms", "15 ms"]})
    runs = rollout.collect(rollout.teacher_policy(teacher), network)
    fitted = distil.distil(teacher, runs, options, network, seed=1)
    distil.save(fitted, "0" * 64, tmp_path / "student", seed=1)
    student = load_student(tmp_path / "student" / NAME)
    assert student.observation.window == 4
    assert student.forest.features == (
        *("action_1", "congestion_q20", "action_2", "congestion_q20_1"),
        *("action_3", "congestion_q20_2", "action_4", "congestion_q20_3"),
    )
    labels = np.concatenate([p.y for p in dataset.label(runs, teacher, student.observation, rows=2000, seed=1)])
    assert student.report["rounds"][0]["fit_rmse"] < 0.7 * labels.std()  # it learnt something of it
    driven = rollout.collect(interpreted(student), network)
    assert len(driven[0].trajectories) > 50


def test_limits_are_enforced_whatever_the_fit_gave(fitted: Any, small: DistillOptions) -> None:
    ensemble = fitted.student.forest
    enforce(fitted.student, small)
    more = replace(ensemble, trees=(*ensemble.trees, ensemble.trees[0]))
    deeper = replace(ensemble, trees=(*ensemble.trees[:-1], oblivious(((0, 0),) * 4, (0,) * 16)))
    for wrong in (more, deeper):
        with pytest.raises(InputError, match="limits 4 and 3"):
            enforce(replace(fitted.student, forest=wrong), small)


def test_a_constant_teacher_is_refused(make_policy: Any, network: RolloutOptions, small: DistillOptions) -> None:
    zeros = {"fc0.weight": np.zeros((12, 4), np.float32), "out.weight": np.zeros((1, 12), np.float32)}
    teacher = make_teacher(make_policy(), zeros, "the test")
    runs = rollout.collect(rollout.teacher_policy(teacher), network)
    with pytest.raises(InputError, match="decides the same"):
        distil.distil(teacher, runs, small, network, seed=1)


def test_a_feature_that_is_left_out_is_asked_for_by_no_tree(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions
) -> None:
    def asked(without: list[str]) -> set[str]:
        options = small.model_copy(update={"rounds": 0, "exclude_features": without})
        forest = distil.distil(teacher, runs, options, network, seed=1).student.forest
        return {forest.features[feature] for feature in forest.thresholds()}

    usual = asked([])
    for name in usual:
        assert asked([name]) - {name} == asked([name]) != usual


@pytest.mark.parametrize(
    ("excluded", "words"),
    [
        (["speed"], "'speed'; .*action_1, congestion_q20"),
        (["action_1", "congestion_q20", "action_2", "congestion_q20_1"], "feature is left"),
    ],
)
def test_features_that_cannot_be_left_out_are_told(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, excluded: list[str], words: str
) -> None:
    with pytest.raises(InputError, match=rf"distill\.exclude_features: .*{words}"):
        distil.distil(teacher, runs, small.model_copy(update={"exclude_features": excluded}), network, seed=1)


def test_the_report_says_how_it_was_found(fitted: Any, small: DistillOptions, runs: Any, teacher: Any) -> None:
    report = fitted.student.report
    assert DistillOptions.model_validate(from_record(DistillOptions, report["options"])) == small
    assert [r["round"] for r in report["rounds"]] == [0, 1]
    assert all(r["distance"]["of_tolerance"] > 0 and r["decisions"] > 0 for r in report["rounds"])
    assert report["noise"]["of_tolerance"] >= 0
    assert report["checked_points"] > 0
    labels = join(dataset.label(runs, teacher, fitted.student.observation, rows=small.rows, seed=1))
    y = labels.y[:, 0]
    spread = np.sqrt(np.average((y - np.average(y, weights=labels.weight)) ** 2, weights=labels.weight))
    assert report["rounds"][0]["fit_rmse"] < 0.7 * spread  # better than the best constant


@pytest.mark.parametrize(
    "change",
    [
        *({"trees": 0}, {"trees": 201}, {"depth": 0}, {"depth": 9}, {"borders": 0}, {"window": 17}, {"rounds": -1}),
        *(
            {"rows": 0},
            {"patience": 0},
            {"comparison_scenarios": []},
            {"learning_rate": []},
            {"learning_rate": [0.0]},
            {"learning_rate": [float("nan")]},
        ),
        *({"ridge": -1.0}, {"ridge": float("inf")}, {"leafs": 3}),
    ],
)
def test_options_out_of_range_are_one_sentence(change: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^here: {next(iter(change))}"):
        validate(DistillOptions, change, "here")


def test_a_window_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InputError, match=r"comparison_window .*2000000000 ps .*1000000000 ps"):
        validate(DistillOptions, {"comparison_window": ["2 ms", "1 ms"]}, "here")


def test_more_leaves_than_can_be_solved_for_are_refused_in_one_sentence() -> None:
    validate(DistillOptions, {"trees": 200, "depth": 6}, "here")
    with pytest.raises(InputError, match=r"200 .*depth 7 .*25600 .*12800") as no:
        validate(DistillOptions, {"trees": 200, "depth": 7}, "here")
    assert "\n" not in str(no.value)


def watched(monkeypatch: pytest.MonkeyPatch, distances: list[float]) -> list[Any]:
    """Every student that is fitted; its network is as far off as is said here, and the teacher from itself by 0.1."""
    students: list[Any] = []
    fit = distil._fit

    def watched_fit(*rest: Any) -> Fitted:
        students.append(fit(*rest))
        return students[-1]

    told, drive = iter(distances), distil.side_by_side

    def watched_drive(*rest: Any, limit: float, **more: Any) -> Any:
        side = drive(*rest, **more)
        worst = Distance("many-to-one:2", "latency", 0.0, next(told))
        standing = replace(side.standing, worst=worst, given_up=worst.of_tolerance > limit)
        return replace(side, standing=standing)

    monkeypatch.setattr(distil, "_fit", watched_fit)
    monkeypatch.setattr(distil, "side_by_side", watched_drive)
    monkeypatch.setattr(distil, "distance", lambda *_: Distance("many-to-one:2", "latency", 0.0, 0.1))
    return students


def test_the_student_that_comes_closest_in_the_network_is_kept(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    students = watched(monkeypatch, [3.0, 1.0, 2.0])
    kept = distil.distil(teacher, runs, small.model_copy(update={"rounds": 2}), network, seed=1)
    assert kept.student.report["chosen"] == 1
    assert kept.student.forest == students[1].student.forest
    assert [r["distance"]["of_tolerance"] for r in kept.student.report["rounds"]] == [3.0, 1.0, 2.0]
    assert kept.student.report["noise"]["of_tolerance"] == 0.1


def test_rounds_end_before_their_limit_when_none_comes_closer(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    students = watched(monkeypatch, [3.0, 1.0, 0.95, 2.0, 0.1])
    options = small.model_copy(update={"rounds": 4, "patience": 2})
    kept = distil.distil(teacher, runs, options, network, seed=1)
    assert len(students) == len(kept.student.report["rounds"]) == 4
    assert kept.student.report["chosen"] in (1, 2)


def test_each_round_has_seeds_of_its_own_for_student_and_teacher(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[list[int]] = []
    drive = distil.side_by_side

    def watched_drive(
        student: Any, original: Any, networks: Any, seeds: list[int], *rest: Any, later: bool, **_: Any
    ) -> Any:
        side = drive(student, original, networks, seeds, *rest, later=later)
        assert {run.seed for run in side.student.runs} == set(seeds)
        assert list(side.student.metrics) == list(side.teacher) == [(n, s) for n in networks.compare for s in seeds]
        used.append(seeds)
        return side

    monkeypatch.setattr(distil, "side_by_side", watched_drive)
    distil.distil(teacher, runs, small, network, seed=1)
    assert used == [[1001], [2001]]
