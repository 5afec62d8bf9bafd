"""The value of one of the prover's expressions where its atoms have values."""

from verify.prover.expressions import FIRST, WORD, Pool, fold


def value_of(pool: Pool, e: int, inputs: dict[int, int]) -> int:
    if e < FIRST:
        return e
    op = pool.op(e)
    if op == "atom":
        return inputs[e]
    if op == "linear":
        constant, terms = pool.linear(e)
        return (constant + sum(k * value_of(pool, w, inputs) for w, k in terms)) & WORD
    if op == "product":
        a, b, shift = pool.operands(e)
        return (value_of(pool, a, inputs) * value_of(pool, b, inputs) >> shift) & WORD
    a, b = pool.operands(e)
    return fold(op, value_of(pool, a, inputs), value_of(pool, b, inputs))
