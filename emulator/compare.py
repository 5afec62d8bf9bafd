"""Bit-for-bit comparison of what a back end computed with what the vectors expect, told readably."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emulator.vectors import Vectors


@dataclass(frozen=True)
class Comparison:
    """How many vectors differ, and the first of them in words."""

    mismatches: int
    first: str | None


def compare(vectors: Vectors, returned: NDArray[np.uint32], flow: NDArray[np.void]) -> Comparison:
    """Compare the first ``len(returned)`` vectors: the return value and every field of the flow context."""
    count = len(returned)
    columns = [("return", vectors.expected_return[:count], returned)]
    columns += [
        (f"flow.{f}", vectors.expected_flow[f][:count], flow[f]) for f in vectors.expected_flow.dtype.names or ()
    ]
    wrong = np.zeros(count, dtype=bool)
    for _, expected, got in columns:
        wrong |= expected != got
    if not wrong.any():
        return Comparison(0, None)
    index = int(np.argmax(wrong))
    differing = ", ".join(
        f"{name} = {got[index]}, expected {want[index]}" for name, want, got in columns if got[index] != want[index]
    )
    inputs = " ".join(f"{name}={value}" for name, value in vectors.inputs(index).items())
    return Comparison(int(wrong.sum()), f"vector {index} ({vectors.kinds[index]}): {differing}; inputs {inputs}")
