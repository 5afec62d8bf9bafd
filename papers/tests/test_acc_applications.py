"""ACC under applications: every case is asked of everybody, and the page sets the paper's figures beside ours."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from netsim import Network, scenarios
from netsim.mixes import Mix
from netsim.network import MS, US
from netsim.places import InThisThread
from netsim.result_store import Kept, Outcome
from netsim.trials import Trial
from papers import acc_applications as page
from papers import acc_cases, acc_storage
from papers import acc_training as training
from papers.acc import setting
from papers.acc_cases import ACC, TREE, Case, Outcomes, with_seeds
from papers.runs import Metrics
from rlcc.evaluation.grid import Times

ACC_NETWORK = Network(link_gbps=25, buffer_bytes=8 * 2**20)


def metrics(who: str) -> Metrics:
    faster = 1.1 if who == ACC else 1.0
    both = {f"{part}_latency_{what}_us": 5.0 for part in "ab" for what in ("mean", "p99")}
    rounds = {"rounds": 6.0, "rounds_per_s": 2000.0 * faster, "round_mean_us": 5e5 / faster, "round_p99_us": 15_000.0}
    times = dict.fromkeys(page.SIZES, 100.0 / faster)
    pauses = {"pfc_pauses": 50.0, "pfc_paused_share": 0.001}
    latency = {"latency_mean_us": 7.0 * faster, "latency_p99_us": 9.0, "cnps": 30.0, "data_packets": 10_000.0}
    return both | rounds | times | pauses | latency | {"goodput": 0.9, "a_goodput": 0.63, "loss": 0.0}


def made_up(cases: Sequence[Case]) -> Outcomes:
    return Outcomes({(case.name, who): [metrics(who)] * len(case.runs) for case in cases for who in case.who})


def test_the_page_says_what_the_runs_gave() -> None:
    found = page.cases(ACC_NETWORK, (1, 2, 3))
    text = page.page(found, made_up([case for each in found.values() for case in each]), 3)
    assert "{" not in text
    flat = text.replace("\n", " ")
    assert "| 2 to 1, ACC tree" in text
    assert "-9.1 (-9.1 to -9.1) / -24.3" in text
    assert "RDMA's mean latency changes by +0 % (2 to 1) and +0 % (7 to 1)" in flat
    assert "both take less than SECN0 with every seed in nothing; else" in flat
    assert "5 of 5 against SECN1 with web search, 5 of 5 against SECN2 with web search, 3 of 3 against" in flat
    assert "102.2 MB and 292 ms of computing of ResNet-50 and 244.4 MB and 21 ms of computing of AlexNet" in flat
    # Half a second and 292 ms; 50 pauses in 5 s. ACC waits a tenth longer, and gains a tenth of the half second.
    rows = {
        line.split("|")[1].strip(): [x.strip() for x in line.split("|")[2:]] for line in text.split("\n") if "|" in line
    }
    assert rows["ResNet-50, SECN1"][1] == f"{7 * 64 / 0.792:.1f}"
    assert rows["ResNet-50, SECN1"][4:6] == ["10.0", "0.100"]
    assert "latency is +10 % against SECN1 and +10 % against SECN2" in flat
    assert f"within {100 * (0.792 / (0.5 / 1.1 + 0.292) - 1):.1f} % of each other" not in flat  # AlexNet's are further
    assert f"within {100 * (0.521 / (0.5 / 1.1 + 0.021) - 1):.1f} % of each other" in flat
    # A p99 of 15 ms is within a fifth of 80 ms, not of any less.
    assert rows["VDI, depth 16"][2:6] == ["3.00", "+5", "+10.0 (+10.0 to +10.0)", "+0.0 (+0.0 to +0.0)"]
    assert rows["VDI, depth 2"][3] == "-"


def test_requests_that_do_not_end_are_not_judged() -> None:
    (case, *_) = acc_storage.cases(ACC_NETWORK, (1,))
    begin, end = case.times.window_ps
    for p99_us, judged in (((end - begin) * 0.19e-6, True), ((end - begin) * 0.21e-6, False)):
        outcomes = Outcomes({(case.name, who): [{"round_p99_us": p99_us}] for who in case.who})
        assert acc_storage.ended(outcomes, case) == judged


def test_every_case_is_a_network_that_there_is() -> None:
    for number, each in page.cases(ACC_NETWORK, (1,)).items():
        for case in each:
            for name, seed in case.runs[:1]:
                scenario = scenarios.instantiate(name, seed, case.times.duration_ps, case.network)
            assert (scenario.jobs is not None) == (number in (9, 10))
            assert isinstance(case.flows, Mix) == (number == 8)
        assert {who for case in each for who in case.who} >= ({"SECN0", "SECN2"} if number == 2 else {ACC, TREE})


def test_what_is_written_to_storage_is_copied_as_often_as_the_page_says() -> None:
    for case in acc_storage.cases(ACC_NETWORK, (1,)):
        ((name, seed),) = case.runs
        scenario = scenarios.instantiate(name, seed, MS, ACC_NETWORK)
        jobs = scenario.jobs
        assert jobs is not None
        flows = [sum(of == job for of in jobs.of) for job in sorted(set(jobs.of))[:64]]
        assert set(flows) == {2, 1 + acc_storage.COPIES}


def test_nothing_arrives_at_the_end_where_flows_are_followed() -> None:
    for case in (*page.cases(ACC_NETWORK, (1,))[2], page.cases(ACC_NETWORK, (1,))[13][0]):
        (name, seed), end = case.runs[0], case.times.duration_ps
        starts = scenarios.instantiate(name, seed, end, case.network).column("start_ps")
        coming = end // 2 if case.who == page.STATIC_ONES else page.PHASES * page.PHASE_PS
        assert 0.9 * coming < starts.max() < coming


def test_loads_are_drawn_anew_for_each_run_and_each_as_often() -> None:
    for case in page.cases(ACC_NETWORK, (1,))[13]:
        assert len({name for name, _ in case.runs}) == len({seed for _, seed in case.runs}) == page.DRAWS == 10
    names = [page.drawn("websearch", seed) for seed in range(1, 401)]
    loads = [f"websearch:{load}%" for load in page.LOADS]
    counts = [sum(name.count(load) for name in names) for load in loads]
    assert sum(counts) == 400 * page.PHASES * page.GROUPS
    assert max(counts) / min(counts) == pytest.approx(1, abs=0.2)


def test_training_is_as_fast_as_its_rounds_and_its_computing_together() -> None:
    case = Case("ResNet-50", (("a", 1),), training.TIMES, (ACC,), ACC_NETWORK)
    given = Outcomes({(case.name, ACC): [{"round_mean_us": 108_000.0}]})
    found = training.speed(given, [case]).figure(case, ACC, "images_per_s")
    assert found.mean == pytest.approx(7 * 64 / 0.4)
    # 14 times 102.2 MB in packets of 1024 bytes, 1106 on the wire.
    floor = training.line_rate_ms(training.MODELS["ResNet-50"], ACC_NETWORK)
    assert floor == pytest.approx(14 * 102.228128e6 * 1106 / 1024 * 8 / 25e9 * 1e3, rel=1e-4)


def test_outcomes_are_of_the_case_the_decider_and_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def echoed(trials: Sequence[Trial], *_: object) -> list[Outcome]:
        metrics = [{"seed": float(t.seed), "ms": t.duration_ps / MS, t.name: 1.0} for t in trials]
        return [Outcome(2, each) for each in metrics]

    monkeypatch.setattr(acc_cases, "run_trials", echoed)
    deciders = {who: (setting(*acc_cases.VENDORS), 0) for who in ("SECN1", ACC)}
    cases = [
        Case(f"{ms} ms", with_seeds("incast:2", (3, 5)), Times(ms * MS, (0, ms * MS)), ("SECN1", ACC), ACC_NETWORK)
        for ms in (1, 2)
    ]
    o = acc_cases.played(cases, deciders, 50 * US, InThisThread(), Kept(tmp_path))
    for case in cases:
        for who in case.who:
            wanted = [{"seed": float(seed), "ms": case.times.duration_ps / MS, who: 1.0} for seed in (3, 5)]
            assert o.metrics[case.name, who] == wanted
