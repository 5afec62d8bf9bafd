"""no_cycle: circles made by hand, and against runs from every kind of context."""

import numpy as np
import pytest
from deciders import FALL, RISE, decision, policy, split
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples
from wording import Wording

from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from verify.behaviour import circles as module
from verify.behaviour.circles import circles, no_cycle
from verify.trusted.properties import NoCycle


def test_a_policy_that_turns_round_each_time_is_a_circle_of_two(wording: Wording) -> None:
    (finding,) = no_cycle(circles(decision(policy(split(0, 0, RISE, FALL)))), NoCycle())
    assert finding.verdict == "fails"
    wording(finding.value)


def test_a_circle_that_one_level_alone_has(wording: Wording) -> None:
    """Above a congestion of 500 it turns round, below it rises."""
    tree = oblivious([(1, 500), (0, 0)], [RISE, RISE, RISE, FALL])
    ends = circles(decision(policy(oblivious([(1, 500), (0, 0)], [RISE, RISE, RISE, FALL]))))
    (finding,) = no_cycle(ends, NoCycle())
    assert finding.verdict == "fails"
    wording(finding.value)
    assert finding.witness["congestion_q20"] == 501
    assert (ends.value[ends.levels[:, 0] == 0] == RISE + 2**16).all()
    assert tree


def test_a_circle_of_four_is_longer_than_asked_for() -> None:
    """Twice up, twice down: what was two decisions ago, turned round."""
    of = circles(decision(policy(split(2, 0, RISE, FALL))))
    assert no_cycle(of, NoCycle(length=3))[0].verdict == "holds"
    assert "one of 4" in no_cycle(of, NoCycle(length=3))[0].value
    assert no_cycle(of, NoCycle(length=4))[0].verdict == "fails"


def test_a_policy_that_comes_to_rest_has_none() -> None:
    (finding,) = no_cycle(circles(decision(policy(split(1, 10, RISE, FALL), split(0, 0, 5, 6)))), NoCycle())
    assert finding.verdict == "holds"


def test_too_many_kinds_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_CONTEXTS", 3)
    with pytest.raises(InputError, match="too many"):
        circles(decision(policy(split(0, 0, RISE, FALL), split(1, 10, 1, 2))))


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(-2, 9), st.integers(-9000, 9000), st.integers(-9000, 9000)),
        min_size=1,
        max_size=7,
    ),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=examples(60))
def test_against_long_runs(splits: list[tuple[int, int, int, int]], seed: int) -> None:
    """From contexts of any kind, at any congestion: what a run of 90 decisions ends in is one of the circles."""
    of = decision(policy(*(split(*each) for each in splits)))
    ends = circles(of)
    known = set(zip(ends.value.tolist(), ends.length.tolist(), strict=True))
    random, forest = np.random.default_rng(seed), of.program.forest
    for _ in range(6):
        level, past = int(random.integers(0, 12)), random.integers(-9000, 9000, 2).tolist()
        made: list[int] = []
        for _ in range(90):
            columns = {"action_1": past[0], "congestion_q20": level, "action_2": past[1], "congestion_q20_1": level}
            row = np.asarray([[columns[name] for name in forest.features]])
            made.append(int(of.of(forest.evaluate(row)[:, 0])[0]))
            past = [made[-1] - 2**16, past[0]]
        tail = made[40:]
        length = next(n for n in range(1, 26) if tail[n:] == tail[:-n])
        assert {value for value, turn in known if turn % length == 0} >= set(tail[:length])
