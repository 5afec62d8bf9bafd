"""The bench of the simulator, with little to do; and the page that records it names every metric there is."""

import re
from pathlib import Path

import pytest

from bench import netsim as bench
from netsim import Mix, Network, Part, simulate
from netsim.baselines import by_name
from netsim.network import MS, SELECTIVE_REPEAT

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "explanation" / "netsim.md").read_text()


def test_the_page_names_every_metric_and_no_other() -> None:
    times = {"duration_ps": 2 * MS, "window_ps": (MS, 2 * MS)}
    mix = Mix((Part(bench.mlp(), 50), Part(by_name("dctcp"), 50)))
    ran = (("long-short:4", bench.mlp()), ("websearch:40%@star:4", mix), ("ring-all-reduce:4x100KB", bench.mlp()))
    found = {name for scenario, policy in ran for name in simulate(scenario, policy, seed=1, **times).metrics}
    trimming = Network(trim_bytes=50_000, transport=SELECTIVE_REPEAT)
    found |= set(simulate("many-to-one:4", bench.mlp(), seed=1, network=trimming, **times).metrics)
    table = PAGE[PAGE.index("## Metrics") : PAGE.index("## Why to trust")]
    named = {
        name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    }
    and_more = re.compile("(mice_|medium_|elephants_)?(completions|(fct|slowdown)_.*)|b_.*|round_.*")
    assert named <= found
    assert [name for name in found if name not in named and not and_more.fullmatch(name)] == []


def test_a_row_has_the_best_of_each_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    figures = {"whole": 1.0, "settled": 4.0, "simulated": 3.0, "decides": 1.0, "goodput": 0.9}
    runs = iter([figures, figures | {"whole": 2.0, "simulated": 6.0}])
    monkeypatch.setattr(bench, "measure", lambda row, flows: next(runs))
    monkeypatch.setattr(bench, "ROWS", [bench.SpeedRow("MLP", bench.mlp, {64: 5}, flows=(64,))])
    monkeypatch.setattr(bench, "NS3", [("MLP", 64, 0.5)])
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in bench.speed().splitlines() if "| MLP" in line]
    assert rows[0][:8] == ["MLP", "64", "2.00", "4.00", "6.00", "1.00", "100%", "0.900"]
    assert rows[0][8].startswith("5: not met")
    assert rows[1] == ["MLP", "64", "0.500", "2.00", "4"]


def test_a_target_is_met_or_not_by_each_figure() -> None:
    found = {"whole": 1.0, "settled": 2.0, "simulated": 3.0}
    assert bench.met(1, found) == "met"
    assert bench.met(2.5, found).endswith(" by whole, settled")


def test_rates_hold_the_port_at_the_fair_share() -> None:
    """What growth measures is a network at work, not one that drops or idles."""
    run = simulate("many-to-one:128", bench.mlp(1 / 128), seed=1, duration_ps=20 * MS, window_ps=(5 * MS, 20 * MS))
    assert run.metrics["loss"] == 0
    assert run.metrics["goodput"] > 0.9


def test_a_large_network_is_measured() -> None:
    found = bench.large("many-to-one:1024", "hpcc", 1)
    assert found["flows"] == 1024
    assert found["packets"] > 10_000
    assert found["run_s"] > 0
    assert found["core"] < bench.MEMORY_LIMIT_BYTES
