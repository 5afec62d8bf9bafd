"""A flow's slack: its RTT counts so much longer, in the features and in the start, in integers and in floats."""

from typing import Any

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import OPTIONS, RTT_SLACK, flow_interface
from decision.ir.interpret import evaluate
from decision.ir.tape import Reading
from decision.policy.policy import Observation
from decision.policy.start import ClearPath, Start
from decision.policy.student import Student

ROWS = 2000
TREES = (oblivious(((0, 4295), (1, 500)), (900, -700, 3, -4000)), oblivious(((1, 900),), (800, -900)))
OPTION_SETS: list[tuple[str, ...]] = [(), ("start",), ("start", "device_rate", "acks")]


def student(*options: str) -> Student:
    one = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], TREES, window=2, acks="acks" in options)
    change: dict[str, Any] = {"interface": flow_interface(options).name, "device_rate": "device_rate" in options}
    observation = one.observation.model_copy(update=change | {"rtt_slack": RTT_SLACK.removesuffix("_ns") in options})
    start = Start(clear_path=ClearPath()) if "start" in options else None
    return one.with_parts(observation=observation, start=start)


def drawn(one: Student, seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    event = {name: rng.integers(0, 3, ROWS) for name in one.observation.agents.event_names}
    event["request_sent_ns"] = rng.integers(0, 2**32, ROWS)
    rtt = np.exp(rng.uniform(9, 12.5, ROWS)).astype(np.int64)
    event["response_ns"] = event["request_sent_ns"] + rtt & (2**32 - 1)
    context = {s.name: np.zeros(ROWS, np.int64) for s in one.program().state}
    context["rate_q30"] = rng.integers(2**20, 2**30, ROWS) | rng.integers(0, 4, ROWS) << 30
    return event, context


def decided(one: Student, event: dict[str, np.ndarray], context: dict[str, np.ndarray], slack: int | None) -> Any:
    params = one.params() | ({} if slack is None else {RTT_SLACK: slack})
    knobs, after = evaluate(one.program(), event, params, context)
    return knobs[0].tolist(), {name: values.tolist() for name, values in after.items()}


@pytest.mark.parametrize("options", OPTION_SETS)
def test_a_slack_is_a_request_that_left_so_much_sooner(options: tuple[str, ...]) -> None:
    plain, slack = student(*options), student(*options, "rtt_slack")
    event, context = drawn(plain, 1)
    sooner = event | {"request_sent_ns": event["request_sent_ns"] - 3_000 & (2**32 - 1)}
    assert decided(slack, event, context, 3_000) == decided(plain, sooner, context, None)
    assert decided(slack, event, context, 3_000) != decided(slack, event, context, 0)
    assert decided(slack, event, context, 0) == decided(plain, event, context, None)


def test_a_teacher_sees_the_slack_too() -> None:
    one = student("rtt_slack").observation
    event, context = drawn(student("rtt_slack"), 2)
    floats = {name: values.astype(np.float64) for name, values in event.items()}
    later = floats | {"response_ns": floats["response_ns"] + 3_000}
    rate = (context["rate_q30"] % 2**30).astype(np.float64)
    feature = one.features[0]
    got = feature.float_value(Reading(floats, one.known | {RTT_SLACK: 3_000.0}, rate), one.place)
    np.testing.assert_array_equal(got, feature.float_value(Reading(later, one.known, rate), one.place))
    assert (got != feature.float_value(Reading(floats, one.known, rate), one.place)).any()


def test_the_interface_of_a_start_is_a_prefix_of_those_with_more_options() -> None:
    """The start alone is evaluated with the parameters of the whole policy, by their places."""
    start = flow_interface(("start", "rtt_slack")).param_names
    for more in OPTIONS:
        assert flow_interface(("start", "rtt_slack", more)).param_names[: len(start)] == start


def test_it_is_off_unless_it_is_asked_for() -> None:
    plain = student().observation
    assert "rtt_slack" not in plain.model_dump(mode="json")
    assert RTT_SLACK not in plain.agents.param_names
    assert student("rtt_slack").params()[RTT_SLACK] == 0


@pytest.mark.parametrize("value", [1, "yes", None])
def test_anything_but_true_or_false_is_refused(value: object) -> None:
    data = student("rtt_slack").observation.model_dump(mode="json") | {"rtt_slack": value}
    with pytest.raises(ValidationError, match="rtt_slack"):
        Observation.model_validate(data)
