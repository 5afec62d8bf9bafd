"""One episode of a task: rows of all flows, of which a few decide at a time.

    episode = Episode(Task("many-to-one:64"), seed=1)
    while not episode.over:
        episode.answer(policy(episode.observations))   # actions of flows that do not decide are not looked at

A step is a batch of the array API (netsim/arrays.py): the decisions that fall within one decision latency, none of
which can feel another's effect. The run therefore equals that of the same policy inside the simulator, decision by
decision.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.formats import ACTION_BITS
from decision.ir.interfaces.flow_rate import ACKED, DEVICE_RATE, MARKED
from decision.ir.tape import Reading
from netsim.arrays import Batch
from netsim.environments.task import Task


class Episode:
    """State of all flows [flows, ...] at the present batch; arrays are overwritten by the next ``answer``."""

    def __init__(self, task: Task, seed: int) -> None:
        flows = task.flows
        self.task = task
        self.arrays = task.start(seed)
        places = self.arrays.places()
        self._known = {name: places[name].astype(np.float64) for name in task.observation.known if name in places}
        self.observations = np.tile(task.initial_row(), (flows, 1))
        self.decides = np.zeros(flows, dtype=np.bool_)  # the flow has a decision to make now
        self.rewards = np.zeros(flows, dtype=np.float64)  # of the decision before; 0 where none is due
        self.step = np.full(flows, -1, dtype=np.int64)  # number of the flow's last decision, 0 is a new flow's first
        self.t_ps = np.full(flows, -1, dtype=np.int64)  # time of it
        self._multiplier = np.ones(flows, dtype=np.float64)
        self._batch: Batch | None = None
        self._receive()
        if self.over:
            raise InputError(f"no flow decides within {task.duration_ps} ps; make the task's duration_ps longer")

    @property
    def over(self) -> bool:
        """Whether the end of the run is reached: no decision is left to make."""
        return self._batch is None

    def answer(self, actions: NDArray[Any]) -> None:
        """Apply the actions [flows] of the flows that decide, and go on to the next decisions."""
        if self._batch is None:
            raise InputError("the run is over; reset the environment before the next step")
        flow = self._batch.flow
        multiplier = self.task.multipliers(actions[flow])
        self.arrays.send(multiplier=multiplier)
        self._multiplier[flow] = multiplier
        self._receive()

    def _receive(self) -> None:
        self.decides[:] = False
        self.rewards[:] = 0.0
        self._batch = batch = self.arrays.recv()
        if batch is None:
            return
        flow, new = batch.flow, batch.step == 0
        self.decides[flow] = True
        self.observations[flow[new]] = self.task.initial_row()
        self._multiplier[flow[new]] = 1.0
        self.step[flow], self.t_ps[flow] = batch.step, batch.t_ps

        known: dict[str, NDArray[np.float64] | float] = dict(self.task.observation.known)
        known |= {name: values[flow] for name, values in self._known.items()}
        read = _reading(batch, self._multiplier[flow], known)
        newest = self.task.features(read)
        older = self.observations[flow, : -newest.shape[1]]
        self.observations[flow] = np.concatenate([newest, older], axis=1)
        self.rewards[flow] = np.where(new, 0.0, self.task.rewards(read))


def _reading(
    batch: Batch, previous_multiplier: NDArray[np.float64], known: Mapping[str, NDArray[np.float64] | float]
) -> Reading:
    event = {
        "request_sent_ns": np.zeros(batch.rtt_ns.size),
        "response_ns": batch.rtt_ns.astype(np.float64),
        "cnp_count": batch.cnp_count.astype(np.float64),
        "nack_count": batch.nack_count.astype(np.float64),
        "sent_bytes": batch.sent_bytes.astype(np.float64),
        "queue_bytes": batch.queue_bytes.astype(np.float64),
    }
    for name in (DEVICE_RATE, ACKED, MARKED):
        told: NDArray[np.uint32] | None = getattr(batch, name)
        if told is not None:
            event[name] = told.astype(np.float64)
    action = (previous_multiplier - 1.0) * 2.0**ACTION_BITS
    return Reading(event, known, batch.rate_q30.astype(np.float64), {"action": action})
