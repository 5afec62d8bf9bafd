"""Lists of scenarios by name: those there are, and the gate over traffic of every kind in one list."""

import json
import shutil
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from distill.options import RolloutOptions
from netsim import scenarios, workloads
from rlcc import cli
from rlcc.recipe import GateOptions, load_recipe
from rlcc.scenario_lists import listed

ROOT = Path(__file__).resolve().parents[2]


def test_a_recipe_that_names_no_scenario_is_judged_in_every_kind() -> None:
    """Flows to one receiver from 8 to 8192, some that come and go, an incast, an open loop and a fabric."""
    gate = GateOptions.model_validate({"budget": "1 us"})
    assert gate == GateOptions.model_validate({"budget": "1 us", "scenarios": "all-kinds"})
    read = [scenarios.read(name) for name in gate.scenarios]
    traffic = {recipe.traffic for recipe in read}
    assert {"many-to-one", "long-short", "incast"} < traffic
    assert traffic & set(workloads.NAMES)
    assert any(recipe.fabric for recipe in read)
    assert {"many-to-one:8", "many-to-one:8192"} < set(gate.scenarios)
    assert RolloutOptions(scenarios=gate.scenarios).scenarios == gate.scenarios


def test_the_papers_list_is_a_part_of_it() -> None:
    papers = GateOptions.model_validate({"budget": "1 us", "scenarios": "papers"}).scenarios
    assert set(papers) < set(GateOptions.model_validate({"budget": "1 us"}).scenarios)
    assert listed(["many-to-one:2"]) == ["many-to-one:2"]


@pytest.mark.parametrize("file", ["rl-cc-lstm", "pcc-rl-lstm"])
def test_lstm_recipes_are_judged_in_every_kind_but_the_crowd_in_which_their_teachers_are_unsteady(file: str) -> None:
    gate = load_recipe(ROOT / "recipes" / f"{file}.toml").gate
    assert set(GateOptions.model_validate({"budget": "1 us"}).scenarios) - set(gate.scenarios) == {"many-to-one:8192"}
    assert (gate.tolerance["goodput"].most, gate.tolerance["latency"].most) == (0.005, 0.01)
    assert len(gate.seeds) >= 3


def test_a_list_that_is_not_there(tmp_path: Path, recipe_text: str) -> None:
    (tmp_path / "tiny.toml").write_text(recipe_text.replace('scenarios = ["many-to-one:2"]', 'scenarios = "all"'))
    with pytest.raises(InputError, match=r"gate\.scenarios: .*'all' .*all-kinds, papers"):
        load_recipe(tmp_path / "tiny.toml")


KINDS = ["many-to-one:2", "long-short:3", "incast:2x20KB", "websearch:30%", "many-to-one:4@leaf-spine:2x4x1:25/100"]


def test_the_gate_judges_every_kind_of_traffic_in_one_list(good: Path, tmp_path: Path) -> None:
    """Flows that go on, that come and go, all at once, at random, and a fabric of other links: each metric is judged
    where it is measured, and slowdowns only where flows end."""
    root = tmp_path / "good"
    shutil.copytree(good, root)
    recipe = (root / "good.toml").read_text().partition("[gate]")
    text = f"""{recipe[0]}[gate]
budget = "20 us"
scenarios = {json.dumps(KINDS)}
duration = "14 ms"
window = ["9 ms", "14 ms"]
tolerance = {{ goodput = 1, latency = 1, fairness = 1, loss = 1, slowdown_mean = "±100 %" }}
match = {{ rmse = 1, p99 = 1, maximum = 1, duration = "12 ms" }}
"""
    (root / "good.toml").write_text(text)
    assert load_recipe(root / "good.toml").gate.scenarios == KINDS
    code = cli.main(["gate", str(root / "firmware"), "--recipe", str(root / "good.toml"), "--no-certificate"])
    verdict = json.loads((root / "verdict/verdict.json").read_text())
    judged = [check for check in verdict["checks"] if check["group"] == "network"]
    of = {kind: [check["id"] for check in judged if check["id"].endswith(f"[{kind}]")] for kind in KINDS}
    assert all(len(ids) >= 4 for ids in of.values()), of
    ends = [kind for kind, ids in of.items() if f"network.slowdown_mean[{kind}]" in ids]
    assert ends == KINDS[1:4]
    assert code == 0, [check for check in verdict["checks"] if not check["passed"]]
    outcomes = verdict["measured"]["network"]
    assert [outcome["scenario"] for outcome in outcomes[::3]] == KINDS
    assert all(outcome["metrics"][0]["goodput"] > 0 for outcome in outcomes)
