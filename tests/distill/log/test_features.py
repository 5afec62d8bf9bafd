"""Logs of features: the same integers, the same student, the same match as from the signals behind them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.features import PreviousAction, RlCcCongestion
from decision.policy.policy import Header
from distill.log.features import FeatureStates, feature_integers
from distill.log.files import columns_log
from distill.log.importing import import_log
from distill.log.record import read_recorded
from distill.options import DistillOptions
from distill.recorded_labels import distil_recorded
from distill.rollout import recorded
from rlcc.gate.teacher_match import errors_of_labels

CONGESTION = RlCcCongestion(kind="rl_cc_congestion", target=0.064, beta=1.5, scale=-1.0)


@given(st.lists(st.integers(0, 2**24 - 1), min_size=1, max_size=20))
def test_values_on_the_grid_are_the_integers_they_stand_for(integers: list[int]) -> None:
    values = CONGESTION.float_of(np.array(integers, dtype=np.float64))
    assert np.abs(feature_integers(CONGESTION, values) - np.array(integers)).max() <= 1


@given(st.integers(-10_923, 13_107))
def test_a_signed_feature_keeps_its_sign(action: int) -> None:
    feature = PreviousAction(kind="previous_action")
    assert feature_integers(feature, feature.float_of(np.array([float(action)]))).tolist() == [action]


def test_values_beyond_the_format_are_its_ends() -> None:
    assert feature_integers(CONGESTION, np.array([-0.064, -10.0, 1e9])).tolist() == [0, 0, 2**24 - 1]


@pytest.fixture
def both(header: Header, log_columns: Callable[..., dict[str, Any]], tmp_path: Path) -> tuple[Any, Any]:
    """Records of one log, by its signals and by its features."""
    signals = log_columns()
    import_log(columns_log(signals, "log"), "mine", header, None, tmp_path / "signals")
    states = read_recorded(tmp_path / "signals").runs[0].trajectories
    rows, _ = states.float_rows(header.observation)
    order = np.lexsort((signals["t_ps"], signals["flow"]))
    features = {name: signals[name][order] for name in ("flow", "t_ps", "label")}
    features["feature.rl_cc_congestion"] = rows[:, 0]
    import_log(columns_log(features, "log"), "mine", header, None, tmp_path / "features")
    return read_recorded(tmp_path / "signals"), read_recorded(tmp_path / "features")


def test_features_of_a_log_are_those_of_its_signals(header: Header, both: tuple[Any, Any]) -> None:
    signals, features = (record.runs[0].trajectories for record in both)
    assert isinstance(features, FeatureStates)
    of_signals, whole = signals.integer_rows(header.observation, header.params())
    of_features, whole_too = features.integer_rows(header.observation, header.params())
    assert (whole == whole_too).all()
    off = CONGESTION.float_of(of_signals.astype(float)) - CONGESTION.float_of(of_features.astype(float))
    assert np.abs(off).max() < 0.002  # the firmware's inflation has steps of 2^-10


def test_other_features_are_another_record(header: Header, tmp_path: Path) -> None:
    """The hash that stands for a teacher is of what was seen, too."""
    columns: dict[str, Any] = {"flow": [0, 0, 0], "t_ps": [0, 10**7, 2 * 10**7], "label": [1.0, 1.0, 1.0]}
    hashes = set()
    for last in (0.5, 0.25):
        columns["feature.rl_cc_congestion"] = [0.0, 0.0, last]
        import_log(columns_log(columns, "log"), "mine", header, None, tmp_path / f"{last}")
        hashes.add(opened(tmp_path / f"{last}", "rollouts").parents["teacher"])
    assert len(hashes) == 2


@pytest.mark.parametrize("value", [-10.0, 1e9])
def test_a_value_that_the_feature_never_has_is_refused(header: Header, tmp_path: Path, value: float) -> None:
    columns: dict[str, Any] = {"flow": [0, 0, 0], "t_ps": [0, 10**7, 2 * 10**7], "label": [1.0, 1.0, 1.0]}
    columns |= {"feature.rl_cc_congestion": [-0.064, 4.0, value]}
    with pytest.raises(InputError, match=r"row 3.*rl_cc_congestion"):
        import_log(columns_log(columns, "log"), "mine", header, None, tmp_path / "rollouts")
    columns["feature.rl_cc_congestion"][2] = 0.5
    assert import_log(columns_log(columns, "log"), "mine", header, None, tmp_path / "rollouts").rows == 3


def test_whoever_reads_the_rollouts_sees_the_features(header: Header, both: tuple[Any, Any], tmp_path: Path) -> None:
    observation = header.observation
    (run,) = recorded(tmp_path / "features", observation.agents)
    read, _ = run.trajectories.integer_rows(observation, header.params())
    want, _ = both[1].runs[0].trajectories.integer_rows(observation, header.params())
    assert want.any()
    assert (read == want).all()
    other = observation.features[0].model_copy(update={"target": 0.5})
    with pytest.raises(InputError, match="features"):
        run.trajectories.float_rows(observation.model_copy(update={"features": [other]}))


def test_the_student_of_features_matches_on_signals_and_the_reverse(header: Header, both: tuple[Any, Any]) -> None:
    signals, features = both
    small = DistillOptions(trees=4, depth=3, learning_rate=[0.7])
    student = distil_recorded(features, small, seed=1).student
    params, program = student.params(), student.program()
    errors = [
        errors_of_labels(program, student.observation, params, header, record.runs[0]) for record in (signals, features)
    ]
    assert len(errors[0]) == len(errors[1]) == 600
    assert np.abs(errors[0] - errors[1]).mean() < 0.002
    assert np.sqrt(np.mean(errors[1] ** 2)) < 0.02


def test_one_feature_of_two_is_not_enough(
    queue_header: Header, header_of: Callable[[str], tuple[str, Header]], tmp_path: Path
) -> None:
    from distill.log.columns import layout, resolved

    observation = queue_header.observation
    level = observation.features[0]
    sent = level.model_copy(update={"signal": "sent_bytes"})
    two = observation.model_copy(update={"features": [level, sent]})
    of = layout(queue_header.model_copy(update={"observation": two}))
    first, second = of.features
    with pytest.raises(InputError, match=second):
        resolved(of, [], ("queue", "t_ps", first), "log")
    assert set(resolved(of, [], ("queue", "t_ps", first, second), "log")) == {"queue", "t_ps", first, second}
