"""The decision around a network as C: the nodes one a line, as for trees. The network is one call, which also writes
the LSTM's state back to the context.

    const int16_t inputs[2] = {(int16_t)action_input, (int16_t)congestion_input};
    const int32_t network = rlcc_network(inputs, flow->hidden, flow->cell);
"""

from codegen.ctypes99 import I32, type_of
from codegen.initialisers import is_vector
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.trees_c import Statement
from decision.program import Op, Program


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
        agent = self.program.interface.agent
        state = f", {agent}->hidden, {agent}->cell" if network.lstm else ""
        self._before = []
        call = self._cast(number, f"rlcc_network(inputs{state})", I32, type_of(node))
        return [
            Statement(f"const int16_t inputs[{network.inputs}] = {{{values}}};"),
            *self._before,
            Statement(f"const {type_of(node)} {self.names[number]} = {call};", node.note),
        ]


def inputs_of(program: Program) -> tuple[int, ...]:
    """Operands of the program's network."""
    return next(node.args for node in program.nodes if node.op is Op.NETWORK)
