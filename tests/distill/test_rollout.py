"""Rollouts: what is written is what the simulator said, and what does not fit is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.records import record_columns
from decision.policy.tree_decision import feature_names
from distill import rollout
from distill.options import RolloutOptions


@pytest.fixture
def folder(runs: Any, teacher: Any, network: RolloutOptions, tmp_path: Path) -> Path:
    rollout.write(runs, teacher, tmp_path / "rollouts", network)
    return tmp_path / "rollouts"


def resealed(folder: Path, content: bytes, parents: dict[str, str]) -> Path:
    """Another Parquet file under a manifest that vouches for it."""
    with writing(folder.parent / "resealed", rollout.KIND, parents=parents) as work:
        (work / rollout.FILE).write_bytes(content)
    return folder.parent / "resealed"


def test_a_round_trip_gives_the_same_runs(runs: Any, teacher: Any, folder: Path) -> None:
    again = list(rollout.read(folder, teacher))
    assert [(r.scenario, r.seed) for r in again] == [(r.scenario, r.seed) for r in runs]
    for before, after in zip(runs, again, strict=True):
        assert np.array_equal(before.trajectories.position, after.trajectories.position)
        for name, ctype in record_columns(FLOW_RATE).items():
            assert after.trajectories.columns[name].dtype == ctype
            assert np.array_equal(before.trajectories.columns[name], after.trajectories.columns[name])


def test_two_seeds_of_one_scenario_stay_two_runs(teacher: Any, tmp_path: Path) -> None:
    given = {"scenarios": ["many-to-one:2"], "seeds": [3, 4], "duration": "1 ms"}
    options = RolloutOptions.model_validate(given)
    runs = rollout.collect(rollout.teacher_policy(teacher), options)
    rollout.write(runs, teacher, tmp_path / "r", options)
    again = list(rollout.read(tmp_path / "r", teacher))
    assert [(r.seed, len(r.trajectories)) for r in again] == [(r.seed, len(r.trajectories)) for r in runs]
    assert [r.seed for r in again] == [3, 4]


def test_the_stored_features_and_actions_are_the_firmwares_and_the_teachers(
    runs: Any, teacher: Any, folder: Path
) -> None:
    table = pq.read_table(folder / rollout.FILE)
    observation = teacher.policy.observation
    rows = np.concatenate([r.trajectories.integer_rows(observation, teacher.policy.params())[0] for r in runs])
    for i, name in enumerate(feature_names(observation)):
        assert np.array_equal(table[f"feature.{name}"].to_numpy(), rows[:, i])
    # The teacher drove: what it would have done is what was done, but for float32 in another order of additions.
    gap = table["teacher_q16"].to_numpy().astype(int) - table["action_q16"].to_numpy().astype(int)
    assert np.abs(gap).max() <= 2
    assert np.ptp(table["action_q16"].to_numpy()) > 1000


def test_the_same_inputs_give_the_same_bytes(teacher: Any, network: RolloutOptions, tmp_path: Path) -> None:
    for name in ("a", "b"):
        runs = rollout.collect(rollout.teacher_policy(teacher), network)
        rollout.write(runs, teacher, tmp_path / name, network)
    files = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert files == ["manifest.json", rollout.FILE]
    for name in files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_another_teachers_rollouts_are_refused(other_teacher: Any, folder: Path) -> None:
    with pytest.raises(InputError, match="another teacher"):
        list(rollout.read(folder, other_teacher))


@pytest.mark.parametrize("kept", [0, 1, 100, 0.5, 0.999])
def test_a_truncated_parquet_is_refused(teacher: Any, folder: Path, kept: float) -> None:
    whole = (folder / rollout.FILE).read_bytes()
    part = whole[: int(kept * len(whole)) if isinstance(kept, float) else kept]
    (folder / rollout.FILE).write_bytes(part)
    with pytest.raises(InputError, match="changed after"):
        list(rollout.read(folder, teacher))
    sealed = resealed(folder, part, {"teacher": teacher.hash})
    with pytest.raises(InputError, match="is not readable"):
        list(rollout.read(sealed, teacher))


def test_a_parquet_without_a_column_is_refused(teacher: Any, folder: Path) -> None:
    for column in ("seed", "rate_q30"):
        sink = pa.BufferOutputStream()
        pq.write_table(pq.read_table(folder / rollout.FILE).drop_columns([column]), sink)
        sealed = resealed(folder, sink.getvalue().to_pybytes(), {"teacher": teacher.hash})
        with pytest.raises(InputError, match=column):
            list(rollout.read(sealed, teacher))


def test_networks_in_which_nobody_decides_are_refused(teacher: Any, tmp_path: Path) -> None:
    options = RolloutOptions.model_validate({"scenarios": ["many-to-one:2"], "duration": "1 us"})
    runs = rollout.collect(rollout.teacher_policy(teacher), options)
    with pytest.raises(InputError, match="longer duration"):
        rollout.write(runs, teacher, tmp_path / "r", options)
    assert not (tmp_path / "r").exists()


def test_the_manifest_names_the_teacher_and_the_options(
    teacher: Any, folder: Path, network: RolloutOptions, runs: Any
) -> None:
    manifest = opened(folder, rollout.KIND)
    assert manifest.parents == {"teacher": teacher.hash}
    assert RolloutOptions.model_validate(manifest.details["options"]) == network
    assert manifest.details["rows"] == sum(len(r.trajectories) for r in runs)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenarios": []}, "scenarios"),
        ({"scenarios": ["many-to-one:2", "many-to-one:2"]}, "stands twice"),
        ({"scenarios": ["many-to-none:2"]}, "unknown scenario"),
        ({"scenarios": ["many-to-one:0"]}, "many-to-one:0"),
        ({"seeds": [1, 1]}, "stands twice"),
        ({"seeds": [-1]}, "seeds"),
        ({"duration": "0 ms"}, "duration"),
        ({"duration": 40}, "has no unit"),
        ({"decision_latency": "0.9"}, "decision_latency"),
        ({"duratoin": "4 ms"}, "no such key"),
    ],
)
def test_wrong_options_are_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        validate(RolloutOptions, {"scenarios": ["many-to-one:2"]} | change, "here")
    assert str(refused.value).startswith("here: ")
    assert "\n" not in str(refused.value)
