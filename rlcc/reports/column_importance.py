"""Which columns of a state move a decision most."""

from collections.abc import Callable, Sequence

import numpy as np

from decision.ir.arrays import Floats


def swept(
    decide: Callable[[Floats], Floats], around: Floats, ends: Sequence[tuple[float, float]], steps: int
) -> list[float]:
    """How far ``decide`` ([N, columns] -> [N, values]) moves where each column alone goes from end to end in so many
    steps and the others stand as in the states ``around`` [M, columns], the mean over these: of what is decided the
    value that moves most, in parts of the greatest there is."""
    columns = len(ends)
    tried = np.tile(around[:, None, None, :], (1, columns, steps, 1))
    for column, (low, high) in enumerate(ends):
        tried[:, column, :, column] = np.linspace(low, high, steps)
    decided = decide(tried.reshape(-1, around.shape[1])).reshape(len(around), columns, steps, -1)
    moved = np.ptp(decided, axis=2).mean(axis=0)
    most = moved.max(axis=0)
    return [float(spread) for spread in (moved / np.where(most > 0, most, 1.0)).max(axis=1)]
