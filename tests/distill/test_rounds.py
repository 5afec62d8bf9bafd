"""A distillation that is stopped goes on at the round that it was in, and ends in the same bytes."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.documents import dump_json
from decision.artefact.manifest import NAME
from decision.policy.student import Student
from distill import distil, rounds
from distill.coverage_rows import Far
from distill.fitted_student import Fitted
from distill.options import DistillOptions, RolloutOptions
from distill.rounds import MEASURED, ROWS, Rounds

KEY = "0" * 64
OPTIONS: dict[str, Any] = {
    "trees": 4,
    "depth": 3,
    "rounds": 2,
    "rows": 1000,
    "learning_rate": [0.4],
    "comparison_window": ["2 ms", "4 ms"],
    "uniform_state_samples": 0.1,
    "max_deviation": 0.05,
    "bias_search": [5],
}
ROUNDS = range(OPTIONS["rounds"] + 1)


class Stop(BaseException):
    """As Ctrl-C: no handler of errors takes it."""


def far(student: Student) -> Far:
    """One state that is too far outside, for students of one sort only: some fits are made anew, others are not."""
    names, outputs = len(student.forest.features), student.forest.outputs
    distance = 0.1 if student.forest.bias[0] % 2 else 0.01
    return np.full((1, names), 1000, dtype=np.int64), np.zeros((1, outputs)), np.asarray([distance])


Distil = Callable[..., Fitted]


@pytest.fixture(scope="module")
def distilled(teacher: Any, runs: Any, network: RolloutOptions) -> Distil:
    def run(kept: Rounds | None, **changes: Any) -> Fitted:
        options = DistillOptions.model_validate(OPTIONS | changes)
        return distil.distil(teacher, runs, options, network, seed=1, outside=far, rounds=kept)

    return run


def saved(fitted: Fitted, folder: Path) -> dict[str, bytes]:
    distil.save(fitted, KEY, folder, seed=1)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(distilled: Distil, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a distillation on two processors that nothing stopped, and that kept no rounds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHON_CPU_COUNT", "2")
        return saved(distilled(None), tmp_path_factory.mktemp("whole") / "student")


@pytest.fixture(scope="module")
def played(distilled: Distil, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All rounds of it."""
    folder = tmp_path_factory.mktemp("played") / "rounds"
    distilled(Rounds(folder, KEY))
    return folder


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "rounds"))


def watch(monkeypatch: pytest.MonkeyPatch, stop: int | None = None) -> list[int]:
    """The rounds in which a student is driven; in the one called ``stop`` the distillation is stopped."""
    driven: list[int] = []
    drive = distil.side_by_side

    def side_by_side(policy: Any, teacher: Any, networks: Any, seeds: list[int], *rest: Any, **more: Any) -> Any:
        driven.append(seeds[0] // 1000 - 1)
        if driven[-1] == stop:
            raise Stop
        return drive(policy, teacher, networks, seeds, *rest, **more)

    monkeypatch.setattr(distil, "side_by_side", side_by_side)
    return driven


@pytest.mark.slow_except("1", "2")
@pytest.mark.parametrize("stop", ROUNDS)
def test_it_goes_on_at_the_round_that_was_stopped(
    distilled: Distil, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int
) -> None:
    kept = Rounds(tmp_path / "rounds", KEY)
    with monkeypatch.context() as patched:
        assert watch(patched, stop) == []
        with pytest.raises(Stop):
            distilled(kept)
    monkeypatch.setenv("PYTHON_CPU_COUNT", "1")
    driven = watch(monkeypatch)
    again = Rounds(tmp_path / "rounds", KEY)
    assert saved(distilled(again), tmp_path / "student") == whole
    assert driven == list(ROUNDS)[stop:]
    assert (again.reused, again.refused) == (stop, "")


def test_stopped_after_the_last_round_no_student_is_driven_again_but_to_search_its_bias(
    distilled: Distil, whole: dict[str, bytes], copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = watch(monkeypatch)
    kept = Rounds(copy, KEY)
    assert saved(distilled(kept), copy.parent / "student") == whole
    assert (driven, kept.reused) == ([], len(ROUNDS))
    kept.discard()
    assert not copy.exists()


def swap_a_label(place: Path) -> None:
    with np.load(place / ROWS) as file:
        arrays = {name: file[name] for name in file.files}
    arrays["new.0.y"] = arrays["new.0.y"][::-1]
    np.savez(place / ROWS, **arrays)


def better(place: Path) -> None:
    measured = json.loads((place / MEASURED).read_text())
    measured["worst"]["of_tolerance"] = 0.0
    (place / MEASURED).write_text(dump_json(measured))


def torn(place: Path) -> None:
    (place / ROWS).write_bytes((place / ROWS).read_bytes()[:-100])


def lost(place: Path) -> None:
    (place / MEASURED).unlink()


EDITS = {"a label": swap_a_label, "a figure": better, "a torn file": torn, "a lost file": lost}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edited_round_is_not_used(
    distilled: Distil, whole: dict[str, bytes], copy: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[..., None]
) -> None:
    edit(copy / "round-1")
    driven = watch(monkeypatch)
    kept = Rounds(copy, KEY)
    assert saved(distilled(kept), copy.parent / "student") == whole
    assert driven == [1, 2]
    assert kept.reused == 1
    assert "round-1" in kept.refused


@pytest.mark.parametrize("edit", [swap_a_label, better])
def test_the_edits_would_change_the_student(
    distilled: Distil, whole: dict[str, bytes], copy: Path, monkeypatch: pytest.MonkeyPatch, edit: Callable[..., None]
) -> None:
    """Where the hashes of files are not looked at."""
    edit(copy / "round-1")
    shutil.rmtree(copy / "round-2")
    hashes = iter(json.loads((copy / "round-1" / NAME).read_text())["files"].values())
    real = rounds.opened

    def blind(place: Path, kind: str) -> Any:
        if place.name != "round-1":
            return real(place, kind)
        with monkeypatch.context() as patched:
            patched.setattr("decision.artefact.manifest.sha256", lambda data: next(hashes, sha256(data)))
            patched.setattr("decision.artefact.manifest.artefact_hash", lambda *_: manifest["hash"])
            return real(place, kind)

    from decision.artefact.manifest import sha256

    manifest = json.loads((copy / "round-1" / NAME).read_text())
    monkeypatch.setattr(rounds, "opened", blind)
    kept = Rounds(copy, KEY)
    assert saved(distilled(kept), copy.parent / "student") != whole
    assert kept.reused == 2


def test_rounds_of_another_distillation_are_not_used(
    distilled: Distil, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = watch(monkeypatch)
    kept = Rounds(copy, "1" * 64)
    one = distilled(kept, trees=3)
    assert driven == list(ROUNDS)
    assert kept.reused == 0
    assert "round-0" in kept.refused
    assert len(one.student.forest.trees) == 3
    assert Rounds(copy, "1" * 64).read(0) is not None  # they took the place of the others


def test_a_round_without_the_one_before_it_is_not_used(copy: Path) -> None:
    shutil.rmtree(copy / "round-0")
    kept = Rounds(copy, KEY)
    assert [kept.read(number) for number in ROUNDS] == [None, None, None]
    assert kept.refused == ""


def test_what_is_no_round_stays(copy: Path) -> None:
    (copy / "mine").mkdir()
    (copy / "mine" / "notes").write_text("mine")
    Rounds(copy, KEY).discard()
    assert [path.name for path in copy.iterdir()] == ["mine"]


PLACES = st.tuples(st.text(max_size=9), st.integers(0, 2**62))
METRICS = st.dictionaries(PLACES, st.dictionaries(st.text(max_size=9), st.floats(width=64)), max_size=3)


@given(METRICS)
def test_metrics_come_back_to_the_bit(metrics: Any) -> None:
    again = rounds._metrics(json.loads(dump_json(rounds._of_metrics(metrics))))
    assert list(again) == list(metrics)
    for place, some in metrics.items():
        assert {name: value.hex() for name, value in again[place].items()} == {k: v.hex() for k, v in some.items()}
