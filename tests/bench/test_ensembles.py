"""Many trees and models of other libraries: which cases there are, what becomes of one, and what the page says.

Slow: one proof of an ensemble; the fast suite judges the rows and the page.
"""

import re
from functools import partial
from pathlib import Path

import pytest

from bench import ensembles as command
from bench.drawn.judged import Checked, Proved
from bench.drawn.students import of_many_trees
from bench.ensembles import EnsembleCase, EnsembleRow, cases, cells, main, page, row
from decision.artefact.errors import InputError
from decision.ir.forest import depth

SMALL = EnsembleCase("two trees", partial(command._student, of_many_trees(2, 2)), "clang", "-O2")


def test_random_trees_have_twelve_features_and_are_the_same_again() -> None:
    student = of_many_trees(20, 5)
    assert len(student.forest.features) == 12
    assert {depth(tree) for tree in student.forest.trees} == {5}
    assert student.forest == of_many_trees(20, 5).forest
    assert student.forest != of_many_trees(20, 4).forest


def test_every_case_is_there_with_both_compilers() -> None:
    named = [str(case) for case in cases()]
    assert len(named) == len(set(named)) == 2 * 5 + 7 * 2
    for compiler in ("clang", "gcc"):
        assert any(re.fullmatch(rf"20 trees .* 5, 12 features, {compiler} -O2", name) for name in named)
        assert f"xgboost, 3 classes, {compiler} -O2" in named


@pytest.mark.slow
def test_one_is_proved_and_its_certificate_checked() -> None:
    made = row(SMALL)
    assert made.proved
    assert made.proved.problem == ""
    assert made.proved.exact == made.proved.slowest == made.proved.bound > 0
    assert made.checked
    assert made.checked.problem == ""
    assert made.form in cells(made)


def test_one_that_is_not_emitted_is_a_row_that_says_why() -> None:
    def refused(folder: Path, options: object) -> dict[str, object]:
        raise InputError("no such form")

    made = row(EnsembleCase("none", refused, "gcc", "-O2"))
    assert made.proved is None
    assert cells(made)[3] == "no such form"


def test_the_page_counts_what_was_proved_and_what_holds() -> None:
    rows = [
        EnsembleRow(SMALL, "branches", Proved(1500, None, None, "", 70.4, slowest=1396), Checked(8861, 9, "", 8.2)),
        EnsembleRow(
            SMALL, "branches", Proved(244, 233, None, "", 9.0, slowest=233), Checked(0, 0, "more than 50000 paths", 9)
        ),
        EnsembleRow(SMALL, "index", Proved(problem="too-large: more | cells", seconds=4.0)),
    ]
    text = page(rows, "python -m bench.ensembles")
    assert "2 of 3 are proved, " in text
    assert "at most 1,500" in text
    assert "1,396" in text
    assert " 233 |" in text
    assert "at most 244" not in text
    assert "too-large: more / cells" in text


def test_some_rows_alone_are_not_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "two"]) == 2
    assert "with --out where" in capsys.readouterr().err


def test_a_row_that_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "no such ensemble", "--out", str(tmp_path / "page.md")]) == 2
    assert "leave --only out" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_only_some_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = EnsembleCase("other", SMALL.emit, "gcc", "-O2")
    monkeypatch.setattr(command, "cases", lambda: iter((SMALL, other)))
    monkeypatch.setattr(
        command, "row", lambda case: EnsembleRow(case, "branches", Proved(100, 100, None, "", 1.0, slowest=100))
    )
    assert main(["--only", "two", "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert "two trees" in text
    assert "bench.ensembles --only 'two'`" in text
    assert "other" not in text.partition("| ---")[2]
