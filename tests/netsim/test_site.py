"""Policies away from the network they were made for: every flow has its own base RTT (RL-CC, equation 5)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.flow_rate import base_rtt_recip_q42
from decision.policy.actions import TanhMap
from decision.policy.tree_decision import build, feature_names
from netsim import Scenario, Simulation
from netsim.network import MS
from netsim.policies import Installed, NativePolicy, ProgramPolicy, native, program
from netsim.scenarios import Flow
from netsim.topology import leaf_spine

FABRIC = leaf_spine(2, 2, 1, host_gbps=25, link_delay_ps=700_000)
NEAR_AND_FAR = Scenario("near and far", 4, 4, (Flow(1, 0), Flow(2, 1)), topology=FABRIC)


def inflation_policy(make_policy: Any) -> NativePolicy:
    """It sees the RTT inflation and never changes the rate, 1 %."""
    policy = make_policy(
        observation={"features": [{"kind": "rtt_inflation"}], "window": 1}, limits={"rate_initial": "1 %"}
    )
    zeros = {"fc0.weight": np.zeros((2, 1), np.float32), "out.weight": np.zeros((1, 2), np.float32)}
    return native(policy, zeros)


def test_a_flow_alone_sees_no_inflation_however_far_it_goes(make_policy) -> None:
    run = Simulation(NEAR_AND_FAR, inflation_policy(make_policy), seed=1, record=True)
    run.run(MS)
    records = run.drain_records()
    base_ns = np.rint(FABRIC.base_rtts_ps([1, 2], [0, 1]) / 1000)
    assert base_ns[0] < 0.7 * base_ns[1]
    for flow in (0, 1):
        rtt = (records["response_ns"] - records["request_sent_ns"])[records["flow"] == flow]
        assert abs(int(rtt.min()) - base_ns[flow]) <= 1
        last = float(run.observations()[flow, 0])
        assert last == pytest.approx(float(rtt[-1]) / base_ns[flow], rel=1e-6)
        assert last == pytest.approx(1.0, abs=0.001)


@dataclass(frozen=True)
class Elsewhere:
    """A program whose parameters name one base RTT, told another a flow; none: it keeps the one that they name."""

    policy: ProgramPolicy
    base_rtt_ns: tuple[int, ...] = ()
    needs_int = False

    def build(self, flows: int, site: object = None) -> Any:
        core = self.policy.build(flows)
        if self.base_rtt_ns:
            core.set_param(0, np.array([base_rtt_recip_q42(ns) for ns in self.base_rtt_ns], np.uint32))
        return core


def test_a_program_gets_each_flows_reciprocal(make_policy) -> None:
    observation = make_policy(observation={"features": [{"kind": "rtt_inflation"}], "window": 1}).observation
    tree = oblivious(((0, 500), (0, 1500)), (3000, 0, 0, -3000))
    action = TanhMap(kind="tanh_map", step=0.2)
    made = build(observation, action, Forest(feature_names(observation), (tree,), (0,), action.leaf_bits))
    params = {"rate_min_q30": 1 << 20, "rate_max_q30": 1 << 30, "rate_initial_q30": 1 << 29}
    policy = program(made, Installed(params | {"base_rtt_recip_q42": base_rtt_recip_q42(8192)}))
    other = program(made, Installed(params | {"base_rtt_recip_q42": base_rtt_recip_q42(5000)}))

    def records(spec: Any) -> dict[str, Any]:
        run = Simulation("many-to-one:2", spec, seed=1, record=True)
        run.run(MS)
        return run.drain_records()

    plain, told = records(Elsewhere(other)), records(Elsewhere(policy, (5000, 5000)))
    assert all(np.array_equal(plain[name], told[name], equal_nan=name == "output") for name in plain)
    assert not np.array_equal(records(policy)["rate_q30"][:200], plain["rate_q30"][:200])
    mixed = records(Elsewhere(policy, (8192, 3000)))
    late = mixed["t_ps"] > MS // 2
    rate = [mixed["rate_q30"][late & (mixed["flow"] == flow)].mean() for flow in (0, 1)]
    assert rate[0] > 1.2 * rate[1]  # who thinks its path is longer sees less inflation


def test_one_base_rtt_a_flow_is_needed(make_policy) -> None:
    core = inflation_policy(make_policy).build(3)
    with pytest.raises(ValueError, match="for each agent"):
        core.set_known(0, np.array([8192.0, 8192.0]))
    with pytest.raises(ValueError, match="for each agent"):
        core.set_known(1, np.array([8192.0, 8192.0, 8192.0]))


def test_alone_on_one_switch_a_flow_sees_no_inflation_whatever_its_policy_assumes(make_policy) -> None:
    policy = inflation_policy(make_policy)
    assumed = policy.policy.observation.model_copy(update={"base_rtt": 5000})
    for each in (policy, replace(policy, policy=policy.policy.model_copy(update={"observation": assumed}))):
        run = Simulation(Scenario("alone", 1, 1, (Flow(0, 0),)), each, seed=1)
        run.run(MS)
        assert float(run.observations()[0, 0]) == 1.0
