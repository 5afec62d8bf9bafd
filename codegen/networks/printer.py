"""The decision around a network as C: the nodes one a line, as for trees. The network is one call, which also writes
the LSTM's state back to the context.

    const int16_t inputs[2] = {(int16_t)action_input, (int16_t)congestion_input};
    const int32_t network = rlcc_network(inputs, flow->hidden, flow->cell);

One that chooses writes the place of a row in each group:

    uint32_t chosen[1];                                 rlcc_network(inputs, chosen);
    const uint32_t row = chosen[0];
"""

from codegen.ctypes99 import I32, U32, type_of
from codegen.initialisers import is_vector
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.trees_c import Statement
from decision.ir.network import Int8Network
from decision.ir.program import Op, Program


class NetworkPrinter(Printer):
    """Prints a program with a network."""

    def __init__(self, lowered: LoweredProgram) -> None:
        super().__init__(lowered, lambda feature, threshold: "")

    def writes(self) -> list[Statement]:
        """The knobs, where there are several, and the new context, without what the network itself writes."""
        lines, state = super().writes(), self.program.state
        knobs = len(lines) - len(state)
        kept = [line for line, field in zip(lines[knobs:], state, strict=True) if not is_vector(field.name)]
        return [*lines[:knobs], *kept]

    def _statement(self, number: int) -> list[Statement]:
        node = self.program.nodes[number]
        if node.op is Op.STATE and is_vector(self.program.state[node.imm].name):
            return []
        if node.op is not Op.NETWORK:
            return super()._statement(number)
        network = self.program.network
        assert isinstance(network, Int8Network)
        if network.groups:
            return self._chosen(number, network)
        if node.imm:
            return []
        inputs = self._inputs(number, network)
        agent = self.program.interface.agent
        state = f", {agent}->hidden, {agent}->cell" if network.lstm else ""
        self._before = []
        call = self._cast(number, f"rlcc_network(inputs{state})", I32, type_of(node))
        return [inputs, *self._before, Statement(f"const {type_of(node)} {self.names[number]} = {call};", node.note)]

    def _inputs(self, number: int, network: Int8Network) -> Statement:
        args = self.program.nodes[number].args[: network.inputs]
        taken = [self._value(a, type_of(self.program.nodes[a])) for a in args]
        values = ", ".join(f"(int16_t){value}" for value in taken)
        return Statement(f"const int16_t inputs[{network.inputs}] = {{{values}}};")

    def _chosen(self, number: int, network: Int8Network) -> list[Statement]:
        """The call before the first group, then a place a group."""
        node, call = self.program.nodes[number], []
        if node.imm == 0:
            call = [self._inputs(number, network), Statement(f"uint32_t chosen[{network.decided}];")]
            call += [Statement("rlcc_network(inputs, chosen);")]
        self._before = []
        place = self._cast(number, f"chosen[{node.imm}]", U32, type_of(node))
        read = Statement(f"const {type_of(node)} {self.names[number]} = {place};", node.note)
        return [*call, *self._before, read]


def inputs_of(program: Program) -> tuple[int, ...]:
    """Operands of the program's network."""
    return next(node.args for node in program.nodes if node.op is Op.NETWORK)
