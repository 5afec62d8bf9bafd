"""RL-CC's cluster, its figure 3 and its conjecture: runs over time count what the network delivers, pages are whole."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from bench.papers import ablation, cluster, telemetry
from bench.papers.contenders import Contender
from bench.papers.courses import Course, course, run_courses
from bench.papers.found import Found
from bench.papers.pictures import Bubbles, bubbles, courses
from bench.papers.runs import Metrics, Run
from bench.papers.sections import GOODPUT, LATENCY, Section
from bench.papers.traffic import Traffic, named, on, unlike
from bench.papers.trained import Aim, OwnReward
from netsim import simulate, topology
from netsim.baselines import by_name
from netsim.network import MS
from netsim.places import Here
from netsim.policies import interface_of
from netsim.scenarios import parse
from netsim.simulation import Simulation
from rlcc.evaluation.grid import Times
from teachers.curriculum import TrainConfig, congestion_feature

SHORT = named("all-to-all:4", Times(2 * MS, (1 * MS, 2 * MS)))


def a_run(traffic: Traffic = SHORT) -> Run:
    return Run(Contender("Swift", by_name("swift")), traffic, 1)


def test_a_course_is_what_the_run_delivers_by_host_and_has_the_windows_metrics(tmp_path: Path) -> None:
    found = run_courses({"a": (a_run(), 4)}, tmp_path, Here())["a"]
    whole = simulate(SHORT.scenario, by_name("swift"), seed=1, duration_ps=2 * MS, window_ps=(1 * MS, 2 * MS))
    assert found.t_ms.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert found.host_gbps.shape == (4, 4)
    assert found.metrics == pytest.approx(whole.metrics, nan_ok=True)
    assert found.host_gbps[2:].sum() / 2 / 400 == pytest.approx(whole.metrics["goodput"])
    once_more = run_courses({"a": (a_run(), 4)}, tmp_path, Here())["a"]
    assert np.array_equal(once_more.host_gbps, found.host_gbps)
    assert once_more.metrics == pytest.approx(found.metrics, nan_ok=True)
    assert len([*tmp_path.iterdir()]) == 1


def test_a_course_counts_every_dropped_packet() -> None:
    burst = named("many-to-one:64", Times(1 * MS, (0, 1 * MS)))
    seen = course((a_run(burst).trial(), 5))
    assert seen.dropped.sum() == seen.metrics["dropped_packets"] > 0
    assert seen.queue_bytes.max() <= 5 * 2**20


def test_all_are_run_as_long_but_dcqcn_where_it_floods() -> None:
    for traffic in (*cluster.MANY, *cluster.ALL, *cluster.UNSEEN):
        for label in cluster.LABELS:
            run = Run(Contender(label, by_name("swift")), traffic, 1)
            floods = label == cluster.DCQCN and traffic in cluster.MANY[1:]
            assert cluster.as_measured(run).traffic.times == (cluster.FLOODED if floods else traffic.times)


def found_of(made: Sequence[Section], value: Callable[[str, str], float]) -> Found:
    """Made-up runs: by contender and metric; another seed differs a little."""
    names: tuple[str, ...] = (
        "goodput",
        "latency_mean_us",
        "latency_p99_us",
        "unfairness",
        "loss",
        "drops_per_flow",
        "jain",
    )
    names += ("dropped_packets", "fairness_min_max", "rtt_inflation_mean")
    runs: dict[tuple[str, str, int], Metrics] = {
        (c, t.name, seed): {name: value(c, name) + 1e-6 * seed for name in names}
        for s in made
        for c in s.contenders
        for t in s.traffic
        for seed in (1, 2)
    }
    return Found(runs, (1, 2))


def whole(text: str, made: Sequence[Section]) -> None:
    for section in made:
        assert f"\n## {section.title}\n" in text
    assert "nan" not in text.lower()
    assert "{" not in text
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "!"))) <= 120


def shown(dropped: int) -> dict[tuple[str, str], Course]:
    rates = np.ones((50, 3)) * [10.0, 11.0, 12.0]
    lost = np.full(50, dropped)

    def one(figure: str, label: str) -> Course:
        end_ms = cluster.times_of(label, cluster.LARGEST[figure][0]).duration_ps / MS
        return Course(np.linspace(end_ms / 50, end_ms, 50), rates, lost, lost, {})

    return {(figure, c): one(figure, c) for figure in cluster.LARGEST for c in cluster.LABELS}


def test_the_page_of_the_cluster_is_whole() -> None:
    made = cluster.sections()
    # The tree has the least latency, Swift the most goodput: nobody else is on the front.
    values = {(cluster.TREE, "latency_mean_us"): 5.0, (cluster.SWIFT, "goodput"): 20.0}
    found = found_of(made, lambda c, name: values.get((c, name), 10.0))
    text = cluster.page(found, made, shown(0))
    whole(text, made)
    assert text.count("RL-CC tree and Swift |") == len(cluster.MANY) + len(cluster.ALL)
    assert "goes on losing from 50 to 100 ms with: nobody" in text.replace("\n", " ")
    assert "with: RL-CC MLP, RL-CC tree" in cluster.page(found, made, shown(2)).replace("\n", " ")
    for section in made:
        for picture in section.pictures:
            assert 5_000 < len(picture.draw(found)) < 200_000
    rows = [("a", {c: shown(3)["figure 10", c] for c in cluster.LABELS})]
    assert courses(rows) == courses(rows)
    assert courses(rows).startswith(b"\x89PNG")


def test_the_page_of_telemetry_counts_who_is_better() -> None:
    made = telemetry.sections()

    def value(c: str, name: str) -> float:
        return (5.0 if c == telemetry.QUEUE else 10.0) if name == "latency_mean_us" else 1.0

    text = telemetry.page(found_of(made, value), made).replace("\n", " ")
    assert f"queue length in {len(made)} of {len(made)} networks, RTT in 0" in text
    assert "with one base RTT for all: queue length in 0, RTT in 0." in text
    whole(telemetry.page(found_of(made, value), made), made)


def test_who_is_told_one_base_rtt_decides_otherwise_where_they_differ() -> None:
    given = telemetry.who()
    assert set(given) == set(telemetry.LABELS)

    def latency(label: str, name: str) -> float:
        policy = given[label].policy
        return simulate(name, policy, seed=1, duration_ps=6 * MS, window_ps=(3 * MS, 6 * MS)).metrics["latency_mean_us"]

    near = "many-to-one:4@leaf-spine:2x4x1"
    assert latency(telemetry.RTT, near) < latency(telemetry.ONE_RTT, near)
    assert latency(telemetry.RTT, "many-to-one:4") == latency(telemetry.ONE_RTT, "many-to-one:4")
    assert given[telemetry.QUEUE].policy.needs_int
    assert interface_of(given[telemetry.ONE_QUEUE].policy).name == "flow_rate"
    assert Simulation(parse(near), given[telemetry.ONE_QUEUE].policy, seed=1).now_ps == 0


@pytest.mark.parametrize("aims", [(Aim(), Aim(beta=0.0)), (Aim(), Aim(0.032)), ablation.AIMS])
def test_the_page_of_targets_and_betas_says_what_is_missing(aims: tuple[Aim, ...]) -> None:
    made = ablation.sections(aims)

    def value(c: str, name: str) -> float:
        return 0.5 if name == "goodput" and c == str(Aim(beta=0.0)) else 0.9

    text = ablation.page(found_of(made, value), made, aims)
    whole(text, made)
    assert ("Not trained yet, and so not here" in text) == (len(aims) < len(ablation.AIMS))
    assert ("by more than 0.01: target 0.064, beta 0." in text.replace("\n", " ")) == (Aim(beta=0.0) in aims)
    assert ("Turned against trained, furthest apart: 0." in text) == any(aim.target < 0.06 for aim in aims)
    assert ablation.fixed_point(Aim(beta=0.0), 4) == 1.0
    assert 5_000 < len(ablation.picture(found_of(made, value), made)) < 200_000


def test_trainings_differ_from_the_recipes_in_their_aim_alone() -> None:
    for aim, kind, target, tolerance in (
        (Aim(0.64), "rl_cc_congestion", 0.64, 1.5),
        (Aim(beta=0.0), "rl_cc_congestion", 0.064, 0.0),
        (OwnReward(20.0), "pcc_rl_congestion", 20.0, 0.0),
    ):
        feature = congestion_feature(TrainConfig.model_validate(aim.recipe()).policy)
        assert (feature.kind, feature.target, feature.tolerance) == (kind, target, tolerance)
        assert abs(feature.factor * feature.target) == pytest.approx(0.8)


def test_nothing_trained_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ablation.main(["--work", str(tmp_path), "--docs", str(tmp_path)]) == 2
    assert "give --train" in capsys.readouterr().err


def test_bubbles_that_lose_nothing_have_an_axis_too() -> None:
    runs = {("a", SHORT.name, 1): {"goodput": 0.9, "dropped_packets": 0.0, "latency_mean_us": 9.0}}
    lossless = LATENCY.__class__("lost", "dropped_packets", 1, 0, -1)
    panels = [Bubbles("one", x, GOODPUT, {"a": [("a", SHORT)]}) for x in (LATENCY, lossless)]
    assert bubbles(Found(runs, (1,)), panels).startswith(b"<?xml")


def test_a_slow_spine_is_slow_in_both_directions_and_all_else_is_as_it_was() -> None:
    fabric, whole = unlike("leaf-spine:4x4x2", slow_spine=1, gbps=25), topology.by_name("leaf-spine:4x4x2")
    changed = [(a.switch, a.to) for a, b in zip(fabric.ports, whole.ports, strict=True) if a != b]
    assert sorted(changed) == sorted([(leaf, 5) for leaf in range(4)] + [(5, leaf) for leaf in range(4)])
    assert {port.gbps for port in fabric.ports} == {25, 100}
    made = on("all-to-all:16", fabric, SHORT.times)
    assert (made.flows, made.scenario.topology) == (512, fabric)
