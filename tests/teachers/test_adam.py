"""Adam that is the same on every processor: each operation gives the nearest float, and it resumes to the bit.

Slow: the long comparison with PyTorch's Adam.
"""

from math import sqrt

import numpy as np
import pytest
import torch

from teachers.adam import BETAS, RoundedAdam, adam

LEARNING_RATE, EPS = 0.01, 1e-5


def parameters() -> list[torch.nn.Parameter]:
    random = np.random.default_rng(0)
    return [
        torch.nn.Parameter(torch.from_numpy(np.asarray(random.normal(size=shape), np.float32)))
        for shape in ((40, 12), (12,), ())
    ]


def stepped(optimizer: RoundedAdam, its: list[torch.nn.Parameter], steps: range) -> None:
    for step in steps:
        random = np.random.default_rng(step + 1)
        for parameter in its:
            parameter.grad = torch.from_numpy(np.asarray(random.normal(size=tuple(parameter.shape)), np.float32))
        optimizer.step()
        optimizer.zero_grad()


def one_by_one(weights: list[np.float32], steps: range) -> list[np.float32]:
    """The same of the first parameter, a number at a time; the root is that of a float64, rounded once."""
    one = np.float32
    mean, square, powers = [one(0)] * len(weights), [one(0)] * len(weights), [1.0, 1.0]
    for step in steps:
        gradients = np.random.default_rng(step + 1).normal(size=(40, 12)).astype(np.float32).ravel()
        powers = [power * beta for power, beta in zip(powers, BETAS, strict=True)]
        for i, gradient in enumerate(gradients):
            mean[i] = one(one(mean[i] * one(BETAS[0])) + one(gradient * one(1 - BETAS[0])))
            square[i] = one(one(square[i] * one(BETAS[1])) + one(one(gradient * gradient) * one(1 - BETAS[1])))
            root = one(one(one(sqrt(float(square[i]))) / one(sqrt(1 - powers[1]))) + one(EPS))
            weights[i] = one(weights[i] - one(one(mean[i] / root) * one(LEARNING_RATE / (1 - powers[0]))))
    return weights


def test_each_operation_gives_the_nearest_float() -> None:
    its = parameters()
    expected = one_by_one(list(its[0].detach().numpy().ravel()), range(3))
    stepped(RoundedAdam(its, LEARNING_RATE, EPS), its, range(3))
    assert its[0].detach().numpy().ravel().tolist() == [float(x) for x in expected]


@pytest.mark.slow
def test_it_goes_where_pytorchs_goes() -> None:
    ours, theirs = parameters(), parameters()
    for its, kernels in ((ours, "any"), (theirs, "intel")):
        stepped(adam(its, kernels, LEARNING_RATE, EPS), its, range(20))
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-6)


def test_a_state_goes_on_to_the_bit_and_fits_no_other_parameters() -> None:
    whole, parts = parameters(), parameters()
    stepped(RoundedAdam(whole, LEARNING_RATE, EPS), whole, range(6))
    first = RoundedAdam(parts, LEARNING_RATE, EPS)
    stepped(first, parts, range(3))
    resumed = RoundedAdam(parts, 1.0, 1.0)
    resumed.load_state_dict(first.state_dict())
    stepped(resumed, parts, range(3, 6))
    assert all(torch.equal(a, b) for a, b in zip(whole, parts, strict=True))
    with pytest.raises(ValueError, match="other parameters"):
        resumed.load_state_dict(RoundedAdam(whole[1:], LEARNING_RATE, EPS).state_dict())
