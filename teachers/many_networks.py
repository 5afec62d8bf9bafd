"""Flows of several networks under one policy that decides outside them: all that decide at present are asked at once,
so that what Python costs is shared by all networks.

Each network behaves as an `Episode` of it does (netsim/environments/episode.py), decision by decision; rewards are the
terms of a recipe.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Floats32
from decision.ir.formats import ACTION_BITS
from decision.ir.tape import Reading
from netsim.arrays import Batch
from netsim.environments.task import Task
from teachers.transitions import RewardTerm


class ManyNetworks:
    """``tasks`` alike but for their scenario and duration, each with a seed. Flows are numbered through all networks.

    ``flow`` [N]: those that decide now, none once all runs are over; ``observed`` [N, window x features]; ``new`` [N]:
    whether it is a flow's first decision; ``reward`` [N]: of the decision before, 0 where it is new."""

    def __init__(self, tasks: Sequence[Task], seeds: Sequence[int], terms: Sequence[RewardTerm]) -> None:
        self.task, self.terms = tasks[0], terms
        self.networks = [task.start(seed) for task, seed in zip(tasks, seeds, strict=True)]
        sizes = [task.flows for task in tasks]
        self.first = np.concatenate([[0], np.cumsum(sizes)])
        each = [network.places() for network in self.networks]
        told = [name for name in self.task.observation.known if name in each[0]]
        self.known = {name: np.concatenate([places[name] for places in each]).astype(np.float64) for name in told}
        self.rows = np.tile(self.task.initial_row(), (int(self.first[-1]), 1))
        self.multiplier = np.ones(int(self.first[-1]))
        self._batches: list[Batch | None] = [network.recv() for network in self.networks]
        self._seen()

    @property
    def flows(self) -> int:
        return int(self.first[-1])

    def answer(self, actions: Floats32) -> None:
        """Apply the actions [N] of the flows that decide, and go on to the next decisions of their networks."""
        multiplier = self.task.multipliers(actions)
        self.multiplier[self.flow] = multiplier
        at = 0
        for number, batch in enumerate(self._batches):
            if batch is not None:
                self.networks[number].send(multiplier=multiplier[at : at + len(batch)])
                self._batches[number] = self.networks[number].recv()
                at += len(batch)
        self._seen()

    def _seen(self) -> None:
        """Returns the observations and rewards of the flows that decide now."""
        there = [(first, batch) for first, batch in zip(self.first, self._batches, strict=False) if batch is not None]
        if not there:
            self.flow = np.zeros(0, dtype=np.int64)
            return

        def column(name: str) -> NDArray[np.float64]:
            return np.concatenate([getattr(batch, name) for _, batch in there]).astype(np.float64)

        self.flow = np.concatenate([first + batch.flow.astype(np.int64) for first, batch in there])
        self.new = np.concatenate([batch.step == 0 for _, batch in there])
        self.rows[self.flow[self.new]] = self.task.initial_row()
        self.multiplier[self.flow[self.new]] = 1.0
        observation = self.task.observation
        event = {name: column(name) for name in observation.agents.event_names}
        before = {"action": (self.multiplier[self.flow] - 1.0) * 2.0**ACTION_BITS}
        known: dict[str, NDArray[np.float64] | float] = dict(observation.known)
        known |= {name: values[self.flow] for name, values in self.known.items()}
        read = Reading(event, known, column("rate_q30"), before)
        newest = self.task.features(read)
        self.observed = np.concatenate([newest, self.rows[self.flow, : -newest.shape[1]]], axis=1)
        self.rows[self.flow] = self.observed
        reward = sum((term.value(read, observation.place) for term in self.terms), np.zeros(self.flow.size))
        self.reward = np.where(self.new, 0.0, reward)
