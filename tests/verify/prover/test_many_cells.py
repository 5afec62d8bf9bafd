"""Trees over many features: leaves are summed up under the names of their trees, and the bound is sound.

Slow: the proof of five trees of depth 4; test_many_trees.py proves and forges sums by name in the fast suite.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from other_interfaces import emitted, printed
from two_sides import ENGINE

from codegen.lower import Options
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.mlfq_thresholds import MLFQ_THRESHOLDS
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.firmware_folder import built as build_folder
from verify.check.effort import FULL
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover import certify as module
from verify.prover.certify import certify
from verify.prover.prove import Limits, prove

LIMITS = Limits(lanes=10_000, worst_seconds=1.0)
"""Fewer lanes than these cells have; and the bound is none the less where no slower input is looked for."""


def thresholds(signals: int = 12, trees: int = 5) -> Program:
    """Trees of four signals each, the first three at one threshold, others at another; three knobs in order."""
    names, grown = MLFQ_THRESHOLDS.event_names[:signals], []
    for number in range(trees):
        asked = [(4 * number + k) % signals for k in range(4)]
        splits = tuple((feature, 1_000 if number < 3 else 70_000) for feature in asked)
        leaves = tuple((97 * leaf * (number + 1) % 811, 13 * leaf * leaf % 701, leaf << number) for leaf in range(16))
        grown.append(oblivious(splits, leaves))
    b = ProgramBuilder(Forest(names, tuple(grown), (2_000, 3_000, 4_000), 0), MLFQ_THRESHOLDS)
    features = tuple(b.event(name) for name in names)
    knobs: list[int] = []
    for number in range(3):
        knob = b.add(Op.TREES, features, number, f"sum_{number}")
        knobs.append(b.add(Op.MAX, (knob, knobs[-1]), name=f"knob_{number}") if knobs else knob)
    return b.finish(*knobs)


SOURCE = printed(thresholds(), Options(form="branches"))[1]


def test_the_cells_are_more_than_lanes_may_be() -> None:
    assert LIMITS.joined_above(thresholds()) == Limits().many_cells < Limits().cells
    assert Limits().joined_above(thresholds()) == Limits().cells


@pytest.mark.slow
def test_such_trees_are_proved_with_a_bound_that_the_checker_finds_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "Limits", lambda: LIMITS)
    done = certify(build_folder(emitted(thresholds(), tmp_path / "firmware", SOURCE), profile=ENGINE))
    assert done.certificate is not None, (done.problem, done.proof.failures)
    worst = done.certificate.claims.worst_case
    assert worst.rtl_cycles <= worst.bound <= 1.1 * worst.rtl_cycles
    assert any(text.count("tree.") > 1 for cut in done.certificate.cuts for text in cut.holds.values())
    again = recheck(done.certificate, done.build)
    assert again.bound <= worst.bound
    forged = next(c for c in done.certificate.cuts if any("tree." in text for text in c.holds.values()))
    at, text = next((at, text) for at, text in forged.holds.items() if "tree." in text)
    other = re.sub(r"tree\.(\d+)", lambda m: f"tree.{(int(m[1]) + 1) % 15}", text, count=1)
    wrong = forged.model_copy(update={"holds": forged.holds | {at: other}})
    cuts = [wrong if cut is forged else cut for cut in done.certificate.cuts]
    as_many = replace(FULL, paths=again.paths)  # whoever comes to another leaf goes on by himself: many do
    with pytest.raises(Refused):
        recheck(done.certificate.model_copy(update={"cuts": cuts}), done.build, effort=as_many)


def test_a_lane_whose_cells_contradict_what_was_compared_by_name_is_one_that_no_input_takes(tmp_path: Path) -> None:
    """Such lanes kept the others from going on under a name."""
    program = thresholds(9, 4)
    folder = emitted(program, tmp_path / "firmware", printed(program, Options(form="branches"))[1])
    built = build_folder(folder, profile=ENGINE)
    limits = Limits(lanes=1_000, worst_seconds=0.0, inputs=200)
    assert limits.joined_above(program) == limits.many_cells
    assert prove(built.image, program, built.firmware.layouts, ENGINE, limits=limits).proved


def test_more_lanes_than_cells_are_joined_without_being_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lane may know more than its cell, so that lanes are too many where cells are not."""
    program = thresholds(9, 4)
    folder = emitted(program, tmp_path / "firmware", printed(program, Options(form="branches"))[1])
    built = build_folder(folder, profile=ENGINE)
    limits = Limits(lanes=1_000, worst_seconds=0.0, inputs=200)
    monkeypatch.setattr(Forest, "combinations", 1)
    assert limits.joined_above(program) == limits.cells
    assert prove(built.image, program, built.firmware.layouts, ENGINE, limits=limits).proved
    hasty = replace(limits, many_cells=limits.cells)
    (failure,) = prove(built.image, program, built.firmware.layouts, ENGINE, limits=hasty).failures
    assert failure.kind == "too-large"


def test_a_leaf_that_is_off_by_one_is_refuted(tmp_path: Path) -> None:
    leaf = re.search(r"\+= (\d{3});", SOURCE)
    assert leaf is not None
    wrong = SOURCE.replace(leaf[0], f"+= {int(leaf[1]) + 1};", 1)
    done = certify(build_folder(emitted(thresholds(), tmp_path / "firmware", wrong), profile=ENGINE))
    assert done.certificate is None
    assert done.refuted
