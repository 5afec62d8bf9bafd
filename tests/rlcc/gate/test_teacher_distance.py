"""`rlcc verify --teacher`: what a user asks, sees and gets as an exit code.

Slow: that it runs without PyTorch and CatBoost, in a process of its own.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from decision.artefact import output
from decision.ir.forest import oblivious
from decision.policy.student import NAME, load_student
from rlcc import cli
from tests.stage_output import figures
from verify.trusted.certificate import content_hash

Run = Callable[..., tuple[int, str, str]]


def test_the_bound_and_a_state_are_told_and_a_limit_decides_the_exit_code(good: Path, rlcc: Run) -> None:
    code, said, _ = rlcc("verify", good / "firmware", "--teacher", good / "teacher")
    assert code == 0
    words = ("all states", "outside", "congestion_q20_1=", "teacher +", "around it")
    assert all(word in said for word in words)
    for limit, expected in (("4", 0), ("0.01", 1)):
        code, said, _ = rlcc("verify", good / "firmware", "--teacher", good / "teacher", "--max-outside", limit)
        assert code == expected
        assert f"limit {limit}" in said


def test_the_neighbourhood_is_an_option(good: Path, rlcc: Run) -> None:
    bounds = []
    for around in ("0 %", "40 %"):
        code, said, _ = rlcc("verify", good / "firmware", "--teacher", good / "teacher", "--around", around)
        assert code == 0
        bounds.append(float(re.findall(r"[0-9.]+", figures(said, "teacher")["deviation"])[0]))
    assert bounds[0] > bounds[1]


def test_the_certificate_holds_the_distance_and_the_checker_refuses_another(
    good: Path, tmp_path: Path, rlcc: Run
) -> None:
    out, teacher = tmp_path / "certificate.json", ("--teacher", good / "teacher")
    assert rlcc("verify", good / "firmware", *teacher, "--properties", "all", "--out", out)[0] == 0
    code, said, _ = rlcc("verify", good / "firmware", "--check", out, *teacher)
    assert code == 0
    unchecked = figures(rlcc("verify", good / "firmware", "--check", out)[1], "verify")["deviation"]
    assert ["--teacher" in shown for shown in (figures(said, "verify")["deviation"], unchecked)] == [False, True]
    content = json.loads(out.read_text())
    bound = content["teacher"]["bound"]
    for part, forged in (
        ("teacher", content["teacher"] | {"bound": bound - 0.05, "reached": bound - 0.06}),
        ("teacher", content["teacher"] | {"teacher": "b" * 64}),
        ("behaviour", [claim | {"asked": {"kind": "no_loss"}} for claim in content["behaviour"]]),
    ):
        changed = {key: value for key, value in content.items() if key != "hash"} | {part: forged}
        out.write_text(json.dumps(changed | {"hash": content_hash(changed)}))
        code, said, _ = rlcc("verify", good / "firmware", "--check", out, *teacher)
        assert (code, "refused" in said) == (1, True)


def test_a_certificate_without_a_distance_needs_no_teacher(good: Path, rlcc: Run) -> None:
    certificate = good / "certificate/certificate.json"
    code, _, error = rlcc("verify", good / "firmware", "--check", certificate, "--teacher", good / "teacher")
    assert code == 2
    assert "nothing of a" in error


@pytest.fixture(scope="module")
def backdoor(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree more, which raises the rate by 20 % in 40 values of the congestion a decision ago."""
    root = tmp_path_factory.mktemp("backdoor")
    shutil.copytree(good / "teacher", root / "teacher")
    student = load_student(good / "student" / NAME)
    at = student.forest.features.index("congestion_q20_1")
    now = student.forest.features.index("congestion_q20")
    tree = oblivious(((now, 9_000_000), (at, 7_000_000), (at, 7_000_040)), (0, 0, 0, 24_000, 0, 0, 0, 0))
    forest = replace(student.forest, trees=(*student.forest.trees, tree))
    with output.writing(root / "student", "student", parents={"teacher": student.teacher}) as work:
        replace(student, forest=forest).save(work)
    assert cli.main(["emit", str(root / "student"), "--target", "generic", "--out", str(root / "firmware")]) == 0
    return root


def test_a_backdoor_is_caught_by_proof_with_its_state(backdoor: Path, rlcc: Run) -> None:
    code, said, _ = rlcc("verify", backdoor / "firmware", "--teacher", backdoor / "teacher", "--max-outside", "0.25")
    assert code == 1
    values = dict(part.split("=") for part in said.split() if part.startswith("congestion") and "=" in part)
    assert int(values["congestion_q20"]) > 9_000_000
    assert 7_000_000 < int(values["congestion_q20_1"]) <= 7_000_040


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--teacher", "other-teacher"), "from another teacher"),
        (("--teacher", "teacher", "--around", "120 %"), "below 1"),
        (("--teacher", "teacher", "--around", "a lot"), "--around"),
        (("--around", "20 %"), "distance from --teacher"),
        (("--picture", "a.png"), "distance from --teacher"),
        (("--teacher", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_compared_is_a_sentence(
    arguments: tuple[str, ...],
    sentence: str,
    good: Path,
    rlcc: Run,
    save_teacher: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copytree(good / "teacher", tmp_path / "teacher")
    save_teacher(tmp_path / "other-teacher", gain=0.5)
    monkeypatch.chdir(tmp_path)
    code, _, error = rlcc("verify", good / "firmware", *arguments)
    assert code == 2
    assert sentence in error


@pytest.mark.slow
def test_nothing_of_it_needs_torch_or_catboost(good: Path) -> None:
    script = (
        "import json, sys; from rlcc import cli; "
        f"code = cli.main({['verify', str(good / 'firmware'), '--teacher', str(good / 'teacher')]!r}); "
        "print(json.dumps([code, [name for name in ('torch', 'catboost') if name in sys.modules]]))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout.splitlines()[-1]) == [0, []]


def test_the_student_that_is_bounded_is_the_program_that_is_proved(
    good: Path, tmp_path: Path, rlcc: Run, resealed
) -> None:
    """Also where the C is taken as it is: another student.json beside it says nothing of it."""

    def flip(folder: Path) -> None:
        content = json.loads((folder / NAME).read_text())
        content["ensemble"]["trees"][0]["leaves"][0] ^= 1
        (folder / NAME).write_text(json.dumps(content))

    swapped = resealed(good / "firmware", tmp_path / "swapped", flip)
    code, _, told = rlcc("verify", swapped, "--teacher", good / "teacher", "--foreign-sources")
    assert code == 2
    assert "the program of student.json" in told


def test_a_picture_shows_both_around_the_state(good: Path, tmp_path: Path, rlcc: Run) -> None:
    asked = ("verify", good / "firmware", "--teacher", good / "teacher", "--picture")
    code, said, _ = rlcc(*asked, tmp_path / "a.svg")
    assert code == 0
    assert "picture" in said
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {word}" in drawn for word in ("teacher", "student", "student - teacher", "congestion_q20"))
    for wrong, sentence in ((tmp_path / "a.txt", ".png or .svg"), (good / "firmware/a.png", "firmware")):
        code, _, error = rlcc(*asked, wrong)
        assert code == 2
        assert sentence in error
    assert not (tmp_path / "a.txt").exists()
