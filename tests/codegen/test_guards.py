"""A division that one side of a choice takes stands behind that choice; another one is made always."""

import re

import pytest

from codegen.guards import Guard, guards
from codegen.host_printer import HostPrinter
from codegen.lower import Options
from codegen.passes.program import lower_program
from decision.ir.forest import Forest, oblivious
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_window import FLOW_WINDOW
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.quotients import Division, divided
from decision.ir.rewrite import needed

MOST = 1000


def program(taken: str) -> tuple[Program, int]:
    """Returns a program with one division, and its node. ``taken``: by one side of a choice ("side"), by both, by a
    sum too ("sum"), or by another choice too ("other")."""
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_WINDOW)
    count, over = (b.add(Op.MIN, (b.event(name), b.const(MOST))) for name in ("acked_bytes", "in_flight_bytes"))
    wanted, again = (b.add(Op.GT, (b.event(name), b.const(7))) for name in ("trimmed_bytes", "nacked_bytes"))
    over = b.add(Op.MAX, (over, b.const(1)))
    quotient = divided(b, Division(count, over, MOST, 0, 4), name="quotient")
    more = b.add(Op.ADD, (quotient, b.const(3)), name="more")
    other = more if taken == "both" else b.const(1)
    value = b.add(Op.SELECT, (wanted, more, other), name="value")
    if taken == "sum":
        value = b.add(Op.ADD, (value, more))
    if taken == "other":
        value = b.add(Op.ADD, (value, b.add(Op.SELECT, (again, more, count))))
    return b.finish(b.add(Op.MAX, (value, b.const(1)))), quotient


def found(taken: str) -> list[Guard]:
    built, quotient = program(taken)
    return guards(built, needed(built), lambda node: node.args, [quotient])


def test_what_one_side_takes_is_behind_its_condition() -> None:
    built, quotient = program("side")
    (guard,) = found("side")
    select = next(n for n, node in enumerate(built.nodes) if node.name == "value")
    assert built.nodes[select].args[:2] == (guard.condition, guard.results[0])
    assert quotient in guard.nodes
    assert len(guard.results) == 1
    assert guard.condition <= guard.place < select


def test_nothing_outside_takes_a_guarded_node_but_a_result() -> None:
    built, _ = program("side")
    (guard,) = found("side")
    taken = {a for n in needed(built) if n not in guard.nodes for a in built.nodes[n].args}
    assert taken & set(guard.nodes) == set(guard.results)


@pytest.mark.parametrize("taken", ["both", "sum", "other"])
def test_what_is_taken_elsewhere_too_is_not_guarded(taken: str) -> None:
    assert found(taken) == []


def chained(same: bool) -> tuple[Program, list[int]]:
    """Returns a program in which a select's result is divided for another select, by the same condition or by another
    one, and the two divisions."""
    b = ProgramBuilder(Forest((), (), (0,), 0), FLOW_WINDOW)
    count, over = (b.add(Op.MIN, (b.event(name), b.const(MOST))) for name in ("acked_bytes", "in_flight_bytes"))
    wanted = b.add(Op.GT, (b.event("trimmed_bytes"), b.const(7)))
    over = b.add(Op.MAX, (over, b.const(1)))
    first = divided(b, Division(count, over, MOST, 0, 4), name="first")
    chosen = b.add(Op.SELECT, (wanted, b.add(Op.ADD, (first, b.const(3))), b.const(1)), name="chosen")
    second = divided(b, Division(chosen, over, MOST, 0, 4), name="second")
    again = wanted if same else b.add(Op.GT, (b.event("nacked_bytes"), b.const(7)))
    value = b.add(Op.SELECT, (again, b.add(Op.ADD, (second, b.const(5))), b.const(1)), name="value")
    value = b.add(Op.ADD, (value, chosen)) if same else value
    return b.finish(b.add(Op.MAX, (value, b.const(1)))), [first, second]


chains = pytest.mark.parametrize("same", [True, False])


@chains
def test_takers_of_a_result_stand_behind_its_block(same: bool) -> None:
    built, quotients = chained(same)
    used = needed(built)
    blocks = guards(built, used, lambda node: node.args, quotients)
    assert len(blocks) == 2
    for block in blocks:
        outside = [n for n in used if n not in block.nodes and set(built.nodes[n].args) & set(block.nodes)]
        assert min(outside) > block.place
        assert all(block.condition not in other.nodes for other in blocks)
        assert all(a < block.place for n in block.nodes for a in built.nodes[n].args)


@chains
def test_every_name_is_declared_before_it_is_read(same: bool) -> None:
    lowered = lower_program(chained(same)[0], Options(without=("idle",)))
    printer = HostPrinter(lowered, lambda feature, threshold: "")
    names, declared, conditions = set(printer.names.values()), set(), 0
    for line in (s.code for s in printer.statements()):
        head, _, value = line.partition(" = ")
        conditions += line.startswith("if ")
        assert set(re.findall(r"(?<!>)\b[a-z_][a-z_0-9]*", value if value else line)) & names <= declared, line
        declared.add(head.split()[-1])
    assert conditions == 2


def test_a_guard_that_spares_no_costly_node_is_none() -> None:
    built, _ = program("side")
    assert guards(built, needed(built), lambda node: node.args, []) == []


@pytest.mark.parametrize(("taken", "blocks"), [("side", 1), ("sum", 0)])
def test_the_printer_prints_a_block_a_guard(taken: str, blocks: int) -> None:
    lowered = lower_program(program(taken)[0], Options(without=("idle",)))
    lines = [s.code for s in HostPrinter(lowered, lambda feature, threshold: "").statements()]
    assert sum(line.startswith("if ") for line in lines) == blocks
    division = next(line for line in lines if " / " in line)
    assert division.startswith("    ") == (blocks == 1)


def test_an_excess_that_the_walks_side_chooses_is_declared() -> None:
    b = ProgramBuilder(Forest(("f",), (oblivious(((0, 100),), (5, 9)),), (7,), 0), FLOW_WINDOW)
    x, y = b.event("rtt_ns"), b.param("path_rtt_ns")
    above = b.add(Op.GT, (x, y))
    gap = b.add(Op.MIN, (b.add(Op.WRAP_SUB, (x, y)), b.const(U32_MAX)))
    room = b.add(Op.SELECT, (above, gap, b.const(0)), name="room")
    trees = b.add(Op.TREES, (b.add(Op.MIN, (b.event("acked_bytes"), b.const(1000)), name="f"),), 0, "trees")
    chosen = b.add(Op.SELECT, (above, trees, b.const(3)), name="chosen")
    window = b.add(Op.ADD, (chosen, b.add(Op.SHR, (room,), 8)))
    built = b.finish(b.add(Op.MAX, (window, b.const(1))))
    printer = HostPrinter(lower_program(built, Options(without=("idle",))), lambda feature, threshold: "")
    text = "\n".join(s.code for s in printer.statements())
    assert "else" in text
    for name in re.findall(r"room\w*", text):
        assert re.search(rf"uint32_t {name}\b", text), name
