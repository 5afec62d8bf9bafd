"""The interpreter in C++ against decision.ir.interpret: node by node on drawn inputs, and along whole simulations."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, Node, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate, trace
from decision.ir.program import STORAGE_RANGE, Program
from decision.policy.actions import AnyAction, Multiplier, Table, TanhMap
from decision.policy.rate import multiplied
from decision.policy.tree_decision import build, feature_names
from netsim import Network, Simulation, policies
from netsim.network import MS

PARAMS = {
    "base_rtt_recip_q42": 2**42 // 8192,
    "rate_min_q30": 1 << 20,
    "rate_max_q30": (1 << 30) - 1,
    "rate_initial_q30": 1 << 29,
}
ACTIONS: list[AnyAction] = [
    TanhMap(kind="tanh_map", step=0.2),
    Multiplier(kind="multiplier", low=0.8, high=1.2),
    Table(kind="table", multipliers=[0.8, 0.9, 1.0, 1.1, 1.2]),
]
FEATURES = [
    {"kind": "previous_action"},
    {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
    {"kind": "rtt_inflation"},
    {"kind": "queue_inflation"},
    {"kind": "rate"},
    {"kind": "cnp_ratio"},
    {"kind": "nack_ratio"},
]
U32 = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1]), st.integers(0, 40_000))


@dataclass(frozen=True)
class Case:
    program: Program
    policy: policies.ProgramPolicy


def program_of(make_policy, action: AnyAction, seed: int) -> Program:
    """A random student of ten trees that looks at every feature."""
    observation = make_policy(observation={"features": FEATURES, "window": 3}).observation
    names = feature_names(observation)
    rng = np.random.default_rng(seed)
    bias, step = (2 << 10, 1500) if isinstance(action, Table) else (7, 3000)  # a table's index has ten fraction bits

    def tree() -> Node:
        feature = rng.integers(0, len(names), 4)
        threshold = rng.choice([-5000, 0, 3, 50, 300, 900, 2000, 40_000, 1 << 20], 4)
        splits = tuple((int(f), int(t)) for f, t in zip(feature, threshold, strict=True))
        return oblivious(splits, tuple(int(v) for v in rng.integers(-step, step, 16)))

    return build(observation, action, Forest(names, tuple(tree() for _ in range(10)), (bias,), action.leaf_bits))


@pytest.fixture(scope="module")
def cases(make_policy) -> list[Case]:
    programs = [program_of(make_policy, action, seed) for seed, action in enumerate(ACTIONS)]
    return [Case(p, policies.program(p, policies.Installed(PARAMS))) for p in programs]


@given(st.data())
def test_every_node_has_the_value_of_the_specification(cases, data) -> None:
    case = data.draw(st.sampled_from(cases))
    event = data.draw(st.tuples(*[U32] * len(FLOW_RATE.event_names)))
    params = dict(zip(FLOW_RATE.param_names, data.draw(st.tuples(*[U32] * 3)), strict=False)) | {
        "rate_initial_q30": (1 << 30) - 1
    }
    bounds = [STORAGE_RANGE[s.storage] for s in case.program.state]
    state = [data.draw(st.one_of(st.just(0), st.integers(*b), st.sampled_from(b))) for b in bounds]
    core = policies.program(case.program, policies.Installed(params)).build(1)
    wanted = trace(
        case.program,
        dict(zip(FLOW_RATE.event_names, event, strict=True)),
        params,
        dict(zip([s.name for s in case.program.state], state, strict=True)),
    )
    assert core.trace(list(event), state) == [int(v[0]) for v in wanted]


@pytest.mark.slow_except("2")
@pytest.mark.parametrize("number", range(len(ACTIONS)))
def test_a_simulation_follows_the_specification(cases, number: int) -> None:
    case = cases[number]
    lossy = Network(buffer_bytes=200_000, ecn_min_bytes=5_000, ecn_max_bytes=80_000)
    run = Simulation("many-to-one:8", case.policy, seed=3, decision_latency_ps=0, record=True, network=lossy)
    run.run(MS)
    records = run.drain_records()
    product = multiplied(case.program)
    context = {f: {s.name: 0 for s in case.program.state} for f in range(8)}
    rates = np.zeros(8)
    for row in range(records["flow"].size):
        flow = int(records["flow"][row])
        before = context[flow]["rate_q30"] or PARAMS["rate_initial_q30"]
        assert records["rate_q30"][row] == before
        event = {name: records[name][row] for name in FLOW_RATE.event_names}
        action = trace(case.program, event, PARAMS, context[flow])[product.multiplier][0] - 65536
        assert records["action_q16"][row] == action
        (rate,), after = evaluate(case.program, event, PARAMS, context[flow])
        context[flow] = {name: int(v[0]) for name, v in after.items()}
        rates[flow] = rate[0] / 2**20
    assert np.isnan(records["output"]).all()
    assert len(set(records["action_q16"].tolist())) > 2
    np.testing.assert_array_equal(run.rates(), rates)


def test_bad_parameters_are_refused(cases) -> None:
    program = cases[0].program
    with pytest.raises(InputError, match="must be base_rtt_recip_q42"):
        policies.program(program, policies.Installed({"base_rtt": 1}))
    for name, value in (("rate_min_q30", -1), ("rate_max_q30", 2**32), ("rate_initial_q30", 0)):
        with pytest.raises(InputError, match=name):
            policies.program(program, policies.Installed(PARAMS | {name: value}))
