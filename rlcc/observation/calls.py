"""A log of a host's calls: one row a send or a completion, in the order in which they happened.

    now_ns,flow,sent_bytes,rtt_ns,acked_bytes,marked_bytes
    1000,7,4096,0,0,0
    14000,7,0,13000,4096,0

CSV, Parquet or NPZ. A row with ``sent_bytes`` is a send; any other row is a completion. docs/reference/observe.md has
the columns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.suggest import meant
from decision.ir.arrays import Bools, Integers
from decision.ir.formats import U32_MAX
from distill.log.columns import Column, Quantity
from distill.log.files import open_log
from distill.log.values import codes, place, whole_numbers

FLOW, WINDOW = "flow", "window_bytes"
COMPLETION = (
    "rtt_ns",
    "acked_bytes",
    "marked_bytes",
    "trimmed_bytes",
    "nacked_bytes",
    "skipped_bytes",
    "expired_bytes",
    "path_id",
)
"""Columns of a completion, 0 in a send."""
REQUIRED = ("now_ns", "sent_bytes", "acked_bytes")
COLUMNS = ("now_ns", FLOW, "sent_bytes", *COMPLETION, WINDOW)
MAX_TIME_NS = 2**62 - 1
MAX_ROWS = 50_000_000


@dataclass(frozen=True)
class HostCalls:
    """``columns``: arrays [rows] by name, each of COLUMNS but WINDOW; flows count from 0. ``windows``: the recorded
    windows [rows] in bytes, where the log has them. ``flows``: number of flows."""

    columns: Mapping[str, Integers]
    windows: Integers | None
    flows: int

    @property
    def sends(self) -> Bools:
        """True [rows] for a send."""
        return np.asarray(self.columns["sent_bytes"] > 0)


def read_calls(path: Path) -> HostCalls:
    """Returns the log of a file. InputError names a column or a row that is wrong."""
    log = open_log(path)
    for name in log.columns:
        if name not in COLUMNS:
            raise InputError(
                f"{path} has a column {name!r}, which rlcc observe does not read{meant(name, COLUMNS)}; leave it out"
            )
    missing = [name for name in REQUIRED if name not in log.columns]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}; a log needs {', '.join(REQUIRED)}")
    parts: dict[str, list[Integers]] = {name: [] for name in log.columns}
    known: dict[object, int] = {}
    rows = 0
    for batch in log.batches(log.columns):
        for name, array in batch.items():
            column = Column(name, name, Fraction(1), "")
            if name == FLOW:
                parts[name].append(codes(array, column, log.where, rows, known))
            else:
                limit = MAX_TIME_NS if name == "now_ns" else U32_MAX
                parts[name].append(whole_numbers(array, column, Quantity(0, limit, {}), log.where, rows))
        rows += len(next(iter(batch.values())))
        if rows > MAX_ROWS:
            raise InputError(f"{path} has over {MAX_ROWS:,} rows; give a part of it")
    if rows == 0:
        raise InputError(f"{path} has no row; record sends and completions first")
    read = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    columns = {name: read.get(name, np.zeros(rows, dtype=np.int64)) for name in COLUMNS if name != WINDOW}
    _check_rows(columns, log.where)
    return HostCalls(columns, read.get(WINDOW), max(len(known), 1))


def _check_rows(columns: Mapping[str, Integers], where: str) -> None:
    """Raises InputError where a row is a send and a completion."""
    for name in COMPLETION:
        both = np.flatnonzero((columns["sent_bytes"] > 0) & (columns[name] > 0))
        if both.size:
            here = place(where, int(both[0]) + 1, Column(name, name, Fraction(1), ""))
            raise InputError(f"{here}: the row is a send; give the completion a row of its own, with sent_bytes 0")
