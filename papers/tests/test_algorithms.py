"""PCC-RL's appendix C: trainings have a curve over decisions, and the page says who settles."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from papers import algorithms
from papers.algorithms import LEARNT, METHODS, TRAFFIC, Method, Trained, page, picture, settles, trained
from papers.found import Found
from papers.runs import Metrics

SHORT = {
    "training": {"episodes": 1, "segments": 2},
    "ppo": {
        "rounds": 2,
        "rollout": 4,
        "rollouts_per_scenario": 1,
        "epochs": 1,
        "validation_interval": 1,
        "validation_duration": "1 ms",
    },
}


def metrics(utilisation: float = 0.99, jain: float = 0.99, loss: float = 0.0) -> Metrics:
    values = {"utilisation": utilisation, "jain": jain, "loss": loss, "fairness_min_max": jain}
    return values | {"rtt_inflation_mean": 3.0}


def found(bad: Metrics) -> Found:
    """With two seeds; ``bad`` is the first method's second seed with 8 flows."""
    runs = {(m.label, t.name, seed): metrics() for m in METHODS for t in TRAFFIC for seed in (1, 2)}
    return Found(runs | {(METHODS[0].label, "many-to-one:8", 2): bad}, (1, 2))


@pytest.mark.parametrize("bad", [metrics(utilisation=0.9), metrics(jain=0.9), metrics(loss=1e-6)])
def test_a_seed_settles_where_links_are_full_flows_equal_and_nothing_is_lost(bad: Metrics) -> None:
    f = found(bad)
    assert settles(f, METHODS[0].label, 1)
    assert not settles(f, METHODS[0].label, 2)
    assert settles(f, METHODS[1].label, 2)
    assert 8 in LEARNT
    assert algorithms.near(f, METHODS[1].label) == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1])
def test_a_training_has_a_curve_over_decisions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    method = METHODS[number]
    whole = method.document

    def short(seed: int) -> dict[str, Any]:
        document = whole(seed)
        document[Method.table(document)] |= SHORT[Method.table(document)]
        if "validation" in document:
            document["validation"] |= {"settle": "1 ms", "measure": "1 ms", "intervals": 2}
        return document

    monkeypatch.setattr(Method, "document", lambda _, seed: short(seed))
    assert trained(method, 3, tmp_path, now=False) is None
    made = trained(method, 3, tmp_path, now=True)
    assert made is not None
    assert [n for n, _ in made.curve][-1] == made.decisions > 0
    assert all(reward < 0 for _, reward in made.curve)
    assert made.reward < 0
    again = trained(method, 3, tmp_path, now=False)
    assert again is not None
    assert again.curve == made.curve


def test_the_page_is_whole() -> None:
    curve = [(1000, -3.0), (2000, -1.5)]
    made = {m.label: [Trained(None, curve, 2000 + seed, -1.0 - seed) for seed in (1, 2)] for m in METHODS}  # type: ignore[arg-type]
    f = found(metrics(jain=0.5))
    text = page(f, made)
    flat = text.replace("\n", " ")
    assert "1 of 2 |" in text
    assert "Aurora's seeds that settle are shared out by the network: 8 flows stand at an inflation of 3.0" in flat
    assert f"with some: {METHODS[0].label} (1)" in text.replace("\n", " ")
    assert all(m.label in text for m in METHODS)
    assert "Not trained yet" not in text
    assert picture(made).startswith(b"<?xml")
    fewer = {label: made[label] for label in list(made)[:2]}
    assert METHODS[-1].label in page(f, fewer).partition("Not trained yet")[2].partition("\n\n")[0].replace("\n", " ")


def test_a_training_is_kept_as_long_as_the_trainer_and_what_it_imports_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "teachers"
    folder.mkdir()
    for name, text in (("one", "from teachers.two import x\n"), ("two", "x = 1\n"), ("apart", "")):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(algorithms, "ROOT", tmp_path)
    before = algorithms.sources("one")
    (folder / "apart.py").write_text("y = 2\n")
    assert algorithms.sources("one") == before
    (folder / "two.py").write_text("x = 2\n")
    assert algorithms.sources("one") != before


def test_the_papers_reward_judges_all() -> None:
    (term,) = algorithms.RAW.ppo.reward
    assert (term.weight, term.power, term.limit) == (-1.0, 2, None)
    assert term.feature.kind == "pcc_rl_congestion"
    held = next(m for m in METHODS if m.reward).document(4)
    assert held["ppo"]["seed"] == 4
    assert [t["limit"] for t in held["ppo"]["reward"]] == [algorithms.TARGET]
    assert np.isclose(algorithms.ideal(TRAFFIC[1]), 4.0)
