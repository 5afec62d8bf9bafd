"""What a start and a cap cost: which students are set beside each other, and that each is proved."""

from pathlib import Path

import pytest

from bench.drawn.students import drawn
from bench.start_cost import StartCost, cost, main, page, variants
from codegen.emit import Emission
from decision.policy.student import Student
from teachers.load import load

ARTEFACT = "0" * 64
TEACHERS = Path(__file__).resolve().parents[2] / "fixtures" / "teachers"


def flagship() -> Student:
    """A small student with the flagship's start and cap."""
    policy = load(TEACHERS / "robust-in-flight").policy
    return drawn(4).with_parts(start=policy.start, in_flight=policy.in_flight, observation=policy.observation)


def test_the_trees_stay_and_the_header_changes() -> None:
    whole, small = flagship(), drawn(4)
    assert whole.start is not None
    assert whole.in_flight is not None
    made = variants(small, whole)
    assert [(v.start is not None, v.in_flight is not None) for v in made.values()] == [
        (False, False),
        (True, False),
        (True, False),
        (False, True),
        (True, True),
        (True, True),
    ]
    assert [v.start is not None and v.start.loss is not None for v in made.values()] == [False, False, True] * 2
    assert all(each.forest == small.forest for each in made.values())


@pytest.mark.slow
def test_a_start_costs_what_the_proof_says() -> None:
    made = variants(drawn(4), flagship())
    alone, started = (cost(made[text], ARTEFACT, Emission()) for text in ("trees alone", "start"))
    assert alone.exact
    assert started.exact
    assert started.worst > alone.worst
    assert started.code > alone.code
    assert len(alone.certificate) == len(started.certificate) == 12


def test_the_page_tells_bounds_from_what_an_input_takes() -> None:
    bare, more = (
        StartCost(ARTEFACT, 90, True, "abc", 8, 900, 1600),
        StartCost(ARTEFACT, 112, False, "refused: a cut", 8, 1100, 1600),
    )
    text = page({("rl-cc", "trees alone"): bare, ("rl-cc", "start"): more}, "c")
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in text.splitlines() if line.startswith("| [")]
    assert rows == [
        ["trees alone", "90", "+0", "8", "900", "1600", "abc"],
        ["start", "112, a bound", "+22", "8", "1100", "1600", "refused: a cut"],
    ]


def test_runs_that_are_not_there_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--runs", str(tmp_path), "--out", str(tmp_path / "page.md")]) == 2
    assert "run `rlcc run recipes/rl-cc.toml` first" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
