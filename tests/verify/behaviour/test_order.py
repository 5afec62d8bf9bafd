"""Knobs in order: shown where a program takes the greater of two, refuted by an input where it does not, by prover and
checker each."""

from dataclasses import replace

import numpy as np
import pytest
from deciders import decision, policy

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.interfaces.mlfq_thresholds import MLFQ_THRESHOLDS
from decision.ir.program import Op, Program, ProgramBuilder
from verify.behaviour.decide import Behaviour
from verify.behaviour.finding import Finding
from verify.behaviour.order import ascending
from verify.check.order import order_again
from verify.check.refused import Refused
from verify.trusted.certificate import PropertyClaim
from verify.trusted.properties import Ascending

NAMES = MLFQ_THRESHOLDS.knob_names
ENDS = ((2_000, 400_000), (50_000, 4_000_000), (500_000, 20_000_000))
FLOWS = np.array([0, 10, 500, 1_001, 70_000, 2**31])
INPUTS = (dict.fromkeys(MLFQ_THRESHOLDS.event_names, FLOWS * 0) | {"flows_q16": FLOWS}, {}, {})


def program(*raised: bool) -> Program:
    """Three thresholds by a tree; ``raised``: whether the second, and the third, is the greater of two."""
    tree = oblivious(((0, 1000),), ((60_000, 1_000, 100), (100, 60_000, 100)))
    b = ProgramBuilder(Forest(("flows",), (tree,), (0, 0, 0), 16), MLFQ_THRESHOLDS)
    flows = b.event("flows_q16")
    knobs: list[int] = []
    for number, (low, high) in enumerate(ENDS):
        share = b.add(Op.MAX, (b.add(Op.TREES, (flows,), number), b.const(0)))
        above = b.add(Op.MUL_SHR, (share, b.const(high - low)), 16)
        knob = b.add(Op.ADD, (above, b.const(low)))
        if number and raised[number - 1]:
            knob = b.add(Op.MAX, (knob, knobs[-1]))
        knobs.append(knob)
    return b.finish(*knobs)


def claim(findings: list[Finding]) -> PropertyClaim:
    (made,) = Behaviour("", ((Ascending(), tuple(findings)),)).claims()
    return made


def test_the_greater_of_two_is_in_order_for_prover_and_checker() -> None:
    of = program(True, True)
    findings = ascending(of, INPUTS)
    assert [(f.says, f.verdict, f.value) for f in findings] == [
        (f"{NAMES[1]} is never below {NAMES[0]}", "holds", "for all inputs"),
        (f"{NAMES[2]} is never below {NAMES[1]}", "holds", "for all inputs"),
    ]
    order_again(claim(findings), of)


@pytest.mark.parametrize("raised", [(False, True), (True, False), (False, False)])
def test_a_program_whose_knobs_can_be_out_of_order_is_refused(raised: tuple[bool, bool]) -> None:
    of = program(*raised)
    findings = ascending(of, INPUTS)
    assert [f.verdict == "holds" for f in findings] == list(raised)
    for finding in findings:
        assert finding.verdict in ("holds", "fails")
    order_again(claim(findings), of)
    forged = [replace(f, verdict="holds", value="for all inputs", witness={}) for f in findings]
    with pytest.raises(Refused, match="found again"):
        order_again(claim(forged), of)


def test_what_no_input_refutes_is_undecided_and_no_claim() -> None:
    findings = ascending(program(False, False), ({name: c[:0] for name, c in INPUTS[0].items()}, {}, {}))
    assert [f.verdict for f in findings] == ["undecided", "undecided"]
    assert Behaviour("", ((Ascending(), tuple(findings)),)).claims() == []


def test_each_part_of_a_finding_that_is_not_so_is_refused() -> None:
    of = program(False, True)
    fails, holds = ascending(of, INPUTS)
    named = f"event.{MLFQ_THRESHOLDS.event_names[0]}"
    for findings in (
        [fails],
        [fails, replace(holds, value="for some")],
        [fails, replace(holds, witness={"event.flows_q16": 1})],
        [fails, replace(holds, verdict="fails")],
        [replace(fails, value="1 below 2"), holds],
        [replace(fails, witness={}), holds],
        [replace(fails, witness={k: v for k, v in fails.witness.items() if k != named}), holds],
        [replace(fails, witness=fails.witness | {"event.flows_q16": 2**31}), holds],
        [replace(fails, witness=fails.witness | {"event.other": 1}), holds],
        [replace(fails, says="they ascend"), holds],
    ):
        with pytest.raises(Refused):
            order_again(claim(findings), of)


def test_rows_of_a_table_are_in_order_where_each_is() -> None:
    for rows, verdicts in ((((1, 2, 2), (3, 3, 9)), "holds"), (((1, 2, 2), (4, 3, 9)), "fails")):
        b = ProgramBuilder(Forest(("flows",), (), (0,), 0), MLFQ_THRESHOLDS)
        row = b.add(Op.GT, (b.event("flows_q16"), b.const(1000)))
        knobs = []
        for column in zip(*rows, strict=True):
            b.tables.append(column)
            knobs.append(b.add(Op.TABLE, (row,), len(b.tables) - 1))
        of = b.finish(*knobs)
        findings = ascending(of, INPUTS)
        assert [f.verdict for f in findings] == [verdicts, "holds"]
        order_again(claim(findings), of)


def test_an_interface_without_an_order_is_refused_in_a_sentence() -> None:
    of = decision(policy()).program
    with pytest.raises(InputError, match=r"flow_rate .*no knob"):
        ascending(of, ({}, {}, {}))
    with pytest.raises(Refused, match="of no knob"):
        order_again(claim([Finding("ascending", "x", "holds", "")]), of)
