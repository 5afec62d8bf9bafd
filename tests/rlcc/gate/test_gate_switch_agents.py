"""Firmware of ACC's and HAECN's agents with a threshold edited fails its gate, which says what is not as it was: the
threshold of a tree or the marking threshold of a table's row, in the C or in the student that C is emitted from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from decision.policy.weights import shapes
from rlcc import cli
from rlcc.reports import folder as reports
from teachers.load import load
from teachers.save import save
from teachers.teacher import Teacher, make_teacher

SHIPPED = Path(__file__).resolve().parents[3] / "fixtures" / "teachers"
LONGEST = 11
"""Doublings of 5 KB: the tree tells longer queues apart, which the network here does not have."""
RECIPE = """\
format = 1
name = "switch"

[network]
link = "25 Gb/s"

[agents.senders]
interface = "flow_rate"
baseline = "dcqcn"

[agents.queues]
interface = "queue_marking"
teacher = "teacher"
period = "50 us"

[rollout]
scenarios = ["many-to-one:4"]

[gate]
budget = "2 us"
scenarios = ["many-to-one:4"]
duration = "2 ms"
window = ["1 ms", "2 ms"]
proof = false
match = { rmse = 0.01, p99 = 0.01, maximum = 0.01, duration = "2 ms" }
"""


def first_row(name: str) -> Teacher:
    """A network with the policy of a shipped one, which always chooses the table's first row, anew each time."""
    policy = load(SHIPPED / name).policy
    weights = {part: np.zeros(shape, np.float32) for part, shape in shapes(policy).items()}
    weights["out.bias"][0] = 1.0
    if policy.trigger is not None:
        weights["trigger_out.bias"][1] = 1.0
    return make_teacher(policy, weights, "the test")


def emitted(root: Path, place: Path, longest: int = LONGEST, fires_to: int = LONGEST, kmin_bytes: int = 20_000) -> Path:
    """The firmware, in ``place``, of a student that chooses the first row for queues to the longest, the last row for
    longer ones."""
    teacher = load(root / "teacher")
    policy = teacher.policy
    action: Any = policy.action
    action = action.model_copy(update={"rows": [action.rows[0] | {"kmin_bytes": kmin_bytes}, *action.rows[1:]]})
    sums, half = action.sums, 1 << (action.leaf_bits - 1)
    triggered = () if policy.trigger is None else (half,)
    first, last = ((*(9 * (n == chosen) for n in range(sums)), *(0 for _ in triggered)) for chosen in (0, sums - 1))
    trees = [oblivious(((0, longest),), (first, last))]
    if triggered:
        silent = (0,) * sums
        trees.insert(0, oblivious(((0, fires_to),), ((*silent, 9), (*silent, -9))))
    names = seen_names(policy.observation, policy.trigger)
    forest = Forest(names, tuple(trees), (*[0] * sums, *triggered), action.leaf_bits)
    header = policy.header.model_copy(update={"action": action})
    with writing(place / "student", "student", parents={"teacher": teacher.hash}) as work:
        Student(policy.name, header, forest, teacher.hash).save(work)
    assert cli.main(["emit", str(place / "student"), "--target", "bare", "--out", str(place / "firmware")]) == 0
    return place / "firmware"


def gated(root: Path, firmware: Path) -> dict[str, str]:
    """The failed checks and what they say; the exit code is theirs."""
    out = root / "verdict"
    code = cli.main(["gate", str(firmware), "--recipe", str(root / "switch.toml"), "--out", str(out)])
    checks = json.loads((out / reports.JSON).read_text())["checks"]
    failed = {check["id"]: check["value"] for check in checks if not check["passed"]}
    assert code == bool(failed)
    return failed


@pytest.fixture(scope="module", params=["acc", "haecn"])
def switch(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp(request.param)
    save(first_row(request.param), root / "teacher")
    (root / "switch.toml").write_text(RECIPE)
    emitted(root, root)
    return root


def test_what_is_edited_below_passes_as_it_is(switch: Path) -> None:
    assert gated(switch, switch / "firmware") == {}
    rows = json.loads((switch / "verdict" / reports.JSON).read_text())["checks"]
    teacher = [(row["id"], row["value"], row["limit"]) for row in rows if row["group"] == "teacher"]
    assert teacher[-2:] == [
        ("teacher.deviation", "not measured", "not judged"),
        ("teacher.deviation_bound", "not defined", "not judged"),
    ]
    assert [row["limit"] for row in rows if row["group"] == "proof"] == ["not judged"]


def test_the_quick_gate_gives_every_row_but_those_of_simulations(switch: Path, tmp_path: Path) -> None:
    """Of a policy with a trigger it cannot know how often that fires: the row of the mean says so."""
    arguments = ("gate", switch / "firmware", "--recipe", switch / "switch.toml", "--out")
    assert cli.main([*map(str, (*arguments, tmp_path / "whole"))]) == 0
    assert cli.main([*map(str, (*arguments, tmp_path / "quick", "--quick"))]) == 0
    whole, quick = (json.loads((tmp_path / n / reports.JSON).read_text())["checks"] for n in ("whole", "quick"))
    kept = [row for row in whole if row["group"] not in ("teacher", "network")]
    assert [row["id"] for row in quick] == [row["id"] for row in kept]
    other = [row["limit"] for row, same in zip(quick, kept, strict=True) if row != same]
    assert other == (["not judged"] if "budget.mean" in {row["id"] for row in whole} else [])


EDITS = {
    "a tree's threshold": ("queue_bytes_bucket > 11U", "queue_bytes_bucket > 0U"),
    "a marking threshold": (": 20000U)", ": 20001U)"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_threshold_in_the_c_fails(
    switch: Path, resealed: Callable[..., Path], tmp_path: Path, edit: str
) -> None:
    """Also under a manifest with the right hashes."""

    def change(folder: Path) -> None:
        path, (old, new) = folder / "rlcc_policy.c", EDITS[edit]
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1))

    firmware = resealed(switch / "firmware", tmp_path / "edited", change)
    failed = gated(switch, firmware)
    assert failed.pop("equality.emitted") == "different: rlcc_policy.c"
    assert set(failed.values()) == {"not reached"}


STUDENTS: dict[str, tuple[str, dict[str, int], str]] = {
    "acc, a tree's": ("acc", {"longest": 0}, "teacher.rmse"),
    "acc, a row's": ("acc", {"kmin_bytes": 30_000}, "teacher.interface"),
    "haecn, a tree's": ("haecn", {"longest": 0}, "teacher.rmse"),
    "haecn, the trigger's": ("haecn", {"fires_to": 0}, "teacher.trigger_share"),
}


@pytest.mark.slow_except("haecn, the trigger's", "acc, a tree's", "acc, a row's")
@pytest.mark.parametrize(("switch", "change", "check"), STUDENTS.values(), ids=STUDENTS, indirect=["switch"])
def test_an_edited_threshold_in_the_student_fails_though_its_c_is_as_emitted(
    switch: Path, tmp_path: Path, change: dict[str, int], check: str
) -> None:
    failed = gated(switch, emitted(switch, tmp_path, **change))
    assert check in failed
    assert "equality.emitted" not in failed
