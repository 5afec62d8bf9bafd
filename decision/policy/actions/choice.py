"""choice: the greatest of K outputs chooses a row of a table of knobs (ACC: a DDQN over ECN settings).

    best = argmax(sums), the lowest index of equals            K - 1 comparisons
    knob = table[best]                                         one table a knob

Factored, the knobs are dealt to several groups, each with rows and outputs of its own: 6 + 4 + 6 outputs choose among
144 settings. The choice in all groups is one number, that of the combination; the last group counts fastest.

A student's sums regress which row the teacher chose, 1 for that one and 0 for the others of its group: they estimate
how likely each row is, and the greatest is the likeliest (least squares on indicators).
"""

from collections.abc import Sequence
from itertools import accumulate, chain
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decision.artefact.errors import InputError
from decision.ir.argmax import argmax
from decision.ir.arrays import Floats
from decision.ir.interface import Interface, Knob
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.tape import FloatOp, TapeBuilder
from decision.policy.actions.action import Action, sets_knobs

MAX_ROWS = 256
"""Of all groups together."""

Row = dict[str, Annotated[int, Field(strict=True)]]
Rows = Annotated[list[Row], Field(min_length=2, max_length=MAX_ROWS)]


class Choice(Action):
    """``rows``: all knobs by name, in the interface's units; or ``groups`` of such rows, each of some knobs."""

    kind: Literal["choice"]
    rows: Rows | None = Field(default=None, exclude_if=lambda rows: rows is None)
    """Rows of knobs by name, in the interface's units; the highest output chooses one."""
    groups: list[Rows] | None = Field(default=None, min_length=2, exclude_if=lambda groups: groups is None)
    """Groups of rows, each of some knobs; the highest output of a group chooses its row."""

    @model_validator(mode="after")
    def _alike(self) -> "Choice":
        if (self.rows is None) == (self.groups is None):
            raise ValueError("a choice has rows of all knobs, or groups of rows of some; give one of the two")
        for where, table in zip(self._where(), self.tables, strict=True):
            for number, row in enumerate(table):
                if list(row) != list(table[0]):
                    raise ValueError(f"{where}row {number} sets {', '.join(row)}, row 0 sets {', '.join(table[0])}")
                if row in table[:number]:
                    raise ValueError(f"{where}row {number} stands twice")
        if self.outputs > MAX_ROWS:
            raise ValueError(f"all groups together have {self.outputs} rows; give {MAX_ROWS} at the most")
        return self

    @property
    def tables(self) -> list[list[Row]]:
        """The rows of each group."""
        return self.groups if self.groups is not None else [self.rows or []]

    def _where(self) -> list[str]:
        return [f"group {number}, " for number in range(len(self.tables))] if self.groups is not None else [""]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many rows each group has."""
        return tuple(map(len, self.tables))

    @property
    def outputs(self) -> int:
        return sum(self.sizes)

    @property
    def squashed(self) -> bool:
        return False

    @property
    def leaf_bits(self) -> int:
        return 12

    def columns(self) -> list[Floats]:
        """Returns the columns of each group [rows, its knobs]."""
        return [np.array([list(row.values()) for row in table], dtype=np.float64) for table in self.tables]

    def spans(self) -> Floats:
        """From the least to the greatest value of each knob, 1 at the least."""
        return np.asarray(np.concatenate([np.maximum(np.ptp(column, axis=0), 1.0) for column in self.columns()]))

    def split(self, outputs: Floats) -> list[Floats]:
        """Columns [N, outputs] by group."""
        return np.split(outputs, list(accumulate(self.sizes))[:-1], axis=1)

    def chosen(self, outputs: Floats) -> NDArray[np.int64]:
        """The number [N] of the combination of the greatest of each group."""
        return self.number(np.stack([np.argmax(part, axis=1) for part in self.split(outputs)], axis=1))

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same [N] of the places of the rows [N, groups]."""
        return np.asarray(np.ravel_multi_index(tuple(places.T), self.sizes), dtype=np.int64)

    def check(self, interface: Interface) -> None:
        sets_knobs(interface, self.kind)
        if self.values != interface.mapped_names:
            what, it = ("a row sets", "it") if self.groups is None else ("the groups set", "they")
            names = ", ".join(interface.mapped_names)
            raise ValueError(f"{what} {', '.join(self.values)}; {it} must set {names}, in this order")
        knobs = {knob.name: knob for knob in interface.knobs}
        for where, table in zip(self._where(), self.tables, strict=True):
            for number, row in enumerate(table):
                for name, value in row.items():
                    knob = knobs[name]
                    if not knob.low <= value <= knob.high:
                        raise ValueError(f"{where}row {number}: {name} is {value}, not {knob.low} to {knob.high}")
                    if knob.not_below in row and value < row[knob.not_below]:
                        raise ValueError(f"{where}row {number}: {name} is below {knob.not_below}")
        for name in self.values:
            self._check_across(knobs[name])

    def _check_across(self, knob: Knob) -> None:
        """ValueError where two groups, which know nothing of one another, can together set a knob below another."""
        other = knob.not_below
        own = next(table for table in self.tables if knob.name in table[0])
        if other is None or other in own[0]:
            return
        least = min(row[knob.name] for row in own)
        most = max(row[other] for table in self.tables if other in table[0] for row in table)
        if least < most:
            raise ValueError(
                f"{knob.name} of {least} can be set together with {other} of {most}, and may not lie below it; groups"
                " choose apart, so every combination must be one that can be set"
            )

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(chain.from_iterable(table[0] for table in self.tables))

    def _bests(self, t: TapeBuilder) -> list[int]:
        firsts = [0, *accumulate(self.sizes)]
        return [t.step(FloatOp.BEST, first, size) for first, size in zip(firsts, self.sizes, strict=False)]

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        return tuple(
            t.step(FloatOp.AT, t.table(column), best)
            for best, columns in zip(self._bests(t), self.columns(), strict=True)
            for column in columns.T.tolist()
        )

    def said(self, t: TapeBuilder) -> int:
        number, *others = self._bests(t)
        for size, best in zip(self.sizes[1:], others, strict=True):
            number = t.step(FloatOp.ADD, t.step(FloatOp.MUL, number, t.const(float(size))), best)
        return number

    def label(self, decided: Floats) -> Floats:
        labels, first = [], 0
        for columns in self.columns():
            its = decided[:, None, first : first + columns.shape[1]]
            labels.append((its == columns[None, :, :]).all(axis=2))
            first += columns.shape[1]
            if not labels[-1].any(axis=1).all():
                raise InputError("a decision is no row of the action's table; make the rollouts again with this policy")
        return np.concatenate(labels, axis=1).astype(np.float64)

    def loss(self, sums: Floats, label: Floats, weight: NDArray[np.float64]) -> float:
        """The share of decisions in which another row is chosen, in any group."""
        return float(np.average(self.chosen(sums) != self.chosen(label), weights=weight))

    @property
    def row_names(self) -> tuple[str, ...]:
        """Returns the name of the chosen row's place, in each group."""
        return ("row",) if self.groups is None else tuple(f"{next(iter(table[0]))}_row" for table in self.tables)

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        left = iter(sums)
        each = zip(self.row_names, self.tables, strict=True)
        return self.knobs(b, [argmax(b, [next(left) for _ in table], name) for name, table in each])

    def knobs(self, b: ProgramBuilder, places: Sequence[int]) -> tuple[int, ...]:
        """Nodes of all knobs, from those of the place of a row in each group."""
        knobs = []
        for table, place in zip(self.tables, places, strict=True):
            for name in table[0]:
                b.tables.append(tuple(row[name] for row in table))
                knobs.append(b.add(Op.TABLE, (place,), len(b.tables) - 1, name, "of the row that has most"))
        return tuple(knobs)

    def check_shown(self, program: Program) -> None:
        """All knobs of a group are read from the group's own tables, at one and the same index."""
        results = iter(program.results)
        for table in self.tables:
            nodes = [program.nodes[next(results)] for _ in table[0]]
            columns = [tuple(row[name] for row in table) for name in table[0]]
            tables = [program.tables[node.imm] if node.op is Op.TABLE else () for node in nodes]
            if tables != columns or len({node.args for node in nodes}) != 1:
                raise InputError("the decision program does not read its knobs from one row of the action's table")
