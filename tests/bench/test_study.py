"""Studies of training: what they say is valid, pairs are of one seed, and what is kept is not trained again."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.training import study as command
from bench.training.__main__ import JudgedTraining
from bench.training.study import AS_IT_IS, STUDIES, StudentCycles, TrainingStudy, difference, page, parts
from decision.artefact.documents import read_text
from teachers.randomisation import Randomisation
from teachers.validation import Changing, Measured

NAMES = list(tomllib.loads(read_text(STUDIES)))


def measured(cost: float) -> tuple[Measured | Changing, ...]:
    """Of such a cost in many-to-one, and twice that in changing traffic."""
    steady = Measured(8, 0.9, 1.0, 0.0, 10.0, 10.0, 1.0 + cost, 1.0, 1.0)
    return steady, Changing("incast:8", 1.0, 0.1 * cost, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_every_variant_is_a_recipe_and_every_place_a_network(name: str) -> None:
    study = TrainingStudy.named(name)
    for each in study.variants:
        for seed in study.seeds:
            assert study.config(each, seed).training.seed == seed
        assert (study.config(each, 1) == study.config(AS_IT_IS, 1)) is (each == AS_IT_IS)
    assert set(study.places) <= set(study.variants)
    for places in study.places.values():
        for place in places:
            assert Randomisation.model_validate(tomllib.loads(place)) != Randomisation()


def test_each_switch_of_the_randomisation_is_alone_in_a_variant() -> None:
    switches = [keys["training"]["randomise"] for keys in list(TrainingStudy.named("randomised").variants.values())[1:]]
    assert all(len(each) == 1 for each in switches)
    by_hand = {"decision_latency", "decision_late_by"}  # how late, not whether
    by_hand |= {"devices"}  # bench/training/devices.py has a page of its own
    assert {next(iter(each)) for each in switches} == set(Randomisation.model_fields) - by_hand


def test_the_parts_of_a_cost() -> None:
    assert parts(JudgedTraining(0.0, measured(0.2))) == pytest.approx((0.2, 0.4, 0.02))


def test_a_difference_is_of_pairs() -> None:
    assert difference([2.0, 3.0, 7.0], [1.0, 2.0, 3.0]) == "+2.000 ±1.000"


def test_cycles_say_what_is_proved() -> None:
    assert [str(c) for c in (StudentCycles(104, 104), StudentCycles(104, 110), StudentCycles(97))] == [
        "104",
        "104 to 110",
        "97 or more",
    ]


def test_a_page_has_a_row_a_variant_and_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int]] = []

    def trained(study: TrainingStudy, variant: str, seed: int) -> JudgedTraining:
        seen.append((variant, seed))
        cost = 0.5 if seed != 3 else 0.25
        return JudgedTraining(cost, measured(cost))

    monkeypatch.setattr(TrainingStudy, "trained", trained)
    text = page("seeds", TrainingStudy.named("seeds"))
    assert "0.250 to 0.5" in text
    assert "standard deviation 0.112." in text
    assert "`python -m bench.training.study seeds`" in text
    assert seen == [(AS_IT_IS, seed) for seed in (1, 2, 3, 4, 5)]


def test_a_page_of_other_seeds_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(TrainingStudy, "trained", lambda _, variant, seed: JudgedTraining(0.5, measured(0.5)))
    assert command.main(["seeds", "--seeds", "2", "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "seeds --seeds 2`" in text
    assert "That is seed 2." in text
    assert "0.500 to 0.500." in text


def test_what_is_kept_is_not_trained_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = 0

    def judge(*_: Any) -> JudgedTraining:
        nonlocal calls
        calls += 1
        return JudgedTraining(0.125, measured(float("nan")))

    monkeypatch.setattr(command, "judge", judge)
    monkeypatch.setattr(command, "TRAINED", tmp_path)
    study = TrainingStudy.named("seeds")
    first, again = (study.trained(AS_IT_IS, 1) for _ in range(2))
    assert calls == 1
    assert first.cost == again.cost == 0.125
    assert str(first.measured) == str(again.measured)


def test_a_study_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["tables"])
    assert "seeds" in capsys.readouterr().err
