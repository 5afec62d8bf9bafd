"""Contexts that several flows share, what a device makes of rates, and at most one decision a round trip."""

from dataclasses import replace

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from decision.artefact.errors import InputError
from decision.ir.forest import oblivious
from decision.policy.start import Start
from netsim import Network, Simulation
from netsim.arrays import ArrayEnv
from netsim.baselines import by_name
from netsim.mixes import Mix, Part
from netsim.network import MS, US
from netsim.policies import NativePolicy, interpreted, native
from teachers.load import load

SIXTEEN = Network(context_flows=16)


@pytest.fixture(scope="module")
def teacher() -> NativePolicy:
    loaded = load("fixtures/teachers/rl-cc-mlp")
    return native(loaded.policy, loaded.weights)


def once(policy: NativePolicy, on: bool = True) -> NativePolicy:
    return replace(policy, policy=policy.policy.model_copy(update={"once_per_rtt": on}))


def run(policy: object, network: Network, scenario: str = "many-to-one:4x16", ms: int = 40) -> Simulation:
    simulation = Simulation(scenario, policy, seed=1, network=network, duration_ps=ms * MS, record=True)
    simulation.run(ms // 2 * MS)
    simulation.reset_window()
    simulation.run(ms * MS)
    return simulation


def test_a_flow_alone_in_its_context_has_no_late_answer(teacher):
    """Then the rule changes nothing, to the last bit."""
    plain, ruled = run(teacher, Network()), run(once(teacher), Network())
    assert ruled.late_answers() == 0
    assert plain.metrics() == ruled.metrics()
    one, other = plain.drain_records(), ruled.drain_records()
    assert all(np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f") for name in one)


def test_sharing_costs_goodput_and_the_rule_gives_it_back(teacher):
    """The figures of docs/results/shared-contexts.md, in a shorter run."""
    own, shared, ruled = (
        run(policy, network).metrics()
        for policy, network in ((teacher, Network()), (teacher, SIXTEEN), (once(teacher), SIXTEEN))
    )
    assert shared["goodput"] < 0.9 * own["goodput"]
    assert ruled["goodput"] > 0.995 * own["goodput"]
    assert ruled["latency_p99_us"] < 1.5 * own["latency_p99_us"] < shared["latency_p99_us"]


def test_a_context_decides_once_a_round_trip(teacher):
    """No request of a decision left before the decision before: from the records of each context."""
    for policy, holds in ((once(teacher), True), (teacher, False)):
        simulation = run(policy, SIXTEEN)
        assert (simulation.late_answers() > 0) == holds
        records = simulation.drain_records()
        assert set(np.unique(records["flow"])) == set(range(0, 64, 16)), "a record is a context's"
        kept = []
        for flow in range(0, 64, 16):
            mine = records["flow"] == flow
            assert (np.diff(records["step"][mine].astype(np.int64)) == 1).all()
            sent, came = (records[name][mine].astype(np.int64) for name in ("request_sent_ns", "response_ns"))
            kept.append(bool((((sent[1:] - came[:-1]) & 0xFFFFFFFF) < 1 << 31).all()))
        assert all(kept) == holds


def test_all_flows_of_a_context_get_its_rate(teacher):
    simulation = run(once(teacher), SIXTEEN)
    rates = simulation.rates().reshape(4, 16)
    assert (np.abs(rates / rates[:, :1] - 1) < 0.25).all(), "each has it with its next burst"
    assert simulation.metrics()["jain"] > 0.99


def test_a_program_counts_late_answers_as_a_network_does(teacher):
    """A student in integers behind the same rule, with a start and without."""
    tree = oblivious(((0, 1 << 18),), (3000, -3000))
    for start in (None, Start()):
        student = make_student([FEATURES["rl_cc_congestion"]], ACTIONS[0], (tree,))
        if start is not None:
            observation = student.observation.model_copy(update={"interface": "flow_start"})
            student = student.with_parts(observation=observation, start=start)
        for on in (False, True):
            simulation = run(interpreted(student.with_parts(once_per_rtt=on)), SIXTEEN, ms=10)
            assert (simulation.late_answers() > 0) == on
            assert simulation.decisions() >= 100


def test_with_a_probe_a_context_no_answer_is_late(teacher):
    """The requests that would bring them are not sent; what they took of the line is payload's."""
    one, each = (run(once(teacher), replace(SIXTEEN, probe_a_context=on)) for on in (True, False))
    assert one.late_answers() < 0.01 * each.late_answers()
    assert one.metrics()["goodput"] > each.metrics()["goodput"] + 0.005


def test_counts_go_on_through_late_answers(teacher):
    """What was sent since a context's last decision is all that its flows sent, however many answers were late."""
    simulation = run(once(teacher), SIXTEEN)
    sent = simulation.drain_records()["sent_bytes"].astype(np.int64).sum()
    total = int(simulation.conservation()["sent"]) * 1024
    assert 0.98 * total < sent <= total


@pytest.mark.parametrize("scale", [1.0, 0.975])
def test_the_wire_carries_less_than_was_set(teacher, scale):
    """And decisions go on from what was set: the offset does not build up."""
    metrics = run(teacher, Network(rate_scale=scale), "many-to-one:1").metrics()
    assert abs(metrics["goodput"] - scale * 1024 / 1106 * 0.981) < 0.02


def test_a_floor_and_a_step_of_rates(teacher):
    simulation = run(teacher, Network(rate_step_q30=1 << 24, rate_least_q30=1 << 24))
    rates = simulation.rates() * 2**6
    assert (rates >= 1).all()
    assert np.array_equal(rates, np.rint(rates))


def test_what_cannot_be_shared_is_refused(teacher):
    mix = Mix((Part(teacher, 50), Part(by_name("dcqcn"), 50)))
    for build in (
        lambda: Simulation("many-to-one:4x16", mix, seed=1, network=SIXTEEN),
        lambda: ArrayEnv("many-to-one:4x16", 1, network=SIXTEEN),
        lambda: Network(context_flows=0),
        lambda: Network(rate_scale=0.0),
        lambda: Network(rate_step_q30=0),
        lambda: Network(rate_least_q30=(1 << 30) + 1),
        lambda: Network(actuation_ps=10**18),
    ):
        with pytest.raises(InputError):
            build()


def test_actuation_is_latency(teacher):
    late = Simulation("many-to-one:4", teacher, seed=1, network=Network(actuation_ps=2 * US), duration_ps=5 * MS)
    slow = Simulation("many-to-one:4", teacher, seed=1, decision_latency_ps=2_900_000, duration_ps=5 * MS)
    for simulation in (late, slow):
        simulation.run(5 * MS)
    assert np.array_equal(late.rates(), slow.rates())
