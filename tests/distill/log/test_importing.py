"""A log becomes rollouts: rows as they were, labels as integers, and a student without a network of rlcc's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import rlcc
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.policy import Header
from distill.log.files import columns_log
from distill.log.importing import Imported, import_log
from distill.log.labels import FunctionLabels, Labels, TeacherLabels
from distill.log.record import read_recorded, rows_hash
from distill.options import DistillOptions
from distill.recorded_labels import distil_recorded
from distill.rollout import FILE, KIND
from teachers.inference import decide
from teachers.teacher import Teacher

Make = Callable[..., dict[str, Any]]
SMALL = DistillOptions(trees=4, depth=3, learning_rate=[0.7])


def steer(rows: Any, state: Any) -> tuple[Any, Any]:
    return np.tanh(0.2 * rows[:, 0]), state


def write(columns: dict[str, Any], header: Header, folder: Path, labels: Labels | None = None, **more: Any) -> Imported:
    return import_log(columns_log(columns, "log"), "mine", header, labels, folder, **more)


def test_rows_come_back_as_they_were(header: Header, log_columns: Make, tmp_path: Path) -> None:
    columns = log_columns()
    made = write(columns, header, tmp_path / "rollouts")
    assert (made.rows, made.runs, made.agents, made.gaps) == (600, 1, 2, 0)
    table = pq.read_table(tmp_path / "rollouts" / FILE)
    order = np.lexsort((columns["t_ps"], columns["flow"]))
    sent, came = (table[name].to_numpy().astype(np.int64) for name in ("request_sent_ns", "response_ns"))
    assert ((came - sent) % 2**32 == columns["rtt_ns"][order]).all()
    assert (table["rate_q30"].to_numpy() == columns["rate_q30"][order]).all()
    assert (table["teacher_q16"].to_numpy() == np.rint(columns["label"][order] * 2**16) - 2**16).all()
    assert (table["action_q16"].to_numpy() == table["teacher_q16"].to_numpy()).all()
    assert table["step"].to_numpy().tolist() == [*range(300), *range(300)]


def test_the_same_log_has_the_same_hash_in_any_batches(
    header: Header, log_columns: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log_columns(), header, tmp_path / "whole")
    monkeypatch.setattr("distill.log.files.BATCH", 7)
    write(log_columns(), header, tmp_path / "parts")
    assert opened(tmp_path / "whole", KIND).hash == opened(tmp_path / "parts", KIND).hash
    other = log_columns()
    other["label"][5] = 0.9
    write(other, header, tmp_path / "other")
    assert opened(tmp_path / "other", KIND).parents != opened(tmp_path / "whole", KIND).parents


def test_a_run_column_parts_the_log(header: Header, log_columns: Make, tmp_path: Path) -> None:
    columns = log_columns() | {"run": np.array(["b", "a"])[np.arange(600) // 2 % 2]}
    assert write(columns, header, tmp_path / "rollouts").runs == 2
    record = read_recorded(tmp_path / "rollouts")
    assert [(run.scenario, len(run.trajectories)) for run in record.runs] == [("b", 300), ("a", 300)]
    assert record.source.name == "mine"


def test_a_gap_begins_a_new_history(header: Header, log_columns: Make, tmp_path: Path) -> None:
    columns = log_columns() | {"step": np.arange(600) // 2 + 10 * (np.arange(600) >= 300)}
    with pytest.raises(InputError, match="--allow-gaps"):
        write(columns, header, tmp_path / "rollouts")
    assert write(columns, header, tmp_path / "rollouts", allow_gaps=True).gaps == 2
    states = read_recorded(tmp_path / "rollouts").runs[0].trajectories
    _, whole = states.integer_rows(header.observation, header.params())
    assert np.flatnonzero(~whole).tolist() == [150, 450]


def test_a_function_labels_as_the_same_labels_in_the_log_do(header: Header, log_columns: Make, tmp_path: Path) -> None:
    columns = log_columns()
    del columns["label"]
    write(columns, header, tmp_path / "function", FunctionLabels.of(steer, header))
    run = read_recorded(tmp_path / "function").runs[0]
    rows, _ = run.trajectories.float_rows(header.observation)
    expected = header.action.decided(np.tanh(0.2 * rows[:, :1]))
    assert np.abs(run.labels / 2**16 + 1 - expected).max() <= 2**-17 + 1e-12
    assert read_recorded(tmp_path / "function").labels["from"] == "function"


def test_state_goes_along_an_agents_rows_and_begins_anew_with_the_next(
    header: Header, log_columns: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distill.log.labels.CHUNK", 64)
    seen: list[tuple[int, int]] = []

    def count(rows: Any, state: Any) -> tuple[Any, Any]:
        begin = 0 if state is None else state
        seen.append((begin, len(rows)))
        return np.where(np.arange(begin, begin + len(rows)) % 2, 0.5, -0.5), begin + len(rows)

    columns = log_columns()
    del columns["label"]
    write(columns, header, tmp_path / "rollouts", FunctionLabels.of(count, header))
    assert seen == [(0, 64), (64, 64), (128, 64), (192, 64), (256, 44)] * 2


def test_a_teachers_weights_label_as_the_teacher_decides(teacher: Teacher, log_columns: Make, tmp_path: Path) -> None:
    columns = log_columns()
    columns["applied"] = columns.pop("label")
    of = teacher.policy.header
    write(columns, of, tmp_path / "rollouts", TeacherLabels(teacher))
    assert opened(tmp_path / "rollouts", KIND).parents == {"teacher": teacher.hash}
    run = read_recorded(tmp_path / "rollouts").runs[0]
    decided, known = decide(teacher, run.trajectories)
    assert (run.labels == np.rint((decided - 1) * 2**16)).all()
    assert (run.known == known).all()


def test_earlier_decisions_must_be_in_the_log_where_the_policy_looks_at_them(
    teacher: Teacher, log_columns: Make, tmp_path: Path
) -> None:
    columns = log_columns()
    del columns["label"]
    with pytest.raises(InputError, match="column applied"):
        write(columns, teacher.policy.header, tmp_path / "rollouts", TeacherLabels(teacher))
    assert not (tmp_path / "rollouts").exists()


def test_knobs_are_labels_too(queue_header: Header, tmp_path: Path) -> None:
    queue = np.random.default_rng(1).integers(0, 3_000_000, 400)
    small = queue < 1_000_000
    columns = {
        "queue": ["port 1"] * 400,
        "t_ps": np.arange(400) * 50_000_000,
        "queue_bytes": queue,
        "label.kmin_bytes": np.where(small, 20000, 2560000),
        "label.kmax_bytes": np.where(small, 200000, 10240000),
        "label.pmax_q16": np.where(small, 6553, 655),
    }
    write(columns, queue_header, tmp_path / "rollouts")
    student = distil_recorded(read_recorded(tmp_path / "rollouts"), SMALL, seed=1).student
    assert student.report["rounds"][0]["fit_rmse"] == 0.0  # one threshold tells all rows
    columns["label.pmax_q16"] = np.where(small, 6553, 656)
    at = int(np.flatnonzero(~small)[0]) + 1
    with pytest.raises(InputError, match=f"row {at}:"):
        write(columns, queue_header, tmp_path / "others")


def test_the_student_is_fitted_to_the_labels_and_says_so(header: Header, log_columns: Make, tmp_path: Path) -> None:
    write(log_columns(), header, tmp_path / "rollouts")
    record = read_recorded(tmp_path / "rollouts")
    student = distil_recorded(record, SMALL, seed=1).student
    assert student.report["labels"] == {"from": "column", "rollouts": record.hash, "rows": rows_hash(record.runs)}
    assert student.teacher == record.source.hash
    assert student.report["rounds"][0]["fit_rmse"] < 0.02
    again = distil_recorded(record, SMALL, seed=1).student
    assert again.forest == student.forest


@pytest.mark.parametrize(
    "option",
    [
        {"uniform_state_samples": 1.0},
        {"frozen_signal_samples": 1.0},
        {"bias_search": [1]},
        {"max_deviation": 0.1},
        {"labels": "values"},
        {"exclude_features": ["nothing"]},
    ],
)
def test_an_option_that_asks_a_network_is_refused(
    header: Header, log_columns: Make, tmp_path: Path, option: dict[str, Any]
) -> None:
    write(log_columns(), header, tmp_path / "rollouts")
    with pytest.raises(InputError, match=rf"distill\.{next(iter(option))}"):
        distil_recorded(read_recorded(tmp_path / "rollouts"), SMALL.model_copy(update=option), seed=1)


def test_too_many_rows_are_refused_before_they_fill_the_memory(
    header: Header, log_columns: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distill.log.runs.MAX_BYTES", 10_000)
    with pytest.raises(InputError, match="more than"):
        write(log_columns(), header, tmp_path / "rollouts")


def test_a_long_log_has_several_files(
    header: Header, log_columns: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(log_columns(), header, tmp_path / "one")
    monkeypatch.setattr("distill.log.importing.SLICE", 50)
    monkeypatch.setattr("distill.log.importing.PART_BYTES", 3_000)
    write(log_columns(), header, tmp_path / "several")
    files = opened(tmp_path / "several", KIND).files
    assert len(files) > 3
    assert "rollouts-2.parquet" in files
    one, several = (read_recorded(tmp_path / name) for name in ("one", "several"))
    assert one.source == several.source
    assert (one.runs[0].labels == several.runs[0].labels).all()
    assert rlcc.Rollouts(tmp_path / "several").table().num_rows == 600


def test_rollouts_of_the_simulator_hold_no_labels(tmp_path: Path, runs: Any, teacher: Teacher, network: Any) -> None:
    from distill import rollout

    rollout.write(runs, teacher, tmp_path / "rollouts", network)
    with pytest.raises(InputError, match="no labels"):
        read_recorded(tmp_path / "rollouts")


def test_a_trigger_has_no_labels(header: Header, log_columns: Make, tmp_path: Path) -> None:
    triggered = header.model_copy(update={"trigger": object()})
    with pytest.raises(InputError, match="trigger"):
        write(log_columns(), triggered, tmp_path / "rollouts")
