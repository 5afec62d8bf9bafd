"""Counts of multiples that a value is above: sums of comparisons, which trees ask for in place of a ratio
(``decision.ir.quotients``)."""

from dataclasses import dataclass

from decision.ir.formats import U32_MAX
from decision.ir.program import Op, Program


@dataclass(frozen=True)
class Multiples:
    """How many of ``factors`` (ascending) times node ``over`` node ``x`` is above."""

    x: int
    over: int
    factors: tuple[int, ...]


def multiples(program: Program) -> dict[int, Multiples]:
    """The trees' features that count multiples which a value is above."""
    asked = {node.args for node in program.nodes if node.op is Op.TREES}
    if len(asked) != 1:
        return {}
    found = {k: _counted(program, number) for k, number in enumerate(next(iter(asked)))}
    return {k: counted for k, counted in found.items() if counted is not None}


def _counted(program: Program, number: int) -> Multiples | None:
    """A sum of comparisons of one value with multiples of another."""
    nodes = program.nodes
    todo, asked = [number], list[tuple[int, int, int]]()
    while todo:
        node = nodes[todo.pop()]
        if node.op is Op.ADD:
            todo += node.args
            continue
        product = nodes[node.args[1]] if node.op is Op.GT else node
        if product.op is not Op.MUL or nodes[product.args[1]].op is not Op.CONST:
            return None
        asked.append((node.args[0], product.args[0], nodes[product.args[1]].imm))
    pairs = {(x, over) for x, over, _ in asked}
    factors = tuple(sorted(factor for _, _, factor in asked))
    if len(pairs) != 1 or factors[0] < 1 or len(set(factors)) != len(factors):
        return None
    ((x, over),) = pairs
    fits = nodes[x].low >= 0 and nodes[x].high <= U32_MAX and nodes[over].low >= 0
    return Multiples(x, over, factors) if fits and factors[-1] * nodes[over].high <= U32_MAX else None
