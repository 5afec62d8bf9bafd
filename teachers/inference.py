"""Decisions of a teacher on recorded trajectories: labels of the rows that students are fitted to.

The network is the simulator's own (netsim/core/neural_network.hpp), in float32 with each sum in a fixed order: a label
has the bits of the decision that the teacher takes in the network, on every processor. A network without
recurrent layers looks at each row alone; one with them runs along every unbroken run of a flow's decisions with a
memory of its own.
"""

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Floats32
from decision.policy.records import Trajectories
from decision.policy.weights import TRIGGER
from netsim.policies import network_weights
from teachers.teacher import Teacher

CHUNK = 1 << 16
"""Rows at a time: what is computed on the way stays small."""


def decide(teacher: Teacher, trajectories: Trajectories) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Returns each row's decision by the policy's action map [N, values], and which rows are valid [N]: their whole
    history is on record.

    For a recurrent network that means the run begins at the flow's first decision; the others start from a zero state.
    """
    outputs, valid = network_outputs(teacher, trajectories)
    decided = teacher.policy.action.decided(outputs.astype(np.float64))
    if teacher.policy.trigger is None:
        return decided, valid
    fires, known = triggers(teacher, trajectories)
    return np.where(fires[:, None], decided, trajectories.knobs_before()), valid & known


def triggers(teacher: Teacher, trajectories: Trajectories) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a teacher's trigger fires in each row [N], and which rows are valid."""
    assert teacher.policy.trigger is not None
    rows64, valid = trajectories.float_rows(teacher.policy.observation)
    rows, valid = trajectories.with_saved(rows64, valid, teacher.policy.saved_size, teacher.policy.saved_initial())
    worth = outputs_of(teacher, rows.astype(np.float32), trigger=True)
    return (worth[:, 1] > worth[:, 0]) | trajectories.new(), valid


def decide_states(teacher: Teacher, states: NDArray[np.float64], warm_up: int) -> NDArray[np.float64]:
    """Returns the decisions [N, values] in states [N, window, features]: what the teacher sees of each decision, newest
    first.

    Decisions before the window are unknown: all are taken to be as the window's oldest. A network without
    recurrent layers looks back as far as its own window goes. A recurrent one starts from zero and sees the oldest row
    ``warm_up`` times before the window."""
    count, window, _ = states.shape
    recurrent = teacher.policy.architecture.recurrent
    back = window + warm_up if recurrent else teacher.policy.observation.window
    lags = [min(lag, window - 1) for lag in range(back)]
    decided = []
    for i in range(0, max(count, 1), CHUNK // back):
        rows = states[i : i + CHUNK // back].astype(np.float32)[:, lags]
        if recurrent:
            along = rows[:, ::-1].reshape(len(rows) * back, rows.shape[2])
            decided.append(outputs_of(teacher, along, np.arange(len(rows)) * back)[back - 1 :: back])
        else:
            decided.append(outputs_of(teacher, rows.reshape(len(rows), back * rows.shape[2])))
    return teacher.policy.action.decided(np.concatenate(decided).astype(np.float64))


def network_outputs(teacher: Teacher, trajectories: Trajectories) -> tuple[Floats32, NDArray[np.bool_]]:
    """Outputs [N, K] of the network (after what follows the last layer), and which rows are valid."""
    rows, valid = trajectories.float_rows(teacher.policy.observation)
    starts = trajectories.starts()
    if teacher.policy.architecture.recurrent:
        from_start = trajectories.columns["step"][starts] == 0
        valid = np.repeat(from_start, np.diff(np.append(starts, len(rows))))
    return outputs_of(teacher, rows.astype(np.float32), starts), valid


def outputs_of(
    teacher: Teacher, rows: Floats32, starts: NDArray[np.int64] | None = None, *, trigger: bool = False
) -> Floats32:
    """Outputs [N, K] of rows [N, size] as the teacher, or its trigger, sees them; a memory is empty at the
    first row and at each of ``starts``."""
    network = network_weights(teacher.policy, teacher.weights, trigger=trigger)
    begun = np.zeros(0, dtype=np.int64) if starts is None else starts.astype(np.int64)
    outputs: Floats32 = network.outputs(np.ascontiguousarray(rows), begun)
    return outputs.reshape(len(rows), len(teacher.weights[f"{TRIGGER if trigger else ''}out.weight"]))
