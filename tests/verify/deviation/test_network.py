"""What is said of a network's outputs holds of the teacher as it is run, in float32, and of the one of real numbers."""

from fractions import Fraction

import numpy as np
import pytest
from teacher_pairs import ACTION, CONGESTION, INFLATION, Weights, policy, weights

from decision.artefact.errors import InputError
from decision.policy.policy import Policy
from teachers.inference import decide_states
from teachers.teacher import make_teacher
from verify.deviation.network import Network

SHAPES = [((6,), False), ((12,), False), ((7, 5), True), ((9, 8, 4), True)]


def drawn(hidden: tuple[int, ...], bias: bool, seed: int) -> tuple[Policy, Weights, Network]:
    of = policy(hidden=hidden, bias=bias)
    made = weights(of, seed, gain=1.5)
    return of, made, Network.of(of, made)


def states(count: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = np.stack([random.uniform(-12000, 14000, count), 2.0 ** random.uniform(-2, 24, count)] * 2, axis=1)
    rows[:, 3] *= random.uniform(0.5, 2, count)
    return rows


@pytest.mark.parametrize(("hidden", "bias"), SHAPES)
def test_the_teacher_that_runs_decides_within_the_bounds(hidden: tuple[int, ...], bias: bool) -> None:
    of, made, network = drawn(hidden, bias, 3)
    rows = states(4000, 1)
    output, error = network.outputs(network.features(rows))
    low, high = network.actions(output - error)[0], network.actions(output + error)[1]
    seen = network.features(rows).reshape(len(rows), 2, 2)
    ran = decide_states(make_teacher(of, made, "the test"), seen, 0)[:, 0] - 1.0
    assert (low <= ran).all()
    assert (ran <= high).all()
    assert (high - low).max() < 1e-3, "and they are close"


@pytest.mark.parametrize(("hidden", "bias"), SHAPES)
def test_the_errors_hold_for_sums_in_any_order_and_for_real_numbers(hidden: tuple[int, ...], bias: bool) -> None:
    _, made, network = drawn(hidden, bias, 5)
    random = np.random.default_rng(2)
    for row in states(40, 2):
        features = network.features(row[None])
        ((output,), (error,)) = network.outputs(features)
        exact = [Fraction(float(x)) for x in features[0]]
        single = features[0].astype(np.float32)
        names = [*(f"fc{n}" for n in range(len(hidden))), "out"]
        for name in names:
            matrix, offset = made[f"{name}.weight"], made.get(f"{name}.bias")
            shift = np.zeros(len(matrix), np.float32) if offset is None else offset
            exact = [
                sum((Fraction(float(w)) * x for w, x in zip(line, exact, strict=True)), Fraction(float(b)))
                for line, b in zip(matrix, shift, strict=True)
            ]
            order = random.permutation(len(single))
            total = np.zeros(len(matrix), np.float32)
            for k in order:
                total = total + matrix[:, k] * single[k]
            single = total + shift
            if name != "out":
                exact, single = [max(x, Fraction(0)) for x in exact], np.maximum(single, 0)
        assert abs(float(exact[0]) - output) <= error
        assert abs(float(single[0]) - output) <= error


@pytest.mark.parametrize(("hidden", "bias"), SHAPES)
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_least_over_a_box_is_below_everything_in_it(hidden: tuple[int, ...], bias: bool, sign: float) -> None:
    _, _, network = drawn(hidden, bias, 7)
    random = np.random.default_rng(4)
    for width in (0.0, 0.05, 1.0):
        ends = network.features(states(30, 6)), network.features(states(30, 6) * (1 + width))
        low, high = np.minimum(*ends), np.maximum(*ends)
        least = network.least(low, high, np.full(30, sign))
        places = low + (high - low) * random.choice([0.0, 0.3, 1.0], (500, 30, 4))
        output, error = network.outputs(places.reshape(-1, 4))
        reached = (sign * output - 0.999 * error).reshape(500, 30)
        assert (least <= reached).all()
        if width == 0.0:
            assert (reached[0] - least).max() < 1e-3, "and at one place it is that"


def test_actions_rise_with_the_output_and_lie_around_the_map() -> None:
    for action in ({"kind": "tanh_map", "step": 0.2, "down": 1.0}, {"kind": "multiplier", "low": 0.5, "high": 1.5}):
        of = policy(action=action)
        network = Network.of(of, weights(of, 1))
        outputs = np.linspace(-9, 9, 2001)
        low, high = network.actions(outputs)
        told = of.action.decided(np.tanh(outputs)[:, None])[:, 0] - 1.0
        assert (np.diff(told) >= 0).all()
        assert (low <= told).all()
        assert (told <= high).all()
        assert (high - low).max() < 5e-6
        for sign in (-1.0, 1.0):
            least, most = network.signed(outputs, sign)
            at = sign * (of.action.decided(np.tanh(sign * outputs)[:, None])[:, 0] - 1.0)
            assert ((least <= at) & (at <= most)).all()


def test_what_is_not_followed_is_refused_in_a_sentence() -> None:
    lstm = policy(window=1, lstm=4)
    with pytest.raises(InputError, match=r"LSTM, .*memory"):
        Network.of(lstm, weights(lstm, 1))
    table = policy(action={"kind": "table", "multipliers": [0.8, 1.0, 1.2]})
    with pytest.raises(InputError, match="map table"):
        Network.of(table, weights(table, 1))


def test_it_sees_what_the_features_say() -> None:
    of = policy(features=(ACTION, CONGESTION, INFLATION), window=1)
    network = Network.of(of, weights(of, 1))
    seen = network.features(np.array([[6553.6, 0.0, 1024.0]]))[0]
    assert seen == pytest.approx([1.1, -12.5 * 0.064, 2.0])


def test_weights_that_overflow_are_refused() -> None:
    """What is not a number would be greater than no bound."""
    of = policy(hidden=(3, 3), bias=False)
    made = {name: np.full_like(array, 1e30) for name, array in weights(of, 1, gain=1.0).items()}
    with pytest.raises(InputError, match="outputs overflow"):
        Network.of(of, made)
