"""Inputs that put a feature exactly on a point: on a threshold, one below it, one above it.

A past feature stands in the flow context and is simply set. A current one is computed from raw signals, all of which it
grows with: for many surroundings, the least raw value that reaches the point is found by bisection, and kept where the
feature then is the point itself.
"""

from dataclasses import dataclass, replace

import numpy as np

from codegen.inputs import Columns, Integers, Row, columns_of, keys, plausible, split
from spec.interpret import trace
from spec.program import Op, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES, U32_MAX

SURROUNDINGS = 32
RAW_RANGE = {
    "flow.rate_q30": (1, 2**30),
    "event.response_ns": (0, 2**22),
    "event.queue_bytes": (0, 2**30),
    "event.cnp_count": (0, 2**22),
    "event.nack_count": (0, 2**22),
    "params.base_rtt_recip_q32": (2**10, 2**24),
}
"""Raw signals that features grow with. For the response it is the RTT; the reciprocal comes last and only if needed:
with a base RTT below 1024 ns the inflation moves in steps of more than one."""
COUNTS = ("event.cnp_count", "event.nack_count", "event.sent_bytes")
MIXES = (
    (COUNTS,),
    (COUNTS,),
    (COUNTS, ("event.queue_bytes",)),
    (("event.nack_count",), ("event.queue_bytes",)),
    (("flow.rate_q30",),),
)
"""Signals that are independent of each other: exact rows of one feature meet those of another."""


@dataclass(frozen=True)
class Pool:
    """Plausible rows, and rows with a computed feature exactly on a point; ``features`` [N, features] is what they
    give."""

    columns: Columns
    features: Integers


def trees_node(program: Program) -> int | None:
    return next((number for number, node in enumerate(program.nodes) if node.op is Op.TREES), None)


def stored_key(program: Program, feature: int) -> str | None:
    """The field of the context that holds the feature of the ensemble; None where it is computed."""
    trees = trees_node(program)
    assert trees is not None
    node = program.nodes[program.nodes[trees].args[feature]]
    return f"flow.{program.state[node.imm].name}" if node.op is Op.STATE else None


def points_of(program: Program, feature: int) -> list[int]:
    """Each threshold of the feature and its two neighbours, within what the feature can be."""
    trees = trees_node(program)
    assert trees is not None
    node = program.nodes[program.nodes[trees].args[feature]]
    points = {t + step for t in program.ensemble.thresholds()[feature] for step in (-1, 0, 1)}
    return sorted(p for p in points if node.low <= p <= node.high)


def make_pool(program: Program, defaults: dict[str, int], rng: np.random.Generator) -> Pool:
    """Rows for every point of every computed feature, as far as they are found."""
    trees = trees_node(program)
    assert trees is not None
    parts = [columns_of(program, [plausible(program, defaults, rng) for _ in range(8 * SURROUNDINGS)])]
    for feature, node in enumerate(program.nodes[trees].args):
        if stored_key(program, feature) is not None:
            continue
        inner = replace(program, nodes=program.nodes[: node + 1])
        points = np.array(points_of(program, feature), dtype=np.int64)
        for key in moved_by(program, node):
            if key.startswith("params."):
                points = np.setdiff1d(points, _values(program, _joined(parts), node))
            if points.size:
                surroundings = columns_of(program, _surroundings(program, defaults, key, rng))
                parts.append(exact(inner, node, surroundings, key, points))
    columns = _joined(parts)
    columns = _joined([columns, *(_mixed(columns, groups, rng) for groups in MIXES)])
    values = trace(program, *split(program, columns))
    features = np.array([values[node] for node in program.nodes[trees].args], dtype=np.int64)
    return Pool(columns, features.reshape(-1, columns["flow.rate_q30"].size).T)


def _joined(parts: list[Columns]) -> Columns:
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _mixed(columns: Columns, groups: tuple[tuple[str, ...], ...], rng: np.random.Generator) -> Columns:
    """The rows with each group of columns taken from some other row."""
    mixed = dict(columns)
    for group in groups:
        order = rng.permutation(columns["flow.rate_q30"].size)
        mixed |= {key: columns[key][order] for key in group}
    return mixed


def _values(program: Program, columns: Columns, node: int) -> Integers:
    return trace(replace(program, nodes=program.nodes[: node + 1]), *split(program, columns))[node]


def moved_by(program: Program, node: int) -> list[str]:
    """Keys of RAW_RANGE that the node depends on."""
    todo, seen = [node], set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += program.nodes[number].args
    names = {Op.EVENT: EVENT_NAMES, Op.PARAM: PARAM_NAMES, Op.STATE: tuple(s.name for s in program.state)}
    group = {Op.EVENT: "event", Op.PARAM: "params", Op.STATE: "flow"}
    used = {f"{group[n.op]}.{names[n.op][n.imm]}" for n in (program.nodes[i] for i in seen) if n.op in names}
    return [key for key in RAW_RANGE if key in used]


def _surroundings(program: Program, defaults: dict[str, int], key: str, rng: np.random.Generator) -> list[Row]:
    """Plausible rows, the first of them such that ``key`` moves its features over their whole range in small steps."""
    rows = [plausible(program, defaults, rng) for _ in range(SURROUNDINGS)]
    base_rtt = 2**32 // max(1, defaults["base_rtt_recip_q32"])
    for row, factor in zip(rows, (33, 9, 3, 2, 60), strict=False):
        if key == "flow.rate_q30":
            row["event.response_ns"] = (row["event.request_sent_ns"] + factor * base_rtt) & U32_MAX
            row["event.queue_bytes"] = min(factor * base_rtt * 12, U32_MAX)
    for row, rate in zip(rows, (2**30, 2**26, 2**20, 2**16), strict=False):
        if key in ("event.response_ns", "event.queue_bytes"):
            row["flow.rate_q30"] = rate
    for row, sent in zip(rows, (256 << 10, 1 << 20, 1 << 30), strict=False):
        if key in ("event.cnp_count", "event.nack_count"):
            row["event.sent_bytes"] = sent
    return rows


def exact(inner: Program, node: int, surroundings: Columns, key: str, points: Integers) -> Columns:
    """Every point under every surrounding: the rows in which ``node`` is the point. ``inner`` ends with ``node``."""
    count = len(surroundings[key])
    target = np.repeat(points, count)
    columns = {name: np.tile(column, points.size) for name, column in surroundings.items()}

    def with_raw(raw: Integers) -> Columns:
        moved = (columns["event.request_sent_ns"] + raw) & U32_MAX if key == "event.response_ns" else raw
        return columns | {key: moved}

    low, high = RAW_RANGE[key]
    lows, highs = np.full_like(target, low), np.full_like(target, high)
    for _ in range((high - low).bit_length() + 1):
        middle = (lows + highs) // 2
        reached = trace(inner, *split(inner, with_raw(middle)))[node] >= target
        highs = np.where(reached, middle, highs)
        lows = np.where(reached, lows, np.minimum(middle + 1, highs))
    found = with_raw(highs)
    hit = trace(inner, *split(inner, found))[node] == target
    return {name: found[name][hit] for name in keys(inner)}
