"""The module's text: Verilog-2001 that any synthesiser reads, one assignment a wire.

    wire [31:0] n11_rtt_ns = w9[31:0];             combinational, in the stage where it is used first
    always @(posedge clk) if (step) s1_n11_rtt_ns <= n11_rtt_ns;

All wires are plain vectors in two's complement; an operand is brought to the width of its operation by repeating its
sign, so that nothing rests on Verilog's own rules of width and sign.
"""

from dataclasses import dataclass

from codegen.rtl.delays import TABLE_INPUTS
from codegen.rtl.schedule import Schedule
from codegen.rtl.wires import Gate, LogicWire, Wires
from decision.ir.program import Program


@dataclass(frozen=True)
class ModulePort:
    """``key``: "event.x", "params.x", "context.x", "action.x" or "next.x"; ``low..high``: what it can carry."""

    key: str
    width: int
    signed: bool

    @property
    def name(self) -> str:
        return self.key.replace(".", "_")

    @property
    def expected(self) -> str:
        """Returns the column of the vectors that an output is compared with."""
        group, _, name = self.key.partition(".")
        return f"expect.{name}" if group == "action" else f"expect.context.{name}"

    @property
    def word(self) -> str:
        """Returns the port as a word of 32 bits."""
        if self.width == 32:
            return self.name
        top = f"{self.name}[{self.width - 1}]" if self.signed else "1'b0"
        return f"{{{{{32 - self.width}{{{top}}}}}, {self.name}}}"

    @property
    def span(self) -> str:
        return f"[{self.width - 1}:0]"


@dataclass(frozen=True)
class Module:
    """The ports and the lines of a module's body."""

    inputs: tuple[ModulePort, ...]
    outputs: tuple[ModulePort, ...]
    wires: tuple[str, ...]
    registers: tuple[str, ...]
    moves: tuple[str, ...]
    results: tuple[str, ...]
    stages: int
    register_bits: int
    multipliers: int


def ports_of(program: Program) -> tuple[tuple[ModulePort, ...], tuple[ModulePort, ...]]:
    """Inputs (event, context, parameters) and outputs (knobs, next context), as wide as their storage."""

    def port(group: str, name: str, storage: str) -> ModulePort:
        return ModulePort(f"{group}.{name}", int(storage.lstrip("uint")), not storage.startswith("u"))

    interface = program.interface
    inputs = [port("event", s.name, s.storage) for s in interface.event]
    inputs += [port("context", s.name, s.storage) for s in program.state]
    inputs += [port("params", s.name, s.storage) for s in interface.params]
    outputs = [port("action", knob.name, knob.storage) for knob in interface.knobs]
    return tuple(inputs), (*outputs, *(port("next", s.name, s.storage) for s in program.state))


def module(program: Program, wires: Wires, outputs: dict[str, int], plan: Schedule) -> Module:
    """Returns the module of the wires that the outputs are made of."""
    inputs, results = ports_of(program)
    printer = _VerilogPrinter(wires, plan)
    lines: list[str] = []
    ends: list[str] = []
    for port in results:
        number = outputs[port.key]
        ends.append(f"assign {port.name} = {printer.fitted(number, plan.stages, port.width)};")
    for number in sorted(printer.needed):
        lines += printer.lines(number)
    registers = sorted(printer.registers)
    declared = tuple(f"reg {_span(wires[n])}{printer.name(n, stage)};" for stage, n in registers)
    moves = tuple(f"{printer.name(n, stage)} <= {printer.name(n, stage - 1)};" for stage, n in registers)
    bits = sum(wires[n].width for _, n in registers)
    multipliers = sum(wires[n].gate is Gate.MUL for n in printer.needed)
    return Module(inputs, results, tuple(lines), declared, moves, tuple(ends), plan.stages, bits, multipliers)


class _VerilogPrinter:
    """Prints wires; remembers which are needed, and as registers of which stage."""

    def __init__(self, wires: Wires, plan: Schedule) -> None:
        self.wires, self.plan = wires, plan
        self.needed: set[int] = set()
        self.registers: set[tuple[int, int]] = set()
        self._text: dict[int, str] = {}

    def name(self, number: int, stage: int) -> str:
        """Returns the wire's name in a stage, whether or not it is a register there."""
        wire = self.wires[number]
        if wire.gate is Gate.INPUT:
            name = str(wire.imm).replace(".", "_")
        else:
            name = self.wires.labels.get(number, f"w{number}")
        moved = stage > self.plan.stage[number] and not self.wires.static[number]
        return f"s{stage}_{name}" if moved else name

    def read(self, number: int, stage: int) -> str:
        """Returns the wire as an operand in a stage."""
        wire = self.wires[number]
        if wire.gate is Gate.CONST:
            return _literal(wire.low, wire.width)
        self._need(number)
        if not self.wires.static[number]:
            self.registers |= {(s, number) for s in range(self.plan.stage[number] + 1, stage + 1)}
        return self.name(number, stage)

    def fitted(self, number: int, stage: int, width: int) -> str:
        """Returns the wire as an operand of ``width`` bits."""
        wire = self.wires[number]
        if wire.gate is Gate.CONST:
            return _literal(wire.low, width)
        text = self.read(number, stage)
        if width == wire.width:
            return text
        if width < wire.width:
            return f"{text}[{width - 1}:0]"
        top = f"{text}[{wire.width - 1}]" if wire.width > 1 else text
        return f"{{{{{width - wire.width}{{{top if wire.signed else chr(49) + chr(39) + 'b0'}}}}}, {text}}}"

    def lines(self, number: int) -> list[str]:
        return self._text[number].splitlines()

    def _need(self, number: int) -> None:
        todo = [number]
        while todo:
            n = todo.pop()
            if n in self.needed:
                continue
            self.needed.add(n)
            self._text[n] = ""
            before = set(self.needed)
            self._text[n] = self._printed(n)
            todo += self.needed - before

    def _printed(self, number: int) -> str:
        wire, stage = self.wires[number], self.plan.stage[number]
        if wire.gate is Gate.INPUT:
            return ""
        name = self.name(number, stage)
        if wire.gate is Gate.ROM:
            return self._rom(number, name, stage)
        return f"wire {_span(wire)}{name} = {self._expression(wire, stage)};"

    def _expression(self, wire: LogicWire, stage: int) -> str:
        width = wire.width
        operands = [self.wires[a] for a in wire.args]
        match wire.gate:
            case Gate.ADD | Gate.ADD3 | Gate.SUB:
                sign = " - " if wire.gate is Gate.SUB else " + "
                return sign.join(self.fitted(a, stage, width) for a in wire.args)
            case Gate.MUL:
                a, b = (self._number(a, stage, any(o.signed for o in operands)) for a in wire.args)
                return f"{a} * {b}"
            case Gate.SHL:
                return f"{{{self.read(wire.args[0], stage)}, {wire.imm}'b0}}"
            case Gate.SLICE:
                lowest, bits = _pair(wire.imm)
                text, inner = self.read(wire.args[0], stage), operands[0].width
                if inner == 1:
                    return text
                top = min(lowest + bits, inner) - 1
                part = f"{text}[{top}:{lowest}]" if top > lowest else f"{text}[{min(lowest, inner - 1)}]"
                return (
                    part
                    if top - lowest + 1 == width or lowest >= inner
                    else self._grown(part, operands[0], top, width - (top - lowest + 1), text)
                )
            case Gate.JOIN:
                assert isinstance(wire.imm, int)
                return f"{{{self.read(wire.args[0], stage)}, {self.fitted(wire.args[1], stage, wire.imm)}}}"
            case Gate.GT | Gate.EQ:
                signed = any(o.signed for o in operands)
                common = max(o.width + (signed and not o.signed) for o in operands)
                a, b = (self.fitted(a, stage, common) for a in wire.args)
                if wire.gate is Gate.EQ:
                    return f"{a} == {b}"
                if operands[1].gate is Gate.CONST and not signed and operands[0].width <= TABLE_INPUTS:
                    return self._above(wire.args[0], stage, operands[1].low)
                return f"$signed({a}) > $signed({b})" if signed else f"{a} > {b}"
            case Gate.SELECT:
                condition = self.read(wire.args[0], stage)
                a, b = (self.fitted(a, stage, width) for a in wire.args[1:])
                return f"{condition} ? {a} : {b}"
        raise AssertionError(f"{wire.gate} has no expression")

    def _above(self, number: int, stage: int, threshold: int) -> str:
        """Returns a digit's comparison in ands and ors of its bits: one table. For `>` Yosys takes a carry chain."""
        text, width = self.read(number, stage), self.wires[number].width
        above = ""
        for place in range(width):
            bit = f"{text}[{place}]" if width > 1 else text
            if threshold >> place & 1:
                above = f"({bit} & {above})" if above else ""
            else:
                above = f"({bit} | {above})" if above else bit
        assert above, "no digit is above its highest value"
        return above

    def _grown(self, part: str, operand: LogicWire, top: int, more: int, text: str) -> str:
        sign = f"{text}[{top}]" if operand.signed else "1'b0"
        return f"{{{{{more}{{{sign}}}}}, {part}}}"

    def _number(self, number: int, stage: int, signed: bool) -> str:
        """An operand of a product, whose width is its own."""
        if not signed:
            return self.read(number, stage)
        wire = self.wires[number]
        return f"$signed({self.fitted(number, stage, wire.width + (not wire.signed))})"

    def _rom(self, number: int, name: str, stage: int) -> str:
        wire = self.wires[number]
        table = wire.imm
        assert isinstance(table, tuple)
        bits = sum(self.wires[a].width for a in wire.args)
        index = ", ".join(self.read(a, stage) for a in reversed(wire.args))
        lines = [f"reg {_span(wire)}{name};", "always @*", f"    case ({{{index}}})"]
        last = table[-1]
        for place, value in enumerate(table[: 1 << bits]):
            if value != last:
                lines.append(f"        {bits}'d{place}: {name} = {_literal(value, wire.width)};")
        return "\n".join([*lines, f"        default: {name} = {_literal(last, wire.width)};", "    endcase"])


def _pair(imm: object) -> tuple[int, int]:
    assert isinstance(imm, tuple)
    return imm[0], imm[1]


def _span(wire: LogicWire) -> str:
    return f"[{wire.width - 1}:0] " if wire.width > 1 else ""


def _literal(value: int, width: int) -> str:
    return f"{width}'d{value % (1 << width)}"
