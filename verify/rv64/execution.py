"""One execution of the linked code on all inputs at once: its outputs as words, next to the nodes they should be."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from bitwuzla import Term

from decision.ir.arrays import Integers
from decision.ir.program import Program
from emulator.elf import Image
from emulator.firmware import ENTRY
from emulator.layout import Layout, Records
from emulator.vectors import columns_of
from verify.code.arguments import structures
from verify.code.failures import Refused
from verify.rv64.decoder import decode_text
from verify.rv64.memory import AllowedPlaces, Constants, Slots, read
from verify.rv64.nodes import NodeUnknowns, sampled
from verify.rv64.paths import Branches, Paths
from verify.rv64.values import MachineWord, MachineWords
from verify.rv64.walk import Rv64State, Rv64Walk, WalkJudge, check_kept
from verify.rv64.words import XLEN, Numbers
from verify.terms.bits import BitTerms

A0, RETURNED_BITS = 10, 32
"""The register of the return value, which holds 32 bits extended by their sign, whatever their C type."""


@dataclass(frozen=True)
class Output:
    """A word that the code leaves, and the node that it should be: ``word`` and ``due`` agree in all 64 bits."""

    name: str
    word: MachineWord
    node: int
    due: Term
    due_samples: Numbers
    address: int
    """Address of the function."""

    @property
    def kind(self) -> str:
        """Returns the kind of failure if the two differ."""
        return "wrong-context" if self.name.startswith("context.") else "wrong-result"

    def differing(self) -> Integers:
        """Returns the numbers of the samples on which the two differ."""
        return np.flatnonzero(np.broadcast_to(self.word.samples != self.due_samples, self.due_samples.shape))


class Rv64Execution:
    """The code of an image, ready to be walked. ``records``: the sampled inputs."""

    def __init__(
        self, image: Image, program: Program, layouts: Mapping[str, Layout], records: Records, stack_limit: int
    ) -> None:
        self.program, self.records = program, records
        self.entry = image.symbols[ENTRY]
        self.bits = BitTerms()
        self.words = MachineWords(self.bits)
        self.nodes = NodeUnknowns(self.bits, program)
        self.samples = sampled(self.nodes, columns_of(records))
        self.branches = Branches(self.words, self.bits, self.samples.shape[1])
        self.structures = {s.name: s for s in structures(program, layouts)}
        self.frame = AllowedPlaces(self.structures, stack_limit)
        self.constants = Constants(image, self.bits)
        self.code = decode_text(image)
        self.stack_bytes = 0

    def run(self, judge: WalkJudge) -> list[Output]:
        """Returns the outputs. Raises Refused where the code does what it may not."""
        walk = Rv64Walk(self.code, self.entry, self.words, self.frame, self.constants, self.branches, judge)
        end = walk.run(self._inputs())
        self.stack_bytes = walk.stack_bytes
        check_kept(end, self.entry)
        return self._outputs(end)

    def _inputs(self) -> Slots:
        """The memory at the call: the structures' fields."""
        slots: Slots = {}
        node_of = {self.program.key(node): n for n, node in enumerate(self.program.nodes)}
        for name, structure in self.structures.items():
            for field in structure.fields if name != "action" else ():
                samples = np.ascontiguousarray(self.records[name][field.name]).astype(np.int64).view(np.uint64)
                n = node_of.get(f"{name}.{field.name}")
                if n is None:  # a field that the program does not read
                    word = MachineWord(self.bits.unknown(f"{name}.{field.name}", XLEN), samples)
                else:
                    word = MachineWord(self.nodes.word(n), samples, frozenset({n}))
                slots[name, field.offset, field.size] = word
        return slots

    def _outputs(self, end: Rv64State) -> list[Output]:
        found: list[Output] = []
        results = dict(zip(self.program.interface.knob_names, self.program.results, strict=True))
        if "action" not in self.structures:
            word = end.registers[A0]
            if word is None or word.base:
                raise Refused("load-unwritten", self.entry, "the return value is not written on every path")
            found.append(self._output("return value", word, self.program.result, RETURNED_BITS))
        due = {"context": {field.name: field.node for field in self.program.state}, "action": results}
        for group, nodes in due.items():
            for field in self.structures[group].fields if group in self.structures else ():
                word = read(self.words, end.slots, self.entry, group, field.offset, field.size, signed=True)
                found.append(self._output(f"{group}.{field.name}", word, nodes[field.name], 8 * field.size))
        return found

    def _output(self, name: str, word: MachineWord, node: int, bits: int) -> Output:
        if word.base:
            raise Refused("not-proved", self.entry, f"{name} is a pointer at the return")
        due = self.words.terms.low(self.nodes.word(node), bits, True)
        return Output(name, word, node, due, self.words.numbers.low(self.samples[node], bits, True), self.entry)


def simulated(
    image: Image, program: Program, layouts: Mapping[str, Layout], records: Records, stack_limit: int
) -> list[Output]:
    """Returns the outputs on samples, without a question to a solver. Raises Refused where the code does what it may
    not, on the samples as far as addresses depend on inputs."""
    execution = Rv64Execution(image, program, layouts, records, stack_limit)

    def shown(flag: MachineWord, paths: Paths, address: int) -> None:
        if (wrong := execution.branches.mask(paths) & (flag.samples == 0)).any():
            raise OutsideConstants(address, int(np.flatnonzero(wrong)[0]))

    def same(word: MachineWord, paths: Paths) -> MachineWord:
        return word

    return execution.run(WalkJudge(same, same, shown))


class OutsideConstants(Refused):
    """A load that the inputs of sample ``index`` take outside the constants, or to an address it may not have."""

    def __init__(self, address: int, index: int) -> None:
        super().__init__("load-outside", address, f"a load outside the constants, or misaligned, at {address:#x}")
        self.index = index
