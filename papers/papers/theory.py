"""Where RL-CC's flows settle ([RLCC] section 3, equations 1 and 2)."""

from math import sqrt

TARGET, BETA = 0.064, 1.5
"""Of the shipped teachers' reward: what their recipes have."""


def fixed_point(flows: int, target: float = TARGET, beta: float = BETA) -> float:
    """The RTT inflation at which so many flows have their fair share and the reward is best."""
    return target * sqrt(flows) + beta
