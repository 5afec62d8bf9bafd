"""RL-CC's figure 5: what is decided is what the simulator's policy decides, and the page says what the scan gave."""

import numpy as np

from papers import decisions
from papers.contenders import TEACHERS
from papers.decisions import PASTS, PRINTED, SHOWN, at, decided, page, picture
from teachers.load import load

TEACHER = load(TEACHERS / "rl-cc-mlp")


def test_decisions_are_the_networks_own() -> None:
    """By hand: two decisions, 12 hidden units, no bias, the newest first; up by a fifth, down by its inverse."""
    past, delta, action = PASTS[1], -0.5, 0.9
    row = np.array([action, -12.5 * 0.064 * delta, past.action, -12.5 * 0.064 * past.delta], np.float32)
    hidden = np.maximum(TEACHER.weights["fc0.weight"] @ row, 0)
    output = float(np.tanh((TEACHER.weights["out.weight"] @ hidden)[0]))
    multiplier = 1 + 0.2 * output if output > 0 else 1 / (1 - 0.2 * output)
    assert np.isclose(at(TEACHER, past, delta, action), multiplier, atol=1e-5)


def test_congestion_slows_and_an_idle_link_hastens() -> None:
    for past in PASTS:
        along = decided(TEACHER, past, np.array(SHOWN), np.array([1.0]))[0]
        assert (np.diff(along) > 0).all()
    low, high = decisions.limits(TEACHER)
    assert np.allclose((low, high), (1 / 1.2, 1.2), atol=1e-3)


def test_the_page_is_whole() -> None:
    text = page(TEACHER)
    assert all(past.name in text for past in PASTS)
    assert f"{at(TEACHER, PASTS[0], 0.0, 0.85):.3f} / {PRINTED[0.85]:g} after 0.85" in text
    assert 5_000 < len(picture(TEACHER)) < 200_000
