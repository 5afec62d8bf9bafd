"""What counts as around a state."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.policy.neighbourhood import Around
from decision.policy.policy import Observation

PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
KINDS = [{"kind": "previous_action"}, {"kind": "rtt_inflation"}]
SEEN = Observation.model_validate({"window": 2, "features": KINDS, **PATH})


def test_it_is_as_wide_as_it_says() -> None:
    row = np.array([[3000.0, 10_000.0, -500.0, 0.0]])  # action, inflation, and both of the decision before
    low, high = Around(0.2, 0.02).box(SEEN, row)
    step = 0.02 * 2**16
    assert low.tolist() == [[3000 - step, 8000, -500 - step, 0]]
    assert high[0].tolist() == pytest.approx([3000 + step, 12_001.2, -500 + step, 1.2])


def test_below_zero_it_is_wide_to_both_sides_as_well() -> None:
    low, high = Around(0.2, 0.02).box(SEEN, np.array([[0.0, -100.0, 0.0, -1.0]]))
    assert (low[0, 1], high[0, 1], low[0, 3], high[0, 3]) == pytest.approx((-120, -79.2, -1.2, 0.0))


def test_its_ends_rise_with_the_state() -> None:
    rows = np.repeat(np.arange(-3000.0, 3000.0)[:, None], 4, axis=1)
    for share in (0.0, 0.2, 0.9):
        assert all((np.diff(ends, axis=0) >= 0).all() for ends in Around(share, 0.02).box(SEEN, rows))


@pytest.mark.parametrize(("share", "action"), [(1.0, 0.02), (-0.1, 0.02), (0.2, -0.1), (0.2, 5), (float("nan"), 0)])
def test_what_is_no_neighbourhood_is_refused(share: float, action: float) -> None:
    with pytest.raises(InputError, match="below 1"):
        Around(share, action)


def test_around_a_bit_that_is_clear_none_is_set() -> None:
    kinds = [
        {"kind": "present", "signal": "sent_bytes"},
        {"kind": "bucket", "signal": "queue_bytes", "first": 8192, "count": 4},
    ]
    seen = Observation.model_validate({"window": 1, "features": kinds, **PATH})
    rows = np.array([[0.0, 0.0], [1.0, 3.0]])
    for ends in Around(0.2, 0.02).box(seen, rows):
        np.testing.assert_array_equal(ends, rows)
