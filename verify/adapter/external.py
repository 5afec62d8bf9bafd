"""Calls of functions that are not in the adapter, after the RISC-V calling convention."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from verify.adapter.policy import WORD
from verify.code.failures import Refused
from verify.rv64.decoder import SP, Rv64Instruction
from verify.rv64.graph import Place, following
from verify.rv64.memory import STACK, Slot, Slots, read, written
from verify.rv64.values import MachineWord, PointerUse
from verify.rv64.walk import KEPT, Rv64State, Rv64Walk
from verify.rv64.words import XLEN

A0 = 10


def record_slot(name: str) -> Slot:
    """Returns the place, out of reach of all code, that holds what the adapter handed to a function."""
    return f"call {name}", 0, XLEN // 8


class ExternalCall:
    """One call on the paths that lead to it: what its model reads of the arguments and writes."""

    def __init__(self, walk: "AdapterWalk", i: Rv64Instruction, state: Rv64State) -> None:
        self.walk, self.i, self.state, self.slots = walk, i, state, state.slots

    def argument(self, n: int) -> MachineWord:
        """Returns what register a0, a1, .. holds."""
        return self.walk._register(self.i, self.state, A0 + n)

    def points_to(self, n: int, base: str) -> None:
        """Raises Refused unless an argument is the address of a structure."""
        if not _is_pointer(self.argument(n), base):
            raise Refused("not-proved", self.i.address, f"argument {n} of a call is not the {base}")

    def record(self, name: str, word: MachineWord) -> None:
        """Keeps a word that the function got, for the comparison at the return."""
        self.slots = {**self.slots, record_slot(name): word}

    def count(self, name: str) -> None:
        """Counts the call."""
        words = self.walk.words
        self.record(name, words.add(self.slots[record_slot(name)], words.number(1)))

    def word(self, n: int, offset: int) -> MachineWord:
        """Returns the 32-bit word that the function reads behind argument ``n``: of a structure, or a constant."""
        constants, to = self.walk.constants, self.argument(n)
        if to.constant and not to.base and to.signed + offset in range(constants.low, constants.high - WORD + 1, WORD):
            return constants.read(self.walk.words.number(to.signed + offset), WORD, False)
        base, at = self._place(n, offset, store=False)
        return read(self.walk.words, self.slots, self.i.address, base, at, WORD, False)

    def write(self, n: int, offset: int, word: MachineWord) -> None:
        """Stores a 32-bit word behind argument ``n``, as the function does."""
        base, at = self._place(n, offset, store=True)
        self.slots = written(self.walk.words, self.slots, (base, at, WORD), word)

    def _place(self, n: int, offset: int, store: bool) -> tuple[str, int]:
        to = self.argument(n)
        if not to.constant or not to.base:
            raise Refused("load-address", self.i.address, f"argument {n} of a call is no address of a structure")
        self.walk.frame.check(self.i.address, to.base, to.signed + offset, WORD, store)
        self.walk._in_the_frame(self.i, self.state, to.base, to.signed + offset)
        return to.base, to.signed + offset


Model = Callable[[ExternalCall], MachineWord | None]
"""Meaning of a function: reads and writes by the call, and returns a0."""


class AdapterWalk(Rv64Walk):
    """A walk that puts models in the place of stubs. Set ``models``, by address, and ``arguments`` before the run."""

    models: dict[int, Model]
    arguments: Sequence[MachineWord]
    calls = 0
    divides = True

    def start(self, slots: Slots) -> Rv64State:
        state = super().start(slots)
        handed = (*self.arguments, *[None] * (8 - len(self.arguments)))
        return replace(state, registers=(*state.registers[:A0], *handed, *state.registers[A0 + 8 :]))

    def _step(self, number: int, place: Place, state: Rv64State) -> list[tuple[Place | None, Rv64State]]:
        model, i = self.models.get(place[0]), self.code[place[0]]
        if model is None:
            return super()._step(number, place, state)
        self.calls += 1
        call = ExternalCall(self, i, state)
        try:
            result = model(call)
        except PointerUse:
            raise Refused("not-proved", i.address, f"a function gets a pointer as a number at {i.address:#x}") from None
        to = self._back(i, place, following(self.code, place), state)
        return [(to, Rv64State(state.paths, self._registers_after(state, result), self._memory_after(call)))]

    def _registers_after(self, state: Rv64State, result: MachineWord | None) -> tuple[MachineWord | None, ...]:
        """The registers that a function keeps, and its result in a0. The others hold nothing."""
        kept = [word if n in (0, *KEPT) else None for n, word in enumerate(state.registers)]
        return (*kept[:A0], result, *kept[A0 + 1 :])

    def _memory_after(self, call: ExternalCall) -> Slots:
        """The memory, without the stack below its pointer, which belongs to the function."""
        pointer = self._register(call.i, call.state, SP).signed
        return {slot: word for slot, word in call.slots.items() if slot[0] != STACK or slot[1] >= pointer}


def _is_pointer(word: MachineWord, base: str) -> bool:
    return word.constant and (word.base, word.signed) == (base, 0)
