"""RL-CC's cluster, its figure 3 and its conjecture: runs over time count what the network delivers, pages are whole."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from netsim import simulate, topology
from netsim.baselines import by_name
from netsim.network import MS
from netsim.places import InThisThread
from netsim.policies import interface_of
from netsim.scenarios import parse
from netsim.simulation import Simulation
from papers import ablation, cluster, cluster_networks, cluster_time, telemetry
from papers.cluster_networks import LABELS, SWIFT, TOLD, times_of, with_drop_rate
from papers.contenders import ROOT, Contender
from papers.courses import Course, course, run_courses
from papers.found import Found
from papers.pictures import Bubbles, bubbles, courses
from papers.runs import Metrics, Run
from papers.sections import GOODPUT, LATENCY, Section
from papers.theory import fixed_point
from papers.traffic import Traffic, named, on, unlike
from papers.trained import Aim, OwnReward
from rlcc.evaluation.grid import Times
from teachers.curriculum import TrainConfig, congestion_feature

NAMES = (
    "goodput",
    "latency_mean_us",
    "latency_p99_us",
    "unfairness",
    "loss",
    "drops_per_flow",
    "drops_per_flow_s",
    "jain",
    "dropped_packets",
    "fairness_min_max",
    "rtt_inflation_mean",
)
SHORT = named("all-to-all:4", Times(2 * MS, (1 * MS, 2 * MS)))


def a_run(traffic: Traffic = SHORT) -> Run:
    return Run(Contender("Swift", by_name("swift")), traffic, 1)


def test_a_course_is_what_the_run_delivers_by_host_and_has_the_windows_metrics(tmp_path: Path) -> None:
    found = run_courses({"a": (a_run(), 4)}, tmp_path, InThisThread())["a"]
    whole = simulate(SHORT.scenario, by_name("swift"), seed=1, duration_ps=2 * MS, window_ps=(1 * MS, 2 * MS))
    assert found.t_ms.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert found.host_gbps.shape == (4, 4)
    assert found.metrics == pytest.approx(whole.metrics, nan_ok=True)
    assert found.host_gbps[2:].sum() / 2 / 400 == pytest.approx(whole.metrics["goodput"])
    once_more = run_courses({"a": (a_run(), 4)}, tmp_path, InThisThread())["a"]
    assert np.array_equal(once_more.host_gbps, found.host_gbps)
    assert once_more.metrics == pytest.approx(found.metrics, nan_ok=True)
    assert len([*tmp_path.iterdir()]) == 1


def test_a_course_counts_every_dropped_packet() -> None:
    burst = named("many-to-one:64", Times(1 * MS, (0, 1 * MS)))
    seen = course((a_run(burst).trial(), 5))
    assert seen.dropped.sum() == seen.metrics["dropped_packets"] > 0
    assert seen.queue_bytes.max() <= 5 * 2**20


def test_a_window_that_is_not_of_samples_is_refused() -> None:
    with pytest.raises(ValueError, match="is not of 3 samples"):
        course((a_run().trial(), 3))


def contenders_of(labels: Sequence[str]) -> dict[str, Contender]:
    return {label: Contender(label, by_name("swift")) for label in labels}


def test_what_is_shown_over_time_is_measured_from_sample_to_sample() -> None:
    asked = cluster_time.over_time(contenders_of((*LABELS, *TOLD)))
    assert {name for name, _ in asked} == {"figure 10", "figure 11", "near and far"}
    for run, points in asked.values():
        each = run.traffic.times.duration_ps / points
        assert all((ps / each).is_integer() for ps in run.traffic.times.window_ps)


def test_all_are_run_and_shown_as_long_but_dcqcn_where_it_floods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Run] = []

    def courses_of(asked: Mapping[tuple[str, str], tuple[Run, int]], *_: object) -> cluster_time.Courses:
        seen.extend(run for run, _ in asked.values())
        return shown(1)

    def runs_of(runs: Iterable[Run], *_: object) -> dict[tuple[str, str, int], Metrics]:
        all_runs = list(runs)
        assert not any(r.seed == 1 and r.traffic.name == cluster_networks.MANY[-1].name for r in all_runs)
        seen.extend(all_runs)
        return {(r.contender.label, r.traffic.name, r.seed): dict.fromkeys(NAMES, 10.0) for r in all_runs}

    monkeypatch.setattr(cluster, "who", lambda _: contenders_of((*LABELS, *TOLD)))
    monkeypatch.setattr(cluster, "student_of", lambda _: None)
    monkeypatch.setattr(cluster, "run_courses", courses_of)
    monkeypatch.setattr(cluster, "run_all", runs_of)
    assert cluster.main(["--work", str(tmp_path), "--docs", str(tmp_path)]) == 0
    given = {t.name: t.times for t in (*cluster_networks.MANY, *cluster_networks.ALL, *cluster.UNSEEN, *cluster.UNLIKE)}
    floods = {t.name for t in cluster_networks.MANY[1:]}
    assert {r.traffic.name for r in seen} == set(given)
    for run in seen:
        flooded = run.contender.label == cluster_networks.DCQCN and run.traffic.name in floods
        assert run.traffic.times == (cluster_networks.FLOODED if flooded else given[run.traffic.name])
    assert (tmp_path / "cluster.md").exists()


def test_losses_are_of_a_second_whatever_the_window() -> None:
    large = cluster_networks.MANY[-1]
    for label, seconds in ((cluster_networks.DCQCN, 0.05), (cluster_networks.SWIFT, 5.0)):
        run = Run(Contender(label, by_name("swift")), large, 1)
        found = with_drop_rate({"dropped_packets": 3.0 * large.flows}, run)
        assert found["drops_per_flow_s"] == pytest.approx(3.0 / seconds)


def found_of(made: Sequence[Section], value: Callable[[str, str], float]) -> Found:
    """Made-up runs: by contender and metric; another seed differs a little."""
    runs: dict[tuple[str, str, int], Metrics] = {
        (c, t.name, seed): {name: value(c, name) + 1e-6 * seed for name in NAMES}
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


def rising(c: Course) -> NDArray[np.float64]:
    """Its rates, and 2 % more in the last tenth."""
    return np.vstack([c.host_gbps[:-5], c.host_gbps[-5:] * 1.02])


def shown(dropped: int) -> dict[tuple[str, str], Course]:
    """Of 63 hosts each a tenth of a Gb/s more than the one before."""
    rates = np.ones((50, 63)) * (10 + 0.1 * np.arange(63))
    lost = np.full(50, dropped)

    def one(shows: str, label: str) -> Course:
        traffic = cluster_time.LARGEST.get(shows, cluster_time.FEW)
        end_ms = times_of(label, traffic).duration_ps / MS
        metrics = dict.fromkeys(NAMES, 10.0)
        return Course(np.linspace(end_ms / 50, end_ms, 50), rates, lost, lost, metrics)

    return {place: one(*place) for place in cluster_time.over_time(contenders_of((*LABELS, *TOLD)))}


@pytest.mark.slow
def test_the_page_of_the_cluster_is_whole() -> None:
    made = cluster.sections(shown(0))
    # The tree has the least latency, Swift the most goodput: nobody else is on the front.
    values = {(cluster_networks.TREE, "latency_mean_us"): 5.0, (cluster_networks.SWIFT, "goodput"): 20.0}
    found = found_of(made, lambda c, name: values.get((c, name), 10.0))
    text = cluster.page(found, made, shown(0))
    whole(text, made)
    assert text.count("RL-CC tree and Swift |") == len(cluster_networks.MANY) + len(cluster_networks.ALL)
    flat = text.replace("\n", " ")
    assert "goes on losing from 50 to 100 ms with: nobody; many-to-one while it is measured with: nobody" in flat
    assert "of the tenth before: nobody." in flat
    growing = shown(0) | {("figure 10", SWIFT): replace(c := shown(0)["figure 10", SWIFT], host_gbps=rising(c))}
    assert "of the tenth before: Swift." in cluster.page(found, made, growing).replace("\n", " ")
    near, far = np.arange(15), np.arange(15, 63)
    assert f"near {(10 + 0.1 * near).mean() / (10 + 0.1 * far).mean():.2f} of what it gives one that is far" in flat
    assert "with: RL-CC MLP, RL-CC tree" in cluster.page(found, made, shown(2)).replace("\n", " ")
    for section in made:
        for picture in section.pictures:
            assert 5_000 < len(picture.draw(found)) < 200_000
    rows = [("a", {c: shown(3)["figure 10", c] for c in LABELS})]
    assert courses(rows) == courses(rows)
    assert courses(rows).startswith(b"\x89PNG")


def test_where_the_tree_rests_is_what_its_properties_page_says() -> None:
    page = (ROOT / "docs" / "results" / "properties.md").read_text()
    resting = fixed_point(cluster_time.RESTING)
    flows = f"{cluster_time.RESTING} flows at 6.488 to {cluster_time.REST_MOST:g} for {resting:.3f} |"
    assert flows in page.partition("## rl-cc-mlp")[2].partition("\n## ")[0]
    assert resting == pytest.approx(0.064 * 8187**0.5 + 1.5)
    assert resting == pytest.approx(7.291, abs=5e-4)


def test_losses_over_time_are_of_a_flow_and_a_second() -> None:
    text = cluster_time.figures_10_and_11(shown(434_176))
    rows = {
        line.split("|")[1].strip(): [x.strip() for x in line.split("|")[2:]] for line in text.split("\n") if "|" in line
    }
    # 50 samples of one packet a flow; the later half of 10 s, the last third of 150 ms.
    assert rows["many-to-one:434176@rl-cc-cluster: Swift"][-3:-1] == ["50.0", "5.0"]
    assert rows["many-to-one:434176@rl-cc-cluster: DCQCN"][-3:-1] == ["50.0", "340.0"]


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
