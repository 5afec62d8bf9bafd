"""Tests ask for names, numbers and structure: a new sentence in a comparison fails here.

Wording that is itself what is tested stands in wording.toml: the fixture ``wording`` compares it, and
``--update-wording`` writes it.
"""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest
from frozen_sentences import frozen_sentences, word_count
from wording import GOLDEN, UPDATE

TESTS = GOLDEN.parent


def test_no_comparison_freezes_a_sentence() -> None:
    new = [
        f"{path.relative_to(TESTS).as_posix()}:{sentence.line}: {sentence.text!r}"
        for path in sorted(TESTS.rglob("*.py"))
        for sentence in frozen_sentences(path)
    ]
    assert not new, "\n".join(["compare names and numbers (at most three words), or use the fixture `wording`:", *new])


FROZEN = {
    "match": 'with pytest.raises(InputError, match="the sky is {0}"): f()',
    "in": 'assert "the sky is {0}" in f()',
    "not in": 'assert "the sky is {0}" not in f()',
    "equal": 'assert f() == "the sky is {0}"',
    "unequal": 'assert f() != "the sky is {0}"',
    "filled in": 'assert f() == f"the {f()} sky is {0}"',
    "joined": 'assert f() == "the sky " + f() + " is {0}"',
    "two lines": 'assert f() == ("the sky "\n        "is {0}")',
    "list": 'assert f() == [1, "the sky is {0}"]',
    "tuple": 'assert f() == (2, "the sky is {0}")',
    "dict": 'assert f() == dict(a=1) | {"a": "the sky is {0}"}',
    "start": 'assert f().startswith("the sky is {0}")',
    "end": 'assert f().endswith("the sky is {0}")',
    "count": 'assert f().count("the sky is {0}") == 1',
    "search": 'assert re.search("the sky is {0}", f())',
    "escaped": 'assert re.search(re.escape("the sky is {0}"), f())',
    "one of two": 'with pytest.raises(InputError, match="blue|the sky is {0}"): f()',
    "gaps": 'with pytest.raises(InputError, match=r"the .*sky\\\\s+is.+{0}"): f()',
    "a name": 'text = "the sky is {0}"\n    assert f() == text',
    "a loop": 'for text in ("blue", "the sky is {0}"):\n        assert text in f()',
    "a loop of pairs": 'for a, text in ((1, "the sky is {0}"),):\n        assert text in f(a)',
    "a generator": 'assert all(text in f() for text in ["the sky is {0}"])',
    "a table's items": 'for a, text in {{1: "the sky is {0}"}}.items():\n        assert text in f(a)',
}
"""Comparison -> its code; {0} is the fourth word."""


@pytest.mark.parametrize("kind", FROZEN)
def test_a_sentence_of_four_words_counts_and_three_words_do_not(kind: str, tmp_path: Path) -> None:
    for words, count in (("blue", 1), ("", 0)):
        code = FROZEN[kind].replace("{{", "{").replace("}}", "}").replace("{0}", words)
        (tmp_path / "a.py").write_text(f"def test_a():\n    {code}\n")
        assert len(frozen_sentences(tmp_path / "a.py")) == count


def test_tables_are_followed_to_the_column_that_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        dedent(
            """
            ROWS = [("what is put in", "the sky is blue"), pytest.param("what else goes in", "it is not green")]
            LABELS = {"one case of two": 1, "the other of them": 2}

            class TestTable:
                @pytest.mark.parametrize(("given", "says"), ROWS)
                def test_rows(self, given, says):
                    assert says in f(given)

            @pytest.mark.parametrize("label", LABELS)
            def test_labels(label):
                assert f(LABELS[label]) == (label == "one case of two")

            def test_code():
                assert f() == "if (x > 1) { return the or that; }"
            """
        )
    )
    assert [sentence.line for sentence in frozen_sentences(tmp_path / "a.py")] == [2, 2]


@pytest.mark.parametrize(
    ("text", "count"),
    [("'a b c' has no unit", 3), ("queue_bytes of 12 is LSTM", 2), (r"takes \d+ of the two", 4), ("", 0)],
)
def test_names_and_numbers_are_no_words(text: str, count: int) -> None:
    assert word_count(text) == count


def test_every_golden_entry_has_its_test() -> None:
    for name in tomllib.loads(GOLDEN.read_text(encoding="utf-8")):
        file, _, function = name.partition("[")[0].partition("::")
        tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert function.rpartition("::")[2] in names, f"{name}: run its file with {UPDATE}"


SPEAKING = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_n(n, tmp_path, wording):
    wording(f"{tmp_path}/a: {n} says SAID")

def test_two(wording):
    wording(ValueError("first"))
    wording("second")

def test_silent():
    pass
"""


def test_a_reworded_text_fails_until_the_one_file_is_written_anew(tmp_path: Path) -> None:
    """With xdist where the file is written."""
    file, golden = tmp_path / "tests/test_speaking.py", tmp_path / "wording.toml"
    file.parent.mkdir()
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(f"import pathlib, wording\nwording.GOLDEN = pathlib.Path({str(golden)!r})\n")

    def run(text: str, *options: str) -> dict[str, int]:
        file.write_text(text)
        workers = ("-p", "xdist", "-n", "2") if UPDATE in options else ()
        command = [sys.executable, "-m", "pytest", "-p", "wording", *workers, *options]
        environment = os.environ | {"PYTHONPATH": str(TESTS / "plugins"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return {word: int(count) for count, word in re.findall(r"(\d+) (\w+)", done.stdout.splitlines()[-1])}

    this, that = SPEAKING.replace("SAID", "this"), SPEAKING.replace("SAID", "that")
    assert run(this, UPDATE)["passed"] == 4
    before = tomllib.loads(golden.read_text())
    assert before == {
        "test_speaking.py::test_n[1]": ["TMP/a: 1 says this"],
        "test_speaking.py::test_n[2]": ["TMP/a: 2 says this"],
        "test_speaking.py::test_two": ["first", "second"],
    }
    assert run(that).items() >= {"failed": 2, "passed": 2}.items()
    assert tomllib.loads(golden.read_text()) == before
    assert run(that, UPDATE, "-k", "test_n")["passed"] == 2
    assert tomllib.loads(golden.read_text())["test_speaking.py::test_n[1]"] == ["TMP/a: 1 says that"]
    one_less = that.replace('    wording("second")\n', "")
    assert run(one_less).items() >= {"passed": 4, "error": 1}.items()
