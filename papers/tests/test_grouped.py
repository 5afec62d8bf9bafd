"""RL-CC's figure 4 by groups of combinations: which there are, how they are put together, and the page's words."""

import pytest

from papers import grouped as page
from papers.runs import Metrics
from papers.traffic import Traffic


def runs(value: dict[str, float]) -> dict[tuple[str, str, int], Metrics]:
    """Made-up runs of two seeds; ``value`` by contender and metric, else 1, a little more with the second seed."""
    names = ("goodput", "latency_mean_us", "unfairness", "rtt_inflation_mean", "loss")
    every: list[Traffic] = [t for flows in page.COMBINATIONS for t in page.networks(flows)]
    return {
        (label, t.name, seed): {name: value.get(f"{label} {name}", 1.0) + 1e-4 * seed for name in names}
        for label in page.LABELS
        for t in every
        for seed in (1, 2)
    }


def test_a_groups_combinations_have_as_many_flows_as_it_says_and_the_papers_four_hosts() -> None:
    for flows, combinations in page.COMBINATIONS.items():
        assert {hosts * each for hosts, each in combinations} == {flows}
        assert len(combinations) > 1
        assert combinations[0][0] == 4
        assert {t.flows for t in page.networks(flows)} == {flows}


def test_a_group_is_all_its_combinations_with_all_seeds() -> None:
    given = runs({})
    hosts = page.networks(64)
    given[page.MLP, hosts[0].name, 1]["goodput"] = 7.0
    found = page.grouped(given, (1, 2))
    assert len(found.seeds) == 6
    assert found.mean(page.MLP, page.GROUPS[1], "goodput") == pytest.approx((7 + 5 * 1.0 + 2e-4 * 3 + 1e-4 * 2) / 6)
    assert found.most(page.SWIFT, page.GROUPS[1], "goodput") == pytest.approx(1.0002)


def test_the_page_says_what_the_paper_says_and_how_it_came_out() -> None:
    value = {f"{page.SWIFT} latency_mean_us": 9.0, f"{page.MLP_QUEUE} latency_mean_us": 1.25}
    f = page.grouped(runs(value), (1, 2))
    text = page.page(f, page.sections(), (1, 2))
    words = " ".join(text.split())
    assert "Swift sustains a higher goodput" in words
    assert words.count("goodput level, latency us wins") == 4 * len(page.GROUPS)
    assert "RL-CC MLP and RL-CC MLP, queue length: 25.0% at the most" in words
    assert "4 x 2048, 32 x 256, 64 x 128" in words
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "!"))) <= 120
    assert page.picture(f).startswith(b"<?xml")


def test_everybody_is_there() -> None:
    assert tuple(page.who()) == page.LABELS
