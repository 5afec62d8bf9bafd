"""How many of many are so, of which each asks about inputs of its own: proved without telling which, and checked."""

import re
from pathlib import Path

import pytest
from other_interfaces import emitted, printed
from two_sides import ENGINE, judged, walked

from decision.ir.forest import Branch, Forest, Leaf
from decision.ir.interface import Knob, Signal, Uniform
from decision.ir.interfaces import grid
from decision.ir.program import Op, Program, ProgramBuilder
from emulator.firmware_folder import built as build_folder
from verify.check.comparison_counts import counted
from verify.check.recheck import recheck
from verify.check.refused import Refused
from verify.check.terms import var
from verify.prover.certify import certify
from verify.prover.counts import Counts, counts

SLOTS = 4
NAMES = ("own", *(f"{what}_{k}" for k in range(SLOTS) for what in ("ends", "path")))
ALIKE = grid.grid(
    [Signal(name, "", name, Uniform(0, 5), "uint32") for name in NAMES],
    [Knob("score", "", "what the model says", -(2**31), 2**31 - 1, "int32")],
)
TREES = (
    Branch(0, 2, above=Leaf((-70,)), below=Branch(1, 1, above=Leaf((500,)), below=Leaf((30,)))),
    Branch(0, -2, above=Branch(1, 3, above=Leaf((9,)), below=Leaf((-4,))), below=Leaf((11,))),
)


def builder() -> ProgramBuilder:
    return ProgramBuilder(Forest(("lead", "own"), TREES, (5,), 0), ALIKE)


def lead(slots: int = SLOTS) -> Program:
    """By how many more slots with ends 2 to 4 are on the own path than on path 1."""
    b = builder()
    own, few, most, one = b.event("own"), b.const(1), b.const(5), b.const(1)
    total: list[int] = []
    for path in (own, one):
        so = []
        for k in range(slots):
            ends = b.event(f"ends_{k}")
            inside = b.add(Op.MIN, (b.add(Op.GT, (ends, few)), b.add(Op.GT, (most, ends))))
            so.append(b.add(Op.MIN, (inside, b.add(Op.EQ, (b.event(f"path_{k}"), path)))))
        number = so[0]
        for each in so[1:]:
            number = b.add(Op.ADD, (number, each))
        total.append(number)
    features = b.add(Op.SUB, tuple(total), name="lead"), b.add(Op.MIN, (own, b.const(2**31 - 1)))
    return b.finish(b.add(Op.TREES, features, name="score"))


@pytest.mark.slow_except("clang")
@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_a_lead_is_proved_in_few_lanes_and_its_certificate_holds(compiler: str, tmp_path: Path) -> None:
    done = certify(build_folder(emitted(lead(), tmp_path / "firmware"), profile=ENGINE, compiler=compiler))
    assert done.certificate is not None, (done.problem, done.proof.failures)
    assert done.proof.cells < 40  # 2^12 that the comparisons could come out in
    worst = done.certificate.claims.worst_case
    assert worst.exact == worst.rtl_cycles
    assert recheck(done.certificate, done.build).exact


SOURCE = printed(lead())[1]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(ends_2 > 1U)", "(ends_2 > 2U)"),
        ("(5U > ends_3)", "(6U > ends_3)"),
        ("(path_1 == own)", "(path_1 != own)"),
        ("(path_2 == own)", "(path_3 == own)"),
        ("(path_3 == 1U)", "(path_3 == 0U)"),
    ],
)
def test_a_wrong_count_is_refused_by_prover_and_checker(right: str, wrong: str, tmp_path: Path) -> None:
    assert right in SOURCE
    build = build_folder(emitted(lead(), tmp_path / "firmware", SOURCE.replace(right, wrong)), profile=ENGINE)
    assert walked(build)
    with pytest.raises(Refused):
        judged(build)


def test_a_slot_that_is_counted_twice_is_refused(tmp_path: Path) -> None:
    line = next(text for text in re.findall(r"const uint32_t \w+ = \w+ \+ .*;", SOURCE))
    name, before = re.findall(r"const uint32_t (\w+) = (\w+) \+", line)[0]
    twice = SOURCE.replace(line, line.replace(f"= {before} +", f"= {before} + {before} +"))
    assert name in twice
    build = build_folder(emitted(lead(), tmp_path / "firmware", twice), profile=ENGINE)
    assert walked(build)
    with pytest.raises(Refused):
        judged(build)


def named(program: Program, found: Counts) -> tuple[int, int, list[str]]:
    return len(found.bits), len(found.sums), [program.nodes[n].name for n in found.whole]


def test_a_count_is_a_sum_of_comparisons_about_inputs_of_their_own() -> None:
    program = lead(3)
    # Of three slots each: two of the ends, both together, two of the path, each with the ends; two sums, two, the lead.
    assert named(program, counts(program)) == (3 * (3 + 4), 5, ["lead"])
    slots = [frozenset((var(f"event.ends_{k}"),)) for k in range(3)]
    paths = [frozenset((var(f"event.path_{k}"),)) for k in range(3)]
    same = [frozenset((var(f"event.path_{k}"), var("event.own"))) for k in range(3)]
    assert counted(program) == {*slots, *paths, *same}


def test_steps_of_one_input_are_no_count() -> None:
    """They hold one after the other; so do comparisons that a choice asks for, or that the function leaves."""
    b = builder()
    own, other = b.event("own"), b.event("ends_0")
    steps = [b.add(Op.GT, (own, b.const(c))) for c in (1, 2, 3)]
    rank = b.add(Op.ADD, (b.add(Op.ADD, (steps[0], steps[1])), steps[2]))
    asked = b.add(Op.GT, (other, b.const(4)))
    two = b.add(Op.ADD, (asked, b.add(Op.EQ, (own, b.const(9)))))
    chosen = b.add(Op.SELECT, (asked, rank, two))
    program = b.finish(b.add(Op.TREES, (chosen, rank)))
    assert counts(program) == Counts(frozenset(), frozenset(), frozenset())
    assert counted(program) == {frozenset((var("event.own"),)), frozenset((var("event.ends_0"),))}
    b = builder()
    both = [b.add(Op.GT, (b.event(f"ends_{k}"), b.const(1))) for k in range(2)]
    most = b.add(Op.MAX, (both[0], b.add(Op.MIN, (b.event("own"), b.const(9)))))
    left = b.finish(b.add(Op.SUB, (b.add(Op.ADD, tuple(both)), b.add(Op.ADD, (most, both[1])))))
    assert named(left, counts(left)) == (0, 0, [])
    b = builder()
    both = [b.add(Op.GT, (b.event(f"ends_{k}"), b.const(1))) for k in range(2)]
    left = b.finish(b.add(Op.ADD, tuple(both)))
    assert counts(left) == Counts(frozenset(both), frozenset(left.results), frozenset(left.results))


@pytest.mark.parametrize(
    ("op", "parts", "about"),
    [
        (Op.ADD, "a b", "a b"),
        (Op.SUB, "a b", "a b"),
        (Op.ADD, "max b", "a b c"),
        (Op.ADD, "min b", "a b c"),
        (Op.ADD, "a again", ""),
        (Op.ADD, "a number", ""),
        (Op.ADD, "below b", ""),
        (Op.ADD, "more b", ""),
        (Op.ADD, "mixed d", "a b"),
    ],
)
def test_what_the_checker_leaves_open_are_comparisons_of_a_sum_of_nothing_else(op: Op, parts: str, about: str) -> None:
    b = builder()
    names = {"a": "ends_0", "b": "ends_1", "c": "ends_2", "d": "ends_3"}
    made = {name: b.add(Op.GT, (b.event(called), b.const(1))) for name, called in names.items()}
    made["again"] = b.add(Op.GT, (b.event("ends_0"), b.const(2)))
    made["number"] = b.add(Op.MIN, (b.event("own"), b.const(9)))
    for part in parts.split():
        if part in ("max", "min"):
            made[part] = b.add(Op.MAX if part == "max" else Op.MIN, (made["a"], made["c"]))
        elif part == "below":
            made[part] = b.add(Op.MIN, (made["number"], made["a"]))
        elif part == "more":
            made[part] = b.add(Op.ADD, (made["a"], made["number"]))
        elif part == "mixed":
            made[part] = b.add(Op.MIN, (b.add(Op.ADD, (made["a"], made["b"])), made["c"]))
    first, second = parts.split()
    program = b.finish(b.add(op, (made[first], made[second])))
    assert counted(program) == {frozenset((var(f"event.{names[name]}"),)) for name in about.split()}
