"""A student's bias moved until its network is closest: forest and model move as one, and the closest move wins."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distill import bias_search, boost, distil, quantise, rollout
from distill.closeness import Distance
from distill.driving import Networks
from distill.options import DistillOptions, RolloutOptions
from netsim.network import MS
from netsim.tolerance import DEFAULT

NETWORKS = Networks([], 0, ["many-to-one:8"], (2 * MS, 4 * MS), 900_000)


def test_a_moved_student_and_its_moved_model_are_each_others(fitted: Any, runs: Any, teacher: Any) -> None:
    student, model = fitted.student, fitted.model
    (before,) = student.forest.bias
    higher = bias_search.shifted(student, 37)
    assert higher.forest.bias == (before + 37,)
    assert (higher.forest.trees, higher.forest.features) == (student.forest.trees, student.forest.features)
    rows = np.zeros((5, len(student.forest.features)), dtype=np.int64)
    copy = boost.read_back(model)
    theirs = boost.sums(bias_search.shifted_model(copy, 37, student.forest.leaf_bits), rows)
    assert theirs - boost.sums(model, rows) == pytest.approx(37 / 2**student.forest.leaf_bits, abs=1e-9)
    again = quantise.quantise(copy, student.forest.features, student.forest.leaf_bits)
    assert again == higher.forest


Worst = dict[tuple[str, int], float]
"""How far off a move is in each network, in parts of the tolerance."""
PLACES = [(name, seed) for name in ("a", "b", "c") for seed in (1, 2)]
MOVES = (-8, -3, 3, 8)


class Runs:
    """Stands for the simulator: a policy is its move, and its metrics are how far it is off."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, off: dict[int, Worst], cores: int = 1) -> None:
        self.of: list[tuple[Any, tuple[str, int]]] = []

        def compared(policy: Any, networks: Any, places: Any) -> dict[tuple[str, int], dict[str, float]]:
            self.of += [(policy, place) for place in places]
            return {place: {"off": 0.0 if policy == "teacher" else off[policy][place]} for place in places}

        def distances(metrics: Any, reference: Any, allowed: Any) -> dict[tuple[str, int], list[Distance]]:
            return {place: [Distance(place[0], "off", 0.0, metrics[place]["off"])] for place in reference}

        monkeypatch.setattr(bias_search, "compared", compared)
        monkeypatch.setattr(bias_search, "distances", distances)
        monkeypatch.setattr(bias_search, "shifted", lambda student, units: units)
        monkeypatch.setattr(bias_search, "interpreted", lambda units: units)
        monkeypatch.setattr(bias_search, "usable_cores", lambda: cores)


def best_move(**known: Any) -> int:
    student: Any = None
    original: Any = "teacher"
    return bias_search.best_offset(student, MOVES, original, NETWORKS, PLACES, DEFAULT, **known)


numbers = st.sampled_from([0.0, 0.5, 1.0, 2.0, float("inf")])


@given(
    off=st.fixed_dictionaries({move: st.fixed_dictionaries(dict.fromkeys(PLACES, numbers)) for move in (0, *MOVES)}),
    cores=st.integers(1, 4),
)
def test_it_is_the_move_that_all_networks_together_would_choose(off: dict[int, Worst], cores: int) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        runs = Runs(monkeypatch, off, cores)
        worst = [max(off[move].values()) for move in (0, *MOVES)]
        assert best_move() == (0, *MOVES)[worst.index(min(worst))]
        assert len(runs.of) == len(set(runs.of))


def test_a_move_is_given_up_where_it_cannot_win_and_the_next_begins_there(monkeypatch: pytest.MonkeyPatch) -> None:
    far = dict.fromkeys(PLACES, 0.0) | {("c", 2): 9.0}
    runs = Runs(monkeypatch, {0: dict.fromkeys(PLACES, 1.0)} | dict.fromkeys(MOVES, far))
    assert best_move() == 0
    assert [runs.of.count((move, place)) for move in MOVES for place in PLACES].count(1) == 6 + 1 + 1 + 1


def test_what_was_measured_before_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(monkeypatch, {move: dict.fromkeys(PLACES, abs(move) + 1.0) for move in (0, *MOVES)})
    there = {PLACES[0]: {"off": 1.0}}
    assert best_move(measured=there, reference={place: {"off": 0.0} for place in PLACES}) == 0
    assert [policy for policy, _ in runs.of].count("teacher") == 0
    assert [place for policy, place in runs.of if policy == 0] == PLACES[1:]


def test_a_student_that_was_moved_away_is_moved_back(fitted: Any, teacher: Any) -> None:
    """A hundredth of the rate a decision too much, which no flow settles with."""
    original = rollout.teacher_policy(teacher)
    away = bias_search.shifted(fitted.student, 650)
    assert bias_search.best_offset(away, [-650, 650], original, NETWORKS, NETWORKS.places([3]), DEFAULT) == -650


def test_the_report_says_how_far_the_chosen_student_was_moved(
    teacher: Any, runs: Any, small: DistillOptions, network: RolloutOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = small.model_copy(update={"rounds": 0, "bias_search": [-5, 5]})
    monkeypatch.setattr(distil, "best_offset", lambda *_, **__: 5)
    kept = distil.distil(teacher, runs, options, network, seed=1)
    plain = distil.distil(teacher, runs, small.model_copy(update={"rounds": 0}), network, seed=1)
    assert kept.student.report["moved"] == 5
    assert "moved" not in plain.student.report
    assert kept.student.forest == bias_search.shifted(plain.student, 5).forest
    assert kept.points > 0
