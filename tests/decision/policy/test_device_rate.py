"""The NIC's own rate in force: what was asked for changes nothing, and every step goes on from less."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE, LINE_RATE_Q30, flow_interface
from decision.ir.interpret import evaluate
from decision.policy.policy import Observation
from decision.policy.start import Start
from decision.policy.student import Student, load_student

ROWS = 4000
TREES = tuple(
    oblivious(((column, threshold), (0, 40_000)), (900, -700, 3, -4000)) for column, threshold in ((0, 9000), (1, 500))
)


def student(*options: str) -> Student:
    one = make_student([FEATURES["rl_cc_congestion"], FEATURES["rate"]], ACTIONS[0], TREES, window=1)
    change = {"interface": flow_interface(options).name, "device_rate": "device_rate" in options}
    parts = {"observation": one.observation.model_copy(update=change)}
    if "start" in options:
        parts["start"] = Start()
    return one.with_parts(**parts)


def drawn(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Events and words of contexts, of every phase."""
    rng = np.random.default_rng(seed)
    event = {name: rng.integers(0, 2**32, ROWS) for name in FLOW_RATE.event_names}
    event["response_ns"] = event["request_sent_ns"] + np.exp(rng.uniform(8, 14, ROWS)).astype(np.int64) & (2**32 - 1)
    event["nack_count"] = rng.integers(0, 2, ROWS)
    rate = np.exp(rng.uniform(np.log(2**10), np.log(2**30), ROWS)).astype(np.int64)
    rate[::40] = LINE_RATE_Q30
    return event, rate


def words(rate: np.ndarray, started: bool) -> np.ndarray:
    phases = np.arange(ROWS) % 4 if started else np.zeros(ROWS, np.int64)
    word = rate | phases << 30
    word[::17] = 0  # a new flow
    return word


def decided(one: Student, event: dict[str, np.ndarray], word: np.ndarray) -> list[np.ndarray]:
    knobs, after = evaluate(one.program(), event, one.params(), {"rate_q30": word})
    return [knobs[0], after["rate_q30"]]


@pytest.mark.parametrize("options", [(), ("start",)])
@pytest.mark.parametrize("told", ["what was asked for", "nothing", "more"])
def test_a_device_that_does_as_it_is_told_changes_nothing(options, told):
    event, rate = drawn(1)
    word = words(rate, bool(options))
    knob = {"what was asked for": (rate >> 10) + 1, "nothing": rate * 0, "more": (rate >> 9) + 9}[told]
    knob = np.where((word == 0) & (knob > 0), 1 << 20, knob)
    want = decided(student(*options), event, word)
    got = decided(student(*options, "device_rate"), event | {"device_rate_q20": knob}, word)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("options", [(), ("start",)])
def test_a_cut_rate_is_where_the_decision_goes_on_from(options):
    """As if the context had held it, but for the bit by which a phase knows the first response after its brake."""
    event, rate = drawn(2)
    cut = np.maximum(rate >> 13, 1)
    started = bool(options)
    word = words(rate, started)
    got = decided(student(*options, "device_rate"), event | {"device_rate_q20": cut}, word)
    plain = student(*options)
    if not started:
        held = np.where(word == 0, np.minimum(plain.params()["rate_initial_q30"], cut << 10), cut << 10)
        want = decided(plain, event, held)
        for a, b in zip(got, want, strict=True):
            np.testing.assert_array_equal(a, b)
        return
    kept = word != 0
    held = (word >> 30 << 30) | (cut << 10) | (rate & 1)
    want = decided(plain, event, held)
    for a, b in zip(got, want, strict=True):
        assert (np.abs(a - b)[kept] <= 4).all()  # the odd bit, times a factor of the start
    np.testing.assert_array_equal(got[1][kept] >> 30, want[1][kept] >> 30)


def test_it_is_off_unless_it_is_asked_for():
    plain = student().observation
    assert plain.interface == "flow_rate"
    assert "device_rate" not in plain.model_dump(mode="json")
    assert "device_rate_q20" not in plain.agents.event_names
    assert student("device_rate").observation.agents.event_names[-1] == "device_rate_q20"


def test_it_comes_back_from_its_file(tmp_path):
    one = student("start", "device_rate")
    one.save(tmp_path)
    assert load_student(tmp_path / "student.json").program() == one.program()


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_it_is_true_or_false(value):
    data = student("device_rate").observation.model_dump(mode="json") | {"device_rate": value}
    with pytest.raises(ValidationError, match="device_rate"):
        Observation.model_validate(data)
