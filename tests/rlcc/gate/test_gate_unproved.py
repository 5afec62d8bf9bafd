"""A distance over all states that no prover bounds: a row of the gate that fails, or that says so; never none."""

import re
from decimal import ROUND_UP, Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc.gate import comparison
from rlcc.recipe import Neighbourhood, load_recipe, teacher_path
from teachers.load import load
from teachers.teacher import make_teacher

POLICY: dict[str, Any] = {
    "format": 1,
    "name": "by-hand",
    "observation": {
        "window": 1,
        "base_rtt": "8192 ns",
        "line_rate": "100 Gb/s",
        "rtt_max": "4 ms",
        "features": [{"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}],
    },
    "action": {"kind": "tanh_map", "step": 0.2},
    "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "an LSTM": {"kind": "lstm", "hidden": [2], "lstm": 2, "bias": False},
    "another activation": {"kind": "mlp", "hidden": [2], "bias": False, "activation": "tanh"},
}


def pair_of(architecture: dict[str, Any]) -> Any:
    """A student that always raises the rate by 0.1, and a teacher of weights that are all 0, which keeps it."""
    policy = Policy.model_validate(POLICY | {"architecture": architecture})
    lstm = architecture["kind"] == "lstm"
    shapes: dict[str, tuple[int, ...]] = {"fc0.weight": (2, 1), "out.weight": (1, 2)}
    gates = {"lstm.weight_ih": (8, 2), "lstm.weight_hh": (8, 2), "lstm.bias_ih": (8,), "lstm.bias_hh": (8,)}
    shapes |= gates if lstm else {}
    teacher = make_teacher(policy, {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}, "the test")
    names = feature_names(policy.observation)
    forest = Forest(names, (oblivious(((0, 5_000),), (0, 0)),), (6_554,), policy.action.leaf_bits)  # type: ignore[union-attr]
    student = Student(policy.name, policy.header, forest, teacher.hash)
    return SimpleNamespace(pupil=student, teacher=teacher)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("proof", [True, False])
def test_the_row_of_all_states_is_always_there(architecture: str, proof: bool) -> None:
    allowed = Neighbourhood(proof=proof)
    job: Any = SimpleNamespace(say=lambda _: None, options=SimpleNamespace(neighbourhood=allowed))
    checks, measured = comparison.around_the_states(job, pair_of(ARCHITECTURES[architecture]), None)
    assert [check.id for check in checks[1:]] == ["teacher.deviation", "teacher.deviation_bound"]
    row = checks[-1]
    assert row.passed == (not proof) == ("not demanded" in row.value)
    assert "no proof" in row.value
    assert measured["distance"]["refused"] == (row.detail if proof else row.note) != ""


def test_one_key_does_not_take_back_what_the_other_demands() -> None:
    with pytest.raises(ValueError, match="proved"):
        Neighbourhood(proved_limit=0.2, proof=False)


RECIPES = sorted(
    path for path in Path(__file__).resolve().parents[3].glob("recipes/*.toml") if "\n[gate]" in path.read_text()
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_shipped_recipe_leaves_out_the_proof_only_of_an_lstm(recipe: Path) -> None:
    read = load_recipe(recipe)
    policy = load(teacher_path(read, recipe)).policy
    assert read.gate.neighbourhood.proof is (policy.architecture.lstm is None)


FIGURE = re.compile(r"honest student's figure, (0\.\d+)")


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_a_shipped_limit_is_the_honest_students_figure_and_a_tenth(recipe: Path) -> None:
    """Rounded up to 0.001; a figure of three digits may have been rounded itself. Agents without one state none."""
    read = load_recipe(recipe)
    stated = FIGURE.findall(recipe.read_text())
    assert len(stated) == bool(read.pupil.of.context)
    for figure in stated:
        most = Decimal(figure) + (Decimal("0.0005") if len(figure) == 5 else 0)
        rounded = (most * Decimal("1.1")).quantize(Decimal("0.001"), ROUND_UP)
        assert Decimal(str(read.gate.neighbourhood.limit)) == rounded
