"""`rlcc diff`: equal policies, one edited threshold or leaf, other parameters, retrained students, two interfaces."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from drawing import ACTIONS, make_student

from decision.artefact.manifest import opened
from decision.ir.forest import leaves, oblivious
from decision.ir.interfaces.flow_rate import flow_interface
from distill.options import RolloutOptions
from distill.rollout import collect
from netsim.policies import interpreted
from rlcc import cli
from rlcc.diff.changes import changes
from rlcc.diff.decisions import ACTION, in_traffic, on_inputs
from rlcc.diff.difference import PolicyDifference
from rlcc.diff.page import page
from rlcc.diff.side import Side, read_side
from rlcc.diff.words import columns

TRAFFIC = ["--scenario", "many-to-one:2", "--duration", "2 ms"]


def edited(resealed: Any, folder: Path, to: Path, change: Any) -> Path:
    """Returns a copy of a student whose student.json ``change`` has edited."""

    def edit(work: Path) -> None:
        data = json.loads((work / "student.json").read_text())
        change(data)
        (work / "student.json").write_text(json.dumps(data))

    copy: Path = resealed(folder, to, edit)
    return copy


@pytest.fixture(scope="module")
def one_threshold(good: Path, resealed: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-written student with its second tree's threshold a fifth lower."""

    def lower(data: Any) -> None:
        data["ensemble"]["trees"][1]["splits"][0][1] = 4_000_000

    return edited(resealed, good / "student", tmp_path_factory.mktemp("edited") / "student", lower)


def test_a_policy_and_its_firmware_are_equal(good: Path, rlcc: Any) -> None:
    code, out, _ = rlcc("diff", good / "student", good / "firmware", *TRAFFIC)
    assert code == 0
    assert "0 of" in out
    assert "->" not in out


def test_one_edited_threshold_is_one_row_with_its_share_and_worst_case(
    good: Path, one_threshold: Path, rlcc: Any, tmp_path: Path
) -> None:
    code, out, _ = rlcc("diff", good / "student", one_threshold, *TRAFFIC, "--out", tmp_path / "diff.html")
    assert code == 1
    rows = [line for line in out.splitlines() if line.startswith("threshold ")]
    assert len(rows) == 1
    assert rows[0].index("5134823 (") < rows[0].index("->") < rows[0].index("4000000 (")
    text = (tmp_path / "diff.html").read_text()
    assert "5134823 (" in text
    assert "<script" not in text
    old, new = read_side(good / "student"), read_side(one_threshold)
    inputs = on_inputs(old, new)
    assert inputs is not None
    assert inputs.worst is not None
    assert 0 < inputs.differing < inputs.decisions
    # The two decide differently exactly between the two thresholds.
    program = old.pupil.program()
    assert {name.partition(".")[0] for name in inputs.worst.inputs} == {"event", "params", "context"}
    assert program.interface.knob_names == (inputs.worst.knob,)


def test_differences_lie_between_the_two_thresholds(good: Path, one_threshold: Path) -> None:
    """Recorded decisions differ where the feature is above the new threshold and not above the old one, and nowhere
    else, by the leaf that the edit reaches."""
    old, new = read_side(good / "student"), read_side(one_threshold)
    options = RolloutOptions(scenarios=["many-to-one:512"], seeds=[1], duration="1 ms")  # type: ignore[arg-type]
    runs = collect(interpreted(old.pupil), options)
    found = in_traffic(old, new, runs)
    rows, valid = runs[0].trajectories.integer_rows(old.pupil.observation, old.pupil.params())
    at = old.pupil.program().forest.features  # of the features that trees look at
    names = [name for name in at if name.startswith("congestion")]
    feature = old.student.forest.features.index(names[0]) if old.student else -1
    between = (rows[valid][:, feature] > 4_000_000) & (rows[valid][:, feature] <= 5_134_823)
    assert found.differing == int(between.sum()) > 0
    assert found.worst is not None
    assert found.worst.knob == ACTION
    assert 4_000_000 < found.worst.inputs[names[0]] <= 5_134_823
    own = [interval for interval in found.intervals if interval.feature == names[0]]
    assert own
    assert all(interval.worst == pytest.approx(abs(found.worst.difference)) for interval in own)


def test_rows_are_in_a_fixed_order_and_a_leaf_is_one_of_them(good: Path, resealed: Any, tmp_path: Path) -> None:
    def edit(data: Any) -> None:
        data["ensemble"]["trees"][0]["leaves"][1] += 7
        data["ensemble"]["bias"] = 611 if isinstance(data["ensemble"]["bias"], int) else [611]
        data["limits"]["rate_min"] = "2 ppm"

    other = read_side(edited(resealed, good / "student", tmp_path / "student", edit))
    old = read_side(good / "student")
    parts = [change.part for change in changes(old, other)]
    assert parts == ["limits.rate_min", "params.rate_min_q30", "bias 0", "tree 0"]
    assert [change.part for change in changes(other, old)] == parts
    (tree,) = [change for change in changes(old, other) if change.part == "tree 0"]
    assert old.student is not None
    assert tree.old == f"{len(list(leaves(old.student.forest.trees[0])))} leaves"
    assert tree.new.startswith("1 differ")
    assert tree.new.split()[-3] == "7"


def test_each_of_two_features_of_one_kind_is_compared() -> None:
    def side(first: int, second: int) -> Side:
        features = [{"kind": "minimum", "signal": "rtt_ns", "rise": rise} for rise in (first, second)]
        student = make_student(features, ACTIONS[0], (oblivious(((0, 5),), (-3, 4)),))
        return Side(Path("drawn"), "student", "", student, {})

    def parts(old: Side, new: Side) -> list[str]:
        return [change.part for change in changes(old, new) if change.part.startswith("features.")]

    assert parts(side(1, 2), side(3, 2)) == ["features.minimum.rise"]
    assert parts(side(1, 2), side(1, 3)) == ["features.minimum:2.rise"]


def test_retrained_students_compare_in_recorded_traffic(
    pipeline: Any, resealed: Any, tmp_path: Path, rlcc: Any
) -> None:
    """With the rollouts of their teacher, which are nobody's of the two."""

    def edit(data: Any) -> None:
        for tree in data["ensemble"]["trees"]:
            for split in tree["splits"]:
                split[1] += 1000

    other = edited(resealed, pipeline.student, tmp_path / "student", edit)
    code, out, _ = rlcc("diff", pipeline.student, other, "--rollouts", pipeline.rollouts)
    assert code == 1
    assert opened(pipeline.rollouts, "rollouts").hash[:12] in out
    trees = [line for line in out.splitlines() if line.startswith("trees ")]
    assert len(trees) == 1
    again = rlcc("diff", pipeline.student, other, "--rollouts", pipeline.rollouts)[1]
    assert again.splitlines()[1:] == out.splitlines()[1:]


def test_what_cannot_be_compared_is_one_sentence(good: Path, pipeline: Any, refused: Any, tmp_path: Path) -> None:
    student = good / "student"
    assert "rollouts" in refused("diff", student, pipeline.rollouts)
    assert "teacher" in refused("diff", good / "teacher", student)
    assert str(tmp_path / "none") in refused("diff", student, tmp_path / "none")
    assert "--rollouts" in refused("diff", student, student, "--rollouts", pipeline.rollouts, "--seed", "3")
    inside = student / "diff.html"
    assert str(inside) in refused("diff", student, student, *TRAFFIC, "--out", inside)
    assert not inside.exists()
    copied = tmp_path / "student"
    shutil.copytree(student, copied)
    (copied / "student.json").write_text("{}")
    assert "student.json" in refused("diff", copied, student)


def test_two_interfaces_differ_without_traffic(good: Path, resealed: Any, tmp_path: Path, rlcc: Any) -> None:
    """A policy that gained a start is asked with other parameters: its changes are listed, and it exits with 1."""

    def started(data: Any) -> None:
        data["start"] = {"slow_start": {"until": 4}}
        data["observation"]["interface"] = flow_interface(["start"]).name

    code, out, _ = rlcc("diff", good / "student", edited(resealed, good / "student", tmp_path / "s", started))
    assert code == 1
    assert "start.slow_start.until" in out
    assert "worst case" not in out


def test_the_page_escapes_names(good: Path) -> None:
    side = read_side(good / "student")
    text = page(PolicyDifference(side, side, (), "<b>", None, None))
    assert "&lt;b&gt;" in text


def test_columns_keep_one_line_a_row() -> None:
    rows = [("a", "b"), ("1", "x" * 100), ("22", "y")]
    assert columns(rows) == ["a   b", "1   " + "x" * 100, "22  y"]
    assert columns(rows[:1]) == []


def test_diff_is_a_command_of_the_group() -> None:
    assert "diff" in cli.COMMANDS
