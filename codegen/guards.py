"""Costly values that only one side of a choice takes: a block in the C that the other side jumps over.

    uint32_t window_grown = 0U;                                    results: what stands behind the block
    if (adjusts != 0U) {
        const uint32_t growth = pending_now / window_16;           costly
        window_grown = window_stepped + (growth << 7U);
    }
    const uint32_t window_after = (adjusts != 0U) ? window_grown : window_stepped;

If the condition is false, no select by it takes the results, whatever they hold.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from decision.ir.program import Node, Op, Program


@dataclass(frozen=True)
class Guard:
    """A block. ``nodes`` in the order of evaluation; ``results``: those of them that nodes outside take.

    The block stands where ``place`` stood: the condition and all operands are before it, every taker is behind it."""

    condition: int
    nodes: tuple[int, ...]
    results: tuple[int, ...]

    @property
    def place(self) -> int:
        return max(self.condition, *self.nodes)


def guards(
    program: Program, used: Iterable[int], operands: Callable[[Node], Iterable[int]], costly: Collection[int]
) -> list[Guard]:
    """Returns guards of the conditions that spare a costly node. ``used``: the nodes that are evaluated, in order;
    ``operands``: those that a node needs. A node is in one guard at most."""
    nodes, used = program.nodes, tuple(used)
    takers: dict[int, set[int]] = {number: set() for number in used}
    for number in used:
        for operand in operands(nodes[number]):
            takers[operand].add(number)
    found: list[Guard] = []
    free = {n for n in used if nodes[n].op not in (Op.TREES, Op.NETWORK)} - set(program.outputs)
    selects = [n for n in used if nodes[n].op is Op.SELECT and n not in costly]

    def spared_by(condition: int, candidates: set[int]) -> set[int]:
        """Returns the candidates that only the condition's selects take, or nodes that are spared with them."""
        spared = {n: nodes[n].args[1] for n in selects if nodes[n].args[0] == condition}
        inside: set[int] = set()
        for number in reversed(used):
            if number in candidates and all(
                taker in inside or (spared.get(taker) == number != nodes[taker].args[2]) for taker in takers[number]
            ):
                inside.add(number)
        return inside

    for condition in {nodes[n].args[0]: None for n in selects}:
        candidates = free - {condition}
        while not (inside := spared_by(condition, candidates)).isdisjoint(costly):
            results = tuple(n for n in sorted(inside) if not takers[n] <= inside)
            guard = Guard(condition, tuple(sorted(inside)), results)
            early = {n for n in results if min(takers[n] - inside) < guard.place}
            if early:
                candidates -= early
                continue
            found.append(guard)
            free -= inside | {condition}
            candidates = free - {condition}
    return found
