"""Inference on records equals PyTorch's nearly, and the simulator's own to the bit."""

import time
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.policy import Policy
from decision.policy.records import Trajectories, record_columns
from netsim import Simulation
from netsim.network import MS
from netsim.policies import native
from teachers.inference import decide, decide_states, network_outputs
from teachers.networks import PolicyNetwork
from teachers.teacher import Teacher, make_teacher

Columns = dict[str, NDArray[np.generic]]


def random_records(lengths: list[int], first_steps: list[int], seed: int = 0) -> Columns:
    """Flows of the given lengths whose first recorded decision has the given step, in random order of time."""
    random = np.random.default_rng(seed)
    n = sum(lengths)
    flow = np.repeat(np.arange(len(lengths)), lengths)
    step = np.concatenate([np.arange(k) + s for k, s in zip(lengths, first_steps, strict=True)])
    columns = {name: np.zeros(n, dtype=kind) for name, kind in record_columns(FLOW_RATE).items()}
    sent = random.integers(0, 2**32, n, dtype=np.uint32)
    columns |= {
        "t_ps": step * 1_000_000,
        "flow": flow.astype(np.uint32),
        "step": step.astype(np.uint32),
        "request_sent_ns": sent,
        "response_ns": sent + random.integers(8000, 40000, n).astype(np.uint32),  # wraps
        "rate_q30": random.integers(1000, 2**30, n).astype(np.uint32),
        "action_q16": random.integers(-10000, 13000, n).astype(np.int32),
    }
    order = random.permutation(n)
    return {name: column[order] for name, column in columns.items()}


def random_teacher(policy: Policy, seed: int = 3) -> tuple[Teacher, PolicyNetwork]:
    torch.manual_seed(seed)
    network = PolicyNetwork(policy)
    return make_teacher(policy, network.weights(), "test"), network


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("hidden", [[], [12], [12, 7]])
def test_mlp_equals_torch(make_policy: Any, hidden: list[int], bias: bool) -> None:
    teacher, network = random_teacher(make_policy(hidden=hidden, bias=bias, window=3))
    trajectories = Trajectories.of(random_records([50, 1, 9, 700], [0, 0, 0, 4]))
    outputs, valid = network_outputs(teacher, trajectories)
    rows, complete = trajectories.float_rows(teacher.policy.observation)
    expected = network(torch.from_numpy(rows.astype(np.float32))).detach().numpy()
    assert np.abs(outputs[:, 0] - expected).max() < 1e-6
    assert np.array_equal(valid, complete)
    multiplier, _ = decide(teacher, trajectories)
    assert np.array_equal(multiplier[:, 0], teacher.policy.action.multiplier(outputs[:, 0].astype(np.float64)))


@pytest.mark.parametrize("activation", ["relu", "leaky_relu", "elu", "tanh", "sigmoid"])
def test_activations_are_torchs_and_the_simulators(make_policy: Any, activation: str) -> None:
    """Of a layer each: the other has another. The simulator computes them from the same weights."""
    policy = make_policy(hidden=[12, 7], bias=True, window=3, activation=[activation, "elu"])
    teacher, network = random_teacher(policy)
    run = Simulation("many-to-one:8", native(policy, teacher.weights), seed=4, record=True)
    run.run(2 * MS)
    trajectories = Trajectories.of(run.drain_records())
    outputs, _ = network_outputs(teacher, trajectories)
    rows, _ = trajectories.float_rows(policy.observation)
    expected = network(torch.from_numpy(rows.astype(np.float32))).detach().numpy()
    assert np.abs(outputs[:, 0] - expected).max() < 1e-6
    assert np.array_equal(outputs[:, 0], trajectories.columns["output"])
    other = make_teacher(
        make_policy(hidden=[12, 7], bias=True, window=3, activation=["sigmoid", "tanh"]), teacher.weights, "it"
    )
    assert np.abs(network_outputs(other, trajectories)[0] - outputs).max() > 1e-3


def test_an_output_that_is_cut_off(make_policy: Any) -> None:
    policy = make_policy(hidden=[12], bias=True, output="clip")
    weights = random_teacher(make_policy(hidden=[12], bias=True))[0].weights
    teacher = make_teacher(policy, weights | {"out.weight": weights["out.weight"] * 4}, "test")
    run = Simulation("many-to-one:8", native(policy, teacher.weights), seed=4, record=True)
    run.run(2 * MS)
    trajectories = Trajectories.of(run.drain_records())
    outputs = network_outputs(teacher, trajectories)[0][:, 0]
    assert np.array_equal(outputs, trajectories.columns["output"])
    assert (np.abs(outputs) == 1).any()
    assert (np.abs(outputs) < 1).any()
    with pytest.raises(InputError, match='output = "tanh", not "clip"'):
        PolicyNetwork(policy)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("hidden", [[], [12], [32, 16]])
def test_lstm_equals_torch_along_each_run(make_policy: Any, hidden: list[int], bias: bool) -> None:
    teacher, network = random_teacher(make_policy(hidden=hidden, lstm=16, bias=bias))
    lengths, steps = [40, 1, 400, 40, 3], [0, 0, 0, 7, 0]
    trajectories = Trajectories.of(random_records(lengths, steps))
    outputs, valid = network_outputs(teacher, trajectories)
    rows, _ = trajectories.float_rows(teacher.policy.observation)
    expected, known, begin = [], [], 0
    for length, step in zip(lengths, steps, strict=True):
        run = torch.from_numpy(rows[begin : begin + length].astype(np.float32)).unsqueeze(1)
        expected.append(network(run).detach().numpy()[:, 0])
        known.append(np.full(length, step == 0))
        begin += length
    assert np.abs(outputs[:, 0] - np.concatenate(expected)).max() < 1e-6
    assert np.array_equal(valid, np.concatenate(known))


def test_gap_in_a_flow_starts_a_new_run(make_policy: Any) -> None:
    """Rows after a gap carry no memory over it and are not valid: their past is unknown."""
    teacher, _ = random_teacher(make_policy(hidden=[12], lstm=12, bias=True))
    records = random_records([30], [0])
    kept = {name: column[records["step"] != 10] for name, column in records.items()}
    _, valid = network_outputs(teacher, Trajectories.of(kept))
    assert np.array_equal(valid, np.arange(29) < 10)


def states_of(teacher: Teacher, length: int, flows: int = 50) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What a teacher sees of each of ``length`` decisions [flows, length, features], newest first, and its last."""
    trajectories = Trajectories.of(random_records([length] * flows, [0] * flows))
    observation = teacher.policy.observation.with_window(1)
    rows = trajectories.float_rows(observation)[0].reshape(flows, length, -1)
    multiplier, _ = decide(teacher, trajectories)
    return rows[:, ::-1], multiplier.reshape(flows, length)[:, -1:]


def test_an_mlp_decides_in_a_state_as_along_a_run(make_policy: Any) -> None:
    teacher, _ = random_teacher(make_policy(hidden=[12, 7], window=3))
    states, last = states_of(teacher, 3)
    assert np.array_equal(decide_states(teacher, states, 4), last)
    older = np.concatenate([states, np.full_like(states, 9.0)], axis=1)
    assert np.array_equal(decide_states(teacher, older, 4), decide_states(teacher, states, 4))
    assert np.array_equal(  # of a shorter window the oldest is what was before it
        decide_states(teacher, states[:, :1], 4), decide_states(teacher, np.repeat(states[:, :1], 3, axis=1), 4)
    )


def test_an_lstm_decides_in_a_state_as_along_the_run_that_ends_there(make_policy: Any) -> None:
    teacher, _ = random_teacher(make_policy(hidden=[12], lstm=16, bias=True))
    states, last = states_of(teacher, 4)
    assert np.array_equal(decide_states(teacher, states, 0), last)
    repeated = np.concatenate([states, np.repeat(states[:, -1:], 5, axis=1)], axis=1)
    assert np.abs(decide_states(teacher, states, 5) - decide_states(teacher, repeated, 0)).max() < 1e-6
    assert np.abs(decide_states(teacher, states, 5) - last).max() > 1e-4
    many = np.tile(states, (700, 1, 1))  # more than one matrix product
    assert np.abs(decide_states(teacher, many, 2)[-50:] - decide_states(teacher, states, 2)).max() < 1e-6


def test_no_rows(make_policy: Any) -> None:
    for policy in (make_policy(hidden=[12]), make_policy(hidden=[12], lstm=12)):
        teacher, _ = random_teacher(policy)
        multiplier, valid = decide(teacher, Trajectories.of(random_records([0], [0])))
        assert (multiplier.shape, valid.shape) == ((0, 1), (0,))
        assert decide_states(teacher, np.zeros((0, 2, 2)), 3).shape == (0, 1)


@pytest.mark.parametrize("lstm", [None, 16])
@pytest.mark.parametrize("scenario", ["many-to-one:8", "long-short:9"])
def test_equals_the_simulator(make_policy: Any, lstm: int | None, scenario: str) -> None:
    """The simulator's `output` column, recomputed from its records; short flows come and go as new ones."""
    policy = make_policy(hidden=[12] if lstm is None else [32, 16], lstm=lstm, bias=True)
    teacher, _ = random_teacher(policy)
    run = Simulation(scenario, native(policy, teacher.weights), seed=4, record=True)
    run.run(25 * MS)
    trajectories = Trajectories.of(run.drain_records())
    assert len(trajectories) > 100
    outputs, valid = network_outputs(teacher, trajectories)
    assert valid.all()
    assert np.array_equal(outputs[:, 0], trajectories.columns["output"])
    multiplier, _ = decide(teacher, trajectories)
    assert np.array_equal(np.rint((multiplier[:, 0] - 1) * 65536), trajectories.columns["action_q16"])


@pytest.mark.slow
def test_a_million_rows_in_seconds(make_policy: Any) -> None:
    trajectories = Trajectories.of(random_records([4000] * 250, [0] * 250))
    for policy in (make_policy(hidden=[12]), make_policy(hidden=[32, 16], lstm=16, bias=True)):
        teacher, _ = random_teacher(policy)
        begin = time.process_time()
        decide(teacher, trajectories)
        assert time.process_time() - begin < 15
