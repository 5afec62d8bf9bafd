"""SplitMix64 (Steele, Lea and Flood 2014): one hash for ECMP and for whatever of a scenario is drawn at random.

It counts and hashes, so a number depends on its seed, stream and place only, not on how many are drawn or by which
version of NumPy.
"""

import numpy as np
from numpy.typing import NDArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def splitmix64(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The hash of each value: a bijection of 64 bits."""
    z = values + GOLDEN  # arrays of NumPy wrap
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def keys(count: int, seed: int, stream: int = 0, first: int = 0) -> NDArray[np.uint64]:
    """Numbers ``first`` .. ``first + count - 1`` of a stream of the seed (0 to 2^64 - 1)."""
    state = splitmix64(splitmix64(np.array([seed], np.uint64)) + np.array([stream], np.uint64))
    return splitmix64(state + np.arange(first, first + count, dtype=np.uint64) * GOLDEN)


def uniform(count: int, seed: int, stream: int, first: int = 0) -> NDArray[np.float64]:
    """The same as fractions, uniform in [0, 1) in steps of 2^-53."""
    return (keys(count, seed, stream, first) >> np.uint64(11)).astype(np.float64) / (1 << 53)
