"""Loops that were measured on cards: the laboratories' files, the verdicts, and what is refused."""

from pathlib import Path

import pytest

from bench import loops
from decision.artefact.documents import validate
from decision.artefact.errors import InputError
from netsim.scenarios import read

SCENE = {"name": "a scene", "figures": [{"metric": "jain", "measured": [0.9, 1.0]}]}
LAB = {
    "format": 1,
    "title": "a laboratory",
    "source": "a record",
    "network": {"link": "100 Gb/s"},
    "algorithms": {"swift": {"preset": "swift", "additive_step": 2}},
    "scenes": [SCENE | {"scenario": "many-to-one:2", "algorithms": ["swift"]}],
}


@pytest.mark.parametrize("name", loops.names())
def test_every_scene_can_be_built(name: str) -> None:
    lab = loops.load_lab(name)
    for scene in lab.scenes:
        network = loops.network_of(lab, scene)
        if not scene.void:
            read(scene.scenario)
            made = loops.trial(lab, scene, 1)
            assert made.network == network
    assert {name for scene in lab.scenes for name in scene.algorithms} <= set(lab.algorithms)


@pytest.mark.parametrize("name", loops.names())
def test_a_reason_is_of_a_scene_that_runs(name: str) -> None:
    assert set(loops.reasons(name)) <= {scene.name for scene in loops.load_lab(name).scenes if not scene.void}


def test_there_are_at_least_eight_loops_that_run() -> None:
    live = [scene for name in loops.names() for scene in loops.load_lab(name).scenes if not scene.void]
    assert len(live) >= 8


@pytest.mark.parametrize(
    ("ours", "error", "verdict"),
    [(100, 0, "PASS"), (150, 0, "PASS"), (210, 0.05, "PASS"), (211, 0.055, "FAIL"), (94, -0.06, "FAIL")],
)
def test_a_verdict_is_by_the_distance_from_the_range(ours: float, error: float, verdict: str) -> None:
    scene = loops.Scene.model_validate(SCENE | {"void": "an example"})
    row = loops.LoopRow(scene, loops.Measurement(metric="rtt_us", measured=(100, 200)), ours)
    assert row.error == pytest.approx(error)
    assert row.verdict == verdict
    assert loops.LoopRow(scene, row.figure, None).verdict == "VOID"
    assert loops.LoopRow(scene, row.figure, float("nan")).verdict == "FAIL"


def test_an_algorithm_is_a_preset_with_other_values() -> None:
    lab = validate(loops.Lab, LAB, "lab")
    assert loops.algorithm(lab, "swift").additive_step == 2  # type: ignore[attr-defined]
    for wrong in ({"preset": "swift", "additive_step": -1}, {"preset": "swifter"}, {"additive_step": 1}):
        with pytest.raises(InputError):
            loops.algorithm(validate(loops.Lab, LAB | {"algorithms": {"swift": wrong}}, "lab"), "swift")
    with pytest.raises(InputError):
        loops.algorithm(lab, "timely")


@pytest.mark.parametrize(
    "scene",
    [
        SCENE,
        SCENE | {"scenario": "many-to-one:2"},
        SCENE | {"scenario": "many-to-one:2", "algorithms": ["swift"], "void": "why"},
        SCENE | {"void": "why", "figures": []},
        SCENE | {"void": "why", "figures": [{"metric": "goodput", "measured": [1, 2]}]},
        SCENE | {"void": "why", "figures": [{"metric": "jain", "measured": [2, 1]}]},
    ],
)
def test_a_scene_that_says_too_little_or_too_much_is_refused(scene: dict[str, object]) -> None:
    with pytest.raises(InputError):
        validate(loops.Lab, LAB | {"scenes": [scene]}, "lab")


def test_a_laboratory_that_there_is_not_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert loops.main(["nowhere", "--out", str(page)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not page.exists()


def test_the_page_has_a_row_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a laboratory with one small loop and one void scene."""
    void = SCENE | {"void": "nobody wrote it down"}
    lab = validate(loops.Lab, LAB | {"scenes": [*LAB["scenes"], void]}, "lab")  # type: ignore[misc]
    monkeypatch.setattr(loops, "load_lab", lambda name: lab)
    monkeypatch.setattr(loops, "KEPT", tmp_path / "runs")
    monkeypatch.setattr(loops, "WINDOW_PS", (10**9, 2 * 10**9))
    page = tmp_path / "page.md"
    assert loops.main(["connectx5", "--seeds", "1", "--out", str(page)]) == 0
    text = page.read_text()
    assert (text.count("| a scene"), text.count("PASS |"), text.count("VOID |")) == (2, 1, 1)
