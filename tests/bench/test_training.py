"""Variants of a recipe: what they change, and that pairs are of the same seed and judged by one validation."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from bench.training import __main__ as command
from bench.training.__main__ import JudgedTraining, changed, config_of, variant
from decision.artefact.errors import InputError

RECIPE = Path(__file__).parents[2] / "recipes/train-rl-cc-mlp.toml"


def test_a_variant_is_a_name_and_keys() -> None:
    name, changes = variant('far: training.starts = ["1 ppm", "100 %"]; training.credit.idle = false')
    assert name == "far"
    assert changes == {"training": {"starts": ["1 ppm", "100 %"], "credit": {"idle": False}}}
    with pytest.raises(InputError, match="name and keys"):
        variant("far: training.starts = oops")


def test_tables_are_merged_and_values_replaced() -> None:
    recipe = {"a": {"b": 1, "c": [1, 2]}, "d": 3}
    assert changed(recipe, {"a": {"c": [4]}, "e": 5}) == {"a": {"b": 1, "c": [4]}, "d": 3, "e": 5}
    assert recipe == {"a": {"b": 1, "c": [1, 2]}, "d": 3}


def test_a_variant_that_is_no_recipe_is_refused() -> None:
    with pytest.raises(InputError, match=r"training\.horizon"):
        config_of(tomllib.loads(RECIPE.read_text()), {"training": {"horizon": 0}}, 1)


def test_the_difference_is_that_of_pairs(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def judge(config: Any, by: Any) -> JudgedTraining:
        assert config.training.seed == by.training.seed
        assert by.training.horizon == 10
        return JudgedTraining(config.training.seed + 0.25 * config.training.horizon / 10 * config.training.seed, ())

    monkeypatch.setattr(command, "judge", judge)
    assert command.main([str(RECIPE), "--seeds", "4", "8", "--variant", "far: training.horizon = 20"]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert [cell.strip() for cell in last.split("|")[1:-1]] == ["far", "6.000", "12.000", "9.000", "+1.500 +- 0.500"]
