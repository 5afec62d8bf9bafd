"""The mutation run can tell a suite that notices from one that does not, and says so of each mutant.

Slow: a strong suite over all mutants; the fast suite has a weak one and one that fails.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.mutants import equivalent
from bench.mutants.__main__ import main
from bench.mutants.children import Fate
from bench.mutants.draw import draw

ROOT = Path(__file__).resolve().parents[2]
SUBJECT = """\
PASSING = (50, 60)

def grade(points):
    if points < PASSING[0]:
        return "fail"
    return "good" if points >= PASSING[1] else "pass"

def endless(n):
    while n > 0:
        n -= 1
    return n
"""
STRONG = """\
import pytest
from subject import endless, grade

@pytest.fixture(scope="session")
def best():
    return grade(60)

def test_grades(best):
    assert [grade(n) for n in (0, 49, 50, 59)] == ["fail", "fail", "pass", "pass"]
    assert best == "good"

def test_it_ends():
    assert [endless(n) for n in (2, 1, 0, -1)] == [0, 0, 0, -1]
"""
WEAK = """\
from subject import grade

def test_it_runs():
    assert grade(70) == "good"
"""


def mutate(folder: Path, tests: str, place: str = "subject.py") -> subprocess.CompletedProcess[str]:
    (folder / "subject.py").write_text(SUBJECT)
    (folder / "test_subject.py").write_text(tests)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "bench.mutants", place, "--tests", "test_subject.py"]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def row(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    lines = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("|")]
    assert lines, done.stdout + done.stderr
    return dict(zip(lines[0][1:], map(int, lines[-1][1:]), strict=True))


@pytest.mark.slow
def test_a_strong_suite_kills_every_mutant(tmp_path: Path) -> None:
    done = mutate(tmp_path, STRONG)
    counts = row(done)
    assert done.returncode == 0, done.stderr
    assert counts["survived"] == counts["equivalent"] == 0
    assert counts["drawn"] == counts["killed"] + counts["timed out"] > 15
    assert counts["timed out"] >= 1  # n -= 1 left out


def test_a_weak_suite_leaves_survivors_each_shown_as_a_change(tmp_path: Path) -> None:
    done = mutate(tmp_path, WEAK, "subject.py:4-12")
    counts = row(done)
    assert done.returncode == 1
    assert counts["killed"] > 0
    assert counts["survived"] > 5
    for change in ("points < PASSING[0] -> points <= PASSING[0]", "points >= PASSING[1] -> points > PASSING[1]"):
        assert change in done.stderr
    assert "survived subject.py:10 endless\n  n -= 1\n  n -= 1 -> pass" in done.stderr  # no test reaches it


def test_tests_that_fail_as_they_are_tell_nothing(tmp_path: Path) -> None:
    done = mutate(tmp_path, STRONG.replace('"good"', '"better"'), "subject.py:4")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "test_grades fails as" in done.stderr


def test_a_mutant_that_spoils_what_tests_share_is_found_out(tmp_path: Path) -> None:
    """Else those behind it would be killed by what it left behind."""
    shared = """\
from pathlib import Path
from subject import grade

def test_it():
    assert not Path("left").exists()
    if grade(10) != "fail":
        Path("left").write_text("")
"""
    done = mutate(tmp_path, shared, "subject.py:4")
    assert done.returncode == 2
    assert "test_it fails without one" in done.stderr


def test_a_file_that_is_not_there_and_tests_that_are_not_known_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "subject.py").write_text(SUBJECT)
    monkeypatch.chdir(tmp_path)
    for place, says in (
        ("nothing.py", "there is no nothing.py"),
        ("subject.py", "known for subject.py"),
        ("subject.py:1:2", "names no lines"),
        ("subject.py:1-", "known for subject.py"),
    ):
        assert main([place]) == 2
        text = capsys.readouterr().err
        assert text.count("\n") == 1
        assert says in text


def changes(source: str) -> set[str]:
    return {equivalent.change(m) for m in draw("x.py", source.encode())}


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("def f(a, b): return a < b", {"a < b -> a <= b", "a < b -> a >= b", "return a < b -> return None"}),
        ("def f(a): return a and not a", {"not a -> a", "a and not a -> a or not a"}),
        ("S = (2, *range(18, 28))", {"(2, *range(18, 28)) -> ((2,))", "28 -> 27", "28 -> 29"}),
        ("S = {'a': 1, 'b': 2}", {"{'a': 1, 'b': 2} -> {'a': 1}", "{'a': 1, 'b': 2} -> {'b': 2}"}),
        ("def f(a): return a[1:]", {"1: -> :", "1 -> 2"}),
        ("def f(a):\n    raise ValueError(a)", {"raise ValueError(a) -> pass"}),
        ("def f(a): return min(a) if any(a) else 0", {"min(a) -> max(a)", "any(a) -> all(a)"}),
        ("def f(m): return m('bvult', 1)", {"'bvult' -> 'bvslt'"}),
        ("import re\nP = re.compile('a(b|c)d|e')", {"'a(b|c)d|e' -> 'a(b)d|e'", "'a(b|c)d|e' -> 'e'"}),
        ("def f(a):\n    try:\n        g()\n    except KeyError:\n        a()", {"a() -> raise", "g() -> pass"}),
        ("def f(a, b=True): return [x for x in a if x]", {"True -> False", "x -> True"}),
    ],
)
def test_each_kind_of_change_is_drawn(source: str, wanted: set[str]) -> None:
    assert wanted <= changes(source)


def test_what_is_said_and_not_done_is_left_as_it_is() -> None:
    source = '''
def f(a: int | None = None) -> dict[str, int]:
    """1 and 2."""
    assert a == 1
    zip(a, a, strict=True)
    return f"{a + 1}"
'''
    assert changes(source) == {"zip(a, a, strict=True) -> pass", 'return f"{a + 1}" -> return None'}


def test_an_entry_of_the_list_that_is_no_more_is_reported(tmp_path: Path) -> None:
    (mutant, *_) = draw("x.py", b"def f(a): return a < 1")
    listed = {equivalent.key(mutant): "a reason", ("x.py", "gone", "1 -> 2"): "another"}
    assert equivalent.rotten(listed, [Fate(mutant, "survived")], set()) == []
    assert len(equivalent.rotten(listed, [Fate(mutant, "killed", "t")], set())) == 1
    assert equivalent.rotten(listed, [Fate(mutant, "killed", "t"), Fate(mutant, "survived")], set()) == []
    assert "mutant of 'gone'" in equivalent.rotten(listed, [Fate(mutant, "survived")], {"x.py"})[0]


def test_every_line_of_the_list_is_there() -> None:
    """The list moves with the code: an entry whose line has changed has to be looked at again."""
    for file, line, _ in equivalent.read():
        assert line in [text.strip() for text in (ROOT / file).read_text().splitlines()], (file, line)
