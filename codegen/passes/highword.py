"""Products whose high word is the answer: floor(a * b / 2^s) is the upper half of (a << i) * (b << j), i + j = 32 - s.

A 32-bit core has that upper half in one instruction. Otherwise it needs both halves, two shifts and an or. It is exact
where the shifted operands still fit 32 bits. A shifted operand that another product needs too is shared.
"""

from collections.abc import Sequence

from decision.ir.program import Node, Op, Program, ProgramBuilder
from decision.ir.rewrite import rewritten


def high_words(program: Program) -> Program:
    """Every mul_shr that can be, as a high word (and a shift where it asks for more than 32 bits)."""

    def rewrite(b: ProgramBuilder, node: Node, args: tuple[int, ...]) -> int | None:
        if node.op is not Op.MUL_SHR or node.imm == 32:
            return None
        first, second = (b.nodes[a] for a in args)
        if first.high * second.high < 1 << 32:
            return None  # the low word holds the whole product
        if node.imm > 32:
            high = b.add(Op.MUL_SHR, args, 32, _requantised(node.name, 32 - node.imm))
            return b.add(Op.SHR, (high,), node.imm - 32, node.name, node.note)
        shifts = _shifts(b, args, 32 - node.imm)
        if shifts is None:
            return None
        moved = tuple(_shifted(b, a, k) for a, k in zip(args, shifts, strict=True))
        return b.add(Op.MUL_SHR, moved, 32, node.name, node.note)

    return rewritten(program, rewrite)


def _shifts(b: ProgramBuilder, args: Sequence[int], bits: int) -> tuple[int, int] | None:
    """How far to shift each operand; the fewest new nodes, then the first operand least."""
    room = [32 - b.nodes[a].high.bit_length() for a in args]
    fits = [(i, bits - i) for i in range(bits + 1) if i <= room[0] and bits - i <= room[1]]

    def price(shifts: tuple[int, int]) -> tuple[int, int]:
        known = {(n.args[0], n.imm) for n in b.nodes if n.op is Op.SHL}
        return sum(k > 0 and (a, k) not in known for a, k in zip(args, shifts, strict=True)), shifts[0]

    return min(fits, key=price) if fits else None


def _shifted(b: ProgramBuilder, number: int, bits: int) -> int:
    return b.add(Op.SHL, (number,), bits, _requantised(b.nodes[number].name, bits)) if bits else number


def _requantised(name: str, bits: int) -> str:
    """rate_q30 shifted by two is rate_q32."""
    stem, mark, format_ = name.rpartition("_q")
    return (
        f"{stem}_q{int(format_) + bits}"
        if mark and format_.isdigit() and int(format_) + bits >= 0
        else f"{name}_scaled"
    )
