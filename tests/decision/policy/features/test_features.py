"""Features: the float and the integer meaning order decisions alike, and thresholds read back in physical units."""

import json
import re
from fractions import Fraction
from functools import cache
from math import isclose, sqrt

import numpy as np
import pytest
from drawing import FEATURES
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from reproducible import examples

from decision.ir.formats import ACTION_BITS, FEATURE_LIMIT, U32_MAX
from decision.ir.interfaces.flow_rate import base_rtt_recip_q42
from decision.ir.interpret import trace
from decision.ir.tape import Reading
from decision.policy.features import FEATURE_KINDS, AnyFeature
from decision.policy.policy import Observation
from decision.policy.tree_decision import build_observer

CURRENT = {kind: feature for kind, feature in FEATURES.items() if kind != "previous_action"} | {
    "rl_cc_congestion of the queue": FEATURES["rl_cc_congestion"] | {"signal": "queue"},
    "pcc_rl_congestion, loose": FEATURES["pcc_rl_congestion"] | {"target": 20.0},
    "rl_cc_congestion, no tolerance": FEATURES["rl_cc_congestion"] | {"beta": 0.0},
    "rl_cc_congestion that saturates": FEATURES["rl_cc_congestion"] | {"saturates": True},
}


OBSERVERS = {}


def observation(feature, base_rtt=8192, line_rate=10**11):
    return _observation(json.dumps(feature), base_rtt, line_rate)


@cache
def _observation(feature, base_rtt, line_rate):
    path = {"base_rtt": f"{base_rtt} ns", "line_rate": f"{line_rate} b/s", "rtt_max": "4 ms"}
    return Observation.model_validate({"window": 1, "features": [json.loads(feature)], **path})


def integers(obs, rows):
    """The feature's integer for raw rows, by the program that becomes firmware."""
    program, node = _observer(obs)
    event = {name: np.array([r[name] for r in rows], dtype=np.int64) for name in rows[0] if name != "rate_q30"}
    params = {"base_rtt_recip_q42": base_rtt_recip_q42(obs.base_rtt), "rate_min_q30": 1}
    params |= {"rate_max_q30": 2**30, "rate_initial_q30": 2**30}
    return trace(program, event, params, {"rate_q30": np.array([r["rate_q30"] for r in rows], dtype=np.int64)})[node]


def _observer(obs):
    """The program of an observation, built once: one object stands for all that are equal (``_observation``)."""
    if id(obs) not in OBSERVERS:
        program, (node,), *_ = build_observer(obs)
        OBSERVERS[id(obs)] = obs, program, node
    return OBSERVERS[id(obs)][1:]


def floats(obs, rows):
    c = {name: np.array([r[name] for r in rows], dtype=np.float64) for name in rows[0]}
    read = Reading({name: c[name] for name in obs.agents.event_names}, obs.known, c["rate_q30"], {"action": 0.0})
    return obs.features[0].float_value(read, obs.place)


def log(most):
    """Small and large values alike."""
    bits = most.bit_length()
    return st.integers(0, bits).flatmap(lambda n: st.integers(0, min(most, 2**n)))


raw = st.builds(
    lambda sent, rtt, cnp, nack, size, queue, rate: {
        "request_sent_ns": sent,
        "response_ns": (sent + rtt) % 2**32,
        "cnp_count": cnp,
        "nack_count": nack,
        "sent_bytes": size,
        "queue_bytes": queue,
        "rate_q30": max(rate, 1),
    },
    st.integers(0, U32_MAX),
    st.one_of(log(4_200_000), st.integers(4_000, 100_000)),
    log(5000),
    log(5000),
    log(2**31),
    log(2**27),
    log(2**30),
)
paths = st.tuples(st.sampled_from([1025, 2000, 8192, 13_333, 100_000]), st.sampled_from([10**10, 10**11, 8 * 10**11]))


def quantum(kind, obs, row):
    """How far two float values may lie apart, in the float's units, and still come out in either order: the steps of
    the integer inputs (10 fraction bits of inflation; reciprocals rounded down) and the last bit of the integer."""
    rate = row["rate_q30"] / 2**30
    base, feature = obs.base_rtt, obs.features[0]
    rtt = min((row["response_ns"] - row["request_sent_ns"]) % 2**32, obs.rtt_max)
    queue = min(row["queue_bytes"] * 8e9 / obs.line_rate, obs.rtt_max)
    # Inflation: floor to 2^-10; reciprocal floored: relative base / 2^32; drain time: whole ns, factor with 16 bits.
    factor_error = 0.5 / (8e9 / obs.line_rate * 2**16)
    over_rtt = 2**-10 + rtt / base * base / 2**32
    over_queue = 2**-10 + (1 + queue * factor_error) / base + queue / base * base / 2**32
    if kind == "rtt_inflation":
        return over_rtt
    if kind == "queue_inflation":
        return over_queue
    if kind == "rate":
        return 2**-20
    if kind.endswith("ratio"):
        return 2**-8
    step = over_rtt if feature.signal == "rtt" else over_queue
    step += 2**-11  # tolerance rounded to 2^-10
    distance = abs(float(floats(obs, [row])[0]) / feature.factor - feature.target)  # excess * sqrt(rate)
    # The square's last bit: d(y^2) = 2 y dy, and near 0 the root of one unit.
    unit = 2.0**-feature.fraction_bits
    bit = min(sqrt(unit), unit / max(2 * (distance - sqrt(unit)), 1e-12)) if distance > sqrt(unit) else sqrt(unit)
    return abs(feature.factor) * (step * sqrt(rate) + bit)


@st.composite
def pairs(draw):
    """Two decisions whose features are close: for congestion, a lower rate and an excess that makes up for it."""
    a = draw(raw)
    b = dict(a if draw(st.booleans()) else draw(raw))
    fold = draw(st.integers(0, 12))
    b["rate_q30"] = max(a["rate_q30"] >> fold, 1)
    about = draw(st.floats(0.5, 2)) * 2 ** (fold / 2)
    rtt = (a["response_ns"] - a["request_sent_ns"]) % 2**32
    b["response_ns"] = (b["request_sent_ns"] + int(rtt * about)) % 2**32
    b["queue_bytes"] = min(int(a["queue_bytes"] * about), U32_MAX)
    return a, b


@pytest.mark.parametrize("name", CURRENT)
@settings(max_examples=examples(300))
@given(ab=st.one_of(pairs(), st.tuples(raw, raw)), path=paths)
def test_integers_never_contradict_the_floats_order_beyond_quantisation(name, ab, path):
    a, b = ab
    feature = CURRENT[name]
    obs = observation(feature, *path)
    (ka, kb), (fa, fb) = integers(obs, [a, b]).tolist(), floats(obs, [a, b]).tolist()
    # Congestion's integer grows as delta falls; a negative scale turns the float round.
    rising = "congestion" not in feature["kind"] or obs.features[0].factor < 0
    if ka == kb:
        return
    ahead = (fa - fb) if (ka > kb) == rising else (fb - fa)
    assert ahead >= -(quantum(feature["kind"], obs, a) + quantum(feature["kind"], obs, b)) * (1 + 1e-9)


@pytest.mark.parametrize("name", CURRENT)
@settings(max_examples=examples(100))
@given(row=raw, path=paths)
def test_integers_are_the_floats_to_within_quantisation(name, row, path):
    """Stronger than order: undone, the integer is the float value (where neither saturates)."""
    feature = CURRENT[name]
    obs = observation(feature, *path)
    k, f = int(integers(obs, [row])[0]), float(floats(obs, [row])[0])
    assert k > -FEATURE_LIMIT
    if k >= FEATURE_LIMIT - 1:
        return
    kind, spec = feature["kind"], obs.features[0]
    undone = {
        "rtt_inflation": lambda: 1 + k / 2**10,
        "queue_inflation": lambda: 1 + k / 2**10,
        "rate": lambda: k / 2**20,
        "cnp_ratio": lambda: k / 2**8,
        "nack_ratio": lambda: k / 2**8,
    }.get(kind, lambda: spec.factor * (spec.target - sqrt(k / 2**spec.fraction_bits)))()
    assert abs(undone - f) <= quantum(kind, obs, row) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("kind", ["cnp_ratio", "nack_ratio"])
@settings(max_examples=examples(400))
@given(count=st.one_of(log(U32_MAX), st.integers(0, 300)), sent=st.one_of(log(U32_MAX), st.integers(0, 400_000)))
@example(count=U32_MAX, sent=U32_MAX)
@example(count=2**22 - 2, sent=U32_MAX)
@example(count=0, sent=0)
@example(count=1, sent=1023)
@example(count=255, sent=256 << 10)
@example(count=256, sent=256 << 10)
def test_the_ratio_is_the_exact_floor_of_the_quotient(kind, count, sent):
    row = dict.fromkeys(("request_sent_ns", "response_ns", "cnp_count", "nack_count", "queue_bytes"), 0)
    row |= {"rate_q30": 1, "sent_bytes": sent, kind.replace("ratio", "count"): count}
    expected = min(int(Fraction(256 * count, max(sent // 1024, 1))), 256)
    assert integers(observation(FEATURES[kind]), [row]).tolist() == [expected]


@pytest.mark.parametrize("sent", [1, 2, 3, 7, 255, 256, 257, 1000])
def test_the_ratio_for_every_count_below_one(sent):
    row = dict.fromkeys(("request_sent_ns", "response_ns", "cnp_count", "nack_count", "queue_bytes"), 0)
    rows = [row | {"rate_q30": 1, "sent_bytes": sent * 1024 + 1023, "cnp_count": count} for count in range(sent + 2)]
    expected = [min(256 * count // sent, 256) for count in range(sent + 2)]
    assert integers(observation(FEATURES["cnp_ratio"]), rows).tolist() == expected


@pytest.mark.parametrize("name", CURRENT)
def test_the_initial_value_means_what_a_zeroed_context_means(name):
    """0 undone is the float's initial value: no congestion, no inflation, nothing sent."""
    spec = observation(CURRENT[name]).features[0]
    if "congestion" in spec.kind:
        assert spec.initial == spec.factor * (spec.target - sqrt(0))
    else:
        assert spec.initial == (1.0 if "inflation" in spec.kind else 0.0)


def test_the_initial_action_is_a_multiplier_of_one():
    previous = TypeAdapter(AnyFeature).validate_python(FEATURES["previous_action"])
    assert previous.initial == 1 + 0 / 2**ACTION_BITS


@pytest.mark.parametrize("name", CURRENT)
@settings(max_examples=examples(60))
@given(row=raw)
def test_physical_tells_the_float_value_at_the_threshold(name, row):
    """The row's own integer as threshold is not passed, one less is: so the number in the comment lies at the float."""
    feature = CURRENT[name]
    obs = observation(feature)
    spec = obs.features[0]
    k, f = int(integers(obs, [row])[0]), float(floats(obs, [row])[0])
    if k >= FEATURE_LIMIT - 1:
        return
    text = spec.physical(k - 1)  # k > k - 1: true for this row
    sign, number = re.search(r"(>=|<=) (-?[0-9.]+)", text).groups()
    assert sign == ("<=" if "congestion" in spec.kind else ">=")
    if "congestion" in spec.kind:
        f = f / spec.factor
    printed = 0.5 * 10.0 ** -len(number.split(".")[1])
    tolerance = quantum(spec.kind, obs, row) / (abs(spec.factor) if "congestion" in spec.kind else 1)
    assert abs(float(number) - f) <= tolerance + printed + 1e-9


def test_physical_of_the_action():
    previous = TypeAdapter(AnyFeature).validate_python(FEATURES["previous_action"])
    assert previous.physical(-6554) == "previous action > 0.89999"


def test_rl_cc_s_published_value():
    """r = 12.5 (max(rtt/8192 - 1.5, 0) sqrt(rate) - 0.064), at rtt = 3 base RTTs and a quarter of line rate."""
    row = dict.fromkeys(("cnp_count", "nack_count", "sent_bytes", "queue_bytes", "request_sent_ns"), 0)
    row |= {"response_ns": 3 * 8192, "rate_q30": 2**28}
    obs = observation(FEATURES["rl_cc_congestion"])
    assert isclose(float(floats(obs, [row])[0]), 12.5 * (1.5 * 0.5 - 0.064))
    assert integers(obs, [row]).tolist() == [round(1.5**2 * 0.25 * 2**20)]


def test_a_teacher_whose_congestion_saturates_sees_no_more_of_a_flood_than_trees():
    feature, rows = FEATURES["rl_cc_congestion"], []
    for rtt in (30_000, 45_000, 46_000, 60_000, 2_000_000):
        signals = ("cnp_count", "nack_count", "sent_bytes", "queue_bytes")
        rows.append(dict.fromkeys(signals, 0) | {"request_sent_ns": 0, "response_ns": rtt, "rate_q30": 2**30})
    whole, ended = (floats(observation(feature | {"saturates": s}), rows) for s in (False, True))
    beyond = np.minimum(integers(observation(feature), rows), FEATURE_LIMIT - 1) == FEATURE_LIMIT - 1
    assert beyond.tolist() == [False, False, True, True, True]
    assert (ended[~beyond] == whole[~beyond]).all()
    assert (ended[beyond] == feature["scale"] * (feature["target"] - 4.0)).all()  # Q20: 16 is 4 squared
    assert (np.diff(np.abs(whole)) > 0).all()


def test_the_rtt_wraps_with_the_timestamps():
    obs = observation(FEATURES["rtt_inflation"])
    row = dict.fromkeys(("cnp_count", "nack_count", "sent_bytes", "queue_bytes"), 0) | {"rate_q30": 1}
    wrapped = row | {"request_sent_ns": 2**32 - 5000, "response_ns": 2 * 8192 - 5000}
    plain = row | {"request_sent_ns": 5000, "response_ns": 2 * 8192 + 5000}
    assert integers(obs, [wrapped, plain]).tolist() == [1024, 1024]
    assert floats(obs, [wrapped, plain]).tolist() == [2.0, 2.0]


def test_every_kind_is_listed():
    assert set(FEATURE_KINDS) == set(FEATURES)
    for kind, feature in FEATURES.items():
        assert isinstance(TypeAdapter(AnyFeature).validate_python(feature), FEATURE_KINDS[kind])


@pytest.mark.parametrize("name", CURRENT)
@settings(max_examples=examples(200))
@given(row=raw, path=paths)
def test_an_integer_read_back_is_what_the_teacher_saw(name, row, path):
    """Within the steps of the integer's inputs, between the integer and the next one."""
    obs = observation(CURRENT[name], *path)
    feature, k = obs.features[0], integers(obs, [row]).astype(np.float64)
    if k[0] >= FEATURE_LIMIT - 1:
        return
    ends = sorted([float(feature.float_of(k)[0]), float(feature.float_of(k + 1)[0])])
    seen, off = float(floats(obs, [row])[0]), quantum(CURRENT[name]["kind"], obs, row) * (1 + 1e-9) + 1e-9
    if "congestion" in CURRENT[name]["kind"] and abs(seen / feature.factor - feature.target) >= 63.9:
        return  # the excess saturates at 64
    assert ends[0] - off <= seen <= ends[1] + off
    assert feature.value(int(k[0]))


def test_a_past_action_reads_back_as_the_multiplier():
    obs = Observation.model_validate(
        {"window": 1, "base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
        | {"features": [{"kind": "previous_action"}]}
    )
    (feature,) = obs.features
    assert feature.float_of(np.array([0.0, 13_107.2, -32_768.0])).tolist() == [1.0, 1.2, 0.5]
    assert feature.value(0) == "previous action 1.0000"
