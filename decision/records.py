"""Records of decisions, and the feature rows that a teacher (float) or a student (integer) sees in them.

A record is one row a decision, as the network simulator writes it: raw signals, the rate in force and the action
taken. Features are computed from these raw rows and are never stored beside them. The integer rows are evaluated by
the very decision program that becomes firmware.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.errors import InputError
from decision.features import Decisions
from decision.interpret import trace
from decision.policy import Observation
from decision.signals import ACTION_BITS, CONTEXT_RATE_BITS, EVENT_NAMES, FEATURE_LIMIT
from decision.tree_decision import build_observer

Columns = Mapping[str, NDArray[np.generic]]

RECORD_COLUMNS: dict[str, str] = {
    "t_ps": "int64",
    "flow": "uint32",
    "step": "uint32",
    **dict.fromkeys(EVENT_NAMES, "uint32"),
    "rate_q30": "uint32",
    "action_q16": "int32",
    "output": "float32",
}
"""Columns of a record and their types. ``step`` counts a flow's decisions from 0 (new flow); ``rate_q30`` is the rate
before the decision; ``action_q16`` the decision (multiplier - 1); ``output`` the network's, NaN for other policies."""


@dataclass(frozen=True)
class Trajectories:
    """Records sorted by flow and time, with each row's place in its unbroken run of decisions."""

    columns: Mapping[str, NDArray[np.generic]]
    position: NDArray[np.int64]

    @staticmethod
    def of(records: Columns) -> "Trajectories":
        """Sort records. InputError where a column is missing."""
        for name in RECORD_COLUMNS:
            if name not in records:
                raise InputError(f"the rollouts have no column {name}; make them with rlcc rollout")
        order = np.lexsort((records["t_ps"], records["flow"]))
        columns = {name: np.asarray(records[name])[order] for name in RECORD_COLUMNS}
        flow, step = columns["flow"].astype(np.int64), columns["step"].astype(np.int64)
        index = np.arange(flow.size, dtype=np.int64)
        starts = np.ones(flow.size, dtype=bool)
        starts[1:] = (flow[1:] != flow[:-1]) | (step[1:] != step[:-1] + 1)
        position = index - np.maximum.accumulate(np.where(starts, index, 0)) if flow.size else index
        return Trajectories(columns, position)

    def __len__(self) -> int:
        return int(self.position.size)

    def starts(self) -> NDArray[np.int64]:
        """Row numbers at which an unbroken run of one flow's decisions begins."""
        return np.flatnonzero(self.position == 0)

    def decisions(self) -> Decisions:
        """The float side's inputs."""
        c = {name: column.astype(np.float64) for name, column in self.columns.items()}
        rtt = (self._int("response_ns") - self._int("request_sent_ns")) & 0xFFFFFFFF
        previous, _ = self._lagged(self._int("action_q16"), 1, 0)
        return Decisions(
            rtt_ns=rtt.astype(np.float64),
            rate=c["rate_q30"] / 2**CONTEXT_RATE_BITS,
            previous_multiplier=1.0 + previous / 2**ACTION_BITS,
            cnp_count=c["cnp_count"],
            nack_count=c["nack_count"],
            sent_bytes=c["sent_bytes"],
            queue_bytes=c["queue_bytes"],
        )

    def float_rows(self, observation: Observation) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """What a teacher sees [N, window * features], newest first, and which rows have their whole history."""
        d = self.decisions()
        now = [(f.float_value(d, observation.path), f.initial) for f in observation.features]
        rows, valid = [], np.ones(len(self), dtype=bool)
        for lag in range(observation.window):
            for feature, (values, initial) in zip(observation.features, now, strict=True):
                lagged, known = self._lagged(values, lag, initial)
                rows.append(lagged)
                valid &= known if feature.kind != "previous_action" else self._has_history(lag + 1)
        return np.stack(rows, axis=1).astype(np.float64), valid

    def integer_rows(
        self, observation: Observation, params: Mapping[str, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """What the firmware computes, below FEATURE_LIMIT, [N, window * features], newest first, and which rows have
        their whole history."""
        program, nodes = build_observer(observation)
        event = {name: self._int(name) for name in EVENT_NAMES}
        values = trace(program, event, params, {"rate_q30": self._int("rate_q30")})
        rows, valid = [], np.ones(len(self), dtype=bool)
        for lag in range(observation.window):
            for node in nodes:
                back = lag + 1 if node < 0 else lag
                lagged, known = self._lagged(self._int("action_q16") if node < 0 else values[node], back, 0)
                rows.append(lagged)
                valid &= known
        # No threshold lies above the limit, so no tree can tell a value there from the limit itself.
        return np.minimum(np.stack(rows, axis=1).astype(np.int64), FEATURE_LIMIT - 1), valid

    def _int(self, name: str) -> NDArray[np.int64]:
        return self.columns[name].astype(np.int64)

    def _has_history(self, back: int) -> NDArray[np.bool_]:
        return np.asarray((self.position >= back) | (self.position == self._int("step")))

    def _lagged(
        self, values: NDArray[np.generic], back: int, initial: float
    ) -> tuple[NDArray[np.float64 | np.int64], NDArray[np.bool_]]:
        """``values`` ``back`` decisions earlier in the same run; ``initial`` before a flow's first decision."""
        if back == 0:
            return np.asarray(values), np.ones(len(self), dtype=bool)
        shifted = np.concatenate([np.full(min(back, len(self)), initial, dtype=values.dtype), values[:-back]])
        lagged = np.where(self.position >= back, shifted, np.asarray(initial, dtype=values.dtype))
        return lagged, self._has_history(back)
