"""A NIC that cuts rates by itself: what is in force then, what records say of it, and what it is worth to be told."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interpret import trace
from decision.policy.device_rate import device_rate_program
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from netsim import Network, Simulation, baselines, simulate
from netsim.network import MS
from netsim.policies import native

LIMIT = Network(
    device_limit=0.02, device_limit_from_ps=8 * MS, device_limit_for_ps=4 * MS, device_limit_every_ps=8 * MS
)
OPTIONS = [{}, {"start": {}}, {"start": {}, "in_flight": {}}]


def told(spec):
    """The same policy, told of its NIC's rate."""
    document = spec.policy.model_dump(mode="json", exclude_none=True)
    document["observation"]["device_rate"] = True
    return native(Policy.model_validate(document), spec.weights)


def recorded(spec, network=None, scenario="many-to-one:4", until_ps=24 * MS):
    simulation = Simulation(scenario, spec, seed=3, record=True, network=network)
    simulation.run(until_ps)
    return Trajectories.of(simulation.drain_records(), simulation.interfaces[0])


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
def test_without_a_limiter_nothing_changes(steering, options):
    plain = steering(**options)
    a, b = recorded(plain), recorded(told(plain))
    assert set(b.columns) - set(a.columns) == {"device_rate_q20"}
    for name in a.columns:
        np.testing.assert_array_equal(a.columns[name], b.columns[name], name)
    # It is the rate that was set: never below it, and above it by less than a step of the device's.
    above = (b.columns["device_rate_q20"].astype(np.int64) << 10) - b.columns["rate_q30"]
    assert 0 <= above.min() <= above.max() < 1 << 10


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
def test_records_hold_the_rate_that_decisions_went_on_from(steering, options):
    t = recorded(told(steering(**options)), LIMIT)
    program, node = device_rate_program(t.interface)
    event = {name: t.columns[name].astype(np.int64) for name in t.interface.event_names}
    rate = t.columns["rate_q30"].astype(np.int64)
    held = trace(program, event, dict.fromkeys(t.interface.param_names, 1), {"rate_q30": rate})[node]
    np.testing.assert_array_equal(held, rate)
    now = t.columns["t_ps"] / MS
    limited = (now > 8.5) & (now < 12)
    assert limited.sum() > 100
    assert (t.columns["device_rate_q20"][limited] <= 0.02 * 2**20 + 1).all()
    assert (rate[limited] <= 0.02 * 2**30 + 2**10).all()
    assert (rate[(now > 6) & (now < 8)] > 0.1 * 2**30).any()


@pytest.mark.slow_except("plain-True", "in_flight-False")
@pytest.mark.parametrize("is_told", [False, True])
@pytest.mark.parametrize("options", [{}, {"in_flight": {}}], ids=lambda o: "+".join(o) or "plain")
def test_decisions_from_outside_leave_the_same_records(steering, from_outside, options, is_told):
    """Of flows that come and go too: what was set holds for one life. A multiplier is the policy's own."""
    spec = steering(**options)
    spec = told(spec) if is_told else spec
    for scenario in ("many-to-one:4", "long-short:5"):
        simulation = Simulation(scenario, spec, seed=3, record=True, network=LIMIT)
        simulation.run(24 * MS)
        inside = simulation.drain_records()
        outside = from_outside(spec, inside, scenario, seed=3, duration_ps=24 * MS, network=LIMIT)
        assert set(inside) == set(outside)
        assert ("device_rate_q20" in inside) is is_told
        for name in set(inside) - {"output"}:
            np.testing.assert_array_equal(inside[name], outside[name], err_msg=name)


def test_a_policy_that_is_not_told_comes_back_with_what_it_asked_for_meanwhile(steering):
    """Four flows that have a fifth of their share each for 4 ms raise their rates to line rate; told, they do not."""
    spec = steering()
    window = {"duration_ps": 40 * MS, "window_ps": (8 * MS, 40 * MS), "network": LIMIT}
    blind, informed = (simulate("many-to-one:4", one, seed=1, **window).metrics for one in (spec, told(spec)))
    assert blind["latency_p99_us"] > 3 * informed["latency_p99_us"]
    assert informed["goodput"] > 0.25


def test_the_limiter_is_of_policies(steering):
    with pytest.raises(InputError, match=r"hpcc .*baseline"):
        simulate("many-to-one:4", baselines.by_name("hpcc"), seed=1, network=LIMIT)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"device_limit": 0.0}, "share .*line rate"),
        ({"device_limit": 1.5}, "share .*line rate"),
        ({"device_limit_for_ps": 5, "device_limit_every_ps": 5}, "longer than"),
        ({"device_limit_for_ps": 10**15}, "at most 100 s"),
    ],
)
def test_what_no_limiter_can_be_is_refused(fields, said):
    with pytest.raises(InputError, match=said):
        Network(**fields)
