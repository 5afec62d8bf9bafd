"""What a context carries from decision to decision: integers, floats beside integers, corrupted contexts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.interface import STORAGE_RANGE
from decision.ir.interpret import evaluate, trace
from decision.policy.policy import Observation
from decision.policy.records import Trajectories, record_columns
from decision.policy.tree_decision import build_observer

PATH = {"window": 1, "base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
PARAMS = {"base_rtt_recip_q42": 2**29, "rate_min_q30": 1, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 2**30 - 1}
CARRYING: dict[str, dict[str, Any]] = {
    "average": {"kind": "average", "signal": "rtt_ns", "shift": 2},
    "average, coarse": {"kind": "average", "signal": "sent_bytes", "shift": 7, "unit": 1000, "fraction_bits": 3},
    "minimum": {"kind": "minimum", "signal": "rtt_ns"},
    "minimum that rises": {"kind": "minimum", "signal": "rtt_ns", "unit": 16, "rise": 3},
    "maximum": {"kind": "maximum", "signal": "sent_bytes"},
    "maximum that falls": {"kind": "maximum", "signal": "sent_bytes", "unit": 64, "fall": 100},
    "above minimum": {"kind": "above_minimum", "signal": "rtt_ns"},
    "over minimum": {"kind": "over_minimum", "signal": "rtt_ns"},
    "streak": {"kind": "streak", "signal": "cnp_count", "most": 3},
    "streak above": {"kind": "streak", "signal": "nack_count", "above": 2},
    "decaying count": {"kind": "decaying_count", "signal": "cnp_count", "shift": 3, "most": 40},
    "interval": {"kind": "interval", "signal": "response_ns"},
}


def observation(*features: dict[str, Any]) -> Observation:
    return Observation.model_validate({**PATH, "features": list(features)})


WORDS = st.integers(0, 2**32 - 1) | st.integers(0, 9) | st.integers(2**32 - 9, 2**32 - 1)
RTTS = st.integers(0, 200_000) | WORDS


@st.composite
def decisions(draw) -> dict[str, np.ndarray]:
    """Events of one agent, one after the other."""
    count = draw(st.integers(1, 9))
    sent = [draw(WORDS) for _ in range(count)]
    return {
        "request_sent_ns": np.array(sent, dtype=np.int64),
        "response_ns": np.array([(s + draw(RTTS)) % 2**32 for s in sent], dtype=np.int64),
        "cnp_count": np.array([draw(st.integers(0, 3) | WORDS) for _ in sent], dtype=np.int64),
        "nack_count": np.array([draw(st.integers(0, 5)) for _ in sent], dtype=np.int64),
        "sent_bytes": np.array([draw(WORDS) for _ in sent], dtype=np.int64),
        "queue_bytes": np.zeros(count, dtype=np.int64),
    }


def recorded(event: dict[str, np.ndarray]) -> Trajectories:
    count = len(event["cnp_count"])
    columns = {name: np.zeros(count, dtype=np.int64) for name in record_columns(observation(CARRYING["streak"]).agents)}
    columns |= event | {"step": np.arange(count), "t_ps": np.arange(count), "rate_q30": np.full(count, 2**29)}
    return Trajectories.of(columns)


def level(feature: dict[str, Any], event: dict[str, np.ndarray]) -> list[int]:
    """The signal in whole steps of the feature's integer."""
    name = feature["signal"]
    rtt = (event["response_ns"] - event["request_sent_ns"]) % 2**32
    raw = rtt if name == "rtt_ns" else event[name]
    unit, bits = feature.get("unit", 1), feature.get("fraction_bits", 0)
    return [min((int(x) << bits) // unit, 2**24 - 1) for x in raw]


def reference(feature: dict[str, Any], event: dict[str, np.ndarray]) -> list[int]:
    """What each decision sees, by plain Python."""
    seen: list[int] = []
    kind, xs = feature["kind"], level(feature, event)
    if kind in ("streak", "decaying_count"):
        xs = event[feature["signal"]].tolist()
    kept, before = None, None
    for place, x in enumerate(xs):
        match kind:
            case "average":
                k = feature["shift"]
                kept = (x << k) if kept is None else kept
                kept = kept - (kept >> k) + x
                seen.append(kept >> k)
            case "minimum" | "above_minimum" | "over_minimum":
                x = max(x, 1) if kind == "over_minimum" else x
                kept = x if kept is None else min(x, kept + feature.get("rise", 0))
                seen.append({"minimum": kept, "above_minimum": x - kept}.get(kind, (x - kept) * 256 // max(x, 1)))
            case "maximum":
                kept = max(x, max((kept or 0) - feature.get("fall", 0), 0))
                seen.append(kept)
            case "streak":
                kept = min((kept or 0) + 1, feature.get("most", 255)) if x > feature.get("above", 0) else 0
                seen.append(kept)
            case "decaying_count":
                k, most = feature["shift"], feature["most"]
                kept = min((kept or 0) - ((kept or 0) >> k) + (min(x, most) << k), most << k)
                seen.append(kept >> k)
            case "interval":
                now = max(int(event["response_ns"][place]), 1)
                seen.append(0 if before is None else min((now - before) % 2**32, 2**24 - 1))
                before = now
    return seen


NEAR = 1e-6


def assert_near(feature, floats, integers) -> None:
    """The float lies at the integer, up to the floors that both meanings do not share."""
    step = 2.0 ** -feature.get("fraction_bits", 0)
    low, high = integers * step, (integers + 1) * step
    if feature["kind"] == "average":
        low, high = low - step, high + step
    elif feature["kind"] == "decaying_count":
        low = low - 1
    elif feature.get("unit", 1) > 1 and feature["kind"] in ("minimum", "maximum"):
        high = high + step  # of a large signal the product by the unit's inverse is one more
        low = low - step
    inside = integers < 2**24 - 1  # beyond, the integer saturates and the float does not
    assert (floats[inside] >= low[inside] - NEAR).all(), (floats, integers)
    assert (floats[inside] <= high[inside] + NEAR).all(), (floats, integers)


@pytest.mark.parametrize("case", CARRYING)
@given(event=decisions())
@settings(max_examples=examples(40), deadline=None)
def test_integers_are_the_reference_decision_by_decision(case, event):
    feature = CARRYING[case]
    rows, known = recorded(event).integer_rows(observation(feature), PARAMS)
    assert known.all()
    expected = np.array(reference(feature, event))
    off = np.abs(rows[:, 0] - expected)
    # A unit that is no power of two is a product by its inverse: of a large signal perhaps one more.
    assert (off <= (feature.get("unit", 1) & (feature.get("unit", 1) - 1) > 0)).all()


@pytest.mark.parametrize("case", CARRYING)
@given(event=decisions())
@settings(max_examples=examples(40), deadline=None)
def test_floats_lie_at_their_integers(case, event):
    feature, seen = CARRYING[case], observation(CARRYING[case])
    rows, _ = recorded(event).integer_rows(seen, PARAMS)
    floats, known = recorded(event).float_rows(seen)
    assert known.all()
    saturated = max(level(feature, event)) >= 2**24 - 1
    if case == "over minimum":
        share = 1 - 1 / floats[:, 0]
        if not saturated:
            assert (np.abs(share - rows[:, 0] / 256) <= 1 / 256 + NEAR).all()
    elif case == "decaying count" or not saturated:
        assert_near(feature, floats[:, 0], rows[:, 0])


@pytest.mark.parametrize("case", CARRYING)
@given(event=decisions(), words=st.lists(WORDS, min_size=4, max_size=4))
@settings(max_examples=examples(40), deadline=None)
def test_no_corrupted_context_leads_out_of_a_range(case, event, words):
    observer = build_observer(observation(CARRYING[case]))
    count = len(event["cnp_count"])
    context = {}
    for field, word in zip(observer.program.state, words, strict=False):
        _, high = STORAGE_RANGE[field.storage]
        context[field.name] = np.full(count, word % (high + 1))
    values = trace(observer.program, event, PARAMS, context)
    for number, node in enumerate(observer.program.nodes):
        assert node.low <= values[number].min()
        assert values[number].max() <= node.high
    evaluate(observer.program, event, PARAMS, context)


def test_an_average_of_a_constant_is_that_constant():
    event = {name: np.zeros(50, dtype=np.int64) for name in observation(CARRYING["streak"]).agents.event_names}
    event["response_ns"] = np.full(50, 12_345)
    rows, _ = recorded(event).integer_rows(observation(CARRYING["average"]), PARAMS)
    assert set(rows[:, 0]) == {12_345}


def test_a_decaying_count_is_forgotten():
    """No remainder stays: of one CNP nothing is left in time."""
    event = {name: np.zeros(60, dtype=np.int64) for name in observation(CARRYING["streak"]).agents.event_names}
    event["cnp_count"][0] = 30
    rows, _ = recorded(event).integer_rows(observation(CARRYING["decaying count"]), PARAMS)
    assert (rows[0, 0], rows[-1, 0]) == (30, 0)
    assert (np.diff(rows[:, 0]) <= 0).all()


def test_a_row_whose_beginning_is_not_on_record_is_not_known():
    """An average depends on all decisions before."""
    event = {name: np.zeros(5, dtype=np.int64) for name in observation(CARRYING["streak"]).agents.event_names}
    states = recorded(event)
    states.columns["step"][:] += 3
    for _, known in (
        states.integer_rows(observation(CARRYING["average"]), PARAMS),
        states.float_rows(observation(CARRYING["average"])),
    ):
        assert not known.any()


def test_two_features_share_what_they_carry():
    both = observation(CARRYING["minimum"], CARRYING["above minimum"])
    assert [field.name for field in build_observer(both).program.state] == ["rate_q30", "rtt_ns_least_kept"]


@given(event=decisions())
@settings(max_examples=examples(40), deadline=None)
def test_a_level_is_clipped_in_both_meanings(event):
    clipped = {"kind": "level", "signal": "sent_bytes", "unit": 256, "fraction_bits": 2}
    clipped |= {"at_least": 3.25, "at_most": 1000.5}
    rows, _ = recorded(event).integer_rows(observation(clipped), PARAMS)
    floats, _ = recorded(event).float_rows(observation(clipped))
    expected = np.clip(event["sent_bytes"] / 256, 3.25, 1000.5)
    np.testing.assert_array_equal(floats[:, 0], expected)
    np.testing.assert_array_equal(rows[:, 0], np.floor(expected * 4))


CLIP = {"kind": "level", "signal": "sent_bytes"}
WRONG = {
    "a clip between two integers": (CLIP | {"at_most": 3.5}, "at_most"),
    "a clip of nothing": (CLIP | {"at_most": 3, "at_least": 3}, "at_least"),
    "a clip below 0": (CLIP | {"at_least": -1}, "at_least"),
    "a knob": ({"kind": "average", "signal": "rate_q30", "shift": 2}, "no signal"),
    "a parameter": ({"kind": "minimum", "signal": "rate_min_q30"}, "no signal"),
    "no timestamp": ({"kind": "interval", "signal": "cnp_count"}, "no timestamp"),
    "a wide share": ({"kind": "over_minimum", "signal": "rtt_ns", "share_bits": 9}, "share_bits"),
    "no shift": ({"kind": "average", "signal": "rtt_ns", "shift": 8}, "shift"),
    "no streak": ({"kind": "streak", "signal": "cnp_count", "most": 0}, "most"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_carried_is_refused(case):
    feature, named = WRONG[case]
    from decision.artefact.documents import validate

    with pytest.raises(InputError, match=named):
        validate(Observation, {**PATH, "features": [feature]}, "policy.toml")


@pytest.mark.parametrize(
    ("before", "now", "wanted"), [(0, 0, 0), (0, 5, 4), (2**32 - 3, 0, 4), (2**32 - 3, 1, 4), (7, 7, 0)]
)
def test_a_timestamp_of_0_counts_as_1(before, now, wanted):
    """Two decisions at 0 are not an age apart; next to a 0 the time is 1 off. Both meanings."""
    zeros = np.zeros(2, dtype=np.int64)
    event = dict.fromkeys(("request_sent_ns", "cnp_count", "nack_count", "sent_bytes", "queue_bytes"), zeros)
    states, seen = recorded(event | {"response_ns": np.array([before, now])}), observation(CARRYING["interval"])
    assert states.integer_rows(seen, PARAMS)[0][:, 0].tolist() == [0, wanted]
    assert states.float_rows(seen)[0][:, 0].tolist() == [0, wanted]
