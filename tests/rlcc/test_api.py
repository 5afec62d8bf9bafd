"""rlcc from Python: what docs/reference/api.md says of each object, and the example notebook."""

import dataclasses
import json
import shutil
import subprocess
import sys
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import pytest

import rlcc
from decision.artefact.errors import InputError
from rlcc import api

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/notebook/teacher-to-verdict.ipynb"


@pytest.fixture
def made(pipeline: Any) -> rlcc.Run:
    return rlcc.opened(pipeline.recipe, pipeline.root / "out")


def test_every_artefact_of_a_run_is_read(made: rlcc.Run, pipeline: Any) -> None:
    assert made.teacher.load().policy.name == "hand-made"
    assert made.rollouts.table().num_rows == made.rollouts.manifest.details["rows"]
    assert len(made.student.load().forest.trees) == 3
    assert made.firmware.files == sorted(p.name for p in pipeline.firmware.iterdir() if p.name != "manifest.json")
    assert "rlcc_decide" in made.firmware.text()
    certificate = made.firmware.certificate
    assert certificate is not None
    assert made.firmware.worst_case_cycles == certificate.claims.worst_case.cycles
    assert made.verdict.passed
    assert made.verdict.load().firmware == made.firmware.hash
    assert "PASS" in made.verdict._repr_markdown_()


def test_objects_are_frozen_and_say_their_hashes(made: rlcc.Run) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.firmware.path = Path()  # type: ignore[misc]
    assert made.student.manifest.parents["teacher"] == made.teacher.hash
    assert made.firmware.manifest.parents["student"] == made.student.hash


def test_what_was_edited_is_refused(made: rlcc.Run, pipeline: Any, tmp_path: Path) -> None:
    copy = pipeline.copy(tmp_path / "copy")
    edited = rlcc.opened(copy.recipe, copy.root / "out")
    for folder in (copy.student, copy.firmware, copy.rollouts, copy.verdict):
        for file in folder.iterdir():
            if file.name != "manifest.json":
                file.write_bytes(file.read_bytes() + b" ")
    for read in (
        edited.student.load,
        edited.firmware.text,
        edited.rollouts.table,
        edited.verdict.load,
        edited.verdict._repr_markdown_,
    ):
        with pytest.raises(InputError, match="was changed after"):
            read()


def test_what_is_not_there_is_one_sentence(made: rlcc.Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file x\.c"):
        made.firmware.text("x.c")
    assert api.Firmware(tmp_path / "firmware").worst_case_cycles is None
    with pytest.raises(InputError, match="not a verdict"):
        assert api.Verdict(tmp_path).passed
    with pytest.raises(InputError, match="is no file"):
        rlcc.run(tmp_path / "no.toml")
    with pytest.raises(InputError, match="start='never' is no stage"):
        rlcc.run("rl-cc", start="never")  # type: ignore[arg-type]


def test_a_script_that_is_read_again_by_a_process_does_not_run(
    pipeline: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(current_process(), "_inheriting", True, raising=False)
    with pytest.raises(InputError, match="__main__"):
        rlcc.run(pipeline.recipe, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_recipe_that_came_with_rlcc_has_a_name() -> None:
    opened = rlcc.opened("rl-cc")
    assert opened.path == Path("runs/rl-cc")
    assert opened.teacher.path == ROOT / "fixtures/teachers/rl-cc-mlp"


def test_a_run_is_that_of_the_command(pipeline: Any, tmp_path: Path) -> None:
    """From the gate on, which is quick: the same verdict, byte for byte."""
    copy = pipeline.copy(tmp_path / "copy")
    (copy.verdict / "verdict.json").unlink()
    run = rlcc.run(copy.recipe, copy.root / "out", start="gate")
    assert (run.verdict.path / "verdict.json").read_bytes() == (pipeline.verdict / "verdict.json").read_bytes()


def test_rlcc_itself_loads_nothing_until_it_is_asked() -> None:
    code = "import sys, rlcc; assert 'rlcc.api' not in sys.modules; print(sorted(set(dir(rlcc)) & set(rlcc.__all__)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(rlcc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        rlcc.nothing  # noqa: B018


def test_the_page_has_every_name() -> None:
    page = (ROOT / "docs/reference/api.md").read_text()
    for name in rlcc.__all__:
        assert f"`{name}" in page or f"rlcc.{name}" in page, name
    for kind in (api.Teacher, api.Rollouts, api.Student, api.Firmware, api.Verdict, api.Run):
        for name in vars(kind):
            assert name.startswith("_") or f"{name}" in page, name


def cells() -> list[str]:
    notebook = json.loads(NOTEBOOK.read_text())
    assert notebook["nbformat"] == 4
    assert all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code")
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def execute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells in their order in one namespace, as a kernel would, where the notebook lies."""
    monkeypatch.chdir(folder)
    namespace: dict[str, Any] = {}
    for number, cell in enumerate(cells()):
        exec(compile(cell, f"{NOTEBOOK.name}, cell {number}", "exec"), namespace)


def test_the_notebooks_cells_run_on_a_run_that_is_there(
    made: rlcc.Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All but the recipe itself, which the slow test runs."""
    asked = []
    monkeypatch.setattr(api, "run", lambda recipe: asked.append(recipe) or made)
    execute(tmp_path, monkeypatch)
    assert asked == ["tiny.toml"]


@pytest.mark.slow
def test_the_notebook_runs_as_it_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    shutil.copytree(NOTEBOOK.parent, tmp_path / "docs/notebook")
    (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
    execute(tmp_path / "docs/notebook", monkeypatch)
