"""The claims about the machine code, derived again from the cuts: equality, safety, stack, the worst case.

    bound(cut) = the greatest over all paths to the next cuts of: the path's cycles + bound(next cut)

is sound because every input follows some chain of such paths. The worst case is exact where every chain that costs more
than the witness is impossible for all inputs.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from decision.ir.multiples import multiples
from decision.ir.program import STORAGE_RANGE, Op, Program
from emulator.elf import Image
from emulator.layout import Layout
from emulator.memory_map import CONSTANTS_BASE
from verify.check.chains import START, Chains, Key, Path
from verify.check.comparison_counts import counted
from verify.check.effort import FULL, Effort
from verify.check.layout import fields_of, structures_of
from verify.check.leaf_sums import sum_range
from verify.check.meaning import Meaning, fits, free_range, input_name, input_word
from verify.check.notation import NAME, NUMBER, TOKEN, evaluate, names_in
from verify.check.path_facts import Bounds, Known, Oracle, bounded
from verify.check.refused import Refused
from verify.check.shared_values import LaneMemory, Shared
from verify.check.solver import Undecided
from verify.check.terms import FALSE, TRUE, Term, concat, const, extract, make, negate, part, var
from verify.check.walk import A0, SP, Bytes, Code, Lane, at_call, pointer, step
from verify.trusted.costs import CycleModel
from verify.trusted.machine import Instruction, decode_image

SAVED = (SP, 3, 4, 8, 9, *range(18, 28))
REGISTER = re.compile(r"x([1-9]|[12][0-9]|3[01])")
MEMORY = re.compile(r"(frame|context|action)([+-][0-9]{1,6}):([124])")
EQUAL = re.compile(r"\(eq node\.([0-9]{1,9}) (.+)\)")
DEFINED = (Op.ADD, Op.SUB, Op.WRAP_SUB, Op.SHL, Op.SHR, Op.MASK, Op.MIN, Op.MAX, Op.GT, Op.EQ, Op.SELECT)
"""Operators whose meaning is added to what is known behind a cut: those that a solver decides quickly."""
MAX_OPERATORS = 8
WRITTEN = ("context", "action")
"""Structures that the function writes."""


Spans = Mapping[str, tuple[int, int]]
"""Expression of a value -> its least and its greatest."""


@dataclass(frozen=True)
class Cut:
    """At ``pc``: location ("x10", "frame-16:4", "context+4:2") -> expression of the value it holds; what is known."""

    pc: int
    holds: Mapping[str, str]
    bounds: Spans


@dataclass
class Judge:
    """Walks a linked program. Every method that finds a claim wanting raises Refused."""

    image: Image
    entry: int
    program: Program
    layouts: Mapping[str, Layout]
    cuts: tuple[Cut, ...]
    model: CycleModel
    stack_limit: int
    oracle: Oracle
    effort: Effort = FULL
    deepest: int = 0
    met: set[int] = field(default_factory=set)
    walked: int = 0
    _paths: dict[Key, list[Path]] = field(default_factory=dict)
    _bounds: dict[Key, int | None] = field(default_factory=dict)
    _at: dict[int, list[int]] = field(default_factory=dict)
    _shared: dict[object, Shared] = field(default_factory=dict)
    _sums: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        constants = next((s for s in self.image.sections if s.address == CONSTANTS_BASE), None)
        self._inputs = {name: n for n in self.program.nodes if (name := input_name(self.program, n))}
        asked = next((node.args for node in self.program.nodes if node.op is Op.TREES), ())
        self._counted = {asked[k]: counts for k, counts in multiples(self.program).items()}
        self._fields = fields_of(self.program, self.layouts)
        structures = {name: self._structure(name) for name in self._fields}
        self._code = Code(
            decode_image(self.image),
            (CONSTANTS_BASE, constants.data if constants else b""),
            {name: found for name, found in structures.items() if name not in WRITTEN},
            {name: frozenset(found) for name, found in structures.items() if name in WRITTEN},
            self.stack_limit,
            self.model,
            self.oracle,
            counted(self.program),
        )
        self._context = structures.get("context", {})
        for number, cut in enumerate(self.cuts):
            self._at.setdefault(cut.pc, []).append(number)
            for text, (low, high) in cut.bounds.items():
                # Beyond a word the comparison on arrival would wrap and hold of everything: a bound that nobody checks.
                if not (low <= high and fits(low, high)):
                    raise Refused(f"the cut at {cut.pc:#x} bounds {text} by {low}..{high}, which is no range of a word")

    def bound(self, key: Key = (START, None)) -> int:
        """Cycles from a cut to the return, at most."""
        if key not in self._bounds:
            self._bounds[key] = None
            ends = [p.cycles + (self.bound(p.following) if p.following else 0) for p in self.paths(key)]
            self._bounds[key] = max(ends, default=0)
        found = self._bounds[key]
        if found is None:
            raise Refused("the cuts of the certificate follow each other in a circle")
        return found

    def paths(self, key: Key) -> list[Path]:
        """All paths from a cut to the next ones, each checked where it arrives."""
        if key not in self._paths:
            self._paths[key] = list(self._walk(key))
        return self._paths[key]

    def dearer_chains(self, limit: int) -> Iterator[list[Path]]:
        """Chains of paths from call to return that cost more than ``limit`` cycles and may be possible."""
        return Chains(self.paths, self.bound, self._contradiction, self.effort.chains).dearer(limit)

    def _contradiction(self, chain: list[Path], multiply: bool) -> frozenset[Term] | None:
        """Returns what no input satisfies of these paths' conditions, with every node spelt out down to the inputs;
        None where an input may take them."""
        conditions = frozenset[Term]().union(*(path.conditions for path in chain))
        asked = set(conditions)
        meaning = self._meaning(None, frozenset())
        named = {v for c in conditions for v in c.leaves if NAME.fullmatch(v.value)}
        for variable in sorted(named, key=lambda v: v.serial):
            kind, number = variable.value.split(".")
            spelt = {"node": meaning.value, "tree": meaning.tree, "sum": meaning.sum}[kind](int(number))
            asked.add(make("=", variable, spelt))
        ranges = Known(self._ranges(frozenset()))
        try:
            found = self.oracle.core([*asked, *(r for c in asked for r in ranges.about(c))], ranges, multiply)
        except Undecided:
            return None
        return None if found is None else conditions.intersection(found) or None

    def _walk(self, key: Key) -> Iterator[Path]:
        stack = [self._start(key)]
        free, said = self._free(key[0]), {} if key[0] == START else self.cuts[key[0]].bounds
        while stack:
            lane = stack.pop()
            if lane.pc == -1:
                self._returned(lane, free)
                yield Path(lane.cycles, None, lane.known)
            elif lane.steps and (number := self._arrived(lane, free, said)) is not None:
                yield Path(lane.cycles, (number, self._matters(lane)), lane.known)
            else:
                try:
                    stack += step(self._code, lane)
                except Refused:
                    if not self._impossible(lane, TRUE):
                        raise
                continue
            self.walked += 1
            if self.walked > self.effort.paths:
                text = f"more than {self.effort.paths} paths lie between the cuts; this certificate cannot be followed"
                raise Refused(text, unfinished=True)
            self.deepest = max(self.deepest, lane.deepest)

    def _matters(self, lane: Lane) -> Instruction | None:
        """The instruction before a cut, if the next one's cycles depend on it."""
        following = self._code.instructions[lane.pc]
        costs = [[self.model.step(following, taken, b) for taken in (False, True)] for b in (lane.before, None)]
        return lane.before if costs[0] != costs[1] else None

    def _free(self, number: int) -> frozenset[str]:
        """The values of the program that a cut's locations hold; all others keep their definitions."""
        if number == START:
            return frozenset()
        return frozenset(name for text in self.cuts[number].holds.values() for name in names_in(text))

    def _fixed(self, cut: Cut, meaning: Meaning) -> dict[int, Term]:
        """Nodes of which a cut says what they are, a number or another value: nobody asks behind it what else they are
        made of."""
        fixed = {}
        for text, (low, high) in cut.bounds.items():
            name, equal = NAME.fullmatch(text), EQUAL.fullmatch(text)
            if low == high and name and name[1] == "node":
                fixed[int(name[2])] = const(low)
            elif low == high == 1 and equal:
                fixed[int(equal[1])] = evaluate(equal[2], meaning)
        return fixed

    def _definitions(self, cut: Cut, free: frozenset[str]) -> Iterator[Term]:
        """Yields the program's definitions of values that a cut holds. All parts of such a value lead to other values
        that the cut holds, in registers if they are inputs, or to other inputs. A definition is as true behind the cut
        as before."""
        registers = {t for at, text in cut.holds.items() if REGISTER.fullmatch(at) for t in TOKEN.findall(text)}
        nodes = self.program.nodes
        held = {n for n in range(len(nodes)) if f"node.{n}" in free or input_name(self.program, nodes[n]) in registers}
        for n in (n for n in range(len(nodes)) if f"node.{n}" in free):
            if self._made_of(n, held):
                without = self._meaning(None, free - {f"node.{n}"})
                yield make("=", self._meaning(None, free).value(n), without.value(n))

    def _made_of(self, n: int, held: set[int]) -> set[int]:
        """Which of these nodes a node is made of, by a few operators that a solver decides quickly; none where it is
        made of anything else but inputs."""
        nodes, todo, seen, found = self.program.nodes, [n], {n}, set[int]()
        for k in todo:
            if nodes[k].op not in DEFINED or len(todo) > MAX_OPERATORS:
                return set()
            found |= {a for a in nodes[k].args if a in held}
            between = {a for a in nodes[k].args if nodes[a].args and a not in held} - seen
            seen |= between
            todo += between
        return found

    def _start(self, key: Key) -> Lane:
        number, before = key
        free = self._free(number)
        known = Known(self._ranges(free))
        if number == START:
            registers: list[Term | None] = [const(0), *(at_call(r) for r in range(1, 32))]
            registers[A0 : A0 + len(self._fields)] = [pointer(name) for name in self._fields]
            return Lane(self.entry, tuple(registers), {}, self._context, known)
        cut = self.cuts[number]
        meaning = self._meaning(None, free)
        for text, (low, high) in cut.bounds.items():
            word = evaluate(text, meaning)
            known = Known({**known.bounds, word: bounded(low, high)}, known.facts)
            known = known.assume(make("=", word, const(low))) if low == high else known
        for definition in self._definitions(cut, free):
            known = known.assume(definition)
        fixed = self._fixed(cut, meaning)
        meaning = self._meaning(None, free, fixed)
        values: list[Term | None] = [None] * 32
        values[0] = const(0)
        memory = {"frame": dict[int, Term](), "context": dict(self._context), "action": dict[int, Term]()}
        for location, text in cut.holds.items():
            kind, at, size = place(location)
            word = evaluate(text, meaning)
            if kind == "x":
                values[at] = word
            else:
                memory[kind].update({at + k: part(word, 8 * k + 7, 8 * k) for k in range(size)})
        frame, context, action = memory.values()
        written = frozenset(k for k, term in context.items() if term is not self._context.get(k))
        return Lane(cut.pc, tuple(values), frame, context, known, before, written=written, action=action, fixed=fixed)

    def _arrived(self, lane: Lane, free: frozenset[str], said: Spans) -> int | None:
        """The cut a lane has come to: at its pc, all it says being so. A lane that is at none goes on by itself."""
        for number in self._at.get(lane.pc, ()):
            cut = self.cuts[number]
            fixed = ((place(at), const(int(text))) for at, text in cut.holds.items() if NUMBER.fullmatch(text))
            # No solver is asked about another number.
            others = ((_location(lane, *where), word) for where, word in fixed)
            if any(at is not word and (at is None or at.op == "const") for at, word in others):
                continue
            if self._holds(lane, free, cut, said):
                self.met.add(number)
                return number
        return None

    def _holds(self, lane: Lane, free: frozenset[str], cut: Cut, said: Spans) -> bool:
        """Whether everything the cut says is so. Ranges ``said`` at the cut before are so still: inputs, and what
        follows from them, stay as they are until the return."""
        meaning = self._meaning(lane, free)
        named = {at + k for kind, at, size in map(place, cut.holds) if kind == "context" for k in range(size)}
        if not lane.written <= named:
            return False
        for text, (low, high) in cut.bounds.items():
            if text in said and low <= said[text][0] and said[text][1] <= high:
                continue
            word = evaluate(text, meaning)
            op = "bvult" if low >= 0 else "bvslt"
            beyond = make(op, word, const(low)), make(op, const(high), word)
            if not all(self._never(lane, condition) for condition in beyond):
                return False
        for location, text in cut.holds.items():
            kind, at, size = place(location)
            found, word = _location(lane, kind, at, size), evaluate(text, meaning)
            if found is None or not self._never(lane, _differ(found, extract(word, 8 * size - 1, 0))):
                return False
        return True

    def _never(self, lane: Lane, condition: Term) -> bool:
        """Whether a condition holds for no input of the lane; no answer in time is no."""
        decided = lane.known.decide(condition, self.oracle, together=False)
        try:
            return decided is FALSE or (decided is not TRUE and self._impossible(lane, condition))
        except Refused:
            return False

    def _returned(self, lane: Lane, free: frozenset[str]) -> None:
        """Result, context, stack pointer and the caller's registers at the return."""
        lane = self._knowing_sums(lane, free)
        meaning = self._meaning(lane, free)
        for r in SAVED:
            if lane.registers[r] is not at_call(r):
                raise Refused(f"register x{r} is not what the caller left in it when the function returns")
        if "action" not in self._fields:
            (only,) = self.program.results
            result = lane.registers[A0]
            if result is None:
                raise Refused("the function returns a value of which nothing is known")
            self._equal(lane, result, meaning.word(only), "the function returns another value")
        nodes = {"context": [state.node for state in self.program.state], "action": self.program.results}
        for kind in filter(nodes.get, self._fields):
            for (name, offset, size), node in zip(self._fields[kind], nodes[kind], strict=True):
                found = _location(lane, kind, offset, size)
                if found is None:
                    raise Refused(f"the function does not write {kind}.{name} on every path")
                wanted = extract(meaning.word(node), 8 * size - 1, 0)
                self._equal(lane, found, wanted, f"the function leaves another value in {kind}.{name}")

    def _knowing_sums(self, lane: Lane, free: frozenset[str]) -> Lane:
        """Returns the lane with the range of what the trees add together, for outputs of which a cut holds some leaves
        or sums. Each of these takes any value of its range, whether or not it ever occurs together with the others."""
        meaning, known, trees = self._meaning(lane, free), lane.known, len(self.program.forest.trees)
        held = {int(name.partition(".")[2]) // trees for name in free if not name.startswith("node.")}
        for n, node in enumerate(self.program.nodes):
            if node.op is Op.TREES and node.imm in held and fits(node.low, node.high):
                if node.imm not in self._sums:
                    self._sums[node.imm] = sum_range(self.program.forest, node.imm)
                low, high = self._sums[node.imm]
                op = "bvult" if node.low >= 0 else "bvslt"
                for beyond in (make(op, meaning.word(n), const(low)), make(op, const(high), meaning.word(n))):
                    known = known if beyond is FALSE else known.assume(negate(beyond))
        return replace(lane, known=known)

    def _meaning(self, lane: Lane | None, free: frozenset[str], fixed: Mapping[int, Term] | None = None) -> Meaning:
        """The program for a lane, or for all inputs, of those that come to a cut what it has fixed."""
        if lane is None:
            multiply = Known(self._ranges(free)).product
            return Meaning(self.program, free, lambda c: c, multiply, fixed, counted=self._counted)
        key = free, tuple(lane.fixed.items())
        shared = self._shared.setdefault(key, Shared(self.program, free, lane.fixed))
        choose, remember = (lambda c: lane.known.decide(c, self.oracle)), LaneMemory(shared, lane.known)
        return Meaning(self.program, free, choose, lane.known.product, lane.fixed, remember, self._counted)

    def _equal(self, lane: Lane, a: Term, b: Term, otherwise: str) -> None:
        if not self._impossible(lane, _differ(a, b)):
            raise Refused(otherwise)

    def _impossible(self, lane: Lane, condition: Term) -> bool:
        """Whether a condition holds for no input of the lane: by what concerns it, or else by all that is known."""
        near = [condition, *lane.known.about(condition)]
        try:
            if condition is FALSE or (len(near) > 1 and self.oracle.impossible(near, lane.known)):
                return True
            return self.oracle.impossible([condition, *lane.known.everything()], lane.known)
        except Undecided as error:
            raise Refused(f"{error}, asked about {lane.pc:#x}") from None

    def _ranges(self, free: frozenset[str]) -> dict[Term, Bounds]:
        """Returns what is known of the inputs and the free nodes from the start."""
        found = {input_word(name, n.low, n.high): bounded(n.low, n.high) for name, n in self._inputs.items()}
        for name in free:
            low, high = free_range(self.program, name)
            if fits(low, high):
                found[var(name)] = bounded(low, high)
        return found

    def _structure(self, name: str) -> Bytes:
        """The bytes of a structure at the call."""
        storage, found = dict(structures_of(self.program)[name]), dict[int, Term]()
        for f, offset, size in self._fields[name]:
            word = input_word(f"{name}.{f}", *STORAGE_RANGE[storage[f]])
            found |= {offset + k: extract(word, 8 * k + 7, 8 * k) for k in range(size)}
        return found


def _differ(a: Term, b: Term) -> Term:
    """FALSE, of which nobody asks the solver, where both are one term."""
    return negate(make("=", a, b))


def place(location: str) -> tuple[str, int, int]:
    """("x", register, 4), or "frame", "context" or "action", offset and bytes, of a location's name."""
    register, memory = REGISTER.fullmatch(location), MEMORY.fullmatch(location)
    if register:
        return "x", int(register[1]), 4
    if memory:
        return memory[1], int(memory[2]), int(memory[3])
    raise Refused(f"{location!r} is no place that a value can be in")


def _location(lane: Lane, kind: str, at: int, size: int) -> Term | None:
    """Returns a lane's term in a place, of the place's size."""
    if kind == "x":
        return lane.registers[at]
    memory = {"frame": lane.frame, "context": lane.context, "action": lane.action}[kind]
    if any(at + k not in memory for k in range(size)):
        return None
    value: Term = memory[at]
    for k in range(1, size):
        value = concat(memory[at + k], value)
    return value
