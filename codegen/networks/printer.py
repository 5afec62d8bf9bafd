"""The decision around a network as C: the nodes one a line, as for trees. The network is one call, which also writes
the LSTM's state back to the context.

    const int16_t inputs[2] = {(int16_t)action_input, (int16_t)congestion_input};
    const int32_t network = rlcc_network(inputs, flow->hidden, flow->cell);
"""

import re
from collections.abc import Sequence

from codegen.ctypes99 import I32, type_of
from codegen.layout import LaidOut
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.trees_c import Statement
from spec.program import Op, Program

VECTORS = ("hidden", "cell")
"""Fields of the context that are arrays in C: hidden_0, hidden_1, .. are hidden[0], hidden[1], .."""


class NetworkPrinter(Printer):
    """Prints a program with a network."""

    def __init__(self, lowered: LoweredProgram) -> None:
        super().__init__(lowered, lambda feature, threshold: "")

    def writes(self) -> list[Statement]:
        """The new flow context, without what the network itself writes."""
        kept = [not is_vector(s.name) for s in self.program.state]
        return [line for line, keep in zip(super().writes(), kept, strict=True) if keep]

    def _statement(self, number: int) -> list[Statement]:
        node = self.program.nodes[number]
        if node.op is Op.STATE and is_vector(self.program.state[node.imm].name):
            return []
        if node.op is not Op.NETWORK:
            return super()._statement(number)
        if node.imm:
            return []
        network = self.program.network
        assert network is not None
        taken = [self._value(a, type_of(self.program.nodes[a])) for a in node.args[: network.inputs]]
        values = ", ".join(f"(int16_t){value}" for value in taken)
        state = ", flow->hidden, flow->cell" if network.lstm else ""
        self._before = []
        call = self._cast(number, f"rlcc_network(inputs{state})", I32, type_of(node))
        return [
            Statement(f"const int16_t inputs[{network.inputs}] = {{{values}}};"),
            *self._before,
            Statement(f"const {type_of(node)} {self.names[number]} = {call};", node.note),
        ]


def is_vector(name: str) -> bool:
    return re.fullmatch(rf"({'|'.join(VECTORS)})_\d+", name) is not None


def declared(fields: Sequence[LaidOut]) -> list[LaidOut]:
    """The context's fields as C declares them: an array for each vector, at the place of its first element."""
    found: list[LaidOut] = []
    for field in fields:
        stem = field.name.rsplit("_", 1)[0]
        if not is_vector(field.name):
            found.append(field)
        elif field.name.endswith("_0"):
            count = sum(1 for f in fields if is_vector(f.name) and f.name.rsplit("_", 1)[0] == stem)
            found.append(LaidOut(f"{stem}[{count}]", field.ctype, field.offset, field.note))
    return found


def elements(fields: Sequence[LaidOut]) -> list[LaidOut]:
    """Every value of the context as C names it."""
    return [
        LaidOut(f"{f.name.rsplit('_', 1)[0]}[{f.name.rsplit('_', 1)[1]}]", f.ctype, f.offset)
        if is_vector(f.name)
        else f
        for f in fields
    ]


def initialiser(fields: Sequence[LaidOut], values: Sequence[str]) -> str:
    """A C initialiser of the context: braces around each vector."""
    parts: list[str] = []
    vector: dict[str, list[str]] = {}
    for field, value in zip(fields, values, strict=True):
        if not is_vector(field.name):
            parts.append(value)
            continue
        stem = field.name.rsplit("_", 1)[0]
        if stem not in vector:
            vector[stem] = []
            parts.append(stem)
        vector[stem].append(value)
    return "{" + ", ".join("{" + ", ".join(vector[p]) + "}" if p in vector else p for p in parts) + "}"


def inputs_of(program: Program) -> tuple[int, ...]:
    """Operands of the program's network."""
    return next(node.args for node in program.nodes if node.op is Op.NETWORK)
