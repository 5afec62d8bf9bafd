"""A task's spaces in Gymnasium's words, for one flow."""

from typing import Any

import numpy as np

from decision.artefact.extras import needed
from decision.policy.actions import Table
from netsim.environments.task import Task

with needed():
    from gymnasium import spaces


def observation_space(task: Task) -> spaces.Box:
    """float32 [window x features]; names: ``task.names``."""
    low, high = task.bounds()
    return spaces.Box(low, high, dtype=np.float32)


def action_space(task: Task) -> spaces.Space[Any]:
    """The network's output after tanh, float32 [1] in [-1, 1]; of an action table the entry."""
    if isinstance(task.action, Table):
        return spaces.Discrete(len(task.action.multipliers))
    return spaces.Box(-1.0, 1.0, shape=(1,), dtype=np.float32)
