"""The gate on a model of a device: shared contexts fail a policy that decides on every answer, and pass one that does
not; the verdict names the model and how each of its values is known."""

from dataclasses import replace
from itertools import pairwise
from math import nan

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student
from pydantic import ValidationError

from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import CONTEXT_RATE_BITS, RTT_BITS
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, ProgramBuilder
from decision.policy import tree_decision
from decision.policy.features import RlCcCongestion
from decision.policy.once_per_rtt import DECIDED, late_answer
from decision.policy.rate import widened
from netsim.baselines import by_name
from netsim.deployment import Deployment
from netsim.devices import chosen
from netsim.network import MS, US
from netsim.policies import ProgramPolicy, interpreted, native
from rlcc.gate import on_device
from rlcc.gate.on_device import (
    REORDER,
    REORDER_BY_PS,
    DeviceCase,
    OnDevice,
    cases,
    checks,
    figures,
    network_of,
    run_on_device,
)
from rlcc.recipe import GateOptions
from teachers.load import load

CARD = chosen("bluefield3")


@pytest.mark.slow_except("True")
@pytest.mark.parametrize("once", [False, True])
def test_sharing_fails_and_the_rule_passes(once, monkeypatch):
    monkeypatch.setattr(on_device, "SCENARIOS", ("many-to-one:4x16",))
    teacher = load("fixtures/teachers/rl-cc-mlp")
    policy = native(teacher.policy.model_copy(update={"once_per_rtt": once}), teacher.weights)
    times = {"duration_ps": 60 * MS, "window_ps": (30 * MS, 60 * MS), "latency_ps": 900_000}
    found = run_on_device(policy, CARD, Deployment(), [1], **times)
    assert [(one.flows, one.reorder) for one in found] == [(1, False), (4, False), (16, False), (16, True)]
    rows = checks(found, CARD)
    assert len({row.id for row in rows}) == len(rows) == 8
    assert all(row.passed for row in rows[:2]), "own contexts"
    assert all(row.passed for row in rows) == once
    assert any(row.detail for row in rows) == (not once)


JITTER_NS = 2_000
"""What a response's stamp may be off by on the card."""


def stepping() -> ProgramPolicy:
    """24 steps of RL-CC's congestion, up to 10 % of the rate, at most once a round trip."""
    feature = RlCcCongestion.model_validate(FEATURES["rl_cc_congestion"])
    grid = np.arange(0, 1 << 18, 1 << 7)
    wanted = -0.1 * np.tanh(0.3 * feature.float_of(grid.astype(float)))
    levels = np.linspace(wanted.max(), wanted.min(), 25)
    trees = []
    for above, below in pairwise(levels):
        threshold = int(grid[np.abs(wanted - (above + below) / 2).argmin()])
        half = round((below - above) / 2 * (1 << 16))
        trees.append(oblivious(((0, threshold),), (-half, half)))
    student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], tuple(trees))
    return interpreted(student.with_parts(once_per_rtt=True))


def idle(b: ProgramBuilder) -> int:
    """1 where a context seems idle for longer than an RTT can be: unsigned, with room for the card's jitter. An event
    that was overtaken by more than that looks as old as the clock's wrap."""
    since = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.state_in(DECIDED, "uint32")))
    with_room = b.add(Op.WRAP_SUB, (since, b.const((1 << 32) - JITTER_NS)))
    return b.add(Op.GT, (b.add(Op.SHR, (with_room,), RTT_BITS), b.const(0)))


def restarting_rate(b: ProgramBuilder) -> tuple[int, int]:
    stored = b.state_in("rate_q30", "uint32")
    anew = b.add(Op.MAX, (b.add(Op.EQ, (stored, b.const(0))), idle(b)))
    wide = widened(b, b.add(Op.SELECT, (anew, b.param("rate_initial_q30"), stored)), "rate_now", "")
    return b.add(Op.SHR, (wide,), 32 - CONTEXT_RATE_BITS), wide


def never_late_when_idle(b: ProgramBuilder) -> int:
    late = late_answer(b)
    return b.add(Op.SELECT, (idle(b), b.const(0), late))


def test_only_the_reordered_rows_see_a_rule_that_needs_events_in_order(monkeypatch):
    """A mutant that starts an idle context anew. No flow of these networks is idle: it is the honest policy, to the
    last bit, wherever no event is late by more than the card's jitter."""
    monkeypatch.setattr(on_device, "SCENARIOS", ("many-to-one:4x16",))
    times = {"duration_ps": 60 * MS, "window_ps": (30 * MS, 60 * MS), "latency_ps": 900_000}
    honest = run_on_device(stepping(), CARD, Deployment(), [1], **times)
    monkeypatch.setattr(tree_decision, "rate_in_force", restarting_rate)
    monkeypatch.setattr(tree_decision, "late_answer", never_late_when_idle)
    mutant = run_on_device(stepping(), CARD, Deployment(), [1], **times)
    assert mutant[:3] == honest[:3]
    assert all(row.passed for row in checks(honest, CARD))
    *in_order, goodput, _ = checks(mutant, CARD)
    assert all(row.passed for row in in_order)
    assert not goodput.passed
    assert mutant[3].goodput < 0.7 < 0.9 < honest[3].goodput


def of(goodput: float, p99_us: float) -> list[bool]:
    rows = checks([OnDevice("many-to-one:4x16", 4, goodput, 0.9, p99_us, 10.0)], CARD)
    assert [row.group for row in rows] == ["network", "network"]
    return [row.passed for row in rows]


def test_each_limit_is_of_one_figure():
    assert of(0.8951, 15.0) == [True, True]
    assert of(0.8949, 15.0) == [False, True]
    assert of(0.95, 15.1) == [True, False]
    assert of(nan, nan) == [False, False]


def test_the_verdict_names_the_model_and_its_evidence():
    said = figures([], CARD)
    assert said["name"] == "bluefield3"
    assert said["facts"]["contexts.flows"] == {"value": 16, "evidence": "declared"}
    assert {fact["evidence"] for fact in said["facts"].values()} == {"documented", "measured", "declared"}


def test_as_many_flows_a_context_are_tried_as_there_may_be():
    assert cases(chosen("connectx6dx")) == (DeviceCase(1),)
    own, shared = cases(chosen("bluefield3-source-qp")), cases(chosen("bluefield3:8"))
    assert own == (DeviceCase(1), DeviceCase(1, reorder=True)), "its threads interleave"
    assert shared == (*map(DeviceCase, (1, 4, 8)), DeviceCase(8, reorder=True))


def test_a_device_that_reorders_more_than_the_stress_keeps_its_own():
    case, network = DeviceCase(16, reorder=True), Deployment().network
    usual = network_of(case, CARD, network)
    assert (usual.event_reorder, usual.event_reorder_by_ps) == (REORDER, REORDER_BY_PS)
    more = network_of(case, CARD, replace(network, event_reorder=0.3, event_reorder_by_ps=50 * US))
    assert (more.event_reorder, more.event_reorder_by_ps) == (0.3, 50 * US)
    assert network_of(DeviceCase(16), CARD, network).event_reorder == 0


def test_agents_that_are_no_flows_have_no_such_device():
    deployment = Deployment(flows=by_name("dcqcn"), interface=QUEUE_MARKING, period_ps=100 * US)
    with pytest.raises(InputError):
        on_device.check_device(deployment)
    on_device.check_device(replace(deployment, flows=None, interface=Deployment().interface))


def test_a_recipe_names_a_device_that_there_is():
    content = GateOptions(budget="1 us").model_dump(mode="json")
    assert "device" not in content
    assert GateOptions.model_validate(content | {"device": "bluefield3:4"}).device == "bluefield3:4"
    for wrong in ("bluefield9", "bluefield3:0", 3):
        with pytest.raises(ValidationError):
            GateOptions.model_validate(content | {"device": wrong})
