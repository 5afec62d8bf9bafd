"""ACC under applications: every case is asked of everybody, and the page sets the paper's figures beside ours."""

import pytest

from bench.papers import acc_applications as page
from bench.papers import acc_training as training
from bench.papers.acc_cases import ACC, TREE, Case, Outcomes
from netsim import Network, scenarios
from netsim.mixes import Mix

ACC_NETWORK = Network(link_gbps=25, buffer_bytes=8 * 2**20)


def metrics(who: str) -> dict[str, float]:
    faster = 1.1 if who == ACC else 1.0
    both = {f"{part}_latency_{what}_us": 5.0 for part in "ab" for what in ("mean", "p99")}
    rounds = {"rounds_per_s": 2000.0 * faster, "round_mean_us": 9.0 / faster, "round_p99_us": 20.0}
    times = dict.fromkeys(page.SIZES, 100.0 / faster)
    pauses = {"pfc_pauses": 50.0, "pfc_paused_share": 0.001}
    latency = {"latency_mean_us": 7.0, "latency_p99_us": 9.0}
    return both | rounds | times | pauses | latency | {"goodput": 0.9, "a_goodput": 0.63, "loss": 0.0}


def test_the_page_says_what_the_runs_gave() -> None:
    found = page.cases(ACC_NETWORK, (1, 2, 3))
    runs = {
        (case.name, who): [metrics(who)] * len(case.runs)
        for each in found.values()
        for case in each
        for who in case.who
    }
    text = page.page(found, Outcomes(runs), 3)
    assert "| 2 to 1, ACC tree" in text
    assert "70.0" in text
    assert "+10.0 (+10.0 to +10.0)" in text
    assert "-9.1 (-9.1 to -9.1) / -24.3" in text
    assert "+5 at depth 16, +15.3 at 128" in text
    assert (
        "102.2 MB and 292 ms of computing of ResNet-50 and 244.4 MB and 21 ms of computing of AlexNet"
        in text.replace("\n", " ")
    )
    assert "{" not in text


def test_every_case_is_a_network_that_there_is() -> None:
    for number, each in page.cases(ACC_NETWORK, (1,)).items():
        for case in each:
            for name, seed in case.runs[:1]:
                scenario = scenarios.instantiate(name, seed, case.times.duration_ps, case.network)
            assert (scenario.jobs is not None) == (number in (9, 10))
            assert isinstance(case.flows, Mix) == (number == 8)
        assert {who for case in each for who in case.who} >= ({"SECN0", "SECN2"} if number == 2 else {ACC, TREE})


def test_loads_are_drawn_anew_for_each_run_and_each_as_often() -> None:
    names = [page.drawn("websearch", seed) for seed in range(1, 401)]
    assert len(set(names[:10])) == 10
    assert page.drawn("datamining", 1) == names[0].replace("websearch", "datamining")
    loads = [f"websearch:{load}%" for load in page.LOADS]
    counts = [sum(name.count(load) for name in names) for load in loads]
    assert sum(counts) == 400 * page.PHASES * page.GROUPS
    assert max(counts) / min(counts) == pytest.approx(1, abs=0.2)


def test_training_is_as_fast_as_its_rounds_and_its_computing_together() -> None:
    case = Case("ResNet-50", (("a", 1),), training.TIMES, (ACC,), ACC_NETWORK)
    given = Outcomes({(case.name, ACC): [{"round_mean_us": 108_000.0}]})
    found = training.speed(given, [case]).figure(case, ACC, "images_per_s")
    assert found.mean == pytest.approx(7 * 64 / 0.4)
