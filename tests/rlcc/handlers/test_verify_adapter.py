"""`rlcc verify --adapter`: what is claimed, what is refused, and the exit codes."""

from functools import partial
from pathlib import Path

import pytest
from target_firmware import edited, emitted_once


@pytest.fixture(scope="module")
def firmware(made_once):
    return partial(emitted_once, made_once)


def test_an_adapter_is_proved(firmware, rlcc):
    code, said, error = rlcc("verify", firmware("rl_cc", "doca-pcc"), "--adapter")
    assert code == 0, error
    lines = dict(line.split(maxsplit=1) for line in (said + error).splitlines() if line.startswith("  "))
    assert lines["verdict"] == "proved"
    assert lines["engine"] == "bluefield3-proxy"
    assert {"adapter", "compiler", "outputs", "calls", "questions"} <= lines.keys()


def test_a_wrong_adapter_is_refuted_by_an_event(firmware, rlcc, resealed, tmp_path):
    def edit(folder: Path) -> None:
        source = folder / "rlcc_doca_pcc.c"
        source.write_text(edited(source.read_text(), "rate_initial_q30 >> 10U", "rate_initial_q30 >> 9U"))

    wrong = resealed(firmware("rl_cc", "doca-pcc"), tmp_path / "wrong", edit)
    assert rlcc("verify", wrong, "--adapter")[0] == 2
    code, said, error = rlcc("verify", wrong, "--adapter", "--foreign-sources")
    assert code == 1
    assert "refuted: context.rate_q20" in said + error
    assert "params.rate_initial_q30=0x" in said + error


@pytest.mark.parametrize(
    "options", [("--bound",), ("--out", "c.json"), ("--check", "c.json"), ("--properties", "all"), ("--recipe", "r")]
)
def test_the_adapter_is_proved_alone(options, firmware, rlcc, wording):
    code, _, error = rlcc("verify", firmware("rl_cc", "doca-pcc"), "--adapter", *options)
    assert code == 2
    wording(error)


def test_a_device_without_a_specification_is_said(firmware, rlcc, wording):
    made = firmware("rl_cc", "linux-bpf")
    code, _, error = rlcc("verify", made, "--adapter")
    assert code == 2
    wording(error.replace(str(made), "FOLDER"))
