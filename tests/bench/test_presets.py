"""Baselines under two presets: pairs of one kind, the difference seed by seed, a page of all kinds of cells."""

from pathlib import Path

import pytest

from bench import presets
from bench.presets import PAIRS, PresetCell, change, kind_of
from netsim import baselines
from netsim.network import Network


@pytest.mark.parametrize("label", PAIRS)
def test_a_pair_is_one_algorithm_with_other_values(label: str) -> None:
    before, after = map(baselines.by_name, PAIRS[label])
    assert type(before) is type(after)
    assert before.model_copy(update={"name": after.name}) != after


def test_cells_differ_in_name() -> None:
    names = [cell.name for cell in presets.CELLS]
    assert len(set(names)) == len(names)
    assert {cell.network.link_gbps for cell in presets.CELLS} >= {10, 25, 100, 400}
    assert len({cell.network.base_rtt_ps for cell in presets.CELLS}) == 3


def test_a_longer_way_is_longer_both_ways() -> None:
    network = presets.away(100)
    assert network.base_rtt_ps == 100_000_000
    assert network.one_way_ps / network.base_rtt_ps == pytest.approx(Network().one_way_ps / Network().base_rtt_ps)


def test_the_difference_is_of_runs_with_one_seed() -> None:
    before = [{"goodput": 0.5}, {"goodput": 0.7}]
    after = [{"goodput": 0.6}, {"goodput": 0.8}]
    assert change(before, after, "goodput") == "0.600 -> 0.700 (+0.100 ±0.000)"
    assert change(before, after[::-1], "goodput").endswith("±12.731)")
    assert change([{"loss": 0.01}], [{"loss": 0.02}], "loss %") == "1.00 -> 2.00 (+1.00)"
    assert change([{"slowdown_mean": float("nan")}], [{"slowdown_mean": 2.0}], "slowdown") == "- -> 2.00"


def test_the_page_has_each_pair_and_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = (
        PresetCell("many-to-one:2", 2, 1),
        PresetCell("incast:2x10KB", 2, 0),
        PresetCell("ring-all-reduce:2x100KB", 2, 0, Network(link_gbps=25)),
    )
    monkeypatch.setattr(presets, "KEPT", tmp_path)
    monkeypatch.setattr(presets, "CELLS", cells)
    trial = cells[0].trial("hpcc", 7)
    assert (trial.seed, trial.decision_latency_ps, trial.policy) == (7, 0, baselines.by_name("hpcc"))
    text = presets.page((1, 2), None, cells)
    for label in PAIRS:
        assert f"## {label}:" in text
    assert text.count("\n| cell ") == 3 * len(PAIRS)
    assert "`ring-all-reduce:2x100KB`, 25 Gb/s" in text
    assert kind_of({"round_mean_us": 1.0, "slowdown_mean": 1.0}) == "waits"
