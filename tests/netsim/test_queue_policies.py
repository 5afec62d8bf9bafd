"""A teacher and a student at the queues of switch ports: the float tapes in C++ are those of NumPy to the bit, along
what they decided themselves; and the integer program sees what its records say it saw."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from queue_actions import FOUR as CHOICE
from queue_actions import GROUPS, LEVEL
from reproducible import examples

from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.tree_decision import build, feature_names
from decision.policy.weights import shapes
from netsim import Cohort, Simulation, policies
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.scenarios import Flow, Scenario
from netsim.topology import leaf_spine

PERIOD = 50 * US
CAPACITY = PERIOD // 80
FEATURES: list[dict[str, Any]] = [
    {"kind": "level", "signal": "queue_bytes", "unit": 1024, "fraction_bits": 2},
    {"kind": "level", "signal": "sent_bytes", "unit": 100_000, "fraction_bits": 10},
    {"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"},
    {"kind": "ratio", "of": "marked_bytes", "over": "sent_bytes"},
    {"kind": "difference", "signal": "queue_bytes", "unit": 256, "back": 2},
    {"kind": "bucket", "signal": "queue_bytes", "first": 20_000, "count": 10},
    {"kind": "previous_knob", "knob": "kmin_bytes", "unit": 1000},
    {"kind": "previous_knob", "knob": "pmax_q16", "unit": 65_536, "fraction_bits": 12},
]
DCQCN = by_name("dcqcn")


def policy_of(action: dict[str, Any], window: int = 2, features: list[dict[str, Any]] = FEATURES) -> Policy:
    return Policy.model_validate(
        {
            "format": 1,
            "name": "queues",
            "architecture": {"kind": "mlp", "hidden": [8], "bias": True},
            "observation": {
                "interface": "queue_marking",
                "window": window,
                "params": {"capacity_bytes": CAPACITY},
                "features": features,
            },
            "action": action,
        }
    )


def teacher(policy: Policy, seed: int) -> policies.NativePolicy:
    rng = np.random.default_rng(seed)
    drawn = {name: (rng.normal(size=shape) * 2).astype(np.float32) for name, shape in shapes(policy).items()}
    return policies.native(policy, drawn)


def run(decider: Any, scenario: Scenario | str = "many-to-one:16") -> tuple[Simulation, dict[str, NDArray[Any]], Any]:
    cohort = Cohort(decider, PERIOD, latency_ps=3 * US)
    simulation = Simulation(scenario, DCQCN, seed=3, record=True, cohorts=[cohort])
    simulation.run(8 * MS)
    return simulation, simulation.drain_records(1), simulation


@pytest.mark.parametrize("action", [CHOICE, GROUPS, LEVEL], ids=["choice", "groups", "level"])
@pytest.mark.parametrize("window", [1, 3])
def test_a_teacher_at_queues_sees_and_decides_what_its_records_say(action: dict[str, Any], window: int) -> None:
    """Features from raw records, the network in NumPy, the action map: the knobs that were set, to the bit."""
    policy = policy_of(action, window)
    native = teacher(policy, 5)
    _, records, _ = run(native)
    trajectories = Trajectories.of(records, QUEUE_MARKING)
    rows, known = trajectories.float_rows(policy.observation)
    assert known.all()
    assert (np.abs(np.diff(rows, axis=0)).max(axis=0) > 0).all()  # every feature is seen to move
    x = rows.astype(np.float32)
    w = native.weights
    hidden = np.maximum(x @ w["fc0.weight"].T + w["fc0.bias"], 0)
    outputs = hidden @ w["out.weight"].T + w["out.bias"]
    if policy.action.squashed:
        outputs = np.tanh(outputs)
    knobs = policy.action.decided(outputs.astype(np.float64))
    recorded = np.stack([records[name] for name in QUEUE_MARKING.knob_names], axis=1)
    assert np.unique(recorded, axis=0).shape[0] > 2
    if action is not LEVEL:
        clear = np.diff(np.sort(outputs, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4
        assert clear.mean() > 0.9
        np.testing.assert_array_equal(recorded[clear], knobs[clear])
    else:
        ends = np.array([[each["low"], each["high"]] for each in LEVEL["knobs"].values()], dtype=float)
        assert np.abs(recorded - knobs).max() <= 1 + 1e-5 * (ends[:, 1] - ends[:, 0]).max()
        assert (recorded[:, 1] >= recorded[:, 0]).all()


def test_what_a_teacher_saw_last_is_in_its_records_to_the_bit() -> None:
    """The newest row of the C++ window is the row that NumPy makes of the records."""
    policy = policy_of(LEVEL, 3)
    native = teacher(policy, 1)
    decider: list[Any] = []

    class Watched(policies.NativePolicy):
        def build(self, agents: int, where: Any = None) -> Any:
            decider.append(super().build(agents, where))
            return decider[-1]

    _, records, _ = run(Watched(native.policy, native.weights))
    rows, _ = Trajectories.of(records, QUEUE_MARKING).float_rows(policy.observation)
    np.testing.assert_array_equal(decider[0].observations(1), rows[-1].astype(np.float32))


def test_each_port_is_told_its_own_capacity() -> None:
    fabric = leaf_spine(2, 2, 1, host_gbps=25, spine_gbps=100)
    scenario = Scenario("mixed", 4, 4, (Flow(0, 2), Flow(1, 3)), topology=fabric)
    policy = policy_of(CHOICE, 1, [{"kind": "ratio", "of": "sent_bytes", "over": "capacity_bytes"}])
    decider: list[Any] = []

    class Watched(policies.NativePolicy):
        def build(self, agents: int, where: Any = None) -> Any:
            decider.append(super().build(agents, where))
            return decider[-1]

    native = teacher(policy, 1)
    _, records, _ = run(Watched(native.policy, native.weights), scenario)
    capacity = np.array([PERIOD // (8000 // port.gbps) for port in fabric.ports], np.int64)
    trajectories = Trajectories.of(records, QUEUE_MARKING, {"capacity_bytes": capacity})
    rows, _ = trajectories.float_rows(policy.observation)
    last = np.append(trajectories.starts()[1:] - 1, len(trajectories) - 1)
    seen = decider[0].observations(len(fabric.ports)).reshape(len(fabric.ports), -1)
    np.testing.assert_array_equal(seen, rows[last].astype(np.float32))
    assert len(set(capacity)) == 2
    assert (seen > 0.5).sum() >= 2  # 25 Gb/s ports are full and say so
    integers, _ = trajectories.integer_rows(policy.observation, {})
    assert np.abs(integers[last] / 256 - rows[last]).max() < 1 / 256


def forest_of(policy: Policy, seed: int, trees: int = 6) -> Forest:
    """Trees that ask about every feature, over what a run shows of them."""
    rng = np.random.default_rng(seed)
    names = feature_names(policy.observation)
    sums, bits = policy.action.sums, policy.action.leaf_bits

    def grown(depth: int) -> Any:
        if depth == 0:
            return Leaf(tuple(int(v) for v in rng.integers(0, (1 << bits) // trees, sums)))
        feature = int(rng.integers(len(names)))
        return Branch(feature, int(2 ** rng.uniform(0, 9)), grown(depth - 1), grown(depth - 1))

    return Forest(names, tuple(grown(3) for _ in range(trees)), (0,) * sums, bits)


@pytest.mark.parametrize("action", [CHOICE, GROUPS, LEVEL], ids=["choice", "groups", "level"])
def test_a_student_at_queues_decides_by_the_rows_of_its_records(action: dict[str, Any]) -> None:
    """The C++ interpreter with contexts of its own; and the forest on integer rows made of the records alone."""
    policy = policy_of(action, 3)
    forest = forest_of(policy, 7)
    program = build(policy.observation, policy.action, forest)
    assert forest.features[6:9] == ("kmin_bytes_set_1", "pmax_q16_set_q12_1", "queue_bytes_level_q2_1")
    assert program.interface is QUEUE_MARKING
    assert len(program.results) == 3
    _, records, _ = run(policies.program(program, policies.Installed(policy.params())))
    trajectories = Trajectories.of(records, QUEUE_MARKING)
    rows, known = trajectories.integer_rows(policy.observation, policy.params())
    assert known.all()
    sums = forest.evaluate(rows)
    if action is not LEVEL:
        knobs = policy.action.decided(sums.astype(np.float64))
    else:
        knobs = np.stack(
            [
                ends.low + (np.clip(total, 0, 1 << 16) * (ends.high - ends.low) >> 16)
                for ends, total in zip(policy.action.knobs.values(), sums.T, strict=True)
            ],
            axis=1,
        )
        knobs[:, 1] = np.maximum(knobs[:, 0], knobs[:, 1])
    recorded = np.stack([records[name] for name in QUEUE_MARKING.knob_names], axis=1)
    assert np.unique(recorded, axis=0).shape[0] > 2
    np.testing.assert_array_equal(recorded, knobs)


SIGNAL = st.one_of(st.integers(0, 2**32 - 1), st.integers(0, 30).flatmap(lambda n: st.integers(0, 2**n)))


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(SIGNAL, SIGNAL, SIGNAL), min_size=1, max_size=8), st.integers(1, 2**31 - 1), st.randoms())
def test_the_interpreter_in_cxx_is_the_one_in_numpy(
    events: list[tuple[int, int, int]], capacity: int, random: Any
) -> None:
    """Any event after any other, whatever the queue: node by node."""
    policy = policy_of(random.choice([CHOICE, GROUPS, LEVEL]), 3)
    program = build(policy.observation, policy.action, forest_of(policy, random.randrange(100)))
    core = policies.program(program, policies.Installed({"capacity_bytes": capacity})).build(1)
    context = {field.name: 0 for field in program.state}
    for event in events:
        named = dict(zip(QUEUE_MARKING.event_names, event, strict=True))
        values = trace(program, named, {"capacity_bytes": capacity}, context)
        assert core.trace(list(event), list(context.values())) == [int(v[0]) for v in values]
        context = {field.name: int(values[field.node][0]) for field in program.state}
