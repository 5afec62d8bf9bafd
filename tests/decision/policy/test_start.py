"""The start of a flow: every phase at every threshold, against the table in the documentation written down again."""

import pathlib
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from reproducible import examples

from decision.ir.interfaces.flow_rate import (
    INFLATIONS,
    LINE_RATE_Q30,
    MIN_BASE_RTT_NS,
    Phase,
    base_rtt_recip_q42,
    flow_interface,
)
from decision.ir.interpret import trace
from decision.policy.features import Path, Place
from decision.policy.policy import Policy, load_policy
from decision.policy.start import CUTS, Brake, Growth, Start, start_program

FLOW_START = flow_interface(("start",))

PLACE = Place(FLOW_START, Path(8192, 1e11, 4_000_000))
START = Start()
PARAMS = {
    "base_rtt_recip_q42": base_rtt_recip_q42(8192),
    "rate_min_q30": 1074,
    "rate_max_q30": LINE_RATE_Q30,
    "rate_initial_q30": 1 << 28,
    **START.params(8192),
}
HERE = pathlib.Path(__file__).parent
BASE_RTT = 8192
BRAKE = 1 << 21
CUT = BRAKE + 1


@dataclass(frozen=True)
class Stepped:
    """Who made it, the rate where the phase did, and the phase after it."""

    made: int
    rate: int | None
    phase: int


def stepped(word: int, rtt_ns: int, nacks: int, params: dict[str, int], start: Start = START) -> Stepped:
    program, nodes = start_program(start, PLACE)
    event = dict.fromkeys(FLOW_START.event_names, 0) | {"response_ns": rtt_ns, "nack_count": nacks}
    values = trace(program, event, params, {"rate_q30": word})
    made = int(values[nodes.made][0])
    after = int(values[program.state[0].node][0])
    return Stepped(made, after & LINE_RATE_Q30 if made else None, after >> 30)


def expected(word: int, rtt_ns: int, nacks: int, p: dict[str, int], start: Start = START) -> Stepped:
    """The table, row by row; for limits that an operator may set."""
    phase, rate = divmod(word, 2**30)
    if word == 0:
        phase, rate = Phase.STARTING, min(p["rate_initial_q30"], LINE_RATE_Q30)
    inflation = rtt_ns * p["base_rtt_recip_q42"] >> 32

    def made(wanted: int, after: Phase, bit: int = 0) -> Stepped:
        rate = min(max(wanted, p["rate_min_q30"]), p["rate_max_q30"]) // 2 * 2 + bit
        return Stepped(1, min(rate, LINE_RATE_Q30), after)

    if phase in (Phase.STARTING, Phase.ARMED) and (nacks > 0 or inflation > p["brake_above_q10"]):
        return made(min(rate, p["brake_rate_q30"]), Phase.RECOVERING, 1)
    if start.loss is not None and nacks > 0 and phase == Phase.SETTLED:
        return made(rate - (rate >> start.loss.shift), Phase.SETTLED)
    if phase == Phase.STARTING:
        if inflation < p["slow_start_until_q10"]:
            grown = rate * start.slow_start.factor
            return made(grown, Phase.STARTING if grown < p["rate_max_q30"] else Phase.ARMED)
        return made(rate, Phase.ARMED)
    if phase == Phase.RECOVERING:
        if inflation < p["recover_until_q10"]:
            grown = rate * start.recovery.factor
            return made(grown, Phase.RECOVERING if grown < p["rate_max_q30"] else Phase.SETTLED)
        return made(rate, Phase.RECOVERING if rate % 2 else Phase.SETTLED)
    if start.clear_path is not None and nacks == 0 and inflation < start.clear_path.below:
        return made(rate * start.clear_path.factor, phase)
    return Stepped(0, None, phase)


def word(phase: Phase, rate: int) -> int:
    return phase << 30 | rate


S, A, R, D = Phase.STARTING, Phase.ARMED, Phase.RECOVERING, Phase.SETTLED


@pytest.mark.parametrize(
    ("before", "rtts", "nacks", "after"),
    [
        (0, 1.0, 0, Stepped(1, 1 << 29, S)),
        (0, 4.0, 0, Stepped(1, 1 << 28, A)),
        (0, 1.0, 1, Stepped(1, CUT, R)),
        (word(S, 1 << 28), 3.99, 0, Stepped(1, 1 << 29, S)),
        (word(S, 1 << 28), 4.0, 0, Stepped(1, 1 << 28, A)),
        (word(S, 3 << 28), 1.0, 0, Stepped(1, LINE_RATE_Q30 - 1, A)),
        (word(S, 1 << 28), 8.0, 0, Stepped(1, 1 << 28, A)),
        (word(S, 1 << 28), 8.01, 0, Stepped(1, CUT, R)),
        (word(S, 1 << 28), 1.0, 1, Stepped(1, CUT, R)),
        (word(A, 1 << 28), 1.0, 0, Stepped(0, None, A)),
        (word(A, 1 << 28), 8.0, 0, Stepped(0, None, A)),
        (word(A, 1 << 28), 8.01, 0, Stepped(1, CUT, R)),
        (word(A, 1 << 28), 1.0, 1, Stepped(1, CUT, R)),
        (word(A, BRAKE - 6), 1.0, 1, Stepped(1, BRAKE - 5, R)),
        (word(R, CUT), 1.49, 0, Stepped(1, 2 * CUT, R)),
        (word(R, CUT), 1.5, 0, Stepped(1, BRAKE, R)),
        (word(R, CUT), 400.0, 9, Stepped(1, BRAKE, R)),
        (word(R, BRAKE), 1.49, 0, Stepped(1, 2 * BRAKE, R)),
        (word(R, BRAKE), 1.5, 0, Stepped(1, BRAKE, D)),
        (word(R, BRAKE), 400.0, 9, Stepped(1, BRAKE, D)),
        (word(R, 1 << 29), 1.0, 0, Stepped(1, LINE_RATE_Q30 - 1, D)),
        (word(D, 1 << 28), 1.0, 0, Stepped(0, None, D)),
        (word(D, 1 << 28), 400.0, 9, Stepped(0, None, D)),
    ],
)
def test_a_phase_goes_where_the_table_says(before, rtts, nacks, after):
    rtt_ns = round(rtts * BASE_RTT)
    assert stepped(before, rtt_ns, nacks, PARAMS) == after
    assert expected(before, rtt_ns, nacks, PARAMS) == after


CLEAR = Start.model_validate({"clear_path": {"below": 1.25, "factor": 4}})


@pytest.mark.parametrize(
    ("before", "rtts", "nacks", "after"),
    [
        (word(D, 1 << 20), 1.24, 0, Stepped(1, 1 << 22, D)),
        (word(D, (1 << 20) + 1), 1.24, 0, Stepped(1, (1 << 22) + 4, D)),
        (word(D, 1 << 29), 1.0, 0, Stepped(1, LINE_RATE_Q30 - 1, D)),
        (word(D, 1 << 20), 1.25, 0, Stepped(0, None, D)),
        (word(D, 1 << 20), 1.0, 1, Stepped(0, None, D)),
        (word(A, 1 << 20), 1.24, 0, Stepped(1, 1 << 22, A)),
        (word(A, 1 << 28), 1.0, 1, Stepped(1, CUT, R)),
        (word(R, 1 << 20), 1.0, 0, Stepped(1, 1 << 21, R)),
        (word(S, 1 << 20), 1.0, 0, Stepped(1, 1 << 21, S)),
        (0, 1.0, 0, Stepped(1, 1 << 29, S)),
    ],
)
def test_a_clear_path_grows_the_rate(before, rtts, nacks, after):
    rtt_ns = round(rtts * BASE_RTT)
    assert stepped(before, rtt_ns, nacks, PARAMS, CLEAR) == after
    assert expected(before, rtt_ns, nacks, PARAMS, CLEAR) == after


LOSS = Start.model_validate({"loss": {"cut": 0.0625}})


@pytest.mark.parametrize(
    ("before", "rtts", "nacks", "after"),
    [
        (word(D, 1 << 20), 1.0, 1, Stepped(1, 15 << 16, D)),
        (word(D, (1 << 20) + 1), 400.0, 9, Stepped(1, 15 << 16, D)),
        (word(D, 1 << 20), 1.0, 0, Stepped(0, None, D)),
        (word(R, 1 << 20), 1.0, 1, Stepped(1, 1 << 21, R)),
        (word(R, 1 << 20), 400.0, 1, Stepped(1, 1 << 20, D)),
        (word(R, 1 << 20), 1.0, 0, Stepped(1, 1 << 21, R)),
        (word(R, CUT), 1.0, 9, Stepped(1, 2 * CUT, R)),
        (word(R, CUT), 400.0, 9, Stepped(1, BRAKE, R)),
        (word(A, 1 << 28), 1.0, 1, Stepped(1, CUT, R)),
        (word(S, 1 << 28), 1.0, 1, Stepped(1, CUT, R)),
        (word(D, 1074), 1.0, 1, Stepped(1, 1074, D)),
        (0, 1.0, 1, Stepped(1, CUT, R)),
    ],
)
def test_a_loss_cuts_the_rate_of_a_settled_flow(before, rtts, nacks, after):
    rtt_ns = round(rtts * BASE_RTT)
    assert stepped(before, rtt_ns, nacks, PARAMS, LOSS) == after
    assert expected(before, rtt_ns, nacks, PARAMS, LOSS) == after


NEAR = st.sampled_from((-1, 0, 1))
U32 = st.integers(0, 2**32 - 1)
RATES = st.integers(1, LINE_RATE_Q30)
INFLATIONS_Q10 = st.integers(0, 2**24)


@settings(max_examples=examples(400), deadline=None)
@given(data=st.data())
def test_every_context_is_one_of_the_four_phases_whatever_an_operator_sets(data):
    ranges = {name: RATES if name.endswith("q30") else INFLATIONS_Q10 for name in PARAMS}
    ranges["base_rtt_recip_q42"] = st.integers(2**20, 2**32 - 1)
    params = {name: data.draw(st.one_of(st.just(value), ranges[name])) for name, value in PARAMS.items()}
    if data.draw(st.booleans()):
        params["rate_max_q30"] = 2**30  # line rate, as one may have it
    rates = [params[name] for name in ("rate_min_q30", "rate_max_q30", "brake_rate_q30", "rate_initial_q30")]
    rate = min(max(data.draw(st.sampled_from([*rates, 0])) + data.draw(NEAR), 0), LINE_RATE_Q30)
    before = data.draw(st.one_of(U32, st.sampled_from([word(phase, rate) for phase in Phase])))
    names = ("slow_start_until_q10", "brake_above_q10", "recover_until_q10")
    at = [min((params[name] << 32) // params["base_rtt_recip_q42"], 2**32 - 2) + data.draw(NEAR) for name in names]
    rtt_ns = data.draw(st.one_of(U32, st.sampled_from([max(one, 0) for one in at])))
    other = [{}, {"recovery": {"factor": 4, "until": 2}}, {"clear_path": {}}, {"clear_path": {"below": 6, "factor": 4}}]
    other += [{"loss": {"cut": cut}} for cut in CUTS] + [{"loss": {}, "clear_path": {"below": 6, "factor": 4}}]
    start = Start.model_validate(data.draw(st.sampled_from(other)))
    nacks = data.draw(st.sampled_from([0, 0, 1, 2**32 - 1]))
    assert stepped(before, rtt_ns, nacks, params, start) == expected(before, rtt_ns, nacks, params, start)


def test_a_flow_brakes_once_at_most():
    rng = np.random.default_rng(0)
    program, _ = start_program(START, PLACE)
    flows = 500
    words = np.zeros(flows, dtype=np.int64)
    brakes = np.zeros(flows, dtype=np.int64)
    for _ in range(40):
        event = {name: np.zeros(flows, dtype=np.int64) for name in FLOW_START.event_names}
        event["response_ns"] = (BASE_RTT * np.exp(rng.uniform(0, 3, flows))).astype(np.int64)
        event["nack_count"] = (rng.random(flows) < 0.05).astype(np.int64)
        after = trace(program, event, PARAMS, {"rate_q30": words})[program.state[0].node]
        phase = np.where(words == 0, S, words >> 30)
        brakes += np.isin(phase, (S, A)) & (after >> 30 == R)
        assert not (np.isin(phase, (R, D)) & np.isin(after >> 30, (S, A))).any()
        words = after
    assert brakes.max() == 1
    assert set((words >> 30).tolist()) == {D}


def test_the_table_reads_and_is_written_as_it_was(tmp_path):
    example = (HERE / "policy.toml").read_text()
    text = example.replace("[provenance]", '[start]\nbrake = { to = "1 %" }\n[provenance]')
    (tmp_path / "policy.toml").write_text(text)
    policy = load_policy(tmp_path / "policy.toml").policy
    assert policy.observation.agents == FLOW_START
    assert tuple(policy.params()) == FLOW_START.param_names
    assert policy.params()["brake_rate_q30"] == round(0.01 * 2**30)
    assert policy.params()["slow_start_until_q10"] == 4096
    dumped = policy.model_dump(mode="json")
    assert "interface" not in dumped["observation"]
    assert Policy.model_validate(dumped) == policy


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ({"slow_start": {"factor": 3, "until": 4}}, "shifts by; 3"),
        ({"slow_start": {"factor": True, "until": 4}}, "firmware shifts by"),
        ({"slow_start": {"until": "4"}}, "number .*RTTs"),
        ({"recovery": {"until": -0.5}}, "not within 0 and 16384"),
        ({"brake": {"above": 20000}}, "not within 0 and 16384"),
        ({"brake": {"above": float("inf")}}, "not within 0 and 16384"),
        ({"brake": {"above": float("nan")}}, "not within 0 and 16384"),
        ({"brake": {"to": "2 line"}}, "within 0 .*line rate"),
        ({"brake": {"to": 0.1}}, "no unit"),
        ({"break": {}}, "Extra inputs"),
        ({"clear_path": {"below": "1.1"}}, "number .*RTTs"),
        ({"clear_path": {"below": 17000}}, "not within 0 and 16384"),
        ({"clear_path": {"factor": 3}}, "shifts by; 3"),
        ({"clear_path": {"decisions": 3}}, "Extra inputs"),
        ({"loss": {"cut": 0.3}}, "shifts by; 0.3"),
        ({"loss": {"cut": True}}, "shifts by"),
        ({"loss": {"cut": "0.5"}}, "shifts by"),
    ],
)
def test_a_start_that_is_none_is_refused(table, wrong):
    with pytest.raises(ValidationError, match=wrong):
        Start.model_validate(table)


def test_who_has_no_rate_has_no_start(tmp_path):
    example = load_policy(HERE / "policy.toml").policy.model_dump(mode="json")
    marking = {
        "interface": "queue_marking",
        "window": 1,
        "params": {"capacity_bytes": 9},
        "features": [{"kind": "level", "signal": "queue_bytes"}],
    }
    with pytest.raises(ValidationError, match=r"queue_marking .*none"):
        Policy.model_validate(example | {"observation": marking, "start": {}})
    observation = example["observation"] | {"interface": "flow_start"}
    with pytest.raises(ValidationError, match=r"flow_rate, .*flow_start"):
        Policy.model_validate(example | {"observation": observation})


DELAYS = Start(slow_start=Growth(until="16 us"), brake=Brake(above="16 us", to="6.25 %"), recovery=Growth(until=1.5))


def test_a_threshold_is_a_number_of_base_rtts_or_a_queueing_delay():
    written = DELAYS.model_dump(mode="json")
    assert Start.model_validate(written) == DELAYS
    assert (written["brake"]["above"], written["recovery"]["until"]) == ("16000 ns", 1.5)
    assert DELAYS.params(8000) == {
        "slow_start_until_q10": 3 * 1024,
        "brake_above_q10": 3 * 1024,
        "brake_rate_q30": 2**26,
        "recover_until_q10": 1536,
    }


def test_delays_alone_follow_the_base_rtt():
    assert START.delays(8000) == START.delays(100_000) == {}
    q10 = 1024 + round(16 * 1024 / 100)
    assert DELAYS.delays(100_000) == {"slow_start_until_q10": q10, "brake_above_q10": q10}
    huge = Start(brake=Brake(above="4 s"))
    assert huge.params(MIN_BASE_RTT_NS)["brake_above_q10"] == INFLATIONS[1], "what the firmware takes"


@pytest.mark.parametrize("text", ["16", "16 parsecs", "", "1.5 RTT"])
def test_a_delay_needs_a_unit_of_time(text):
    with pytest.raises(ValueError, match="base RTTs"):
        Brake(above=text)
