"""Students of earlier runs: taken where nothing that decides has changed, whole, and only then."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from distill import distil
from distill.student_artefact import KIND, TOOLS
from netsim.tolerance import DEFAULT
from rlcc import cli, stages
from rlcc.recipe import deployment_of, load_recipe, teacher_path
from rlcc.student_cache import distillation_key, store, taken
from teachers.load import load

KEY = "1" * 64


@pytest.fixture
def student(tmp_path: Path) -> Path:
    with writing(tmp_path / "student", KIND, tools=TOOLS, parents={"teacher": "2" * 64}, seed=1) as work:
        (work / "student.json").write_text("trees")
    return tmp_path / "student"


def test_a_student_is_taken_byte_for_byte(student: Path, student_cache: Path, tmp_path: Path) -> None:
    assert not taken(KEY, tmp_path / "out")
    store(KEY, student)
    assert taken(KEY, tmp_path / "out")
    assert not taken("3" * 64, tmp_path / "other")
    assert opened(tmp_path / "out", KIND).contents == opened(student, KIND).contents


@pytest.mark.parametrize(
    ("file", "text"), [("student.json", "other trees"), ("manifest.json", ""), ("manifest.json", None)]
)
def test_one_that_was_damaged_in_the_cache_is_not_taken_but_replaced(
    student: Path, student_cache: Path, tmp_path: Path, file: str, text: str | None
) -> None:
    store(KEY, student)
    damaged = student_cache / KEY / file
    damaged.unlink() if text is None else damaged.write_text(text)
    assert not taken(KEY, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    store(KEY, student)
    assert taken(KEY, tmp_path / "out")


def test_a_whole_one_stays_where_it_is(student: Path, student_cache: Path) -> None:
    """Another process may read it."""
    store(KEY, student)
    before = (student_cache / KEY).stat().st_ino
    store(KEY, student)
    assert (student_cache / KEY).stat().st_ino == before


def test_a_cache_that_cannot_be_written_costs_no_more_than_time(
    student: Path, student_cache: Path, tmp_path: Path
) -> None:
    student_cache.parent.mkdir()
    student_cache.write_text("a file in the folder's place")
    store(KEY, student)
    assert not taken(KEY, tmp_path / "out")


def test_each_input_is_in_the_key() -> None:
    given = {"teacher": "a", "seed": 1}
    keys = {distillation_key(given | change) for change in ({}, {"teacher": "b"}, {"seed": 2}, {"more": 1})}
    assert len(keys) == 4


def test_a_distillation_names_all_its_inputs(pipeline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = load_recipe(pipeline.recipe)
    teacher, deployment = load(teacher_path(recipe, pipeline.recipe)), deployment_of(recipe, pipeline.recipe)
    keys: list[str] = []

    def known(deciding: Any) -> str:
        keys.append(distillation_key(deciding))
        raise InputError("that is all")

    monkeypatch.setattr("rlcc.student_cache.distillation_key", known)
    usual = {
        "options": recipe.distill,
        "network": recipe.rollout,
        "seed": recipe.seed,
        "deployment": deployment,
        "tolerance": recipe.gate.tolerance,
        "neighbourhood": recipe.gate.neighbourhood,
    }
    changes: list[dict[str, Any]] = [
        {},
        {"options": recipe.distill.model_copy(update={"depth": recipe.distill.depth + 1})},
        {"network": recipe.rollout.model_copy(update={"seeds": [77]})},
        {"seed": recipe.seed + 1},
        {"deployment": replace(deployment, period_ps=1)},
        {"tolerance": {"goodput": DEFAULT["goodput"]}},
        {"neighbourhood": recipe.gate.neighbourhood.model_copy(update={"share": 0.5})},
    ]
    for change in changes:
        with pytest.raises(InputError):
            stages.distill(
                teacher, pipeline.rollouts, out=tmp_path / "out", figures={}, progress=print, **usual | change
            )
    assert len(set(keys)) == len(changes)


def test_the_code_and_the_versions_are_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = distillation_key({})
    with monkeypatch.context() as patch:
        patch.setattr("rlcc.student_cache.version", lambda name: "0.0")
        assert distillation_key({}) != before
    monkeypatch.setattr("rlcc.student_cache.package_hash", lambda *_: "another")
    assert distillation_key({}) != before


def test_a_distillation_takes_its_student_only_if_it_may(
    pipeline: Any, student_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = load_recipe(pipeline.recipe)
    teacher, deployment = load(teacher_path(recipe, pipeline.recipe)), deployment_of(recipe, pipeline.recipe)
    fits: list[int] = []
    fit = distil.distil

    def counted(*given: Any, **options: Any) -> Any:
        fits.append(1)
        return fit(*given, **options)

    def figures(cached: bool) -> dict[str, str]:
        found: dict[str, str] = {}
        stages.distill_recipe(
            recipe, teacher, pipeline.rollouts, tmp_path / "out", found, print, deployment, cached=cached
        )
        assert opened(tmp_path / "out", KIND).hash == opened(pipeline.student, KIND).hash
        return found

    monkeypatch.setattr(distil, "distil", counted)
    without = figures(cached=False)
    assert not student_cache.exists()
    assert figures(cached=True) == without
    assert len(fits) == 2
    assert figures(cached=True) == without | {"cached": "student"}
    assert len(fits) == 2


@pytest.mark.parametrize(("more", "cached"), [([], True), (["--no-cache"], False)])
def test_a_run_may_take_it_unless_told_not_to(
    pipeline: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], cached: bool
) -> None:
    out = Path(shutil.copytree(pipeline.root / "out", tmp_path / "out"))
    asked: list[bool] = []

    def stopped(*_: Any, cached: bool) -> None:
        asked.append(cached)
        raise InputError("that is all")

    monkeypatch.setattr(stages, "distill_recipe", stopped)
    assert cli.main(["run", str(pipeline.recipe), "--out", str(out), "--from", "distill", *more]) == 2
    assert asked == [cached]
