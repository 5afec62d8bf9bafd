"""Code with one thing wrong is refuted by an input that is run, before anything is proved."""

from itertools import islice
from pathlib import Path

import numpy as np
import policy_by_hand as hand
import pytest
from drawing import ACTIONS
from machine_mutants import entries, instructions
from students_drawn import Drawn, built, grown

from emulator.build import Build
from emulator.elf import Image
from emulator.vectors import vectors_of
from verify.code.failures import Failure
from verify.prover.concrete import Runner
from verify.prover.explore import Explorer
from verify.prover.prove import ENTRY, Limits, prove
from verify.prover.refute import refute
from verify.trusted.costs import cycle_model

LIMITS = Limits(solver_seconds=5.0, worst_seconds=0.2)
SIGNALS = ["rl_cc_congestion", "previous_action"]


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """A student in a joint table, right."""
    student = grown(np.random.default_rng(3), SIGNALS, ACTIONS[0], 5, depths=(3, 3), window=2)
    return built(Drawn(student, "joint", "clang", "-O2"), tmp_path_factory.mktemp("joint"))


def _judged(firmware: Build, mutants: list[tuple[str, Image]], *, vectors: bool) -> tuple[int, int]:
    """How many mutants are refuted at once, and how many are proved to be the same decision.

    One may be left open: a clamp that is off by one changes a rounding of a product at one input of many millions.
    """
    known = vectors_of(firmware.firmware) if vectors else None
    refuted, proved, unsure = 0, 0, list[tuple[str, Failure]]()
    for what, image in mutants:
        layouts = firmware.firmware.layouts
        proof = prove(image, firmware.program, layouts, firmware.engine, limits=LIMITS, vectors=known)
        if proof.proved:
            proved += 1
            continue
        if not proof.failures[0].example:
            unsure.append((what, proof.failures[0]))
            continue
        assert proof.failures[0].shown, what
        if proof.failures[0].kind.startswith("wrong"):
            assert not proof.answers, what  # no solver was asked
            assert not proof.instructions, what  # no path was walked
        refuted += 1
    assert len(unsure) <= 1 + len(mutants) // 100, unsure
    return refuted, proved


def test_the_right_code_is_not_refuted_and_every_cell_was_run(joint: Build) -> None:
    runner = Runner(joint.image, joint.program, joint.firmware.layouts, joint.engine, cycle_model(joint.engine), ENTRY)
    assert refute(runner).wrong is None
    explorer = Explorer(joint.program)
    features = list(explorer.features)
    *_, combined, _ = explorer.inputs(30_000)
    met = len(np.unique(explorer._cells(explorer.values(combined), features)))
    alone = [len(np.unique(explorer._cells(explorer.values(combined), m))) for _, m in explorer._groups()]
    assert met == np.prod(alone) > 100


def test_an_entry_of_a_table_off_by_one_is_refuted_at_once(joint: Build) -> None:
    every = list(entries(joint.image, 2))
    picked = [every[k] for k in np.random.default_rng(0).permutation(len(every))[:16]]
    refuted, proved = _judged(joint, picked, vectors=False)
    assert refuted >= 13
    assert proved <= 3  # entries that no input comes to


def test_an_instruction_gone_wrong_is_refuted_at_once(joint: Build) -> None:
    every = list(instructions(joint.image))
    picked = [every[k] for k in np.random.default_rng(1).permutation(len(every))[:16]]
    refuted, proved = _judged(joint, picked, vectors=True)
    assert refuted >= 12
    assert proved <= 4


@pytest.mark.slow
@pytest.mark.parametrize("form", ["joint", "branches", "index"])
def test_all_that_can_go_wrong_by_one_is_refuted_at_once(form: str, tmp_path: Path) -> None:
    student = grown(np.random.default_rng(3), SIGNALS, ACTIONS[0], 5, depths=(3, 3), window=2)
    firmware = built(Drawn(student, form, "clang", "-O2"), tmp_path)
    mutants = [*islice(entries(firmware.image, 2), 600), *instructions(firmware.image)]
    refuted, proved = _judged(firmware, mutants, vectors=False)
    assert refuted > 10 * proved


def test_both_sides_of_every_comparison_are_met() -> None:
    explorer = Explorer(hand.program())
    *_, found, _, _ = explorer.inputs(10)
    values = explorer.values(found)
    for k, thresholds in explorer.thresholds.items():
        met = set(values[explorer.features[k]].tolist())
        assert {t + d for t in thresholds for d in (0, 1)} <= met
    limit = (1 << 30) - 1
    assert {limit, limit + 1} <= set(found[explorer.names.index("context.rate_q30")].tolist())


def test_where_the_solver_finds_no_slow_input_the_slowest_that_was_run_is_the_witness(joint: Build) -> None:
    layouts, vectors = joint.firmware.layouts, vectors_of(joint.firmware)
    runner = Runner(joint.image, joint.program, layouts, joint.engine, cycle_model(joint.engine), ENTRY)
    slowest = runner.run(refute(runner, vectors, count=200).slowest).cycles
    explorer = Explorer(joint.program)
    some = next(explorer.inputs(200))[:, :30]
    assert slowest is not None
    assert slowest >= max(runner.run(explorer.named(column)).cycles or 0 for column in some.T)
    proof = prove(
        joint.image, joint.program, layouts, joint.engine, limits=Limits(worst_seconds=0.0, inputs=200), vectors=vectors
    )
    assert proof.worst is not None
    assert proof.worst.paths_tried == 0
    assert proof.worst.witness_cycles == runner.run(proof.worst.witness).cycles == slowest <= proof.worst.bound
    assert proof.worst.exact == (slowest if slowest == proof.worst.bound else None)


def test_a_tree_that_is_lost_and_one_threshold_off_by_one_are_refuted(tmp_path: Path) -> None:
    for number, (right, wrong) in enumerate(
        [
            ("    sum += tree_1(rtt, action);\n", ""),
            ("action > 100", "action > 101"),
            ("rtt > 5000U) ?", "rtt > 5001U) ?"),
        ]
    ):
        image = hand.linked(hand.SOURCE.replace(right, wrong, 1), tmp_path / str(number))
        runner = Runner(image, hand.program(), hand.layouts(), hand.PROFILE, cycle_model(hand.PROFILE), ENTRY)
        assert refute(runner, count=2000).wrong is not None, wrong


def test_an_access_out_of_bounds_has_its_name_and_an_input(tmp_path: Path) -> None:
    source = hand.SOURCE.replace(
        "int32_t sum = 10;", "int32_t sum = (rtt == 5001U) ? (int32_t)event[1].cnp_count : 10;"
    )
    proof = prove(hand.linked(source, tmp_path), hand.program(), hand.layouts(), hand.PROFILE, limits=LIMITS)
    assert proof.failures[0].kind == "load-outside"
    example = proof.failures[0].example
    assert (example["event.response_ns"] - example["event.request_sent_ns"]) % (1 << 32) == 5001
