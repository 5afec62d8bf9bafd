"""Bit-for-bit comparison of what a back end computed with what the vectors expect, told readably."""

from dataclasses import dataclass

import numpy as np

from emulator.layout import Columns
from emulator.vectors import Vectors


@dataclass(frozen=True)
class VectorComparison:
    """How many vectors differ, and the first of them in words."""

    mismatches: int
    first: str | None


def compare(vectors: Vectors, outputs: Columns) -> VectorComparison:
    """Compare the first vectors, as many as ``outputs`` (emulator.layout.outputs) has: knobs and contexts."""
    count = len(next(iter(outputs.values())))
    columns = [(name, expected[:count], outputs[name]) for name, expected in vectors.expected.items()]
    wrong = np.zeros(count, dtype=bool)
    for _, expected, got in columns:
        wrong |= expected != got
    if not wrong.any():
        return VectorComparison(0, None)
    index = int(np.argmax(wrong))
    differing = ", ".join(
        f"{name} = {got[index]}, expected {want[index]}" for name, want, got in columns if got[index] != want[index]
    )
    inputs = " ".join(f"{name}={value}" for name, value in vectors.inputs(index).items())
    return VectorComparison(int(wrong.sum()), f"vector {index} ({vectors.kinds[index]}): {differing}; inputs {inputs}")
