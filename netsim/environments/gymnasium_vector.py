"""Gymnasium's VectorEnv: one network, a sub-environment a flow, all under one policy (semantics:
docs/how-to/environments.md).

A step answers the flows that decide and goes on to the next decisions. ``infos["decides"]`` says whose they are: only
those rows are new, only those actions will be looked at, and rewards are due only there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from netsim.environments.episode import Episode
from netsim.environments.spaces import action_space, observation_space
from netsim.environments.task import Task

try:
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:  # AutoresetMode came with 1.1; without Gymnasium, spaces has said so already
    raise InputError(
        "FlowVectorEnv needs Gymnasium 1.1 or newer; install it with: pip install 'rlcc[environments]'"
    ) from None

Arrays = NDArray[Any]
Infos = dict[str, Any]


class FlowVectorEnv(VectorEnv[Arrays, Arrays, Arrays]):
    """Flows of one network. At the end of the run all are truncated; the step after it, whose actions are not looked
    at, begins a new run, as the autoreset mode says."""

    metadata: Infos = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  # as its base

    def __init__(self, task: Task | None = None) -> None:
        self.task = task or Task()
        self.num_envs = self.task.flows
        self.single_observation_space = observation_space(self.task)
        self.single_action_space = action_space(self.task)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.episode: Episode | None = None

    def reset(self, *, seed: int | None = None, options: Infos | None = None) -> tuple[Arrays, Infos]:
        """A new network: that of ``netsim.simulate(seed=seed)``, without a seed one that follows from the last seed."""
        if options and "reset_mask" in options:
            raise InputError("flows share a network and cannot be reset alone; leave reset_mask out")
        super().reset(seed=seed)
        self.episode = Episode(self.task, int(self.np_random.integers(2**62)) if seed is None else seed)
        return self.episode.observations.copy(), _infos(self.episode)

    def step(self, actions: Arrays) -> tuple[Arrays, Arrays, Arrays, Arrays, Infos]:
        """Observations [flows, size], rewards, terminations, truncations [flows], infos of arrays [flows]; at the end
        of a run the infos hold its metrics too."""
        if self.episode is None:
            raise InputError("the environment has no network yet; call reset before step")
        actions = np.asarray(actions)
        if actions.shape != self.action_space.shape:
            raise InputError(
                f"the actions have shape {actions.shape}; this environment takes {self.action_space.shape}"
            )
        if self.episode.over:
            self.reset()
        else:
            self.episode.answer(actions.reshape(self.num_envs))
        episode = self.episode
        truncated = np.full(self.num_envs, episode.over)
        return episode.observations.copy(), episode.rewards.copy(), np.zeros_like(truncated), truncated, _infos(episode)


def _infos(episode: Episode) -> Infos:
    """Arrays [flows], each with Gymnasium's mask ``_name`` of who has it: everyone."""
    infos = {"decides": episode.decides.copy(), "t_ps": episode.t_ps.copy(), "step": episode.step.copy()}
    if episode.over:
        infos |= {name: np.full(episode.decides.size, value) for name, value in episode.arrays.metrics().items()}
    return infos | {f"_{name}": np.ones(episode.decides.size, np.bool_) for name in infos}
