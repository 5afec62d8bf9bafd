"""The page of every teacher's seeds: what it trains, what it keeps, and that it says which seed is shipped."""

from dataclasses import replace

import pytest

from bench.training import teachers as command
from bench.training.teachers import CHOSEN, GATES, RECIPES, TEACHERS, Seeds, page
from rlcc.recipe import load_recipe, teacher_path
from teachers.load import load
from teachers.training_cache import CachedTraining


def training(value: float, better: int = 1) -> CachedTraining:
    return CachedTraining(value, "reward" if better > 0 else "fct_us", better, 3, 4, 60.0 + value)


def seeds(name: str, values: dict[int, float], better: int, same: bool | None = True) -> Seeds:
    loops = {seed: {"incast:4": {"goodput": 0.5, "queue_mean_us": 10.0 + seed}} for seed in values}
    trainings = {seed: training(value, better) for seed, value in values.items()}
    return Seeds(name, "DDQN", trainings, loops, 1, same, 0.25, values[1])


@pytest.mark.parametrize("name", GATES)
def test_the_gate_is_that_of_the_teacher_and_the_recipe_has_the_shipped_seed(name: str) -> None:
    path = RECIPES / f"{GATES[name]}.toml"
    assert teacher_path(load_recipe(path), path) == (TEACHERS / name).resolve()
    document = command.document_of(name)
    shipped = load(TEACHERS / name).policy.provenance["seed"]
    assert next(document[table]["seed"] for table in ("training", "ddqn", "ddpg", "pg") if table in document) == shipped


def test_the_shipped_weights_are_ranked_by_what_they_are_worth_here() -> None:
    up, down = (seeds("a", {1: 0.2, 2: 0.3, 3: 0.1}, better) for better in (1, -1))
    assert (up.best, up.rank) == (2, 2)
    assert (down.best, down.rank) == (3, 2)
    worth_more = replace(up, here=0.4)
    assert (worth_more.best, worth_more.rank) == (1, 1)


def test_whoever_has_another_seed_than_1_is_said_to_have_it_for_a_reason() -> None:
    assert {name for name in GATES if load(TEACHERS / name).policy.provenance["seed"] != 1} == set(CHOSEN)


def test_the_page_says_rank_bytes_and_how_far_the_seeds_are_apart() -> None:
    text = page([seeds("acc", {1: 0.2, 2: 0.3}, 1), seeds("auto-srla", {1: 900.0, 2: 1200.0}, -1, same=False)], "c")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    acc, srla = (next(row for row in rows if row[0] == name) for name in ("acc", "auto-srla"))
    assert acc[2:] == ["0.2000", "0.3000", "28.3", "1: 2 of 2", "0.2500 / 0.2000", "yes", "8.7: queue us", "60 to 60"]
    assert srla[2:] == [
        "900 us",
        "1,200 us",
        "20.2",
        "1: 1 of 2",
        "0 us / 900 us",
        "no",
        "8.7: queue us",
        "960 to 1260",
    ]
    assert "acc: by 50.0 % (seed 2)" in text
    assert ["`incast:4`", "queue us", "11.00", "12.00", "8.7"] in rows
    assert ["weights kept after", "", "3 of 4", "3 of 4", ""] in rows
