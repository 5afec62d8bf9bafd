"""monotone and step: against every state of small policies, and with one leaf broken."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from deciders import FALL, RISE, decision, policy, split
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples
from wording import Wording

from decision.artefact.errors import InputError
from decision.ir.forest import Node, oblivious
from decision.ir.program import Program
from verify.behaviour import steps
from verify.behaviour.cells import Boxes
from verify.behaviour.extremes import Extreme
from verify.behaviour.finding import Finding
from verify.behaviour.split_decision import Decided
from verify.behaviour.steps import monotone, step
from verify.trusted.properties import Monotone, Step

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


def test_trees_that_fall_are_monotone(wording: Wording) -> None:
    findings = monotone(decision(policy(*falling())), Monotone())
    assert [finding.verdict for finding in findings] == ["holds", "holds"]
    wording(findings[0].value)


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
@settings(deadline=None, max_examples=examples(60))
def test_against_every_state(splits: list[tuple[int, int, int, int]]) -> None:
    """Steps and monotony from one value a cell of each column."""
    of = decision(policy(*(split(*each) for each in splits)))
    axes = [
        sorted({0, *(t + 1 for c, t, *_ in splits if NAMES[c] == name and (t < 2**15 or c % 2))}) for name in of.names
    ]
    rows = np.asarray(list(product(*axes)), dtype=np.int64)
    made = of.of(of.program.forest.evaluate(rows)[:, 0])
    (bounds,) = step(of, Step())
    assert bounds.value.startswith(f"{made.min() / 2**16:.5f} to {made.max() / 2**16:.5f} ")
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


def test_a_limit_of_nought_is_one_and_more_of_nothing_raises_nothing(wording: Wording) -> None:
    (finding,) = step(decision(policy(bias=RISE)), Step(at_most=0))
    assert finding.verdict == "fails"
    (finding,) = monotone(decision(policy(split(0, 0, RISE, FALL))), Monotone())
    assert finding.verdict == "holds"
    wording(finding.value)


def test_a_limit_that_is_just_attained_holds() -> None:
    of = decision(policy(split(1, 7, 6553, -6553)))
    low, high = 1 - 6553 / 2**16, 1 + 6553 / 2**16
    for limits, verdict in (((low, high), "holds"), ((low + 1e-9, None), "fails"), ((None, high - 1e-9), "fails")):
        (finding,) = step(of, Step(at_least=limits[0], at_most=limits[1]))
        assert finding.verdict == verdict


def test_the_greatest_of_several_rises_is_told_and_shown(wording: Wording) -> None:
    """Two thresholds raise it, the first by less, the third by nothing."""
    of = decision(policy(split(1, 100, 0, 10), split(1, 2000, 0, 655), split(1, 3000, 0, -5)))
    (finding,) = monotone(of, Monotone())
    assert f"{655 / 2**16:.4f}" in finding.value
    wording(finding.value)
    assert finding.witness == {"congestion_q20": 2000}


def test_only_thresholds_that_a_value_can_cross_count() -> None:
    """The greatest value is above no threshold of its own, the least is at or below its own."""
    of = decision(policy(split(1, 0, 5, 0), split(1, 100, 5, 0), split(1, 2**31 - 1, 0, 50)))
    (low, high), cuts = of.ranges[0], of.cells.edges[0].tolist()
    for ends, count in (((low, high), 2 + (high > 2**31 - 1)), ((0, 100), 1), ((0, 101), 2), ((1, 2**31 - 1), 1)):
        ranged = replace(of, program=_ranged(of, ends))
        (finding,) = monotone(ranged, Monotone())
        crossed = sum(ends[0] <= cut < ends[1] for cut in cuts)
        assert crossed == count
        assert f"{crossed} thresholds" in finding.value


def _ranged(of: Decided, ends: tuple[int, int]) -> Program:
    """The program with the range of its first column."""
    nodes = list(of.program.nodes)
    nodes[of.columns[0]] = replace(nodes[of.columns[0]], low=ends[0], high=ends[1])
    return replace(of.program, nodes=tuple(nodes))


def test_a_search_that_was_given_up_decides_nothing_but_what_it_shows(
    monkeypatch: pytest.MonkeyPatch, wording: Wording
) -> None:
    of = decision(policy(split(1, 100, 0, 0), split(1, 2000, 0, 10), split(3, 7, 4, 4)))
    answers = {"open": Extreme(0, 5, None), "shut": Extreme(0, 0, None), "shown": Extreme(2, 9, np.array([0, 0]))}

    def asked(*said: str) -> list[Finding]:
        given = iter([answers[name] for name in said])
        monkeypatch.setattr(steps, "greatest", lambda *_: next(given))
        return monotone(of, Monotone(feature="congestion_q20"))

    (finding,) = asked("open", "shut")
    assert finding.verdict == "undecided"
    wording(finding.value)
    (finding,) = asked("open", "open")
    assert finding.verdict == "undecided"
    wording(finding.value)
    (finding,) = asked("shut", "shut")
    assert finding.verdict == "holds"
    (finding,) = asked("open", "shown")
    assert (finding.verdict, "by at least" in finding.value) == ("fails", True)

    cell = np.array([0, 0])
    ends = Extreme(70_000, 75_000, cell), Extreme(-60_000, -50_000, cell)
    for asked_for, verdict in ((Step(at_most=1.2), "holds"), (Step(at_most=1.1), "undecided"), (Step(), "found")):
        given = iter(ends)
        monkeypatch.setattr(steps, "greatest", lambda *_, given=given: next(given))
        (finding,) = step(of, asked_for)
        assert finding.verdict == verdict
        assert (finding.value.endswith("at most"), "within" in finding.value) == (
            verdict != "undecided",
            verdict == "undecided",
        )


def test_of_a_step_each_end_is_decided_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    of, cell = decision(policy(split(1, 100, 0, 0))), np.array([0])
    most = {True: Extreme(70_000, 70_000, cell), False: Extreme(70_000, 75_000, cell)}
    least = {True: Extreme(-60_000, -60_000, cell), False: Extreme(-60_000, -50_000, cell)}
    for exact in product((True, False), repeat=2):
        for asked_for in (Step(), Step(at_least=0.95), Step(at_most=1.01)):
            given = iter((most[exact[0]], least[exact[1]]))
            monkeypatch.setattr(steps, "greatest", lambda *_, given=given: next(given))
            (finding,) = step(of, asked_for)
            shown = exact[1] if asked_for.at_least else exact[0]
            limited = asked_for != Step()
            assert finding.verdict == (("fails" if shown else "undecided") if limited else "found")
            if finding.verdict != "undecided":
                assert finding.value.endswith("over all cells" if all(exact) else "at most")


def test_what_bounds_a_box_is_above_all_that_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a search would drop a box that holds what it is looking for."""
    together = oblivious([(1, 100), (3, 7)], [1000, 1000, 0, 500])  # raised where the other is above, and lower there
    of = decision(policy(together, split(3, 7, 90, -90), split(1, 2000, 5, -700), split(3, 50, -20, 400)))
    uppers: list[Any] = []
    real = steps.greatest

    def greatest(*asked: Any) -> Extreme:
        uppers.append((asked[1], asked[2]))
        return real(*asked)

    monkeypatch.setattr(steps, "greatest", greatest)
    monotone(of, Monotone())
    step(of, Step())
    for box, upper in uppers:
        cells = [range(int(low), int(high) + 1) for low, high in zip(box.low[0], box.high[0], strict=True)]
        corners = np.asarray(list(product(*cells)))
        assert upper(box)[0] >= upper(Boxes(corners, corners)).max()


def test_a_rise_by_one_is_a_rise() -> None:
    (finding,) = monotone(decision(policy(split(1, 100, 0, 1))), Monotone())
    assert finding.verdict == "fails"
