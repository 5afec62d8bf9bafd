"""Whatever ordinary student is drawn, the answer is a word: proved, not proved, or wrong with an input."""

from pathlib import Path

import numpy as np
import pytest
from drawing import ACTIONS
from students_drawn import Drawn, built, drawn, grown

from bench.drawn.students import drawn as of_bench
from emulator.compile import find_gcc
from verify.code.failures import KINDS
from verify.prover.concrete import Runner
from verify.prover.prove import ENTRY, Limits, Proof, prove
from verify.prover.refute import refute
from verify.trusted.costs import cycle_model

LIMITS = Limits(cells=3000, lanes=12_000, solver_seconds=2.0, worst_seconds=0.2)


def answer(case: Drawn, folder: Path) -> Proof:
    """The proof of emitted C, which is right: whatever is said of it, it is not "wrong"; and "proved" has no exception
    among random inputs."""
    firmware = built(case, folder)
    proof = prove(firmware.image, firmware.program, firmware.firmware.layouts, firmware.engine, limits=LIMITS)
    assert all(f.kind in KINDS for f in proof.failures)
    assert not any(f.example for f in proof.failures), (str(case), proof.failures)
    if proof.proved:
        model = cycle_model(firmware.engine)
        runner = Runner(firmware.image, firmware.program, firmware.firmware.layouts, firmware.engine, model, ENTRY)
        assert refute(runner, seed=1).wrong is None
    return proof


@pytest.mark.slow_except("9")
@pytest.mark.parametrize("seed", [7, 9])
def test_a_lane_that_no_input_takes_is_unreachable(seed: int, tmp_path: Path) -> None:
    """Rates bound the congestion, which the code does not know: some of its paths are taken by no input."""
    student = grown(np.random.default_rng(seed), ["pcc_rl_congestion", "rate"], ACTIONS[1], 6, depths=(3, 3))
    assert answer(Drawn(student, "auto", "clang", "-O2"), tmp_path).proved


def test_what_the_program_makes_of_a_name_is_asked_too(tmp_path: Path) -> None:
    """The code adds to a node that it holds by name what follows from how it is made; the lane knows the name alone."""
    build = built(Drawn(of_bench(38), "auto", "clang", "-O2"), tmp_path)
    proof = prove(build.image, build.program, build.firmware.layouts, build.engine, limits=LIMITS)
    assert proof.proved, proof.failures


@pytest.mark.slow_except("0", "5")
@pytest.mark.parametrize("seed", [0, 5, 12, 15])
def test_a_drawn_student_is_answered(seed: int, tmp_path: Path) -> None:
    answer(drawn(seed), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_drawn_students_are_answered(seed: int, tmp_path: Path) -> None:
    answer(drawn(seed, gcc=find_gcc() is not None), tmp_path)
