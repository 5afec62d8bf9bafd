"""choice: the greatest of K outputs chooses a row of a table of knobs (ACC: a DDQN over ECN settings).

    best = argmax(sums), the lowest index of equals            K - 1 comparisons
    knob = table[best]                                         one table a knob

A student's sums regress which row the teacher chose, 1 for that one and 0 for the others: they estimate how likely each
row is, and the greatest is the likeliest (least squares on indicators).
"""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from decision.actions.action import Action, sets_knobs
from decision.argmax import argmax
from decision.errors import InputError
from decision.interface import Interface
from decision.program import Op, Program, ProgramBuilder
from decision.tape import FloatOp, Floats, TapeBuilder

Row = dict[str, Annotated[int, Field(strict=True)]]


class Choice(Action):
    """``rows``: knobs by name, in the interface's units."""

    kind: Literal["choice"]
    rows: list[Row] = Field(min_length=2, max_length=256)

    @model_validator(mode="after")
    def _alike(self) -> "Choice":
        for number, row in enumerate(self.rows):
            if list(row) != list(self.rows[0]):
                raise ValueError(f"row {number} sets {', '.join(row)}, row 0 sets {', '.join(self.rows[0])}")
            if row in self.rows[:number]:
                raise ValueError(f"row {number} stands twice")
        return self

    @property
    def outputs(self) -> int:
        return len(self.rows)

    @property
    def squashed(self) -> bool:
        return False

    @property
    def leaf_bits(self) -> int:
        return 12

    def table(self) -> Floats:
        """[rows, knobs]."""
        return np.array([list(row.values()) for row in self.rows], dtype=np.float64)

    def check(self, interface: Interface) -> None:
        sets_knobs(interface, self.kind)
        if tuple(self.rows[0]) != interface.mapped_names:
            raise ValueError(
                f"a row sets {', '.join(self.rows[0])}; it must set {', '.join(interface.mapped_names)}, in this order"
            )
        for number, row in enumerate(self.rows):
            for knob in interface.knobs[: len(row)]:
                if not knob.low <= row[knob.name] <= knob.high:
                    raise ValueError(f"row {number}: {knob.name} is {row[knob.name]}, not {knob.low} to {knob.high}")
                if knob.not_below is not None and row[knob.name] < row[knob.not_below]:
                    raise ValueError(f"row {number}: {knob.name} is below {knob.not_below}")

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(self.rows[0])

    def floats(self, t: TapeBuilder) -> tuple[int, ...]:
        best = t.step(FloatOp.BEST)
        return tuple(t.step(FloatOp.AT, t.table(column), best) for column in self.table().T.tolist())

    def label(self, decided: Floats) -> Floats:
        chosen = (decided[:, None, :] == self.table()[None, :, :]).all(axis=2)
        if not chosen.any(axis=1).all():
            raise InputError("a decision is no row of the action's table; make the rollouts again with this policy")
        return np.asarray(chosen, dtype=np.float64)

    def loss(self, sums: Floats, label: Floats, weight: NDArray[np.float64]) -> float:
        """The share of decisions in which another row is chosen."""
        return float(np.average(np.argmax(sums, axis=1) != np.argmax(label, axis=1), weights=weight))

    def integer(self, b: ProgramBuilder, sums: Sequence[int]) -> tuple[int, ...]:
        return self.knobs(b, argmax(b, sums, "row"))

    def knobs(self, b: ProgramBuilder, index: int) -> tuple[int, ...]:
        """Of the row at the index."""
        knobs = []
        for name in self.rows[0]:
            b.tables.append(tuple(row[name] for row in self.rows))
            knobs.append(b.add(Op.TABLE, (index,), len(b.tables) - 1, name, "of the row that has most"))
        return tuple(knobs)

    def check_shown(self, program: Program) -> None:
        """All knobs are read from the map's own tables, at one and the same index."""
        nodes = [program.nodes[result] for result in program.results[: len(self.rows[0])]]
        columns = [tuple(row[name] for row in self.rows) for name in self.rows[0]]
        tables = [program.tables[node.imm] if node.op is Op.TABLE else () for node in nodes]
        if tables != columns or len({node.args for node in nodes}) != 1:
            raise InputError("the decision program does not read its knobs from one row of the action's table")
