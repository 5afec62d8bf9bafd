"""The AXI4-Lite wrapper does what its head says, for all inputs and all states that a reset leads to, by Bitwuzla.

Each property is one step: it holds in every clock whose state keeps the invariant, and the invariant holds after each
clock and after a reset. The decision itself stands as unknowns, under the contract that verify/rtl/pipeline.py proves
of it: it answers each decision that it took once, later, in order, and is empty after a reset.

    invariant   STATUS = a decision waits to be taken, or is under way; never both
    write       address and data are taken together; one response each, OKAY where the write had its effect
    registers   an input changes by an OKAY write to its own address alone, and not while STATUS is 1
    start       an OKAY write of 1 to START offers one decision, once
    result      outputs and DECISIONS change with a result alone, and take it
    read        data and response are those of the address; they stay until they are taken
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bitwuzla import Kind, Term

from decision.ir.program import Program
from verify.rtl.cells import CellTerms, KnownWord
from verify.rtl.netlist import REGISTER, Bit, Netlist, NetlistCell, Refuted
from verify.rtl.pipeline import HANDSHAKE
from verify.terms.bits import SECONDS, BitTerms

START, STATUS, DECISIONS = 0, 1, 2
INPUTS, OUTPUTS = 0x40, 0x200
"""Numbers of 32-bit registers: of the first input and of the first output."""
OKAY, SLVERR = 0, 2
Property = tuple[str, Term]


@dataclass(frozen=True)
class WrapperProof:
    """A finished proof: the numbers of input registers, of output registers, and of questions to the solver."""

    inputs: int
    outputs: int
    questions: int


@dataclass(frozen=True)
class StateWord:
    """A register, an input of the wrapper, or an output of the decision."""

    word: Term


@dataclass(frozen=True)
class PortRegister:
    """A port of the decision, as the nets of the wrapper's register for it."""

    name: str
    bits: tuple[Bit, ...]
    signed: bool


def prove_wrapper(netlist: Netlist, module: str, program: Program, seconds: float = SECONDS) -> WrapperProof:
    """Proves the properties of a wrapper around ``module``, which the netlist has as one cell.

    Raises Refuted with the property that fails, LogicUndecided if the solver takes over ``seconds`` for a question.
    """
    decisions = [cell for cell in netlist.cells if cell.type == module]
    if len(decisions) != 1:
        raise Refuted(f"the wrapper has {len(decisions)} cells {module}, not 1")
    bits = BitTerms(seconds)
    wrapper = _Wrapper(bits, netlist, decisions[0], program)
    for name, holds in wrapper.properties():
        if bits.satisfiable([*wrapper.assumed, bits.term(Kind.NOT, [holds])], name):
            raise Refuted(f"the wrapper fails: {name}")
    return WrapperProof(len(wrapper.inputs), len(wrapper.outputs), bits.questions)


class _Wrapper(CellTerms):
    """The wrapper's terms in one clock. ``assumed``: the invariant, and the contract of the decision."""

    def __init__(self, bits: BitTerms, netlist: Netlist, policy: NetlistCell, program: Program) -> None:
        cells = [cell for cell in netlist.cells if cell is not policy]
        super().__init__(bits, Netlist(netlist.ports, netlist.nets, cells))
        self.policy = policy
        self._known: dict[Bit, tuple[StateWord, int]] = {}
        self._takes: dict[Bit, Bit] = {}
        self._ports(program)
        for name, (direction, nets) in netlist.ports.items():
            if direction == "input":
                self._unknown(name, nets)
        for name, nets in policy.pins.items():
            if name in ("in_ready", "out_valid", *(port.name for port in self.outputs)):
                if any(bit in self.netlist.drivers for bit in nets):
                    raise Refuted(f"the decision's {name} has a second driver")
                self._unknown(f"policy.{name}", nets)
        for cell in cells:
            if cell.type == REGISTER:
                if list(cell.pins["CLK"]) != list(netlist.ports["aclk"][1]) or not cell.number("CLK_POLARITY"):
                    raise Refuted(f"the register {cell.name} has another clock than aclk")
                self._unknown(cell.name, cell.pins["Q"])
                self._takes.update(zip(cell.pins["Q"], cell.pins["D"], strict=True))
        if list(policy.pins["clk"]) != list(netlist.ports["aclk"][1]):
            raise Refuted("the decision has another clock than aclk")
        self._signals()

    def _ports(self, program: Program) -> None:
        """Finds the registers: of inputs at the decision's pins, of outputs by their names."""
        interface = program.interface
        fed = [("event", s.name, s.storage) for s in interface.event]
        fed += [("context", s.name, s.storage) for s in program.state]
        fed += [("params", s.name, s.storage) for s in interface.params]
        taken = [("action", knob.name, knob.storage) for knob in interface.knobs]
        taken += [("next", s.name, s.storage) for s in program.state]

        missing = [name for name in (*HANDSHAKE, *map(_port, (*fed, *taken))) if name not in self.policy.pins]
        if missing:
            raise Refuted(f"the decision has no pin {missing[0]}")
        self.inputs = [self._register(port, self.policy.pins[_port(port)]) for port in fed]
        self.outputs = [self._register(port, self._nets(_port(port))) for port in taken]

    def _register(self, port: tuple[str, str, str], nets: Sequence[Bit]) -> PortRegister:
        return PortRegister(_port(port), tuple(nets), not port[2].startswith("u"))

    def _nets(self, name: str) -> Sequence[Bit]:
        if name not in self.netlist.nets:
            raise Refuted(f"the wrapper has no net {name}")
        return self.netlist.nets[name]

    def _unknown(self, name: str, nets: Sequence[Bit]) -> None:
        word = StateWord(self.bits.unknown(name, len(nets)))
        for place, bit in enumerate(nets):
            if bit in self._known:
                raise Refuted(f"a net of {name} has two drivers")
            self._known[bit] = word, place

    def known(self, bit: Bit) -> tuple[KnownWord, int] | None:
        return self._known.get(bit)

    def next(self, nets: Sequence[Bit]) -> Term:
        """Returns what registers hold in the next clock."""
        if any(bit not in self._takes for bit in nets):
            raise Refuted(f"a net of {self._name(nets)} is no register")
        return self.word([self._takes[bit] for bit in nets])

    def _name(self, nets: Sequence[Bit]) -> str:
        return next((name for name, own in self.netlist.nets.items() if list(own) == list(nets)), "a register")

    def _signals(self) -> None:
        """Names the conditions that the properties are made of."""
        self.resetting = self._not(self._on("aresetn"))
        self.busy, self.offered = self._on("busy"), self.bits.true(self.word(self.policy.pins["in_valid"]))
        self.taken = self._and(self.offered, self.bits.true(self.word(self.policy.pins["in_ready"])))
        self.result = self.bits.true(self.word(self.policy.pins["out_valid"]))
        self.under_way = self.bits.true(self.bits.unknown("under way", 1))
        self.write = self._and(*map(self._on, ("s_axi_awvalid", "s_axi_awready", "s_axi_wvalid", "s_axi_wready")))
        self.read = self._and(self._on("s_axi_arvalid"), self._on("s_axi_arready"))
        whole = self._same(self.word(self._nets("s_axi_wstrb")), self.bits.number(15, 4))
        self.effective = self._and(self.write, whole, self._not(self.busy))
        one = self.bits.true(self.word(self._nets("s_axi_wdata")[:1]))
        self.start = self._and(self.effective, self._at("s_axi_awaddr", START), one)
        self.assumed = [
            self._invariant(self.busy, self.offered, self.under_way),
            self._implies(self.result, self.under_way),
        ]

    def _invariant(self, busy: Term, offered: Term, under_way: Term) -> Term:
        either = self.bits.term(Kind.OR, [offered, under_way])
        return self._and(self._same(busy, either), self._not(self._and(offered, under_way)))

    def properties(self) -> Iterator[Property]:
        """Yields each property with its name."""
        yield from self._in_reset()
        running = self._not(self.resetting)
        for name, holds in (*self._decisions(), *self._writes(), *self._registers(), *self._reads()):
            yield name, self._implies(running, holds)

    def _in_reset(self) -> Iterator[Property]:
        """The state after a reset. The decision is empty then, and the invariant holds."""
        reset = self.bits.true(self.word(self.policy.pins["rst"]))
        yield "the decision is reset with the wrapper", self._same(reset, self.resetting)
        zero = [self._nets(name) for name in ("busy", "decisions", "s_axi_bvalid", "s_axi_rvalid")]
        zero += [self.policy.pins["in_valid"], *(port.bits for port in (*self.inputs, *self.outputs))]
        for nets in zero:
            empty = self._not(self.bits.true(self.next(nets)))
            yield f"{self._name(nets)} is 0 after a reset", self._implies(self.resetting, empty)

    def _decisions(self) -> Iterator[Property]:
        busy, offered = (self.bits.true(self.next(n)) for n in (self._nets("busy"), self.policy.pins["in_valid"]))
        waits = self._and(self.offered, self._not(self.taken))
        going_on = self._and(self.under_way, self._not(self.result))
        under_way = self.bits.term(Kind.OR, [self.taken, going_on])
        yield "STATUS is 1 while a decision waits or is under way", self._invariant(busy, offered, under_way)
        yield "START offers one decision", self._same(offered, self.bits.term(Kind.OR, [self.start, waits]))
        yield "a result is always taken", self.bits.true(self.word(self.policy.pins["out_ready"]))
        one = self.bits.flag(self.result, 32)
        more = self.bits.term(Kind.BV_ADD, [self.word(self._nets("decisions")), one])
        yield "DECISIONS counts results", self._same(self.next(self._nets("decisions")), more)
        for port in self.outputs:
            new = self.bits.choice(self.result, self.word(self.policy.pins[port.name]), self.word(port.bits))
            yield f"{port.name} is the last result", self._same(self.next(port.bits), new)

    def _registers(self) -> Iterator[Property]:
        data = self._nets("s_axi_wdata")
        for place, port in enumerate(self.inputs):
            hit = self._and(self.effective, self._at("s_axi_awaddr", INPUTS + place))
            new = self.bits.choice(hit, self.word(data[: len(port.bits)]), self.word(port.bits))
            yield f"{port.name} changes by its own write alone", self._same(self.next(port.bits), new)

    def _writes(self) -> Iterator[Property]:
        valid = self._and(self._on("s_axi_awvalid"), self._on("s_axi_wvalid"))
        open_answer = self._and(self._on("s_axi_bvalid"), self._not(self._on("s_axi_bready")))
        for ready in ("s_axi_awready", "s_axi_wready"):
            yield f"{ready} takes address and data together", self._implies(self._on(ready), self.write)
        free = self._implies(self._and(valid, self._not(self._on("s_axi_bvalid"))), self.write)
        yield "a write is taken when no response is open", free
        yield "a response is given before the next write", self._implies(self.write, self._not(open_answer))
        answered = self.bits.term(Kind.OR, [self.write, open_answer])
        yield "each write has one response", self._same(self.bits.true(self.next(self._nets("s_axi_bvalid"))), answered)
        response, after = self._nets("s_axi_bresp"), self.next(self._nets("s_axi_bresp"))
        yield "a response stays until it is taken", self._implies(open_answer, self._same(after, self.word(response)))
        places = [START, *(INPUTS + place for place in range(len(self.inputs)))]
        known = self._any_of([self._at("s_axi_awaddr", place) for place in places])
        okay = self._and(self.effective, known)
        said = self.bits.choice(okay, self.bits.number(OKAY, 2), self.bits.number(SLVERR, 2))
        yield "OKAY is the response of a write with effect alone", self._implies(self.write, self._same(after, said))

    def _reads(self) -> Iterator[Property]:
        open_answer = self._and(self._on("s_axi_rvalid"), self._not(self._on("s_axi_rready")))
        yield "s_axi_arready takes an address", self._implies(self._on("s_axi_arready"), self.read)
        free = self._and(self._on("s_axi_arvalid"), self._not(self._on("s_axi_rvalid")))
        yield "a read is taken when no data is open", self._implies(free, self.read)
        yield "data is given before the next read", self._implies(self.read, self._not(open_answer))
        answered = self.bits.term(Kind.OR, [self.read, open_answer])
        yield "each read has one answer", self._same(self.bits.true(self.next(self._nets("s_axi_rvalid"))), answered)
        for name in ("s_axi_rdata", "s_axi_rresp"):
            same = self._same(self.next(self._nets(name)), self.word(self._nets(name)))
            yield f"{name} stays until it is taken", self._implies(open_answer, same)
        words = {START: self.bits.number(0, 32), STATUS: self.bits.flag(self.busy, 32)}
        words[DECISIONS] = self.word(self._nets("decisions"))
        for first, ports in ((INPUTS, self.inputs), (OUTPUTS, self.outputs)):
            for place, port in enumerate(ports):
                words[first + place] = self.bits.resized(self.word(port.bits), 32, port.signed)
        data, response = self.next(self._nets("s_axi_rdata")), self.next(self._nets("s_axi_rresp"))
        for place, word in words.items():
            hit = self._and(self.read, self._at("s_axi_araddr", place))
            right = self._and(self._same(data, word), self._same(response, self.bits.number(OKAY, 2)))
            yield f"register {4 * place:#05x} is read", self._implies(hit, right)
        known = self._any_of([self._at("s_axi_araddr", place) for place in words])
        refused = self._same(response, self.bits.number(SLVERR, 2))
        unknown = self._and(self.read, self._not(known))
        yield "SLVERR is the response of an unknown register", self._implies(unknown, refused)

    def _at(self, port: str, place: int) -> Term:
        """Whether a byte address is in a register of 32 bits."""
        address = self.word(self._nets(port)[2:])
        return self._same(address, self.bits.number(place, address.sort().bv_size()))

    def _on(self, name: str) -> Term:
        return self.bits.true(self.word(self._nets(name)))

    def _not(self, term: Term) -> Term:
        return self.bits.term(Kind.NOT, [term])

    def _and(self, *terms: Term) -> Term:
        return self.bits.term(Kind.AND, list(terms))

    def _any_of(self, terms: Sequence[Term]) -> Term:
        return self.bits.term(Kind.OR, list(terms))

    def _implies(self, condition: Term, then: Term) -> Term:
        return self.bits.term(Kind.IMPLIES, [condition, then])

    def _same(self, a: Term, b: Term) -> Term:
        return self.bits.term(Kind.EQUAL, [a, b])


def _port(port: tuple[str, str, str]) -> str:
    """Returns the name of a port from its group, name and storage."""
    return f"{port[0]}_{port[1]}"
