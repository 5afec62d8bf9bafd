"""Agents that are long flows: when they are asked, what they are told, and what their knobs do."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.long_flow import LONG_FLOW
from netsim import Cohort, Simulation
from netsim.baselines import by_name
from netsim.network import MS, Network
from netsim.policies import fixed
from netsim.scenarios import Flow, Scenario
from netsim.topology import by_name as fabric

DCTCP = by_name("dctcp-1g")
NETWORK = Network(
    buffer_bytes=4 * 2**20,
    inflight_messages=40,
    start_jitter_ps=0,
    class_weights=(0, 0, 0, 0),
    nic_priorities=True,
    class_by="sent",
    demotion=((20_000, 100_000, 200_000),),
)
AS_IT_IS = {"priority_class": 3, "limit_q16": 1 << 16, "path_number": 0}


def started(flows: tuple[Flow, ...], knobs: dict[str, int] | None = None, **changes: Any) -> Simulation:
    """Two planes of four machines; ``knobs`` of every long flow."""
    scenario = Scenario("few", 8, 8, flows, topology=fabric("planes:2x4:1"))
    cohorts = [] if knobs is None else [Cohort(fixed(LONG_FLOW, knobs), period_ps=MS)]
    network = replace(NETWORK, **changes)
    return Simulation(scenario, DCTCP, seed=1, network=network, cohorts=cohorts, record=True)


def goodput(run: Simulation, begin: int, end: int) -> np.ndarray:
    """Payload of each flow in Gb/s between these ms."""
    run.run(begin * MS)
    before = run.delivered()
    run.run(end * MS)
    assert run.conservation()["holds"]
    return (run.delivered() - before) * 1024 * 8 / ((end - begin) * 1e6)


def test_there_are_136_signals() -> None:
    assert len(LONG_FLOW.event) == 136  # [AUTO] section 5.2.2


def test_a_knob_caps_the_rate() -> None:
    flows = (Flow(0, 2), Flow(4, 6))
    assert goodput(started(flows, AS_IT_IS), 20, 40).min() > 0.9
    capped = goodput(started(flows, AS_IT_IS | {"limit_q16": 1 << 14}), 20, 40)
    assert capped == pytest.approx([0.25 * 1024 / 1106] * 2, rel=0.03)


def test_a_knob_moves_a_flow_to_another_plane() -> None:
    """Both send to machine 1; the second one's packets come in plane 1 from then on."""
    run = started((Flow(0, 2), Flow(4, 2)), AS_IT_IS | {"path_number": 1})
    assert goodput(run, 20, 40).sum() == pytest.approx(0.92, rel=0.03)  # one port, whichever
    ports = run.ports()["sent_bytes"]
    assert ports[3] > 5 * ports[2] > 0


def test_flows_that_are_placed_apart_have_a_port_each() -> None:
    flows = (Flow(0, 2), Flow(5, 3))
    assert goodput(started(flows, AS_IT_IS), 20, 40).sum() == pytest.approx(0.92, rel=0.03)
    assert goodput(started(flows), 20, 40).sum() > 1.8


def test_a_knob_raises_a_class_and_packets_stay_in_order() -> None:
    """In a checked build each packet says so. A flow that is raised goes before one that is not yet long."""
    flows = (Flow(0, 2), Flow(4, 2, start_ps=30 * MS))
    raised = goodput(
        started(flows, AS_IT_IS | {"priority_class": 0}, demotion=((20_000, 100_000, 20_000_000),)), 60, 90
    )
    low = goodput(started(flows, AS_IT_IS, demotion=((20_000, 100_000, 20_000_000),)), 60, 90)
    assert raised[0] == pytest.approx(low[0], abs=0.1)  # neither is long: 20 MB take 170 ms
    run = started(flows, AS_IT_IS | {"priority_class": 0}, demotion=((20_000, 100_000, 1_000_000),))
    assert goodput(run, 20, 29)[0] > 0.9
    assert run.drain_records(1)["priority_class"].tolist() == [0]


def test_one_is_asked_when_it_comes_and_when_one_comes_or_goes_that_shares_an_end() -> None:
    flows = (
        Flow(0, 2),
        Flow(2, 6, packets=1200, start_ps=20 * MS),
        Flow(4, 6, start_ps=4 * MS),
        Flow(6, 2, packets=600, start_ps=60 * MS),
    )
    run = started(flows, AS_IT_IS)
    run.run(120 * MS)
    asked, done = run.drain_records(1), run.window()
    times = {flow: (asked["t_ps"][asked["network"] == flow] / MS).round().tolist() for flow in range(4)}
    assert len(times[0]) == 3  # it came; flow 3 came to its receiver, and went
    assert len(times[2]) == 3  # it came; flow 1 came to its receiver, and went
    assert len(times[1]) == len(times[3]) == 1
    ends = dict(zip(done["completed_flow"].tolist(), done["completed_finish_ps"].tolist(), strict=True))
    assert times[0][-1] == np.ceil(ends[3] / MS)
    assert times[2][-1] == np.ceil(ends[1] / MS)
    last = asked["t_ps"].argmax()
    told = {name: int(column[last]) for name, column in asked.items()}
    assert (told["active_0_ends"], told["active_1_ends"], told["active_2_ends"]) == (4, 1, 0)
    assert told["finished_0_ends"] == 3  # the same receiver
    assert told["finished_0_kb"] == 600 * 1024 // 1000
    assert told["active_0_rate_q16"] == 1 << 16


def test_a_moved_flow_waits_for_what_it_has_in_flight() -> None:
    """Packets are lost and sent again on the way; nothing is lost sight of."""
    run = Simulation(
        "websearch:90%@planes:3x4:1",
        DCTCP,
        seed=3,
        duration_ps=150 * MS,
        network=replace(NETWORK, buffer_bytes=2**16),
        cohorts=[Cohort(fixed(LONG_FLOW, {"priority_class": 1, "limit_q16": 1 << 15, "path_number": 2}), period_ps=MS)],
    )
    run.run(150 * MS)
    assert run.conservation()["holds"]
    assert run.conservation()["dropped"] > 0
    assert run.decisions(1) > 10


@pytest.mark.parametrize("changes", [{"class_by": "size"}, {"class_by": "flow", "demotion": ()}])
def test_flows_that_never_fall_are_told_in_a_sentence(changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="that have fallen"):
        started((Flow(0, 2),), AS_IT_IS, **changes)
