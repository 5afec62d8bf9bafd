"""A verdict, and what was seen on the way to it that no check needs whole: the report draws it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from decision.artefact.manifest import Opened
from decision.policy.deciders import Decider, Pupil
from decision.policy.policy import Observation, Policy
from decision.policy.records import Trajectories
from netsim.samples import Sampling
from rlcc.cycles.measure import PathCosts
from rlcc.gate.closed_loop import PolicyMetrics
from rlcc.gate.verdict import Verdict
from teachers.teacher import Teacher
from verify.trusted.certificate import Certificate

Rows = NDArray[np.int64]
ROWS = 2_000
"""States that are kept of each network, evenly spaced."""
READ = 20_000
"""Decisions of each that they are taken from, about: of agents evenly spaced."""


@dataclass(frozen=True)
class JudgedStates:
    """States that the teacher met. ``rows`` [N, columns] of integers, newest decision first, over ``observation``,
    whose window is the wider of both; then what a trigger saved."""

    observation: Observation
    rows: Rows


@dataclass(frozen=True)
class Sights:
    """None of a part: the gate did not come to it, or there is none. ``firmware``: as it was read; ``source``: its C,
    which ``costs`` are of; ``outcomes``: teacher, student and later teacher in every scenario, the first two with their
    runs over time."""

    firmware: Opened
    decider: Decider
    teacher: Teacher | None = None
    certificate: Certificate | None = None
    costs: PathCosts | None = None
    source: str = ""
    states: JudgedStates | None = None
    outcomes: tuple[PolicyMetrics, ...] = ()


@dataclass(frozen=True)
class Judgement:
    verdict: Verdict
    sights: Sights


def sampling(scenarios: int) -> Sampling:
    """Returns the sampling of each run of the closed loop: as many points as a page can hold for this number of
    runs."""
    return Sampling(points=max(min(300, 2_400 // max(scenarios, 1)), 60), flows=8, to_end=False)


@dataclass
class StatesMet:
    """Keeps a part of the states in rollouts as they go by."""

    pupil: Pupil
    policy: Policy
    parts: list[Rows] = field(default_factory=list)

    @property
    def observation(self) -> Observation:
        return self.pupil.observation.with_window(max(self.pupil.observation.window, self.policy.observation.window))

    def watching(self, runs: Iterable[Trajectories]) -> Iterator[Trajectories]:
        """The same runs."""
        for run in runs:
            self.parts.append(self._of(run))
            yield run

    def rows(self) -> JudgedStates | None:
        """None where no decision had its history."""
        if not any(map(len, self.parts)):
            return None
        return JudgedStates(self.observation, np.concatenate(self.parts))

    def _of(self, run: Trajectories) -> Rows:
        agents, counts = np.unique(run.columns[run.interface.agent], return_counts=True)
        number = max(min(int(READ / max(counts.mean(), 1)), len(agents)), 1) if len(agents) else 0
        chosen = agents[np.unique(np.linspace(0, len(agents) - 1, number).astype(int))] if number else agents
        inside = np.isin(run.columns[run.interface.agent], chosen)
        columns = {name: column[inside] for name, column in run.columns.items()}
        part = replace(run, columns=columns, position=run.position[inside])
        rows, valid = part.integer_rows(self.observation, self.pupil.params())
        if self.pupil.trigger is not None:
            rows, _ = part.with_saved(rows, valid, self.pupil.trigger.saved * len(self.observation.features))
        rows = rows[valid & part.of_policy()]
        return rows[np.unique(np.linspace(0, len(rows) - 1, min(ROWS, len(rows))).astype(int))] if len(rows) else rows
