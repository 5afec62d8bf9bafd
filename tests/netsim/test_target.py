"""A policy at another target runs as one that was made for it: in C++, from outside, and as its integer program."""

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from netsim import Simulation, baselines, simulate
from netsim.network import MS
from netsim.policies import fixed, native, turned

OPTIONS = [{}, {"start": {}, "in_flight": {}}]


def changed(spec, **features):
    document = spec.policy.model_dump(mode="json", exclude_none=True)
    for feature in document["observation"]["features"]:
        if "target" in feature:
            feature.update({name: feature[name] * factor for name, factor in features.items()})
    return document


def tunable(spec):
    document = changed(spec)
    document["observation"]["target_ratio"] = 1
    return native(Policy.model_validate(document), spec.weights)


def recorded(spec, until_ps=12 * MS):
    simulation = Simulation("many-to-one:16", spec, seed=3, record=True)
    simulation.run(until_ps)
    return simulation.drain_records()


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(o) or "plain")
@pytest.mark.parametrize("ratio", [0.5, 1.0, 4.0])
def test_it_decides_as_one_of_that_target_would(steering, options, ratio):
    """Of ratios that floats hold, to the bit; and the rows that students and networks outside learn from are alike."""
    plain = steering(**options)
    other = native(Policy.model_validate(changed(plain, target=ratio, scale=1 / ratio)), plain.weights)
    spec = turned(tunable(plain), ratio)
    want, got = recorded(other), recorded(spec)
    assert len(got["flow"]) > 500
    for name in want:
        np.testing.assert_array_equal(got[name], want[name], name)
    rows = [
        Trajectories.of(records, each.interface).float_rows(each.policy.observation)[0]
        for each, records in ((spec, got), (other, want))
    ]
    np.testing.assert_array_equal(*rows)


def test_a_larger_target_is_a_longer_queue(steering):
    spec = tunable(steering())
    queues = [
        simulate("many-to-one:64", turned(spec, ratio), seed=1, duration_ps=40 * MS, window_ps=(20 * MS, 40 * MS))
        for ratio in (0.5, 1.0, 4.0)
    ]
    low, trained, high = (run.metrics["queue_mean_us"] for run in queues)
    assert low < trained < high


def test_what_cannot_be_turned_is_refused(steering):
    for spec in (steering(), fixed(QUEUE_MARKING, {"kmin_bytes": 1, "kmax_bytes": 2, "pmax_q16": 3})):
        with pytest.raises(InputError, match="target_ratio = 1"):
            turned(spec, 2.0)
    with pytest.raises(InputError, match="target_ratio = 1"):
        turned(baselines.by_name("hpcc"), 2.0)
    for ratio in (0.1, 17, float("nan")):
        with pytest.raises(InputError, match=r"0\.25 and 16"):
            turned(tunable(steering()), ratio)
