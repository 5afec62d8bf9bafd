"""`--target rtl`: the C alone, and the folder rtl/ with Verilog for a clock."""

import re

import pytest
from drawn_teachers import LSTM, drawn

from codegen.differences import differences
from codegen.rtl.delays import CLOCK_MHZ
from codegen.rtl.emit import FOLDER, logic_of
from codegen.rtl.target import VerilogFiles
from codegen.targets import target_named
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened

FILES = {"rlcc_policy.v", "rlcc_policy_tb.cpp", "rlcc_axi_lite.v", "test_rlcc_policy.py"}


def test_the_folder_has_the_back_end_beside_the_c_and_can_be_emitted_again(student_of_kinds, emitted, tmp_path):
    folder = emitted(student_of_kinds, tmp_path, target="rtl")
    assert {path.name for path in (folder / FOLDER).iterdir()} == FILES
    details = opened(folder, "firmware").details["rtl"]
    assert details["clock_mhz"] == CLOCK_MHZ
    assert details["stages"] == logic_of(student_of_kinds.program()).module.stages or details["stages"] > 0
    assert differences(folder) == []
    module = folder / FOLDER / "rlcc_policy.v"
    module.write_text(module.read_text().replace("clk)", "clk )", 1))
    with pytest.raises(InputError):
        differences(folder)


def test_a_faster_clock_is_named_with_the_target(student_of_kinds, emitted, tmp_path):
    folder = emitted(student_of_kinds, tmp_path, target="rtl@150MHz")
    assert opened(folder, "firmware").details["rtl"]["clock_mhz"] == 150
    assert target_named("rtl@150MHz").extra_files == VerilogFiles(150)
    assert target_named("rtl").extra_files == VerilogFiles(CLOCK_MHZ)
    assert target_named("bare").extra_files is None


@pytest.mark.parametrize(
    "name", ["rtl@", "rtl@0MHz", "rtl@fast", "rtl@200", "rtl@-5MHz", "rtl@1e9MHz", "rtl@1000MHz", "rtl@78.1234MHz"]
)
def test_a_clock_that_is_none_is_refused(name):
    with pytest.raises(InputError):
        target_named(name)


def test_a_clock_that_cannot_be_met_leaves_nothing_behind(student_of_kinds, emitted, tmp_path):
    with pytest.raises(InputError, match=r"rtl@\d+MHz"):
        emitted(student_of_kinds, tmp_path, target="rtl@400MHz")
    assert not (tmp_path / "firmware").exists()


def test_an_operator_that_logic_lacks_is_refused():
    with pytest.raises(InputError):
        logic_of(drawn(LSTM).quantised().program())


def test_the_other_names_follow_the_prefix(student_of_kinds, emitted, tmp_path):
    folder = emitted(student_of_kinds, tmp_path, target="rtl", prefix="mine")
    assert {path.name for path in (folder / FOLDER).iterdir()} == {name.replace("rlcc", "mine") for name in FILES}
    for path in (folder / FOLDER).glob("*.v"):
        assert not re.search(r"\brlcc_", path.read_text())


def test_no_line_rests_on_verilog_2005(student_of_kinds, emitted, tmp_path):
    text = (emitted(student_of_kinds, tmp_path, target="rtl") / FOLDER / "rlcc_policy.v").read_text()
    assert not re.search(r"\b(logic|always_ff|always_comb|generate|initial|#\d)\b", text)
