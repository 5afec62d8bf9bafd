"""A knob of one cohort that is a parameter of another: two levels over the same queues, one queue over all flows, one
flow over the queue."""

from pathlib import Path

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from netsim import Cohort, Flow, Scenario, Simulation, Wire, policies
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.policies import CompiledPolicy, Installed
from tests.netsim.test_compiled import build

DCQCN = by_name("dcqcn")
FAST, SLOW, LATE = 50 * US, 300 * US, 20 * US
FLOW_PARAMS = dict.fromkeys(FLOW_RATE.param_names, 1 << 29)

# Its Kmin says what its parameter is.
TOLD = """
#include <stdint.h>
const uint32_t rlcc_queue_bytes = 0;
void rlcc_decide(void *q, const uint32_t *e, const uint32_t *p, uint32_t *a) {
  (void)q; (void)e; a[0] = p[0]; a[1] = p[0]; a[2] = 0;
}
"""
# Its Kmax counts its decisions in thousands, and what was sent below that.
COUNTING = """
#include <stdint.h>
const uint32_t rlcc_queue_bytes = 4;
void rlcc_decide(uint32_t *q, const uint32_t *e, const uint32_t *p, uint32_t *a) {
  (void)p; ++*q; a[0] = 0; a[1] = *q * 1000 + e[1] % 1000; a[2] = 0;
}
"""
# A flow's rate is its third parameter.
OBEDIENT = """
#include <stdint.h>
const uint32_t rlcc_flow_bytes = 4;
uint32_t rlcc_decide(uint32_t *f, const uint32_t *e, const uint32_t *p) {
  (void)e; *f = p[2]; return p[2] >> 10;
}
"""


def compiled(where: Path, source: str, interface=QUEUE_MARKING, **params: int) -> CompiledPolicy:
    where.mkdir()
    return policies.compiled(build(where, source), Installed(params or {"capacity_bytes": 7}, interface))


@pytest.fixture(scope="module")
def lower(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    return Cohort(compiled(tmp_path_factory.mktemp("told") / "c", TOLD), FAST)


@pytest.fixture(scope="module")
def upper(tmp_path_factory: pytest.TempPathFactory) -> Cohort:
    return Cohort(compiled(tmp_path_factory.mktemp("counting") / "c", COUNTING), SLOW, LATE)


def test_each_agent_of_the_lower_level_is_told_what_its_own_of_the_upper_one_set(lower: Cohort, upper: Cohort) -> None:
    """From when the decision takes effect, 20 us after it was made, and until the next one."""
    wires = [Wire(2, "kmax_bytes", 1, "capacity_bytes")]
    cohorts = [lower, upper]
    simulation = Simulation("all-to-all:3", DCQCN, seed=1, record=True, cohorts=cohorts, wires=wires)
    simulation.run(2 * MS)
    told, set_ = simulation.drain_records(1), simulation.drain_records(2)
    assert np.unique(set_["kmax_bytes"]).size == set_["kmax_bytes"].size  # they differ by queue
    own_capacity = FAST // 80  # before anything is set
    for t, queue, kmin in zip(told["t_ps"], told["queue"], told["kmin_bytes"], strict=True):
        in_force = set_["kmax_bytes"][(set_["queue"] == queue) & (set_["t_ps"] + LATE <= t)]
        assert kmin == (in_force[-1] if in_force.size else own_capacity)
    assert (told["kmin_bytes"] != own_capacity).sum() > 50


def test_without_a_wire_neither_level_hears_of_the_other(lower: Cohort, upper: Cohort) -> None:
    simulation = Simulation("all-to-all:3", DCQCN, seed=1, record=True, cohorts=[lower, upper])
    simulation.run(MS)
    assert set(simulation.drain_records(1)["kmin_bytes"]) == {FAST // 80}


def test_one_queue_sets_a_parameter_of_every_flow(tmp_path: Path) -> None:
    """The flows' rates follow the queue's Kmax, whatever the operator gave them."""
    assert FLOW_RATE.param_names[2] == "rate_max_q30"
    flows = compiled(tmp_path / "flows", OBEDIENT, FLOW_RATE, **FLOW_PARAMS)
    level = policies.fixed(QUEUE_MARKING, {"kmin_bytes": 0, "kmax_bytes": 1 << 26, "pmax_q16": 0})
    wires = [Wire(1, "kmax_bytes", 0, "rate_max_q30")]
    simulation = Simulation("many-to-one:5", flows, seed=1, cohorts=[Cohort(level, SLOW)], wires=wires)
    simulation.run(SLOW)
    np.testing.assert_array_equal(simulation.rates(), 0.5)
    simulation.run(2 * MS)
    np.testing.assert_array_equal(simulation.rates(), 2.0**-4)


def test_a_knob_is_carried_in_its_own_unit(tmp_path: Path, lower: Cohort) -> None:
    """The site holds a rate in Q0.30; the wire carries the Q0.20 that the interface speaks of."""
    flow = compiled(tmp_path / "flow", OBEDIENT, FLOW_RATE, **FLOW_PARAMS | {"rate_max_q30": 12_345 << 10})
    scenario = Scenario("one flow", 1, 1, (Flow(0, 0),))
    wires = [Wire(0, "rate_q20", 1, "capacity_bytes")]
    simulation = Simulation(scenario, flow, seed=1, record=True, cohorts=[lower], wires=wires)
    simulation.run(MS)
    assert simulation.drain_records(1)["kmin_bytes"][-1] == 12_345


def test_a_parameter_stays_within_what_an_operator_may_set(lower: Cohort) -> None:
    nothing = policies.fixed(QUEUE_MARKING, {"kmin_bytes": 0, "kmax_bytes": 0, "pmax_q16": 0})
    wires = [Wire(2, "kmax_bytes", 1, "capacity_bytes")]
    cohorts = [lower, Cohort(nothing, FAST)]
    simulation = Simulation("many-to-one:2", DCQCN, seed=1, record=True, cohorts=cohorts, wires=wires)
    simulation.run(MS)
    assert QUEUE_MARKING.params[0].settable == (1, 2**31 - 1)
    assert simulation.drain_records(1)["kmin_bytes"][-1] == 1


def test_wrong_wires_are_refused(tmp_path: Path, lower: Cohort, upper: Cohort) -> None:
    def refused(wire: Wire, why: str, *cohorts: Cohort, flows=DCQCN) -> None:
        with pytest.raises(InputError, match=f"wire .*{wire.knob} .*cohort {wire.source} .*{why}"):
            Simulation("many-to-one:2", flows, seed=1, cohorts=cohorts or [lower, upper], wires=[wire])

    fixed = Cohort(policies.fixed(QUEUE_MARKING, {"kmin_bytes": 0, "kmax_bytes": 0, "pmax_q16": 0}), FAST)
    refused(Wire(3, "kmax_bytes", 1, "capacity_bytes"), "no cohort 3; the simulation has 3")
    refused(Wire(1, "kmax_bytes", 1, "capacity_bytes"), "name another target")
    refused(Wire(2, "rate_q20", 1, "capacity_bytes"), "sets kmin_bytes, kmax_bytes, pmax_q16")
    refused(Wire(0, "rate_q20", 1, "capacity_bytes"), "its source sets nothing")
    refused(Wire(2, "kmax_bytes", 1, "capacity"), "reads capacity_bytes; name one")
    refused(Wire(2, "kmax_bytes", 1, "capacity_bytes"), "reads no parameter", fixed, upper)
    flows = compiled(tmp_path / "flows", OBEDIENT, FLOW_RATE, **FLOW_PARAMS)
    refused(Wire(0, "rate_q20", 1, "capacity_bytes"), "2 agents of kind flow cannot stand for", lower, flows=flows)
