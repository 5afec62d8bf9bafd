"""Figures of a replay: what the policy would have done, next to what was done."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from decision.ir.arrays import Integers
from rlcc.observation.calls import HostCalls
from rlcc.observation.replay import Replay

LOSSES = ("trimmed_bytes", "nacked_bytes", "skipped_bytes", "expired_bytes")
BAD = ("over_acknowledged", "untimed", "clock_back")
"""Counters of completions that are bounded."""


@dataclass(frozen=True)
class Spread:
    """Values in bytes: the least, 5 %, median, 95 % and the greatest; whole numbers, each one that occurs."""

    least: int
    low: int
    median: int
    high: int
    greatest: int


@dataclass(frozen=True)
class HostReplayReport:
    """Bytes unless said otherwise. ``window``: after each completion; ``in_flight``: after each send. ``held_back``:
    sends beyond the window, which enforcing delays. ``bad``: completions, by counter. ``recorded``: rows with a
    recorded window, and ``differ``: those that decide another one; None where the log has none."""

    flows: int
    sends: int
    completions: int
    sent_bytes: int
    acked_bytes: int
    marked_bytes: int
    lost_bytes: Mapping[str, int]
    window: Spread | None
    in_flight: Spread | None
    held_back: int
    held_back_bytes: int
    bad: Mapping[str, int]
    recorded: int | None
    differ: int | None
    first_difference: int | None
    """Row, from 1."""

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def report(calls: HostCalls, replayed: Replay) -> HostReplayReport:
    """Returns the figures of a log and its replay."""
    sends, columns = calls.sends, calls.columns
    held = replayed.held_back > 0
    differ = None if calls.windows is None else np.flatnonzero(calls.windows != replayed.windows)
    return HostReplayReport(
        flows=calls.flows,
        sends=int(sends.sum()),
        completions=int((~sends).sum()),
        sent_bytes=int(columns["sent_bytes"].sum()),
        acked_bytes=int(columns["acked_bytes"].sum()),
        marked_bytes=int(columns["marked_bytes"].sum()),
        lost_bytes={name.removesuffix("_bytes"): int(columns[name].sum()) for name in LOSSES},
        window=_spread(replayed.windows[~sends]),
        in_flight=_spread(replayed.in_flight[sends]),
        held_back=int(held.sum()),
        held_back_bytes=int(columns["sent_bytes"][held].sum()),
        bad={name: replayed.counters[name] for name in BAD},
        recorded=None if differ is None else len(sends),
        differ=None if differ is None else len(differ),
        first_difference=None if differ is None or not differ.size else int(differ[0]) + 1,
    )


def _spread(values: Integers) -> Spread | None:
    if not values.size:
        return None
    at = np.quantile(values, (0, 0.05, 0.5, 0.95, 1), method="inverted_cdf")
    return Spread(*(int(value) for value in at))


def rows_csv(calls: HostCalls, replayed: Replay) -> str:
    """Returns CSV, a row for each of the log's: time, flow by the order of its first row, window, bytes in flight,
    whether enforcing would have held the send back."""
    columns = (calls.columns["now_ns"], calls.columns["flow"], replayed.windows, replayed.in_flight, replayed.held_back)
    lines = ["now_ns,flow,window_bytes,in_flight_bytes,held_back"]
    lines += [",".join(map(str, row)) for row in zip(*(column.tolist() for column in columns), strict=True)]
    return "\n".join(lines) + "\n"
