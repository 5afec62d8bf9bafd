"""A log's rows as runs: read batch by batch, checked, and each run's decisions sorted by agent and time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.policy.records import ACTION, Columns, Trajectories, record_columns
from decision.policy.tree_decision import feature_names
from distill.log.columns import RTT, RUN, STEP, TIME, TIMESTAMPS, Column, Layout
from distill.log.features import FeatureStates, feature_integers, impossible
from distill.log.files import Log
from distill.log.order import Order
from distill.log.values import codes, decimals, place, whole_numbers
from distill.rollout import MAX_BYTES

Progress = Callable[[str], None]
NS_PS = 1000


@dataclass(frozen=True)
class LogRun:
    """One run of a log. ``states``: its decisions; where the log does not say what was applied, its columns are 0.
    ``labels``: the log's own, by column; ``rows`` [N]: the row of the log, from 1, of each decision."""

    name: str
    states: Trajectories
    labels: Mapping[str, Integers]
    rows: Integers


@dataclass(frozen=True)
class LogRows:
    """All of a log. ``gaps``: how often an agent's decisions were missing; ``applied``: whether the log says what was
    applied."""

    runs: Sequence[LogRun]
    agents: int
    gaps: int
    applied: bool

    def __len__(self) -> int:
        return sum(len(run.states) for run in self.runs)


def read_runs(
    log: Log,
    layout: Layout,
    columns: Mapping[str, Column],
    *,
    allow_gaps: bool = False,
    progress: Progress | None = None,
    run_name: str = "log",
) -> LogRows:
    """Reads, converts and checks every row. ``run_name``: of the only run, where no column names them. InputError names
    row and column of what is wrong, and a log that is too large or empty."""
    reading = _LogReading(log, layout, columns, Order(log.where, columns[TIME], columns.get(STEP), allow_gaps))
    most = _most_rows(layout)
    sources = list(dict.fromkeys(column.source for column in columns.values()))
    for batch in log.batches(sources):
        reading.take(batch)
        if reading.count > most:
            raise InputError(
                f"{log.where} has more than {most:,} decisions, which do not fit into rollouts of "
                f"{MAX_BYTES // 2**20} MiB; import a part of it"
            )
        if progress is not None:
            of = f" of {log.rows:,}" if log.rows is not None else ""
            progress(f"row {reading.count:,}{of}")
    if reading.count == 0:
        raise InputError(f"{log.where} has no rows; give a log with decisions")
    return reading.finish(run_name)


def _most_rows(layout: Layout) -> int:
    """Rows that rollouts have room for."""
    size = sum(np.dtype(kind).itemsize for kind in record_columns(layout.interface).values())
    return MAX_BYTES // (size + 4 * len(feature_names(layout.header.observation)) + 4 * len(layout.labels) + 16)


class _LogReading:
    """Rows that were read so far, in narrow types."""

    def __init__(self, log: Log, layout: Layout, columns: Mapping[str, Column], order: Order) -> None:
        self.log, self.layout, self.columns, self.order = log, layout, columns, order
        self.agents: dict[Any, int] = {}
        self.runs: dict[Any, int] = {}
        self.pairs: dict[int, int] = {}
        self.pair_names: list[str] = []
        self.kinds = record_columns(layout.interface)
        self.parts: dict[str, list[Integers]] = {}
        self.count = 0

    def take(self, batch: Mapping[str, Any]) -> None:
        where, first = self.log.where, self.count
        rows = len(next(iter(batch.values())))
        agent = self.layout.interface.agent
        values = {
            name: whole_numbers(batch[column.source], column, self.layout.quantities[name], where, first)
            for name, column in self.columns.items()
            if name in self.layout.quantities
        }
        for name, feature in self.layout.features.items():
            if name in self.columns:
                column = self.columns[name]
                seen = decimals(batch[column.source], column, where, first)
                wrong, ends = impossible(feature, seen)
                if wrong.size:
                    least, most = (f"{end:.6g}" for end in sorted(ends))
                    at = place(where, first + int(wrong[0]) + 1, column)
                    raise InputError(
                        f"{at}: {seen[wrong[0]]:.6g} is not within {least} and {most}, which the feature's format holds"
                    )
                values[name] = feature_integers(feature, seen)
        agents = codes(batch[self.columns[agent].source], self.columns[agent], where, first, self.agents)
        runs = np.zeros(rows, dtype=np.int64)
        if RUN in self.columns:
            runs = codes(batch[self.columns[RUN].source], self.columns[RUN], where, first, self.runs)
        if RTT in values:
            response = values[TIME] // NS_PS
            sent, came = TIMESTAMPS
            values |= {sent: (response - values.pop(RTT)) % 2**32, came: response % 2**32}
        values[STEP] = self.order.steps(
            self._pairs(agents, runs), values[TIME], values.get(STEP), self.pair_names, first
        )
        values |= {agent: agents, RUN: runs}
        for name, integers in values.items():
            narrow = self.kinds.get(name, "int64")
            self.parts.setdefault(name, []).append(integers.astype(narrow))
        self.count += rows

    def _pairs(self, agents: Integers, runs: Integers) -> Integers:
        """A number [rows] of each agent and run."""
        both = runs * 2**32 + agents
        different, inverse = np.unique(both, return_inverse=True)
        names = list(self.agents)
        for pair in different.tolist():
            if pair not in self.pairs:
                self.pairs[pair] = len(self.pairs)
                self.pair_names.append(f"{self.layout.interface.agent} {str(names[pair % 2**32])[:40]}")
        return np.array([self.pairs[pair] for pair in different.tolist()], dtype=np.int64)[inverse]

    def finish(self, run_name: str) -> LogRows:
        whole = {name: np.concatenate(parts) for name, parts in self.parts.items()}
        order = np.lexsort((whole[TIME], whole[self.layout.interface.agent], whole[RUN]))
        whole = {name: column[order] for name, column in whole.items()}
        numbers = (order + 1).astype(np.int64)
        runs, names = [], [*map(str, self.runs)] or [run_name]
        bounds = np.searchsorted(whole[RUN], np.arange(len(names) + 1))
        applied = all(name in whole for name in self.layout.applied)
        for name, begin, end in zip(names, bounds, bounds[1:], strict=False):
            part = {column: values[begin:end] for column, values in whole.items()}
            states = Trajectories.of(self._records(part, int(end - begin)), self.layout.interface)
            if all(feature in part for feature in self.layout.features):
                features = np.stack([part[feature] for feature in self.layout.features], axis=1)
                states = FeatureStates.of_features(states, features, [*self.layout.features.values()])
            labels = {label: part[label].astype(np.int64) for label in self.layout.labels if label in part}
            runs.append(LogRun(name, states, labels, numbers[begin:end]))
        return LogRows(runs, len(self.pairs), self.order.gap_count, applied)

    def _records(self, part: Mapping[str, Integers], rows: int) -> Columns:
        """The columns of records, those that the log does not have at their defaults."""
        records: dict[str, Any] = {}
        applied = {name.partition(".")[2] or ACTION: name for name in self.layout.applied}
        for name, kind in self.kinds.items():
            source = applied.get(name, name)
            quantity = self.layout.quantities.get(source)
            if source in part:
                records[name] = part[source].astype(kind)
            elif name == "output":
                records[name] = np.full(rows, np.nan, dtype=kind)
            else:
                records[name] = np.full(rows, (quantity.default if quantity else None) or 0, dtype=kind)
        return records
