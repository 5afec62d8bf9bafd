"""Records of decisions become rows of features: against a brute-force walk through each flow's history."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.policy.records import Trajectories, record_columns
from decision.policy.tree_decision import build_observer

KINDS = ("previous_action", "rl_cc_congestion", "rtt_inflation", "rate", "cnp_ratio")
PARAMS = {"base_rtt_recip_q42": 2**29, "rate_min_q30": 1074, "rate_max_q30": 2**30, "rate_initial_q30": 2**30}
COLUMNS = record_columns(FLOW_RATE)


def observation(window, kinds=KINDS):
    return make_student([FEATURES[k] for k in kinds], ACTIONS[0], (), window=window).observation


@st.composite
def recorded(draw):
    """A few flows; some runs do not begin with the flow's first decision, some have gaps, some flows start anew."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rows = []
    for flow in range(draw(st.integers(1, 4))):
        t, step = 0, draw(st.sampled_from([0, 0, 3]))
        for _ in range(draw(st.integers(0, 12))):
            t += int(rng.integers(1, 10**7))
            sent = int(rng.integers(0, 2**32))
            rows.append(
                {
                    "t_ps": t,
                    "flow": flow,
                    "step": step,
                    "request_sent_ns": sent,
                    "response_ns": (sent + int(rng.integers(4000, 100_000))) % 2**32,
                    "cnp_count": int(rng.integers(0, 4)),
                    "nack_count": int(rng.integers(0, 2)),
                    "sent_bytes": int(rng.integers(0, 20_000)),
                    "queue_bytes": int(rng.integers(0, 10**6)),
                    "rate_q30": int(rng.integers(1, 2**30)),
                    "action_q16": int(rng.integers(-10923, 13108)),
                    "output": 0.5,
                }
            )
            step = {"next": step + 1, "gap": step + 3, "new": 0}[draw(st.sampled_from(["next"] * 8 + ["gap", "new"]))]
    order = rng.permutation(len(rows))
    return {name: np.array([rows[i][name] for i in order], dtype=kind) for name, kind in COLUMNS.items()}


def walked(trajectories, window, now, initial, kinds=KINDS):
    """Rows and validity by going back decision by decision. ``now[kind][row]`` is the feature's current value."""
    c = trajectories.columns
    rows, valid = [], []

    def before(row):
        """The decision before in the same unbroken run; None at the run's start."""
        together = row > 0 and c["flow"][row] == c["flow"][row - 1] and c["step"][row] == c["step"][row - 1] + 1
        return row - 1 if together else None

    for row in range(len(trajectories)):
        values, whole, at = [], True, row
        for _ in range(window):
            for kind in kinds:
                if kind != "previous_action":
                    values.append(initial[kind] if at is None else now[kind][at])
                    continue
                earlier = None if at is None else before(at)
                values.append(initial[kind] if earlier is None else now[kind][earlier])
                # Unknown, unless it is known that there was none.
                whole &= earlier is not None or at is None or c["step"][at] == 0
            if at is not None:
                following, at = at, before(at)
                whole &= at is not None or c["step"][following] == 0 or _ == window - 1
        rows.append(values)
        valid.append(whole)
    return np.array(rows).reshape(len(rows), window * len(kinds)), np.array(valid, dtype=bool)


@settings(max_examples=examples(80))
@given(recorded(), st.integers(1, 4))
def test_integer_rows_are_the_walk(records, window):
    trajectories, obs = Trajectories.of(records), observation(window)
    program, nodes, *_ = build_observer(obs)
    c = {name: column.astype(np.int64) for name, column in trajectories.columns.items() if name != "output"}
    context = {"rate_q30": c["rate_q30"], "action": c["action_q16"]}
    values = trace(program, {n: c[n] for n in FLOW_RATE.event_names}, PARAMS, context)
    now = {kind: values[node] for kind, node in zip(KINDS, nodes, strict=True)}
    wanted, whole = walked(trajectories, window, now, dict.fromkeys(KINDS, 0))
    rows, valid = trajectories.integer_rows(obs, PARAMS)
    assert np.array_equal(valid, whole)
    assert np.array_equal(rows[valid], np.minimum(wanted[whole], FEATURE_LIMIT - 1))


@settings(max_examples=examples(80))
@given(recorded(), st.integers(1, 4))
def test_float_rows_are_the_walk_and_valid_where_the_integer_rows_are(records, window):
    trajectories, obs = Trajectories.of(records), observation(window)
    read = trajectories.reading(obs)
    now = {f.kind: f.float_value(read, obs.place) for f in obs.features}
    now["previous_action"] = 1 + trajectories.columns["action_q16"] / 2**16
    initial = {f.kind: f.initial for f in obs.features}
    wanted, whole = walked(trajectories, window, now, initial)
    rows, valid = trajectories.float_rows(obs)
    assert np.array_equal(valid, whole)
    assert np.allclose(rows[valid], wanted[whole], rtol=0, atol=0)
    assert np.array_equal(valid, trajectories.integer_rows(obs, PARAMS)[1])


@settings(max_examples=examples(40))
@given(recorded(), st.integers(1, 3))
def test_float_and_integer_rows_agree(records, window):
    """Undone, each integer is the float to within its format."""
    trajectories, obs = Trajectories.of(records), observation(window)
    floats, valid = trajectories.float_rows(obs)
    integers, _ = trajectories.integer_rows(obs, PARAMS)
    for column in range(obs.size):
        feature = obs.features[column % len(KINDS)]
        f, k = floats[valid, column], integers[valid, column]
        undone, within = {
            "previous_action": (1 + k / 2**16, 1e-12),
            "rl_cc_congestion": (-12.5 * (0.064 - np.sqrt(np.maximum(k, 0) / 2**20)), 12.5 * (2**-10 + 2**-10)),
            "rtt_inflation": (1 + k / 2**10, 2**-10),
            "rate": (k / 2**20, 2**-20),
            "cnp_ratio": (k / 2**8, 2**-8),
        }[feature.kind]
        assert ((np.abs(undone - f) <= within) | (k >= FEATURE_LIMIT - 1)).all(), feature.kind


def test_a_run_that_does_not_begin_with_the_flow_is_not_whole_until_its_window_is():
    columns = {name: np.zeros(6, dtype=kind) for name, kind in COLUMNS.items()}
    columns["t_ps"][:] = range(6)
    columns["step"][:] = [5, 6, 7, 0, 1, 2]  # recorded from the sixth decision on; then the flow is new again
    trajectories = Trajectories.of(columns)
    assert trajectories.starts().tolist() == [0, 3]
    assert trajectories.integer_rows(observation(2), PARAMS)[1].tolist() == [False, False, True, True, True, True]
    assert trajectories.float_rows(observation(2))[1].tolist() == [False, False, True, True, True, True]
    only = observation(1, ("rtt_inflation", "rate"))
    assert trajectories.integer_rows(only, PARAMS)[1].all(), "no history is needed"


def test_rows_are_sorted_by_flow_and_time():
    columns = {name: np.zeros(4, dtype=kind) for name, kind in COLUMNS.items()}
    columns["flow"][:] = [2, 1, 2, 1]
    columns["t_ps"][:] = [20, 40, 10, 30]
    columns["step"][:] = [1, 1, 0, 0]
    sorted_ = Trajectories.of(columns)
    assert sorted_.columns["t_ps"].tolist() == [30, 40, 10, 20]
    assert sorted_.position.tolist() == [0, 1, 0, 1]


def test_no_rows_are_no_rows():
    columns = {name: np.zeros(0, dtype=kind) for name, kind in COLUMNS.items()}
    rows, valid = Trajectories.of(columns).integer_rows(observation(2), PARAMS)
    assert rows.shape == (0, 10)
    assert valid.shape == (0,)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_missing_column_is_named(name):
    columns = {n: np.zeros(1, dtype=kind) for n, kind in COLUMNS.items() if n != name}
    with pytest.raises(InputError, match=f"column {name}; .*rlcc rollout"):
        Trajectories.of(columns)


def test_the_float_sides_inputs_are_in_their_units():
    columns = {name: np.zeros(2, dtype=kind) for name, kind in COLUMNS.items()}
    columns["step"][:] = columns["t_ps"][:] = [0, 1]
    columns["request_sent_ns"][:] = 2**32 - 100
    columns["response_ns"][:] = 9900
    columns["rate_q30"][:] = 2**29
    columns["action_q16"][:] = [-6554, 0]
    kinds = ("rtt_inflation", "rate", "previous_action")
    rows, _ = Trajectories.of(columns).float_rows(observation(1, kinds))
    assert rows.tolist() == [[10_000 / 8192, 0.5, 1.0], [10_000 / 8192, 0.5, 1 - 6554 / 65536]]
