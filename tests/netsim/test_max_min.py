"""Max-min fair rates: against a reference that fills by small steps of thought, and against the definition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from reproducible import examples

from netsim import _core

Paths = list[list[int]]


def rates(capacity: list[float], paths: Paths, active: list[bool]) -> NDArray[np.float64]:
    offsets = np.cumsum([0, *map(len, paths)]).astype(np.uint32)
    links = np.array([link for path in paths for link in path], np.uint32)
    found = _core.max_min(np.array(capacity, np.float64), offsets, links, np.array(active, np.uint8))
    return np.asarray(found)


def by_filling(capacity: list[float], paths: Paths, active: list[bool]) -> list[float]:
    """All open flows rise together until a link is full; its flows stay there."""
    rate = [0.0] * len(paths)
    rising = {f for f, on in enumerate(active) if on}
    left = list(capacity)
    while rising:
        load = [sum(link in paths[f] for f in rising) for link in range(len(capacity))]
        rise = min(left[link] / load[link] for link in range(len(capacity)) if load[link])
        for f in rising:
            rate[f] += rise
        left = [room - rise * n for room, n in zip(left, load, strict=True)]
        full = {link for link in range(len(capacity)) if load[link] and left[link] <= 1e-9 * capacity[link]}
        rising = {f for f in rising if not full & set(paths[f])}
    return rate


@st.composite
def networks(draw: st.DrawFn) -> tuple[list[float], Paths, list[bool]]:
    capacity = draw(st.lists(st.floats(0.5, 100), min_size=1, max_size=6))
    path = st.lists(st.integers(0, len(capacity) - 1), min_size=1, max_size=4, unique=True)
    paths = draw(st.lists(path, min_size=1, max_size=15))
    return capacity, paths, draw(st.lists(st.booleans(), min_size=len(paths), max_size=len(paths)))


@settings(max_examples=examples(300), deadline=None)
@given(networks())
def test_definition(network: tuple[list[float], Paths, list[bool]]) -> None:
    """No link carries too much, and each flow crosses a full link on which no flow is faster."""
    capacity, paths, active = network
    found = rates(capacity, paths, active)
    assert found == pytest.approx(by_filling(*network), rel=1e-6)
    on = [[f for f, path in enumerate(paths) if link in path] for link in range(len(capacity))]
    load = [found[flows].sum() if flows else 0.0 for flows in on]
    assert all(sent <= room * (1 + 1e-9) for sent, room in zip(load, capacity, strict=True))
    for f, path in enumerate(paths):
        if not active[f]:
            assert found[f] == 0
            continue
        assert any(
            load[link] >= capacity[link] * (1 - 1e-9) and found[f] >= found[on[link]].max() * (1 - 1e-9)
            for link in path
        )


def test_by_hand() -> None:
    """Three flows on a link of 3, one of which is held to 0.5 elsewhere; the other two share what it leaves."""
    assert rates([3, 0.5], [[0], [0, 1], [0]], [True] * 3).tolist() == [1.25, 0.5, 1.25]
    assert rates([3, 0.5], [[0], [0, 1], [0]], [True, True, False]).tolist() == [2.5, 0.5, 0]
    assert rates([3, 0.5], [[0], [0, 1], [0]], [False] * 3).tolist() == [0, 0, 0]


def test_many_flows_of_one_link() -> None:
    found = rates([100.0], [[0]] * 20_000, [True] * 20_000)
    assert found == pytest.approx(100 / 20_000)


@pytest.mark.parametrize("paths", [[[1]], [[7], [0]]])
def test_a_link_that_is_not_there(paths: Paths) -> None:
    with pytest.raises(ValueError, match="no capacity"):
        rates([1.0], paths, [True] * len(paths))


def test_offsets_must_fit() -> None:
    one = np.zeros(1, np.uint32)
    with pytest.raises(ValueError, match="offsets"):
        _core.max_min(np.ones(1), np.array([0, 2], np.uint32), one, np.ones(1, np.uint8))
    with pytest.raises(ValueError, match="offsets"):
        _core.max_min(np.ones(1), np.array([0, 2, 1], np.uint32), one, np.ones(2, np.uint8))
