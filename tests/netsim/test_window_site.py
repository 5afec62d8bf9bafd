"""Flows with a window in bytes: what they are told is what happened, and what they set holds; NSCC in integers beside
NSCC in floats."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import WINDOWED, flow_interface
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from decision.ir.interpret import evaluate
from decision.policy.algorithm import load_algorithm
from decision.policy.nscc import NsccPath
from netsim import Failure, Mix, Network, Part, Scenario, Simulation, assembly, baselines
from netsim.cohorts import Cohort
from netsim.devices import on_device
from netsim.engines import Engines
from netsim.network import MS, US
from netsim.policies import PolicySpec, fixed, interpreted
from netsim.scenarios import Flow, instantiate

ROOT = Path(__file__).parents[2]
ALGORITHM = load_algorithm(ROOT / "docs/window/nscc.toml")
NSCC = interpreted(ALGORITHM)
PACKET_PS = 1106 * 80
THERE, BACK = 4_000_000, 8_192_000 - (4_000_000 - PACKET_PS + 84 * 80)
RTT = THERE + BACK
"""A full packet's way on a link of 100 Gb/s and its ACK's, ps."""
TINY = 2 * 1086 + 20
"""Of a policer of half the line rate: it drops packets of a burst, so that losses of each kind come."""
LOST = ("trimmed_bytes", "nacked_bytes", "skipped_bytes", "expired_bytes")


def window_of(packets: int, **more: int) -> PolicySpec:
    """A window that stays as it is."""
    interface = flow_interface(WINDOWED[0]) if more else FLOW_WINDOW
    return fixed(interface, {"window_bytes": 1024 * packets, **more})


def run(policy: Any, scenario: Scenario | str, until: int = 2 * MS, latency: int = 0, **network: Any) -> Simulation:
    values = {"start_jitter_ps": 0, "transport": "selective-repeat", **network}
    simulation = Simulation(
        scenario,
        policy,
        seed=3,
        duration_ps=until,
        decision_latency_ps=latency,
        record=True,
        network=Network(**values),
    )
    simulation.run(until)
    return simulation


def alone(packets: int, last_bytes: int = 0) -> Scenario:
    return Scenario("alone", 1, 1, (Flow(0, 0, packets, last_bytes=last_bytes),))


@pytest.mark.parametrize("packets", [1, 8, 40])
def test_a_window_is_what_is_in_flight(packets: int) -> None:
    """It goes out once an RTT, which it does not fill."""
    simulation = run(window_of(packets), alone(0), until=20 * RTT + packets * PACKET_PS)
    assert simulation.window()["sent_packets"].tolist() == [packets * 21]
    records = simulation.drain_records()
    assert set(records["window_bytes"]) == {1024 * packets}
    assert set(records["acked_bytes"]) == {1024}
    assert set(records["rtt_ns"]) == {RTT // 1000}
    assert set(np.diff(records["now_ns"].astype(np.int64)) % 2**32) <= {PACKET_PS // 1000, PACKET_PS // 1000 + 1} | (
        {(RTT - (packets - 1) * PACKET_PS) // 1000 + more for more in (0, 1)}
    )


def test_a_pacing_rate_is_the_rate_of_the_sender() -> None:
    simulation = run(window_of(400, rate_q20=1 << 18), alone(0), until=MS)
    assert simulation.window()["sent_packets"][0] == pytest.approx(MS / PACKET_PS / 4, rel=0.01)


@pytest.mark.parametrize("transport", ["selective-repeat", "go-back-n"])
@pytest.mark.parametrize("last_bytes", [0, 100])
def test_every_byte_is_told_once(transport: str, last_bytes: int) -> None:
    """Whatever was sent was acknowledged, was lost, or is in flight; at the last event only the last ACK's is."""
    simulation = run(
        window_of(12),
        alone(60, last_bytes),
        transport=transport,
        policer_gbps=50,
        policer_burst_bytes=TINY,
        retransmit_timeout_ps=MS,
        until=40 * MS,
    )
    sent, metrics = simulation.window()["sent_packets"].sum(), simulation.metrics()
    assert simulation.window()["completed_flow"].size == 1
    assert metrics["dropped_packets"] > 0
    records = {name: column.astype(np.int64) for name, column in simulation.drain_records().items()}
    lost = sum(records[name] for name in LOST)
    total = np.cumsum(records["acked_bytes"] + lost) + records["in_flight_bytes"]
    assert (np.diff(total) >= 0).all()
    assert (np.cumsum(records["acked_bytes"]) + records["in_flight_bytes"] <= 60 * 1024).all()
    kinds = {name: int(records[name].sum()) for name in LOST}
    assert (kinds["skipped_bytes"] > 0) == (transport == "selective-repeat") == (kinds["nacked_bytes"] == 0)
    assert (kinds["expired_bytes"] > 0) == (metrics["timeouts"] > 0) == (transport == "selective-repeat")
    short = 1024 - (last_bytes or 1024)
    sent_last = round((sent * 1024 - total[-1]) / short) if short else 0
    assert total[-1] == sent * 1024 - sent_last * short
    assert short == 0 or sent_last >= 1


def test_what_switches_trim_is_told_at_once_and_by_its_bytes() -> None:
    """Two flows of 8 packets, of which a queue of four trims some (tests/netsim/test_trimming.py)."""
    flows = tuple(Flow(host, 0, 8) for host in range(2))
    simulation = run(window_of(8), Scenario("burst", 2, 1, flows), trim_bytes=4 * 1106)
    records, trims = simulation.drain_records(), simulation.conservation()["headers_arrived"]
    assert records["trimmed_bytes"].sum() == 1024 * trims > 0
    assert sum(records[name].sum() for name in LOST[1:]) == 0
    assert simulation.metrics()["timeouts"] == 0


def test_a_flow_is_told_the_path_of_what_was_acknowledged() -> None:
    """Values whose packets would cross a link that is down come back no more; the others do."""
    network = {"entropy_values": 8, "reorder_packets": 64, "reroute_ps": MS}
    link = Failure("leaf0-spine0", 100 * US, MS)
    records = run(
        window_of(90), "many-to-one:1@leaf-spine:2x1x4", until=MS, failures=(link,), **network
    ).drain_records()
    early, late = (set(records["path_id"][when]) for when in (records["t_ps"] < 100 * US, records["t_ps"] > 130 * US))
    assert early == set(range(8))
    assert 0 < len(late) < 8
    assert records["skipped_bytes"].sum() > 0


def test_marks_are_of_the_bytes_acknowledged() -> None:
    simulation = run(NSCC, "many-to-one:8", until=MS)
    records = simulation.drain_records()
    assert (records["marked_bytes"] <= records["acked_bytes"]).all()
    assert 0 < records["marked_bytes"].sum() < records["acked_bytes"].sum()


def test_each_decision_is_the_programs() -> None:
    """From an empty context on, with the parameters that follow from the network."""
    simulation = run(NSCC, "many-to-one:4", until=MS // 4, latency=900_000)
    records, program = simulation.drain_records(), ALGORITHM.program()
    params = ALGORITHM.params(NsccPath(1024, 100 * 10**9, RTT // 1000, 8192))
    mine = [np.flatnonzero(records["flow"] == flow)[:80] for flow in range(4)]
    context = {field.name: np.zeros(4, np.int64) for field in program.state}
    for step in zip(*mine, strict=True):
        event = {name: records[name][list(step)] for name in FLOW_WINDOW.event_names}
        knobs, context = evaluate(program, event, params, context)
        assert knobs[0].tolist() == records["window_bytes"][list(step)].tolist()


def test_flows_know_their_own_path() -> None:
    scenario, network = instantiate("many-to-one:8@leaf-spine:2x4x2", 1, MS, Network()), Network()
    fabric, net = assembly.place(scenario, network)
    own = assembly.windows_in(scenario, fabric, net, seed=1)
    assert set(own.mtu_bytes) == {1024}
    assert len(set(own.path_rtt_ns)) == 2  # behind the receiver's own leaf, and beyond a spine
    by_own = own.params(ALGORITHM)
    assert [len(set(by_own[name])) for name in ("window_max_bytes", "target_delay_ns")] == [2, 1]


def test_a_decision_takes_its_time() -> None:
    """Until then the window of a new flow holds: what left at the start is more than the first decision allows."""
    late, now = (run(NSCC, "many-to-one:8", until=60 * US, latency=latency) for latency in (40 * US, 0))
    assert late.window()["sent_packets"].sum() > now.window()["sent_packets"].sum()


@pytest.mark.parametrize("overload", ["wait", "coalesce", "drop"])
def test_an_engine_merges_what_waits_for_it(overload: str) -> None:
    engines = Engines(1, overload=overload, depth=None if overload == "wait" else 1)
    simulation = Simulation(
        Scenario("two", 1, 1, (Flow(0, 0, 0), Flow(0, 0, 0))),
        NSCC,
        seed=1,
        decision_latency_ps=2 * US,
        engines=engines,
        record=True,
        network=Network(transport="selective-repeat"),
    )
    simulation.run(MS)
    events, records = simulation.engine_events(), simulation.drain_records()
    assert events["holds"]
    assert events["decided"] < events["events"]
    told = records["acked_bytes"].astype(np.int64).sum()
    assert 0 <= simulation.delivered().sum() * 1024 - told <= 2 * 1024 * 700  # under way at the end
    assert records["acked_bytes"].max() > 1024


def test_a_timer_that_expires_is_decided_on() -> None:
    """Everything of the flow is dropped: one packet goes out until the decision, which is the shortest way back later
    whatever the slices of the run."""
    network = {"policer_gbps": 10, "policer_burst_bytes": 1110, "retransmit_timeout_ps": MS}
    whole = run(NSCC, alone(50), until=30 * MS, latency=900_000, **network)
    records = whole.drain_records()
    expired = records["expired_bytes"] > 0
    assert expired.sum() == whole.metrics()["timeouts"] > 0
    sliced = run(NSCC, alone(50), until=1, latency=900_000, **network)
    for until in range(1, 31):
        sliced.run(until * MS)
    other = sliced.drain_records()
    assert all((records[name] == other[name]).all() for name in records)
    assert whole.delivered().tolist() == [50]


# --- NSCC in integers and in floats -----------------------------------------------------------------------------------

BOTH = ("goodput", "latency_p99_us", "queue_mean_us")


@pytest.mark.parametrize(
    ("scenario", "tolerance"), [("many-to-one:8", 0.05), ("many-to-one:64", 0.05), ("all-to-all:4", 0.05)]
)
def test_integers_and_floats_behave_alike(scenario: str, tolerance: float) -> None:
    found = []
    for policy in (NSCC, baselines.by_name("nscc")):
        simulation = run(policy, scenario, until=2 * MS, start_jitter_ps=10 * US)
        simulation.reset_window()
        simulation.run(6 * MS)
        found.append([simulation.metrics()[name] for name in BOTH])
    assert found[0] == pytest.approx(found[1], rel=tolerance)


def test_they_share_a_port_fairly() -> None:
    mix = Mix((Part(NSCC, 50, latency_ps=0), Part(baselines.by_name("nscc"), 50)))
    metrics = run(mix, "many-to-one:16", until=6 * MS).metrics()
    assert metrics["a_fair"] == pytest.approx(1, abs=0.1)


# --- bad input --------------------------------------------------------------------------------------------------------

REFUSED = {
    "payload": ({"payload_bytes": 128}, "mtu"),
    "limited": ({"device_limit": 0.5, "device_limit_for_ps": MS}, "window"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_networks_in_which_no_window_can_be_set_are_refused(name: str) -> None:
    network, said = REFUSED[name]
    with pytest.raises(InputError, match=said):
        run(NSCC, "many-to-one:2", until=1, **network)


def test_contexts_are_not_shared() -> None:
    with pytest.raises(InputError, match="context"):
        Simulation("many-to-one:8", NSCC, seed=1, network=on_device(Network(), "bluefield3:2"))


def test_windows_stand_at_the_flows_alone() -> None:
    with pytest.raises(InputError, match="response"):
        Cohort(NSCC, period_ps=MS)
