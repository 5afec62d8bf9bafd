"""The order of a log's decisions, batch by batch: each agent's in time, none twice, none missing."""

from dataclasses import dataclass, field

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from distill.log.columns import Column
from distill.log.values import place


@dataclass
class Order:
    """Numbers each agent's decisions, and holds them to their order. ``steps``: the log numbers them itself, and an
    agent whose number is 0 again is new; ``gaps``: numbers may be left out, and history begins anew behind them."""

    where: str
    time: Column
    step: Column | None
    gaps: bool = False
    last_ps: dict[int, int] = field(default_factory=dict)
    last_step: dict[int, int] = field(default_factory=dict)
    gap_count: int = 0

    def steps(
        self, agents: Integers, times: Integers, steps: Integers | None, names: list[str], first: int
    ) -> Integers:
        """The number [rows] of each decision of its agent. ``agents``: a number of each agent and run; ``names`` of
        them; ``first``: rows before these. InputError names the first row that is out of order."""
        order = np.argsort(agents, kind="stable")
        sorted_agents, sorted_times = agents[order], times[order]
        begins = np.flatnonzero(np.r_[True, sorted_agents[1:] != sorted_agents[:-1]]) if len(agents) else order
        before = np.r_[0, sorted_times[:-1]].astype(np.int64) if len(agents) else sorted_times
        before[begins] = [self.last_ps.get(int(agent), -1) for agent in sorted_agents[begins]]
        # Decisions with the same time are told from those that go back.
        wrong = np.flatnonzero(sorted_times <= before)
        if wrong.size:
            at = wrong[np.argmin(order[wrong])]
            self._refuse_time(int(order[at]) + first + 1, names[int(sorted_agents[at])], sorted_times[at] == before[at])
        ends = np.r_[begins[1:], len(agents)] - 1 if len(agents) else begins
        numbered = self._numbered(order, sorted_agents, begins, steps, names, first)
        for agent, time, number in zip(
            sorted_agents[ends].tolist(), sorted_times[ends].tolist(), numbered[ends].tolist(), strict=True
        ):
            self.last_ps[agent], self.last_step[agent] = time, number
        result = np.zeros(len(agents), dtype=np.int64)
        result[order] = numbered
        return result

    def _numbered(
        self, order: Integers, agents: Integers, begins: Integers, steps: Integers | None, names: list[str], first: int
    ) -> Integers:
        """Numbers of the sorted rows."""
        starts = np.array([self.last_step.get(int(agent), -1) for agent in agents[begins]], dtype=np.int64)
        if steps is None:
            lengths = np.diff(np.append(begins, len(agents)))
            along = np.arange(len(agents)) - np.repeat(begins, lengths)
            return np.asarray(along + np.repeat(starts, lengths) + 1, dtype=np.int64)
        numbered = steps[order]
        before = np.r_[0, numbered[:-1]].astype(np.int64) if len(agents) else numbered
        before[begins] = starts
        unseen = np.zeros(len(agents), dtype=bool)
        unseen[begins] = starts < 0  # a log may begin anywhere in an agent's life
        wrong = np.flatnonzero((numbered != before + 1) & (numbered != 0) & ~unseen)
        gaps = wrong[numbered[wrong] > before[wrong]]
        self.gap_count += len(gaps)
        if self.gaps:
            wrong = wrong[numbered[wrong] <= before[wrong]]
        if wrong.size:
            at = wrong[np.argmin(order[wrong])]
            assert self.step is not None
            raise InputError(
                f"{place(self.where, int(order[at]) + first + 1, self.step)}: {names[int(agents[at])]} goes from step "
                f"{before[at]} to {numbered[at]}; record every decision, or give --allow-gaps"
            )
        return np.asarray(numbered, dtype=np.int64)

    def _refuse_time(self, row: int, agent: str, same: bool) -> None:
        where = place(self.where, row, self.time)
        if same:
            raise InputError(f"{where}: {agent} decides twice at this time; keep one of the two rows")
        raise InputError(f"{where}: {agent} decided later in a row before; sort the log by time")
