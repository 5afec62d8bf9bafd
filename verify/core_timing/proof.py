"""How many cycles each instruction takes, from every state of the pipeline in which it can begin.

A state is what the control registers hold where an instruction begins to stand in decode; registers of data may hold
anything. The states are found from reset on: each instruction is run symbolically from each of them to where the next
one begins. A branch that is taken and one that is not are two; its operands are not looked at.

The claim is about any sequence of the decoder's instructions (verify/trusted/machine.py) behind a reset, with aligned
accesses, 32 bits an instruction at multiples of 4 (of whatever the last jump goes to, too), and no interrupt and no
fault. An instruction ends where another begins; that this is the right one is not looked at. Believed are Yosys' reader
of SystemVerilog, the meaning of its cells as verify/core_timing/clock_cycle.py has it, and Bitwuzla.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from decision.artefact.errors import InputError
from verify.core_timing.logic_bits import LogicBits, LogicWord
from verify.core_timing.pipeline_view import PipelineView
from verify.core_timing.symbolic_core import Begin, SymbolicCore
from verify.rtl.netlist import Netlist, Refuted
from verify.terms.bits import BitTerms
from verify.trusted.costs import CycleModel
from verify.trusted.machine import BRANCHES, ENCODINGS, Instruction

MAX_CYCLES = 48
"""Of an instruction."""
Control = tuple[int, ...]
"""Bits of all control registers, where an instruction begins."""


@dataclass(frozen=True)
class TimedInstruction:
    """``taken``: None for what is no branch."""

    name: str
    taken: bool | None = None

    def __str__(self) -> str:
        return self.name if self.taken is None else f"{self.name}, {'taken' if self.taken else 'not taken'}"


TIMED = (
    *(TimedInstruction(name) for name in ENCODINGS if name not in BRANCHES),
    *(TimedInstruction(name, taken) for name in BRANCHES for taken in (False, True)),
)


@dataclass
class InstructionCycles:
    """``states``: in which an instruction can begin; ``cycles``: instruction -> all numbers of cycles that it can take
    from them; ``questions``: to the solver."""

    states: int = 0
    questions: int = 0
    cycles: dict[TimedInstruction, set[int]] = field(default_factory=dict)


def timing(
    netlist: Netlist,
    view: PipelineView,
    instructions: Sequence[TimedInstruction] = TIMED,
    progress: Callable[[str], None] = lambda text: None,
) -> InstructionCycles:
    """Returns the cycles that instructions take in any sequence of them. Refuted where the core does not go on, or is
    not the one that the view is of; LogicUndecided where the solver found no answer in its time."""
    exploration = _Exploration(LogicBits(BitTerms()), netlist, view, instructions, progress)
    while not exploration.closed():
        progress("a register of data changes: once more")
    found = exploration.timing
    found.questions = exploration.logic.terms.questions
    return found


def differences(found: InstructionCycles, model: CycleModel) -> list[str]:
    """Returns a sentence for each instruction that does not always take the model's cycles.

    Raises InputError for a core with a write-back stage and for memories with wait states: cycles depend on the
    instruction before there, or on the address, which are not followed here."""
    if model.writeback_stage:
        raise InputError(
            f"profile {model.profile} has a write-back stage, where cycles depend on the instruction before; "
            "this proof knows cores of two stages"
        )
    if model.instruction_wait or model.data_wait or model.table_wait:
        raise InputError(f"profile {model.profile} has memories with wait states; this proof knows memories without")
    sentences: list[str] = []
    for instruction, cycles in found.cycles.items():
        due = model.step(Instruction(0, 0, instruction.name, 0, 0, 0, 0), bool(instruction.taken), None)
        if cycles != {due}:
            taken = " or ".join(map(str, sorted(cycles))) or "no"
            sentences.append(f"{instruction} takes {taken} cycles, and the model says {due}")
    return sentences


class _Exploration:
    def __init__(
        self,
        logic: LogicBits,
        netlist: Netlist,
        view: PipelineView,
        instructions: Sequence[TimedInstruction],
        progress: Callable[[str], None],
    ) -> None:
        self.logic, self.instructions, self.progress = logic, instructions, progress
        self.core = SymbolicCore(logic, netlist, view)
        self.timing = InstructionCycles()

    def closed(self) -> bool:
        """Finds the states; False if they are too few, because a data register's bit turned out not to be constant."""
        states = dict.fromkeys(self.core.states_of(self.core.first))
        waiting, constant = list(states), self.core.constant(self.core.first)
        self.timing = InstructionCycles(cycles={instruction: set() for instruction in self.instructions})
        while waiting:
            state = waiting.pop()
            self.progress(f"{len(states)} states found, {len(waiting) + 1} to look into")
            for instruction in self.instructions:
                for begin in self._begins(state, instruction):
                    self.timing.cycles[instruction].add(begin.cycles)
                    constant = self.core.constant(begin) and constant
                    new = [found for found in self.core.states_of(begin) if found not in states]
                    states |= dict.fromkeys(new)
                    waiting += new
        self.timing.states = len(states)
        return constant

    def _begins(self, state: Control, instruction: TimedInstruction) -> Iterator[Begin]:
        """Yields where the next instruction can begin. Refuted where none can."""
        registers = self.core.start(state, self._pattern(instruction.name))
        found = False
        for begin in self.core.run(registers, instruction.taken, MAX_CYCLES):
            found = True
            yield begin
        if not found:
            raise Refuted(f"nothing begins behind {instruction}")

    def _pattern(self, name: str) -> LogicWord:
        """Returns a word of an instruction, all its operands unknown."""
        _, mask, value = ENCODINGS[name]
        word = self.logic.unknown(name, 32)
        return [value >> place & 1 if mask >> place & 1 else word[place] for place in range(32)]
