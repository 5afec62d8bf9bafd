"""Properties decided again: the words are the prover's own where it is right, and a refusal where it is not.

Slow: further drawn students of the sweeps; the fast suite takes the first of each kind.
"""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from deciders import FALL, RISE, split
from deciders import policy as by_hand
from teacher_pairs import ACTION, CONGESTION, RATIO, policy, student

from decision.artefact.documents import dump_json
from decision.artefact.manifest import Opened, sha256
from decision.ir.forest import Forest, Node, oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE, LINE_RATE_Q30
from decision.ir.program import Op, ProgramBuilder
from decision.ir.program_json import program_to_json
from decision.ir.ranks import with_values
from decision.policy.student import NAME, Student
from emulator.firmware import PROGRAM
from verify.behaviour.decide import Behaviour, decide
from verify.check import cells, circles, loops
from verify.check.behaviour import Policy, behaviour_again
from verify.check.cells import Table
from verify.check.history import History
from verify.check.path import Path as FlowPath
from verify.check.path import direction
from verify.check.refused import Refused
from verify.trusted import wording
from verify.trusted.certificate import PropertyClaim
from verify.trusted.properties import (
    ALL,
    FixedPoint,
    Monotone,
    NoCycle,
    NoRiseAbove,
    Property,
    Recovers,
    Step,
    Yields,
)

ASKED: tuple[Property, ...] = (Monotone(), Step(), Step(at_least=0.5, at_most=1.1), Step(at_most=1.5), NoCycle())
LIMITS: tuple[Property, ...] = (
    *ALL.property,
    Recovers(decisions=100),
    Yields(decisions=50, inflation=8),
    NoRiseAbove(inflation=4),
    FixedPoint(within=0.5, flows=(2, 300)),
)


def firmware_of(of: Student, place: Path) -> Any:
    """What is read of a student's firmware."""
    of.save(place)
    contents = {NAME: (place / NAME).read_bytes(), PROGRAM: dump_json(program_to_json(of.program())).encode()}
    hashes = {name: sha256(content) for name, content in contents.items()}
    manifest = Opened("firmware", "f" * 64, hashes, folder=place, contents=contents)
    return SimpleNamespace(folder=place, program=of.program(), manifest=manifest)


def decided(of: Student, place: Path, *asked: Property) -> tuple[Any, list[PropertyClaim]]:
    firmware = firmware_of(of, place)
    behaviour: Behaviour = decide(firmware, asked or ASKED)
    return firmware, behaviour.claims()


def drawn(seed: int) -> Student:
    """RL-CC's features, a few splits: some of these rest, some go round, some never come back."""
    random = np.random.default_rng(seed)
    trees = [
        split(
            int(random.integers(0, 4)),
            int(random.choice([-500, -1, 0, 5, 300, 9000, 100_000])),
            int(random.integers(-9000, 9000)),
            int(random.integers(-9000, 9000)),
        )
        for _ in range(random.integers(1, 5))
    ]
    return by_hand(*trees, bias=int(random.integers(-3000, 3000)))


@pytest.mark.slow_except("0", "1")
@pytest.mark.parametrize("seed", range(6))
def test_the_provers_findings_are_found_again_word_for_word(seed: int, tmp_path: Path) -> None:
    features = (ACTION, CONGESTION) if seed % 2 else (CONGESTION, ACTION, RATIO)
    firmware, claims = decided(student(policy(features), seed), tmp_path)
    behaviour_again(claims, firmware)
    assert len(claims) == len(ASKED)
    assert {finding.verdict for claim in claims for finding in claim.findings} >= {"fails", "holds"}
    behaviour_again([], firmware)


@pytest.mark.slow_except("1", "4", "7")
@pytest.mark.parametrize("seed", [1, 4, 6, 7, 12])
def test_two_programs_find_the_same_of_what_follows_many_decisions(seed: int, tmp_path: Path) -> None:
    firmware, claims = decided(drawn(seed), tmp_path, *LIMITS)
    behaviour_again(claims, firmware)
    assert {claim.asked["kind"] for claim in claims} >= {"no_cycle", "no_rise_above", "recovers", "yields"}


@pytest.mark.parametrize("trees", [(), (oblivious(((0, 1000),), (50, -50)),)])
def test_a_monotone_student_and_one_that_sees_nothing_are_found_again(trees: tuple[Node, ...], tmp_path: Path) -> None:
    of = student(policy((CONGESTION,), 1), 0)
    firmware, claims = decided(replace(of, forest=replace(of.forest, trees=trees)), tmp_path, Monotone())
    behaviour_again(claims, firmware)
    assert [finding.verdict for finding in claims[0].findings] == ["holds"]


KNOWN: dict[str, tuple[Student, Property, str]] = {
    "always rises": (by_hand(bias=RISE), Recovers(), "least 76"),
    "stays": (by_hand(bias=0), Recovers(), "never"),
    "its last step keeps it down": (by_hand(split(0, -1, FALL, RISE)), Recovers(), "never"),
    "falls above twice the base RTT": (by_hand(split(1, 2048, RISE, FALL)), Yields(), "least 50"),
    "a saw that takes longer than anybody follows": (
        by_hand(split(1, 2048, RISE, FALL)),
        Yields(inflation=2),
        "not in",
    ),
    "alternates": (by_hand(split(0, 0, RISE, FALL)), NoCycle(), "circles of 2"),
    "rests at its target": (by_hand(split(1, 4295, RISE, FALL)), FixedPoint(within=0.01), "off by"),
    "always falls": (by_hand(bias=FALL), NoRiseAbove(), "it never rises"),
}
"""What is known of them by hand, and the beginning of what is found."""


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_by_hand_is_found(name: str, tmp_path: Path) -> None:
    of, asked, value = KNOWN[name]
    firmware, claims = decided(of, tmp_path, asked)
    behaviour_again(claims, firmware)
    assert claims[0].findings[0].value.startswith(value)


def forged(claim: PropertyClaim, number: int, **changes: Any) -> PropertyClaim:
    findings = list(claim.findings)
    findings[number] = findings[number].model_copy(update=changes)
    return claim.model_copy(update={"findings": findings})


def edits(claim: PropertyClaim) -> list[PropertyClaim]:
    """Each single edit of a claim: of its table, of every part of every finding, of their number."""
    made = [claim.model_copy(update={"findings": claim.findings + claim.findings[-1:]})]
    made += [claim.model_copy(update={"findings": claim.findings[:-1]})]
    for key, value in claim.asked.items():
        other = {"kind": "no_loss", "rate": 2**29, "to": 2**20, "flows": [3, 17], "feature": "rate_q30"}
        changed = value + 1 if isinstance(value, int) and key not in other else other.get(key, 0.73)
        made.append(claim.model_copy(update={"asked": claim.asked | {key: changed}}))
        made.append(claim.model_copy(update={"asked": {k: v for k, v in claim.asked.items() if k != key}}))
    made.append(claim.model_copy(update={"asked": claim.asked | {"loss": "none"}}))
    for n, finding in enumerate(claim.findings):
        made += [forged(claim, n, verdict=verdict) for verdict in {"holds", "fails", "found"} - {finding.verdict}]
        made += [forged(claim, n, says="no network loses a packet"), forged(claim, n, says="")]
        digits = [k for k, letter in enumerate(finding.value) if letter.isdigit()]
        for k in digits[:: max(len(digits) // 4, 1)]:
            digit = str((int(finding.value[k]) + 1) % 10)
            made.append(forged(claim, n, value=finding.value[:k] + digit + finding.value[k + 1 :]))
        made.append(forged(claim, n, value="for all inputs"))
        made.append(forged(claim, n, witness=finding.witness | {"context.other": 1}))
        for name in finding.witness:
            made.append(forged(claim, n, witness={k: v for k, v in finding.witness.items() if k != name}))
            made.append(forged(claim, n, witness=finding.witness | {name: 2**62}))
    return made


@pytest.mark.slow_except("of1")
@pytest.mark.parametrize("of", [drawn(6), drawn(1), by_hand(split(0, 0, RISE, FALL), split(1, 300, 900, -900))])
def test_every_single_edit_of_every_property_is_refused(of: Student, tmp_path: Path) -> None:
    firmware, claims = decided(of, tmp_path, *LIMITS)
    checker = Policy(firmware)
    tried, open_ = 0, []
    for claim in claims:
        checker.decide(claim)
        for edit in edits(claim):
            tried += 1
            try:
                checker.decide(edit)
            except Refused:
                continue
            open_.append((claim.asked["kind"], edit))
    assert tried > 200
    assert open_ == []


def test_a_witness_that_shows_less_is_refused(tmp_path: Path) -> None:
    firmware, (claim,) = decided(by_hand(split(3, 0, RISE, 900)), tmp_path, Recovers())
    checker = Policy(firmware)
    ways = checker.recovery.ways
    slowest = int(ways.taken.max())
    assert f"least {slowest}" == claim.findings[0].value
    witness = claim.findings[0].witness
    history = checker.history.kinds(1 << 20)
    faster = int(np.flatnonzero(ways.taken < slowest)[0])
    order = np.argsort(checker.history.kind(history, len(ways.begin)))
    other = {f"context.{name}": int(column[order[faster]]) for name, column in history.items()}
    with pytest.raises(Refused):
        checker.decide(forged(claim, 0, witness=witness | other))


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, list[PropertyClaim]]:
    """A student whose properties need cells, circles and loops, as they were decided."""
    return decided(drawn(6), tmp_path_factory.mktemp("limited"), *LIMITS)


@pytest.mark.parametrize(
    ("module", "name"),
    [(cells, "MAX_CELLS"), (circles, "MAX_STATES"), (loops, "MAX_CONTEXTS"), (loops, "MAX_STATES")],
)
def test_what_is_too_large_is_refused(
    module: Any, name: str, limited: tuple[Any, list[PropertyClaim]], monkeypatch: pytest.MonkeyPatch
) -> None:
    firmware, claims = limited
    monkeypatch.setattr(module, name, 2)
    with pytest.raises(Refused):
        behaviour_again(claims, firmware)


def test_a_policy_that_is_not_the_programs_is_refused(tmp_path: Path) -> None:
    """Other trees, and another leaf: each another decision."""
    of = drawn(6)
    firmware, claims = decided(of, tmp_path)
    others = [
        drawn(7),
        replace(of, forest=replace(of.forest, bias=(of.forest.bias[0] + 1,))),
    ]
    for other in others:
        firmware.manifest = firmware_of(other, tmp_path).manifest
        with pytest.raises(Refused):
            behaviour_again(claims, firmware)
    firmware.manifest = replace(firmware.manifest, contents={})
    with pytest.raises(Refused):
        behaviour_again(claims, firmware)


def test_parameters_that_the_program_has_as_constants_are_the_students(tmp_path: Path) -> None:
    from codegen.emit import program_of

    of = drawn(6)
    firmware, claims = decided(of, tmp_path)
    firmware.program = program_of(of, ("rate_max_q30", "base_rtt_recip_q42"))
    behaviour_again(claims, firmware)
    other = of.with_parts(limits=of.limits.model_copy(update={"rate_max": 2**29}))  # type: ignore[union-attr]
    firmware.program = program_of(other, ("rate_max_q30",))
    with pytest.raises(Refused):
        behaviour_again(claims, firmware)


@pytest.mark.parametrize("seed", [0, 2, 6])
def test_a_signal_is_above_an_edge_from_that_rtt_on(seed: int, tmp_path: Path) -> None:
    of = drawn(seed)
    path = FlowPath.of(History.of(Table.of(with_values(of.program()), of)), of.observation)
    node = next(iter(path.history.seen))
    random = np.random.default_rng(seed)
    rates = np.asarray([LINE_RATE_Q30, 2**20, 1074])
    edges = random.integers(0, 2**20, 3)
    first = path.first_above(node, edges, rates)
    for rtt, above in ((first - 1, False), (first, True), (first + 1000, True)):
        inside = (rtt >= 0) & (rtt < 2**32)
        values = path.values(np.clip(rtt, 0, 2**32 - 1), path.at_rates(rates))[node]
        assert ((values > edges) == above)[inside].all()


def test_directions_are_told_by_operators() -> None:
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_RATE)
    rtt = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.event("request_sent_ns")))
    less = b.add(Op.SUB, (b.const(2**32), rtt))
    wraps = b.add(Op.WRAP_SUB, (b.event("response_ns"), b.const(5)))
    both = b.add(Op.ADD, (rtt, less))
    asked = b.add(Op.GT, (b.const(9), rtt))
    chosen = b.add(Op.SELECT, (asked, b.const(1), b.const(2)))
    held = b.add(Op.MIN, (b.const(3), b.event("cnp_count")))
    program = b.finish(b.const(1))
    assert [direction(program, n) for n in (rtt, less, wraps, both, asked, chosen, held)] == [
        1,
        -1,
        None,
        None,
        -1,
        None,
        0,
    ]


def test_a_rank_that_no_value_has_is_not_read_as_one(tmp_path: Path) -> None:
    """A past signal above 2^32 - 1: no value is, and a corrupted rank could be. The context keeps the value then, and a
    program that keeps the rank all the same is none of the student's."""
    from codegen.passes.ranks import chains, with_ranks

    now, before = split(1, 700, 0, -10), split(3, 5000, 0, -50)
    of = by_hand(split(3, 2**32 - 1, 0, RISE), now, before)
    firmware, claims = decided(of, tmp_path, Step(at_most=1.0))
    behaviour_again(claims, firmware)
    program = of.program()
    assert chains(program) == ()
    (chain,) = chains(by_hand(split(3, 2**32 - 2, 0, RISE), now, before).program())
    firmware.program = with_ranks(program, [replace(chain, thresholds=(5000, 2**32 - 1))])
    assert with_values(firmware.program) == firmware.program
    with pytest.raises(Refused):
        behaviour_again(claims, firmware)


def test_the_theory_that_a_policy_is_held_to_stands_in_the_words(tmp_path: Path) -> None:
    """The target is in no program: with another one the claim is another claim."""
    of = by_hand(split(1, 4295, RISE, FALL))
    kinds = [f.model_copy(update={"target": 0.5}) if hasattr(f, "target") else f for f in of.observation.features]
    other = of.with_parts(observation=of.observation.model_copy(update={"features": kinds}))
    assert other.program() == of.program()
    (says,), (said,) = (
        [claim.findings[0].says for claim in decided(each, tmp_path, FixedPoint())[1]] for each in (of, other)
    )
    assert says != said
    firmware, claims = decided(other, tmp_path, FixedPoint())
    firmware.manifest = firmware_of(of, tmp_path).manifest
    with pytest.raises(Refused):
        behaviour_again(claims, firmware)


def test_a_policy_that_sees_and_remembers_nothing_is_decided(tmp_path: Path) -> None:
    firmware, claims = decided(by_hand(bias=RISE), tmp_path, NoCycle(), Step())
    assert [claim.findings[0].verdict for claim in claims] == ["holds", "found"]
    behaviour_again(claims, firmware)


def test_a_defect_of_the_checker_leaves_a_property_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rlcc.gate.behaviour import decided_twice

    def broken(*_: Any) -> None:
        raise ValueError("a defect")

    firmware = firmware_of(drawn(6), tmp_path)
    monkeypatch.setattr(Policy, "findings", broken)
    assert [finding.verdict for finding in decided_twice(firmware, [Step()]).findings] == ["undecided"]


@pytest.mark.parametrize("table", [{"length": 8.0}, {"length": True}, {"length": "8"}])
def test_a_table_of_other_types_is_refused(table: dict[str, Any], tmp_path: Path) -> None:
    firmware, (claim,) = decided(by_hand(split(0, 0, RISE, FALL)), tmp_path, NoCycle())
    with pytest.raises(Refused):
        behaviour_again([claim.model_copy(update={"asked": claim.asked | table})], firmware)


def test_flows_whose_share_is_below_the_lowest_rate_have_no_fixed_point(tmp_path: Path) -> None:
    of = by_hand(split(1, 4295, RISE, FALL))
    of = of.with_parts(limits=of.limits.model_copy(update={"rate_min": LINE_RATE_Q30 // 2}))  # type: ignore[union-attr]
    assert decided(of, tmp_path, FixedPoint(flows=(2, 8192)))[1] == []
    firmware, (claim,) = decided(of, tmp_path, FixedPoint(flows=(1, 2)))
    behaviour_again([claim], firmware)


def test_limits_are_told_as_they_are() -> None:
    assert [wording.exact(x) for x in (0.8, 16.0, 0.9670715)] == ["0.8", "16", "0.9670715"]
    assert [wording.share_of_line(2**30 // n) for n in (64, 8192)] == ["line rate / 64", "line rate / 8192"]
    assert wording.share_of_line(LINE_RATE_Q30) == "line rate"
    assert wording.share_of_line(round(0.68 * LINE_RATE_Q30)) == "line rate / 1.47059"
