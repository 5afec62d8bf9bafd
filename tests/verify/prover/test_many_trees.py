"""Many trees over 12 features, in branches: proved tree by tree, by the names of their leaves, and checked.

Slow: 20 trees of depth 5; the fast suite has 14 of depth 3, whose joint cells are too many as well.
"""

import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from options_by_hand import linked, without_example
from students_drawn import Drawn, built, grown

from decision.ir.forest import leaves
from emulator.build import Build
from verify.check.effort import FULL
from verify.check.recheck import Recheck, recheck
from verify.check.refused import Refused
from verify.prover import certify as module
from verify.prover.certify import Verification, certify
from verify.prover.prove import Limits, prove

KINDS = ["previous_action", "rl_cc_congestion", "rate", "queue_inflation"]
LIMITS = Limits(worst_seconds=1.0)
ALONE = Limits(solver_seconds=1.0, worst_seconds=0.0, inputs=1)
"""The proof by itself: hardly an input is run before."""


@pytest.fixture(scope="module", params=[(14, 3), pytest.param((20, 5), marks=pytest.mark.slow)], ids=str)
def firmware(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Build:
    trees, depth = request.param
    action = {"kind": "tanh_map", "step": 0.2}
    rng = np.random.default_rng([21, trees, depth])
    student = grown(rng, KINDS, action, trees, depths=(depth, depth), window=3)
    assert len(student.forest.features) == 12
    return built(Drawn(student, "branches", "clang", "-O2"), tmp_path_factory.mktemp("many"))


@pytest.fixture(scope="module")
def proved(firmware: Build) -> Verification:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Limits", lambda: LIMITS)
        return certify(firmware)


@pytest.fixture(scope="module")
def again(proved: Verification) -> Recheck:
    """What the checker finds of the certificate as it is."""
    assert proved.certificate is not None
    return recheck(proved.certificate, proved.build)


def test_so_many_trees_are_proved_with_lanes_that_add_up(proved: Verification) -> None:
    assert proved.certificate is not None, (proved.problem, proved.proof.failures)
    assert proved.proof.gave_up_cells
    assert proved.proof.cells < 5_000  # a tree has 32 leaves; where sums were not named the lanes were over 400,000


def test_the_checker_follows_few_paths_and_finds_the_bound(proved: Verification, again: Recheck) -> None:
    assert proved.certificate is not None
    assert again.paths < 20_000
    assert again.bound <= proved.certificate.claims.worst_case.bound


@pytest.mark.parametrize("what", ["leaf", "tree", "dropped", "noted"])
def test_a_certificate_that_says_another_leaf_is_refused(proved: Verification, again: Recheck, what: str) -> None:
    assert proved.certificate is not None
    cuts, last = list(proved.certificate.cuts), len(proved.build.program.forest.trees) - 1
    number = next(n for n, c in enumerate(cuts) if any(t.count("tree.") > 9 for t in c.holds.values()))
    cut = cuts[number]
    at, text = next((at, text) for at, text in cut.holds.items() if text.count("tree.") > 9)
    if what == "leaf":
        other = re.sub(r" (\d+)\)$", lambda m: f" {int(m[1]) + 1})", text)
    elif what == "tree":
        other = text.replace(re.findall(r"tree\.\d+", text)[0], f"tree.{last}")
    else:
        other = text.replace(re.findall(r"tree\.\d+ ", text)[0], "")
    assert other != text
    leaf = next(leaves(proved.build.program.forest.trees[last])).value[0]
    forged = (
        {"bounds": cut.bounds | {f"tree.{last}": [leaf, leaf]}}
        if what == "noted"
        else {"holds": cut.holds | {at: other}}
    )
    cuts[number] = cut.model_copy(update=forged)
    twice = replace(FULL, paths=2 * again.paths)
    with pytest.raises(Refused):
        recheck(proved.certificate.model_copy(update={"cuts": tuple(cuts)}), proved.build, effort=twice)


@pytest.mark.slow_except("*-by the proof alone-*", "*-by an input-a leaf that is off by one")
@pytest.mark.parametrize(
    ("text", "other"),
    [
        (r"leaf = (\d{2,4});", lambda m: f"leaf = {int(m[1]) + 1};"),
        (r"if \((\w+) > (\(?-?\d+\)?U?)\)", lambda m: f"if ({m[1]} <= {m[2]})"),
        (r"if \((\w+) > (\d+)U\)", lambda m: f"if ({m[1]} > {int(m[2]) + 1}U)"),
        (r"decided_q16 \+= tree_07\(.*\);", lambda m: ""),
    ],
    ids=[
        "a leaf that is off by one",
        "a comparison that is turned",
        "a threshold that is off by one",
        "a tree left out",
    ],
)
@pytest.mark.parametrize("limits", [ALONE, LIMITS], ids=["by the proof alone", "by an input"])
def test_code_with_one_thing_wrong_is_not_proved(
    firmware: Build, tmp_path: Path, text: str, other: object, limits: Limits
) -> None:
    source = (firmware.firmware.folder / "rlcc_policy.c").read_text()
    wrong = re.sub(text, other, source, count=1)  # type: ignore[call-overload]
    assert wrong != source
    image = linked(firmware.firmware, wrong, tmp_path)
    with nullcontext() if limits is LIMITS else without_example():
        proof = prove(image, firmware.program, firmware.firmware.layouts, firmware.engine, limits=limits)
    assert not proof.proved
    if limits is LIMITS:
        assert proof.failures[0].example
