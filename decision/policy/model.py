"""A model made elsewhere, as exact integers: a forest over grid features, and what its sums mean.

A feature is an integer k that stands for ``k / 2^fraction_bits``; an output is an integer over ``2^leaf_bits``. The
rounding when the model was read stands in ``error`` and ``margin``.

As a decider it has the interface ``grid``: its features in; out come its outputs, or the class that they decide for.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from decision.artefact.documents import dump_json, parse_json, read_bytes
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.argmax import argmax
from decision.ir.arrays import Integers
from decision.ir.forest import Forest, Node, integer
from decision.ir.interface import Interface, Knob, Signal, Uniform
from decision.ir.interfaces.grid import grid
from decision.ir.program import Op, Program, ProgramBuilder

FORMAT = 2
KIND = "model"
NAME = "model.json"
INT32 = (-(2**31), 2**31 - 1)

Task = Literal["regression", "binary", "argmax"]


@dataclass(frozen=True)
class GridFeature:
    """An input: integers ``low..high``, k for the value ``k / 2^fraction_bits`` (negative bits: steps above one)."""

    name: str
    fraction_bits: int
    low: int
    high: int

    @property
    def shown(self) -> str:
        """The name in a comment; one that is a mere number, as CatBoost's without names, is x0, x1, ..."""
        return comment_text(f"x{self.name}" if self.name.isdigit() else self.name)

    def physical(self, k: int) -> str:
        """Returns the value of an integer, in the feature's own unit."""
        return f"{k / 2.0**self.fraction_bits:.9g}"


@dataclass(frozen=True)
class Model:
    """Trees and what their sums mean.

    ``task``: "regression" gives the outputs; "binary" (one output) gives class 1 where it is above ``cut``, else 0;
    "argmax" gives the first of the greatest outputs. ``error``: by how much an output over 2^leaf_bits can differ from
    what the library of the model that was read predicts, an upper bound each. ``margin``: where the library's outputs
    decide by more than this, the class is the same for certain; where it is 0, always. ``name``: of the file.
    ``library``: whose predictions ``error`` is of, where that is another than the one that trained the model.
    """

    features: tuple[GridFeature, ...]
    trees: tuple[Node, ...]
    bias: tuple[int, ...]
    leaf_bits: int
    task: Task
    cut: int = 0
    classes: tuple[str, ...] = ()
    error: tuple[float, ...] = ()
    margin: float = 0.0
    name: str = "model"
    library: str = ""

    def __post_init__(self) -> None:
        if not self.bias:
            raise InputError("the model has no output")
        if self.task not in get_args(Task):
            raise InputError(f"the model's task {self.task!r} is none of {', '.join(get_args(Task))}")
        if self.task == "binary" and self.outputs != 1:
            raise InputError(f"a binary model has one output, not {self.outputs}")
        if self.error and len(self.error) != self.outputs:
            raise InputError(f"the model states {len(self.error)} errors for {self.outputs} outputs")
        if self.classes and len(self.classes) != self.class_count:
            raise InputError(f"the model names {len(self.classes)} classes and decides among {self.class_count}")
        if not self.name or self.name != comment_text(self.name):
            raise InputError(f"the model's name {self.name[:80]!r} cannot stand in a comment of C")
        if self.library != comment_text(self.library):
            raise InputError(f"the model's library {self.library[:80]!r} cannot stand in a comment of C")
        if not INT32[0] <= self.cut <= INT32[1]:
            raise InputError(f"the model's cut is {self.cut}, which 32 bits do not hold")
        names = [feature.name for feature in self.features]
        if len(set(names)) != len(names):
            raise InputError("two features of the model have the same name")
        for feature in self.features:
            if not INT32[0] <= feature.low <= feature.high <= INT32[1]:
                raise InputError(f"feature {feature.name!r} has no range within 32 bits: {feature.low}..{feature.high}")
        for output in range(self.forest.outputs):
            low, high = self.forest.reach(output)
            if low < INT32[0] or high > INT32[1]:
                raise InputError(
                    f"output {output} can add up to {low}..{high}, which 32 bits do not hold; use fewer leaf bits"
                )

    @cached_property
    def forest(self) -> Forest:
        """The trees over the features as they are called in the C."""
        return Forest(tuple(self.fields), self.trees, self.bias, self.leaf_bits)

    @cached_property
    def fields(self) -> list[str]:
        """C identifiers of the features with their format: ``rtt_q10``; ``bytes_qm6`` for steps of 2^6. Twins get a
        number."""
        names: list[str] = []
        for feature in self.features:
            bare = re.sub(r"\W", "_", feature.name, flags=re.ASCII).strip("_")[:48] or "x"
            bare = f"x{bare}" if bare[0].isdigit() else bare
            bits = feature.fraction_bits
            q = f"q{bits}" if bits >= 0 else f"qm{-bits}"
            twin, name = 1, f"{bare}_{q}"
            while name in names:
                twin += 1
                name = f"{bare}_{twin}_{q}"
            names.append(name)
        return names

    @property
    def outputs(self) -> int:
        return len(self.bias)

    @property
    def class_count(self) -> int:
        """How many classes ``predict`` tells apart; 0 for regression."""
        return {"regression": 0, "binary": 2, "argmax": self.outputs}[self.task]

    def predict(self, rows: Integers) -> Integers:
        """Classes [N] of integer feature rows; the outputs [N, outputs] for regression."""
        return self.decide(self.forest.evaluate(rows))

    def decide(self, outputs: Integers) -> Integers:
        """From the forest's outputs to ``predict``."""
        if self.task == "regression":
            return outputs
        if self.task == "binary":
            return (outputs[:, 0] > self.cut).astype(np.int64)
        best: Integers = np.argmax(outputs, axis=1).astype(np.int64)
        return best

    @cached_property
    def interface(self) -> Interface:
        """Event: the features. Knobs: the outputs, or the class."""
        event = [
            Signal(field, _unit(f.fraction_bits), self._meaning(f), Uniform(f.low, f.high), "int32")
            for field, f in zip(self.fields, self.features, strict=True)
        ]
        if self.task == "regression":
            names = ["out"] if self.outputs == 1 else [f"out_{k}" for k in range(self.outputs)]
            return grid(event, [Knob(n, _unit(self.leaf_bits), "output", *INT32, "int32") for n in names])
        return grid(event, [Knob("class_index", "a number from 0", self._decides(), 0, self.class_count - 1)])

    def _meaning(self, feature: GridFeature) -> str:
        ends = f"{feature.physical(feature.low)} to {feature.physical(feature.high)}"
        return f"{feature.low}..{feature.high}: {feature.shown}, {ends}"

    def _decides(self) -> str:
        if self.task == "binary":
            return f"1 where the raw value is above {self.cut}, else 0"
        return "the first of the greatest outputs"

    def program(self) -> Program:
        """The whole decision as an integer program."""
        compact = self.forest.only_used()
        b = ProgramBuilder(compact, self.interface)
        args = tuple(b.event(name) for name in compact.features)
        sums = [b.add(Op.TREES, args, k, f"sum_of_{k}", f"output {k}") for k in range(self.outputs)]
        if self.task == "regression":
            return b.finish(*sums)
        if self.task == "binary":
            return b.finish(b.add(Op.GT, (sums[0], b.const(self.cut)), name="decided"))
        return b.finish(argmax(b, sums, "class"))

    def params(self) -> dict[str, int]:
        """None: nothing of a model is an operator's to tune."""
        return {}

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "kind": KIND,
            "name": self.name,
            **({"library": self.library} if self.library else {}),
            "task": self.task,
            "features": [[f.name, f.fraction_bits, f.low, f.high] for f in self.features],
            "classes": list(self.classes),
            "cut": self.cut,
            "error": list(self.error),
            "margin": self.margin,
            "forest": self.forest.to_json(),
        }

    def dump(self) -> str:
        """The text of a model file; ``load_model`` reads it."""
        return dump_json(self.to_json())

    def save(self, folder: Path) -> None:
        """Write model.json into an artefact folder."""
        write_atomically(folder / NAME, self.dump())

    @staticmethod
    def from_json(data: Any) -> "Model":
        """Inverse of ``to_json``; InputError where it is not one."""
        try:
            if data["format"] != FORMAT or data["kind"] != KIND:
                raise InputError(f"not a model of format {FORMAT}; make it again")
            forest = Forest.from_json(data["forest"])
            return Model(
                features=tuple(
                    GridFeature(str(name), integer(q), integer(low), integer(high))
                    for name, q, low, high in data["features"]
                ),
                trees=forest.trees,
                bias=forest.bias,
                leaf_bits=forest.leaf_bits,
                task=data["task"],
                cut=integer(data["cut"]),
                classes=tuple(str(name) for name in data["classes"]),
                error=tuple(float(v) for v in data["error"]),
                margin=float(data["margin"]),
                name=str(data["name"]),
                library=str(data.get("library", "")),
            )
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            raise InputError(f"the model is not readable: {error!r}; make it again") from None


def load_model(path: Path) -> Model:
    """Read a model file of rlcc; InputError where it is not one."""
    return read_model(read_bytes(path), str(path))


def read_model(content: bytes, where: str) -> Model:
    """The same of the file's bytes; ``where`` names it."""
    try:
        return Model.from_json(parse_json(content, where))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def comment_text(text: str) -> str:
    """Text that can stand in a C comment: nothing that ends one, continues a line or is a trigraph."""
    return re.sub(r"[^A-Za-z0-9 _.,:()%+=-]", "_", text)[:80]


def _unit(bits: int) -> str:
    return "whole numbers" if bits == 0 else f"2^{-bits}"
