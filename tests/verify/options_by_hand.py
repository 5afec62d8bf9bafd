"""A small student of flows with options: its firmware, the code of other C in its place, the checker over all of it."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from drawing import FEATURES
from policy_by_hand import LIMITS

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.ir.forest import Node as Tree
from decision.ir.interfaces.flow_rate import flow_interface
from decision.policy.actions import TanhMap
from decision.policy.in_flight import InFlight
from decision.policy.policy import Header, Limits, Observation
from decision.policy.start import Start
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from emulator.compile import compile_policy, link_program, toolchain
from emulator.elf import Image, read_image
from emulator.firmware import Firmware
from emulator.firmware_folder import built, read_firmware
from emulator.profile import load_profile
from verify.check import solver
from verify.check.judge import Cut, Judge
from verify.check.path_facts import Oracle
from verify.check.refused import Refused
from verify.prover.certify import _prove
from verify.prover.prove import ENTRY, Attempt, Proof, prove
from verify.prover.prove import Limits as ProofLimits
from verify.trusted.certificate import CutClaim
from verify.trusted.costs import cycle_model

ENGINE = load_profile("ibex-small")


ONE = (oblivious(((1, 4295),), (655, -8192)),)


def small_firmware(
    folder: Path,
    options: Collection[str],
    trees: tuple[Tree, ...] = ONE,
    features: Sequence[Any] = (FEATURES["rl_cc_congestion"],),
    window: int = 2,
    started: Start | None = None,
) -> Firmware:
    """Trees (just one) over the congestion now and at the last response, which a phase's step leaves for the next."""
    path = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    told = {"window": window, "features": features, "device_rate": "device_rate" in options}
    told |= {"acks": "acks" in options, "rtt_slack": "rtt_slack" in options}
    told |= {"target_ratio": 2} if "target_ratio" in options else {}
    observation = Observation.model_validate({"interface": flow_interface(options).name, **path, **told})
    limits = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "25 %"})
    forest = Forest(feature_names(observation), trees, (7,), 16)
    action = TanhMap(kind="tanh_map", step=0.2)
    start = (started or Start()) if "start" in options else None
    in_flight = InFlight() if "in_flight" in options else None
    header = Header(observation=observation, action=action, limits=limits, start=start, in_flight=in_flight)
    student = Student("drawn", header, forest, "0" * 12)
    with writing(folder / "student", "student") as work:
        student.save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


def linked(firmware: Firmware, source: str, folder: Path, compiler: str = "clang") -> Image:
    for name in firmware.folder.glob("*.h"):
        (folder / name.name).write_text(name.read_text())
    path = folder / "rlcc_policy.c"
    path.write_text(source)
    policy = compile_policy(path, toolchain(ENGINE, compiler), folder=folder)
    return read_image(link_program(policy, ENTRY, ENGINE, folder))


def judge(firmware: Firmware, image: Image, cuts: tuple[Cut, ...] = ()) -> Judge:
    """The checker; without a cut on every path of the code from call to return."""
    stack = ENGINE.limits.stack_bytes
    entry, oracle = image.symbols[ENTRY], Oracle()
    return Judge(image, entry, firmware.program, firmware.layouts, cuts, cycle_model(ENGINE), stack, oracle)


def check_refused(firmware: Firmware, image: Image) -> None:
    """Asserts that the checker refuses the code, on all of its paths and without a cut. Its solver has a fifth of its
    time a question: what has no answer by then is refused either way, and a wrong product seldom has one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(solver, "MILLISECONDS", solver.MILLISECONDS // 5)
        with pytest.raises(Refused):
            judge(firmware, image).bound()


def certified(firmware: Firmware) -> tuple[Image, Proof, tuple[Cut, ...]]:
    """The linked C, its proof and the cuts of its certificate."""
    image, proof, forms = certified_in_forms(firmware)
    return image, proof, next(forms)


def certified_in_forms(firmware: Firmware) -> tuple[Image, Proof, Iterator[tuple[Cut, ...]]]:
    """The same with all forms of the cuts."""
    build = built(firmware.folder, profile=ENGINE)
    proof, forms = _prove(build, cycle_model(ENGINE))
    assert proof.proved, proof.failures
    assert forms is not None
    return build.image, proof, map(cuts, forms)


def check_certified(firmware: Firmware) -> None:
    """Asserts that the emitted C is proved, and that the checker follows its certificate to the same bound."""
    image, proof, claimed = certified(firmware)
    assert proof.worst
    assert judge(firmware, image, claimed).bound() == proof.worst.bound


def cuts(claims: Iterable[CutClaim]) -> tuple[Cut, ...]:
    """As the checker takes them."""
    return tuple(Cut(c.pc, c.holds, {text: (low, high) for text, (low, high) in c.bounds.items()}) for c in claims)


def proved(firmware: Firmware, folder: Path) -> Image:
    """The emitted C, which the prover finds equal to the program."""
    image = linked(firmware, (firmware.folder / "rlcc_policy.c").read_text(), folder)
    proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=ProofLimits(worst_seconds=2))
    assert proof.proved, proof.failures
    return image


def unbroken(source: str) -> str:
    """The C with each statement on one line, where a text of it is looked for."""
    return re.sub(r"\n +(?=[?:=|&] |\|\||&&)", " ", source)


@contextmanager
def without_example() -> Iterator[None]:
    """While it lasts, no solver looks for an input that shows what is not proved: it takes seconds a return, and
    decides nothing of whether something is proved. tests/verify/prover/test_refutation.py tests it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Attempt, "solved", lambda _, failure: failure)
        yield


def not_proved(firmware: Firmware, edits: Mapping[str, str], folder: Path) -> tuple[Image, Proof]:
    """The emitted C with other texts in the place of some, which the prover does not find equal."""
    source = unbroken((firmware.folder / "rlcc_policy.c").read_text())
    for text, other in edits.items():
        assert text in source
        source = source.replace(text, other)
    image = linked(firmware, source, folder)
    with without_example():
        proof = prove(image, firmware.program, firmware.layouts, ENGINE, limits=LIMITS)
    assert not proof.proved
    return image, proof
