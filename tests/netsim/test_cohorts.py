"""Several kinds of agents in one network: DCQCN at the flows, and a decider at the switches' queues every 100 us."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.forest import Forest
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, ProgramBuilder
from netsim import Cohort, Engines, Network, Scenario, Simulation, policies, simulate
from netsim.baselines import BaselineSpec, by_name
from netsim.network import MS, US
from netsim.scenarios import Flow
from netsim.topology import leaf_spine
from tests.netsim.test_compiled import build

PERIOD = 100 * US
DCQCN = by_name("dcqcn")
assert DCQCN.ecn is not None
AT_ENQUEUE = DCQCN.model_copy(update={"ecn": DCQCN.ecn.model_copy(update={"marking": "enqueue"})})
PMAX_Q16 = 1 << 14  # a quarter: DCQCN's thresholds with a probability that both sides hold exactly
SCENARIO = "many-to-one:16"

# Halves its thresholds from 400 KB and 1.6 MB on as long as the queue is longer than a fifth of what the port can send.
HALVING = """
#include <stdint.h>
typedef struct { uint32_t halvings; } rlcc_queue;
typedef struct { uint32_t queue_bytes, sent_bytes, marked_bytes; } rlcc_event;
typedef struct { uint32_t capacity_bytes; } rlcc_params;
typedef struct { uint32_t kmin_bytes, kmax_bytes, pmax_q16; } rlcc_action;
const uint32_t rlcc_queue_bytes = sizeof(rlcc_queue);
void rlcc_decide(rlcc_queue *q, const rlcc_event *e, const rlcc_params *p, rlcc_action *a) {
  if (5 * (uint64_t)e->queue_bytes > p->capacity_bytes && q->halvings < 8) ++q->halvings;
  a->kmin_bytes = 400000 >> q->halvings;
  a->kmax_bytes = 1600000 >> q->halvings;
  a->pmax_q16 = 13107;
}
"""


def fixed(kmin: int, kmax: int, pmax_q16: int, **changes: Any) -> Cohort:
    knobs = {"kmin_bytes": kmin, "kmax_bytes": kmax, "pmax_q16": pmax_q16}
    return Cohort(policies.fixed(QUEUE_MARKING, knobs), **{"period_ps": PERIOD} | changes)


@pytest.fixture(scope="module")
def halving(tmp_path_factory: pytest.TempPathFactory) -> policies.CompiledPolicy:
    library = build(tmp_path_factory.mktemp("halving"), HALVING)
    return policies.compiled(library, policies.Installed({"capacity_bytes": 1}, QUEUE_MARKING))


def run(
    *cohorts: Cohort,
    marking: tuple[int, int] | None = None,
    until_ps: int = 5 * MS,
    flows: BaselineSpec = AT_ENQUEUE,
    **network: Any,
) -> tuple[dict[str, Any], Simulation]:
    """Everything that can be read of DCQCN's flows after ``until_ps``; ``marking``: static thresholds of the port."""
    simulation = Simulation(SCENARIO, flows, seed=3, record=True, cohorts=cohorts, network=Network(**network))
    if marking is not None:
        simulation.set_red(0, *marking, PMAX_Q16 / 2**16)
    simulation.run(until_ps)
    read = {"window": simulation.window(), "ports": simulation.ports(), "rates": simulation.rates()}
    return read, simulation


@pytest.mark.parametrize(("flows", "scheduled"), [(AT_ENQUEUE, False), (AT_ENQUEUE, True), (DCQCN, True)])
def test_a_fixed_setting_is_the_static_marking_bit_for_bit(flows: BaselineSpec, scheduled: bool) -> None:
    """The thresholds that the port has from the start, set again every 100 us; and others are not the same."""
    thresholds = (30_000, 120_000)
    static, _ = run(marking=thresholds, flows=flows, scheduled_ports=scheduled)
    cohort = fixed(*thresholds, PMAX_Q16)
    decided, simulation = run(cohort, marking=thresholds, flows=flows, scheduled_ports=scheduled)
    np.testing.assert_equal(decided, static)
    assert static["ports"]["marked"][0] > 100
    assert simulation.decisions(1) == 49  # the one at 5 ms is still to come
    other, _ = run(fixed(60_000, 240_000, PMAX_Q16), marking=thresholds, flows=flows, scheduled_ports=scheduled)
    assert other["ports"]["marked"][0] != static["ports"]["marked"][0]


def test_a_decider_that_does_nothing_new_is_not_noticed() -> None:
    """Looking at queues changes nothing: a level that is never crossed asks nobody."""
    alone, _ = run()
    watched, simulation = run(fixed(0, 0, 0, level=("queue_bytes", 2**32 - 1)))
    np.testing.assert_equal(watched, alone)
    assert simulation.decisions(1) == 0


def queue_of(simulation: Simulation, until_ps: int) -> float:
    """Mean queue of the port, bytes, at 200 even steps from now on."""
    samples = []
    for at in np.linspace(simulation.now_ps, until_ps, 201)[1:]:
        simulation.run(int(at))
        samples.append(simulation.ports()["backlog_bytes"][0])
    return float(np.mean(samples))


def test_a_decider_that_halves_the_thresholds_shortens_the_queue(halving) -> None:
    """Compiled C with a context, an operator's parameter of the port and three knobs, over DCQCN's flows."""
    plain = Simulation(SCENARIO, DCQCN, seed=3)
    cohort = Cohort(halving, PERIOD)
    decided = Simulation(SCENARIO, DCQCN, seed=3, record=True, cohorts=[cohort])
    for simulation in (plain, decided):
        simulation.run(10 * MS)
    before, after = queue_of(plain, 20 * MS), queue_of(decided, 20 * MS)
    records = decided.drain_records(1)
    kmin = records["kmin_bytes"][records["queue"] == 0]
    assert kmin[0] in (400_000, 200_000)
    assert (np.diff(kmin.astype(np.int64)) <= 0).all()
    assert kmin[-1] <= 200_000
    assert after < 0.7 * before
    assert decided.metrics()["goodput"] > 0.5 * plain.metrics()["goodput"]


def halving_program() -> policies.ProgramPolicy:
    """HALVING once more, as an integer decision program with three results."""
    b = ProgramBuilder(Forest((), (), (0,), 0), QUEUE_MARKING)
    halvings = b.state_in("halvings", "uint32")
    long_queue = b.add(Op.GT, (b.add(Op.MUL, (b.const(5), b.event("queue_bytes"))), b.param("capacity_bytes")))
    may = b.add(Op.GT, (b.const(8), halvings))
    more = b.add(Op.MIN, (b.add(Op.ADD, (halvings, b.add(Op.MIN, (long_queue, may)))), b.const(8)))
    b.state_out("halvings", more)
    b.tables = [tuple(kmin >> i for i in range(9)) for kmin in (400_000, 1_600_000)]
    kmin, kmax = (b.add(Op.TABLE, (more,), table) for table in (0, 1))
    return policies.program(b.finish(kmin, kmax, b.const(13_107)), policies.Installed({"capacity_bytes": 1}))


def test_a_program_over_queues_decides_as_its_c(halving) -> None:
    found = []
    for decider in (halving, halving_program()):
        simulation = Simulation(SCENARIO, DCQCN, seed=3, record=True, cohorts=[Cohort(decider, PERIOD, 3 * US)])
        simulation.run(5 * MS)
        found.append((simulation.drain_records(1), simulation.window(), simulation.ports()))
    assert np.unique(found[0][0]["kmin_bytes"]).size > 2
    np.testing.assert_equal(found[0], found[1])


@pytest.mark.parametrize("latency_ps", [0, 7 * US, 250 * US])
def test_records_say_what_a_queue_saw_and_a_decision_holds_when_its_latency_is_over(latency_ps: int) -> None:
    """A port that marks nothing is told to mark whatever meets a queue."""
    simulation = Simulation(SCENARIO, AT_ENQUEUE, seed=3, record=True, cohorts=[fixed(0, 0, 0, latency_ps=latency_ps)])
    simulation.set_red(0, 2**30, 2**30, 0)
    holds = PERIOD + latency_ps
    simulation.run(holds)  # all events before that time
    assert simulation.ports()["backlog_bytes"][0] > 100_000
    assert simulation.ports()["marked"][0] == 0
    simulation.run(holds + 20 * US)
    assert simulation.ports()["marked"][0] > 5
    simulation.run(2 * MS)
    records = simulation.drain_records(1)
    assert list(records) == [
        "t_ps", "queue", "step", "queue_bytes", "sent_bytes", "marked_bytes", "kmin_bytes", "kmax_bytes", "pmax_q16",
    ]  # fmt: skip
    assert (records["queue"] == 0).all()
    np.testing.assert_array_equal(records["t_ps"], PERIOD * np.arange(1, 20))
    np.testing.assert_array_equal(records["step"], np.arange(19))
    assert (records["kmin_bytes"] == 0).all()
    capacity = PERIOD // 80
    assert 0.9 * capacity < records["sent_bytes"].max() <= capacity + 1106
    assert records["queue_bytes"][0] > 100_000
    assert (records["marked_bytes"] <= records["sent_bytes"]).all()
    assert records["marked_bytes"][records["t_ps"] <= holds].sum() == 0
    assert records["marked_bytes"][records["t_ps"] > holds].sum() > capacity


def test_what_was_sent_between_decisions_adds_up() -> None:
    """To what the port has sent since the start: nothing is counted twice, and nothing forgotten."""
    cohort = fixed(400_000, 1_600_000, PMAX_Q16, period_ps=33 * US)
    _, simulation = run(cohort)
    records = simulation.drain_records(1)
    sent = int(records["sent_bytes"].astype(np.int64).sum())
    last = int(records["t_ps"][-1])
    again, _ = run(cohort, until_ps=last)
    arrived = int(again["ports"]["sent_bytes"][0])
    on_link = 2 * US // 80  # what may have left and not yet arrived
    assert 0 <= sent - arrived <= on_link


def test_what_a_queue_sends_is_the_same_by_fifo_and_packet_by_packet() -> None:
    """Both ways to count what has left, while the thresholds move."""
    cohort = fixed(20_000, 80_000, PMAX_Q16, period_ps=17 * US + 333)
    counted = []
    for scheduled in (False, True):
        _, simulation = run(cohort, scheduled_ports=scheduled, until_ps=3 * MS)
        counted.append(simulation.drain_records(1))
    assert counted[0]["marked_bytes"].sum() > 10_000
    np.testing.assert_equal(counted[0], counted[1])


def test_every_queue_of_a_fabric_is_told_its_own_capacity_and_class(halving, tmp_path) -> None:
    """Ports of 25 and 100 Gb/s, two classes: agents are ports x classes, in that order."""
    told = """
#include <stdint.h>
const uint32_t rlcc_queue_bytes = 0;
void rlcc_decide(void *q, const uint32_t *e, const uint32_t *p, uint32_t *a) {
  (void)q; a[0] = p[0]; a[1] = p[0] + e[0]; a[2] = 0;
}
"""
    decider = policies.compiled(build(tmp_path, told), policies.Installed({"capacity_bytes": 1}, QUEUE_MARKING))
    fabric = leaf_spine(2, 2, 1, host_gbps=25, spine_gbps=100)
    scenario = Scenario("two classes", 4, 4, (Flow(0, 2), Flow(1, 3, klass=1)), topology=fabric)
    network = Network(class_weights=(1, 1))
    simulation = Simulation(scenario, DCQCN, seed=1, record=True, cohorts=[Cohort(decider, PERIOD)], network=network)
    simulation.run(PERIOD + 1)
    records = simulation.drain_records(1)
    np.testing.assert_array_equal(records["queue"], np.arange(2 * len(fabric.ports)))
    expected = np.repeat([PERIOD // (8000 // port.gbps) for port in fabric.ports], 2)
    np.testing.assert_array_equal(records["kmin_bytes"], expected)
    assert set(expected) == {PERIOD // 320, PERIOD // 80}
    sent = records["sent_bytes"].reshape(-1, 2)
    assert (sent[:, 0] > 0).sum() == (sent[:, 1] > 0).sum() == 3  # leaf, spine, leaf
    assert not (sent > 0).all(axis=1)[:4].any()  # each receiver has one class only


def test_queues_wait_for_their_switchs_engines() -> None:
    """64 queues of one switch, one engine that needs 5 us a decision: a period does not last for all of them."""
    cohort = fixed(10_000, 40_000, PMAX_Q16, latency_ps=5 * US, engines=Engines(1, "drop", depth=7))
    simulation = Simulation("all-to-all:64", DCQCN, seed=1, cohorts=[cohort])
    simulation.run(10 * PERIOD + 50 * US)
    where = simulation.engine_events(1)
    assert where["holds"]
    assert where["events"] == 10 * 64
    assert where["decided"] == 10 * 8  # the one at once, and those that may wait
    assert where["dropped"] == 10 * 56


def test_a_level_asks_when_the_queue_crosses_it() -> None:
    cohort = fixed(400_000, 1_600_000, 13107, period_ps=5 * US, level=("queue_bytes", 50_000))
    simulation = Simulation(SCENARIO, DCQCN, seed=3, record=True, cohorts=[cohort])
    simulation.run(10 * MS)
    queue = simulation.drain_records(1)["queue_bytes"].astype(np.int64)
    assert queue.size >= 2
    above = queue > 50_000
    assert above[0]
    assert (above[1:] != above[:-1]).all()


@pytest.mark.parametrize("looks", [1, 3])
def test_an_idle_queue_is_not_asked_until_it_exceeds_the_knob_in_force(looks: int) -> None:
    """Of all looks those are left out, and nothing else, at which the queue had not exceeded Kmin so often in a row."""
    kmin, of = 30_000, ["t_ps", "queue_bytes", "sent_bytes", "marked_bytes"]
    idle = fixed(kmin, 120_000, PMAX_Q16, period_ps=5 * US, idle=("queue_bytes", "kmin_bytes", looks))
    _, every = run(replace(idle, idle=None), marking=(kmin, 120_000))
    _, busy = run(idle, marking=(kmin, 120_000))
    all_looks, asked = every.drain_records(1), busy.drain_records(1)
    above = all_looks["queue_bytes"] > kmin
    above[0] = True  # as busy: nobody was asked before
    expected = np.convolve(above, np.ones(looks, np.int64))[: above.size] > 0
    assert looks < expected.sum() < expected.size - 100
    for name in of:  # what was sent is of the last period, idle before or not
        np.testing.assert_array_equal(asked[name], all_looks[name][expected])


def test_simulate_returns_the_records_of_every_cohort() -> None:
    result = simulate(
        SCENARIO, DCQCN, seed=1, duration_ps=MS, window_ps=(0, MS), record=True,
        cohorts=[fixed(10_000, 40_000, PMAX_Q16), fixed(10_000, 40_000, PMAX_Q16, period_ps=200 * US)],
    )  # fmt: skip
    assert [records["t_ps"].size for records in result.cohorts] == [9, 4]
    assert result.records["t_ps"].size == 0  # a baseline's words are no decisions


def test_wrong_cohorts_are_refused(steering) -> None:
    with pytest.raises(InputError, match=r"flow_rate .*on a response"):
        Cohort(steering(), PERIOD)
    with pytest.raises(InputError, match=r"no flows; .*cohort"):
        Simulation(SCENARIO, fixed(0, 0, 0).decider, seed=1)
    with pytest.raises(InputError, match=r"period_ps .*0 ps; .*1"):
        fixed(0, 0, 0, period_ps=0)
    with pytest.raises(InputError, match=r"latency_ps .*0\.5; "):
        fixed(0, 0, 0, latency_ps=0.5)
    with pytest.raises(InputError, match=r"pmax_q16 .*65537; .*0 to 65536"):
        fixed(0, 0, 65_537)
    with pytest.raises(InputError, match="kmin_bytes, kmax_bytes, pmax_q16; got kmin_bytes"):
        policies.fixed(QUEUE_MARKING, {"kmin_bytes": 0})
    with pytest.raises(InputError, match=r"level .*queue_bytes"):
        fixed(0, 0, 0, level=("rtt", 1))
    with pytest.raises(InputError, match=r"queue_bytes and pmax_q16; .*queue_b"):
        fixed(0, 0, 0, idle=("queue_bytes", "pmax_q16", 3))
    with pytest.raises(InputError, match=r"idle .*0 looks .*1 to"):
        fixed(0, 0, 0, idle=("queue_bytes", "kmin_bytes", 0))
    with pytest.raises(InputError, match="no cohort 1"):
        Simulation(SCENARIO, DCQCN, seed=1).drain_records(1)
    with pytest.raises(InputError, match=r"64 cohorts .*many"):
        Simulation(SCENARIO, DCQCN, seed=1, cohorts=[fixed(0, 0, 0)] * 64)
    with pytest.raises(InputError, match=r"parameters .*capacity_bytes"):
        policies.compiled(Path(__file__), policies.Installed({}, QUEUE_MARKING))
    assert FLOW_RATE.trigger == "response"
