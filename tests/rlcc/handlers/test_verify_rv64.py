"""`rlcc verify` on an RV64 profile: what is claimed, what is refused, and the exit codes.

Slow: the proof from end to end.
"""

from dataclasses import replace

import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from emulator import build as builds
from emulator.elf import LoadedSection
from rlcc.cli import main

PROFILE = ["--profile", "bluefield3-proxy"]


@pytest.fixture(scope="module")
def firmware(tmp_path_factory):
    place = tmp_path_factory.mktemp("rv64")
    features = [FEATURES[kind] for kind in ("previous_action", "rl_cc_congestion")]
    with writing(place / "student", "student") as work:
        make_student(features, ACTIONS[0], (oblivious(((0, 100),), (-5, 6)),), window=2, bias=12).save(work)
    emit(place / "student", place / "firmware", target="generic")
    return place / "firmware"


@pytest.fixture
def verified(capsys):
    def run(*arguments):
        code = main(["verify", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


@pytest.mark.slow
def test_equality_is_proved_and_no_cycles(firmware, verified):
    code, said = verified(firmware, *PROFILE)
    assert code == 0, said
    assert "rv64imac_zbb_zbs" in said
    assert "WCET" not in said
    lines = dict(line.split(maxsplit=1) for line in said.splitlines() if line.startswith("  "))
    assert {"proved", "stack", "cycles", "questions"} <= set(lines)
    assert lines["cycles"].startswith("not proved")


def test_no_certificate_is_written(firmware, verified, tmp_path):
    code, said = verified(firmware, *PROFILE, "--out", tmp_path / "certificate.json")
    assert code == 2
    assert "--out" in said
    assert not list(tmp_path.iterdir())


def test_machine_code_that_lacks_an_instruction_is_not_proved(firmware, verified, monkeypatch):
    def wrong(elf, entry):
        image = honest(elf, entry)
        table = next(s for s in image.sections if s.address == image.text[0])
        at = table.data.rindex(b"\x82\x80") - 2  # the instruction before the return
        lost = LoadedSection(table.name, table.address, table.data[:at] + b"\x01\x00" + table.data[at + 2 :])
        return replace(image, sections=tuple(lost if s is table else s for s in image.sections))

    honest = builds.linked_image
    monkeypatch.setattr(builds, "linked_image", wrong)
    code, said = verified(firmware, *PROFILE)
    assert code == 1
    assert "load-unwritten" in said
