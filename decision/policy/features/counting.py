"""Features of many alike: an interface tells the same of several (flows, ports), and a policy asks how many are so."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from decision.ir.expression import Difference, Expression
from decision.ir.matching import All, Constant, Either, Equal, Number, Within
from decision.policy.features.feature import Feature, Place
from decision.policy.features.generic import NAME

Named = Annotated[str, Field(pattern=NAME)]
Value = Annotated[int, Field(strict=True, ge=0, lt=2**32 - 1)]
Values = Annotated[list[Value], Field(min_length=1, max_length=16)]
Wanted = Mapping[str, int | list[int] | str]
Where = Annotated[dict[Named, Value | Values | Named], Field(min_length=1)]
MAX_SLOTS = 64


class HowMany(Feature):
    """How many of the slots ``slots``_``first`` to ``slots``_``last`` have in each signal of ``where`` (the part of its
    name behind the slot) one of these values, or what another signal has; with ``less``, how many more than are so. It
    does not tell which: the order of the slots is nothing to learn. A teacher sees the share of the slots."""

    kind: Literal["count"]
    called: Named
    """Name of the feature."""
    slots: Named
    """First part of the slots' signal names."""
    first: int = Field(strict=True, ge=0)
    """First slot."""
    last: int = Field(strict=True, ge=0)
    """Last slot."""
    where: Where
    """Signals of a slot, each with the values (or another signal) that it must have to be counted."""
    less: Where | None = Field(default=None, exclude_if=lambda less: less is None)
    """The same for slots that are subtracted."""

    @model_validator(mode="after")
    def _several(self) -> "HowMany":
        if not 1 <= self.last - self.first < MAX_SLOTS:
            raise ValueError(
                f"{self.called} counts {self.slots}_{self.first} to {self.slots}_{self.last}; give 2 to {MAX_SLOTS}"
            )
        for name, values in (*self.where.items(), *(self.less or {}).items()):
            if isinstance(values, list) and len(set(values)) < len(values):
                raise ValueError(f"{self.called}: a value of {name} stands twice")
        return self

    @property
    def exact(self) -> bool:
        return True

    @property
    def size(self) -> int:
        """How many slots there are."""
        return self.last - self.first + 1

    @property
    def name(self) -> str:
        return self.called

    @property
    def words(self) -> str:
        less = "" if self.less is None else f" than with {_said(self.less)}"
        return f"of {self.slots} {self.first} to {self.last} with {_said(self.where)}{less}"

    @property
    def storage(self) -> str:
        return "uint16" if self.less is None else "int32"

    @property
    def format(self) -> tuple[float, float]:
        return 0.0, 1.0 / self.size

    def expression(self, place: Place) -> Expression:
        if self.less is None:
            return self._number(place, self.where, self.called, self.words)
        these, those = (self._number(place, where) for where in (self.where, self.less))
        return Difference(these, those, self.called, f"more {self.words}")

    def _number(self, place: Place, where: Wanted, name: str = "", note: str = "") -> Number:
        slots = range(self.first, self.last + 1)
        return Number(tuple(self._slot(place, where, k) for k in slots), name, note)

    def _slot(self, place: Place, where: Wanted, number: int) -> Expression:
        parts: list[Expression] = []
        for name, values in where.items():
            own = place.source(f"{self.slots}_{number}_{name}")
            if isinstance(values, str):
                parts.append(Equal(own, place.source(values)))
                continue
            runs = _runs([values] if isinstance(values, int) else values)
            each = tuple(Equal(own, Constant(low)) if low == most else Within(own, low, most) for low, most in runs)
            parts.append(each[0] if len(each) == 1 else Either(each))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def value(self, integer: int) -> str:
        return f"{self.name} {integer}"

    def meaning(self) -> str:
        return f"{self.name}: how many{'' if self.less is None else ' more'} {self.words}"

    def physical(self, threshold: int) -> str:
        return f"{self.name} >= {threshold + 1}"


def _runs(values: list[int]) -> list[tuple[int, int]]:
    """Values without a gap between them as one run, from the least to the greatest."""
    runs: list[tuple[int, int]] = []
    for value in sorted(values):
        if runs and value == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], value
        else:
            runs.append((value, value))
    return runs


def _said(where: Wanted) -> str:
    """The conditions in words."""
    said = []
    for name, values in where.items():
        of = " or ".join(map(str, values)) if isinstance(values, list) else values
        said.append(f"{name} {'as ' if isinstance(values, str) else ''}{of}")
    return " and ".join(said)
