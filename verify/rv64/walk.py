"""Symbolic execution of the linked RV64 code: every instruction once, all ways to it joined before.

Code that does what it must not is refused. A load's address that the inputs decide must be shown to lie
within the constants.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from verify.code.failures import Refused
from verify.rv64.decoder import BRANCHES, LOADS, RA, SP, STORES, Rv64Instruction
from verify.rv64.graph import Place, following, ordered
from verify.rv64.meaning import CONDITIONS, DIVISIONS, IMMEDIATES, LOAD_SIGNED, REGISTERS
from verify.rv64.memory import STACK, AllowedPlaces, Constants, Slots, joined_places, read, written
from verify.rv64.paths import START, Branches, Paths, met, taken
from verify.rv64.values import MachineWord, MachineWords, PointerUse
from verify.rv64.words import XLEN

KEPT = (SP, 3, 4, 8, 9, *range(18, 28))
"""sp, gp, tp, s0 to s11: as at the call when the function returns."""
MAX_PATHS = 5_000
RETURN, CODE = "return", "code"
"""Bases of the return address at the call, and of addresses in the code."""

Registers = tuple[MachineWord | None, ...]


@dataclass(frozen=True)
class Rv64State:
    """Registers and memory on some paths."""

    paths: Paths
    registers: Registers
    slots: Slots


@dataclass(frozen=True)
class WalkJudge:
    """Questions of the walk.

    ``named``: a number as a value of the program, where it can be shown to be one; ``factor``: as one that the program
    multiplies; ``shown``: raises Refused where a condition may be 0, about a load at an address."""

    named: Callable[[MachineWord, Paths], MachineWord]
    factor: Callable[[MachineWord, Paths], MachineWord]
    shown: Callable[[MachineWord, Paths, int], None]


class Rv64Walk:
    """One walk from the call to the return."""

    divides = False
    """Whether the code may divide."""

    def __init__(
        self,
        code: Mapping[int, Rv64Instruction],
        entry: int,
        words: MachineWords,
        frame: AllowedPlaces,
        constants: Constants,
        branches: Branches,
        judge: WalkJudge,
    ) -> None:
        self.code, self.entry, self.words = code, entry, words
        self.frame, self.constants, self.branches, self.judge = frame, constants, branches, judge
        self.stack_bytes = 0

    def start(self, slots: Slots) -> Rv64State:
        """Returns the state at the call: pointers in a0, a1, .., and in other registers what no code may count on."""
        registers: list[MachineWord | None] = [None] * 32
        for n in KEPT:
            registers[n] = self.words.pointer(STACK if n == SP else f"x{n}")
        registers[0], registers[RA] = self.words.number(0), self.words.pointer(RETURN)
        for n, name in enumerate(self.frame.structures):
            registers[10 + n] = self.words.pointer(name)
        return Rv64State(START, tuple(registers), slots)

    def run(self, slots: Slots) -> Rv64State:
        """Returns the state at the return. Refused where the code does what it may not."""
        order = ordered(self.code, self.entry)
        waiting: dict[Place, list[Rv64State]] = {order[0]: [self.start(slots)]}
        returned: list[Rv64State] = []
        for number, place in enumerate(order):
            if place not in waiting:
                continue
            state = self._joined(waiting.pop(place), place[0])
            for target, after in self._step(number, place, state):
                (returned if target is None else waiting.setdefault(target, [])).append(after)
        if waiting:
            raise Refused("indirect-jump", min(waiting)[0], "control goes where the code's order has no place for it")
        return self._joined(returned, self.entry)

    def _joined(self, states: Sequence[Rv64State], address: int) -> Rv64State:
        if len(states) == 1:
            return states[0]
        paths = met([state.paths for state in states])
        if len(paths) > MAX_PATHS or sum(len(state.paths) for state in states) > MAX_PATHS:
            raise Refused("too-large", address, f"more than {MAX_PATHS} paths meet at {address:#x}")

        def merged(words: Sequence[MachineWord | None]) -> MachineWord | None:
            one = self.branches.merged([(s.paths, word) for s, word in zip(states, words, strict=True)])
            if one is None or one.base or any(one is word for word in words):
                return one
            return self.judge.named(one, paths)

        registers = tuple(map(merged, zip(*(state.registers for state in states), strict=True)))
        memories = joined_places(self.words, [state.slots for state in states], address)
        slots = {slot: merged([slots[slot] for slots in memories]) for slot in memories[0]}
        return Rv64State(paths, registers, {slot: word for slot, word in slots.items() if word is not None})

    def _step(self, number: int, place: Place, state: Rv64State) -> list[tuple[Place | None, Rv64State]]:
        i, places = self.code[place[0]], following(self.code, place)
        try:
            if i.name in BRANCHES:
                return self._branch(number, i, places, state)
            if i.name == "jalr" and i.rd == 0 and i.rs1 == RA:
                return [(self._back(i, place, places, state), state)]
            return [(places[0], self._plain(i, state, places[0][0]))]
        except PointerUse:
            raise Refused(
                "not-proved", i.address, f"a pointer is used as a number at {i.address:#x} ({i.name})"
            ) from None

    def _branch(
        self, number: int, i: Rv64Instruction, places: Sequence[Place], state: Rv64State
    ) -> list[tuple[Place | None, Rv64State]]:
        flag = CONDITIONS[i.name](self.words, self._register(i, state, i.rs1), self._register(i, state, i.rs2))
        if flag.constant:
            return [(places[flag.signed], state)]
        self.branches.flags[number] = flag
        return [
            (place, Rv64State(taken(state.paths, number, bool(way)), state.registers, state.slots))
            for way, place in enumerate(places)
        ]

    def _back(self, i: Rv64Instruction, place: Place, places: Sequence[Place], state: Rv64State) -> Place | None:
        """The place behind a return, which the register must hold."""
        to = self._register(i, state, RA)
        due = (CODE, place[1][-1]) if place[1] else (RETURN, 0)
        if not to.constant or (to.base, to.signed) != due:
            raise Refused("indirect-jump", i.address, f"the return at {i.address:#x} does not go back to the call")
        return places[0] if places else None

    def _plain(self, i: Rv64Instruction, state: Rv64State, to: int) -> Rv64State:
        words, slots = self.words, state.slots
        if i.name in STORES:
            return replace(state, slots=self._stored(i, state))
        if i.name in LOADS:
            value = self._load(i, state)
        elif i.name in ("jal", "jalr"):
            if i.name == "jalr":
                self._check_target(i, state, to)
            value = words.pointer(CODE, i.after)
        elif i.name == "auipc":
            value = words.number(i.address + i.imm)
        elif i.name in DIVISIONS and not self.divides:
            raise Refused("illegal-instruction", i.address, f"a division ({i.name}) at {i.address:#x}")
        elif i.name in REGISTERS:
            operands = [self._register(i, state, n) for n in (i.rs1, i.rs2)]
            if i.name.startswith("mul"):  # solvers are slow with products unless their factors are nodes
                operands = [self._factor(word, state) for word in operands]
            value = REGISTERS[i.name](words, *operands)
        else:
            value = IMMEDIATES[i.name](words, self._register(i, state, i.rs1), words.number(i.imm))
        if i.rd == 0:
            return state
        if i.rd == SP:
            self._moved(i, value)
        if not value.constant and not value.base and all(value is not word for word in state.registers):
            value = self.judge.named(value, state.paths)
        registers = (*state.registers[: i.rd], value, *state.registers[i.rd + 1 :])
        return Rv64State(state.paths, registers, slots)

    def _stored(self, i: Rv64Instruction, state: Rv64State) -> Slots:
        """The memory after a store. An offset that inputs decide must be that of a place: each holds what it held
        unless it is meant."""
        words, size, value = self.words, STORES[i.name], self._register(i, state, i.rs2)
        to = words.add(self._register(i, state, i.rs1), words.number(i.imm))
        if value.base and size < XLEN // 8:
            raise PointerUse
        slots = state.slots
        chosen = {to.signed: words.number(1)} if to.constant else self._places(i, state, to, size)
        for offset, here in chosen.items():
            self.frame.check(i.address, to.base, offset, size, store=True)
            self._in_the_frame(i, state, to.base, offset)
            slot = to.base, offset, size
            after = value if here.constant else words.choice(here, value, slots[slot])
            slots = written(words, slots, slot, after)
        return slots

    def _places(self, i: Rv64Instruction, state: Rv64State, to: MachineWord, size: int) -> dict[int, MachineWord]:
        """The offsets of the places that an access may mean, whose address the inputs decide, each with whether it
        does. Refused: an access that may mean none of them."""
        words = self.words
        offsets = sorted(offset for base, offset, length in state.slots if base == to.base and length == size)
        if not offsets or not to.base:
            raise Refused("load-address", i.address, f"the inputs decide the address of the access at {i.address:#x}")
        distance = replace(to, base="")
        here = {offset: words.equal(distance, words.number(offset)) for offset in offsets}
        self.judge.shown(reduce(words.either, here.values()), state.paths, i.address)
        return here

    def _moved(self, i: Rv64Instruction, pointer: MachineWord) -> None:
        """Counts the stack that is taken. Refused: a stack pointer that is none, or off its 16 bytes (RISC-V ABI)."""
        if not pointer.constant or pointer.base != STACK or pointer.signed > 0 or pointer.signed % 16:
            raise Refused("stack-pointer", i.address, f"no stack pointer at {i.address:#x}")
        if -pointer.signed > self.frame.stack_bytes:
            raise Refused(
                "stack-size", i.address, f"more than {self.frame.stack_bytes} bytes of stack at {i.address:#x}"
            )
        self.stack_bytes = max(self.stack_bytes, -pointer.signed)

    def _in_the_frame(self, i: Rv64Instruction, state: Rv64State, base: str, offset: int) -> None:
        """Refused: an access to the stack below its pointer, where a trap may write."""
        pointer = state.registers[SP]
        if base == STACK and (pointer is None or offset < pointer.signed):
            raise Refused("stack-pointer", i.address, f"an access below the stack pointer at {i.address:#x}")

    def _load_placed(
        self, i: Rv64Instruction, state: Rv64State, to: MachineWord, size: int, signed: bool
    ) -> MachineWord:
        """The contents of a structure or the stack. An offset that inputs decide must be that of such a place."""
        words = self.words

        def held(offset: int) -> MachineWord:
            self.frame.check(i.address, to.base, offset, size, store=False)
            self._in_the_frame(i, state, to.base, offset)
            return read(words, state.slots, i.address, to.base, offset, size, signed)

        if to.constant:
            return held(to.signed)
        places = self._places(i, state, to, size)
        found = held(max(places))
        for offset, flag in sorted(places.items())[:-1]:
            found = words.choice(flag, held(offset), found)
        return found

    def _check_target(self, i: Rv64Instruction, state: Rv64State, to: int) -> None:
        """Raises Refused where a jump does not go where the code's order says."""
        word = self.words.add(self._register(i, state, i.rs1), self.words.number(i.imm))
        if not word.constant or word.base or word.signed & ~1 != to:
            raise Refused("indirect-jump", i.address, f"an indirect jump at {i.address:#x}")

    def _factor(self, word: MachineWord, state: Rv64State) -> MachineWord:
        """A factor as a value of the program on the paths that come here."""
        return word if word.base or word.factor else self.judge.factor(word, state.paths)

    def _register(self, i: Rv64Instruction, state: Rv64State, n: int) -> MachineWord:
        word = state.registers[n]
        if word is None:
            raise Refused("load-unwritten", i.address, f"x{n} holds nothing that is known when {i.address:#x} reads it")
        return word

    def _load(self, i: Rv64Instruction, state: Rv64State) -> MachineWord:
        size, signed = LOADS[i.name], i.name in LOAD_SIGNED
        to = self.words.add(self._register(i, state, i.rs1), self.words.number(i.imm))
        if to.base:
            return self._load_placed(i, state, to, size, signed)
        words, constants = self.words, self.constants
        last = constants.high - constants.low - size
        if last < 0:
            raise Refused("load-outside", i.address, f"a load at {i.address:#x} from constants that there are not")
        beyond = words.less(words.number(last), words.sub(to, words.number(constants.low)), False)
        rest = words.both(to, words.number(size - 1))
        inside = words.equal(words.either(beyond, rest), words.number(0))
        if not inside.constant or not inside.signed:
            self.judge.shown(inside, state.paths, i.address)
        return constants.read(to, size, signed)


def check_kept(end: Rv64State, entry: int) -> None:
    """Raises Refused where a register that the calling convention keeps is not as at the call."""
    for n in KEPT:
        word, base = end.registers[n], STACK if n == SP else f"x{n}"
        if word is None or not word.constant or (word.base, word.signed) != (base, 0):
            kind = "stack-pointer" if n == SP else "callee-saved"
            raise Refused(kind, entry, f"x{n} does not hold at the return what it held at the call")
