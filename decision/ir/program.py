"""The integer decision program: the specification that NumPy, C on the host, C on the core and the simulator agree on.

A program is a list of nodes in the order of evaluation (single assignment). Each node is an exact integer with a proved
range; ranges come from the operators alone, for ALL raw events, parameters and flow contexts (also a corrupted one), so
that a C type chosen from a range can never overflow. Shifts and wide products take non-negative operands only: their
meaning in C is then defined everywhere.

    rtt_ns        = wrap_sub(response_ns, request_sent_ns)        [0, 2^32 - 1]
    inflation_q10 = mul_shr(rtt_ns, base_rtt_recip_q42, 32)       [0, 2^32 - 2]
    excess_q10    = min(max(inflation_q10, 1536) - 1536, 65535)   [0, 2^16 - 1]
    ...
    decision      = trees(action_1, congestion, action_2, congestion_1)
"""

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Protocol

from decision.artefact.errors import InputError
from decision.ir.arrays import Integers
from decision.ir.forest import Forest
from decision.ir.formats import U32_MAX
from decision.ir.interface import GROUPS, Interface
from decision.ir.interface import STORAGE_RANGE as STORAGE_RANGE

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
UINT64_MAX = 2**64 - 1
MAX_NODES = 4096


class Op(IntEnum):
    """Operators. The numbers are the wire format of the simulator's interpreter."""

    CONST = 0  # imm
    EVENT = 1  # imm: index in Interface.event
    PARAM = 2  # imm: index in Interface.params
    STATE = 3  # imm: index in Program.state
    ADD = 4  # a + b
    SUB = 5  # a - b
    MUL = 6  # a * b
    SHL = 7  # a << imm, a >= 0
    SHR = 8  # a >> imm, a >= 0
    WRAP_SUB = 9  # (a - b) mod 2^32, both uint32
    MUL_SHR = 10  # (a * b) >> imm exactly, a, b >= 0, product < 2^64
    MIN = 11
    MAX = 12
    GT = 13  # a > b: 0 or 1
    EQ = 14  # a == b: 0 or 1
    SELECT = 15  # a ? b : c
    TABLE = 16  # tables[imm][a]
    TREES = 17  # output imm of the forest over args
    MASK = 18  # a mod 2^imm, a >= 0
    NETWORK = 19  # result imm of the network over args


class NetworkForm(Protocol):
    """Parts of a network that a program refers to; decision.ir.network has the network itself."""

    @property
    def operands(self) -> int: ...

    @property
    def results(self) -> int: ...

    def operand_range(self, number: int) -> tuple[int, int]: ...

    def result_range(self, number: int) -> tuple[int, int]: ...

    def evaluate(self, operands: Integers) -> Integers: ...


@dataclass(frozen=True)
class Node:
    """One value: ``low <= value <= high`` for all inputs. ``name`` and ``note`` are for the reader of the C."""

    op: Op
    args: tuple[int, ...]
    imm: int
    low: int
    high: int
    name: str = ""
    note: str = ""


@dataclass(frozen=True)
class StateField:
    """A field of an agent's context, zero for a new agent. ``node`` is the value written back."""

    name: str
    storage: str
    node: int
    note: str = ""


@dataclass(frozen=True)
class Program:
    """The whole decision: raw event, parameters and the agent's context in; knobs and the new context out.
    ``results``: the node of each knob of the interface."""

    interface: Interface
    nodes: tuple[Node, ...]
    state: tuple[StateField, ...]
    results: tuple[int, ...]
    forest: Forest
    tables: tuple[tuple[int, ...], ...] = ()
    network: NetworkForm | None = None

    @property
    def result(self) -> int:
        """The node of the only knob."""
        (result,) = self.results
        return result

    @cached_property
    def structures(self) -> dict[str, dict[str, str]]:
        """Storage of each field, by structure, in the order of the arguments; a structure without a field is none."""
        interface = self.interface
        knobs = interface.knobs if len(interface.knobs) > 1 else ()
        groups = (self.state, interface.event, interface.params, knobs)
        storages = ({each.name: each.storage for each in group} for group in groups)
        return {name: fields for name, fields in zip(GROUPS, storages, strict=True) if fields}

    def key(self, node: Node) -> str | None:
        """The key of an input ("event.x", "params.x", "context.x"); None for what is computed."""
        match node.op:
            case Op.EVENT:
                return f"event.{self.interface.event[node.imm].name}"
            case Op.PARAM:
                return f"params.{self.interface.params[node.imm].name}"
            case Op.STATE:
                return f"context.{self.state[node.imm].name}"
        return None

    @property
    def outputs(self) -> tuple[int, ...]:
        """The nodes that anybody sees: knobs, then what is written back."""
        return (*self.results, *(s.node for s in self.state))


@dataclass
class ProgramBuilder:
    """Builds a program node by node; equal nodes are shared; a value that 64 bits cannot hold is refused."""

    forest: Forest
    interface: Interface
    nodes: list[Node] = field(default_factory=list)
    state: list[StateField] = field(default_factory=list)
    tables: list[tuple[int, ...]] = field(default_factory=list)
    network: NetworkForm | None = None
    _known: dict[tuple[Op, tuple[int, ...], int], int] = field(default_factory=dict)

    def add(self, op: Op, args: tuple[int, ...] = (), imm: int = 0, name: str = "", note: str = "") -> int:
        """Append one node (or find its equal) and return its number. InputError where its range is not sound."""
        key = (op, args, imm)
        if key in self._known:
            return self._known[key]
        if len(self.nodes) >= MAX_NODES:
            raise InputError(f"a decision program has at most {MAX_NODES} nodes; choose fewer features or decisions")
        if any(not 0 <= a < len(self.nodes) for a in args):
            raise InputError(f"node {len(self.nodes)} of the decision program uses a value that comes after it")
        low, high = self._range(op, args, imm, name)
        if low < INT64_MIN or high > INT64_MAX:
            raise InputError(f"{name or op.name.lower()} can reach {low}..{high}, which 64 bits cannot hold")
        self.nodes.append(Node(op, args, imm, low, high, name, note))
        self._known[key] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def const(self, value: int) -> int:
        return self.add(Op.CONST, (), value)

    def event(self, name: str) -> int:
        return self.add(Op.EVENT, (), self.interface.event_names.index(name), name)

    def param(self, name: str) -> int:
        return self.add(Op.PARAM, (), self.interface.param_names.index(name), name)

    def state_in(self, name: str, storage: str, note: str = "") -> int:
        """Read a field of the flow context; ``state_out`` says what is written back to it."""
        for index, known in enumerate(self.state):
            if known.name == name:
                return self.add(Op.STATE, (), index, name)
        self.state.append(StateField(name, storage, -1, note))
        return self.add(Op.STATE, (), len(self.state) - 1, name)

    def state_out(self, name: str, node: int) -> None:
        index = [s.name for s in self.state].index(name)
        known = self.state[index]
        self.state[index] = StateField(known.name, known.storage, node, known.note)

    def finish(self, *results: int) -> Program:
        """Check what is written back against its storage and close the program; ``results``: a node a knob."""
        for s in self.state:
            if not 0 <= s.node < len(self.nodes):
                raise InputError(f"nothing is written back to the flow context's {s.name}")
            low, high = STORAGE_RANGE[s.storage]
            node = self.nodes[s.node]
            if node.low < low or node.high > high:
                raise InputError(f"{s.name} can reach {node.low}..{node.high}, which {s.storage} cannot hold")
        if len(results) != len(self.interface.knobs) or any(not 0 <= result < len(self.nodes) for result in results):
            knobs = ", ".join(self.interface.knob_names)
            raise InputError(f"the decision program has to give one result each for {knobs}")
        for knob, result in zip(self.interface.knobs, results, strict=True):
            low, high = STORAGE_RANGE[knob.storage]
            node = self.nodes[result]
            if node.low < low or node.high > high:
                raise InputError(f"{knob.name} can reach {node.low}..{node.high}, which {knob.storage} cannot hold")
        state, tables = tuple(self.state), tuple(self.tables)
        return Program(self.interface, tuple(self.nodes), state, results, self.forest, tables, self.network)

    def _range(self, op: Op, args: tuple[int, ...], imm: int, name: str) -> tuple[int, int]:
        arity = self._arity(op)
        if len(args) != arity:
            raise InputError(f"{op.name.lower()} takes {arity} operands")
        r = [(self.nodes[a].low, self.nodes[a].high) for a in args]
        match op:
            case Op.CONST:
                return imm, imm
            case Op.EVENT if 0 <= imm < len(self.interface.event):
                return self.interface.event[imm].range
            case Op.PARAM if 0 <= imm < len(self.interface.params):
                return self.interface.params[imm].range
            case Op.STATE if 0 <= imm < len(self.state) and self.state[imm].storage in STORAGE_RANGE:
                return STORAGE_RANGE[self.state[imm].storage]
            case Op.ADD:
                return r[0][0] + r[1][0], r[0][1] + r[1][1]
            case Op.SUB if self._is_part(*args):  # x - (x >> k) grows with x
                shift = self.nodes[args[1]].imm
                return r[0][0] - (r[0][0] >> shift), r[0][1] - (r[0][1] >> shift)
            case Op.SUB:
                return r[0][0] - r[1][1], r[0][1] - r[1][0]
            case Op.MUL:
                products = [x * y for x in r[0] for y in r[1]]
                return min(products), max(products)
            case Op.SHL | Op.SHR if r[0][0] >= 0 and 0 <= imm < 64:
                return (r[0][0] << imm, r[0][1] << imm) if op is Op.SHL else (r[0][0] >> imm, r[0][1] >> imm)
            case Op.MASK if r[0][0] >= 0 and 0 <= imm < 64:
                return r[0] if r[0][1] < 1 << imm else (0, (1 << imm) - 1)
            case Op.WRAP_SUB if min(r[0][0], r[1][0]) >= 0 and max(r[0][1], r[1][1]) <= U32_MAX:
                return 0, U32_MAX
            case Op.MUL_SHR if r[0][0] >= 0 and r[1][0] >= 0 and r[0][1] * r[1][1] <= UINT64_MAX and 0 <= imm < 64:
                return (r[0][0] * r[1][0]) >> imm, (r[0][1] * r[1][1]) >> imm
            case Op.MIN:
                return min(r[0][0], r[1][0]), min(r[0][1], r[1][1])
            case Op.MAX:
                return max(r[0][0], r[1][0]), max(r[0][1], r[1][1])
            case Op.GT | Op.EQ:
                return 0, 1
            case Op.SELECT if r[0][0] >= 0 and r[0][1] <= 1:
                return min(r[1][0], r[2][0]), max(r[1][1], r[2][1])
            case Op.TABLE if 0 <= imm < len(self.tables) and r[0][0] >= 0 and r[0][1] < len(self.tables[imm]):
                return min(self.tables[imm]), max(self.tables[imm])
            case Op.TREES if 0 <= imm < self.forest.outputs:
                return self.forest.range(imm)
            case Op.NETWORK if self.network is not None and 0 <= imm < self.network.results:
                allowed = [self.network.operand_range(k) for k in range(len(r))]
                if all(a[0] <= low and high <= a[1] for (low, high), a in zip(r, allowed, strict=True)):
                    return self.network.result_range(imm)
        what = name or op.name.lower()
        raise InputError(f"{what} is not defined for operands in {r} with the immediate {imm}")

    def _is_part(self, x: int, y: int) -> bool:
        """Whether node y is node x, shifted right."""
        return self.nodes[y].op is Op.SHR and self.nodes[y].args == (x,)

    def _arity(self, op: Op) -> int:
        if op is Op.NETWORK and self.network is not None:
            return self.network.operands
        return _ARITY.get(op, len(self.forest.features))


_ARITY = {
    Op.CONST: 0, Op.EVENT: 0, Op.PARAM: 0, Op.STATE: 0,
    Op.ADD: 2, Op.SUB: 2, Op.MUL: 2, Op.SHL: 1, Op.SHR: 1, Op.MASK: 1, Op.WRAP_SUB: 2, Op.MUL_SHR: 2,
    Op.MIN: 2, Op.MAX: 2, Op.GT: 2, Op.EQ: 2, Op.SELECT: 3, Op.TABLE: 1,
}  # fmt: skip
