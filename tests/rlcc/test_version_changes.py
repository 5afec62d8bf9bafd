"""A student that is made again beside one of other bytes: the versions that differ are told, and nothing else is."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from decision.artefact.manifest import NAME, Manifest, opened
from decision.artefact.output import writing
from distill import distil, rollout
from distill.options import DistillOptions, RolloutOptions
from distill.student_artefact import KIND, TOOLS
from rlcc import stages
from rlcc.version_changes import other_versions, standing


def student(folder: Path, content: str = "one", **versions: str) -> Manifest:
    """A student's folder, as if made with these versions."""
    with writing(folder, KIND, tools=TOOLS, seed=1) as work:
        (work / "student.json").write_text(content)
    manifest = json.loads((folder / NAME).read_text())
    manifest["tools"] |= versions
    (folder / NAME).write_text(json.dumps(manifest))
    return opened(folder, KIND)


def test_each_version_that_differs_is_named(tmp_path: Path) -> None:
    before = student(tmp_path / "a", catboost="1.0", pyarrow="2.0")
    now = student(tmp_path / "b", "another")
    (line,) = other_versions(before, now).values()
    assert f"catboost 1.0, now {now.tools['catboost']}" in line
    assert f"pyarrow 2.0, now {now.tools['pyarrow']}" in line
    assert "numpy" not in line
    unnamed = replace(before, tools={"catboost": now.tools["catboost"], "numpy": now.tools["numpy"]})
    assert f"pyarrow (unnamed), now {now.tools['pyarrow']}" in other_versions(unnamed, now)["replaced"]


def test_the_same_bytes_or_the_same_versions_say_nothing(tmp_path: Path) -> None:
    before, now = student(tmp_path / "a", numpy="1.0"), student(tmp_path / "b")
    assert before.hash == now.hash
    assert other_versions(before, now) == {}
    assert other_versions(student(tmp_path / "c", "another"), now) == {}
    assert other_versions(None, now) == {}


def test_what_is_no_student_stands_for_nothing(tmp_path: Path) -> None:
    assert standing(tmp_path / "gone", KIND) is None
    student(tmp_path / "a")
    (tmp_path / "a" / "student.json").write_text("changed")
    assert standing(tmp_path / "a", KIND) is None


@pytest.mark.parametrize("content", ["one", "another"])
def test_the_stage_tells_it(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fit is left out: what stands in the folder is read before it, and what was written after it."""
    out = tmp_path / "student"
    student(out, catboost="1.0")
    with writing(tmp_path / "rollouts", rollout.KIND):
        pass
    forest = SimpleNamespace(thresholds=dict, trees=(), depth=0)
    best = {"round": 0, "rmse": 0.0, "distance": {}}
    report = {"rounds": [best], "chosen": 0, "noise": {}, "checked_points": 0}
    monkeypatch.setattr(rollout, "read", lambda *_: [])
    monkeypatch.setattr(distil, "distil", lambda *_, **__: None)
    monkeypatch.setattr(distil, "save", lambda *_, **__: student(out, content))
    monkeypatch.setattr(stages, "student_of", lambda _: SimpleNamespace(forest=forest, report=report))
    monkeypatch.setattr(stages, "_off", lambda *_: "")
    figures: dict[str, str] = {}
    options = DistillOptions(), RolloutOptions(scenarios=["many-to-one:2"], seeds=[1])
    stages.distill(SimpleNamespace(hash="0" * 64), tmp_path / "rollouts", *options, 1, out, figures, lambda _: None)
    assert any("catboost 1.0, now" in line for line in figures.values()) == (content == "another")
