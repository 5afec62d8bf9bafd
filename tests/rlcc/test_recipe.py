"""Recipes: what is wrong with one is told in one sentence with the file and the key, before any stage runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from rlcc.recipe import GateOptions, load_recipe, teacher_path
from rlcc.shipped_recipes import recipes

ROOT = Path(__file__).resolve().parents[2]


def changed(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        return text.replace(old, new)

    return change


WRONG = {
    "an unknown key": (changed("trees = 3", "treees = 3"), "distill.treees: no such key"),
    "an unknown table": (lambda text: text + "\n[extra]\nx = 1\n", "extra: no such key"),
    "a missing table": (lambda text: text[: text.index("[gate]")], "gate: is missing"),
    "a missing key": (changed('budget = "20 us"\n', ""), "gate.budget: is missing"),
    "a missing unit": (changed('"20 us"', '"20"'), "gate.budget: '20'"),
    "a bare number": (changed('"20 us"', "20"), "gate.budget: 20 has no unit"),
    "a wrong unit": (changed('"20 us"', '"20 MHz"'), "gate.budget: '20 MHz' has the unit 'MHz'"),
    "a budget of 0": (changed('"20 us"', '"0 us"'), "gate.budget: a budget of 0 cannot be met"),
    "a window outside": (changed('window = ["1 ms", "4 ms"]', 'window = ["1 ms", "5 ms"]'), "within the duration"),
    "an empty window": (changed('window = ["1 ms", "4 ms"]', 'window = ["4 ms", "4 ms"]'), "within the duration"),
    "half a window": (changed('window = ["1 ms", "4 ms"]', 'window = ["1 ms"]'), "gate.window.1: is missing"),
    "no window for a short run": (changed('window = ["1 ms", "4 ms"]\n', ""), "within the duration"),
    "no scenario": (changed('scenarios = ["many-to-one:2"]', "scenarios = []"), "gate.scenarios"),
    "an unknown scenario": (changed('["many-to-one:2"]', '["many-to-two:2"]'), "unknown scenario 'many-to-two:2'"),
    "a scenario twice": (
        changed('["many-to-one:2"]', '["many-to-one:2", "many-to-one:2"]'),
        "gate.scenarios: many-to-one:2 stands twice",
    ),
    "a tolerance over 1": (changed("goodput = 0.2", "goodput = 2"), "gate.tolerance: goodput: "),
    "a negative tolerance": (changed("goodput = 0.2", "goodput = -0.2"), "gate.tolerance: goodput: "),
    "a tolerance that is no number": (changed("goodput = 0.2", "goodput = nan"), "gate.tolerance: goodput: "),
    "a learning rate of 0": (changed("learning_rate = [0.4]", "learning_rate = [0.0]"), "distill.learning_rate.0"),
    "a depth over 8": (changed("depth = 3", "depth = 9"), "distill.depth"),
    "another format": (changed("format = 1", "format = 2"), "format"),
    "a negative seed": (changed("seed = 1", "seed = -1"), "seed"),
    "a path as name": (changed('name = "tiny"', 'name = "../tiny"'), "name"),
    "no TOML": (lambda text: text + "\n= 3\n", "is not valid TOML"),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_one_sentence_with_the_file_and_the_key(name: str, recipe_text: str, tmp_path: Path) -> None:
    change, words = WRONG[name]
    file = tmp_path / "tiny.toml"
    file.write_text(change(recipe_text))
    with pytest.raises(InputError) as refused:
        load_recipe(file)
    said = str(refused.value)
    assert said.startswith(str(file))
    assert words in said
    assert "\n" not in said


def test_the_recipe_itself_is_right(recipe_text: str, tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(recipe_text)
    recipe = load_recipe(tmp_path / "tiny.toml")
    assert recipe.gate.budget == 20_000_000
    assert recipe.gate.window == (10**9, 4 * 10**9)
    with pytest.raises(InputError, match="there is no"):
        teacher_path(recipe, tmp_path / "tiny.toml")


def test_a_run_stops_at_a_wrong_recipe(recipe_text: str, tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "tiny.toml").write_text(changed('"20 us"', '"0 us"')(recipe_text))
    assert "a budget of 0" in refused("run", tmp_path / "tiny.toml", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert "nowhere.toml" in refused("run", tmp_path / "nowhere.toml")
    assert "teacher" in refused("run", _good(recipe_text, tmp_path))


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('[emit]\ntarget = "connectx99"', "connectx99"),
        ('[emulate]\nprofile = "ibex-huge"', "ibex-huge"),
        ('[emulate]\noptimise = "-O9"', "-O9"),
        ('[emulate]\ncompiler = "icc"', "emulate.compiler"),
    ],
)
def test_what_a_late_stage_lacks_is_said_at_once(
    recipe_text: str,
    tmp_path: Path,
    refused: Callable[..., str],
    save_teacher: Callable[..., None],
    table: str,
    words: str,
) -> None:
    save_teacher(tmp_path / "teacher")
    (tmp_path / "tiny.toml").write_text(changed('[emit]\ntarget = "generic"', table)(recipe_text))
    assert words in refused("run", tmp_path / "tiny.toml", "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_options_of_the_gate_read_back_what_they_write(recipe_text: str, tmp_path: Path) -> None:
    options = load_recipe(_good(recipe_text, tmp_path)).gate
    assert GateOptions.model_validate(options.model_dump(mode="json")) == options


def _good(recipe_text: str, folder: Path) -> Path:
    (folder / "good.toml").write_text(recipe_text)
    return folder / "good.toml"


@pytest.mark.parametrize("path", recipes().values(), ids=lambda path: path.name)
def test_the_recipes_that_come_with_rlcc_are_right(path: Path) -> None:
    recipe = load_recipe(path)
    assert teacher_path(recipe, path).is_dir()


def test_the_demo_is_its_full_recipe_with_less_to_compare_and_judge() -> None:
    """Whoever passes the demo's gate has met the limits of ``rl-cc.toml``, in fewer networks."""
    demo, full = (load_recipe(recipes()[name]) for name in ("demo", "rl-cc"))
    assert (demo.name, demo.seed, demo.emit, demo.rollout) == (full.name, full.seed, full.emit, full.rollout)
    less = {"rounds": 3, "bias_search": [], "comparison_scenarios": ["many-to-one:2048"]}
    assert demo.distill == full.distill.model_copy(update=less)
    assert set(demo.gate.scenarios) < set(full.gate.scenarios)
    assert {"many-to-one:8192", "hadoop:50%"} < set(demo.gate.scenarios)
    assert len(demo.gate.scenarios) >= 4
    judged = {"scenarios": demo.gate.scenarios, "match": demo.gate.match}
    assert demo.gate == full.gate.model_copy(update=judged)
    assert demo.gate.match == full.gate.match.model_copy(update={"scenarios": demo.gate.scenarios[:3]})


def test_the_recipe_of_a_card_distils_as_the_demo_and_judges_as_its_full_recipe() -> None:
    card, demo, full = (load_recipe(recipes()[name]) for name in ("rl-cc-bluefield3", "demo", "rl-cc"))
    assert (card.seed, card.rollout) == (demo.seed, demo.rollout)
    assert demo.distill == card.distill.model_copy(update={"comparison_scenarios": ["many-to-one:2048"]})
    assert card.gate == full.gate.model_copy(update={"device": "bluefield3"})
    assert card.emit == full.emit.model_copy(update={"target": "doca-pcc"})
