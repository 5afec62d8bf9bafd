"""How far a mean over seeds can be trusted."""

import math

import numpy as np
from numpy.typing import ArrayLike

from decision.artefact.errors import InputError


def confidence(values: ArrayLike, level: float = 0.99) -> float:
    """Half-width of the two-sided confidence interval of the mean, by Student's t: independent runs, one value each.

    NaN for fewer than two values: nothing can be said of a single run.
    """
    from scipy.special import stdtrit  # type: ignore[import-untyped]

    if not 0 < level < 1:
        raise InputError(f"a confidence level of {level} is not possible; it lies between 0 and 1")
    sample = np.asarray(values, np.float64)
    if sample.size < 2:
        return math.nan
    quantile = float(stdtrit(sample.size - 1, (1 + level) / 2))
    return quantile * float(sample.std(ddof=1)) / math.sqrt(sample.size)
