"""The operator's target: 1 is as trained, the rest scales what a policy sees by one product, in integers and floats."""

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import CONGESTION_GAIN, FLOW_RATE, GAINS, flow_interface
from decision.ir.interpret import evaluate, trace
from decision.ir.program import Program
from decision.ir.tape import Reading
from decision.policy.policy import Observation
from decision.policy.student import Student, load_student
from decision.policy.target import congestion_gain_q28
from decision.policy.tree_decision import build_observer

ROWS = 4000
KINDS = ("rl_cc_congestion", "pcc_rl_congestion")
TREES = tuple(
    oblivious(((column, threshold), (0, 40_000)), (900, -700, 3, -4000)) for column, threshold in ((0, 4295), (1, 500))
)


def student(kind: str, ratio: float | None) -> Student:
    one = make_student([FEATURES[kind]], ACTIONS[0], TREES, window=2)
    options = () if ratio is None else ("target_ratio",)
    change = {"interface": flow_interface(options).name, "target_ratio": ratio}
    return one.with_parts(observation=one.observation.model_copy(update=change))


def drawn(seed: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    event = {name: rng.integers(0, 2**32, ROWS) for name in FLOW_RATE.event_names}
    event["response_ns"] = event["request_sent_ns"] + np.exp(rng.uniform(8, 22, ROWS)).astype(np.int64) & (2**32 - 1)
    rate = np.exp(rng.uniform(np.log(2**10), np.log(2**30), ROWS)).astype(np.int64)
    return event, {"rate_q30": rate}


def seen(one: Student, seed: int) -> tuple[np.ndarray, Program]:
    event, context = drawn(seed)
    observer = build_observer(one.observation)
    return trace(observer.program, event, one.params(), context)[observer.nodes[0]], observer.program


@pytest.mark.parametrize("kind", KINDS)
def test_the_trained_target_changes_no_decision(kind: str) -> None:
    event, context = drawn(1)
    plain, tuned = student(kind, None), student(kind, 1.0)
    past = next(s.name for s in plain.program().state if s.name.startswith("congestion"))
    context[past] = np.random.default_rng(2).integers(0, 9000, ROWS)
    want, got = (evaluate(one.program(), event, one.params(), context) for one in (plain, tuned))
    np.testing.assert_array_equal(got[0][0], want[0][0])
    np.testing.assert_array_equal(got[1]["rate_q30"], want[1]["rate_q30"])
    held = min(want[1][past].max(), 2**28 - 1)  # of more, no threshold knows
    np.testing.assert_array_equal(got[1][past], np.minimum(want[1][past], held))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.7, 1.0, 3.3, 10.0, 16.0])
def test_it_is_one_product_floored(kind: str, ratio: float) -> None:
    gain = congestion_gain_q28(ratio)
    bits = student(kind, None).observation.features[0].fraction_bits
    event, context = drawn(3)
    recip, rate = student(kind, None).params()["base_rtt_recip_q42"], context["rate_q30"]
    inflation = ((event["response_ns"] - event["request_sent_ns"]) % 2**32) * recip >> 32
    excess = np.minimum(np.maximum(inflation - (1536 if kind == "rl_cc_congestion" else 0), 0), 2**16 - 1)
    raw = [int(x) ** 2 * int(r) >> 30 for x, r in zip(excess, rate, strict=True)]
    most = 2**28 - 1 if bits == 20 else 2**32
    want = [min(k, most) * gain >> 28 + 20 - bits for k in raw]
    got, _ = seen(student(kind, ratio), 3)
    np.testing.assert_array_equal(got, want)
    assert len(np.unique(got)) > 1000


@pytest.mark.parametrize("kind", KINDS)
def test_no_gain_overflows(kind: str) -> None:
    """Whatever 32 bits hold of it, and of everything else."""
    observer = build_observer(student(kind, 1.0).observation)
    assert 0 <= observer.program.nodes[observer.nodes[0]].high < 2**32


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ratio", [0.25, 0.5, 2.0, 16.0])
def test_a_teacher_sees_what_one_of_the_other_target_would(kind: str, ratio: float) -> None:
    """By ratios that floats hold: to the bit."""
    turned, plain = student(kind, ratio).observation, student(kind, None).observation
    trained = plain.features[0]
    other = trained.model_copy(update={"target": trained.target * ratio, "scale": trained.factor / ratio})
    event, context = drawn(4)
    floats = {name: values.astype(np.float64) for name, values in event.items()}
    rate = context["rate_q30"].astype(np.float64)
    got = turned.features[0].float_value(Reading(floats, turned.known, rate), turned.place)
    want = other.float_value(Reading(floats, plain.known, rate), plain.place)
    np.testing.assert_array_equal(got, want)
    integers, _ = seen(student(kind, ratio), 4)
    clear = (np.abs(got) < 5 * abs(trained.factor) * trained.target) & (integers > 1000)
    assert clear.sum() > 200
    near = trained.float_of(integers.astype(np.float64))
    assert np.abs(near - got)[clear].max() < 0.05 * abs(trained.factor) * trained.target


def test_past_decisions_stay_as_they_were_shown() -> None:
    """What the operator turns between two decisions holds from the next on: the context is taken as it is."""
    event, context = drawn(5)
    before, after = student("rl_cc_congestion", 1.0), student("rl_cc_congestion", 4.0)
    _, left = evaluate(before.program(), event, before.params(), context | {"congestion_q20_1": np.zeros(ROWS, int)})
    kept = left["congestion_q20_1"]
    program = after.program()
    name = next(i for i, n in enumerate(program.nodes) if program.key(n) == "context.congestion_q20_1")
    shown = trace(program, event, after.params(), left)[name]
    np.testing.assert_array_equal(shown, kept)


def test_it_is_off_unless_it_is_asked_for() -> None:
    plain = student("rl_cc_congestion", None).observation
    assert "target_ratio" not in plain.model_dump(mode="json")
    assert CONGESTION_GAIN not in plain.agents.param_names
    assert student("rl_cc_congestion", 1.0).observation.agents.param_names[-1] == CONGESTION_GAIN


def test_it_comes_back_from_its_file(tmp_path) -> None:
    one = student("pcc_rl_congestion", 0.5)
    one.save(tmp_path)
    back = load_student(tmp_path / "student.json")
    assert back.program() == one.program()
    assert back.params() == one.params()


def test_the_ends_are_what_an_operator_may_set() -> None:
    assert [congestion_gain_q28(ratio) for ratio in (16.0, 1.0, 0.25)] == [GAINS[0], 1 << 28, GAINS[1]]


@pytest.mark.parametrize(
    ("value", "said"), [(0.24, "0.25 and 16"), (17, "0.25 and 16"), ("2", "not a number"), (True, "not a number")]
)
def test_out_of_range_is_refused(value: object, said: str) -> None:
    data = student("rl_cc_congestion", 1.0).observation.model_dump(mode="json") | {"target_ratio": value}
    with pytest.raises(ValidationError, match=said):
        Observation.model_validate(data)


def test_a_policy_without_a_target_has_none_to_turn() -> None:
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms", "window": 1}
    with pytest.raises(ValidationError, match="leave it out"):
        Observation.model_validate(path | {"features": [{"kind": "rate"}], "target_ratio": 2})
    level = {"kind": "level", "signal": "queue_bytes"}
    queue = {"interface": "queue_marking", "params": {"capacity_bytes": 9}, "window": 1, "features": [level]}
    with pytest.raises(ValidationError, match="leave it out"):
        Observation.model_validate(queue | {"target_ratio": 2})
