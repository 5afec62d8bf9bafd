"""DDQN that goes on where its agents decide ([ACC] sections 3.4 and 4.3), readable from top to bottom.

Each group of agents, the queues of a switch, starts from the same pre-trained weights and learns its own network from
what its own decisions lead to. A memory of all groups lets them exchange: each gives a share of what is new to it and
takes as much from it. The probability of a random row decays from exchange to exchange. The network of hosts and
switches runs on meanwhile, as it would: nothing starts anew.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from decision.features.generic import MOST_BACK
from decision.records import Trajectories
from netsim.cohorts import Records
from netsim.simulation import Simulation
from teachers.ddqn import Learner
from teachers.ddqn_options import DdqnConfig, Online
from teachers.memory import Memory, part_of
from teachers.networks import one_thread
from teachers.teacher import Teacher
from teachers.transitions import transitions


class OnlineLearning:
    """Of a cohort of a running simulation, which decides by a native policy and records. ``group`` [agents]: who learns
    together; ``places``: as of `Deployment.places`."""

    def __init__(
        self,
        simulation: Simulation,
        cohort: int,
        teacher: Teacher,
        config: DdqnConfig,
        online: Online,
        group: NDArray[np.uint32],
        places: Mapping[str, NDArray[np.uint32]],
    ) -> None:
        self.simulation, self.cohort, self.teacher, self.online = simulation, cohort, teacher, online
        self.reward, self.idle_every = config.ddqn.reward, config.ddqn.idle_every
        self.group, self.places = group, places
        options = config.ddqn.model_copy(update={"learning_rate": online.learning_rate})
        self.learners = [Learner(teacher.policy, options, teacher.weights) for _ in range(int(group.max()) + 1)]
        self.shared = Memory(options.memory)
        self.random = np.random.default_rng([options.seed, 1])
        self.exchanges = self.updates = 0
        self._before: list[Records] = [{} for _ in self.learners]
        self._install()

    def advance(self, until_ps: int) -> float:
        """Run on, exchanging and learning; the mean reward of the transitions on the way."""
        rewards: list[NDArray[np.float32]] = []
        with one_thread():
            self._advance(until_ps, rewards)
        return float(np.mean(np.concatenate(rewards), dtype=np.float64)) if rewards else float("nan")

    def _advance(self, until_ps: int, rewards: list[NDArray[np.float32]]) -> None:
        while self.simulation.now_ps < until_ps:
            begin_ps = self.simulation.now_ps
            self.simulation.run(min(begin_ps + self.online.exchange, until_ps))
            rewards += self._learn(self.simulation.drain_records(self.cohort), begin_ps)
            self._install()

    def _learn(self, records: Records, begin_ps: int) -> list[NDArray[np.float32]]:
        interface = self.simulation.interfaces[self.cohort]
        of_row = self.group[records[interface.agent]]
        rewards = []
        for number, learner in enumerate(self.learners):
            mine = {name: column[of_row == number] for name, column in records.items()}
            before = self._before[number]
            both = {name: np.concatenate([before[name], mine[name]]) for name in mine} if before else mine
            self._before[number] = self._history(both)
            played = Trajectories.of(both, interface, self.places)
            new = transitions(played, self.teacher.policy, self.reward, self.idle_every, begin_ps)
            if not len(new):
                continue
            learner.memory.add(new)
            rewards.append(new.reward)
            self.shared.add(part_of(new, self._drawn(len(new), len(new))))
            assert self.shared.kept is not None
            learner.memory.add(part_of(self.shared.kept, self._drawn(len(self.shared), len(new))))
        self.exchanges += 1
        for learner in self.learners:
            if len(learner.memory) >= learner.options.batch:
                learner.learn(self.online.updates, self.updates, self.random)
        self.updates += self.online.updates
        return rewards

    def _drawn(self, rows: int, new: int) -> NDArray[np.int64]:
        """A share of ``new`` of so many rows."""
        return self.random.integers(0, rows, round(self.online.shared * new))

    def _history(self, records: Records) -> Records:
        """The last rows of each agent, as many as features can look back."""
        observation = self.teacher.policy.observation
        agent = records[observation.agents.agent].astype(np.int64)
        last = np.zeros(self.group.size, np.int64)
        np.maximum.at(last, agent, records["step"].astype(np.int64))
        kept = records["step"].astype(np.int64) > last[agent] - observation.window - MOST_BACK - 1
        return {name: column[kept] for name, column in records.items()}

    def _install(self) -> None:
        explore = self.online.exploring(self.exchanges), int(self.random.integers(2**31))
        weights = [learner.network.weights() for learner in self.learners]
        self.simulation.set_networks(self.cohort, weights, self.group, explore)
