"""Engines that decide one event at a time: a delay bit for bit where nothing waits, else as queueing theory has it.

Slow: two further loads of the queue of theory.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from netsim import ArrayEnv, Engines, Network, Scenario, Simulation, simulate
from netsim.baselines import by_name
from netsim.engines import MAX_ENGINES, OVERLOAD
from netsim.network import MS, US
from netsim.scenarios import Flow
from netsim.splitmix import uniform

EVERY_FLOW_ITS_OWN = (
    Engines(MAX_ENGINES),
    Engines(MAX_ENGINES, "drop", 0),
    Engines(MAX_ENGINES, "coalesce"),
    Engines(MAX_ENGINES, "coalesce", 0),
)


def of_flows(metrics: dict[str, float]) -> dict[str, float]:
    """Without what only engines have."""
    return {k: v for k, v in metrics.items() if not k.startswith(("engine_", "decision_latency"))}


def event_times(records: dict[str, Any]) -> Any:
    """When each event came, ps: by the device's clock, which the first record sets because that event never waits."""
    offset = records["response_ns"][0] - records["t_ps"][0] // 1000
    age_ns = (records["t_ps"] // 1000 + offset - records["response_ns"].astype(np.int64)) % 2**32
    return records["t_ps"] - age_ns * 1000


@pytest.mark.parametrize("latency_ps", [0, 900_000, 30_000_000])
@pytest.mark.parametrize("scenario", ["many-to-one:4x4", "all-to-all:4", "long-short:8"])
def test_an_engine_a_flow_is_a_delay_bit_for_bit(steering, scenario: str, latency_ps: int) -> None:
    """Whatever the policy of overload: nothing ever waits."""
    until = 22 * MS if scenario.startswith("long-short") else 3 * MS
    given_ = {"seed": 3, "record": True, "decision_latency_ps": latency_ps, "network": Network(buffer_bytes=200_000)}
    plain = Simulation(scenario, steering(), **given_)
    plain.run(until)
    records, metrics = plain.drain_records(), plain.metrics()
    assert records["flow"].size > 200
    assert plain.engine_events() == {}
    for engines in EVERY_FLOW_ITS_OWN:
        run = Simulation(scenario, steering(), engines=engines, **given_)
        run.run(until)
        for name, column in run.drain_records().items():
            assert column.tobytes() == records[name].tobytes(), (engines, name)
        np.testing.assert_equal(of_flows(run.metrics()), metrics)
        assert run.conservation() == plain.conservation()
        assert run.metrics()["engine_wait_max_us"] == 0
        assert run.metrics()["decision_latency_max_us"] == latency_ps * 1e-6


# --- theory ----------------------------------------------------------------------------------------------------------

SERVICE_US = 10.0


def poisson(load: float, hosts: int = 8, flows: int = 20_000) -> Scenario:
    """One RTT event a flow, at Poisson times at each host: a flow's first burst carries a probe, its second and last
    one leaves long after, and the answer to that one's probe finds the flow over."""
    rows = []
    for host in range(hosts):
        gap_ps = SERVICE_US * 1e6 / load
        start = np.cumsum(-np.log1p(-uniform(flows, 7, host)) * gap_ps).astype(np.int64)
        rows += [Flow(host, host, packets=5, start_ps=int(at)) for at in start]
    return Scenario("poisson", hosts, hosts, tuple(rows))


def served(constant: Any, load: float, engines: Engines) -> tuple[dict[str, float], dict[str, int], float]:
    """Metrics, where the events went, and the events an engine and us, over the time in which they come."""
    scenario = poisson(load)
    run = Simulation(
        scenario,
        constant("0.01 %"),
        seed=1,
        engines=engines,
        decision_latency_ps=round(SERVICE_US * US),
        network=Network(start_jitter_ps=0),
    )
    last = int(scenario.column("start_ps").reshape(8, -1).max(axis=1).min())
    run.run(last)
    return run.metrics(), run.engine_events(), run.metrics()["engine_events"] / 8 / (last * 1e-6)


@pytest.mark.slow_except("0.6")
@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_events_wait_as_in_an_md1_queue(constant, load: float) -> None:
    """Mean wait: load S / (2 (1 - load)) (Pollaczek-Khinchine); places taken: arrivals x wait (Little)."""
    found, where, arrivals = served(constant, load, Engines(1))
    assert where["holds"]
    assert where["decided"] > 150_000
    assert found["engine_utilisation"] == pytest.approx(load, rel=0.02)
    assert found["engine_wait_mean_us"] == pytest.approx(load * SERVICE_US / (2 * (1 - load)), rel=0.04)
    assert found["engine_queue_mean"] == pytest.approx(arrivals * found["engine_wait_mean_us"], rel=0.01)
    assert found["decision_latency_mean_us"] == pytest.approx(found["engine_wait_mean_us"] + SERVICE_US, rel=0.001)
    assert found["engine_decisions_s"] == pytest.approx(load / SERVICE_US * 1e6, rel=0.02)


@pytest.mark.slow_except("2.0")
@pytest.mark.parametrize("load", [0.5, 2.0])
def test_an_engine_without_a_queue_loses_what_erlang_says(constant, load: float) -> None:
    """Erlang's loss formula for one server holds for any service time: load / (1 + load)."""
    found, where, _ = served(constant, load, Engines(1, "drop", 0))
    assert where["holds"]
    assert where["dropped"] / where["events"] == pytest.approx(load / (1 + load), rel=0.02)
    assert found["engine_wait_max_us"] == 0
    assert found["engine_queue_max"] == 0


def test_an_overloaded_engine_is_always_busy_and_decides_as_fast_as_it_can(constant) -> None:
    run = Simulation("many-to-one:1x32", constant("1 %"), seed=1, engines=Engines(1), decision_latency_ps=17 * US)
    run.run(10 * MS)
    run.reset_window()
    run.run(20 * MS)
    found = run.metrics()
    assert found["engine_utilisation"] == 1.0
    assert found["engine_decisions_s"] == pytest.approx(1e6 / 17, rel=0.002)
    assert found["engine_service_mean_us"] == 17
    # Its flows take turns: each measures anew when all others have been decided.
    assert found["decisions_per_flow_s"] == pytest.approx(1e6 / 17 / 32, rel=0.02)
    assert 31 * 17 - 100 < found["engine_wait_p99_us"] < 31 * 17


# --- one event at a time ---------------------------------------------------------------------------------------------


def test_flows_belong_to_engines_by_queue_pair(constant) -> None:
    """3 engines for 8 queue pairs of each of 2 hosts: pairs 0, 3 and 6 share one."""
    run = Simulation(
        "many-to-one:2x8", constant("2 %"), seed=1, engines=Engines(3), decision_latency_ps=200 * US, record=True
    )
    run.run(20 * MS)
    records = run.drain_records()
    assert run.window()["engines"]["engine_decided"].size == 6
    for host in range(2):
        for engine in range(3):
            own = (records["flow"] // 8 == host) & (records["flow"] % 8 % 3 == engine)
            assert own.sum() > 90
            assert np.diff(records["t_ps"][own]).min() == 200 * US  # one at a time, back to back
            response = records["response_ns"][own].astype(np.int64)
            assert (((np.diff(response) + 2**31) % 2**32) - 2**31 >= 0).all()  # first come, first served


@settings(deadline=None)
@given(
    of_nic=st.integers(1, 5),
    overload=st.sampled_from(OVERLOAD),
    depth=st.integers(0, 4),
    latency_us=st.sampled_from([0, 1, 20, 400]),
    scenario=st.sampled_from(["many-to-one:2x6", "long-short:9", "all-to-all:3", "incast:4x30KB"]),
    seed=st.integers(0, 2**32),
)
def test_every_event_and_packet_is_in_one_place(steering, of_nic, overload, depth, latency_us, scenario, seed) -> None:
    limit = None if overload == "wait" else depth
    engines = Engines(of_nic, overload, limit)
    network = Network(buffer_bytes=60_000)
    run = Simulation(
        scenario, steering(0.5), seed=seed, engines=engines, decision_latency_ps=latency_us * US, network=network,
        record=True,
    )  # fmt: skip
    run.run(11 * MS)
    parts = [run.metrics()]
    run.reset_window()
    run.run(13 * MS)
    parts.append(run.metrics())
    where, records = run.engine_events(), run.drain_records()
    assert where["holds"]
    assert run.conservation()["holds"]
    assert where["decided"] == records["flow"].size == sum(part["decisions"] for part in parts)
    for name in ("events", "dropped", "coalesced", "expired"):
        assert where[name] == sum(part[f"engine_{name}"] for part in parts)
    assert where["coalesced"] == 0 or overload == "coalesce"
    assert where["dropped"] == 0 or overload != "wait"
    for part in parts:
        assert 0 <= part["engine_utilisation"] <= part["engine_utilisation_max"] <= 1 + 1e-12
        if limit is not None:
            assert part["engine_queue_max"] <= limit
    for flow in np.unique(records["flow"]):
        assert np.diff(records["t_ps"][records["flow"] == flow]).min(initial=2**62) >= latency_us * US


# --- overload --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engines", [Engines(1, "drop", 0), Engines(1, "drop", 3), Engines(1, "coalesce", 0)])
def test_a_flow_whose_event_is_dropped_measures_again(constant, engines: Engines) -> None:
    """No flow stops deciding for ever, and what the NIC counted comes with the next event."""
    run = Simulation(
        "many-to-one:1x8", constant("10 %"), seed=1, engines=engines, decision_latency_ps=50 * US, record=True
    )
    run.run(100 * MS)
    records, counts = run.drain_records(), run.window()["counts"]
    assert run.engine_events()["dropped"] > 1000
    for flow in range(8):
        own = records["flow"] == flow
        assert records["t_ps"][own].max() > 90 * MS
        assert own.sum() > 50
    most = sum(int(records["sent_bytes"][records["flow"] == flow].max()) for flow in range(8))
    lacks = counts["data_sent"] * 1024 - int(records["sent_bytes"].astype(np.int64).sum())
    assert 0 <= lacks <= most


def test_a_newer_event_takes_the_place_of_the_older_one(constant) -> None:
    """Two flows on one engine that takes 1 ms: an event that would have waited all that time is never older than a
    round trip, a probe's gap and a burst's pace; bytes sent add up over those that it took the place of."""

    def decided(engines: Engines) -> tuple[dict[str, Any], dict[str, int], int]:
        run = Simulation(
            "many-to-one:1x2", constant("10 %"), seed=1, engines=engines, decision_latency_ps=1000 * US, record=True
        )
        run.run(50 * MS)
        return run.drain_records(), run.engine_events(), run.window()["counts"]["data_sent"] * 1024

    records, where, sent = decided(Engines(1, "coalesce"))
    waiting = decided(Engines(1))[0]
    assert (records["t_ps"] - event_times(records)).max() < 20 * US
    assert np.median((waiting["t_ps"] - event_times(waiting))[2:]) > 900 * US
    assert where["coalesced"] > 2000
    # In a millisecond a flow sends 10 % of 12.5 MB/ms in packets of 1106 bytes on the wire.
    alone = 0.1 * 12.5e6 * 1e-3 * 1024 / 1106 * 2 * 1000  # between two decisions of a flow: 2 ms
    assert np.median(records["sent_bytes"][4:]) == pytest.approx(alone, rel=0.02)
    assert 0 <= sent - int(records["sent_bytes"].astype(np.int64).sum()) <= 2.1 * alone


def test_an_event_of_a_flow_that_is_over_is_not_decided(constant) -> None:
    """Short flows come back every 10 ms, and some are done before the engine has dealt with them: whatever is decided
    is of one stay of the flow, from the event to the decision."""
    run = Simulation(
        "long-short:33", constant("20 %"), seed=1, engines=Engines(1), decision_latency_ps=4 * MS, record=True
    )
    run.run(200 * MS)
    where, records, window = run.engine_events(), run.drain_records(), run.window()
    assert where["holds"]
    assert where["expired"] > 50
    assert where["decided"] == records["flow"].size > 300
    event_ps = event_times(records)
    for i in np.flatnonzero(records["flow"] > 0):
        own = window["completed_flow"] == records["flow"][i]
        started, finished = window["completed_start_ps"][own], window["completed_finish_ps"][own]
        stay = int(np.searchsorted(started, records["t_ps"][i], side="right")) - 1
        if stay >= 0:  # else it has not finished once
            assert started[stay] <= event_ps[i] or stay == started.size - 1
            assert records["t_ps"][i] <= finished[stay] or stay == started.size - 1


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0,), "0 engines"),
        ((True,), "True engines"),
        ((MAX_ENGINES + 1,), "choose 1 to 65536"),
        ((1, "ignore"), "wait, drop, coalesce"),
        ((1, "drop"), "how many .*wait"),
        ((1, "drop", -1), "queue .*-1 events"),
        ((1, "coalesce", 1.5), "queue .*1.5 events"),
        ((1, "wait", 4), "queue .*no depth"),
    ],
)
def test_contradictory_engines_are_told(values: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Engines(*values)


def test_engines_run_policies_only(steering) -> None:
    with pytest.raises(InputError, match="leave engines out"):
        Simulation("many-to-one:2", by_name("hpcc"), seed=1, engines=Engines(1))
    assert (
        "engine_utilisation"
        not in simulate("many-to-one:2", steering(), seed=1, duration_ps=MS, window_ps=(0, MS)).metrics
    )
    env = ArrayEnv("many-to-one:2", 1, duration_ps=MS)
    assert env.recv() is not None
