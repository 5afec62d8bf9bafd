"""Contenders: each turns a model into C or C++ with a function to call."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

ENTRY = "bench_model"
"""The measured function's name in every contender's code."""

Takes = Literal["int16", "int32", "float32", "float64"]
Gives = Literal["int32", "float32", "float64"]
Reads = Literal["symmetric", "catboost", "lightgbm", "xgboost", "scikit-learn"]
EVERYTHING: tuple[Reads, ...] = ("symmetric", "catboost", "lightgbm", "xgboost", "scikit-learn")
STORED: Mapping[str, np.dtype[np.generic]] = {
    "int16": np.dtype("<i2"),
    "int32": np.dtype("<i4"),
    "float32": np.dtype("<f4"),
    "float64": np.dtype("<f8"),
}


class Absent(Exception):
    """A contender cannot take part with this model; the text says why."""


@dataclass(frozen=True)
class ExportSource:
    """Code that defines ``GIVES bench_model(const TAKES *row)``, with C linkage.

    If it has several ``outputs``, it is ``bench_model(const TAKES *row, GIVES *out)``, whatever it returns.

    ``files`` are generated files that ``text`` includes; ``units`` those of them that are compiled for themselves.
    ``scribbles``: it writes into the row, as tl2cgen does when it
    quantises. ``cuts``: by feature the values that it compares with besides the model's thresholds.
    """

    text: str
    takes: Takes
    gives: Gives
    language: Literal["c", "c++"] = "c"
    files: Mapping[str, str] = field(default_factory=dict)
    units: tuple[str, ...] = ()
    scribbles: bool = False
    outputs: int = 1
    cuts: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ExporterRun:
    """An entry of the tables. ``make`` is given a model and the name of the engine that the code is for; ``package`` is
    what it needs from PyPI; ``reads`` says whose models it is given: "symmetric" are ``subjects.Subject``, the others
    ``outside.Outside`` of that library."""

    name: str
    kind: Literal["ours", "peer", "floor"]
    make: Callable[[Any, str], ExportSource]
    package: str = ""
    licence: str = ""
    reads: tuple[Reads, ...] = ("symmetric",)
