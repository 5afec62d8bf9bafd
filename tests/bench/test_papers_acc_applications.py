"""ACC under applications: every case is asked of everybody, and the page sets the paper's figures beside ours."""

from bench.papers import acc_applications as page
from netsim import Network, scenarios
from netsim.mixes import Mix

ACC_NETWORK = Network(link_gbps=25, buffer_bytes=8 * 2**20)


def metrics(who: str) -> dict[str, float]:
    faster = 1.1 if who == page.ACC else 1.0
    both = {f"{part}_latency_{what}_us": 5.0 for part in "ab" for what in ("mean", "p99")}
    rounds = {"rounds_per_s": 2000.0 * faster, "round_mean_us": 9.0 / faster, "round_p99_us": 20.0}
    times = dict.fromkeys(page.SIZES, 100.0 / faster)
    return both | rounds | times | {"goodput": 0.9, "a_goodput": 0.63, "loss": 0.0, "latency_mean_us": 7.0}


def test_the_page_says_what_the_runs_gave() -> None:
    found = page.cases(ACC_NETWORK)
    runs = {(case.name, who): [metrics(who)] * 3 for each in found.values() for case in each for who in case.who}
    text = page.page(found, page.Outcomes(runs), 3)
    assert "| 2 to 1, ACC tree" in text
    assert "70.0" in text
    assert "+10.0 (+10.0 to +10.0)" in text
    assert "-9.1 (-9.1 to -9.1) / -24.3" in text
    assert "+5 at depth 16, +15.3 at 128" in text


def test_every_case_is_a_network_that_there_is() -> None:
    for number, each in page.cases(ACC_NETWORK).items():
        for case in each:
            scenario = scenarios.instantiate(case.scenario, 1, case.times.duration_ps, case.network)
            assert (scenario.jobs is not None) == (number in (9, 10))
            assert isinstance(case.flows, Mix) == (number == 8)
        assert {who for case in each for who in case.who} >= {page.ACC, page.TREE}
