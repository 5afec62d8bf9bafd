"""What a teacher would decide on recorded trajectories, in NumPy: it labels the rows that students are fitted to.

An MLP looks at each row alone. An LSTM runs along every unbroken run of a flow's decisions with a hidden state of its
own, all runs side by side: sorted by length, so that step t of every run that is so long is one matrix product.
Arithmetic is float32, as in training and in the simulator.
"""

import numpy as np
from numpy.typing import NDArray

from decision.activation import activated
from decision.records import Trajectories
from decision.weights import TRIGGER
from teachers.teacher import Teacher, Weights

Floats = NDArray[np.float32]
CHUNK = 1 << 16
"""Rows a matrix product: they stay in the cache."""


def decide(teacher: Teacher, trajectories: Trajectories) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """What each row decides by the policy's action map [N, values], and which rows are valid [N]: their whole history
    is on record.

    For an LSTM that means the run begins at the flow's first decision; the others start from a zero state.
    """
    outputs, valid = network_outputs(teacher, trajectories)
    decided = teacher.policy.action.decided(outputs.astype(np.float64))
    if teacher.policy.trigger is None:
        return decided, valid
    fires, known = triggers(teacher, trajectories)
    return np.where(fires[:, None], decided, trajectories.kept()), valid & known


def triggers(teacher: Teacher, trajectories: Trajectories) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a teacher's trigger fires in each row [N], and which rows are valid."""
    assert teacher.policy.trigger is not None
    rows64, valid = trajectories.float_rows(teacher.policy.observation)
    rows, valid = trajectories.with_saved(rows64, valid, teacher.policy.saved_size, teacher.policy.saved_initial())
    hidden, layers = rows.astype(np.float32), len(teacher.policy.trigger.hidden)
    for index in range(layers):
        hidden = np.maximum(_affine(teacher.weights, f"{TRIGGER}fc{index}", hidden), 0)
    worth = _affine(teacher.weights, f"{TRIGGER}out", hidden)
    return (worth[:, 1] > worth[:, 0]) | trajectories.new(), valid


def decide_states(teacher: Teacher, states: NDArray[np.float64], warm_up: int) -> NDArray[np.float64]:
    """What is decided [N, values] in states [N, window, features]: what the teacher sees of each decision, newest
    first.

    Of decisions before the window nothing is known: all are taken to be as the window's oldest. An MLP looks back so as
    far as its own window goes; an LSTM starts from zero and sees the oldest row ``warm_up`` times before the window."""
    count, window, _ = states.shape
    lstm = teacher.policy.architecture.lstm is not None
    back = window + warm_up if lstm else teacher.policy.observation.window
    lags = [min(lag, window - 1) for lag in range(back)]
    decided = []
    for i in range(0, max(count, 1), CHUNK // back):
        rows = states[i : i + CHUNK // back].astype(np.float32)
        if lstm:
            features = _feed(teacher, rows.reshape(-1, rows.shape[2])).reshape(len(rows), window, -1)
            along = features[:, lags[::-1]].reshape(len(rows) * back, features.shape[2])
            hidden = _unroll(teacher.weights, along, np.arange(len(rows)) * back)[back - 1 :: back]
        else:
            hidden = _feed(teacher, rows[:, lags].reshape(len(rows), -1))
        decided.append(_squashed(teacher, _affine(teacher.weights, "out", hidden)))
    return teacher.policy.action.decided(np.concatenate(decided).astype(np.float64))


def network_outputs(teacher: Teacher, trajectories: Trajectories) -> tuple[Floats, NDArray[np.bool_]]:
    """Outputs [N, K] of the network (after what follows the last layer), and which rows are valid."""
    rows, valid = trajectories.float_rows(teacher.policy.observation)
    starts = trajectories.starts()
    if teacher.policy.architecture.lstm is not None:
        from_start = trajectories.columns["step"][starts] == 0
        valid = np.repeat(from_start, np.diff(np.append(starts, len(rows))))
    return outputs_of(teacher, rows.astype(np.float32), starts), valid


def outputs_of(teacher: Teacher, rows: Floats, starts: NDArray[np.int64]) -> Floats:
    """Outputs [N, K] of rows [N, size] as the teacher sees them; an LSTM's memory is empty at each of ``starts``."""
    hidden = np.concatenate([_feed(teacher, rows[i : i + CHUNK]) for i in range(0, max(len(rows), 1), CHUNK)])
    if teacher.policy.architecture.lstm is not None:
        hidden = _unroll(teacher.weights, hidden, starts)
    return _squashed(teacher, _affine(teacher.weights, "out", hidden))


def _squashed(teacher: Teacher, outputs: Floats) -> Floats:
    return activated(teacher.policy.output_activation, outputs)


def _feed(teacher: Teacher, rows: Floats) -> Floats:
    for index, name in enumerate(teacher.policy.architecture.activations):
        rows = activated(name, _affine(teacher.weights, f"fc{index}", rows))
    return rows


def _affine(weights: Weights, layer: str, rows: Floats) -> Floats:
    product: Floats = rows @ weights[f"{layer}.weight"].T
    bias = weights.get(f"{layer}.bias")
    return product if bias is None else product + bias


def _unroll(weights: Weights, inputs: Floats, starts: NDArray[np.int64]) -> Floats:
    """Hidden states [N, H] along the runs that begin at ``starts``."""
    units = weights["lstm.weight_hh"].shape[1]
    # Sigmoid through tanh, (1 + tanh(x / 2)) / 2, which cannot overflow: halve the rows of gates i, f, o beforehand.
    halves = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], dtype=np.float32), units)[:, None]
    matrix = (np.hstack([weights["lstm.weight_ih"], weights["lstm.weight_hh"]]) * halves).T.copy()
    bias = (weights["lstm.bias_ih"] + weights["lstm.bias_hh"]) * halves[:, 0]

    lengths = np.diff(np.append(starts, len(inputs)))
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    hidden = np.zeros((len(inputs), units), dtype=np.float32)
    joined = np.zeros((len(starts), inputs.shape[1] + units), dtype=np.float32)
    cell = np.zeros((len(starts), units), dtype=np.float32)
    alive = len(starts)
    for step in range(int(lengths[0]) if len(lengths) else 0):
        while lengths[alive - 1] <= step:
            alive -= 1
        rows = starts[:alive] + step
        joined[:alive, : inputs.shape[1]] = inputs[rows]
        gates = np.tanh(joined[:alive] @ matrix + bias)
        i, f, o = ((gates[:, g * units : (g + 1) * units] + 1) * np.float32(0.5) for g in (0, 1, 3))
        cell[:alive] = f * cell[:alive] + i * gates[:, 2 * units : 3 * units]
        joined[:alive, inputs.shape[1] :] = o * np.tanh(cell[:alive])
        hidden[rows] = joined[:alive, inputs.shape[1] :]
    return hidden
