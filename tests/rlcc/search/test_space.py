"""The space of a search: from the recipe's own point to the recipe of any point, as TOML that is read again."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.errors import InputError
from rlcc.recipe import load_recipe
from rlcc.search.options import SearchRange
from rlcc.search.recipe_text import moved, recipe_text
from rlcc.search.space import UNSAID, SearchSpace

TEXT = """\
format = 1
name = "mine"
teacher = "../teacher"
[rollout]
scenarios = ["many-to-one:2"]
[distill]
trees = 40
[gate]
budget = "1 us"
[search.space]
"distill.rounds" = [0, 1]
seed = [1, 5]
"""


def space(folder: Path, text: str = TEXT) -> SearchSpace:
    (folder / "mine.toml").write_text(text)
    return SearchSpace.of(folder / "mine.toml", load_recipe(folder / "mine.toml"))


def test_the_recipes_own_values_are_in_every_space(tmp_path):
    made = space(tmp_path)
    assert made.knobs["distill.trees"] == SearchRange(**{"from": 3, "to": 40})  # the default's 20 and the recipe's 40
    assert made.knobs["distill.rounds"] == (6, 0, 1)
    assert made.knobs["distill.window"][0] == UNSAID
    assert made.own == {
        "distill.trees": 40,
        "distill.depth": 4,
        "distill.window": UNSAID,
        "distill.borders": 1024,
        "distill.rounds": 6,
        "emit.form": "auto",
        "emit.max_table": 2048,
        "seed": 1,
    }


def test_the_recipe_of_the_own_point_is_the_recipe(tmp_path):
    made = space(tmp_path)
    asked = load_recipe(tmp_path / "mine.toml").model_dump(exclude={"search"})
    assert made.recipe(made.own).model_dump(exclude={"search"}) == asked


def test_a_points_values_are_what_its_recipe_says(tmp_path):
    recipe = space(tmp_path).recipe({"distill.trees": 7, "distill.window": 3, "emit.form": "joint", "seed": 5})
    assert (recipe.distill.trees, recipe.distill.window, recipe.emit.form, recipe.seed) == (7, 3, "joint", 5)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('"distill.tree" = [1]', "no option 'distill.tree'"),
        ('"gate.budget" = ["1 us"]', "'gate.budget' cannot be searched"),
        ('"emit.form" = { from = 1, to = 2 }', "a whole number"),
        ('"emit.form" = ["jount"]', "emit.form"),
        ('"distill.depth" = { from = 5, to = 2 }', "smaller number first"),
        ('"distill.depth" = { from = 1, to = 99 }', "distill.depth"),
        ('"distill.depth" = [3, 3]', "stands twice"),
        ('"distill.depth" = []', "search.space"),
        ('"distill.depth" = 3', "search.space"),
        ('"distill.depth" = { from = true, to = 3 }', "search.space"),
    ],
)
def test_a_space_that_is_none_is_refused_in_a_sentence(tmp_path, entry, words):
    with pytest.raises(InputError) as error:
        space(tmp_path, TEXT + entry + "\n")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=5)
SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**62), 2**62),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=8),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_a_recipe_that_is_written_is_read_as_it_was(document):
    assert tomllib.loads(recipe_text(document, "a comment")) == document


def test_paths_lead_to_the_same_files_from_elsewhere(tmp_path):
    here, there = tmp_path / "recipes", tmp_path / "runs" / "mine"
    document = {
        "teacher": "../teachers/one",
        "network": "net.toml",
        "agents": {"flows": {"interface": "flow_rate", "baseline": "dcqcn"}, "queues": {"teacher": "../teachers/two"}},
    }
    changed = moved(document, here, there)
    for before, after in (
        (document["teacher"], changed["teacher"]),
        (document["network"], changed["network"]),
        (document["agents"]["queues"]["teacher"], changed["agents"]["queues"]["teacher"]),
    ):
        assert (there / after).resolve() == (here / before).resolve()
    assert changed["agents"]["flows"]["baseline"] == "dcqcn"
