"""The host runner: equality with the vectors, and undefined behaviour that the sanitizer must stop."""

from collections.abc import Callable
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator.host import host_compilers, run_on_host

Maker = Callable[..., Path]
COMPILERS = sorted(host_compilers())


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("opt", ["-O0", "-O2"])
def test_correct_firmware_passes(firmware_folder: Maker, compiler: str, opt: str) -> None:
    report = run_on_host(firmware_folder(), compiler=compiler, opt=opt)
    assert report.passed, report
    assert report.vectors == 6
    assert report.compiler_version


@pytest.mark.parametrize("compiler", COMPILERS)
def test_a_wrong_output_is_a_mismatch(firmware_folder: Maker, policy_source: str, compiler: str) -> None:
    wrong = policy_source.replace("(flow->seen + 1U)", "((flow->seen == 65535U) ? 1U : flow->seen + 1U)")
    report = run_on_host(firmware_folder(policy=wrong), compiler=compiler)
    assert report.mismatches == 1
    assert report.first_mismatch is not None
    assert report.first_mismatch.startswith("vector 2 (edge:congested): context.seen = 1, expected 0")


UNDEFINED = {
    "shift": "flow->rate_q30 = 1U << (flow->seen + 30U);",
    "signed overflow": "{ int32_t big = 2147483647 - 7; big += (int32_t)flow->seen; flow->rate_q30 = (uint32_t)big; }",
    "null": "*(volatile uint32_t *)(uintptr_t)(flow->seen - 8U) = 1U;",
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("why", UNDEFINED)
def test_undefined_behaviour_stops_the_run(firmware_folder: Maker, policy_source: str, compiler: str, why: str) -> None:
    bad = policy_source.replace("return flow", f"if (flow->seen == 8U) {{ {UNDEFINED[why]} }}\n  return flow")
    report = run_on_host(firmware_folder(policy=bad), compiler=compiler)
    assert report.fault is not None
    assert "vector 3 (edge:rtt wraps)" in report.fault
    assert not report.passed


def test_layout_that_the_compiler_does_not_share_is_refused(firmware_folder: Maker) -> None:
    header = (firmware_folder(name="good") / "rlcc_policy.h").read_text()
    bigger = header.replace("uint16_t seen; }", "uint16_t seen; uint32_t more; }")
    with pytest.raises(InputError, match="size differs"):
        run_on_host(firmware_folder(header=bigger, name="bad"))


def test_unknown_compiler_is_one_sentence(firmware_folder: Maker) -> None:
    with pytest.raises(InputError, match="no host compiler 'msvc'"):
        run_on_host(firmware_folder(), compiler="msvc")


def test_c_that_does_not_end_is_stopped(
    firmware_folder: Callable[..., Path], policy_source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("emulator.host.TIMEOUT_S", 0.5)
    endless = policy_source.replace(
        "  return", "  while (flow->seen != event->response_ns) { flow->seen ^= 1U; }\n  return"
    )
    report = run_on_host(firmware_folder(policy=endless), compiler="clang")
    assert not report.passed
    assert "after 0.5 s" in (report.fault or "")
