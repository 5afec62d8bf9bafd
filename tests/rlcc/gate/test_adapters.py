"""The gate's check of an adapter is the outcome of a new proof, on an RV64 engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from target_firmware import edited, emitted_once

from emulator.firmware import Firmware
from emulator.firmware_folder import read_firmware
from rlcc.gate.adapters import PROFILE, proved_adapters
from rlcc.gate.verdict import Check
from rlcc.recipe import EmulateOptions
from verify.adapter import prove
from verify.adapter.prove import AdapterProof

TARGETS = {
    "doca-pcc": "rlcc_doca_pcc.c",
    "connectx6dx": "rlcc_rl_algo.c",
    "falcon-rue": "rlcc_falcon_rue.c",
}


@pytest.fixture(scope="module")
def firmware(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Callable[[str], Firmware]:
    def read(target: str) -> Firmware:
        return read_firmware(emitted_once(made_once, "rl_cc", target))

    return read


def checks_of(firmware: Firmware, profile: str = "ibex-small", demanded: bool = True) -> list[Check]:
    return proved_adapters(firmware, EmulateOptions(profile=profile), demanded, lambda _: None)


@pytest.mark.parametrize("profile", ["ibex-small", PROFILE])
def test_each_device_with_a_specification_has_a_check(firmware, profile: str) -> None:
    found = checks_of(firmware("all"), profile)
    assert [check.id for check in found] == [f"proof.adapter[{target}]" for target in TARGETS]
    assert {check.group for check in found} == {"proof"}
    assert [check.file for check in found] == [f"{target}/{source}" for target, source in TARGETS.items()]
    assert all(check.passed for check in found)


@pytest.mark.parametrize("target", ["generic", "linux-bpf"])
def test_a_device_without_a_specification_has_none(firmware, target: str) -> None:
    assert checks_of(firmware(target)) == []


def test_an_adapter_that_is_not_as_specified_fails_with_an_event(firmware, monkeypatch) -> None:
    read = prove.adapter_sources

    def broken(firmware, device):
        sources = read(firmware, device)
        text = edited(sources.text, "rate_initial_q30 >> 10U", "rate_initial_q30 >> 9U")
        return replace(sources, texts={**sources.texts, sources.main: text.encode()})

    monkeypatch.setattr(prove, "adapter_sources", broken)
    for demanded in (True, False):
        (check,) = checks_of(firmware("connectx6dx"), demanded=demanded)
        assert not check.passed
        assert "rate_q20" in check.detail
        assert "params.rate_initial_q30=0x" in check.detail


@pytest.mark.parametrize(
    ("verdict", "demanded", "passed"),
    [("not proved", True, False), ("not proved", False, True), ("refuted", False, False)],
)
def test_what_is_not_proved_fails_where_a_proof_is_demanded(
    firmware, monkeypatch, verdict: str, demanded: bool, passed: bool
) -> None:
    proof = AdapterProof("connectx6dx", "rlcc_rl_algo.c", ("rl_algo",), verdict, "why it is not")
    monkeypatch.setattr(prove, "prove", lambda *_: proof)
    (check,) = checks_of(firmware("connectx6dx"), demanded=demanded)
    assert check.passed is passed
    assert check.detail == proof.text
    assert ("not demanded" in check.value) is not demanded
