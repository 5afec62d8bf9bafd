"""An old key of a recipe, or an old option, is refused: one sentence that names the new one, exit code 2."""

from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from decision.artefact.documents import _models, validate
from decision.artefact.errors import InputError
from decision.artefact.renamed_keys import from_record, new_names, recorded
from distill.options import DistillOptions
from rlcc.commands.distill import command as distill_command
from rlcc.commands.emit import command as emit_command
from rlcc.recipe import Recipe, load_recipe
from rlcc.search.space import SearchSpace

NEW = {
    "distill.anywhere": "uniform_state_samples",
    "distill.held": "frozen_signal_samples",
    "distill.within": "max_deviation",
    "distill.without": "exclude_features",
    "distill.falling": "monotone_decreasing",
    "distill.trim": "bias_search",
    "distill.compare_in": "comparison_scenarios",
    "distill.compare_window": "comparison_window",
    "emit.without": "exclude_passes",
    "emit.fix": "constants",
    "gate.mean": "mean_budget",
    "gate.match.triggered": "trigger_difference",
    "gate.neighbourhood.proved": "proved_limit",
    "agents.queues.fixed": "fixed_knobs",
    "agents.queues.idle": "idle_rule",
}
OPTIONS = {
    ("distill", "--anywhere"): "--uniform-state-samples",
    ("distill", "--falling"): "--monotone-decreasing",
    ("distill", "--within"): "--max-deviation",
    ("emit", "--without"): "--exclude-passes",
    ("emit", "--fix"): "--constants",
}
SEARCHED = ("anywhere", "trim")


def models(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The model and those of its tables."""
    yield model
    for field in model.model_fields.values():
        for inner in _models(field.annotation):
            yield from models(inner)


@pytest.mark.parametrize("old", list(NEW))
def test_an_old_key_is_refused_with_the_new_one(
    old: str, recipe_text: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    *tables, key = old.split(".")
    file, table = tmp_path / "old.toml", f"[{'.'.join(tables)}]\n"
    text = recipe_text if table in recipe_text else f"{recipe_text}\n{table}"
    file.write_text(text.replace(table, f"{table}{key} = 0\n"))
    said = refused("run", file, "--out", tmp_path / "out")
    assert said.startswith(f"error: {file}: {old}: ")
    assert NEW[old] in said
    assert said.count("\n") <= 1
    assert not (tmp_path / "out").exists()


def test_each_key_with_another_name_is_among_them() -> None:
    marked = {(old, new) for model in models(Recipe) for old, new in new_names([model]).items()}
    assert marked == {(old.rpartition(".")[2], new) for old, new in NEW.items()}


@pytest.mark.parametrize(("command", "old"), list(OPTIONS))
def test_an_old_option_is_refused_with_the_new_one(
    command: str, old: str, tmp_path: Path, refused: Callable[..., str]
) -> None:
    sources = [tmp_path] * {"distill": 2, "emit": 1}[command]
    said = refused(command, *sources, old, "1", "--out", tmp_path / "out")
    assert said.startswith(f"error: {old}: ")
    assert OPTIONS[command, old] in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [distill_command, emit_command])
def test_help_names_no_old_option(command: click.Command) -> None:
    text = command.get_help(click.Context(command))
    names = {word.strip(",") for word in text.split() if word.startswith("--")}
    assert not names & {old for _, old in OPTIONS}
    assert names >= {new for (name, _), new in OPTIONS.items() if name == command.name}


@pytest.mark.parametrize("old", SEARCHED)
def test_an_old_name_in_the_space_of_a_search_is_refused(old: str, recipe_text: str, tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text(f'{recipe_text}\n[search.space]\n"distill.{old}" = [0.0]\n')
    with pytest.raises(InputError, match=rf"distill\.{NEW[f'distill.{old}']}"):
        SearchSpace.of(file, load_recipe(file))


def test_a_student_records_the_keys_of_its_format_and_is_read_under_todays() -> None:
    options = DistillOptions(exclude_features=["action_1"], uniform_state_samples=0.2, max_deviation=0.3)
    record = recorded(options)
    names = ("without", "anywhere", "within", "compare_in")
    assert [record[name] for name in names] == [["action_1"], 0.2, 0.3, None]
    assert list(from_record(DistillOptions, record)) == list(options.model_dump(mode="json"))
    assert validate(DistillOptions, from_record(DistillOptions, record), "here") == options
    with pytest.raises(InputError, match="exclude_features"):
        validate(DistillOptions, record, "here")
