"""A witness of a run is another true one where the run from it takes as many decisions.

Slow: a run without an end; the fast suite has runs that end.
"""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from deciders import FALL, RISE, split
from deciders import policy as by_hand

from bench.forge import truth
from bench.forge.arrivals import decisions
from bench.forge.judges import JudgeAnswer
from bench.forge.subjects import ForgerySubject
from bench.forge.truth import TruthCase
from decision.artefact.documents import dump_json
from decision.artefact.manifest import Opened, sha256
from decision.ir.forest import Node
from decision.ir.program_json import program_from_json, program_to_json
from decision.policy.student import NAME
from emulator.firmware import PROGRAM
from verify.behaviour.decide import decide
from verify.trusted.properties import Property, Recovers, Yields

ASKED: tuple[Property, ...] = (Recovers(decisions=200), Yields(decisions=200, inflation=8))
TREES = split(1, 0, RISE, FALL), split(3, 300, -RISE // 2, RISE // 2)
"""Falls in congestion and rises without; a little more or less by the congestion before."""


def case_of(subject: ForgerySubject, *trees: Node) -> TruthCase:
    """A policy in the subject's firmware folder."""
    student = by_hand(*trees)
    student.save(subject.files.firmware)
    (subject.files.firmware / PROGRAM).write_bytes(dump_json(program_to_json(student.program())).encode())
    return TruthCase(subject, "certificate", (), "", {}, {}, subject.files, JudgeAnswer("check", "accepted", ""))


def claimed(case: TruthCase, asked: Property) -> Any:
    """The prover's claim of one property."""
    folder = case.subject.files.firmware
    contents = {name: (folder / name).read_bytes() for name in (NAME, PROGRAM)}
    hashes = {name: sha256(content) for name, content in contents.items()}
    manifest = Opened("firmware", "f" * 64, hashes, folder=folder, contents=contents)
    program = program_from_json(json.loads(contents[PROGRAM]))
    firmware: Any = SimpleNamespace(folder=folder, program=program, manifest=manifest)
    return decide(firmware, [asked]).claims()[0].model_dump(mode="json")


@pytest.mark.parametrize("asked", ASKED, ids=lambda p: p.kind)
def test_another_start_of_as_long_a_run_shows_the_same(subject: ForgerySubject, asked: Property) -> None:
    case = case_of(subject, *TREES)
    claim = claimed(case, asked)
    ours = claim["findings"][0]["witness"]
    count = decisions(case.files, claim["asked"], ours)
    assert claim["findings"][0]["value"] == f"least {count}"
    starts = [{**ours, "context.congestion_q20_1": n} for n in (0, 300, 301, 1 << 20)]
    counts = [decisions(case.files, claim["asked"], start) for start in starts]
    assert counts[0] == counts[1] != counts[2] == counts[3]
    for start, taken in zip(starts, counts, strict=True):
        assert truth._shows(case, claim, ours, start) == (taken == count)


@pytest.mark.parametrize("asked", ASKED, ids=lambda p: p.kind)
@pytest.mark.parametrize("change", [{"context.rate_q30": 1 << 29}, {"context.more": 1}])
def test_a_run_starts_with_a_context_at_its_first_rate(
    subject: ForgerySubject, asked: Property, change: dict[str, int]
) -> None:
    case = case_of(subject, *TREES)
    claim = claimed(case, asked)
    with pytest.raises(ValueError, match="first rate"):
        decisions(case.files, claim["asked"], claim["findings"][0]["witness"] | change)


@pytest.mark.slow
def test_a_run_without_an_end_shows_nothing(subject: ForgerySubject) -> None:
    case = case_of(subject, split(1, 0, RISE, RISE), split(3, 300, -1, 1))
    claim = claimed(case, ASKED[1])
    witness = claim["findings"][0]["witness"]
    assert claim["findings"][0]["verdict"] == "fails"
    assert decisions(case.files, claim["asked"], witness) is None
    other = {**witness, "context.congestion_q20_1": 300 if witness["context.congestion_q20_1"] > 300 else 301}
    assert decisions(case.files, claim["asked"], other) is None
    assert not truth._shows(case, claim, witness, other)
