"""A core that runs instructions symbolically, from where one begins to stand in decode to where the next one does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bitwuzla import Kind, Term

from verify.core_timing.clock_cycle import ClockCycle
from verify.core_timing.logic_bits import LogicBit, LogicBits, LogicWord, known, numbered, same
from verify.core_timing.pipeline_view import PipelineView
from verify.rtl.netlist import Bit, Netlist, NetlistCell, Refuted

RESET_CYCLES = 100
"""By then a core has fetched its first instruction."""
MAX_STATES = 64
"""Of the control registers, behind one instruction."""
Registers = Mapping[str, Sequence[LogicBit]]


@dataclass(frozen=True)
class Begin:
    """Where an instruction begins: cycles since the one before began, conditions on the way, and the registers."""

    cycles: int
    path: list[Term]
    registers: Registers


class SymbolicCore:
    """``fixed``: bits of data registers that have not changed so far -> their value."""

    def __init__(self, logic: LogicBits, netlist: Netlist, view: PipelineView) -> None:
        self.logic, self.netlist, self.view = logic, netlist, view
        wanted = [view.clock, view.enters, view.redirects, view.taken, *view.instruction, *view.operands]
        wanted += [name for nets in (*view.never.values(), view.zero_where_one_begins) for name, _ in nets]
        for name in wanted:
            if name not in netlist.nets:
                raise Refuted(f"the core has no net {name}; its RTL is another than this proof knows")
        (clock,) = netlist.nets[view.clock]
        for cell in netlist.registers:
            if list(cell.pins["CLK"]) != [clock] or not cell.number("CLK_POLARITY"):
                raise Refuted(f"the register {cell.name} has another clock than {view.clock}")
        self.instruction = {netlist.drivers[netlist.nets[name][0]][0].name for name in view.instruction}
        self.zero = {netlist.nets[name][place] for name, place in view.zero_where_one_begins}
        named = _names(netlist)
        self.data = [cell for cell in netlist.registers if self._is_data(named[cell.pins["Q"][0]])]
        followed = self.instruction | {cell.name for cell in self.data}
        self.control = [cell for cell in netlist.registers if cell.name not in followed]
        self.first = self._behind_reset()
        """Where the first instruction begins."""
        self.fixed = dict(self._constants(self.first))

    def _is_data(self, names: Sequence[str]) -> bool:
        return any(self.view.data.search(name) for name in names)

    def _behind_reset(self) -> Begin:
        """Returns where the first instruction begins. Refuted where that is not known."""
        registers: Registers = {
            cell.name: self.logic.unknown(cell.name, len(cell.pins["Q"])) if cell.type == "$dff" else _reset(cell)
            for cell in self.netlist.registers
        }
        for number in range(RESET_CYCLES):
            cycle = self._cycle(registers)
            begins = self._begins(cycle)
            registers = cycle.after()
            if begins == 1:
                return Begin(number + 1, self._where_one_begins(registers), registers)
            if begins != 0:
                break
        raise Refuted("it is not known when the core's first instruction begins")

    def _constants(self, begin: Begin) -> Iterator[tuple[Bit, int]]:
        """Yields the bits of data registers that are known, and those that are 0 where an instruction begins."""
        for cell in self.data:
            for net, bit in zip(cell.pins["Q"], begin.registers[cell.name], strict=True):
                if net in self.zero:
                    yield net, 0
                elif isinstance(bit, int):
                    yield net, bit

    def start(self, state: Sequence[int], instruction: LogicWord) -> Registers:
        """Returns the registers of a state, with any data."""
        bits = iter(state)
        registers: dict[str, Sequence[LogicBit]] = dict.fromkeys(self.instruction, instruction)
        for cell in self.control:
            registers[cell.name] = [next(bits) for _ in cell.pins["Q"]]
        for cell in self.data:
            word = self.logic.unknown(cell.name, len(cell.pins["Q"]))
            registers[cell.name] = [self.fixed.get(net, bit) for net, bit in zip(cell.pins["Q"], word, strict=True)]
        return registers

    def run(self, registers: Registers, taken: bool | None, limit: int) -> Iterator[Begin]:
        """Yields where the next instruction can begin. Refuted where none begins within ``limit`` cycles."""
        here: list[Term] = []
        for cycles in range(1, limit + 1):
            cycle = self._cycle(registers, taken if cycles == 1 else None)
            for nets in self.view.never.values():
                if not self._assume(here, self.logic.all_of(cycle.net(name)[place] for name, place in nets), False):
                    return
            begins = self._begins(cycle)
            registers = cycle.after()
            if begins != 0:
                there = [
                    *here,
                    *([] if begins == 1 else [self.logic.holds(begins)]),
                    *self._where_one_begins(registers),
                ]
                if self._possible(there):
                    yield Begin(cycles, there, registers)
                if begins == 1:
                    return
                here.append(self.logic.holds(self.logic.inverse(begins)))
                if not self._possible(here):
                    return
        if self._possible(here):
            raise Refuted(f"no instruction begins within {limit} cycles")

    def states_of(self, begin: Begin) -> Iterator[tuple[int, ...]]:
        """Yields each state of the control registers that a begin can have. Refuted where they are too many."""
        word = [bit for cell in self.control for bit in begin.registers[cell.name]]
        if (bits := known(word)) is not None:
            yield tuple(bits)
            return
        term, path = self.logic.joined(word), list(begin.path)
        for _ in range(MAX_STATES):
            found = self.logic.terms.value(path, term, "a state of the control registers")
            if found is None:
                return
            yield tuple(found >> place & 1 for place in range(len(word)))
            path.append(self.logic.terms.term(Kind.DISTINCT, [term, self.logic.terms.number(found, len(word))]))
        raise Refuted(f"the control registers have over {MAX_STATES} states behind one instruction")

    def constant(self, begin: Begin) -> bool:
        """Returns whether all fixed bits have kept their value; those that have not are no longer fixed. Refuted where
        the registers of the instruction hold different words."""
        words = [begin.registers[name] for name in sorted(self.instruction)]
        for other in words[1:]:
            alike = self.logic.equal(zip(words[0], other, strict=True))
            if alike != 1 and self._possible([*begin.path, self.logic.holds(self.logic.inverse(alike))]):
                raise Refuted("the registers of the instruction in decode differ")
        freed = False
        for cell in self.data:
            pairs = [
                (net, bit)
                for net, bit in zip(cell.pins["Q"], begin.registers[cell.name], strict=True)
                if net in self.fixed and net not in self.zero and not same(bit, self.fixed[net])
            ]
            if pairs:
                kept = self.logic.equal((bit, self.fixed[net]) for net, bit in pairs)
                if kept == 0 or self._possible([*begin.path, self.logic.holds(self.logic.inverse(kept))]):
                    freed = True
                    for net, _ in pairs:
                        del self.fixed[net]
        return not freed

    def _cycle(self, registers: Registers, taken: bool | None = None) -> ClockCycle:
        """Returns a cycle; ``taken``: whether the branch in decode is, whatever its operands are."""
        inputs: dict[Bit, LogicBit] = {}
        for name, (direction, nets) in self.netlist.ports.items():
            if direction == "input":
                inputs |= zip(nets, self._input(name, len(nets)), strict=True)
        for name in self.view.operands:
            nets = self.netlist.nets[name]
            inputs |= zip(nets, self.logic.unknown(name, len(nets)), strict=True)
        if taken is not None:
            inputs[self.netlist.nets[self.view.taken][0]] = int(taken)
        return ClockCycle(self.logic, self.netlist, registers, inputs)

    def _input(self, name: str, width: int) -> LogicWord:
        constant = self.view.inputs.get(name)
        return self.logic.unknown(name, width) if constant is None else numbered(constant, width)

    def _begins(self, cycle: ClockCycle) -> LogicBit:
        enters, redirects = (cycle.net(name)[0] for name in (self.view.enters, self.view.redirects))
        return self.logic.both(enters, self.logic.inverse(redirects))

    def _where_one_begins(self, registers: Registers) -> list[Term]:
        conditions: list[Term] = []
        for net in self.zero:
            cell, place = self.netlist.drivers[net]
            self._assume(conditions, registers[cell.name][place], False)
        return conditions

    def _assume(self, conditions: list[Term], bit: LogicBit, value: bool) -> bool:
        """Adds that a bit has a value; False where it has the other one."""
        if isinstance(bit, int):
            if bit != value:
                conditions.append(self.logic.holds(0))
            return bit == value
        conditions.append(self.logic.holds(bit if value else self.logic.inverse(bit)))
        return True

    def _possible(self, conditions: Sequence[Term]) -> bool:
        return self.logic.terms.satisfiable(conditions, "a step of the pipeline")


def _reset(cell: NetlistCell) -> LogicWord:
    """Returns what a register holds behind a reset. Refuted where that is no constant."""
    if any(bit not in ("0", "1") for bit in cell.pins["AD"]):
        raise Refuted(f"the register {cell.name} has no constant after a reset")
    return [int(bit) for bit in cell.pins["AD"]]


def _names(netlist: Netlist) -> dict[Bit, list[str]]:
    """Returns net -> the public names of words that it is in."""
    named: dict[Bit, list[str]] = {net: [] for cell in netlist.registers for net in cell.pins["Q"]}
    for name, nets in netlist.nets.items():
        for net in nets:
            if net in named and not name.startswith("$"):
                named[net].append(name)
    return named
