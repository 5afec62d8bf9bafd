"""Lanes: many paths of the code at the same position, as columns of arrays.

A lane stands for all inputs for which execution comes here on one set of paths. For these inputs each register and
stack slot holds the word ``values`` says (an expression), each word that was compared lies between ``low`` and
``high``, and the ``facts`` hold. ``trail`` is the list of the conditions met since the lane's ``origin`` (a join);
``cycles`` were spent since then.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Bools
from verify.prover.expressions import FIRST, UNKNOWN, WORD, Pool

Ints = NDArray[np.int64]
FEW_LANES = 64
"""Up to this many lanes Python compares and sorts columns sooner than numpy does."""


@dataclass
class Lanes:
    """``values`` [columns, lanes], ``low`` and ``high`` [bases, lanes], the others [lanes]."""

    values: Ints
    low: Ints
    high: Ints
    facts: Ints
    trail: Ints
    origin: Ints
    cycles: Ints
    before: Ints

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def take(self, rows: Ints | Bools) -> "Lanes":
        parts = (self.facts, self.trail, self.origin, self.cycles, self.before)
        return Lanes(self.values[:, rows], self.low[:, rows], self.high[:, rows], *(p[rows] for p in parts))

    def reachable(self) -> Bools:
        """Lanes that some input may take: what is known of a compared word leaves it a value."""
        return np.asarray((self.low <= self.high).all(axis=0), dtype=np.bool_)

    def widen(self, columns: int, ranges: list[tuple[int, int]]) -> None:
        """Room for columns and bases that were met since: no value, the whole range."""
        missing, count = columns - self.values.shape[0], len(self)
        if missing > 0:
            self.values = np.concatenate([self.values, np.full((missing, count), UNKNOWN, dtype=np.int64)])
        fresh = np.array(ranges[self.low.shape[0] :], dtype=np.int64).reshape(-1, 2)
        if len(fresh):
            self.low = np.concatenate([self.low, np.repeat(fresh[:, :1], count, axis=1)])
            self.high = np.concatenate([self.high, np.repeat(fresh[:, 1:], count, axis=1)])


def joined(groups: list[Lanes]) -> Lanes:
    """Lanes side by side; all have the same columns and bases."""
    if len(groups) == 1:
        return groups[0]
    wide = [np.concatenate([getattr(g, name) for g in groups], axis=1) for name in ("values", "low", "high")]
    flat = ("facts", "trail", "origin", "cycles", "before")
    return Lanes(*wide, *(np.concatenate([getattr(g, name) for g in groups]) for name in flat))


@dataclass
class Trails:
    """Conditions met on the way: entry n says that ``word`` lies in low..high (a fact: is 0 or 1), after ``parent``."""

    parent: list[Ints]
    word: list[Ints]
    low: list[Ints]
    high: list[Ints]
    count: int = 0

    @staticmethod
    def empty() -> "Trails":
        return Trails([], [], [], [])

    def extend(self, parent: Ints, word: Ints, low: Ints, high: Ints) -> Ints:
        """Append entries; returns their numbers."""
        for store, new in ((self.parent, parent), (self.word, word), (self.low, low), (self.high, high)):
            store.append(new)
        self.count += len(parent)
        return np.arange(self.count - len(parent), self.count, dtype=np.int64)

    def pack(self) -> None:
        """Many small arrays into one."""
        for store in (self.parent, self.word, self.low, self.high):
            if len(store) > 1:
                store[:] = [np.concatenate(store)]

    def conditions(self, trail: int) -> list[tuple[int, int, int]]:
        """(word, low, high) from the last to the first."""
        self.pack()
        met = []
        while trail >= 0:
            met.append((int(self.word[0][trail]), int(self.low[0][trail]), int(self.high[0][trail])))
            trail = int(self.parent[0][trail])
        return met


def words(pool: Pool, op: str, a: Ints, b: Ints) -> Ints:
    """``op`` of two columns of expressions: at once where both are constants, else once for each pair there is."""
    if 0 < len(a) <= FEW_LANES:
        different = set(zip(a.tolist(), b.tolist(), strict=True))
        if all(0 <= x < FIRST and 0 <= y < FIRST for x, y in different):
            return constants(op, a, b)
        if len(different) == 1:
            return np.full(len(a), pool.make(op, *different.pop()), dtype=np.int64)
    plain = (a >= 0) & (b >= 0) & (a < FIRST) & (b < FIRST)
    if plain.all():
        return constants(op, a, b)
    if len(a) == 1 or (a.min() == a.max() and b.min() == b.max()):
        return np.full(len(a), pool.make(op, int(a[0]), int(b[0])), dtype=np.int64)
    result = np.empty(len(a), dtype=np.int64)
    result[plain] = constants(op, a[plain], b[plain])
    rest = np.flatnonzero(~plain)
    for x, y, rows in pairs(a[rest], b[rest]):
        result[rest[rows]] = pool.make(op, x, y)
    return result


def pairs(a: Ints, b: Ints) -> list[tuple[int, int, Ints]]:
    """The different pairs of two columns, each with its rows."""
    return [(x, y, rows) for (x, y), rows in groups(a, b)]


def groups(*columns: Ints) -> list[tuple[tuple[int, ...], Ints]]:
    """The different rows of some columns, each with where it is."""
    count = len(columns[0])
    if count == 0:
        return []
    if count <= FEW_LANES:
        places: dict[tuple[int, ...], list[int]] = {}
        for at, key in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            places.setdefault(key, []).append(at)
        return [(key, np.array(places[key], dtype=np.int64)) for key in sorted(places)]
    if all((column == column[0]).all() for column in columns):  # as it is mostly, and far sooner than sorted
        return [(tuple(int(column[0]) for column in columns), np.arange(count))]
    order = np.lexsort(columns[::-1])
    inorder = np.stack([column[order] for column in columns])
    starts = np.flatnonzero(np.concatenate([[True], (inorder[:, 1:] != inorder[:, :-1]).any(axis=0)]))
    rows = np.split(order, starts[1:])
    return [(tuple(key), at) for key, at in zip(inorder[:, starts].T.tolist(), rows, strict=True)]


def constants(op: str, a: Ints, b: Ints) -> Ints:
    """The machine's operations on columns of constants."""
    x, y = _signed(a), _signed(b)
    u, v = a.astype(np.uint64), b.astype(np.uint64)
    match op:
        case "add":
            return (a + b) & WORD
        case "sub":
            return (a - b) & WORD
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "sll":
            return (a << (b & 31)) & WORD
        case "srl":
            return a >> (b & 31)
        case "sra":
            return (x >> (b & 31)) & WORD
        case "sltu":
            return (a < b).astype(np.int64)
        case "slt":
            return (x < y).astype(np.int64)
        case "eq":
            return np.asarray(a == b, dtype=np.int64)
        case "mul":
            return ((u * v) & np.uint64(WORD)).astype(np.int64)
        case "mulhu":
            return ((u * v) >> np.uint64(32)).astype(np.int64)
        case "mulh":
            return ((x * y) >> 32) & WORD
        case "mulhsu":
            return ((x * b) >> 32) & WORD
    raise AssertionError(f"no operation {op}")


def _signed(a: Ints) -> Ints:
    negative: Ints = a >> 31
    return a - (negative << 32)


def mixed(column: Ints) -> bool:
    """Whether the lanes do not all hold the same."""
    return bool((column != column[0]).any())
