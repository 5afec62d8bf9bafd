"""A policy with a start: its C is proved and judged equal to the program; each wrong one is refused by both."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "decision"))

from drawing import FEATURES

from codegen.emit import emit
from decision.actions import TanhMap
from decision.forest import Forest, oblivious
from decision.interfaces.flow_rate import FLOW_START
from decision.manifest import writing
from decision.policy import Limits, Observation
from decision.start import Start
from decision.student import Student
from decision.tree_decision import feature_names
from emulator.compile import compile_policy, link_program, toolchain
from emulator.firmware import Firmware, read_firmware
from emulator.objects import Image, read_image
from emulator.profile import load_profile
from verify.check.judge import Judge
from verify.check.known import Oracle
from verify.check.refused import Refused
from verify.costs import cycle_model
from verify.prove import ENTRY, prove
from verify.prove import Limits as ProofLimits

ENGINE = load_profile("ibex-small")
WRONG = {
    "growth that ends one late": (
        "until_q10 > rtt_inflation_raw_q10) ? rate_grown",
        "until_q10 >= rtt_inflation_raw_q10) ? rate_grown",
    ),
    "a brake one too early": ("rtt_inflation_raw_q10 > brake_above_q10", "rtt_inflation_raw_q10 >= brake_above_q10"),
    "a NACK missed": ("nack_count > 0U", "nack_count > 1U"),
    "a brake in the settled phase": ("rate_q30 > 1073741823U", "rate_q30 > 0U"),
    "the wrong phase after the brake": ("(brakes != 0U) ? 2U", "(brakes != 0U) ? 3U"),
    "a recovery that ends late": ("rate_max_q30 > rate_grown_q30", "rate_max_q30 >= rate_grown_q30"),
    "a new flow that is settled": ("(rate_q30 == 0U) || (phase > 1U)", "(phase > 1U)"),
    "the first response after the brake not passed over": ("rate_made_q30 = v52 + brakes", "rate_made_q30 = v52"),
    "the rate held with its phase": ("rate_held_q32 >> 2U", "rate_q30"),
    "the phase lost by the policy": ("= phase << 30U", "= phase << 31U"),
    "a history of another rate": ("rate_now_q30 << 2U", "rate_now_q30 << 1U"),
}
"""What is wrong: text of the emitted C, and what stands there instead."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Firmware:
    """One tree over the congestion now and at the last response, which a phase's step leaves for the next."""
    folder = tmp_path_factory.mktemp("start")
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    features = {"window": 2, "features": [FEATURES["rl_cc_congestion"]]}
    observation = Observation.model_validate({"interface": FLOW_START.name, **path, **features})
    limits = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "25 %"})
    trees = (oblivious(((1, 4295),), (655, -8192)),)
    forest = Forest(feature_names(observation), trees, (7,), 16)
    action = TanhMap(kind="tanh_map", step=0.2)
    student = Student("drawn", observation, action, limits, forest, "0" * 12, start=Start())
    with writing(folder / "student", "student") as work:
        student.save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


def linked(firmware: Firmware, source: str, folder: Path) -> Image:
    for name in firmware.folder.glob("*.h"):
        (folder / name.name).write_text(name.read_text())
    path = folder / "rlcc_policy.c"
    path.write_text(source)
    policy = compile_policy(path, toolchain(ENGINE), folder=folder)
    return read_image(link_program(policy, ENTRY, ENGINE, folder))


def judge(firmware: Firmware, image: Image, solver: str = "bitwuzla") -> Judge:
    """The checker without a cut: every path of the code from call to return."""
    stack = ENGINE.limits.stack_bytes
    entry, oracle = image.symbols[ENTRY], Oracle(solver)
    return Judge(image, entry, firmware.program, firmware.layouts, (), cycle_model(ENGINE), stack, oracle)


def test_a_start_is_proved_and_judged_equal(firmware: Firmware, tmp_path: Path) -> None:
    image = linked(firmware, (firmware.folder / "rlcc_policy.c").read_text(), tmp_path)
    proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=ProofLimits(worst_seconds=2))
    assert proof.proved, proof.failures
    assert judge(firmware, image).bound() > 0


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_start_is_refused_by_prover_and_checker(what: str, firmware: Firmware, tmp_path: Path) -> None:
    right, (text, other) = (firmware.folder / "rlcc_policy.c").read_text(), WRONG[what]
    assert text in right
    image = linked(firmware, right.replace(text, other), tmp_path)
    proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=ProofLimits(1000, 4000, 5.0, 1.0))
    assert not proof.proved
    with pytest.raises(Refused, match="another value"):
        judge(firmware, image).bound()
