"""Properties decided again: the words are the prover's own where it is right, and a refusal where it is not."""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "teacher"))

from teacher_pairs import ACTION, CONGESTION, RATIO, policy, student

from decision.documents import dump_json
from decision.forest import Node, oblivious
from decision.student import NAME, Student
from emulator.firmware import PROGRAM
from verify.behaviour.decide import Behaviour, decide
from verify.behaviour.properties import Monotone, NoCycle, Property, Step
from verify.certificate import BOTH, PROVER, PropertyClaim
from verify.check import behaviour as module
from verify.check.behaviour import behaviour_again
from verify.check.refused import Refused

ASKED: tuple[Property, ...] = (Monotone(), Step(), Step(at_least=0.5, at_most=1.1), Step(at_most=1.5), NoCycle())


def folder(of: Student, place: Path) -> Any:
    of.save(place)
    (place / PROGRAM).write_text(dump_json(of.program().to_json()))
    firmware = SimpleNamespace(folder=place, program=of.program(), hash="f" * 64)
    return SimpleNamespace(firmware=firmware, program=of.program())


def decided(of: Student, place: Path, *asked: Property) -> tuple[Any, list[PropertyClaim]]:
    built = folder(of, place)
    behaviour: Behaviour = decide(built.firmware, asked or ASKED)
    return built, behaviour.claims()


def again(built: Any, claims: list[PropertyClaim]) -> None:
    behaviour_again(SimpleNamespace(behaviour=claims), built)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(6))
def test_the_provers_findings_are_found_again_word_for_word(seed: int, tmp_path: Path) -> None:
    features = (ACTION, CONGESTION) if seed % 2 else (CONGESTION, ACTION, RATIO)
    built, claims = decided(student(policy(features), seed), tmp_path)
    again(built, claims)
    assert [claim.decided for claim in claims] == [BOTH] * 4 + [PROVER]
    assert {finding.verdict for claim in claims for finding in claim.findings} >= {"fails", "holds"}
    again(built, [])


@pytest.mark.parametrize("trees", [(), (oblivious(((0, 1000),), (50, -50)),)])
def test_a_monotone_student_and_one_that_sees_nothing_are_found_again(trees: tuple[Node, ...], tmp_path: Path) -> None:
    of = student(policy((CONGESTION,), 1), 0)
    built, claims = decided(replace(of, forest=replace(of.forest, trees=trees)), tmp_path, Monotone())
    again(built, claims)
    assert [finding.verdict for finding in claims[0].findings] == ["holds"]


def forged(claim: PropertyClaim, number: int, **changes: Any) -> PropertyClaim:
    findings = list(claim.findings)
    findings[number] = findings[number].model_copy(update=changes)
    return claim.model_copy(update={"findings": findings})


def test_each_part_of_a_finding_that_is_not_so_is_refused(tmp_path: Path) -> None:
    built, claims = decided(student(policy(), 1), tmp_path)
    rising, bounded, limited, within, circles = claims
    fails = next(n for n, finding in enumerate(rising.findings) if finding.verdict == "fails")
    finding = rising.findings[fails]
    name = finding.says.split()[1]
    for claim in (
        forged(rising, fails, verdict="holds"),
        forged(rising, fails, value="at each of 9 thresholds", verdict="holds"),
        forged(rising, fails, value=finding.value.replace("0.", "0.0")),
        forged(rising, fails, says="more of nothing never raises the multiplier"),
        forged(rising, fails, witness=finding.witness | {name: 2**24 - 1}),
        forged(rising, fails, witness={}),
        rising.model_copy(update={"findings": rising.findings[:-1]}),
        rising.model_copy(update={"decided": PROVER}),
        forged(bounded, 0, value="0.90000 to 1.10000 over all cells"),
        forged(bounded, 0, verdict="holds"),
        forged(bounded, 0, witness=dict.fromkeys(bounded.findings[0].witness, 2**40)),
        forged(limited, 0, verdict="holds"),
        limited.model_copy(update={"asked": limited.asked | {"at_most": 1.5}}),
        forged(within, 0, verdict="found"),
        circles.model_copy(update={"decided": BOTH}),
    ):
        with pytest.raises(Refused):
            again(built, [claim])


def test_a_witness_that_shows_less_is_refused(tmp_path: Path) -> None:
    built, (_, bounded, *_) = decided(student(policy(), 1), tmp_path)
    table = module.Table.of(built.program, student(policy(), 1))
    ends = (table.value.min(), table.value.max())
    (finding,) = bounded.findings
    for zero in (dict.fromkeys(finding.witness, value) for value in (0, 100, 10_000)):
        at = tuple(
            int(module.np.searchsorted(cuts, zero[name], side="left"))
            for name, cuts in zip(table.names, table.edges, strict=True)
        )
        if table.value[at] not in ends:
            with pytest.raises(Refused, match="does not show it"):
                again(built, [forged(bounded, 0, witness=zero)])
            return
    pytest.fail("all of these states are extremes")


def test_what_is_too_large_or_no_student_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, claims = decided(student(policy(), 1), tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(module, "MOST_CELLS", 2)
        with pytest.raises(Refused, match="too large"):
            again(built, claims)
    (tmp_path / NAME).unlink()
    with pytest.raises(Refused, match="distilled policies"):
        again(built, claims)


def test_what_nobody_could_decide_is_the_provers_word(tmp_path: Path) -> None:
    built, _ = decided(student(policy(), 1), tmp_path)
    finding = {"says": "monotone", "verdict": "undecided", "value": "too many", "witness": {}}
    claim = PropertyClaim.model_validate({"asked": {"kind": "monotone"}, "findings": [finding], "decided": PROVER})
    again(built, [claim])
