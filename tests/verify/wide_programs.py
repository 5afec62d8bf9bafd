"""Decision programs around one operator whose operands are as wide as it may have them, and inputs at the edges.

Drawn by a generator with a seed, not by Hypothesis, whose draws stay small: a test must be able to count on it that an
operator leaves 32 bits in most programs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from decision.artefact.errors import InputError
from decision.ir.forest import Forest, oblivious
from decision.ir.formats import U32_MAX
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.program import INT64_MAX, INT64_MIN, STORAGE_RANGE, Node, Op, Program, ProgramBuilder

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1
DRAWN = tuple(op for op in Op if op is not Op.NETWORK)
TRIES = 12
"""Operands are drawn again where the builder refuses them."""
EDGES = (INT64_MIN, INT64_MAX, -(2**32), 2**32, INT32_MIN, INT32_MIN - 1, INT32_MAX, INT32_MAX + 1, U32_MAX, -1, 0, 1)
ARITY = {
    **dict.fromkeys((Op.CONST, Op.EVENT, Op.PARAM, Op.STATE), 0),
    **dict.fromkeys((Op.SHL, Op.SHR, Op.MASK, Op.TABLE), 1),
    **dict.fromkeys((Op.SELECT, Op.TREES), 3),
}
"""Others take two."""
LEGAL: dict[Op, Callable[[Node], bool]] = {
    **dict.fromkeys((Op.SHL, Op.SHR, Op.MASK, Op.MUL_SHR), lambda n: n.low >= 0),
    Op.WRAP_SUB: lambda n: n.low >= 0 and n.high <= U32_MAX,
}


@dataclass(frozen=True)
class Around:
    """A program, the node of the operator that it is drawn around, and inputs: {"event.response_ns": 5, ...}."""

    program: Program
    node: int
    inputs: tuple[dict[str, int], ...]


def between(rng: Random, low: int, high: int) -> int:
    """An integer of a range: an end, what is near the ends of a word, anything, or anything of fewer bits."""
    known = [low, high, low + 1, high - 1, *(e for e in EDGES if low <= e <= high)]
    kind = rng.random()
    if kind < 0.3:
        return min(max(rng.choice(known), low), high)
    value = rng.randint(low, high)
    return value if kind < 0.8 else min(max(value >> rng.randrange(64), low), high)


def _ensemble(rng: Random) -> Forest:
    trees = []
    for _ in range(rng.randint(1, 5)):
        splits = tuple((rng.randrange(3), between(rng, INT32_MIN, U32_MAX)) for _ in range(rng.randint(0, 2)))
        trees.append(oblivious(splits, tuple(between(rng, INT32_MIN, INT32_MAX) for _ in range(1 << len(splits)))))
    return Forest(("f0", "f1", "f2"), tuple(trees), (between(rng, INT32_MIN, INT32_MAX),), 16)


def _widened(rng: Random, b: ProgramBuilder) -> list[int]:
    """Values of up to 64 bits, of either sign, made of the inputs by the operators that make wide of narrow."""
    word, other, sign = b.event("response_ns"), b.param("rate_max_q30"), b.state_in("int32", "int32")
    less = b.add(Op.SHR, (other,), rng.randint(0, 8))
    up = b.add(Op.SHL, (word,), rng.randint(1, 31))
    return [
        b.add(Op.MUL, (sign, less)),
        b.add(Op.MUL, (b.add(Op.SHR, (word,), rng.randint(1, 8)), other)),
        up,
        b.add(Op.SUB, (b.const(0), up)),
        b.add(Op.SUB, (word, other)),
        b.const(between(rng, INT64_MIN, INT64_MAX)),
    ]


def _arguments(rng: Random, b: ProgramBuilder, op: Op, values: list[int]) -> tuple[int, ...]:
    """Operands: a condition for a choice, an index within a table, else any that are legal."""
    legal = [v for v in values if op not in LEGAL or LEGAL[op](b.nodes[v])]
    args = tuple(rng.choice(legal) for _ in range(ARITY.get(op, 2)))
    if op is Op.SELECT:
        return (b.add(Op.GT, args[:2]), *args[1:])
    if op is Op.TABLE:
        return (b.add(Op.MIN, (b.add(Op.MAX, (args[0], b.const(0))), b.const(len(b.tables[0]) - 1))),)
    return args


def _immediate(rng: Random, b: ProgramBuilder, op: Op) -> int:
    most = {
        Op.EVENT: len(FLOW_RATE.event_names),
        Op.PARAM: len(FLOW_RATE.param_names),
        Op.STATE: len(b.state),
        Op.SHL: 33,
        Op.SHR: 33,
    }
    if op is Op.CONST:
        return between(rng, INT64_MIN, INT64_MAX)
    if op is Op.MUL_SHR:
        return rng.choice((1, 2, 4, 31, 32, 33, 63, rng.randrange(64)))
    if op is Op.MASK:
        return rng.choice((0, 5, 31, 32, 33, 48, 63, rng.randrange(64)))
    return rng.randrange(most.get(op, 1))


def _added(rng: Random, b: ProgramBuilder, op: Op, values: list[int]) -> int:
    for _ in range(TRIES):
        try:
            return b.add(op, _arguments(rng, b, op, values), _immediate(rng, b, op))
        except InputError:
            continue
    return b.add(op, (b.state_in("uint16", "uint16"),) * ARITY.get(op, 2), 1)


def program_around(op: Op, seed: int, rows: int = 4) -> Around:
    """Any program whose operator of interest is ``op``, over words and over what is wider than a word."""
    rng = Random(seed)
    b = ProgramBuilder(_ensemble(rng), FLOW_RATE)
    b.tables = [tuple(between(rng, INT64_MIN, INT64_MAX) for _ in range(rng.randint(1, 5)))]
    narrow = [b.event("sent_bytes"), b.param("rate_min_q30"), b.const(between(rng, INT32_MIN, U32_MAX))]
    narrow += [b.state_in(storage, storage) for storage in STORAGE_RANGE]
    wide = _widened(rng, b)
    values = [*narrow, *wide * 5]
    node = _added(rng, b, op, values)
    after = [node, *narrow, *wide]
    for following in (Op.MIN, Op.ADD, Op.EQ):  # what a value so wide is used for
        try:
            after.append(b.add(following, (node, rng.choice(after))))
        except InputError:
            continue
    if op is Op.TREES:  # once more, over others: names of leaves and sums are those of the first
        after.append(b.add(op, tuple(rng.choice(values) for _ in range(ARITY[op]))))
    for storage in STORAGE_RANGE:
        b.state_out(storage, b.state_in(storage, storage))
    program = b.finish(b.add(Op.GT, (node, rng.choice(after))))
    return Around(program, node, tuple(_input(rng) for _ in range(rows)))


def _input(rng: Random) -> dict[str, int]:
    words = [f"event.{n}" for n in FLOW_RATE.event_names] + [f"params.{n}" for n in FLOW_RATE.param_names]
    found = {name: between(rng, 0, U32_MAX) for name in words}
    return found | {f"context.{s}": between(rng, low, high) for s, (low, high) in STORAGE_RANGE.items()}
