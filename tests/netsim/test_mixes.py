"""Several who steer flows in one network: whose flows are whose, what each is asked, and what comes of it."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproducible import examples

from decision.artefact.errors import InputError
from netsim import Cohort, Mix, Network, Part, Simulation, baselines, simulate
from netsim.engines import Engines
from netsim.metric_names import METRICS
from netsim.network import MS, US
from netsim.policies import native
from teachers.load import load

LOADED = load(Path("fixtures/teachers/rl-cc-mlp"))
TEACHER = native(LOADED.policy, LOADED.weights)
NAMES = ("dcqcn", "swift", "dctcp", "timely", "hpcc", "nscc")


def by(name):
    return TEACHER if name == "policy" else baselines.by_name(name)


def of(*parts):
    return Mix(tuple(Part(by(name), percent, *klass) for name, percent, *klass in parts))


def run(scenario, mix, seed=1, until_ps=3 * MS, network=None, **given):
    simulation = Simulation(scenario, mix, seed=seed, network=network, **given)
    simulation.run(until_ps)
    return simulation


@pytest.mark.parametrize("name", [*NAMES, "policy"])
@pytest.mark.parametrize("scenario", ["many-to-one:16", "websearch:40%@star:4"])
def test_two_parts_of_one_policy_are_that_policy_alone(name, scenario):
    alone, mixed = run(scenario, by(name)), run(scenario, of((name, 30), (name, 70)))
    found, asked = mixed.metrics(), alone.metrics()
    assert {key: found[key] for key in asked} == pytest.approx(asked, nan_ok=True, rel=0, abs=0)
    for key in ("delivered_packets", "sent_packets", "port_received_bytes", "port_marked"):
        np.testing.assert_array_equal(mixed.window()[key], alone.window()[key])


@given(
    names=st.lists(st.sampled_from((*NAMES, "policy")), min_size=2, max_size=4),
    cut=st.integers(10, 40),
    classes=st.booleans(),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=examples(25), deadline=None)
def test_packets_and_flows_add_up(names, cut, classes, seed):
    percents = [cut // (len(names) - 1)] * (len(names) - 1)
    percents = [100 - sum(percents), *percents]
    parts = [Part(by(n), p, i % 2 if classes else None) for i, (n, p) in enumerate(zip(names, percents, strict=True))]
    net = Network(class_weights=(1, 2) if classes else (1,), buffer_bytes=200_000)
    ran = run("many-to-one:24", Mix(tuple(parts)), seed, 1 * MS, net)
    assert ran.conservation()["holds"]
    window, metrics = ran.window(), ran.metrics()
    for key, total in (("sent", "data_sent"), ("arrived", "data_arrived"), ("dropped", "data_dropped")):
        assert sum(share[key] for share in window["shares"]) == window["counts"][total]
    goodputs = [metrics[f"{part}_goodput"] for part in "abcd"[: len(names)]]
    assert sum(goodputs) == pytest.approx(metrics["goodput"])
    assert set(metrics) <= set(METRICS)


@given(flows=st.integers(20, 5000), cut=st.integers(5, 95), seed=st.integers(0, 2**31))
def test_each_part_has_its_share_of_the_flows(flows, cut, seed):
    whose = of(("swift", cut), ("dctcp", 100 - cut)).of_flows(flows, seed)
    assert abs((whose == 0).sum() - flows * cut / 100) < 1
    assert whose.size == flows


def test_another_seed_draws_other_flows():
    mix = of(("swift", 50), ("dctcp", 50))
    assert (mix.of_flows(64, 1) != mix.of_flows(64, 2)).any()
    np.testing.assert_array_equal(mix.of_flows(64, 1), mix.of_flows(64, 1))


def test_an_ack_a_packet_is_only_for_those_who_ask():
    """DCQCN hears of whole messages; beside Swift it still does."""
    mixed = run("many-to-one:16", of(("dcqcn", 50), ("swift", 50)), network=Network(class_weights=(1, 1)))
    acks, arrived = mixed.window()["counts"]["acks"], [share["arrived"] for share in mixed.window()["shares"]]
    assert arrived[1] < acks < arrived[1] + arrived[0] / 10


def test_weighted_classes_split_the_link_between_the_parts():
    mix = of(("dcqcn", 50, 0), ("dctcp", 50, 1))
    metrics = simulate(
        "many-to-one:16", mix, seed=1, duration_ps=40 * MS, window_ps=(10 * MS, 40 * MS),
        network=Network(class_weights=(3, 1)),
    ).metrics  # fmt: skip
    assert metrics["a_goodput"] / metrics["b_goodput"] == pytest.approx(3, rel=0.03)
    assert metrics["a_fair"] == pytest.approx(1.5, rel=0.02)


def test_each_class_marks_as_its_part_wants():
    """DCTCP's queue is held at its own threshold, beside DCQCN's, which marks much later."""
    net, mix = Network(class_weights=(1, 1)), of(("dcqcn-hpcc-marking", 50, 0), ("dctcp", 50, 1))
    metrics = simulate(
        "many-to-one:16", mix, seed=1, duration_ps=40 * MS, window_ps=(10 * MS, 40 * MS), network=net
    ).metrics
    assert metrics["b_latency_p99_us"] < metrics["a_latency_p99_us"] / 2


def test_decisions_are_kept_by_cohort_and_take_as_long_as_each_part_says():
    slow = Part(by("policy"), 40, latency_ps=400 * US)
    mix = Mix((Part(by("policy"), 40, latency_ps=0), slow, Part(by("dcqcn"), 20)))
    simulation = run("many-to-one:20", mix, record=True)
    records = [simulation.drain_records(cohort) for cohort in range(3)]
    whose = mix.of_flows(20, 1)
    for cohort in (0, 1):
        assert set(records[cohort]["flow"]) == set(np.flatnonzero(whose == cohort))
    assert records[2]["flow"].size == 0
    assert records[1]["flow"].size < records[0]["flow"].size / 2


def test_agents_beside_a_mix_have_the_numbers_behind_it():
    from decision.ir.interfaces.queue_marking import QUEUE_MARKING
    from netsim import policies

    fixed = policies.fixed(QUEUE_MARKING, {"kmin_bytes": 20_000, "kmax_bytes": 80_000, "pmax_q16": 13_107})
    cohorts = [Cohort(fixed, period_ps=100 * US)]
    simulation = run("many-to-one:8", of(("dcqcn", 50), ("dctcp", 50)), record=True, cohorts=cohorts)
    assert "queue_bytes" in simulation.drain_records(2)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: of(("swift", 50), ("dctcp", 40)), "90 % .*flows together"),
        (lambda: Mix((Part(by("swift"), 99),)), "mix of 1"),
        (lambda: Part(by("swift"), 100), "number .*1 to 99"),
        (lambda: Part(by("swift"), 50, 9), "class 9"),
        (lambda: of(("max-min", 50), ("swift", 50)), "out of .*mix"),
        (lambda: run("many-to-one:4", of(("swift", 5), ("dctcp", 95))), "5 % .*4 flows"),
        (lambda: run("many-to-one:4", of(("swift", 50), ("dctcp", 50, 1))), "give the network 2 class_weights"),
        (lambda: run("many-to-one:4", of(("policy", 50), ("dctcp", 50)), engines=Engines(1)), "share none"),
        (
            lambda: run(
                "many-to-one:4",
                of(("policy", 50), ("dctcp", 50)),
                network=Network(device_limit_for_ps=1, device_limit=0.5),
            ),
            "device_limit .*one policy",
        ),
        (
            lambda: run("many-to-one:4", of(("hpcc", 50), ("dctcp", 50)), network=Network(telemetry=False)),
            "no telemetry",
        ),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_said(make, said):
    with pytest.raises(InputError, match=said):
        make()
