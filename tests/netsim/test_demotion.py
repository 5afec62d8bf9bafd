"""Classes by the bytes a flow has sent, or by its size; machines with a NIC in each of several planes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.mlfq_thresholds import BINS, MLFQ, MLFQ_THRESHOLDS
from netsim import Cohort, Simulation, scenarios
from netsim.baselines import by_name
from netsim.demotion import thresholds
from netsim.network import MS, US, Network
from netsim.policies import fixed
from netsim.scenarios import Flow, Scenario
from netsim.topology import by_name as fabric

DCTCP = by_name("dctcp-1g")
PLAIN = Network(buffer_bytes=4 * 2**20, inflight_messages=40, start_jitter_ps=0)
FOUR = replace(PLAIN, class_weights=(0, 0, 0, 0), nic_priorities=True)
ROW = (20_000, 200_000, 2_000_000)
BY_SENT = replace(FOUR, class_by="sent", demotion=(ROW,))


def completions(
    network: Network, scenario: Scenario | str, until_ps: int = 100 * MS, burst: int = 1, **more: Any
) -> dict[str, Any]:
    senders = DCTCP.model_copy(update={"burst_packets": burst})
    run = Simulation(scenario, senders, seed=1, duration_ps=until_ps, network=network, **more)
    run.run(until_ps)
    assert run.conservation()["holds"]
    return run.window()


def late_short(hosts: tuple[int, int], size: int = 10) -> Scenario:
    """A long flow, and one of ``size`` packets that comes 20 ms later, from these hosts to one receiver."""
    flows = (Flow(hosts[0], 0, packets=20_000), Flow(hosts[1], 0, packets=size, start_ps=20 * MS))
    return Scenario("late", 2, 2, flows, topology=fabric("planes:1x2:1"))


def slowdown(network: Network, scenario: Scenario) -> float:
    """Of the second flow."""
    window = completions(network, scenario)
    at = list(window["completed_flow"]).index(1)
    took = window["completed_finish_ps"][at] - window["completed_start_ps"][at]
    return float(took / window["completed_alone_ps"][at])


@pytest.mark.parametrize("hosts", [(0, 1), (0, 0)])
def test_a_short_flow_overtakes_a_long_one_that_has_fallen(hosts: tuple[int, int]) -> None:
    assert slowdown(PLAIN, late_short(hosts)) > 1.2
    assert slowdown(BY_SENT, late_short(hosts)) < 1.15  # a packet under way at the NIC and at the port is let through
    assert slowdown(replace(BY_SENT, class_by="size"), late_short(hosts)) < 1.15


def test_nics_have_priorities_only_where_they_are_told_so() -> None:
    without = slowdown(replace(BY_SENT, nic_priorities=False), late_short((0, 0)))
    assert slowdown(BY_SENT, late_short((0, 0))) < without


@pytest.mark.parametrize(("packets", "burst"), [(100, 1), (4, 4)])
@pytest.mark.parametrize("ends", [True, False])
def test_a_packet_has_the_class_of_the_bytes_before_it(packets: int, burst: int, ends: bool) -> None:
    """The last packet falls with all others before it, and starves behind flows of other machines that never do. A
    burst ends where the class does."""
    threshold = (packets - 1) * 1024 - (0 if ends else 1)
    flows = (Flow(0, 1, packets=packets, start_ps=5 * MS), Flow(2, 1), Flow(3, 1))
    crowd = Scenario("crowd", 4, 4, flows, topology=fabric("planes:1x4:1"))
    never = (2**31, 2**31, 2**31)
    network = replace(FOUR, class_by="sent", demotion=((threshold, 2**31, 2**31), never))
    assert (completions(network, crowd, 60 * MS, burst)["completed_flow"].size == 1) == ends


def test_thresholds_that_nothing_exceeds_change_nothing() -> None:
    far = replace(FOUR, class_by="sent", demotion=((2**31, 2**31, 2**31),))
    name = "websearch:60%@planes:3x4:1"
    own, by_sent = (completions(network, name) for network in (FOUR, far))
    for column in ("completed_flow", "completed_finish_ps"):
        assert np.array_equal(own[column], by_sent[column])


def test_groups_of_machines_have_thresholds_of_their_own() -> None:
    low, high = (1_000, 2_000, 3_000), (2**31 - 1,) * 3
    name = "websearch:70%@planes:3x4:1"
    both = completions(replace(FOUR, class_by="sent", demotion=(low, high)), name)
    alike = completions(replace(FOUR, class_by="sent", demotion=(low, low)), name)
    one = completions(replace(FOUR, class_by="sent", demotion=(low,)), name)
    assert np.array_equal(alike["completed_finish_ps"], one["completed_finish_ps"])
    assert not np.array_equal(both["completed_finish_ps"], one["completed_finish_ps"])


@pytest.mark.parametrize("by", ["sent", "size"])
def test_every_packet_is_in_one_place_and_in_order(by: str) -> None:
    """In a checked build each event says so."""
    crowded = replace(FOUR, class_by=by, demotion=(ROW,), buffer_bytes=2**16)
    run = Simulation("websearch:90%@planes:3x6:1", DCTCP, seed=3, duration_ps=80 * MS, network=crowded)
    for until in range(10, 90, 10):
        run.run(until * MS)
        assert run.conservation()["holds"]
    assert run.conservation()["dropped"] > 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"class_by": "age"}, "class_by is 'age'"),
        ({"class_by": "sent"}, "give both"),
        ({"demotion": (ROW,)}, "give both"),
        ({"class_by": "sent", "demotion": ((3, 2, 1),)}, "must ascend"),
        ({"class_by": "sent", "demotion": ((1, 2, 3, 4),)}, "5 levels, .*class_weights .*4"),
        ({"class_by": "sent", "demotion": ((1, 2), (1,))}, "as many thresholds"),
        ({"class_by": "sent", "demotion": (1, 2)}, "whole bytes"),
    ],
)
def test_bad_thresholds_are_told_in_a_sentence(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        replace(FOUR, **changes)


# --- planes -----------------------------------------------------------------------------------------------------------


def test_a_machine_has_a_path_in_each_plane() -> None:
    planes = fabric("planes:3x32:1")
    assert (planes.hosts, planes.switches, planes.hops) == (96, 3, 1)
    assert planes.base_rtt_ps == 100 * US  # [AUTO] section 6
    flows = scenarios.instantiate("websearch:60%@planes:3x32:1", 1, 20 * MS, Network())
    host, receiver = flows.column("host").astype(int), flows.column("receiver").astype(int)
    assert np.array_equal(host % 3, receiver % 3)
    assert (host // 3 != receiver // 3).all()
    assert set(host % 3) == {0, 1, 2}


@pytest.mark.parametrize("name", ["planes:9x4:1", "planes:0x4:1", "planes:3x0:1", "planes:3x4:3"])
def test_planes_that_cannot_be_are_told_in_a_sentence(name: str) -> None:
    with pytest.raises(InputError, match="topology planes"):
        fabric(name)


def test_groups_of_machines_send_what_each_is_given() -> None:
    name = "hadoop:60%+messages:30%@planes:3x8:1"
    flows = scenarios.instantiate(name, 1, 400 * MS, Network())
    machine, size = flows.column("host") // 3, flows.size_bytes(1024)
    sent = [size[machine < 4].sum(), size[machine >= 4].sum()]
    capacity = 4 * 3 * 125_000 * 400
    assert np.array(sent) / capacity == pytest.approx([0.6, 0.3], rel=0.2)
    assert set(np.unique(flows.column("receiver") // 3)) == set(range(8))


def test_phases_have_loads_of_their_own() -> None:
    both = scenarios.instantiate("websearch:80%>datamining:60%", 3, 40 * MS, Network())
    same = scenarios.instantiate("websearch>datamining:60%", 3, 40 * MS, Network())
    start, later = (np.sort(s.column("start_ps")) for s in (both, same))
    assert np.array_equal(start[start >= 20 * MS], later[later >= 20 * MS])
    assert (start < 20 * MS).sum() > (later < 20 * MS).sum()


# --- thresholds that suit a workload ----------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["sent", "size"])
def test_the_thresholds_of_a_workload_ascend(by: Any) -> None:
    for levels in (2, 4, 8):
        chosen = thresholds("websearch", 80, levels, by)
        assert len(chosen) == levels - 1
        assert list(chosen) == sorted(set(chosen))


@pytest.mark.parametrize(("levels", "percent"), [(1, 80), (9, 80), (4, 0), (4, 100)])
def test_levels_and_loads_without_thresholds_are_told(levels: int, percent: int) -> None:
    with pytest.raises(InputError, match=r"possible|thresholds are for"):
        thresholds("websearch", percent, levels)


# --- the network's agent ----------------------------------------------------------------------------------------------

KNOBS = dict(zip(MLFQ_THRESHOLDS.knob_names, ROW, strict=True))


def test_an_agent_that_sets_the_thresholds_in_force_changes_nothing() -> None:
    name = "websearch:70%@planes:3x4:1"
    agent = Cohort(fixed(MLFQ_THRESHOLDS, KNOBS), period_ps=5 * MS)
    alone, set_again = completions(BY_SENT, name), completions(BY_SENT, name, cohorts=[agent])
    assert np.array_equal(alone["completed_finish_ps"], set_again["completed_finish_ps"])
    other = Cohort(fixed(MLFQ_THRESHOLDS, dict.fromkeys(KNOBS, 2**31 - 1)), period_ps=5 * MS)
    assert not np.array_equal(
        alone["completed_finish_ps"], completions(BY_SENT, name, cohorts=[other])["completed_finish_ps"]
    )


def test_an_agent_is_told_what_finished_since_its_last_decision() -> None:
    agent = Cohort(fixed(MLFQ_THRESHOLDS, KNOBS), period_ps=10 * MS)
    run = Simulation(
        "websearch:70%@planes:3x4:1", DCTCP, seed=1, duration_ps=100 * MS, network=BY_SENT, cohorts=[agent]
    )
    run.start_recording()
    run.run(100 * MS + 1)
    told, window = run.drain_records(1), run.window()
    done = window["completed_finish_ps"] <= told["t_ps"][-1]
    size = run.scenario.size_bytes(1024)[window["completed_flow"][done]]
    alone, took = window["completed_alone_ps"], window["completed_finish_ps"] - window["completed_start_ps"]
    assert told["flows_q16"].sum() >> 16 == done.sum()
    edges = [0, *(4096 * 4**n for n in range(7)), 2**62]
    for name, low, high in zip(BINS, edges[:-1], edges[1:], strict=True):
        mine = (size > low) & (size <= high)
        assert told[f"flows_{name}_q16"].sum() >> 16 == mine.sum()
        for column, of_flow in (("alone", alone), ("took", took)):
            us = told[f"{column}_{name}_q6"].sum() / 64
            assert us == pytest.approx(of_flow[done][mine].sum() / 1e6, abs=1.0, rel=1e-3)
    share = size * 8000 / took[done]
    assert told["rates_q16"].sum() / 65536 == pytest.approx(share.sum(), rel=1e-3)


@pytest.mark.parametrize("interface", [MLFQ[1], MLFQ[-1]])
def test_another_number_of_thresholds_is_told_in_a_sentence(interface: Any) -> None:
    agent = Cohort(fixed(interface, dict.fromkeys(interface.knob_names, 1000)), period_ps=5 * MS)
    with pytest.raises(InputError, match=r"demotion .*3 .*agents set"):
        completions(BY_SENT, "websearch:70%@planes:3x4:1", cohorts=[agent])
