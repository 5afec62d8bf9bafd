"""Rewriting a decision program node by node, with ranges derived anew."""

from collections.abc import Callable, Iterable

from decision.ir.program import Node, Program, ProgramBuilder, StateField

Rewriter = Callable[[ProgramBuilder, Node, tuple[int, ...]], int | None]
"""From the new program so far, an old node and its operands' new numbers to the node's new number; None: as it was."""


def rewritten(program: Program, rewrite: Rewriter) -> Program:
    """The program with every node put through ``rewrite``, and without the nodes that nothing needs any more."""
    b = ProgramBuilder(program.forest, program.interface, network=program.network)
    b.tables = list(program.tables)
    b.state = [StateField(s.name, s.storage, -1, s.note) for s in program.state]
    new: dict[int, int] = {}
    for number in needed(program):
        node = program.nodes[number]
        args = tuple(new[a] for a in node.args)
        changed = rewrite(b, node, args)
        new[number] = changed if changed is not None else b.add(node.op, args, node.imm, node.name, node.note)
    for s in program.state:
        b.state_out(s.name, new[s.node])
    return _without_idle(b.finish(*(new[result] for result in program.results)))


def needed(program: Program, operands: Callable[[Node], Iterable[int]] = lambda node: node.args) -> list[int]:
    """Nodes that the result or the new context depends on, in order. ``operands``: those that a node needs."""
    todo = list(program.outputs)
    seen: set[int] = set()
    while todo:
        number = todo.pop()
        if number not in seen:
            seen.add(number)
            todo += operands(program.nodes[number])
    return sorted(seen)


def _without_idle(program: Program) -> Program:
    kept = needed(program)
    if len(kept) == len(program.nodes):
        return program
    return rewritten(program, lambda b, node, args: None)
