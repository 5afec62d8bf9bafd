"""Ratios as threshold tests: the identity on every small division, that decisions stay, and that errors show."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from drawing import ACTIONS, FEATURES, make_student

from codegen.emit import emit, ranked
from codegen.lower import Options
from codegen.passes.ratios import ratios, with_multiples
from codegen.tree_body import StudentBody
from decision.artefact.output import writing
from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate, trace
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.quotients import Division, divided, division_of
from decision.ir.ranks import same_decision, with_values
from decision.policy.student import Student
from emulator.firmware_folder import read_firmware
from emulator.host import run_on_host
from rlcc.gate.emission_check import checked_program

EVENTS = ("cnp_count", "nack_count", "sent_bytes", "request_sent_ns", "response_ns")


def student(window: int = 1, most: int = 255) -> Student:
    trees = (
        oblivious(((0, 40), (1, 130)), (655, 0, -3000, -8192)),
        oblivious(((0, 0), (1, most)), (55, 20, -300, 892)),
        oblivious(((0, 87), (0, 200)), (-90, 7, 11, 100)),
    )
    made: Student = make_student([FEATURES["nack_ratio"], FEATURES["cnp_ratio"]], ACTIONS[0], trees, window=window)
    return made


def with_tests(program: Program) -> Program:
    return with_multiples(program, ratios(program))


def knobs(program: Program, params: dict[str, int]) -> np.ndarray:
    """The rates for divisors from 0 on, small dividends, and every magnitude of both."""
    rng = np.random.default_rng(3)
    small = np.stack(np.meshgrid(np.arange(40), np.arange(40)), -1).reshape(-1, 2)
    bits = rng.integers(0, 33, (100_000, 2))
    drawn = rng.integers(0, 2**32, bits.shape, dtype=np.uint64).astype(np.int64) >> (32 - bits)
    counts, sent = np.concatenate([small * (1, 1024), small * (1, 1000), drawn]).T
    event = {name: np.zeros(len(sent), dtype=np.int64) for name in program.interface.event_names}
    event |= {"nack_count": counts, "cnp_count": counts[::-1].copy(), "sent_bytes": sent}
    context = {s.name: np.zeros(len(sent), dtype=np.int64) for s in program.state}
    return evaluate(program, event, params, context)[0][0]


@pytest.mark.parametrize("bits", [1, 2, 3])
@pytest.mark.parametrize("whole", [0, 1, 2])
def test_a_ratio_is_above_a_threshold_where_the_dividend_is_above_its_multiple(bits: int, whole: int) -> None:
    for most in range(1, 9):
        for over in range(most + 1):  # 0 counts as 1
            divisor = max(over, 1)
            for count in range(3 * most << whole):
                quotient = (count << bits) // divisor if count < divisor << whole else 1 << bits + whole
                dividend = (min(count, most << whole) << bits) + 1
                for t in range(1 << bits + whole):
                    assert (quotient > t) == (dividend > (t + 1) * divisor)


@pytest.mark.parametrize("whole", [0, 1, 4])
def test_a_division_is_read_back_and_is_the_quotient_up_to_its_end(whole: int) -> None:
    made = student()
    b = ProgramBuilder(made.forest, FLOW_RATE)
    over = b.add(Op.MAX, (b.add(Op.SHR, (b.event("sent_bytes"),), 12), b.const(1)))
    division = Division(b.event("cnp_count"), over, b.nodes[over].high, 8, whole)
    number = divided(b, division)
    program = Program(b.interface, tuple(b.nodes), (), (), b.forest)
    assert division_of(program, number) == division
    rng = np.random.default_rng(5)
    count, sent = (
        rng.integers(0, 2**32, (2, 20_000), dtype=np.uint64) >> rng.integers(0, 32, (2, 20_000), np.uint64)
    ).astype(np.int64)
    event = {name: np.zeros(20_000, np.int64) for name in FLOW_RATE.event_names} | {
        "cnp_count": count,
        "sent_bytes": sent,
    }
    divisor = np.maximum(sent >> 12, 1)
    expected = np.minimum((count << 8) // divisor, 1 << 8 + whole)
    assert np.array_equal(trace(program, event, made.params(), {})[number], expected)
    assert (expected < 1 << 8 + whole).sum() > 3000 < (expected == 1 << 8 + whole).sum()


def test_a_ratio_up_to_four_is_asked_for_by_multiples_and_read_back() -> None:
    ratio = {"kind": "ratio", "of": "sent_bytes", "over": "acked_bytes", "over_unit": 1024, "at_most": 4}
    trees = (oblivious(((0, 256), (0, 300)), (655, 0, -3000, -8192)), oblivious(((0, 1023),), (55, -20)))
    made = make_student([ratio], ACTIONS[0], trees, acks=True)
    program = made.program()
    rewritten = with_tests(program)
    assert [each.whole_bits for each in ratios(program).values()] == [2]
    assert same_decision(with_values(rewritten), program)
    rng = np.random.default_rng(4)
    event = {
        name: rng.integers(0, 2**32, 50_000) >> rng.integers(0, 32, 50_000) for name in program.interface.event_names
    }
    context = {s.name: np.zeros(50_000, np.int64) for s in program.state}
    one, other = (evaluate(each, event, made.params(), context)[0][0] for each in (program, rewritten))
    assert np.array_equal(one, other)
    assert len(np.unique(one)) == 3


def test_threshold_tests_decide_as_the_division_does() -> None:
    made = student()
    program = made.program()
    rewritten = with_tests(program)
    assert len(ratios(program)) == 2
    assert len(rewritten.nodes) < len(program.nodes) / 2
    expected = knobs(program, made.params())
    assert len(np.unique(expected)) > 5
    assert np.array_equal(knobs(rewritten, made.params()), expected)
    assert same_decision(with_values(rewritten), program)
    assert not same_decision(rewritten, program)
    assert ratios(rewritten) == {}


def test_what_else_needs_a_quotient_keeps_the_division() -> None:
    kept = student(window=2)
    kept = replace(kept, forest=replace(kept.forest, trees=(*kept.forest.trees, oblivious(((2, 9),), (1, 2)))))
    assert list(ratios(kept.program())) == [1]  # the context keeps the first ratio
    assert list(ratios(student(most=256).program())) == [0]  # no ratio is above 1


def test_a_divisor_of_zero_or_a_word_too_wide_is_no_division() -> None:
    def of(lifted: int, fraction_bits: int, shift: int = 8) -> Division | None:
        b = ProgramBuilder(student().forest, FLOW_RATE)
        count = b.event("cnp_count")
        over = b.add(Op.MAX, (b.add(Op.SHR, (b.event("sent_bytes"),), shift), b.const(lifted)))
        number = divided(b, Division(count, over, b.nodes[over].high, fraction_bits))
        return division_of(Program(b.interface, tuple(b.nodes), (), (), b.forest), number)

    assert of(1, 8) is not None
    assert of(0, 8) is None
    with pytest.raises(Exception, match="not defined"):
        of(1, 9)


@pytest.mark.parametrize("wrong", [1, -1])
def test_another_factor_is_another_decision(wrong: int) -> None:
    made = student()
    program = made.program()
    rewritten = with_tests(program)
    multiples = [n.args[1] for n in rewritten.nodes if n.op is Op.MUL and n.args[1] != n.args[0]]
    told = 0
    for number in {m for m in multiples if rewritten.nodes[m].op is Op.CONST and 1 < rewritten.nodes[m].imm < 256}:
        value = rewritten.nodes[number].imm + wrong
        nodes = list(rewritten.nodes)
        nodes[number] = replace(nodes[number], imm=value, low=value, high=value)
        mutant = replace(rewritten, nodes=tuple(nodes))
        assert not same_decision(with_values(mutant), program)
        told += not np.array_equal(knobs(mutant, made.params()), knobs(program, made.params()))
    assert told >= 3


def test_a_dividend_that_is_not_raised_is_no_ratio() -> None:
    rewritten = with_tests(student().program())
    nodes = list(rewritten.nodes)
    for number, node in enumerate(nodes):
        if node.name.endswith("_dividend"):
            nodes[number] = replace(node, args=(node.args[0], node.args[0]))
    mutant = replace(rewritten, nodes=tuple(nodes))
    assert with_values(mutant) is mutant


@pytest.mark.parametrize("form", ["auto", "branches", "index", "joint"])
def test_every_form_asks_for_multiples(form: str, tmp_path: Path) -> None:
    with writing(tmp_path / "student", "student") as work:
        student().save(work)
    emit(tmp_path / "student", tmp_path / "firmware", target="generic", seed=0, options=Options(form=form))
    folder = tmp_path / "firmware"
    source = (folder / "rlcc_policy.c").read_text()
    assert "quotient" not in source
    assert "201U * " in source
    assert run_on_host(folder).passed
    firmware = read_firmware(folder)
    assert checked_program(firmware.manifest)[1] == firmware.program


def test_the_pass_can_be_left_out() -> None:
    body = StudentBody(student(), "0" * 64)
    program = body.decider.program()
    assert ranked(body, program, Options())[0] != program
    assert ranked(body, program, Options(without=("ratios",)))[0] == program
