"""Transitions of decisions: (observation, action, reward, next observation), from recorded decisions.

A transition closes where the SAME agent decides next, whatever other agents decide in between: consecutive rows of one
unbroken run in ``Trajectories``. The reward is a function of the event that the next decision is given: of what the
agent's own action brought about.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from decision.artefact.strict import Strict
from decision.ir.arrays import Floats32
from decision.ir.formats import ACTION_BITS
from decision.ir.tape import Reading
from decision.policy.actions import Choice, Multiplier, Table
from decision.policy.features import AnyFeature, Place
from decision.policy.policy import Observation, Policy
from decision.policy.records import Trajectories


class RewardTerm(Strict):
    """``weight`` times a feature of the next decision's event, as a teacher would see it, to the ``power`` of 1 or 2;
    before that it is held within ``limit`` of 0, where one is given."""

    weight: float
    """Factor of the term."""
    feature: AnyFeature
    power: Literal[1, 2] = Field(default=1, exclude_if=lambda power: power == 1)
    """Exponent of the feature."""
    limit: float | None = Field(default=None, gt=0, exclude_if=lambda limit: limit is None)
    """Limit of the feature's absolute value, before the exponent."""

    def value(self, read: Reading, place: Place) -> NDArray[np.float64]:
        """Returns the value of each row that is read, or of all at once."""
        value = np.asarray(self.feature.float_value(read, place), dtype=np.float64)
        held = value if self.limit is None else np.clip(value, -self.limit, self.limit)
        return np.asarray(self.weight * held**self.power, dtype=np.float64)

    def check(self, place: Place) -> None:
        """ValueError where the feature looks at what is not there, or at more than one event."""
        self.feature.expression(place)
        if self.feature.decided is not None:
            raise ValueError(f"reward: {self.feature.kind} is what was decided, not what it led to")


@dataclass(frozen=True)
class Transitions:
    """Rows of N transitions: observations before and after [N, window x features], the row that was chosen (the number
    of the combination) [N] or where between its ends, -1 to 1, each knob was set [N, knobs], of a knob in force its
    multiplier [N, 1], the reward [N], and 1 where the agent decides on after it, 0 where its life ended with it [N]."""

    before: Floats32
    action: NDArray[np.int64] | Floats32
    reward: Floats32
    after: Floats32
    goes_on: Floats32

    def __len__(self) -> int:
        return len(self.action)


def transitions(
    trajectories: Trajectories, policy: Policy, reward: Sequence[RewardTerm], idle_every: int = 1, since_ps: int = 0
) -> Transitions:
    """Returns the transitions of all agents. Those are left out of which part of the history is not on record, and of
    those that begin where nothing happened (the event is all zero, as at an empty queue) all but each ``idle_every``-th
    decision of an agent: whatever followed, so that what such a state is worth does not change. ``since_ps``: of those
    only that close from then on; what lies before is history."""
    rows, valid = trajectories.float_rows(policy.observation)
    before, values = _closed(trajectories, policy.observation, valid, reward, idle_every, since_ps)
    return _between(rows, before, _taken(trajectories, policy)[before], values)


def growing(trajectories: Trajectories, policy: Policy, reward: Sequence[RewardTerm], most: float) -> Transitions:
    """The same of all decisions, where the reward is the ratio of the terms' sum after to that before ([AUTO] equation
    1), ``most`` at the most; 1 where either is 0, which says nothing."""
    rows, valid = trajectories.float_rows(policy.observation)
    before, after = _closed(trajectories, policy.observation, valid, reward, 1)
    earlier = rewards(trajectories, policy.observation, reward)[before]
    told = (earlier > 0) & (after > 0)
    ratio = np.where(told, np.minimum(after / np.where(told, earlier, 1.0), most), 1.0)
    return _between(rows, before, _taken(trajectories, policy)[before], ratio)


def _taken(trajectories: Trajectories, policy: Policy) -> NDArray[np.int64] | Floats32:
    """Returns the decision of each row, as `Transitions` has it."""
    decided, action = np.stack(list(trajectories.decided().values()), axis=1).astype(np.float64), policy.action
    if isinstance(action, Table):
        return np.asarray(action.label(1 + decided / 2**ACTION_BITS)[:, 0], dtype=np.int64)
    if isinstance(action, Multiplier):
        share = (1 + decided / 2**ACTION_BITS - action.low) / (action.high - action.low)
        return np.asarray(2 * share - 1, dtype=np.float32)
    label = action.label(decided)
    if isinstance(action, Choice):
        return action.chosen(label)
    return np.asarray(2 * label - 1, dtype=np.float32)


def trigger_transitions(
    trajectories: Trajectories, policy: Policy, reward: Sequence[RewardTerm], price: float, idle_every: int = 1
) -> Transitions:
    """The same of the policy's trigger: it sees what was saved besides, chooses to keep (0) or to choose anew (1), and
    that costs ``price`` ([HAECN] equation 2). In an agent's first decision it is not asked."""
    assert policy.trigger is not None
    rows, valid = trajectories.float_rows(policy.observation)
    rows, valid = trajectories.with_saved(rows, valid, policy.saved_size, policy.saved_initial())
    valid = valid & ~trajectories.new()
    before, values = _closed(trajectories, policy.observation, valid, reward, idle_every)
    fired = trajectories.triggered()[before].astype(np.int64)
    return _between(rows, before, fired, values - price * fired)


def _closed(
    trajectories: Trajectories,
    observation: Observation,
    valid: NDArray[np.bool_],
    reward: Sequence[RewardTerm],
    idle_every: int,
    since_ps: int = 0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Row numbers at which a transition begins, and its reward."""
    values = rewards(trajectories, observation, reward)
    closes = (trajectories.position > 0) & (trajectories.columns["t_ps"].astype(np.int64) >= since_ps)
    before = np.flatnonzero(closes[1:])
    idle = np.all([column == 0 for column in trajectories.reading(observation).event.values()], axis=0)
    kept = ~idle | (trajectories.position % idle_every == 0)
    before = before[valid[before] & valid[before + 1] & kept[before]]
    return before, values[before + 1]


def rewards(trajectories: Trajectories, observation: Observation, reward: Sequence[RewardTerm]) -> NDArray[np.float64]:
    """The terms' sum in each row [N]."""
    read = trajectories.reading(observation)
    values = sum((term.value(read, observation.place) for term in reward), np.zeros(1))
    return np.broadcast_to(values, (len(trajectories),))


def _between(
    rows: NDArray[np.float64],
    before: NDArray[np.int64],
    action: NDArray[np.int64] | Floats32,
    reward: NDArray[np.float64],
) -> Transitions:
    return Transitions(
        rows[before].astype(np.float32),
        action,
        reward.astype(np.float32),
        rows[before + 1].astype(np.float32),
        np.ones(before.size, np.float32),
    )
