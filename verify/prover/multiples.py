"""Comparisons of a multiple of a word with something else: what one says of other multiples of the word."""

from dataclasses import dataclass

from verify.prover.expressions import FIRST, WORD, Linear, Pool


@dataclass(frozen=True)
class AtMost:
    """factor * word <= rest + more, or where ``holds`` is false the contrary: the rest a word without sign, and nothing
    wraps that is done to it."""

    word: int
    factor: int
    rest: Linear
    more: int
    holds: bool


def multiples(pool: Pool, condition: int, holds: bool) -> list[AtMost]:
    """A comparison without sign that holds, or does not, as comparisons of a multiple of a word with something else."""
    found = []
    x, y = pool.operands(condition)
    for multiple, other, below in ((x, y, True), (y, x, False)):
        (constant, terms), rest = pool.linear(multiple), pool.linear(other)
        part = pool.sum(0, rest[1])
        if constant or len(terms) != 1 or part < FIRST:
            continue
        (word, factor), (low, high) = terms[0], pool.range(part)
        bounds = pool.range(word)
        fits = (low >= 0 and high + rest[0] <= WORD) or pool.multiple(part, 1 << rest[0].bit_length())
        if bounds[0] < 0 or factor * bounds[1] > WORD or not fits:
            continue
        more = rest[0] - 1 if below else rest[0]  # c * w < d is c * w <= d - 1; d < c * w the contrary of c * w <= d
        found.append(AtMost(word, factor, (0, rest[1]), more, holds == below))
    return found
