"""Mutants and forgeries of files: each is another thing than the true one, and undone afterwards."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.forge import mutants
from bench.forge.files import KINDS, file_forgeries
from bench.forge.judges import Files
from bench.forge.mutants import code_mutants, data_mutants
from bench.forge.session import prepared_copy, restore
from bench.forge.subjects import ForgerySubject
from bench.forge.truth import TruthCase, explained
from decision.ir.forest import Forest

SOURCE = """\
/* 1 < 2 */
#include "rlcc_policy.h"
int f(int x) {
    return x > 7U ? x + 3 : 0; /* x > 7 */
}
"""
STUDENT: dict[str, Any] = {
    "format": 1,
    "name": "s",
    "action": {"step_q16": 3},
    "report": {"rmse": 1},
    "ensemble": {
        "features": ["a", "b"],
        "leaf_bits": 16,
        "bias": 5,
        "trees": [{"splits": [[0, 10], [1, 20]], "leaves": [1, 2, 3, 4]}],
    },
}


@pytest.fixture
def folder(subject: ForgerySubject) -> ForgerySubject:
    """With a firmware of four files that nobody compiles."""
    firmware = subject.files.firmware
    firmware.mkdir()
    (firmware / "rlcc_policy.c").write_text(SOURCE)
    (firmware / "rlcc_policy.h").write_text("/* nothing */\n")
    (firmware / "student.json").write_text(json.dumps(STUDENT))
    manifest = {"kind": "firmware", "hash": "0", "files": {}, "parents": {}, "details": {}, "seed": 1, "format": 2}
    (firmware / "manifest.json").write_text(json.dumps(manifest))
    return subject


def written(monkeypatch: pytest.MonkeyPatch, forgeries: Any, subject: ForgerySubject, place: Path) -> list[str]:
    """The C after each forgery."""
    monkeypatch.setattr(mutants, "_image", lambda files: None)
    texts = []
    for forgery in forgeries:
        forgery.write(Files(place))
        texts.append((place / "firmware/rlcc_policy.c").read_text())
        restore(subject, place)
    return texts


def test_code_mutants_change_one_token_of_code(
    monkeypatch: pytest.MonkeyPatch, folder: ForgerySubject, tmp_path: Path
) -> None:
    place = prepared_copy(folder, tmp_path)
    texts = written(monkeypatch, code_mutants(folder, 30, random.Random(1)), folder, place)
    assert len(texts) > 20
    true = SOURCE.splitlines()
    for text in texts:
        changed = [n for n, (a, b) in enumerate(zip(true, text.splitlines(), strict=True)) if a != b]
        assert changed == [3], "comments and names of files stay"
        assert text.splitlines()[3].endswith("/* x > 7 */")
    assert len(set(texts)) > 8
    assert (place / "firmware/rlcc_policy.c").read_text() == SOURCE


def test_data_mutants_change_what_decides(monkeypatch: pytest.MonkeyPatch, folder: ForgerySubject) -> None:
    contents: list[Any] = []
    monkeypatch.setattr(mutants, "_data", lambda edit, content, name: contents.append(content))
    assert len(list(data_mutants(folder, 60, random.Random(1)))) == 60
    assert all(content != STUDENT and content["report"] == STUDENT["report"] for content in contents)
    fields = {key for content in contents for key in STUDENT if content[key] != STUDENT[key]}
    assert fields == {"action", "ensemble"}
    added = [content for content in contents if len(content["ensemble"]["trees"]) == 2]
    assert len(added) == 20


@pytest.mark.parametrize("seed", range(20))
def test_a_tree_is_added_in_few_values_of_one_feature(seed: int) -> None:
    _, content = mutants._with_tree(STUDENT, random.Random(seed))
    true, forged = (Forest.from_json(data["ensemble"]) for data in (STUDENT, content))
    (feature, low), (same, high) = content["ensemble"]["trees"][-1]["splits"]
    assert feature == same
    rows = np.zeros((4, 2), dtype=np.int64)
    rows[:, feature] = low, low + 1, high, high + 1
    differs = (true.evaluate(rows) != forged.evaluate(rows))[:, 0]
    assert differs.tolist() == [False, True, True, False]
    assert high - low <= 100


def same_function(subject: ForgerySubject, forged: Any) -> str:
    from bench.forge.judges import JudgeAnswer

    answer = JudgeAnswer("gate, unsigned", "accepted", "")
    return explained(TruthCase(subject, "mutants of data", (), "", STUDENT, forged, subject.files, answer)).meaning


def test_another_function_is_not_equal(folder: ForgerySubject) -> None:
    (folder.files.root / "teacher").mkdir()
    tree = {"splits": [[0, 10], [0, 10]], "leaves": [0, 9, 9, 0]}  # the two in between are nobody's
    bigger = {**STUDENT["ensemble"], "trees": [*STUDENT["ensemble"]["trees"], tree]}
    assert same_function(folder, {**STUDENT, "ensemble": bigger}) == "equal"
    shifted = {**STUDENT["ensemble"], "bias": 6}
    assert same_function(folder, {**STUDENT, "ensemble": shifted}) == "FALSE"
    assert same_function(folder, {**STUDENT, "action": {"step_q16": 4}}) == "FALSE"


def test_files_are_forged_and_put_back(folder: ForgerySubject, tmp_path: Path) -> None:
    place = prepared_copy(folder, tmp_path)
    found = list(file_forgeries(folder, [], random.Random(1)))
    assert {forgery.edit for forgery in found} >= set(KINDS)
    true = {p.relative_to(folder.files.root): p.read_bytes() for p in folder.files.root.rglob("*") if p.is_file()}
    for forgery in found:
        if forgery.edit != "16 GiB":
            forgery.write(Files(place))
        restore(folder, place)
        assert {p.relative_to(place): p.read_bytes() for p in place.rglob("*") if p.is_file()} == true
