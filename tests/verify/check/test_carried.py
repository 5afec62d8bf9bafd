"""Certificates of what an agent carries from one decision to the next: each feature over all decisions is proved, its
certificate holds, and C that carries something else is refused.

Slow: the variants of each kind of feature, and GCC's code of most; every mutant is refused in the fast suite.
"""

from pathlib import Path
from typing import Any, Literal

import pytest
from drawing import ACTIONS, make_student
from options_by_hand import check_refused, cuts, judge, linked, unbroken
from policy_by_hand import LIMITS

from codegen.emit import emit
from decision.artefact.output import writing
from decision.ir import context_expressions
from decision.ir.context_expressions import Carried, carried_by
from decision.ir.forest import oblivious
from decision.policy.features import history_features
from decision.policy.features.feature import Feature
from decision.policy.student import Student
from emulator.compile import find_gcc
from emulator.firmware import Firmware
from emulator.firmware_folder import built, read_firmware
from emulator.profile import load_profile
from verify.prover.certify import _prove
from verify.prover.prove import prove
from verify.trusted.costs import cycle_model

ENGINE = load_profile("ibex-small")
FEATURES: dict[str, dict[str, Any]] = {
    "average": {"kind": "average", "signal": "rtt_ns", "shift": 2},
    "average of bytes": {"kind": "average", "signal": "sent_bytes", "shift": 7, "unit": 16, "fraction_bits": 4},
    "minimum": {"kind": "minimum", "signal": "rtt_ns"},
    "minimum that rises": {"kind": "minimum", "signal": "rtt_ns", "rise": 5},
    "maximum": {"kind": "maximum", "signal": "sent_bytes", "unit": 64},
    "maximum that falls": {"kind": "maximum", "signal": "sent_bytes", "unit": 64, "fall": 9},
    "above the minimum": {"kind": "above_minimum", "signal": "rtt_ns"},
    "above one that rises": {"kind": "above_minimum", "signal": "rtt_ns", "rise": 9},
    "over the minimum": {"kind": "over_minimum", "signal": "rtt_ns"},
    "over the minimum in 16 bits": {"kind": "over_minimum", "signal": "rtt_ns", "unit": 65536, "share_bits": 16},
    "over one that rises": {"kind": "over_minimum", "signal": "rtt_ns", "rise": 9},
    "streak": {"kind": "streak", "signal": "cnp_count"},
    "streak above a level": {"kind": "streak", "signal": "nack_count", "above": 3, "most": 65535},
    "decaying count": {"kind": "decaying_count", "signal": "cnp_count", "shift": 3},
    "decaying count of many": {"kind": "decaying_count", "signal": "cnp_count", "shift": 7, "most": 1 << 20},
    "interval": {"kind": "interval", "signal": "response_ns"},
}
CHEAP_WITH_GCC = ("minimum", "above the minimum", "streak", "decaying count", "average", "average of bytes", "interval")
MUTANTS: dict[str, tuple[str, str, str]] = {
    "an edited threshold": ("minimum", "rtt_ns_least > 200U", "rtt_ns_least > 201U"),
    "an average of other weight": ("average", "rtt_ns_average_4_scaled >> 2U", "rtt_ns_average_4_scaled >> 3U"),
    "a decay of other speed": ("decaying count", "_of_65535_held >> 3U", "_of_65535_held >> 4U"),
    "a minimum that is a maximum": ("minimum", "(rtt_ns_now < rtt_ns_least_part_", "(rtt_ns_now > rtt_ns_least_part_"),
    "a maximum that is a minimum": ("maximum", "_greatest_held) ?", "_greatest_held + 1U) ?"),
    "a minimum that is not carried": ("minimum", "flow->rtt_ns_least_kept = ", "(void)"),
    "a streak that is not carried": ("streak", "flow->cnp_count_streak_of_255_kept = ", "(void)"),
    "a streak that never ends": ("streak", "_part_15 : 0U", "_part_15 : 1U"),
    "a timestamp that is not carried": ("interval", "flow->response_ns_before_kept = ", "(void)"),
}
"""The feature, text of its emitted C, and what stands there instead."""


def student(feature: dict[str, Any]) -> Student:
    """One tree of four leaves over one feature."""
    return make_student([feature], ACTIONS[0], (oblivious(((0, 3), (0, 200)), (-9000, 4000, 7000, 15000)),), bias=200)


def firmware(name: str, folder: Path) -> Firmware:
    with writing(folder / "student", "student") as work:
        student(FEATURES[name]).save(work)
    emit(folder / "student", folder / "firmware", target="generic", seed=0)
    return read_firmware(folder / "firmware")


@pytest.mark.slow_except("average", "above the minimum", "streak", "decaying count")
@pytest.mark.parametrize("name", FEATURES)
def test_it_is_proved_and_its_certificate_holds(name: str, tmp_path: Path) -> None:
    build = built(firmware(name, tmp_path).folder, profile=ENGINE)
    proof, forms = _prove(build, cycle_model(ENGINE))
    assert proof.proved, proof.failures
    assert judge(build.firmware, build.image, cuts(next(iter(forms)))).bound() == proof.worst.bound


@pytest.mark.slow_except("minimum", "interval")
@pytest.mark.parametrize("name", CHEAP_WITH_GCC)
def test_it_is_proved_as_gcc_compiles_it(name: str, tmp_path: Path) -> None:
    if find_gcc() is None:
        pytest.skip("no RISC-V GCC on this machine")
    build = built(firmware(name, tmp_path).folder, profile=ENGINE, compiler="gcc")
    proof, forms = _prove(build, cycle_model(ENGINE))
    assert proof.proved, proof.failures
    assert judge(build.firmware, build.image, cuts(next(iter(forms)))).bound() == proof.worst.bound


@pytest.mark.slow_except(
    "an average of other weight",
    "a minimum that is not carried",
    "a minimum that is a maximum",
    "a decay of other speed",
    "a timestamp that is not carried",
    "a streak that never ends",
    "a maximum that is a minimum",
    "a streak that is not carried",
)
@pytest.mark.parametrize("what", MUTANTS)
def test_other_c_is_refuted_and_no_certificate_holds_for_it(what: str, tmp_path: Path) -> None:
    name, text, other = MUTANTS[what]
    made = firmware(name, tmp_path)
    source = unbroken((made.folder / "rlcc_policy.c").read_text())
    assert text in source
    (tmp_path / "mutant").mkdir()
    image = linked(made, source.replace(text, other), tmp_path / "mutant")
    proof = prove(image, made.program, made.layouts, ENGINE, limits=LIMITS)
    assert [failure.kind for failure in proof.failures if failure.example], proof.failures
    check_refused(made, image)


def test_every_feature_and_every_expression_is_among_them() -> None:
    classes = [each for each in vars(history_features).values() if isinstance(each, type) and issubclass(each, Feature)]
    own = [each for each in classes if each.__module__ == history_features.__name__ and "kind" in each.model_fields]
    assert {each.model_fields["kind"].annotation for each in own} - {str} == {
        Literal[f["kind"]] for f in FEATURES.values()
    }
    observed = [student(feature).observation for feature in FEATURES.values()]
    found = {type(part) for o in observed for part in carried_by(o.features[0].expression(o.place))}
    classes = [
        each for each in vars(context_expressions).values() if isinstance(each, type) and issubclass(each, Carried)
    ]
    assert found == {each for each in classes if each not in (Carried, context_expressions.InRange)}
