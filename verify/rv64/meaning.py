"""The meaning of each computing instruction and branch, once for terms and for numbers (``verify.rv64.words``).

After the RISC-V unprivileged specification: the registers' values and the immediate in, a word out.
"""

from collections.abc import Callable
from typing import Any

from verify.rv64.words import XLEN, WordArithmetic

Meaning = Callable[[WordArithmetic[Any], Any, Any], Any]
"""Arithmetic, first operand, second operand (a register or the immediate) -> result."""
WORD = 32
"""Bits of an operation on low words (addw and the like), whose result is extended by its sign."""


def _narrow(of: Meaning) -> Meaning:
    """Returns the operation whose result is the low word of another's."""
    return lambda m, a, b: m.low(of(m, a, b), WORD, True)


def _of_words(of: Meaning) -> Meaning:
    """Returns the operation on low words without a sign."""
    return _narrow(lambda m, a, b: of(m, m.low(a, WORD, False), m.low(b, WORD, False)))


def _count(m: WordArithmetic[Any], b: Any, bits: int) -> Any:
    return m.both(b, m.number(bits - 1))


def _shifted_right(bits: int, signed: bool) -> Meaning:
    return lambda m, a, b: m.right(a if bits == XLEN else m.low(a, bits, signed), _count(m, b, bits), signed)


def _rotated(bits: int, to_left: bool) -> Meaning:
    def rotated(m: WordArithmetic[Any], a: Any, b: Any) -> Any:
        word = a if bits == XLEN else m.low(a, bits, False)
        count = _count(m, b, bits)
        rest = _count(m, m.sub(m.number(0), count), bits)
        left, right = (count, rest) if to_left else (rest, count)
        return m.either(m.left(word, left), m.right(word, right, False))

    return rotated


def _chosen(signed: bool, greater: bool) -> Meaning:
    def chosen(m: WordArithmetic[Any], a: Any, b: Any) -> Any:
        first, second = (b, a) if greater else (a, b)
        return m.choice(m.less(a, b, signed), first, second)

    return chosen


def _inverted(m: WordArithmetic[Any], b: Any) -> Any:
    return m.differing(b, m.number(-1))


def _bit(m: WordArithmetic[Any], b: Any) -> Any:
    return m.left(m.number(1), _count(m, b, XLEN))


def _left(bits: int) -> Meaning:
    return lambda m, a, b: m.left(a, _count(m, b, bits))


REGISTERS: dict[str, Meaning] = {
    "add": lambda m, a, b: m.add(a, b),
    "sub": lambda m, a, b: m.sub(a, b),
    "and": lambda m, a, b: m.both(a, b),
    "or": lambda m, a, b: m.either(a, b),
    "xor": lambda m, a, b: m.differing(a, b),
    "slt": lambda m, a, b: m.less(a, b, True),
    "sltu": lambda m, a, b: m.less(a, b, False),
    "sll": _left(XLEN),
    "srl": _shifted_right(XLEN, False),
    "sra": _shifted_right(XLEN, True),
    "addw": _narrow(lambda m, a, b: m.add(a, b)),
    "subw": _narrow(lambda m, a, b: m.sub(a, b)),
    "sllw": _narrow(_left(WORD)),
    "srlw": _narrow(_shifted_right(WORD, False)),
    "sraw": _narrow(_shifted_right(WORD, True)),
    "mul": lambda m, a, b: m.product(a, b),
    "mulw": _narrow(lambda m, a, b: m.product(a, b)),
    "mulh": lambda m, a, b: m.high_product(a, b, (True, True)),
    "mulhsu": lambda m, a, b: m.high_product(a, b, (True, False)),
    "mulhu": lambda m, a, b: m.high_product(a, b, (False, False)),
    "divu": lambda m, a, b: m.quotient(a, b),
    "remu": lambda m, a, b: m.remainder(a, b),
    "divuw": _of_words(lambda m, a, b: m.quotient(a, b)),
    "remuw": _of_words(lambda m, a, b: m.remainder(a, b)),
    "andn": lambda m, a, b: m.both(a, _inverted(m, b)),
    "orn": lambda m, a, b: m.either(a, _inverted(m, b)),
    "xnor": lambda m, a, b: m.differing(a, _inverted(m, b)),
    "min": _chosen(signed=True, greater=False),
    "minu": _chosen(signed=False, greater=False),
    "max": _chosen(signed=True, greater=True),
    "maxu": _chosen(signed=False, greater=True),
    "rol": _rotated(XLEN, to_left=True),
    "ror": _rotated(XLEN, to_left=False),
    "rolw": _narrow(_rotated(WORD, to_left=True)),
    "rorw": _narrow(_rotated(WORD, to_left=False)),
    "bclr": lambda m, a, b: m.both(a, _inverted(m, _bit(m, b))),
    "bext": lambda m, a, b: m.both(m.right(a, _count(m, b, XLEN), False), m.number(1)),
    "binv": lambda m, a, b: m.differing(a, _bit(m, b)),
    "bset": lambda m, a, b: m.either(a, _bit(m, b)),
}
IMMEDIATES: dict[str, Meaning] = {
    "addi": REGISTERS["add"],
    "andi": REGISTERS["and"],
    "ori": REGISTERS["or"],
    "xori": REGISTERS["xor"],
    "slti": REGISTERS["slt"],
    "sltiu": REGISTERS["sltu"],
    "slli": REGISTERS["sll"],
    "srli": REGISTERS["srl"],
    "srai": REGISTERS["sra"],
    "addiw": REGISTERS["addw"],
    "slliw": REGISTERS["sllw"],
    "srliw": REGISTERS["srlw"],
    "sraiw": REGISTERS["sraw"],
    "rori": REGISTERS["ror"],
    "roriw": REGISTERS["rorw"],
    "bclri": REGISTERS["bclr"],
    "bexti": REGISTERS["bext"],
    "binvi": REGISTERS["binv"],
    "bseti": REGISTERS["bset"],
    "lui": lambda m, a, b: b,
    "sext.b": lambda m, a, b: m.low(a, 8, True),
    "sext.h": lambda m, a, b: m.low(a, 16, True),
    "zext.h": lambda m, a, b: m.low(a, 16, False),
}
CONDITIONS: dict[str, Meaning] = {
    "beq": lambda m, a, b: m.equal(a, b),
    "bne": lambda m, a, b: m.equal(m.equal(a, b), m.number(0)),
    "blt": lambda m, a, b: m.less(a, b, True),
    "bge": lambda m, a, b: m.equal(m.less(a, b, True), m.number(0)),
    "bltu": lambda m, a, b: m.less(a, b, False),
    "bgeu": lambda m, a, b: m.equal(m.less(a, b, False), m.number(0)),
}
LOAD_SIGNED = ("lb", "lh", "lw")
"""Loads that extend by the sign; the others fill with zeros."""
DIVISIONS = ("divu", "remu", "divuw", "remuw")
"""Instructions that an adapter may have, and no decision: their time depends on what they divide."""
