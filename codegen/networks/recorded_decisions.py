"""Recorded decisions as rows of a network's inputs: the teacher's float ones and the firmware's int16 ones.

Runs of several networks are put behind each other. The previous decision's effect is taken from the record, so both see
the same past; an LSTM's state is each one's own.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats, Integers
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.policy.actions import Choice, scale_of
from decision.policy.network_decision import Input, build_inputs, narrowed
from decision.policy.policy import Policy
from decision.policy.records import Trajectories


@dataclass(frozen=True)
class Recorded:
    """``rows`` [N, inputs]: what the teacher sees; ``starts``: first rows of unbroken runs of one flow's decisions;
    ``valid`` [N]: the whole history is on record."""

    parts: tuple[Trajectories, ...]
    rows: Floats
    starts: Integers
    valid: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)


def recorded(policy: Policy, parts: Iterable[Trajectories]) -> Recorded:
    """Rows of all parts. InputError where there are none."""
    kept = tuple(part for part in parts if len(part))
    if not kept:
        raise InputError("there is no recorded decision to calibrate on; make rollouts with rlcc rollout")
    rows, starts, valid, before = [], [], [], 0
    for part in kept:
        seen, known = part.float_rows(policy.observation)
        begins = part.starts()
        if policy.architecture.lstm is not None:
            from_start = part.columns["step"][begins] == 0
            known = np.repeat(from_start, np.diff(np.append(begins, len(part))))
        rows.append(seen)
        starts.append(begins + before)
        valid.append(known)
        before += len(part)
    return Recorded(kept, np.concatenate(rows), np.concatenate(starts), np.concatenate(valid))


def split(parts: Iterable[Trajectories], *, every: int, most: int) -> tuple[list[Trajectories], list[Trajectories]]:
    """Decisions to calibrate on and decisions held out: of every network each ``every``-th flow is held out. Large
    networks give only some of their flows, so that neither has more than ``most`` decisions per network."""
    calibration: list[Trajectories] = []
    held_out: list[Trajectories] = []
    for part in parts:
        of = part.columns[part.interface.agent]
        flows = np.unique(of)
        stride = max(1, -(-len(part) // most))
        taken = flows[::stride] if len(flows) > stride else flows
        out = taken[every - 1 :: every] if len(taken) >= every else taken[len(taken) // 2 :]
        kept = np.setdiff1d(taken, out)
        for flows_of, group in ((kept, calibration), (out, held_out)):
            mask = np.isin(of, flows_of)
            if mask.any():
                columns = {name: column[mask] for name, column in part.columns.items()}
                group.append(Trajectories.of(columns, part.interface, part.places))
    return calibration, held_out


def integer_rows(policy: Policy, inputs: tuple[Input, ...], data: Recorded) -> Integers:
    """Returns the inputs of the firmware's network [N, inputs], newest decision first."""
    return np.concatenate([_integer_rows(policy, inputs, part) for part in data.parts])


def _integer_rows(policy: Policy, inputs: tuple[Input, ...], part: Trajectories) -> Integers:
    observation = policy.observation
    if isinstance(policy.action, Choice):
        rows, _ = part.integer_rows(observation, policy.params())
        each = list(zip(observation.features, inputs, strict=True)) * observation.window
        return np.stack([narrowed(*formed, rows[:, column]) for column, formed in enumerate(each)], axis=1)
    program, nodes = build_inputs(observation, scale_of(policy.action, "an int8 network"), inputs)
    applied = part.columns["action_q16"].astype(np.int64)
    state = {"rate_q30": part.columns["rate_q30"].astype(np.int64)}
    if len(program.state) > 1:
        state["action_1"] = _lagged(applied, part, 1)
    event = {name: part.columns[name].astype(np.int64) for name in FLOW_RATE.event_names}
    values = trace(program, event, policy.params(), state)
    columns = [_lagged(values[node], part, lag) for lag in range(observation.window) for node in nodes]
    return np.stack(columns, axis=1)


def _lagged(values: Integers, part: Trajectories, lag: int) -> Integers:
    """``values`` ``lag`` decisions earlier in the same run; 0 before its first."""
    if lag == 0:
        return values
    shifted = np.concatenate([np.zeros(min(lag, len(values)), dtype=np.int64), values[:-lag]])
    return np.where(part.position >= lag, shifted, 0)
