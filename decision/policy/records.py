"""Records of decisions, and the feature rows that a teacher (float) or a student (integer) sees in them.

A record is one row a decision, as the network simulator writes it: raw signals, the knob in force and what was
decided. Features are computed from these raw rows and are never stored beside them. The integer rows are evaluated by
the very decision program that becomes firmware.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from decision.artefact.errors import InputError
from decision.ir.context_expressions import carried_by
from decision.ir.expression import COUNTED, Expression, pasts
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interface import STORAGE_RANGE, TRIGGERED, Interface
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.tape import Names, Reading, Tape, evaluate
from decision.policy.policy import Observation
from decision.policy.tree_decision import Observer, build_observer

Columns = Mapping[str, NDArray[np.generic]]
Rows = NDArray[np.int64]
Places = Mapping[str, NDArray[np.generic]]
"""What is known of agents' places, by name: a value an agent [agents]."""

EVERY = 2**40
"""Decisions that an agent looks back at, where a value depends on all of them."""

ACTION = "action_q16"
MAKER = "maker"
"""Who made a step, where contexts keep a phase: 0 the policy, 1 the phase (then the action is 0), 2 not known."""


def record_columns(interface: Interface) -> dict[str, str]:
    """Columns of an interface's records and their types. ``step`` counts an agent's decisions from 0 (a new agent).
    If contexts store a knob in force: that knob before the decision, the decision (multiplier - 1), the network's
    ``output``, NaN for other policies, and other knobs as they were set; where also a phase, that before it and who
    made the step; else the knobs that were set."""
    columns = {"t_ps": "int64", interface.agent: "uint32", "step": "uint32"}
    columns |= {signal.name: signal.storage for signal in interface.event}
    if not interface.context:
        return columns | {knob.name: knob.storage for knob in interface.knobs}
    columns |= {knob.name: knob.storage for knob in interface.knobs[1:]}
    phases = {} if interface.new_phase is None else dict.fromkeys(("phase", MAKER), "uint8")
    return columns | {interface.context[0].name: "uint32", ACTION: "int32", "output": "float32"} | phases


@dataclass(frozen=True)
class Trajectories:
    """Records sorted by agent and time, with each row's place in its unbroken run of decisions. ``places``: what was
    known of the agents' places where it is not the same for all; ``network``: which it was, for people."""

    columns: Mapping[str, NDArray[np.generic]]
    position: NDArray[np.int64]
    interface: Interface = FLOW_RATE
    places: Places = field(default_factory=dict)
    network: str = ""

    @staticmethod
    def of(records: Columns, interface: Interface = FLOW_RATE, places: Places | None = None) -> "Trajectories":
        """Sort records. InputError where a column is missing."""
        names = record_columns(interface)
        for name in names:
            if name not in records:
                raise InputError(f"the rollouts have no column {name}; make them with rlcc rollout")
        order = np.lexsort((records["t_ps"], records[interface.agent]))
        columns = {name: np.asarray(records[name])[order] for name in names}
        agent, step = columns[interface.agent].astype(np.int64), columns["step"].astype(np.int64)
        index = np.arange(agent.size, dtype=np.int64)
        starts = np.ones(agent.size, dtype=bool)
        starts[1:] = (agent[1:] != agent[:-1]) | (step[1:] != step[:-1] + 1)
        position = index - np.maximum.accumulate(np.where(starts, index, 0)) if agent.size else index
        return Trajectories(columns, position, interface, places or {})

    def __len__(self) -> int:
        return int(self.position.size)

    def starts(self) -> NDArray[np.int64]:
        """Row numbers at which an unbroken run of one agent's decisions begins."""
        return np.flatnonzero(self.position == 0)

    def decided(self) -> dict[str, NDArray[np.int64]]:
        """Returns the results of each decision, by name: a scale's action, or the knobs."""
        if self.interface.context:
            return {"action": self._int(ACTION)}
        return {name: self._int(name) for name in self.interface.mapped_names}

    def knobs_before(self) -> NDArray[np.float64]:
        """Returns the values that the decision before each set [N, values]: 0 for a new agent."""
        return np.stack([self._lagged(column, 1, 0) for column in self.decided().values()], axis=1).astype(np.float64)

    def of_policy(self) -> NDArray[np.bool_]:
        """Rows [N] whose step the policy made; the others' the phase made, whatever the policy would have decided.
        InputError where the records do not know."""
        if self.interface.new_phase is None:
            return np.ones(len(self), dtype=bool)
        maker = self._int(MAKER)
        if (maker > 1).any():
            raise InputError("firmware does not say which steps its policy made; record the program or the teacher")
        return np.asarray(maker == 0)

    def reading(self, observation: Observation) -> Reading:
        """Returns the inputs of the float side in each row."""
        event = {name: self._int(name).astype(np.float64) for name in self.interface.event_names}
        before = {name: self._lagged(column, 1, 0).astype(np.float64) for name, column in self.decided().items()}
        in_force = self._in_force().astype(np.float64)
        known: dict[str, NDArray[np.float64] | float] = dict(observation.known)
        known |= {name: self._of_agent(values).astype(np.float64) for name, values in self.places.items()}
        return Reading(event, known, in_force, before)

    def float_rows(self, observation: Observation) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Returns what a teacher sees [N, window * features], newest first, and which rows have their whole history."""
        read = self.reading(observation)
        names = Names(tuple(read.event), tuple(read.known), tuple(read.decided))
        now = [(self._values(f.tape(names, observation.place), read), f) for f in observation.features]
        rows, valid = [], np.ones(len(self), dtype=bool)
        for lag in range(observation.window):
            for (values, back), feature in now:
                rows.append(self._lagged(values, lag, feature.initial))
                valid &= self._has_history(lag + back + (feature.decided is not None))
        return np.stack(rows, axis=1).astype(np.float64), valid

    def integer_rows(
        self, observation: Observation, params: Mapping[str, int]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Returns what the firmware computes, below FEATURE_LIMIT, [N, window * features], newest first, and which rows
        have their whole history."""
        observer = build_observer(observation)
        event = {name: self._int(name) for name in self.interface.event_names}
        each: dict[str, ArrayLike] = dict(params)
        each |= {name: self._of_agent(values) for name, values in self.places.items()}
        context = {name: self._lagged(column, 1, 0).astype(np.int64) for name, column in self.decided().items()}
        context |= {kept.name: self._in_force() for kept in self.interface.context}
        context |= dict.fromkeys(observer.past, np.zeros(len(self), dtype=np.int64))
        context[COUNTED] = np.minimum(self._int("step"), STORAGE_RANGE["uint16"][1])
        if observer.carried:
            context |= self._carried(observer, event, each, context)
        values = trace(observer.program, event, each, context)
        if observer.past:
            for name, (node, back) in observer.past.items():
                context[name] = self._lagged(values[node], back, 0).astype(np.int64)
            values = trace(observer.program, event, each, context)
        backs = [_looks_back(f.expression(observation.place)) for f in observation.features]
        rows, valid = [], np.ones(len(self), dtype=bool)
        for lag in range(observation.window):
            for feature, node, back in zip(observation.features, observer.nodes, backs, strict=True):
                rows.append(self._lagged(values[node], lag, 0))
                valid &= self._has_history(lag + back + (feature.decided is not None))
        # No threshold lies above the limit, so no tree can tell a value there from the limit itself.
        return np.minimum(np.stack(rows, axis=1).astype(np.int64), FEATURE_LIMIT - 1), valid

    def _carried(
        self,
        observer: Observer,
        event: Mapping[str, ArrayLike],
        params: Mapping[str, ArrayLike],
        context: Mapping[str, ArrayLike],
    ) -> dict[str, NDArray[np.int64]]:
        """Returns the carried values in each row's context, by field [N]: 0 where an unbroken run begins, then what the
        row before has left there."""
        held = {name: np.zeros(len(self), dtype=np.int64) for name in observer.carried}
        for now, before in in_step(len(self), self.starts()):
            if len(before):
                there = (_rows(columns, before) for columns in (event, params, {**context, **held}))
                values = trace(observer.program, *there)
                for name, node in observer.carried.items():
                    held[name][now] = values[node]
        return held

    def triggered(self) -> NDArray[np.bool_]:
        """Rows [N] of which the trigger fired."""
        return np.asarray(self._int(TRIGGERED.name) == 1)

    def new(self) -> NDArray[np.bool_]:
        """Rows [N] that are an agent's first decision."""
        return np.asarray(self._int("step") == 0)

    def saved(
        self, rows: NDArray[Any], valid: NDArray[np.bool_], initial: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Rows [N, k] as they were when the agent's trigger fired last before each decision, ``initial`` where it had
        not yet, and which are on record."""
        index = np.arange(len(self))
        fired = np.maximum.accumulate(np.where(self.triggered(), index, -1)) if len(self) else index
        last = np.concatenate([[-1], fired[:-1]])[: len(self)]
        same = last >= index - self.position
        new = (self.position == self._int("step")) & ~same
        return np.where(same[:, None], rows[last], np.asarray(initial, rows.dtype)), np.where(same, valid[last], new)

    def with_saved(
        self, rows: NDArray[Any], valid: NDArray[np.bool_], count: int, initial: ArrayLike = 0
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The rows and, behind each, its first ``count`` values as they were when the trigger fired last."""
        if not count:
            return rows, valid
        saved, known = self.saved(rows[:, :count], valid, initial)
        return np.concatenate([rows, saved], axis=1), valid & known

    def _int(self, name: str) -> NDArray[np.int64]:
        return self.columns[name].astype(np.int64)

    def _in_force(self) -> NDArray[np.int64]:
        kept = self.interface.context
        return self._int(kept[0].name) if kept else np.zeros(len(self), dtype=np.int64)

    def _of_agent(self, values: NDArray[np.generic]) -> NDArray[np.int64]:
        return np.asarray(values)[self._int(self.interface.agent)].astype(np.int64)

    def _values(self, tape: Tape, read: Reading) -> tuple[NDArray[np.float64], int]:
        """A feature's float [N], and how many decisions it looks back for it. The stored values depend on no past, with
        two exceptions: a count, for which rows know their own number, and what is carried from each decision to the
        next."""
        if any(kept.recurs for kept in tape.kept):
            return self._recurring(tape, read), EVERY
        past = [np.full(len(self), kept.initial) for kept in tape.kept]
        registers = evaluate(tape, read, past)
        if past:
            shape = (len(self),)
            past = [
                np.minimum(self._int("step"), k.most).astype(np.float64)
                if k.most is not None
                else self._lagged(np.broadcast_to(registers[k.register], shape), k.back, k.initial)
                for k in tape.kept
            ]
            registers = evaluate(tape, read, past)
        value = np.broadcast_to(registers[tape.results[0]], (len(self),))
        return value, max((kept.back for kept in tape.kept if kept.most is None), default=0)

    def _recurring(self, tape: Tape, read: Reading) -> NDArray[np.float64]:
        """A feature's float [N] of a tape that carries values: each is its initial one where an unbroken run begins,
        then what the row before has left."""
        left = [np.zeros(len(self)) for _ in tape.kept]
        value = np.zeros(len(self))
        for now, before in in_step(len(self), self.starts()):
            there = Reading(
                _rows(read.event, now),
                _rows(read.known, now),
                _rows({"in force": read.in_force}, now)["in force"],
                _rows(read.decided, now),
            )
            past = [
                column[before] if len(before) else np.full(len(now), kept.initial)
                for column, kept in zip(left, tape.kept, strict=True)
            ]
            registers = evaluate(tape, there, past)
            for column, kept in zip(left, tape.kept, strict=True):
                column[now] = registers[kept.register]
            value[now] = registers[tape.results[0]]
        return value

    def _has_history(self, back: int) -> NDArray[np.bool_]:
        if back == 0:
            return np.ones(len(self), dtype=bool)
        return np.asarray((self.position >= back) | (self.position == self._int("step")))

    def _lagged(self, values: NDArray[np.generic], back: int, initial: float) -> NDArray[np.float64 | np.int64]:
        """``values`` ``back`` decisions earlier in the same run; ``initial`` before an agent's first decision."""
        if back == 0:
            return np.asarray(values)
        shifted = np.concatenate([np.full(min(back, len(self)), initial, dtype=values.dtype), values[:-back]])
        return np.where(self.position >= back, shifted, np.asarray(initial, dtype=values.dtype))


def _rows(columns: Mapping[str, Any], rows: NDArray[np.int64]) -> dict[str, Any]:
    """These rows of the columns; what is one value for all stays so."""
    return {name: values[rows] if np.ndim(values) else values for name, values in columns.items()}


def _looks_back(x: Expression) -> int:
    """How many decisions an expression looks back for its value; ``EVERY`` where it carries one from each to the
    next."""
    return EVERY if carried_by(x) else max((past.back for past in pasts(x)), default=0)


def in_step(count: int, starts: Rows) -> Iterator[tuple[Rows, Rows]]:
    """All runs of ``count`` rows side by side: for each step the rows that are decided then, and the rows before them
    (none at first)."""
    lengths = np.diff(np.append(starts, count))
    for step in range(int(lengths.max(initial=0))):
        now = starts[lengths > step] + step
        yield now, now - 1 if step else now[:0]
