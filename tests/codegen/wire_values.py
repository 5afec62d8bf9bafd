"""The meaning of wires, once more and one at a time: what tests hold the expansion of a program to."""

from collections.abc import Mapping

from codegen.rtl.wires import Gate, LogicWire, Wires


def values(wires: Wires, inputs: Mapping[str, int]) -> list[int]:
    """The value of every wire; AssertionError where one is out of its range."""
    found: list[int] = []
    for number, wire in enumerate(wires.wires):
        value = _value(wires, wire, [found[a] for a in wire.args], inputs)
        assert wire.low <= value <= wire.high, f"wire {number}, {wire}: {value}"
        found.append(value)
    return found


def _value(wires: Wires, wire: LogicWire, a: list[int], inputs: Mapping[str, int]) -> int:
    imm = wire.imm
    match wire.gate:
        case Gate.CONST:
            assert isinstance(imm, int)
            return imm
        case Gate.INPUT:
            return inputs[str(imm)]
        case Gate.ADD | Gate.ADD3:
            return sum(a)
        case Gate.SUB:
            return a[0] - a[1]
        case Gate.MUL:
            return a[0] * a[1]
        case Gate.GT:
            return int(a[0] > a[1])
        case Gate.EQ:
            return int(a[0] == a[1])
        case Gate.SELECT:
            return a[1] if a[0] else a[2]
    if wire.gate is Gate.ROM:
        assert isinstance(imm, tuple)
        index = shift = 0
        for value, operand in zip(a, wire.args, strict=True):
            index |= value << shift
            shift += wires[operand].width
        return imm[min(index, len(imm) - 1)]
    if wire.gate is Gate.SLICE:
        assert isinstance(imm, tuple)
        lowest, bits = imm
        return a[0] >> lowest if wire.low < 0 else (a[0] >> lowest) % (1 << bits)
    assert isinstance(imm, int)
    return a[0] << imm if wire.gate is Gate.SHL else (a[0] << imm) + a[1]
