"""A recipe is for the algorithm whose table it has."""

import tomllib
from pathlib import Path

import pytest
from pydantic import ValidationError

from teachers.methods import ADPG, METHODS, method_of, seeded

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("train-*.toml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_valid_for_its_method_with_another_seed(path: Path) -> None:
    document = tomllib.loads(path.read_text())
    method = method_of(document)
    assert method.table in document
    config = seeded(document, 77)
    assert isinstance(config, method.config)
    assert getattr(config, method.table).seed == 77
    assert document[method.table]["seed"] != 77  # the recipe stays as it is


def test_all_methods_have_a_recipe() -> None:
    assert {method_of(tomllib.loads(path.read_text())).table for path in RECIPES} == set(METHODS)


def test_a_recipe_without_a_table_of_a_method_is_for_adpg() -> None:
    assert method_of({"format", "policy"}) is ADPG
    with pytest.raises(ValidationError, match="training"):
        seeded({"format": 1}, 1)
