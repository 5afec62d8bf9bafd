"""A student with RL-CC's arithmetic, and trees that are a table of cells or a sum."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from decision.ir.forest import oblivious


@pytest.fixture(scope="session", params=[1, 9], ids=["table", "sum"])
def student_of_kinds(request):
    """With trees over so many questions a feature."""
    rng = np.random.default_rng(3)
    trees = []
    for number in range(request.param):
        leaves = tuple(rng.integers(-5000, 6000, size=8).tolist())
        trees.append(oblivious(((0, 100 + number), (1, 4000 + 10 * number), (2, 5 + number)), leaves))
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    return make_student(features, ACTIONS[0], tuple(trees), window=2, bias=12)


@pytest.fixture
def program_of_kinds(student_of_kinds):
    return student_of_kinds.program()
