"""PettingZoo's ParallelEnv: the flows of one network are the agents flow_0, flow_1, .. (docs/how-to/environments.md).

All agents live from reset to the end of the run. A step answers those that decide, which ``infos[agent]["decides"]``
says; others may be left out of the actions.
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from netsim.environments.episode import Episode
from netsim.environments.spaces import action_space, observation_space
from netsim.environments.task import Task

with needed():
    from pettingzoo import AECEnv, ParallelEnv
    from pettingzoo.utils import parallel_to_aec

Row = NDArray[np.float32]
Infos = dict[str, dict[str, Any]]


class FlowParallelEnv(ParallelEnv[str, Row, Any]):  # type: ignore[misc]  # PettingZoo ships no types
    """Flows of one network. All are truncated together: when the run ends, or after ``max_cycles`` steps."""

    metadata: ClassVar = {"name": "rlcc_flows_v0", "render_modes": [], "is_parallelizable": True}
    render_mode = None

    def __init__(self, task: Task | None = None, max_cycles: int | None = None) -> None:
        self.task = task or Task()
        self.max_cycles = max_cycles
        self.possible_agents = [f"flow_{i}" for i in range(self.task.flows)]
        self.agents: list[str] = []
        self.observation_spaces = {agent: observation_space(self.task) for agent in self.possible_agents}
        self.action_spaces = {agent: action_space(self.task) for agent in self.possible_agents}
        self.episode: Episode | None = None
        self._places = {agent: place for place, agent in enumerate(self.possible_agents)}
        self._random = np.random.default_rng()
        self._cycles = 0

    def observation_space(self, agent: str) -> Any:
        """The same object at every call, as PettingZoo asks."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """The same object at every call, as PettingZoo asks."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Row], Infos]:
        """A new network: that of ``netsim.simulate(seed=seed)``, without a seed one that follows from the last seed."""
        if seed is None:
            seed = int(self._random.integers(2**62))
        else:
            self._random = np.random.default_rng(seed)
        self.episode = Episode(self.task, seed)
        self.agents = list(self.possible_agents)
        self._cycles = 0
        return self._of_agents(self.episode.observations.copy()), self._infos(self.episode)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Row], dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Observations, rewards, terminations, truncations, infos by agent; empty once the run is over."""
        episode = self.episode
        if episode is None:
            raise InputError("the environment has no network yet; call reset before step")
        if not self.agents:
            return {}, {}, {}, {}, {}
        episode.answer(self._actions(episode, actions))
        self._cycles += 1
        over = episode.over or (self.max_cycles is not None and self._cycles >= self.max_cycles)
        infos = self._infos(episode)
        if over:
            metrics = episode.arrays.metrics()
            for info in infos.values():
                info["metrics"] = metrics
            self.agents = []
        return (
            self._of_agents(episode.observations.copy()),
            self._of_agents(episode.rewards.tolist()),
            dict.fromkeys(self.possible_agents, False),
            dict.fromkeys(self.possible_agents, over),
            infos,
        )

    def _of_agents(self, values: Any) -> dict[str, Any]:
        return dict(zip(self.possible_agents, values, strict=True))

    def _actions(self, episode: Episode, actions: dict[str, Any]) -> NDArray[np.float64]:
        """Actions [flows]; NaN where none was given, which is an error only for a flow that decides."""
        chosen = np.full(len(self.possible_agents), np.nan)
        for agent, action in actions.items():
            if agent not in self._places or np.size(action) != 1:
                raise InputError(f"{agent!r} is no agent of this environment, or its action is not a single number")
            chosen[self._places[agent]] = np.asarray(action, dtype=np.float64).item()
        missing = [
            agent for agent in self.possible_agents if agent not in actions and episode.decides[self._places[agent]]
        ]
        if missing:
            raise InputError(f"{missing[0]} decides in this step and was given no action")
        return chosen

    def _infos(self, episode: Episode) -> Infos:
        rows = zip(episode.decides.tolist(), episode.t_ps.tolist(), episode.step.tolist(), strict=True)
        return self._of_agents({"decides": decides, "t_ps": t_ps, "step": step} for decides, t_ps, step in rows)


def parallel_env(task: Task | None = None, max_cycles: int | None = None) -> FlowParallelEnv:
    """The environment under the name that PettingZoo's tools call."""
    return FlowParallelEnv(task, max_cycles)


def env(task: Task | None = None, max_cycles: int | None = None) -> AECEnv[str, Row, Any]:
    """The same, agent by agent."""
    return parallel_to_aec(parallel_env(task, max_cycles))
