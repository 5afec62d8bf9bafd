"""The numbered students: the same wherever they are drawn, of every kind; and what becomes of one.

Slow: the two students with rates in masks; the fast suite proves one drawn student.
"""

import multiprocessing
import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from bench.drawn import __main__ as command
from bench.drawn.judged import Checked, DrawnRow, How, Proved, _apart, judged
from bench.drawn.students import ACTIONS, FEATURES, drawn, words
from bench.drawn.wide import drawn_wide, wide_words
from decision.ir.forest import depth
from decision.policy.actions import Choice


def test_a_number_is_one_student() -> None:
    first, again, other = drawn(3), drawn(3), drawn(4)
    assert (first.forest, first.observation) == (again.forest, again.observation)
    assert first.forest != other.forest


def test_a_hundred_students_are_of_every_kind() -> None:
    students = [drawn(seed) for seed in range(100)]
    assert {f.name for s in students for f in s.observation.features} == {
        f.name for s in [drawn(seed) for seed in range(200)] for f in s.observation.features
    }
    assert len({f.name for s in students for f in s.observation.features}) == len(FEATURES)
    assert {s.observation.window for s in students} == {1, 2, 3, 4}
    assert {len(s.forest.trees) for s in students} == set(range(1, 11))
    assert {depth(tree) for s in students for tree in s.forest.trees} <= {0, 1, 2, 3, 4}
    assert {s.action.kind for s in students} == {action["kind"] for action in ACTIONS}
    assert {(s.start is None, s.in_flight is None) for s in students} == {(a, b) for a in (0, 1) for b in (0, 1)}
    for student in students:
        student.program()
        assert words(student)


def test_wide_students_are_of_more_kinds() -> None:
    students = [drawn_wide(seed) for seed in range(100)]
    assert drawn_wide(3).forest == students[3].forest != students[4].forest
    assert {s.observation.window for s in students} == set(range(1, 9))
    assert {len(s.observation.features) for s in students} == set(range(1, 7))
    assert {depth(tree) for s in students for tree in s.forest.trees} >= {1, 2, 3, 4, 5}
    assert {s.forest.oblivious for s in students} == {True, False}
    assert {s.action.kind for s in students} == {*(action["kind"] for action in ACTIONS), "choice", "level"}
    flows = [s for s in students if s.limits is not None]
    for name in ("device_rate", "target_ratio", "acks", "rtt_slack"):
        assert {bool(getattr(s.observation, name)) for s in flows} == {True, False}
    for name in ("start", "in_flight", "once_per_rtt"):
        assert {bool(getattr(s, name)) for s in flows} == {True, False}
    choices = [s for s in students if isinstance(s.action, Choice)]
    assert {(s.action.groups is not None, s.trigger is not None) for s in choices} == {
        (False, False), (False, True), (True, False),
    }  # fmt: skip
    for student in students:
        assert wide_words(student)
        low, high = np.array([student.forest.range(k) for k in range(student.forest.outputs)]).T
        assert (low < high).all()


@pytest.mark.slow
def test_a_student_is_proved_and_its_certificate_checked() -> None:
    row = judged(5, How())
    assert row.proved.problem == ""
    assert row.proved.exact == row.proved.bound > 0
    assert row.checked
    assert row.checked.problem == ""
    assert command.cells(row)[2] == f"{row.proved.exact} cycles"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [11, 44])
def test_rates_in_masks_and_factors_made_by_or_are_proved(seed: int) -> None:
    """Compared with an odd threshold a rate is masked; a multiplier's first bit is set by or."""
    row = judged(seed, How(checker_seconds=1))
    assert row.proved.problem == ""
    assert row.proved.exact


def test_one_that_takes_too_long_is_said_to() -> None:
    row = judged(3, How(prover_seconds=1))
    assert (row.proved.problem, row.checked) == ("over 1 s", None)


def test_a_child_ends_with_its_parent() -> None:
    before = signal.getsignal(signal.SIGTERM)  # a library that another test loaded may have set its own

    def tell() -> None:
        while signal.getsignal(signal.SIGTERM) == before:  # until the child has been started
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=tell).start()
    with pytest.raises(SystemExit) as ended:
        _apart(time.sleep, (60,), 60)
    assert ended.value.code == 128 + signal.SIGTERM
    assert not multiprocessing.active_children()
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_page_counts_what_was_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {
        0: DrawnRow(0, "a", Proved(120, 120), Checked(3, 4)),
        3: DrawnRow(3, "d", Proved(140, 135), Checked(5, 6, bound=140)),
        1: DrawnRow(1, "b", Proved(130, None), Checked(problem="refused | so")),
        2: DrawnRow(2, "c", Proved(problem="x" * 200)),
    }
    monkeypatch.setattr(command, "judged", lambda seed, how: rows[seed])
    assert command.main(["--seeds", "0-2", "--out", str(tmp_path / "page.md")]) == 0
    page = (tmp_path / "page.md").read_text()
    for line in (
        "exact: 1 of 3", "bounded: 1\n", "not proved: 1\n", "holds: 1 of 2", "120 cycles",
        "at most 130 cycles", "refused / so", "holds, 3 paths, 4 questions",
    ):  # fmt: skip
        assert line in page
    assert f"- student 2: {'x' * 200}\n" in page
    assert "- certificate of 1: refused | so\n" in page
    assert max(map(len, page.splitlines())) < 400
    assert page.splitlines()[1].startswith("Made by `python -m bench.drawn` at ")
    asked = ["--seeds", "0-2", "--compiler", "gcc", "--checker-seconds", "60", "--out", str(tmp_path / "page.md")]
    assert command.main(asked) == 0
    title, made = (tmp_path / "page.md").read_text().splitlines()[:2]
    assert title == f"{page.splitlines()[0]} by gcc"
    assert made.startswith("Made by `python -m bench.drawn --compiler gcc --checker-seconds 60` at ")
    assert command.main(["--seeds", "0-2", "--wide", "--out", str(tmp_path / "page.md")]) == 0
    wide = (tmp_path / "page.md").read_text()
    assert wide.splitlines()[1].startswith("Made by `python -m bench.drawn --wide` at ")
    assert "bench/drawn/wide.py" in wide
    assert command.main(["--seeds", "0-3", "--out", str(tmp_path / "page.md")]) == 0
    weaker = (tmp_path / "page.md").read_text()
    for part in ("holds: 2 of 3", "1 of them", "at most 140"):
        assert part in weaker


def test_what_was_judged_is_not_judged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged_now = list[int]()

    def judging(seed: int, how: How) -> DrawnRow:
        judged_now.append(seed)
        return DrawnRow(seed, "a", Proved(120, 120, seconds=2.5), Checked(3, 4) if seed else None)

    monkeypatch.setattr(command, "judged", judging)
    results, pages = tmp_path / "results" / "drawn.jsonl", [tmp_path / "first.md", tmp_path / "again.md"]
    for seeds, out in (("0-1", tmp_path / "part.md"), ("0-2", pages[0]), ("0-2", pages[1])):
        assert command.main(["--seeds", seeds, "--results", str(results), "--out", str(out)]) == 0
    assert judged_now == [0, 1, 2]
    assert pages[0].read_text() == pages[1].read_text()
    results.write_text('{"seed": 1}\n')
    assert command.main(["--results", str(results), "--out", str(tmp_path / "page.md")]) == 2


@pytest.mark.slow_except("clang")
@pytest.mark.parametrize(
    ("compiler", "wide"), [("clang", False), ("gcc", False), ("clang", True)], ids=["clang", "gcc", "wide"]
)
def test_each_compilers_page_has_its_own_place_and_no_other_students_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], compiler: str, wide: bool
) -> None:
    asked = ["--compiler", compiler, *(["--wide"] if wide else [])]
    monkeypatch.setattr(command, "judged", lambda seed, how: DrawnRow(seed, "a", Proved(120, 120)))
    pages = {name: tmp_path / f"{number}.md" for number, name in enumerate(command.PAGES)}
    monkeypatch.setattr(command, "PAGES", pages)
    assert command.main([*asked, "--checker-seconds", "0"]) == 0
    assert [name for name, page in pages.items() if page.exists()] == [(compiler, wide)]
    pages[compiler, wide].unlink()
    for others in (["--seeds", "0-98"], ["--opt=-Os"], ["--form", "index"], ["--profile", "ibex-maxperf"]):
        assert command.main([*asked, *others]) == 2
        assert "name one with --out" in capsys.readouterr().err
    assert not any(page.exists() for page in pages.values())
