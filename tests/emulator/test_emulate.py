"""`emulate` on hand-written firmware: equality, faults, forbidden code, limits."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator.compile import find_gcc
from emulator.report import from_json
from emulator.run import emulate

Maker = Callable[..., Path]
PROFILES = ("ibex-small", "ibex-maxperf")


@pytest.mark.parametrize("profile", PROFILES)
def test_correct_firmware_passes(firmware_folder: Maker, profile: str) -> None:
    report = emulate(firmware_folder(), profile=profile)
    assert report.passed, report
    assert report.vectors == 6
    assert report.forbidden == ()
    assert report.context_bytes == 8
    assert report.cycles is not None
    assert report.slowest is not None
    assert report.microseconds is not None
    assert 15 < report.cycles.min <= report.cycles.mean <= report.cycles.max < 60
    assert report.slowest.cycles == report.cycles.max
    assert report.microseconds["max"] == pytest.approx(report.cycles.max / report.clock_mhz, abs=1e-6)
    assert json.loads(json.dumps(report.to_json()))["passed"] is True


def test_slowest_vector_is_the_one_on_the_long_path(firmware_folder: Maker, policy_source: str) -> None:
    slow = """\
  const volatile uint32_t *const slow = &event->request_sent_ns;
  if (event->response_ns == 9000U) { (void)*slow; (void)*slow; (void)*slow; (void)*slow; (void)*slow; }
  return flow"""
    report = emulate(firmware_folder(policy=policy_source.replace("  return flow", slow)), profile="ibex-small")
    assert report.passed, report
    assert report.slowest is not None
    assert report.slowest.index == 1
    assert report.slowest.inputs["event.response_ns"] == 9000


WRONG = {
    "rate_q20": "return 7U;",
    "context.rate_q30": "flow->rate_q30 ^= 1U;",
    "context.action_1": "flow->action_1 = 0;",
    "context.seen": "flow->seen = 0;",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_output_is_a_mismatch(firmware_folder: Maker, policy_source: str, name: str) -> None:
    wrong = policy_source.replace("return flow", f"if (flow->seen == 8U) {{ {WRONG[name]} }}\n  return flow")
    report = emulate(firmware_folder(policy=wrong), profile="ibex-small")
    assert f": {name} = " in (report.first_mismatch or "")
    assert report.mismatches == 1
    assert not report.passed
    assert report.first_mismatch is not None
    assert report.first_mismatch.startswith("vector 3 (edge:rtt wraps): ")


def test_threshold_off_by_one_is_seen(firmware_folder: Maker, policy_source: str) -> None:
    report = emulate(firmware_folder(policy=policy_source.replace("> 3U", "> 4U")), profile="ibex-small")
    assert report.mismatches == 2


REFUSED = {
    "division instruction": "flow->rate_q30 = event->response_ns / (params->base_rtt_recip_q32 | 1U); return 0U;",
    "call of __floatunsisf": (
        "const float x = 0.1f * (float)event->response_ns; "
        "flow->rate_q30 = (uint32_t)(x + (float)params->base_rtt_recip_q32); return 0U;"
    ),
    "call of __udivdi3": (
        "const uint64_t a = event->response_ns; "
        "return (uint32_t)((a << 20) / (params->base_rtt_recip_q32 | 1U)) + flow->seen;"
    ),
    "static data: 4 bytes": "static uint32_t n; (void)params; (void)event; n += flow->seen; return n;",
    "loop in rlcc_decide": (
        "uint32_t n = event->response_ns; (void)params; "
        "while (n > 3U) { n = (n >> 1) + *(const volatile uint32_t *)&event->request_sent_ns; } return n + flow->seen;"
    ),
    "indirect call": "return ((uint32_t (*)(uint32_t))event->response_ns)(params->base_rtt_recip_q32) + flow->seen;",
}


@pytest.mark.parametrize("why", REFUSED)
def test_forbidden_code_is_named(firmware_folder: Maker, why: str) -> None:
    signature = "uint32_t rlcc_decide(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params)"
    report = emulate(
        firmware_folder(policy=f'#include "rlcc_policy.h"\n{signature} {{ {REFUSED[why]} }}\n'), profile="ibex-small"
    )
    assert not report.passed
    assert any(why in text for text in report.forbidden), report.forbidden


FAULTS = {
    "store into a": "((rlcc_event *)(uintptr_t)event)->response_ns = 1U;",
    "store out of": "((volatile uint32_t *)flow)[2] = 1U;",
    "load out of": "(void)((const volatile uint32_t *)event)[2];",
    "outside the memory": "*(volatile uint32_t *)0x40000000 = 1U;",
    "trapped at rlcc_decide": "__builtin_trap();",
    "no return within": "for (;;) { (void)*(const volatile uint32_t *)event; }",
}


@pytest.mark.usefixtures("compiler_words")
@pytest.mark.parametrize("why", FAULTS)
def test_fault_on_the_core_is_reported(firmware_folder: Maker, policy_source: str, why: str) -> None:
    faulty = policy_source.replace("return flow", f"if (flow->seen == 8U) {{ {FAULTS[why]} }}\n  return flow")
    report = emulate(firmware_folder(policy=faulty), profile="ibex-small")
    assert report.fault is not None
    expected = "store out of" if "outside the memory" in why else why
    assert report.fault.startswith("vector 3 (edge:rtt wraps): "), report.fault
    assert expected in report.fault
    assert not report.passed


def test_context_over_the_engines_limit_is_refused(firmware_folder: Maker, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "emulator/profiles/ibex-small.toml").read_text()
    small = tmp_path / "tiny.toml"
    small.write_text(text.replace("context_bytes = 120", "context_bytes = 4"))
    report = emulate(firmware_folder(), profile=small)
    assert any(f.startswith("context of 8 bytes") for f in report.oversized)
    assert (report.forbidden, report.passed) == ((), False)


def test_stack_over_the_engines_limit_is_caught(firmware_folder: Maker, policy_source: str) -> None:
    hungry = policy_source.replace(
        "return flow", "volatile uint32_t big[300]; big[flow->seen & 7U] = 1U;\n  return flow"
    )
    report = emulate(firmware_folder(policy=hungry), profile="ibex-small")
    assert report.stack_bytes is not None
    assert report.stack_bytes >= 1200
    assert any(f.startswith("stack of ") for f in report.oversized)
    assert not report.forbidden
    assert report.fault is not None
    assert "out of bounds" in report.fault


@pytest.mark.usefixtures("compiler_words")
def test_static_stack_bounds_the_measured_one(firmware_folder: Maker, policy_source: str) -> None:
    inner = """\
__attribute__((noinline)) static uint32_t inner(uint32_t x) {
  volatile uint32_t words[8] = {x, x, x, x, x, x, x, x};
  return words[x & 7U] + words[7] - words[7];
}
"""
    calls = policy_source.replace("uint32_t rlcc_decide", inner + "uint32_t rlcc_decide")
    calls = calls.replace("return flow->rate_q30 >> 10", "return inner(flow->rate_q30) >> 10")
    report = emulate(firmware_folder(policy=calls), profile="ibex-small")
    assert report.passed, report
    assert report.stack_bytes is not None
    assert 40 <= report.stack_bytes_measured <= report.stack_bytes <= 128


def test_edited_firmware_is_refused(firmware_folder: Maker) -> None:
    folder = firmware_folder()
    with (folder / "rlcc_policy.c").open("a") as file:
        file.write("/* edited */\n")
    with pytest.raises(InputError, match="changed after"):
        emulate(folder, profile="ibex-small")


def test_missing_compiler_names_the_command(firmware_folder: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InputError, match="apt install gcc-riscv64-unknown-elf"):
        emulate(firmware_folder(), profile="ibex-small", compiler="gcc")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"compiler": "icc"}, "unknown compiler 'icc'"),
        ({"opt": "-O2 -o x"}, "optimisation level"),
        ({"profile": "arm"}, "no engine profile 'arm'"),
    ],
)
def test_bad_arguments(firmware_folder: Maker, arguments: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        emulate(firmware_folder(), **{"profile": "ibex-small", **arguments})


def test_c_that_does_not_compile_is_one_sentence(firmware_folder: Maker, policy_source: str) -> None:
    with pytest.raises(InputError, match=r"not compile: .*rlcc_policy.c:.*error") as caught:
        emulate(firmware_folder(policy=policy_source + "x"), profile="ibex-small")
    assert "\n" not in str(caught.value)


def test_compressed_code_and_every_optimisation_level_agree(firmware_folder: Maker, tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "emulator/profiles/ibex-small.toml").read_text()
    compressed = tmp_path / "compressed.toml"
    compressed.write_text(text.replace('isa = "rv32im"', 'isa = "rv32imc"'))
    folder = firmware_folder()
    plain = emulate(folder, profile="ibex-small")
    short = emulate(folder, profile=compressed)
    assert short.passed, short
    assert plain.code_bytes is not None
    assert short.code_bytes is not None
    assert short.code_bytes < plain.code_bytes
    assert short.profile_hash != plain.profile_hash
    for opt in ("-O0", "-O1", "-Os", "-O3"):
        assert emulate(folder, profile="ibex-small", opt=opt).passed


def test_same_input_same_report(firmware_folder: Maker) -> None:
    folder = firmware_folder()
    assert emulate(folder, profile="ibex-maxperf") == emulate(folder, profile="ibex-maxperf")


@pytest.mark.skipif(find_gcc() is None, reason="no RISC-V GCC installed")
@pytest.mark.parametrize("profile", PROFILES)
def test_gcc_is_a_second_compiler(firmware_folder: Maker, profile: str) -> None:
    folder = firmware_folder()
    report = emulate(folder, profile=profile, compiler="gcc")
    assert report.passed, report
    assert report.compiler == "gcc"
    assert report.compiler_version != emulate(folder, profile=profile).compiler_version


@pytest.mark.parametrize(
    ("limit", "what"), [("code_bytes = 64", "code of "), ("table_bytes = 0", "tables of 64 bytes")]
)
def test_code_and_tables_over_the_engines_limits_are_refused(
    firmware_folder: Maker, policy_source: str, tmp_path: Path, limit: str, what: str
) -> None:
    key = limit.split(" = ")[0]
    text = (Path(__file__).parents[2] / "emulator/profiles/ibex-small.toml").read_text()
    small = tmp_path / "tiny.toml"
    small.write_text(text.replace(f"{key} = 16384", limit))
    table = "static const uint32_t table[16] = {1U, 5U, 2U, 7U, 1U, 5U, 2U, 7U, 1U, 5U, 2U, 7U, 1U, 5U, 2U, 7U};\n"
    policy = policy_source.replace("uint32_t rlcc_decide", table + "uint32_t rlcc_decide")
    policy = policy.replace("+ 7U", "+ 7U + 0U * table[flow->seen & 15U] + (table[flow->seen & 15U] >> 3)")
    report = emulate(firmware_folder(policy=policy), profile=small)
    assert [f for f in report.oversized if what in f] == list(report.oversized)
    assert report.oversized
    assert (report.forbidden, report.passed) == ((), False)
    assert from_json(json.loads(json.dumps(report.to_json()))) == report
