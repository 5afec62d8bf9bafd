"""PCC-RL's figure 4: the axes from 0 to 1, all sizes, and the verdict's words."""

from collections.abc import Callable

import pytest

from papers import scale
from papers.contenders import without_tree
from papers.found import Found
from papers.pictures import radars


def found_of(value: Callable[[str, int, str], float]) -> Found:
    """Made-up runs: by contender, flows and metric."""
    names = ("utilisation", "fairness_min_max", "queue_mean_us", "drop_gbps", "dropped_packets", "goodput")
    runs = {
        (label, t.name, seed): {name: value(label, t.flows, name) for name in names}
        for label in scale.LABELS
        for t in scale.NETWORKS
        for seed in (1, 2)
    }
    return Found(runs, (1, 2))


def quiet(label: str, flows: int, name: str) -> float:
    return {"utilisation": 1.0, "fairness_min_max": 1.0, "goodput": 0.9}.get(name, 0.0)


def crowded(label: str, flows: int, name: str) -> float:
    """Who is not the first loses and waits, where flows are many."""
    lost = label not in (scale.OURS, "RL-CC MLP") and flows > 1000
    return (
        {"queue_mean_us": 300.0, "drop_gbps": 5.0, "dropped_packets": 9.0}.get(name, 1.0)
        if lost
        else quiet(label, flows, name)
    )


def test_the_sizes_are_the_papers() -> None:
    assert [t.flows for t in scale.NETWORKS] == [2**i for i in range(4, 14)]
    assert set(scale.LABELS) <= set(without_tree())


def test_an_axis_is_one_where_nothing_is_wrong_and_less_where_something_is() -> None:
    best = found_of(quiet)
    assert scale.scores(best, scale.OURS, scale.MANY) == [1.0, 1.0, 1.0, 1.0]
    values = {"queue_mean_us": 8.192, "drop_gbps": 25.0, "utilisation": 0.5, "fairness_min_max": 0.25}
    worse = found_of(lambda label, flows, name: values.get(name, 0.0))
    assert scale.scores(worse, scale.OURS, scale.MANY) == pytest.approx([0.5, 0.25, 0.5, 0.75])
    flood = found_of(lambda label, flows, name: 1000.0)
    assert min(scale.scores(flood, scale.OURS, scale.MANY)) == 0.0


def test_the_page_says_who_is_first_and_who_drops_nothing() -> None:
    made = scale.sections()
    text = scale.page(found_of(crowded), made)
    words = " ".join(text.split())
    assert "at 8192 PCC-RL LSTM is the furthest out, as in the paper: 1.000" in words
    assert "Of all rows PCC-RL LSTM and RL-CC MLP drop nothing" in words
    assert "the means of the four axes are 0.000 apart" in words
    assert "Further out than PCC-RL LSTM: nobody." in words
    for section in made:
        assert f"\n## {section.title}\n" in text
    assert max(len(line) for line in text.split("\n") if not line.startswith(("|", "!"))) <= 120


def test_another_order_is_said_to_be_another() -> None:
    def other(label: str, flows: int, name: str) -> float:
        return 500.0 if label == scale.OURS and name == "queue_mean_us" else quiet(label, flows, name)

    words = " ".join(scale.page(found_of(other), scale.sections()).split())
    assert "is the furthest out, not as in the paper" in words
    assert "Further out than PCC-RL LSTM: DCQCN at 16, 32, 64," in words


def test_the_picture_has_a_panel_a_size_and_a_line_a_contender() -> None:
    drawn = scale.picture(found_of(crowded)).decode()
    for word in ("16 to 1", "8192 to 1", *scale.LABELS, *scale.AXES):
        assert word in drawn
    assert drawn == scale.picture(found_of(crowded)).decode()
    assert radars({"a": {"one": [0.5, 1.0, 0.0]}}, ["x", "y", "z"]).startswith(b"<?xml")
