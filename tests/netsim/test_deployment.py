"""Where a decider is taught or judged: its place among those who decide."""

import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from netsim import Network, baselines, policies
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.network import MS, US
from netsim.places import InThisThread
from netsim.trials import run

KNOBS = {"kmin_bytes": 10_000, "kmax_bytes": 40_000, "pmax_q16": 1 << 14}
LOW = policies.fixed(QUEUE_MARKING, KNOBS)
DCQCN = baselines.by_name("dcqcn")


def test_at_the_flows_the_decider_steers() -> None:
    deployed = Deployment(Network(buffer_bytes=2**20), cohorts=(Cohort(LOW, 50 * US),))
    trial = deployed.trial(DCQCN, "many-to-one:4", seed=2, duration_ps=MS, decision_latency_ps=7, name="x")
    assert (trial.policy, trial.cohorts, trial.decision_latency_ps) == (DCQCN, deployed.cohorts, 7)
    assert (trial.network, trial.name, deployed.cohort) == (deployed.network, "x", 0)


def test_at_the_queues_the_decider_is_a_cohort_under_the_senders() -> None:
    deployed = Deployment(interface=QUEUE_MARKING, flows=DCQCN, period_ps=100 * US)
    trial = deployed.trial(LOW, "many-to-one:8", seed=2, duration_ps=MS, decision_latency_ps=US, record_ps=MS)
    assert trial.policy is DCQCN
    assert trial.cohorts == (Cohort(LOW, 100 * US, US),)
    (outcome,) = run([trial], InThisThread())
    records = outcome.records[deployed.cohort]
    assert set(records["t_ps"].tolist()) == {n * 100 * US for n in range(1, 10)}
    assert records["kmin_bytes"].tolist() == [10_000] * 9


def test_somebody_steers_the_flows_and_nobody_twice() -> None:
    with pytest.raises(InputError, match="who steers"):
        Deployment(interface=QUEUE_MARKING, period_ps=US)
    with pytest.raises(InputError, match="nobody else"):
        Deployment(flows=DCQCN)


def test_a_decider_of_other_agents_is_refused() -> None:
    said = r"agents of {} cannot stand at those of {}; a recipe says .* \[agents.NAME\]"
    options = {"seed": 1, "duration_ps": MS, "decision_latency_ps": US}
    with pytest.raises(InputError, match=said.format("queue_marking", "flow_rate")):
        Deployment().trial(LOW, "many-to-one:4", **options)
    with pytest.raises(InputError, match=said.format("flow_rate", "queue_marking")):
        Deployment(interface=QUEUE_MARKING, flows=DCQCN, period_ps=US).trial(DCQCN, "many-to-one:4", **options)
