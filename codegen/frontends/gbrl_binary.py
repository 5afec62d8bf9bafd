"""Bytes of GBRL's files (``save_learner("model")`` writes ``model.gbrl_model``), read without GBRL.

A file is the library's own structs and arrays, little-endian, one after the other, with its version in front and no
description of itself. The layout is that of the versions in VERSIONS; another version may have another one, and its
file is refused. Every byte must be accounted for. Source of the facts: GBRL 1.1.9 (MIT), gbrl.cpp, types.cpp,
optimizer.cpp, scheduler.cpp.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.frontends.forest import as_many
from decision.artefact.errors import InputError
from decision.ir.forest import MAX_DEPTH

VERSIONS = ((1, 1, 9),)
"""Versions of GBRL whose layout is this one."""
HEADER = struct.Struct("<3H2xQI4x")
"""Version, two reserved words."""
METADATA = struct.Struct("<13if2i4B4i2B")
"""ensembleMetaData, then whether trees are predicted in parallel and whether training used control variates."""
GREEDY, OBLIVIOUS = 0, 1
SGD, ADAM = 0, 1
CONSTANT, LINEAR = 0, 1
CATEGORY_BYTES = 128
MAX_NAME = 1024
MAX_TREES = 1 << 20

Array = NDArray[Any]


@dataclass(frozen=True)
class Metadata:
    """Sizes that the file begins with. ``policy_outputs``: the actor's, which come before a critic's."""

    leaves: int
    trees: int
    inputs: int
    outputs: int
    policy_outputs: int
    max_depth: int
    growth: int
    constraints: int


@dataclass(frozen=True)
class Optimizer:
    """Update rule of the outputs ``first..end - 1``. ``stop`` and ``steps`` are those of a linear schedule."""

    algorithm: int
    first: int
    end: int
    start: float
    stop: float
    steps: int


@dataclass(frozen=True)
class GbrlFile:
    """Contents of a file. Conditions have a row a tree where trees are oblivious, else a row a leaf: ``depths`` [rows],
    ``features``, ``borders``, ``numerical`` [rows, max_depth] from the root, ``directions`` [leaves, max_depth]."""

    sizes: Metadata
    bias: Array
    first_leaves: Array
    depths: Array
    leaves: Array
    features: Array
    borders: Array
    numerical: Array
    directions: Array
    optimizers: tuple[Optimizer, ...]


def is_gbrl(content: bytes) -> bool:
    """Returns whether a file starts as GBRL's: a version as three uint16, 12 reserved bytes of 0, then sizes."""
    if len(content) < HEADER.size + METADATA.size:
        return False
    major, minor, patch, *reserved = HEADER.unpack_from(content)
    inputs, outputs = struct.unpack_from("<2i", content, HEADER.size + 24)
    return 1 <= major < 10 and minor < 100 and patch < 1000 and not any(reserved) and inputs >= 1 and outputs >= 1


def parse(content: bytes, where: str) -> GbrlFile:
    """Returns what a file holds. Raises ValueError where it is not whole, InputError where it is of another kind."""
    cursor = Cursor(content)
    version = cursor.unpack(HEADER)[:3]
    if version not in VERSIONS:
        raise InputError(
            f"{where} was saved by GBRL {_dotted(version)}, and its files do not describe themselves: those of "
            f"{', '.join(map(_dotted, VERSIONS))} are read; train and save with that version"
        )
    sizes = _metadata(cursor.unpack(METADATA))
    cursor.skip_text()
    bias = cursor.array("<f4", sizes.outputs)
    cursor.array("<f4", sizes.inputs)  # weights of features, for training
    first_leaves = cursor.array("<i4", sizes.trees)
    rows = sizes.trees if sizes.growth == OBLIVIOUS else sizes.leaves
    depths = cursor.array("<i4", rows)
    leaves = cursor.array("<f4", sizes.leaves, sizes.outputs)
    features = cursor.array("<i4", rows, sizes.max_depth)
    borders = cursor.array("<f4", rows, sizes.max_depth)
    cursor.array("<f4", sizes.leaves, sizes.max_depth)  # weights of edges, for training
    for _ in ("feature", "output", "direction"):
        cursor.array("<i4", sizes.constraints)  # monotone in training; the trees are what they are
    for _ in ("numerical", "categorical", "both"):
        cursor.array("<i4", sizes.inputs)  # mapping of columns, the identity where all are numerical
    cursor.array("<u1", sizes.inputs)
    numerical = cursor.array("<u1", rows, sizes.max_depth)
    directions = cursor.array("<u1", sizes.leaves, sizes.max_depth)
    cursor.array("<u1", rows, sizes.max_depth, CATEGORY_BYTES)
    optimizers = _optimizers(cursor, sizes.outputs)
    cursor.finish()
    parsed = GbrlFile(sizes, bias, first_leaves, depths, leaves, features, borders, numerical, directions, optimizers)
    _check(parsed)
    return parsed


class Cursor:
    """Bytes that are read in their order. A read beyond the end raises ValueError."""

    def __init__(self, content: bytes) -> None:
        self._content, self._place = content, 0

    def unpack(self, layout: struct.Struct | str) -> tuple[Any, ...]:
        """Returns the values of a layout of the struct module."""
        layout = layout if isinstance(layout, struct.Struct) else struct.Struct("<" + layout)
        return layout.unpack(self._take(layout.size))

    def array(self, dtype: str, *shape: int) -> Array:
        """Returns an array that the file flags as present."""
        (flag,) = self.unpack("B")
        if flag != 1:
            raise ValueError(f"an array at byte {self._place - 1} is flagged {flag}, not 1")
        size = int(np.prod(shape, dtype=object)) * np.dtype(dtype).itemsize
        return np.frombuffer(self._take(size), dtype).reshape(shape)

    def skip_text(self) -> None:
        """Skip a text with its length in front."""
        (length,) = self.unpack("Q")
        if length > MAX_NAME:
            raise ValueError(f"a name of {length} bytes")
        self._take(length)

    def finish(self) -> None:
        """Raises ValueError unless all bytes were read."""
        if self._place != len(self._content):
            raise ValueError(f"it has {len(self._content)} bytes and describes {self._place}")

    def _take(self, size: int) -> bytes:
        taken = self._content[self._place : self._place + size]
        if len(taken) != size:
            raise ValueError(f"it has {len(self._content)} bytes and describes {self._place + size} or more")
        self._place += size
        return taken


def _metadata(fields: Sequence[Any]) -> Metadata:
    leaves, trees, inputs, outputs, policy_outputs, depth = (*fields[:2], *fields[6:10])
    growth, numerical, categorical, constraints = fields[19], fields[20], fields[21], fields[23]
    as_many(outputs)
    if categorical:
        raise InputError(
            f"the model has {categorical} categorical features, which integer firmware cannot be exact about; encode "
            "them as numbers outside of it"
        )
    if trees == 0:
        raise InputError("the model has no tree; train it before you save it")
    if not (1 <= policy_outputs <= outputs and numerical == inputs >= 1 and constraints >= 0):
        raise ValueError(f"{policy_outputs} of {outputs} outputs, {numerical} of {inputs} inputs")
    if not (1 <= trees <= MAX_TREES and trees <= leaves and growth in (GREEDY, OBLIVIOUS)):
        raise ValueError(f"{trees} trees with {leaves} leaves, grown by policy {growth}")
    if not 1 <= depth <= MAX_DEPTH:
        raise InputError(f"the model has a max_depth of {depth}; train with 1 to {MAX_DEPTH}")
    return Metadata(leaves, trees, inputs, outputs, policy_outputs, depth, growth, constraints)


def _optimizers(cursor: Cursor, outputs: int) -> tuple[Optimizer, ...]:
    (count,) = cursor.unpack("i")
    if not 0 <= count <= outputs:
        raise ValueError(f"{count} optimizers for {outputs} outputs")
    return tuple(_optimizer(cursor) for _ in range(count))


def _optimizer(cursor: Cursor) -> Optimizer:
    algorithm, first, end = cursor.unpack("B2i")
    if algorithm not in (SGD, ADAM):
        raise ValueError(f"an optimizer of kind {algorithm}")
    if algorithm == ADAM:
        cursor.unpack("3f")
    schedule, start = cursor.unpack("Bf")
    if schedule not in (CONSTANT, LINEAR):
        raise ValueError(f"a schedule of kind {schedule}")
    stop, steps = cursor.unpack("fi") if schedule == LINEAR else (start, 0)
    if not (np.isfinite(start) and np.isfinite(stop)):
        raise ValueError(f"a learning rate from {start} to {stop}")
    return Optimizer(algorithm, first, end, start, stop, steps)


def _check(parsed: GbrlFile) -> None:
    """InputError or ValueError where numbers are none, or a condition in force asks for no numerical feature."""
    sizes, depths = parsed.sizes, parsed.depths
    if not (np.isfinite(parsed.bias).all() and np.isfinite(parsed.leaves).all()):
        raise ValueError("a leaf or a bias is no finite number")
    if not 0 <= depths.min() <= depths.max() <= sizes.max_depth:
        raise ValueError(f"depths from {depths.min()} to {depths.max()} with a max_depth of {sizes.max_depth}")
    first_leaves = parsed.first_leaves
    if first_leaves[0] != 0 or (np.diff(first_leaves) < 1).any() or first_leaves[-1] >= sizes.leaves:
        raise ValueError("the trees' first leaves do not ascend from 0")
    asked = np.arange(sizes.max_depth) < depths[:, None]
    if (parsed.numerical[asked] != 1).any():
        raise InputError("a tree asks for a category, which integer firmware cannot be exact about")
    features = parsed.features[asked]
    if not ((features >= 0) & (features < sizes.inputs)).all():
        raise ValueError(f"a split on feature {features.max()} of {sizes.inputs}")


def _dotted(version: Sequence[int]) -> str:
    return ".".join(map(str, version))
