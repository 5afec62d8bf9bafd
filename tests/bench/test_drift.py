"""The page on what `rlcc drift` tells."""

from pathlib import Path

import pytest

from bench import drift
from bench.drift import DriftRow
from netsim.network import MS
from netsim.scenarios import instantiate
from rlcc.commands.drift import DRIFT_LIMIT
from rlcc.drift import Drift
from rlcc.recipe import deployment_of, load_recipe


def test_a_row_says_what_is_new_and_what_it_costs() -> None:
    rows = [
        DriftRow("incast:2", True, Drift(2000, 0.25, 0.0, 0.0, ()), 0.01),
        DriftRow("incast:4", False, Drift(3000, 0.5, DRIFT_LIMIT + 0.01, 0.125, ()), 0.02),
    ]
    text = drift.section("rl-cc", rows)
    first, second = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[-2:] if line]
    assert first == ["`incast:2`", "yes", "2,000", "0.250", "0.000", "0.000", "", "0.0100"]
    assert second == ["`incast:4`", "", "3,000", "0.500", "0.060", "0.125", "DRIFTED", "0.0200"]


@pytest.mark.parametrize("name", drift.TRAFFIC)
def test_what_is_said_to_be_of_the_recipe_is(name: str) -> None:
    path = drift.ROOT / "recipes" / f"{name}.toml"
    recipe = load_recipe(path)
    network = deployment_of(recipe, path).network
    assert drift.SEED not in recipe.rollout.seeds
    for scenario, own in drift.TRAFFIC[name]:
        assert (scenario in recipe.rollout.scenarios) == own
        instantiate(scenario, drift.SEED, 5 * MS, network)


def test_a_run_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert drift.main(["--runs", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 2
    assert capsys.readouterr().err.startswith("drift: ")
    assert not (tmp_path / "page.md").exists()
