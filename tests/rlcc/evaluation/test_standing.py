"""Who wins a cell: the rule on small tables by hand, and the page that says it."""

from math import nan

import pytest

from decision.artefact.errors import InputError
from rlcc.evaluation import standing_page, suite
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.standing import compare, difference, tally
from rlcc.evaluation.summary import Row


def row(
    label: str, kind: str = "teacher", scenario: str = "many-to-one:2", **metrics: float | tuple[float, float]
) -> Row:
    """A metric is its mean, with no spread at all, or (mean, half-width)."""
    pairs = {name: value if isinstance(value, tuple) else (value, 0.0) for name, value in metrics.items()}
    contender = Contender(label, label, kind, "", None, 0)  # type: ignore[arg-type]
    mean, half = ({name: pair[i] for name, pair in pairs.items()} for i in (0, 1))
    return Row(scenario, contender, 2, mean, half)


STEADY = {"goodput": 0.9, "latency_p99_us": 10.0, "loss": 0.0, "jain": 0.9}
ENDING = {"slowdown_mean": 3.0, "slowdown_p99": 9.0, "loss": 0.01, "slowdown_jain": 0.5, "completions": 100.0}


@pytest.mark.parametrize(
    ("changed", "standing", "better", "worse"),
    [
        ({}, "level", (), ()),
        ({"goodput": 0.92}, "win", ("goodput",), ()),
        ({"goodput": 0.88}, "loss", (), ("goodput",)),
        ({"goodput": 0.905}, "level", (), ()),  # within 1 %
        ({"latency_p99_us": 9.0}, "win", ("p99",), ()),
        ({"latency_p99_us": 11.0}, "loss", (), ("p99",)),
        ({"latency_p99_us": 9.0, "loss": 1e-6}, "mixed", ("p99",), ("loss",)),  # any loss is more than none
        ({"jain": 0.95, "goodput": 0.95}, "win", ("goodput", "fairness"), ()),
        ({"jain": 0.5, "loss": 0.1, "latency_p99_us": 20.0, "goodput": 0.5}, "loss", (),
         ("goodput", "p99", "loss", "fairness")),
        ({"latency_p99_us": (9.0, 1.1)}, "level", (), ()),  # within our interval
        ({"latency_p99_us": (9.0, 0.9)}, "win", ("p99",), ()),
        ({"slowdown_jain": 0.1, "latency_mean_us": 99.0}, "level", (), ()),  # counts for nothing here
    ],
)  # fmt: skip
def test_where_flows_go_on(changed: dict[str, float], standing: str, better: tuple[str], worse: tuple[str]) -> None:
    ours, theirs = row("ours", **STEADY | changed), row("theirs", **STEADY)
    comparison = compare(ours, theirs)
    assert (comparison.standing, comparison.better, comparison.worse) == (standing, better, worse)
    opposite = {"win": "loss", "loss": "win"}.get(standing, standing)
    turned = compare(theirs, ours)
    assert (turned.standing, turned.better, turned.worse) == (opposite, worse, better)


@pytest.mark.parametrize(
    ("changed", "standing"),
    [
        ({}, "level"),
        ({"slowdown_mean": 2.5}, "win"),
        ({"slowdown_p99": 12.0}, "loss"),
        ({"loss": 0.0}, "win"),
        ({"slowdown_jain": 0.4, "slowdown_p99": 8.0}, "mixed"),
        ({"slowdown_mean": 1.0, "slowdown_p99": 1.0, "completions": 20.0}, "mixed"),  # of the lucky ones
        ({"goodput": 0.1, "jain": 0.1}, "level"),
    ],
)
def test_where_flows_end(changed: dict[str, float], standing: str) -> None:
    assert compare(row("ours", **ENDING | changed), row("theirs", **ENDING)).standing == standing


@pytest.mark.parametrize(
    ("changed", "standing"),
    [
        ({}, "level"),
        ({"round_mean_us": 90.0}, "win"),
        ({"round_p99_us": 220.0}, "loss"),
        ({"round_mean_us": 90.0, "round_p99_us": 220.0}, "mixed"),
        ({"loss": 0.0}, "win"),
        ({"slowdown_mean": 1.0, "completions": 1.0}, "level"),  # the flows of a round count for nothing alone
    ],
)
def test_where_flows_wait_for_one_another(changed: dict[str, float], standing: str) -> None:
    waiting = ENDING | {"round_mean_us": 100.0, "round_p99_us": 200.0}
    assert compare(row("ours", **waiting | changed), row("theirs", **waiting)).standing == standing


def test_the_wider_interval_decides() -> None:
    for ours, theirs in ((0.0, 0.05), (0.05, 0.0)):
        a = row("a", **STEADY | {"goodput": (0.9, ours)})
        assert difference(a, row("b", **STEADY | {"goodput": (0.84, theirs)}), "goodput") == 1
        assert difference(a, row("b", **STEADY | {"goodput": (0.86, theirs)}), "goodput") == 0


def test_one_percent_is_of_the_larger() -> None:
    assert difference(row("a", **STEADY | {"goodput": 1.0}), row("b", **STEADY | {"goodput": 0.99005}), "goodput") == 0
    assert difference(row("a", **STEADY | {"goodput": 1.0}), row("b", **STEADY | {"goodput": 0.9899}), "goodput") == 1


def test_who_has_nothing_to_measure_is_worse() -> None:
    """No flow was done: neither a slowdown of nothing nor an unknown one is good."""
    none = row(
        "none", **ENDING | {"slowdown_mean": (nan, nan), "slowdown_p99": (nan, nan), "slowdown_jain": (nan, nan)}
    )
    assert compare(none, row("some", **ENDING)).worse == ("slowdown", "p99", "fairness")
    assert compare(row("some", **ENDING), none).better == ("slowdown", "p99", "fairness")
    assert compare(none, none).standing == "level"


def test_one_seed_says_nothing() -> None:
    with pytest.raises(InputError, match="many-to-one:2: one seed"):
        compare(row("a", **STEADY | {"goodput": (0.9, nan)}), row("b", **STEADY))


def small() -> suite.Suite:
    group = {"scenarios": ["many-to-one:2"], "duration": "2 ms", "window": ["1 ms", "2 ms"]}
    return suite.Suite.model_validate(
        {"format": 1, "name": "small", "seeds": [1, 2], "baselines": ["hpcc", "swift"], "yardstick": "max-min",
         "cells": [group]}
    )  # fmt: skip


def test_the_page_counts_and_names_the_cells() -> None:
    start = {"start_goodput": 0.5, "start_latency_p99_us": 50.0, "start_loss": 0.1, "early_loss": 0.2}
    start |= {"late_dropped_packets": 7.0}
    rows = []
    for scenario, ours in (("many-to-one:2", {"goodput": 0.92}), ("many-to-one:8", {"latency_p99_us": 20.0})):
        rows.append(row("ours", scenario=scenario, **STEADY | ours | start))
        rows.append(row("hpcc", "baseline", scenario, **STEADY | {"early_loss": 0.03}))
        rows.append(row("swift", "baseline", scenario, **STEADY | {"early_loss": 0.04, "goodput": 0.95}))
        rows.append(row("max-min", "baseline", scenario, **STEADY | {"goodput": 0.926, "early_loss": 0.0}))
    (judged,) = standing_page.judge(rows, small())
    assert judged.tally("hpcc") == {"win": 1, "level": 0, "mixed": 0, "loss": 1}
    assert judged.tally("hpcc", ("many-to-one:8",)) == {"win": 0, "level": 0, "mixed": 0, "loss": 1}
    assert judged.tally("swift") == {"win": 0, "level": 0, "mixed": 0, "loss": 2}
    text = standing_page.page([judged], small())
    assert "| hpcc | 1 | 0 | 0 | 1 |" in text
    assert "| many-to-one:2 | win | **loss** |" in text
    assert "- many-to-one:8, to hpcc (p99): goodput 0.9000 ±0.0000, p99 20.00 ±0.00" in text
    assert "- many-to-one:8, to swift (goodput, p99): " in text
    assert "goodput 0.9260 ±0.0000, p99 10.00 ±0.00" in text  # the yardstick
    start_line = "| many-to-one:8 | 0.5000 ±0.0000 | 50.00 ±0.00 | 0.10000 ±0.00000 | 0.20000 ±0.00000 |"
    assert f"{start_line} 0.03000 ±0.00000 | 0.04000 ±0.00000 | 7 ±0 |" in text
    assert text.splitlines()[2] == ""
    assert not [line for line in text.splitlines() if line.count("|") and not line.startswith("|")]


def test_a_page_without_a_loss_says_so() -> None:
    rows = [row("ours", **STEADY | {"goodput": 0.95, "early_loss": 0.0})]
    rows += [row(name, "baseline", **STEADY | {"early_loss": 0.0}) for name in ("hpcc", "swift", "max-min")]
    judged = standing_page.judge(rows, small())
    assert "lost\nNone.\n" in standing_page.page(judged, small())
    assert tally([]) == {"win": 0, "level": 0, "mixed": 0, "loss": 0}


def test_somebody_has_to_be_judged() -> None:
    with pytest.raises(InputError, match="small has these"):
        standing_page.others(["hpcc", "max-min"], small())
    assert standing_page.others(["nscc", "hpcc", "x"], small()) == ["nscc", "x"]
