"""The calibration of table 8's short flows: its criteria, what is best by both, and the page."""

import math

import pytest

from netsim.network import US
from papers import calibration
from papers.calibration import CANDIDATES, USED, Fit, Round, Short, fits_of, frontier, page, printed

SHORT = Short(64, 320_000, 10 * US)
PLACES = [(who, n) for who in calibration.JUDGES for n in calibration.FLOWS]


def fit(factor: float, points: float) -> Fit:
    """All drops and shares off by as much."""
    drops = {place: printed(*place)[1] * factor for place in PLACES}
    share = {place: printed(*place)[2] - points for place in PLACES}
    return Fit(SHORT, 100, drops, share, dict.fromkeys(PLACES, 2.0))


def rounds(gb: float, recovery_ms: float = 2.0) -> dict[tuple[str, int], Round]:
    return {place: Round(gb, 10.0, 90.0, recovery_ms) for place in PLACES}


def test_a_fit_is_as_far_off_as_its_worst_figure() -> None:
    assert fit(1.5, 3).factor == pytest.approx(1.5)
    assert fit(0.5, 3).factor == pytest.approx(2)
    assert fit(1.5, -3).points == pytest.approx(3)
    off = fit(1, 0)
    off.drops["Swift", 1024] *= 3  # type: ignore[index]
    off.drops["Swift", 2048] *= 9  # type: ignore[index]
    assert off.factor == pytest.approx(3)  # 2048 flows are not asked for drops
    assert fit(0, 0).factor == math.inf


def test_drops_and_share_follow_the_interval() -> None:
    fits = {f.interval_ms: f for f in fits_of(SHORT, rounds(0.06))}
    assert fits[20].drops["HPCC", 128] == pytest.approx(3)
    assert fits[60].drops["HPCC", 128] == pytest.approx(1)
    assert fits[100].share["Swift", 128] == pytest.approx(80)


def test_rounds_do_not_run_into_the_next() -> None:
    assert min(f.interval_ms for f in fits_of(SHORT, rounds(0.1, recovery_ms=35))) == 40
    assert fits_of(SHORT, rounds(0.1, recovery_ms=math.nan)) == []


def test_what_another_beats_by_both_is_left_out() -> None:
    best, middle, other, beaten = fit(1.2, 20), fit(2, 10), fit(4, 5), fit(2.1, 12)
    assert frontier([beaten, other, middle, best]) == [best, middle, other]


def test_the_page_says_what_the_tables_are_made_with() -> None:
    assert all(short in CANDIDATES for short, _ in USED.values())
    fits = [f for short, _ in USED.values() for f in fits_of(short, rounds(0.1))]
    text = page(fits)
    assert "64 hosts, 320 KB each, " in text
    assert "64/32/64 hosts, 4,000 KB each, " in text
    assert max(len(line) for line in text.split("\n") if not line.startswith("|")) <= 120
