"""Flows that wait for one another: none begins too early, rounds follow, a closed loop obeys Little's law."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.policy.records import Trajectories
from netsim import Cohort, Flow, Mix, Network, Part, Scenario, Simulation, baselines, scenarios, simulate
from netsim.jobs import Jobs
from netsim.network import MS, US
from netsim.policies import fixed

NAMES = (
    "blocks:20%:1KB-64KBx4",
    "blocks:20%:1KB-64KBx4:3copies",
    "parameter-server:5x200KB",
    "tree-all-reduce:6x50KB:2ms",
    "ring-all-reduce:5x200KB",
    "tree-all-reduce:6x50KB",
    "exchange:6x100KB",
    "ring-all-reduce:5x200KB:one-qp",
    "exchange:6x100KB:1ms:one-qp",
)


def run(scenario, until_ps=5 * MS, name="swift", **given):
    simulation = Simulation(scenario, baselines.by_name(name), seed=1, **given)
    simulation.run(until_ps)
    return simulation


def rounds_of(simulation):
    """Of each flow its (start, finish), round by round."""
    window = simulation.window()
    of = [[] for _ in simulation.scenario.flows]
    for flow, *times in zip(
        *(window[f"completed_{c}"].tolist() for c in ("flow", "start_ps", "finish_ps")), strict=True
    ):
        of[flow].append(tuple(times))
    return of


def messages_of(simulation):
    """Of each message its (start, finish), round by round."""
    jobs, done = simulation.scenario.jobs, rounds_of(simulation)
    of = [[] for _ in jobs.of]
    for flow, times in enumerate(done):
        mine = [message for message, sender in enumerate(jobs.senders(len(done))) if sender == flow]
        for number, time in enumerate(times):
            of[mine[number % len(mine)]].append(time)
    return of


def in_order(simulation):
    jobs, done = simulation.scenario.jobs, messages_of(simulation)
    for one, other in jobs.edges:
        assert len(done[other]) <= len(done[one])
        for (_, ended), (began, _) in zip(done[one], done[other], strict=False):
            assert began >= ended
    return done


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fabric", ["", "@leaf-spine:4x8x2"])
def test_no_flow_begins_before_those_that_it_waits_for_have_ended(name, fabric):
    simulation = run(name + fabric)
    done = in_order(simulation)
    assert min(map(len, done)) >= 1
    assert simulation.conservation()["holds"]
    assert simulation.metrics()["rounds"] >= 1


@given(
    edges=st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30),
    gaps=st.lists(st.sampled_from([0, 20 * US]), min_size=1, max_size=3),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(40), deadline=None)
def test_any_jobs_go_on_in_order(edges, gaps, seed):
    """Edges lead from lower to higher flows of the same job, so that there is no circle."""
    of = tuple(flow % len(gaps) for flow in range(12))
    ahead = tuple(sorted({(a, b) for a, b in edges if a < b and of[a] == of[b]}))
    flows = tuple(Flow(flow // 3, flow % 4, packets=1 + flow % 5) for flow in range(12))
    scenario = Scenario("any", 4, 4, flows, jobs=Jobs(of, ahead, tuple(gaps)))
    simulation = Simulation(scenario, baselines.by_name("dctcp"), seed=seed, network=Network(buffer_bytes=20_000))
    simulation.run(3 * MS)
    done = in_order(simulation)
    assert simulation.conservation()["holds"]
    for job, gap in enumerate(gaps):
        mine = [done[flow] for flow in range(12) if of[flow] == job]
        assert max(map(len, mine)) - min(map(len, mine)) <= 1
        for number in range(1, max(map(len, mine))):
            ended = max(times[number - 1][1] for times in mine)
            assert min(times[number][0] for times in mine if len(times) > number) >= ended + gap


def test_rounds_are_counted_as_they_are():
    simulation = run("ring-all-reduce:4x40KB", 2 * MS)
    window, done = simulation.window(), rounds_of(simulation)
    count = window["round_job"].size
    assert count == min(map(len, done)) > 3
    for number in range(count):
        assert window["round_start_ps"][number] == min(times[number][0] for times in done)
        assert window["round_finish_ps"][number] == max(times[number][1] for times in done)


def test_a_closed_loop_obeys_littles_law():
    metrics = simulate(
        "blocks:50%:16KBx8", baselines.by_name("swift"), seed=1, duration_ps=20 * MS, window_ps=(5 * MS, 20 * MS)
    ).metrics
    assert metrics["rounds_per_s"] * metrics["round_mean_us"] * 1e-6 == pytest.approx(18 * 8, rel=0.02)


def test_more_outstanding_requests_make_more_of_them_until_the_links_are_full():
    rates = [
        run(f"blocks:100%:4KBx{depth}", 4 * MS).metrics()["rounds_per_s"] for depth in (1, 4)
    ]  # fmt: skip
    assert rates[1] > 3 * rates[0]


def test_a_ring_takes_as_long_as_its_steps_in_an_empty_network():
    """2 (N - 1) steps one after the other, each a chunk on an empty path."""
    metrics = run("ring-all-reduce:4x400KB", 4 * MS, "max-min").metrics()
    assert metrics["round_mean_us"] == pytest.approx(6 * metrics["fct_mean_us"], rel=0.1)
    assert metrics["slowdown_mean"] < 1.15


def test_one_queue_pair_carries_all_messages_between_two_machines():
    each, one = (run(f"ring-all-reduce:5x200KB{qp}").scenario for qp in ("", ":one-qp"))
    assert (len(each.flows), len(one.flows)) == (40, 5)
    assert len(one.jobs.of) == 40
    assert one.column("host").tolist() == [0, 1, 2, 3, 4]
    assert one.column("receiver").tolist() == [1, 2, 3, 4, 0]


def recorded(qp, steering):
    simulation = Simulation(f"ring-all-reduce:8x400KB{qp}", steering(), seed=1, record=True)
    simulation.run(3 * MS)
    return simulation, Trajectories.of(simulation.drain_records(), simulation.interfaces[0])


def test_a_context_survives_from_message_to_message(steering):
    """A flow decides for the first time once, and each decision goes on from the one before; else at each message."""
    simulation, t = recorded(":one-qp", steering)
    flow, rate = t.columns["flow"], t.columns["rate_q30"].astype(np.int64)
    assert len(t.starts()) == len(np.unique(flow)) == 8
    action = t.columns["action_q16"].astype(np.int64)
    limits = steering().policy.limits
    follows = np.clip((rate * (65536 + action) + 32768) >> 16, limits.rate_min, limits.rate_max)
    same = t.position[1:] > 0
    np.testing.assert_array_equal(rate[1:][same], follows[:-1][same])
    rounds = simulation.metrics()["rounds"]
    assert t.position.max() > 5 * rounds
    _, new = recorded("", steering)
    assert len(new.starts()) > 5 * rounds


def test_a_shared_context_survives_too(steering):
    """Four queue pairs a context: a message that begins while the others are idle is none of a new flow."""
    network = Network(context_flows=4)
    simulation = Simulation("tree-all-reduce:8x400KB:one-qp", steering(), seed=1, record=True, network=network)
    simulation.run(3 * MS)
    t = Trajectories.of(simulation.drain_records(), simulation.interfaces[0])
    assert simulation.metrics()["rounds"] >= 2
    hosts = simulation.scenario.column("host")[t.columns["flow"].astype(np.int64)]
    assert (t.columns["step"] == 0).sum() == len(np.unique(hosts))


def test_long_flows_go_by_ages_that_such_flows_have_not():
    long_flows = Cohort(fixed(LONG_FLOW, {"priority_class": 1, "limit_q16": 1 << 15, "path_number": 0}), period_ps=MS)
    with pytest.raises(InputError, match="one-qp"):
        Simulation("exchange:4x40KB:one-qp", baselines.by_name("dctcp"), seed=1, cohorts=[long_flows])


def test_what_was_decided_as_a_message_ended_holds_in_the_next(steering):
    """A decision takes 20 us, longer than a message: without the context it would never take effect."""
    limits = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "10 %"}
    times = {"duration_ps": 6 * MS, "window_ps": (3 * MS, 6 * MS), "decision_latency_ps": 20 * US}
    new, same = (
        simulate(f"ring-all-reduce:4x40KB{qp}", steering(limits=limits), seed=1, **times).metrics["round_mean_us"]
        for qp in ("", ":one-qp")
    )
    assert same < 0.7 * new


@pytest.mark.parametrize(
    ("name", "ms"),
    [
        ("parameter-server:4x100KB", 1),
        ("parameter-server:4x100KB:2ms", 2),
        ("ring-all-reduce:4x40KB", 0),
        ("ring-all-reduce:4x40KB:2ms", 2),
        ("tree-all-reduce:4x40KB:2ms", 2),
        ("exchange:4x40KB:1ms", 1),
    ],
)
def test_machines_compute_between_rounds_for_as_long_as_the_name_says(name, ms):
    window = run(name, 8 * MS).window()
    assert window["round_job"].size >= 3
    assert (window["round_start_ps"][1:] - window["round_finish_ps"][:-1] == ms * MS).all()


def test_the_share_of_reads_and_the_sizes_are_as_asked():
    scenario = scenarios.instantiate("blocks:30%:1KB-64KBx64", 3, MS, Network())
    sizes = scenario.size_bytes(1024)
    blocks = sizes[sizes > 64]
    assert blocks.size * 2 == sizes.size
    assert 1000 <= blocks.min() <= blocks.max() <= 64_000
    storage = scenario.column("host") % 4 == 3
    reads = (sizes[storage] > 64).sum() / (sizes > 64).sum()
    assert reads == pytest.approx(0.3, abs=0.05)
    other = scenarios.instantiate("blocks:30%:1KB-64KBx64", 4, MS, Network())
    assert (other.size_bytes(1024) != sizes).any()


def test_a_written_block_is_copied_before_it_is_answered():
    """A job by its name: the block to one storage node, from there to the two that come next, then the answer."""
    scenario = scenarios.instantiate("blocks:0%:4KBx2:3copies", 5, MS, Network())
    flows, storage = scenario.flows, [machine for machine in range(24) if machine % 4 == 3]
    sizes, of = scenario.size_bytes(1024), scenario.jobs.of
    assert len(flows) == 4 * 18 * 2
    for job in set(of):
        mine = [flow for flow in range(len(flows)) if of[flow] == job]
        (there,) = [flow for flow in mine if flows[flow].host not in storage]
        (back,) = [flow for flow in mine if sizes[flow] == 64]
        copies = sorted(set(mine) - {there, back})
        store = flows[there].receiver
        assert flows[back] == replace(flows[back], host=store, receiver=flows[there].host)
        at = storage.index(store)
        assert {flows[flow].receiver for flow in copies} == {storage[(at + 1) % 6], storage[(at + 2) % 6]}
        assert all(flows[flow].host == store and sizes[flow] == 4000 for flow in copies)
        edges = {(one, other) for one, other in scenario.jobs.edges if of[one] == job}
        assert edges == {(there, copy) for copy in copies} | {(copy, back) for copy in copies}


def test_what_is_read_is_not_copied_and_one_copy_is_none_more():
    for name in ("blocks:100%:4KBx2:3copies", "blocks:50%:4KBx2:1copies"):
        copied = scenarios.instantiate(name, 5, MS, Network())
        plain = scenarios.instantiate(name.rpartition(":")[0], 5, MS, Network())
        assert list(copied.flows) == list(plain.flows)
        assert copied.jobs == plain.jobs


def test_jobs_and_mixes_go_together():
    mix = Mix((Part(baselines.by_name("swift"), 50), Part(baselines.by_name("dctcp"), 50)))
    simulation = Simulation("exchange:6x100KB", mix, seed=1)
    simulation.run(3 * MS)
    assert in_order(simulation)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("ring-all-reduce:1x1MB", "1 machines; 2 to 512"),
        ("blocks:101%:1KBx1", "0 to 100 % of reads"),
        ("blocks:10%:2KB-1KBx1", "least to .*most"),
        ("parameter-server:40x1MB@star:16", "parameter-server needs 41 machines"),
        ("blocks:10%:1KBx1:7copies", "7 copies .*6"),
        ("blocks:10%:1KBx1:0copies", "unknown scenario"),
        ("parameter-server:4x1MB:02ms", "unknown scenario"),
        ("ring-all-reduce:4", "unknown scenario"),
    ],
)
def test_names_that_make_no_job_are_refused(name, said):
    with pytest.raises(InputError, match=said):
        scenarios.instantiate(name, 1, MS, Network())


TWO = (Flow(0, 0, packets=2), Flow(0, 0, packets=2))


@pytest.mark.parametrize(
    ("flows", "jobs", "said"),
    [
        (TWO, Jobs((0, 0), ((0, 1), (1, 0)), (0,)), "in a circle"),
        (TWO, Jobs((0, 1), ((0, 1),), (0, 0)), "of its job"),
        (TWO, Jobs((0,), (), (0,)), "jobs .*1 messages .*2"),
        (TWO, Jobs((0, 0, 0), ((0, 1),), (0,), (0, 1, 1)), "message 2 .*message 1"),
        (TWO, Jobs((0, 0), (), (0,), (0, 0)), "no message"),
        (TWO, Jobs((0, 0, 0), ((0, 2),), (0,), (0, 2, 0)), "not"),
        (TWO, Jobs((0, 3), (), (0,)), "job that there"),
        ((TWO[0], Flow(0, 0)), Jobs((0, 0), (), (0,)), "never ends"),
        ((TWO[0], replace(TWO[1], period_ps=MS)), Jobs((0, 0), (), (0,)), "back by itself"),
    ],
)
def test_jobs_that_could_not_end_are_refused(flows, jobs, said):
    with pytest.raises(InputError, match=said):
        Scenario("two", 1, 1, flows, jobs=jobs)
