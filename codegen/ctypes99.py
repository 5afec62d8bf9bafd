"""C types from value ranges: a type that the proved range fits, so that nothing overflows or changes in a cast."""

from decision.ir.program import Node

U32, I32, U64, I64 = "uint32_t", "int32_t", "uint64_t", "int64_t"

RANGES = {
    U32: (0, 2**32 - 1),
    I32: (-(2**31), 2**31 - 1),
    U64: (0, 2**64 - 1),
    I64: (-(2**63), 2**63 - 1),
}
ORDER = (U32, I32, U64, I64)


def type_for(low: int, high: int) -> str:
    """The first of uint32_t, int32_t, uint64_t, int64_t that holds ``low..high``."""
    for name in ORDER:
        if RANGES[name][0] <= low and high <= RANGES[name][1]:
            return name
    raise AssertionError(f"no 64-bit type holds {low}..{high}: the builder refuses such nodes")


def type_of(node: Node) -> str:
    return type_for(node.low, node.high)


def joint_type(*nodes: Node) -> str:
    """A type that holds every value of all ``nodes``: what an operator on them computes in."""
    return type_for(min(n.low for n in nodes), max(n.high for n in nodes))


def literal(value: int, ctype: str) -> str:
    """``value`` as a literal of ``ctype`` (for int32_t the least value needs its usual detour)."""
    if ctype == U32:
        return f"{value}U"
    if ctype == U64:
        return f"{value}ULL"
    if value == RANGES[ctype][0]:
        suffix = "" if ctype == I32 else "LL"
        return f"(-{-value - 1}{suffix} - 1)"
    suffix = "" if ctype == I32 else "LL"
    return f"({value}{suffix})" if value < 0 else f"{value}{suffix}"
