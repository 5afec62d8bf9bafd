"""A policy that scales a rate and sets a window: which events it decides on, and what it makes of them."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student, with_window
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from reproducible import examples

from decision.ir.forest import Branch, Leaf
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.completion import COMPLETION, LOSSES
from decision.ir.interfaces.flow_rate import LINE_RATE_Q30, WINDOWED, flow_interface
from decision.ir.interpret import evaluate, trace
from decision.ir.tape import Reading
from decision.policy.once_per_rtt import DECIDED, late_program
from decision.policy.policy import Header
from decision.policy.probes import Probes
from decision.policy.start import Start
from decision.policy.student import Student

SCALED = flow_interface(WINDOWED[0])
WORDS = st.integers(0, U32_MAX)
PATH_RTT = 8192


def student(high: int = 900) -> Student:
    """Its two trees look at the congestion and at the last action."""
    leaves = [Leaf((value,)) for value in (-9000, 400, high, -300)]
    trees = (
        Branch(0, 5000, Branch(0, 900_000, leaves[0], leaves[1]), leaves[2]),
        Branch(1, 100, leaves[3], leaves[1]),
    )
    features = [FEATURES["rl_cc_congestion"], FEATURES["previous_action"]]
    return with_window(make_student(features, ACTIONS[0], trees, window=2), bdp=1.5)


def late(decided_ns: int, now_ns: int, rtt_ns: int, rate: int = 1000) -> int:
    program, node = late_program(SCALED)
    event = dict.fromkeys(SCALED.event_names, 0) | {"now_ns": now_ns, "rtt_ns": rtt_ns}
    params = dict.fromkeys(SCALED.param_names, 1) | {"path_rtt_ns": PATH_RTT}
    return int(trace(program, event, params, {"rate_q30": rate, DECIDED: decided_ns})[node][0])


@given(WORDS, WORDS, st.one_of(st.just(0), st.integers(1, 1 << 23), WORDS))
@settings(max_examples=examples(300), deadline=None)
def test_a_packet_from_before_the_last_decision_is_late(decided_ns: int, now_ns: int, rtt_ns: int) -> None:
    """A packet that was not timed is as old as one of an empty network; none counts as older than 2^22 ns."""
    sent = now_ns - min(max(rtt_ns, PATH_RTT), 1 << 22)
    assert late(decided_ns, now_ns, rtt_ns) == (1 <= (decided_ns - sent) & U32_MAX <= 1 << 22)


@pytest.mark.parametrize("rtt_ns", [(1 << 22) + 1, 5_000_000, 1 << 30, U32_MAX])
def test_an_rtt_longer_than_any_that_is_told_apart_is_still_decided_on_once(rtt_ns: int) -> None:
    """Else each acknowledgement behind a standing queue would be a decision."""
    assert late(5000, 6000, rtt_ns) == 1
    assert late(5000, 5000 + (1 << 22), rtt_ns) == 0


def test_losses_of_one_round_trip_are_decided_on_once() -> None:
    assert late(5000, 5000 + PATH_RTT - 1, 0) == 1
    assert late(5000, 5000 + PATH_RTT, 0) == 0
    assert late(5000, 5001, 0, rate=0) == 0


@pytest.mark.parametrize("lost", [None, *LOSSES])
def test_an_event_without_an_rtt_or_with_a_loss_counts_as_the_longest(lost: str | None) -> None:
    """In floats and in integers, and nothing else does."""
    observation = student().observation
    assert observation.rtt_max is not None
    longest = int(observation.rtt_max)
    feature = observation.features[0]
    rtts = np.array([0 if lost is None else PATH_RTT, 1, PATH_RTT, 4 * PATH_RTT, longest])
    event = {name: np.zeros(5) for name in SCALED.event_names} | {"rtt_ns": rtts.astype(float)}
    if lost is not None:
        event[lost][0] = 1.0
    told = feature.float_value(Reading(event, observation.known, np.full(5, 2.0**20)), observation.place)
    assert (told == told[0]).tolist() == [True, False, False, False, True]
    program = student().program()
    context = {s.name: np.zeros(5, dtype=np.int64) for s in program.state} | {"rate_q30": np.full(5, 1 << 20)}
    (rate, window), _ = evaluate(
        program, {k: v.astype(np.int64) for k, v in event.items()}, student().params(), context
    )
    assert (rate[0], window[0]) == (rate[4], window[4])


@pytest.mark.parametrize("base_rtt_ns", [PATH_RTT, 25 * PATH_RTT])
def test_a_loss_is_as_many_base_rtts_on_every_path_and_never_fewer_than_were_timed(base_rtt_ns: int) -> None:
    observation = student().observation.model_copy(update={"rtt_max": 8.0 * PATH_RTT})
    times = 8.0 * PATH_RTT / observation.base_rtt
    rtts = np.array([base_rtt_ns, times * base_rtt_ns, 1.5 * times * base_rtt_ns, 1.5 * times * base_rtt_ns])
    event = {name: np.zeros(4) for name in SCALED.event_names} | {"rtt_ns": rtts}
    event["trimmed_bytes"] = np.array([1.0, 0.0, 1.0, 0.0])
    known = dict(observation.known) | {"base_rtt_ns": float(base_rtt_ns)}
    told = observation.features[0].float_value(Reading(event, known, np.full(4, 2.0**20)), observation.place)
    assert told[0] == pytest.approx(told[1])
    assert told[2] == told[3] > 1.1 * told[1]


@given(st.integers(-9000, 9000), st.integers(0, 2**32 - 1))
@settings(max_examples=examples(40), deadline=None)
def test_the_window_follows_from_the_rate_and_never_falls_below_the_least(high: int, draw: int) -> None:
    """Whatever event, parameters and context are."""
    made = student(high)
    program, rng, rows = made.program(), np.random.default_rng(draw), 64
    event = {s.name: rng.integers(0, 1 << rng.integers(1, 33), rows) for s in program.interface.event}
    params = {name: rng.integers(0, 1 << 32, rows) for name in SCALED.param_names}
    context = {
        s.name: rng.integers(-(2**15), 2**15, rows) & (0xFFFF if s.storage == "uint16" else -1) for s in program.state
    }
    context |= {s.name: rng.integers(0, 1 << 32, rows) for s in program.state if s.storage == "uint32"}
    context["rate_q30"] &= LINE_RATE_Q30  # a late answer keeps the whole word, and decides by the bits of the rate
    (_, window), after = evaluate(program, event, params, context)
    share = np.minimum(after["rate_q30"], 2**32 - 1).astype(object) * params["in_flight_line_q2"].astype(object) >> 32
    assert (window == np.maximum(share.astype(np.int64), params["in_flight_min_bytes"])).all()


def test_its_parameters_are_those_of_its_path() -> None:
    params = student().params()
    line_bytes = 1.5 * student().observation.base_rtt * student().observation.line_rate / 8e9
    assert params["in_flight_line_q2"] == pytest.approx(4 * line_bytes, abs=8)
    assert (params["in_flight_min_bytes"], params["path_rtt_ns"]) == (4096, student().observation.base_rtt)
    assert set(params) == set(SCALED.param_names)
    assert LINE_RATE_Q30 * params["in_flight_line_q2"] >> 32 == int(line_bytes)


def header(**parts: object) -> Header:
    made = student()
    fields = {name: getattr(made, name) for name in ("action", "limits")}
    observation = made.observation.model_dump(mode="json") | {"interface": None}
    observation = {key: value for key, value in observation.items() if value is not None}
    table = {"window": True, "least": "4 KiB"}
    return Header.model_validate(
        fields | {"observation": observation, "in_flight": table, "once_per_rtt": True} | parts
    )


def test_the_table_says_which_interface_it_is() -> None:
    assert header().observation.agents == SCALED
    assert header(in_flight={"least": "4 KiB"}).observation.agents == flow_interface(("in_flight",))
    assert "window" not in header(in_flight={}).model_dump(mode="json")["in_flight"]


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"once_per_rtt": False}, "once_per_rtt"),
        ({"probes": Probes(after="8 KiB")}, "probes"),
        ({"start": Start()}, "start"),
        ({"in_flight": {"window": 1}}, "window"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_what_does_not_go_with_a_window_is_refused(parts: dict[str, object], named: str) -> None:
    with pytest.raises(ValidationError, match=named):
        header(**parts)


@pytest.mark.parametrize("key", ["device_rate", "acks", "rtt_slack"])
def test_signals_that_no_completion_has_are_refused(key: str) -> None:
    observation = student().observation.model_dump(mode="json", exclude={"interface"}) | {key: True}
    with pytest.raises(ValidationError, match=key):
        header(observation=observation)


def test_every_kind_of_loss_is_a_signal() -> None:
    assert set(LOSSES) < {signal.name for signal in COMPLETION}
