"""The integer network's meaning: exact where it says so, near what it stands for, and nothing beyond its types."""

import json
from dataclasses import replace
from math import isqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.forest import Forest
from decision.ir.formats import FEATURE_LIMIT
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import trace
from decision.ir.network import ACTION_ENTRIES, GATE_MAX, TANH_Q15, Int8Network, Layer, Lstm, Matrix, tanh_of
from decision.ir.network_json import network_from_json, network_to_json
from decision.ir.program import Op, ProgramBuilder
from decision.ir.program_json import program_from_json, program_to_json
from decision.policy.actions import AnyAction
from decision.policy.network_decision import Input, build, build_inputs
from decision.policy.policy import Observation
from netsim.programs import program_config

PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
ACTION: AnyAction = TypeAdapter(AnyAction).validate_python({"kind": "tanh_map", "step": 0.2})
TABLE = tuple(range(-128, 129))
int8 = st.integers(-127, 127)


def observation(*features, window=1):
    return Observation.model_validate({"window": window, **PATH, "features": list(features)})


def matrix(rng, rows, columns, *, bias=True, scale=2**24):
    weights = rng.integers(-127, 128, size=(rows, columns))
    offset = rng.integers(-(2**16), 2**16, size=rows) if bias else np.zeros(rows, dtype=int)
    scales = 2 * rng.integers(scale // 8, scale // 2, size=rows)
    return Matrix(tuple(map(tuple, weights.tolist())), tuple(offset.tolist()), tuple(scales.tolist()), 0)


def drawn(seed, *, units=3, inputs=2, hidden_bits=7):
    rng = np.random.default_rng(seed)
    first = Layer(matrix(rng, 4, inputs), 2**15 - 1)
    lstm = None
    if units:
        recurrent = matrix(rng, 4 * units, units, bias=False, scale=2**29)
        lstm = Lstm(matrix(rng, 4 * units, 4, scale=2**26), recurrent, 11, hidden_bits)
    output = matrix(rng, 1, units or 4, scale=2**29 if units and hidden_bits == 7 else 2**24)
    return Int8Network(inputs, (first,), lstm, output, TABLE)


def anything(network, seed, rows=400):
    rng = np.random.default_rng(seed)
    columns = []
    for k in range(network.operands):
        low, high = network.operand_range(k)
        kinds = [rng.integers(low, high + 1, size=rows), rng.choice([low, high, 0, 1, -1], size=rows)]
        columns.append(np.where(rng.random(rows) < 0.6, *kinds))
    return np.stack(columns, axis=1).astype(np.int64)


@given(
    st.lists(int8, min_size=3, max_size=3), st.integers(-(2**20), 2**20), st.integers(0, 2**30 - 1), st.integers(0, 4)
)
def test_a_product_is_the_floor_of_the_exact_one(weights, bias, half_scale, lift):
    x = np.array([[-32768, 32767, 5], [1, 2, 3], [-1, 0, 0], [32767, -32768, 0]], dtype=np.int64)
    given_matrix = Matrix((tuple(weights),), (bias,), (2 * half_scale,), lift)
    exact = [
        (bias + sum(w * int(v) for w, v in zip(weights, row, strict=True))) * 2**lift * 2 * half_scale // 2**32
        for row in x
    ]
    assert given_matrix(x)[:, 0].tolist() == exact


def test_tanh_is_odd_ascending_and_off_by_less_than_five_of_its_last_bits():
    z = np.arange(-GATE_MAX, GATE_MAX + 1)
    got = tanh_of(z)
    assert (got == -got[::-1]).all()
    assert (np.diff(got) >= 0).all()
    assert np.abs(got - GATE_MAX * np.tanh(z / 4096)).max() < 5
    assert (tanh_of(np.arange(257)[:-1] * 128) == np.array(TANH_Q15[:-1])).all()


@pytest.mark.parametrize("hidden_bits", [7, 15])
def test_an_lstm_is_near_the_real_one(hidden_bits):
    network = drawn(5, hidden_bits=hidden_bits)
    lstm = network.lstm
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3000, size=(500, 4))
    hidden = rng.integers(-(2**hidden_bits) + 1, 2**hidden_bits, size=(500, 3))
    cell = rng.integers(-6000, 6000, size=(500, 3))
    z = (lstm.input(x) + lstm.recurrent(hidden)) / 4096
    i, f, o = (1 / (1 + np.exp(-2 * z[:, 3 * k : 3 * k + 3])) for k in (0, 1, 3))
    c = f * cell / 2**11 + i * np.tanh(z[:, 6:9])
    h = o * np.tanh(c)
    got_h, got_c = lstm(x, hidden, cell)
    assert np.abs(got_c / 2**11 - c).max() < 3 / 2**11
    assert np.abs(got_h / 2**hidden_bits - h).max() < 1.5 / 2**hidden_bits + 2e-3


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("units", [0, 3])
def test_results_stay_in_their_ranges_whatever_the_operands(seed, units):
    network = drawn(seed, units=units, hidden_bits=7 if seed % 2 else 15)
    results = network.evaluate(anything(network, seed))
    assert results.shape[1] == network.results
    for k in range(network.results):
        low, high = network.result_range(k)
        assert low <= results[:, k].min()
        assert results[:, k].max() <= high
    assert len(np.unique(results[:, 0])) > 3


def test_sums_that_could_leave_32_bits_are_refused():
    with pytest.raises(InputError, match="can leave 32 bits"):
        Matrix(((127,) * 600,), (0,), (2**20,), 0).check(2**15, "layer 0")
    Matrix(((127,) * 500,), (0,), (2**20,), 0).check(2**15, "layer 0")
    network = drawn(1, units=0)
    wide = Layer(Matrix(((127, 127),) * 4, (2**30,) * 4, (2**20,) * 4, 1), 2**15 - 1)
    with pytest.raises(InputError, match=r"layer 0 .*32 bits"):
        replace(network, layers=(wide,))


BROKEN = [
    (("layers", 0, "weights", 0, 0), 128, "does not fit -127..127"),
    (("layers", 0, "weights", 0, 0), 1.0, "is not readable"),
    (("layers", 0, "scale", 0), 3, "odd"),
    (("layers", 0, "scale", 0), 2**31, "31 bits"),
    (("layers", 0, "high"), 300, "neither int8 nor int16"),
    (("layers", 0, "lift"), 31, "31 bits"),
    (("lstm", "cell_bits"), 13, "format that there"),
    (("lstm", "recurrent", "bias", 0), 1, "fit each other"),
    (("action", 3), -(2**20), "ascending"),
    (("action",), [1], "ascending"),
    (("inputs",), 3, "2 values, .*3"),
    (("output", "weights"), [], "different lengths"),
]


@pytest.mark.parametrize(("where", "value", "says"), BROKEN, ids=[says for _, _, says in BROKEN])
def test_json_round_trip_and_what_is_no_network(where, value, says):
    network = drawn(2)
    data = json.loads(json.dumps(network_to_json(network)))
    assert network_from_json(data) == network
    *path, last = where
    part = data
    for key in path:
        part = part[key]
    part[last] = value
    with pytest.raises(InputError, match=says):
        network_from_json(data)


def whole(seed=3, *, units=3):
    return build(observation(CONGESTION, {"kind": "previous_action"}), ACTION, INPUTS, drawn(seed, units=units))


def test_the_table_of_tanh_is_the_rounded_function():
    assert list(TANH_Q15) == np.rint(GATE_MAX * exact.tanh(np.arange(257) / 32)).astype(int).tolist()


INPUTS = (Input(True, -4), Input(False, 8))


def test_a_program_with_a_network_survives_json_and_is_not_interpreted():
    program = whole()
    data = json.loads(json.dumps(program_to_json(program)))
    assert program_from_json(data) == program
    data["nodes"][-1]["range"][1] += 1
    with pytest.raises(InputError, match="range it does"):
        program_from_json(data)
    with pytest.raises(InputError, match="firmware folder"):
        program_config(program)


def test_a_network_takes_no_operand_beyond_its_type():
    network = drawn(1, units=0)
    b = ProgramBuilder(Forest((), (), (0,), 16), FLOW_RATE, network=network)
    with pytest.raises(InputError, match=r"not defined .*operands"):
        b.add(Op.NETWORK, (b.const(0), b.const(2**15)), 0)
    with pytest.raises(InputError, match="network takes 2 operands"):
        b.add(Op.NETWORK, (b.const(0),), 0)
    with pytest.raises(InputError, match=r"network .*not defined"):
        b.add(Op.NETWORK, (b.const(0), b.const(1)), network.results)
    assert b.add(Op.NETWORK, (b.const(0), b.const(1)), 0) >= 0
    without = ProgramBuilder(Forest(("f",), (), (0,), 16), FLOW_RATE)
    zero = without.const(0)
    with pytest.raises(InputError, match=r"network .*not defined"):
        without.add(Op.NETWORK, (zero,), 0)


@pytest.mark.parametrize("shift", [-8, -5, -4, 0, 3])
def test_the_root_of_the_congestion_is_exact(shift):
    program, nodes = build_inputs(observation(CONGESTION), ACTION, (Input(True, shift),))
    rng = np.random.default_rng(7)
    rows = 3000
    event = {name: np.zeros(rows, dtype=np.int64) for name in FLOW_RATE.event_names}
    event["response_ns"] = np.exp(rng.uniform(9, 15.3, rows)).astype(np.int64)
    rates = np.exp(rng.uniform(2, 20.8, rows)).astype(np.int64)
    params = {"base_rtt_recip_q42": 2**42 // 8192, "rate_min_q30": 1, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 5}
    values = trace(program, event, params, {"rate_q30": rates})
    square = next(i for i, node in enumerate(program.nodes) if node.name == "congestion_q20")
    wanted = [min(isqrt(int(v) << -shift if shift < 0 else int(v) >> shift), 2**15 - 1) for v in values[square]]
    assert values[nodes[0]].tolist() == wanted
    assert max(wanted) == 2**15 - 1 or shift == 3
    assert len(set(wanted)) > 300


def test_a_network_sees_no_more_of_a_congestion_that_saturates():
    seen = {}
    event = dict.fromkeys(FLOW_RATE.event_names, np.zeros(4, dtype=np.int64))
    event["response_ns"] = np.array([50_000, 53_000, 60_000, 400_000])  # excess over the tolerance: 4.6, 5.0, 5.8, 47
    params = {"base_rtt_recip_q42": 2**42 // 8192, "rate_min_q30": 1, "rate_max_q30": 2**30 - 1, "rate_initial_q30": 5}
    for saturates in (False, True):
        feature = CONGESTION | {"saturates": saturates}
        program, nodes = build_inputs(observation(feature), ACTION, (Input(True, 0),))
        seen[saturates] = trace(program, event, params, {"rate_q30": 2**30 - 1})[nodes[0]].tolist()
    ends = isqrt(FEATURE_LIMIT - 1)
    assert seen[True] == [ends] * 4
    assert ends < seen[False][0] < seen[False][1]


@pytest.mark.parametrize("shift", [-3, 0, 1, 7, 9])
def test_an_action_is_divided_rounded_half_up_and_saturated(shift):
    wide: AnyAction = TypeAdapter(AnyAction).validate_python({"kind": "multiplier", "low": 0.5, "high": 3.0})
    program, nodes = build_inputs(observation({"kind": "previous_action"}), wide, (Input(False, shift),))
    edges = [s * (2**15 * 2 ** max(shift, 0)) + d for s in (-1, 0, 1) for d in (-513, -2, -1, 0, 1, 2, 3, 64, 513)]
    applied = np.array([*edges, -(2**31), 2**31 - 1, *range(-600, 600, 7)], dtype=np.int64)
    params = dict.fromkeys(("base_rtt_recip_q42", "rate_min_q30", "rate_max_q30", "rate_initial_q30"), 1)
    values = trace(program, dict.fromkeys(FLOW_RATE.event_names, 0), params, {"rate_q30": 1, "action_1": applied})
    if shift > 0:
        wanted = np.clip([(int(v) * 2 + 2**shift) // 2 ** (shift + 1) for v in applied], -(2**15), 2**15 - 1)
    else:  # the greatest multiple of the factor that int16 holds
        wanted = np.clip(applied, -(2**15) >> -shift, (2**15 - 1) >> -shift) << -shift
    assert values[nodes[0]].tolist() == wanted.tolist()


def test_a_new_flow_decides_as_if_everything_had_its_first_value():
    """A zeroed context: the congestion's target, an action of 1, a state of zeros."""
    program = whole()
    state = {s.name: 0 for s in program.state}
    params = {
        "base_rtt_recip_q42": 2**42 // 8192,
        "rate_min_q30": 1,
        "rate_max_q30": 2**30 - 1,
        "rate_initial_q30": 2**29,
    }
    values = trace(program, dict.fromkeys(FLOW_RATE.event_names, 0) | {"response_ns": 8192}, params, state)
    network = next(node for node in program.nodes if node.op is Op.NETWORK)
    operands = np.array([[int(values[a][0]) for a in network.args]])
    assert not operands.any()
    assert [s.storage for s in program.state if s.name.startswith("hidden")] == ["int8"] * 3
    assert len(TABLE) == ACTION_ENTRIES
