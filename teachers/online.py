"""DDQN that learns on where its agents decide ([ACC] sections 3.4 and 4.3), readable from top to bottom.

Every ``exchange`` what the agents' decisions led to since the last one is remembered, and some batches are learnt; the
probability of a random row decays from exchange to exchange. The network of hosts and switches runs on meanwhile, as it
would: nothing starts anew. All agents learn one network (`rlcc train` of a recipe with an exchange), or each group of
them, the queues of a switch, its own: then a memory of all lets them exchange, each gives a share of what is new to it
and takes as much from it.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.policy.features.generic import MAX_BACK
from decision.policy.records import Trajectories
from netsim.assembly import facts_in
from netsim.cohorts import Records
from netsim.policies import native
from netsim.simulation import Simulation
from teachers import ddqn
from teachers.ddqn import Learner, Learnt, Progress
from teachers.ddqn_options import DdqnConfig
from teachers.determinism import same_sums
from teachers.memory import ReplayMemory, part_of, seed_of
from teachers.round_report import RoundReport
from teachers.transitions import transitions


class OnlineLearning:
    """Learners of a cohort in a running simulation, which decides by a native policy and records. ``group`` [agents]:
    by which learner each decides, and whom it teaches; ``places``: as of `Deployment.places`; ``shared``: of what is
    new to a learner, the share that it gives to all; ``exchanges``: that were before."""

    def __init__(
        self,
        simulation: Simulation,
        cohort: int,
        config: DdqnConfig,
        learners: Sequence[Learner],
        group: NDArray[np.uint32],
        places: Mapping[str, NDArray[np.uint32]],
        random: np.random.Generator,
        shared: float = 0.0,
        exchanges: int = 0,
    ) -> None:
        assert config.ddqn.exchange is not None
        self.exchange_ps: int = config.ddqn.exchange
        self.simulation, self.cohort, self.policy, self.options = simulation, cohort, config.policy, config.ddqn
        self.learners, self.group, self.places = learners, group, places
        self.random, self.part, self.exchanges = random, shared, exchanges
        self.shared = ReplayMemory(config.ddqn.memory)
        self.rewards: list[NDArray[np.float32]] = []
        self.losses: list[float] = []
        self._before: list[Records] = [{} for _ in learners]
        self._install()

    def advance(self, until_ps: int) -> None:
        """Run on, exchanging and learning; rewards and losses on the way are kept."""
        with same_sums(self.options.kernels):
            while self.simulation.now_ps < until_ps:
                begin_ps = self.simulation.now_ps
                self.simulation.run(min(begin_ps + self.exchange_ps, until_ps))
                self._remember(self.simulation.drain_records(self.cohort), begin_ps)
                self._learn()
                self._install()

    def _remember(self, records: Records, begin_ps: int) -> None:
        interface = self.simulation.interfaces[self.cohort]
        of_row = self.group[records[interface.agent]]
        for number, learner in enumerate(self.learners):
            mine = {name: column[of_row == number] for name, column in records.items()}
            before = self._before[number]
            both = {name: np.concatenate([before[name], mine[name]]) for name in mine} if before else mine
            self._before[number] = self._history(both)
            played = Trajectories.of(both, interface, self.places)
            new = transitions(played, self.policy, self.options.reward, self.options.idle_every, begin_ps)
            if not len(new):
                continue
            learner.memory.add(new)
            self.rewards.append(new.reward)
            if self.part:
                self.shared.add(part_of(new, self._drawn(len(new), len(new))))
                assert self.shared.stored is not None
                learner.memory.add(part_of(self.shared.stored, self._drawn(len(self.shared), len(new))))

    def _learn(self) -> None:
        d = self.options
        for learner in self.learners:
            if len(learner.memory) >= d.batch:
                self.losses.append(learner.learn(d.updates, self.exchanges * d.updates, self.random))
        self.exchanges += 1

    def _drawn(self, rows: int, new: int) -> NDArray[np.int64]:
        """A share of ``new`` of so many rows."""
        return self.random.integers(0, rows, round(self.part * new))

    def _history(self, records: Records) -> Records:
        """The last rows of each agent, as many as features can look back."""
        observation = self.policy.observation
        agent = records[observation.agents.agent].astype(np.int64)
        last = np.zeros(self.group.size, np.int64)
        np.maximum.at(last, agent, records["step"].astype(np.int64))
        kept = records["step"].astype(np.int64) > last[agent] - observation.window - MAX_BACK - 1
        return {name: column[kept] for name, column in records.items()}

    def _install(self) -> None:
        explore = self.options.exploring(self.exchanges), int(self.random.integers(2**31))
        weights = [learner.network.weights() for learner in self.learners]
        self.simulation.set_networks(self.cohort, weights, self.group, explore)


def train(config: DdqnConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """As teachers/ddqn.py does, in rounds that are learnt from while they run."""
    return ddqn.train(config, out, resume, progress, learn_round)


def learn_round(config: DdqnConfig, learner: Learner, number: int) -> Learnt:
    """Run every scenario for an episode, one after another; all agents decide by the learner and teach it on the way.
    Exploring has decayed by the exchanges of the rounds before; it is the same in all scenarios of a round."""
    d, deployment = config.ddqn, config.deployment()
    rewards: list[NDArray[np.float32]] = []
    losses: list[float] = []
    for index, name in enumerate(d.scenarios):
        seed = seed_of(d.seed, number, index)
        actor = native(config.policy, learner.network.weights())
        trial = deployment.trial(actor, name, seed=seed, duration_ps=d.episode, decision_latency_ps=d.decision_latency)
        simulation = Simulation(
            name,
            trial.policy,
            seed=seed,
            duration_ps=d.episode,
            record=True,
            network=trial.network,
            cohorts=trial.cohorts,
        )
        assert deployment.period_ps
        told = facts_in(simulation.scenario, deployment.network, deployment.interface, deployment.period_ps, seed)
        online = OnlineLearning(
            simulation,
            deployment.cohort,
            config,
            [learner],
            np.zeros(told.agents, np.uint32),
            dict(told.known()),
            np.random.default_rng([d.seed, number, index, 2]),
            exchanges=number * d.steps,
        )
        online.advance(d.episode)
        rewards += online.rewards
        losses += online.losses
    if not rewards:
        raise InputError("nothing was decided in a round; are the scenarios' episodes long enough?")
    every = np.concatenate(rewards)
    return Learnt(len(every), float(np.mean(every, dtype=np.float64)), float(np.mean(losses)) if losses else 0.0)
