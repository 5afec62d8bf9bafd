"""A race of students chooses what runs of all networks would choose, whatever it leaves out."""

from collections.abc import Mapping, Sequence
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from distill.closeness import FLOOR, Distance, Place, Round, choose, give_up_at, pays
from distill.racing import Standing, race, worst_first

PLACES = [(name, seed) for name in ("a", "b", "c") for seed in (1, 2)]
Off = Mapping[Place, Sequence[float]]
"""How far off a candidate is by each metric, in parts of the tolerance."""

numbers = st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.25, 2.0, inf])
candidates = st.fixed_dictionaries({place: st.lists(numbers, min_size=1, max_size=2) for place in PLACES})


def distances(off: Off, place: Place) -> list[Distance]:
    return [Distance(place[0], f"{n}", value, value) for n, value in enumerate(off[place])]


def raced(off: Off, limit: float, last: Standing | None = None, width: int = 1) -> tuple[Standing, list[Place]]:
    ran: list[Place] = []

    def compare(part: Sequence[Place]) -> dict[Place, list[Distance]]:
        ran.extend(part)
        return {place: distances(off, place) for place in part}

    return race(worst_first(PLACES, last), limit, width, compare), ran


def worst(off: Off) -> float:
    return max(max(values) for values in off.values())


@given(candidates, numbers, st.integers(1, 7))
def test_it_is_given_up_exactly_where_it_is_further_off_than_the_limit(off: Off, limit: float, width: int) -> None:
    standing, ran = raced(off, limit, width=width)
    assert standing.given_up == (worst(off) > limit)
    if standing.given_up:
        assert limit < standing.worst.of_tolerance <= worst(off)
        assert standing.networks == 1 + next(n for n, place in enumerate(PLACES) if max(off[place]) > limit)
        assert len(ran) < standing.networks + width
    else:
        assert (standing.worst.of_tolerance, standing.networks, ran) == (worst(off), len(PLACES), PLACES)
    assert max(off[standing.place]) == standing.worst.of_tolerance


@given(candidates, numbers, st.integers(2, 7))
def test_the_result_does_not_depend_on_how_many_run_at_once(off: Off, limit: float, width: int) -> None:
    assert raced(off, limit)[0] == raced(off, limit, width=width)[0]


@given(st.lists(st.tuples(candidates, numbers), min_size=1, max_size=6), st.sampled_from([0.0, 0.1, 0.5, 2.0, inf]))
def test_rounds_that_race_choose_and_end_as_rounds_of_all_networks(rounds: list[tuple[Off, float]], own: float) -> None:
    """``rounds``: how far off each round's student is, and its action error."""
    noise = Distance("a", "0", own, own)
    whole: list[Round] = []
    short: list[Round] = []
    last: Standing | None = None
    for off, rmse in rounds:
        last, _ = raced(off, give_up_at(short, noise) if short else inf, last)
        short.append(Round(1, 0.0, rmse, last.worst, last.networks))
        whole.append(Round(1, 0.0, rmse, Distance("a", "0", worst(off), worst(off)), len(PLACES)))
        assert [pays(short, noise, patience) for patience in (1, 2)] == [pays(whole, noise, p) for p in (1, 2)]
    assert choose(short, noise) == choose(whole, noise)


def test_the_next_candidate_begins_where_the_last_was_worst() -> None:
    far = {place: [0.0] for place in PLACES} | {("b", 2): [3.0]}
    standing, ran = raced(far, 1.0)
    assert (standing.place, standing.networks, len(ran)) == (("b", 2), 4, 4)
    assert worst_first(PLACES, standing) == [("b", 2), ("b", 1), ("a", 1), ("a", 2), ("c", 1), ("c", 2)]
    assert raced(far, 1.0, standing)[1] == [("b", 2)]


def test_other_seeds_of_the_worst_network_come_first() -> None:
    standing, _ = raced({place: [float(place[0] == "c")] for place in PLACES}, 0.5)
    later = [(name, seed + 1000) for name, seed in PLACES]
    assert worst_first(later, standing)[:2] == [("c", 1001), ("c", 1002)]


def test_nothing_is_given_up_before_there_is_a_first() -> None:
    standing, ran = raced({place: [inf] for place in PLACES}, inf)
    assert (standing.given_up, ran) == (False, PLACES)


def test_without_noise_a_round_within_the_floor_of_the_closest_is_run_to_its_end() -> None:
    near = Round(1, 0.0, 0.2, Distance("a", "0", 1.0, 1.0), 6)
    assert give_up_at([near], Distance("a", "0", 0.0, 0.0)) == 1.0 + FLOOR
    assert give_up_at([near], Distance("a", "0", 0.1, 0.1)) == 1.0


def test_places_without_any_metric_decide_nothing() -> None:
    with pytest.raises(InputError, match="no network has"):
        race(PLACES, inf, 1, lambda part: dict.fromkeys(part, ()))
