"""Firmware of whole students is proved in every form: what compilers fold, share and thread must not lose a proof."""

from pathlib import Path
from typing import Any

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from codegen.lower import Options
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from emulator.compile import find_gcc
from emulator.firmware_folder import built as build_folder
from emulator.profile import load_profile
from verify.prover.prove import Limits, prove

SMALL = oblivious(((0, 300), (1, 3000)), (-9000, 4000, 7000, 15000))
OTHER = oblivious(((1, 100), (0, 900), (0, 20000)), (0, -2000, 3000, 800, -700, 9000, 12000, 5))
FIXED = FLOW_RATE.param_names[:4]
CASES: dict[str, tuple[list[str], int, dict[str, Any], str, str, dict[str, Any]]] = {
    "a rate that is folded": (["rate", "rtt_inflation"], 1, ACTIONS[1], "clang", "-O1", {"fix": FIXED}),
    "a clamp threaded into the leaves": (["queue_inflation", "previous_action"], 2, ACTIONS[0], "clang", "-O1", {}),
    "a table": (["queue_inflation", "previous_action"], 2, ACTIONS[3], "clang", "-O2", {"form": "joint"}),
    "a shift beyond the word": (["pcc_rl_congestion", "rate"], 1, ACTIONS[1], "clang", "-Os", {}),
    "a division": (["cnp_ratio", "rtt_inflation"], 1, ACTIONS[0], "clang", "-O2", {"form": "branches"}),
    "gcc": (["rl_cc_congestion", "rate"], 3, ACTIONS[0], "gcc", "-O2", {"form": "index"}),
}  # fmt: skip


@pytest.mark.slow_except("gcc", "a table", "a shift beyond the word", "a rate that is folded")
@pytest.mark.parametrize("name", CASES)
def test_a_student_is_proved(name: str, tmp_path: Path) -> None:
    kinds, window, action, compiler, opt, choices = CASES[name]
    if compiler == "gcc" and find_gcc() is None:
        pytest.skip("no RISC-V GCC on this machine")
    student = make_student([FEATURES[k] for k in kinds], action, (SMALL, OTHER), window=window, bias=200)
    with writing(tmp_path / "student", "student") as work:
        student.save(work)
    fix, form = tuple(choices.get("fix", ())), choices.get("form", "auto")
    emit(tmp_path / "student", tmp_path / "firmware", target="generic", options=Options(form=form), fix=fix)
    built = build_folder(tmp_path / "firmware", profile=load_profile("ibex-small"), compiler=compiler, opt=opt)
    proof = prove(built.image, built.program, built.firmware.layouts, built.engine, limits=Limits(worst_seconds=2))
    assert proof.proved, proof.failures
