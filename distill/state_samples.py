"""Decisions in states that no network of the rollouts visits.

Uniform-state samples draw each signal anew at each decision, from its whole range, on a logarithmic scale. Past actions
are the student's own (decision.policy.cells.act), and an LSTM teacher's memory is that of the flow's whole past. No
network produces these sequences, but any network could produce a part of them. They have a small weight and keep a
student close to its teacher where the rollouts have no row.

Frozen-signal samples repeat a flow's first signals at every decision, as in a flood that fills the buffer, or where
flows settle. A student whose action there has another sign than its teacher's stays in the flood.
"""

import numpy as np

from decision.ir import exact
from decision.ir.formats import FEATURE_LIMIT
from decision.policy.cells import act
from decision.policy.features import PreviousAction
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer
from distill.dataset import Dataset
from teachers.inference import decide_states
from teachers.teacher import Teacher

FLOWS, STEPS = 1000, 12
STAY_PROBABILITY = 0.5
"""Probability that a signal stays about as it was, rather than being drawn anew."""


def state_samples(student: Student, teacher: Teacher, weight: float, seed: int, *, frozen: bool = False) -> Dataset:
    """Returns ``FLOWS`` flows over ``STEPS`` decisions, labelled by the teacher; the sum of all weights is ``weight``.
    ``frozen``: frozen-signal samples, else uniform-state samples."""
    random = np.random.default_rng(seed)
    observation = student.observation
    width, columns = len(observation.features), observation.size
    observer, nodes, *_ = build_observer(observation)
    past = [f for f, feature in enumerate(observation.features) if isinstance(feature, PreviousAction)]
    row = np.zeros((FLOWS, columns), dtype=np.int64)
    rows: list[np.ndarray] = []
    seen = []
    for _ in range(STEPS):
        for f in (f for f in range(width) if f not in past):
            low, high = observer.nodes[nodes[f]].low, min(observer.nodes[nodes[f]].high, FEATURE_LIMIT - 1)
            drawn = low + exact.exp(random.uniform(0.0, float(exact.log(high - low + 1.0)), FLOWS)) - 1.0
            near = (row[:, f + width] if columns > width else drawn) * exact.exp(random.normal(0.0, 0.5, FLOWS))
            value = drawn if frozen else np.where(random.random(FLOWS) < STAY_PROBABILITY, near, drawn)
            row[:, f] = rows[0][:, f] if frozen and rows else np.clip(np.rint(value), low, high).astype(np.int64)
        rows.append(row.copy())
        seen.append(
            np.stack([feature.float_of(row[:, f].astype(float)) for f, feature in enumerate(observation.features)], 1)
        )
        after = np.zeros_like(row)
        after[:, width:] = row[:, : columns - width]
        for f in past:
            after[:, f] = act(student, row)
        row = after
    x = np.concatenate(rows)
    labels = []
    for step in range(STEPS):
        states = np.stack(seen[step::-1], axis=1)  # newest first
        if not teacher.policy.architecture.recurrent:
            new = np.stack([feature.initial for feature in observation.features])
            missing = max(teacher.policy.observation.window - states.shape[1], 0)
            states = np.concatenate([states, np.broadcast_to(new, (FLOWS, missing, width))], axis=1)
        labels.append(teacher.policy.action.label(decide_states(teacher, states, 0)))
    return Dataset(x, np.concatenate(labels), np.full(len(x), weight / len(x)))
