"""A row of a table of knobs that has the greatest of several sums: proved exactly, checked, and wrong ones refused."""

import re
from pathlib import Path

import numpy as np
import pytest
from other_interfaces import emitted, printed
from two_sides import ENGINE, judged, walked

from decision.ir.argmax import argmax
from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.firmware_folder import built as build_folder
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.prover.certify import certify
from verify.prover.joins import _decided
from verify.prover.specialise import _entries

ROWS = ((20_000, 40_000, 655), (20_000, 80_000, 655), (40_000, 80_000, 6554), (80_000, 80_000, 65_536))


def split(feature: int, threshold: int, below: Branch | Leaf, above: Branch | Leaf) -> Branch:
    return Branch(feature, threshold, above=above, below=below)


TREES = tuple(
    split(
        0,
        a,
        split(1, b, Leaf((1, 7 * k, 3, 0)), Leaf((9, 2, k, 4))),
        split(1, c, Leaf((0, 3, 8, k)), Leaf((k, 1, 2, 9))),
    )
    for k, (a, b, c) in enumerate(((40_000, 900, 70_000), (90_000, 5000, 900), (200_000, 900, 5000)))
)


def choice() -> Program:
    b = ProgramBuilder(Forest(("queue", "sent"), TREES, (1, 0, 1, 0), 0), QUEUE_MARKING)
    features = b.event("queue_bytes"), b.event("sent_bytes")
    sums = [b.add(Op.TREES, features, number, f"sum_{number}") for number in range(4)]
    row = argmax(b, sums, "row")
    knobs = []
    for column, knob in zip(zip(*ROWS, strict=True), QUEUE_MARKING.knobs, strict=True):
        b.tables.append(tuple(column))
        knobs.append(b.add(Op.TABLE, (row,), len(b.tables) - 1, knob.name))
    return b.finish(*knobs)


def test_the_choice_is_proved_exactly_and_its_certificate_holds(tmp_path: Path) -> None:
    done = certify(build_folder(emitted(choice(), tmp_path / "firmware"), profile=ENGINE))
    assert done.certificate is not None, (done.problem, done.proof.failures)
    worst = done.certificate.claims.worst_case
    assert worst.exact == worst.rtl_cycles
    assert recheck(done.certificate, done.build).exact


SOURCE = printed(choice())[1]
LINES = re.findall(r"const uint32_t (row_\d) = \((.+) > (.+)\) \? (.+) : (.+);", SOURCE)


@pytest.mark.parametrize("wrong", ["a comparison dropped", "the last of equals", "another row", "a sum not carried on"])
def test_a_wrong_choice_is_refused_by_prover_and_checker(wrong: str, tmp_path: Path) -> None:
    name, more, most, yes, no = LINES[1]
    right = f"{name} = ({more} > {most}) ? {yes} : {no};"
    other = {
        "a comparison dropped": (right, f"{name} = {no};"),
        "the last of equals": (right, f"{name} = ({more} >= {most}) ? {yes} : {no};"),
        "another row": (right, f"{name} = ({more} > {most}) ? 3U : {no};"),
        "a sum not carried on": (f"most_2 = ({more} > {most}) ? {more} : {most};", f"most_2 = {most};"),
    }[wrong]
    assert SOURCE.count(other[0]) == 1
    built = build_folder(emitted(choice(), tmp_path / "firmware", SOURCE.replace(*other)), profile=ENGINE)
    assert certify(built).certificate is None
    assert walked(built)
    with pytest.raises(Refused):
        judged(built)


def test_what_several_sums_decide_together_is_decided_where_all_are_there() -> None:
    program = choice()
    names = [program.nodes[n].name for n in _decided(program)]
    assert {"row_3", "kmin_bytes", "kmax_bytes", "pmax_q16"} <= set(names)
    assert not {"sum_0", "sum_3", "row_2", "most_2"} & set(names)


def test_an_entry_that_all_places_of_a_lane_share_is_known() -> None:
    first, last = (np.array(ends, dtype=np.int64) for ends in ((0, 0, 2, 3, 1, -4), (1, 2, 3, 3, 1, 9)))
    low, high = _entries((5, 5, 7, 4), first, last)
    assert low.tolist() == [5, 5, 4, 4, 5, 4]
    assert high.tolist() == [5, 7, 7, 4, 5, 7]
