"""monotone and step: against every state of small policies, and with one leaf broken."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent))

from deciders import FALL, RISE, decision, policy, split

from decision.errors import InputError
from decision.forest import Node, oblivious
from verify.behaviour.properties import Monotone, Step
from verify.behaviour.steps import monotone, step

THRESHOLDS = (100, 2_000, 40_000)


def falling(*changed: tuple[int, int, int]) -> tuple[Node, ...]:
    """Trees over (congestion, congestion before), each of which falls in both; ``changed``: tree, leaf, by how much."""
    trees = []
    for number, threshold in enumerate(THRESHOLDS):
        leaves = [3000 - 700 * number, -800, -900, -2500]
        for tree, leaf, by in changed:
            if tree == number:
                leaves[leaf] += by
        trees.append(oblivious([(1, threshold), (3, threshold * 2)], leaves))
    return tuple(trees)


def test_trees_that_fall_are_monotone() -> None:
    findings = monotone(decision(policy(*falling())), Monotone())
    assert [finding.verdict for finding in findings] == ["holds", "holds"]
    assert findings[0].value == "at each of 3 thresholds"


def test_one_leaf_breaks_it_at_its_threshold_alone() -> None:
    of = decision(policy(*falling((1, 3, 1800))))
    (finding,) = monotone(of, Monotone(feature="congestion_q20_1"))
    assert finding.verdict == "fails"
    assert "(4000)" in finding.value
    assert finding.witness["congestion_q20_1"] == 4000
    below = [finding.witness[name] for name in of.names]
    above = [v + (name == "congestion_q20_1") for name, v in zip(of.names, below, strict=True)]
    sums = of.program.forest.evaluate(np.asarray([below, above]))[:, 0]
    rise = int(np.diff(of.of(sums))[0])
    assert rise > 0
    assert f"by {rise / 2**16:.4f} at most" in finding.value


def test_a_rise_that_the_limits_of_the_action_hide_is_none() -> None:
    """Both sums are beyond the greatest step: what leaves the policy does not rise."""
    hidden = policy(split(1, 100, 0, 50), bias=RISE + 1000)
    (finding,) = monotone(decision(hidden), Monotone())
    assert finding.verdict == "holds"
    (finding,) = monotone(decision(policy(split(1, 100, 0, 50), bias=RISE - 10)), Monotone())
    assert finding.verdict == "fails"


def test_the_past_decisions_are_no_feature_that_is_seen() -> None:
    with pytest.raises(InputError, match="they see congestion_q20"):
        monotone(decision(policy(split(0, 0, 1, 2), split(1, 5, 2, 1))), Monotone(feature="action_1"))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(THRESHOLDS), st.integers(-9000, 9000), st.integers(-9000, 9000)),
        min_size=1,
        max_size=6,
    )
)
@settings(deadline=None, max_examples=60)
def test_against_every_state(splits: list[tuple[int, int, int, int]]) -> None:
    """Steps and monotony from one value a cell of each column."""
    of = decision(policy(*(split(*each) for each in splits)))
    axes = [
        sorted({0, *(t + 1 for c, t, *_ in splits if NAMES[c] == name and (t < 2**15 or c % 2))}) for name in of.names
    ]
    rows = np.asarray(list(product(*axes)), dtype=np.int64)
    made = of.of(of.program.forest.evaluate(rows)[:, 0])
    (bounds,) = step(of, Step())
    assert bounds.value == f"{made.min() / 2**16:.5f} to {made.max() / 2**16:.5f} over all cells"
    by_name = {finding.says.split()[1]: finding.verdict for finding in monotone(of, Monotone())}
    by_name.pop("of", None)  # more of nothing
    for name, verdict in by_name.items():
        column = of.names.index(name)
        table = made.reshape([len(axis) for axis in axes])
        rises = (np.diff(table, axis=column) > 0).any()
        assert verdict == ("fails" if rises else "holds")


NAMES = ("action_1", "congestion_q20", "action_2", "congestion_q20_1")


@pytest.mark.parametrize(
    ("limits", "verdict"), [((0.8, 1.3), "holds"), ((0.95, None), "fails"), ((None, 1.1), "fails")]
)
def test_the_limits_of_a_step(limits: tuple[float | None, float | None], verdict: str) -> None:
    of = decision(policy(split(1, 7, RISE, FALL)))
    (finding,) = step(of, Step(at_least=limits[0], at_most=limits[1]))
    assert finding.verdict == verdict
    if verdict == "fails":
        assert finding.witness["congestion_q20"] == (8 if limits[0] else 0)


def test_a_limit_of_nought_is_one_and_more_of_nothing_raises_nothing() -> None:
    (finding,) = step(decision(policy(bias=RISE)), Step(at_most=0))
    assert finding.verdict == "fails"
    (finding,) = monotone(decision(policy(split(0, 0, RISE, FALL))), Monotone())
    assert (finding.verdict, finding.value) == ("holds", "the trees ask for nothing that is seen")
