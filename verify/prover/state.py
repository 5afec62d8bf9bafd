"""State that all lanes of a proof share: the pool of expressions, the columns, the compared words, the facts."""

from dataclasses import dataclass, field

import numpy as np

from verify.code.arguments import Structure
from verify.code.graph import SP
from verify.prover.expressions import Pool
from verify.prover.lanes import Lanes, Trails
from verify.prover.multiples import AtMost

REGISTERS = 32
Column = tuple[str, int, int]
"""("register", n, 4), ("frame", offset from sp at the call, bytes) or ("context" or "action", offset, bytes)."""
Fact = tuple[int, bool]
"""A condition (an expression of 0 or 1) that is no question about one word, and whether it holds."""


@dataclass
class State:
    """See the module's docstring. ``structures`` are the arguments a0, a1, .. in their order.

    ``definitions``: facts of the form "node n is this word", known by their conditions.
    """

    structures: tuple[Structure, ...]
    constants: tuple[int, bytes]
    pool: Pool = field(default_factory=Pool)
    columns: dict[Column, int] = field(default_factory=dict)
    bases: dict[int, int] = field(default_factory=dict)
    words: list[int] = field(default_factory=list)
    ranges: list[tuple[int, int]] = field(default_factory=list)
    fact_sets: list[frozenset[Fact]] = field(default_factory=lambda: [frozenset()])
    definitions: dict[int, tuple[int, int]] = field(default_factory=dict)
    trails: Trails = field(default_factory=Trails.empty)
    counted: frozenset[frozenset[int]] = frozenset()
    """Of comparisons that the program only counts, the atoms that each is about: these stay words of 0 or 1."""
    implied: dict[tuple[int, int], bool | None] = field(default_factory=dict)
    """What a set of facts, by its number, says about a condition (``verify.prover.implications``)."""
    multiples: dict[Fact, list[AtMost]] = field(default_factory=dict)
    """What a comparison says if it holds, or if not, of multiples of a word (``verify.prover.multiples``)."""
    _fact_numbers: dict[frozenset[Fact], int] = field(default_factory=lambda: {frozenset(): 0})

    def column(self, key: Column) -> int:
        return self.columns.setdefault(key, len(self.columns))

    def base(self, word: int) -> int:
        """The row of a compared word in ``low`` and ``high``."""
        row = self.bases.get(word)
        if row is None:
            row = self.bases[word] = len(self.ranges)
            self.words.append(word)
            self.ranges.append(self.pool.range(word))
        return row

    def facts(self, known: frozenset[Fact]) -> int:
        number = self._fact_numbers.setdefault(known, len(self.fact_sets))
        if number == len(self.fact_sets):
            self.fact_sets.append(known)
        return number

    def definition(self, node: int, atom: int, word: int) -> Fact:
        """The fact that a node of the program, whose name is ``atom``, is a word."""
        condition = self.pool.make("eq", atom, word)
        self.definitions[condition] = (node, word)
        return condition, True

    def widen(self, lanes: Lanes) -> None:
        lanes.widen(len(self.columns), self.ranges)

    def start(self) -> Lanes:
        """The one lane at the call: pointers in a0, a1, ..; the context's fields are inputs."""
        pool = self.pool
        values = [pool.atom(f"register.{r}") for r in range(REGISTERS)]
        values[0] = 0
        for n, structure in enumerate(self.structures):
            values[10 + n] = pool.atom(f"pointer.{structure.name}")
        for r in range(REGISTERS):
            self.column(("register", r, 4))
        for f in next((s.fields for s in self.structures if s.name == "context"), ()):
            self.column(("context", f.offset, f.size))
            values.append(pool.atom(f"context.{f.name}", f.low, f.high))
        none = np.full(1, -1, dtype=np.int64)
        zero = np.zeros(1, dtype=np.int64)
        empty = np.zeros((0, 1), dtype=np.int64)
        columns = np.array(values, dtype=np.int64).reshape(-1, 1)
        return Lanes(columns, empty, empty.copy(), zero, none, zero.copy(), zero.copy(), none.copy())

    def at_call(self, register: int) -> int:
        return self.pool.atom(f"register.{register}")

    @property
    def pointers(self) -> dict[int, str]:
        """Atoms that are addresses of regions."""
        named = {self.pool.atom(f"pointer.{s.name}"): s.name for s in self.structures}
        return {**named, self.at_call(SP): "frame"}
