"""The hash behind ECMP and random scenarios, against the published generator."""

import numpy as np

from netsim.splitmix import GOLDEN, keys, splitmix64, uniform


def test_it_is_splitmix64() -> None:
    """The first numbers of the reference implementation from the state 1234567."""
    states = np.uint64(1234567) + np.arange(5, dtype=np.uint64) * GOLDEN
    assert splitmix64(states).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_a_number_does_not_depend_on_how_many_are_drawn() -> None:
    assert keys(10, 7, 2)[4:].tolist() == keys(6, 7, 2, first=4).tolist()
    assert uniform(10, 7, 2)[4:].tolist() == uniform(6, 7, 2, first=4).tolist()


def test_seeds_and_streams_have_numbers_of_their_own() -> None:
    drawn = [keys(1000, seed, stream) for seed in (0, 1, 2**63) for stream in range(3)]
    assert np.unique(np.concatenate(drawn)).size == 9000


def test_fractions_are_uniform() -> None:
    drawn = uniform(100_000, 3, 1)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    counts = np.bincount((drawn * 20).astype(int), minlength=20)
    assert (np.abs(counts - 5000) < 5 * np.sqrt(5000 * 0.95)).all()
