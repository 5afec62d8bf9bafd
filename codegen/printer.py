"""The C printer: the one place where nodes become C text.

    const uint32_t rtt_ns = response_ns - request_sent_ns;                         one statement a node
    const uint32_t rate_raised_q30 = (rate_scaled_q30 > rate_min_q30) ? rate_scaled_q30 : rate_min_q30;
    uint32_t place = place_congestion_q20(congestion_q20);                         the trees, as they were lowered
    int32_t trees = (int32_t)leaves[place];

Constants (also values that their range fixes) and comparisons are printed where they are used; every other node gets a
name. Casts keep the value: the types come from proved ranges.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from codegen.ctypes99 import I32, RANGES, U32, U64, joint_type, literal, type_of
from codegen.fork import fork_of
from codegen.layout import structures
from codegen.passes.program import LoweredProgram, counted_sums
from codegen.saturation import saturations
from codegen.trees_c import Function, Physical, Statement, TreePrinter, features_read
from decision.ir.interface import Knob
from decision.ir.multiples import multiples
from decision.ir.program import Node, Op, Program
from decision.ir.ranks import ranked_features
from decision.ir.rewrite import needed

INLINE = (Op.CONST, Op.GT, Op.EQ)
PHASE = "phase"
"""Name of a node that is a phase; others begin with it and an underscore."""
OWN = ("leaves", "place", "row")
"""Names that a walk declares for itself."""


class Printer:
    """Prints one lowered program. ``physical`` explains thresholds in comments."""

    def __init__(self, lowered: LoweredProgram, physical: Physical) -> None:
        self.lowered = lowered
        self.program: Program = lowered.program
        self.trees = [
            TreePrinter(
                walked.choice.lowered, self._physical(physical), one_function=lowered.one_function, name=walked.name
            )
            for walked in lowered.walks
        ]
        self._tree_operands = self._read_by_trees()
        """By the number of a sum of trees: the nodes that its walk reads."""
        self.names = self._names()
        used = self._needed()
        self._fork = fork_of(self.program, used, self._operands, lowered.walked_together())
        self._asked = set() if self._fork is None else self._joined(self._fork.condition)
        """Comparisons that the fork's condition joins."""
        self._uses = Counter(a for n in used for a in self._operands(self.program.nodes[n]))
        self._saturated = saturations(self.program, self._uses, used)
        counted = counted_sums(self.program)
        self._counted = {n: r for n, r in counted.items() if self.trees and r.x in self.lowered.walks[0].features}
        """Sums of comparisons that a search answers where the trees stand."""
        self._within = {n for part in (self._saturated, self._counted) for one in part.values() for n in one.inner}
        """Nodes that what asks for them is printed without."""
        minuends = {a for n in used for a in self.program.nodes[n].args[:1] if self.program.nodes[n].op is Op.WRAP_SUB}
        self._within |= {
            n
            for n in used
            if self._negates(n) and self._uses[n] == 1 and n not in self.program.outputs and n not in minuends
        }
        self._before: list[Statement] = []
        """Temporaries of the statement that is being printed."""

    def _physical(self, physical: Physical) -> Physical:
        """Returns the value that a rank stands for."""
        ranked = ranked_features(self.program)
        ranked |= {k: tuple(f - 1 for f in counted.factors) for k, counted in multiples(self.program).items()}
        return lambda k, threshold: physical(k, ranked[k][threshold] if k in ranked else threshold)

    def statements(self) -> list[Statement]:
        """The body of the decision, from the loads to the last value before the context is written."""
        fork = self._fork
        if fork is None:
            return self._statements(self._needed())
        lines = self._statements(fork.before)
        chosen = [n for n in fork.selects if not self._silent(n)]
        lines += [Statement(f"{type_of(self.program.nodes[n])} {self.names[n]};") for n in chosen]
        condition = self.program.nodes[fork.condition]
        said = f"{condition.name} {condition.note}".strip()
        for head, side, arm, note in (
            (f"if {self._condition(fork.condition)} {{", fork.first, 1, said),
            ("} else {", fork.second, 2, ""),
        ):
            order = [*side, *(n for n in chosen if n not in side)]
            inner = [line for n in order for line in (self._given(n, arm) if n in chosen else self._statements([n]))]
            lines += [Statement(head, note), *(Statement(f"    {s.code}", s.note) for s in inner)]
        return [*lines, Statement("}"), *self._statements(fork.after)]

    def _given(self, number: int, arm: int) -> list[Statement]:
        """Returns the statement of a side of the fork that gives a select its value."""
        node = self.program.nodes[number]
        value = self._value(node.args[arm], type_of(node))
        return [Statement(f"{self.names[number]} = {value};", node.note if arm == 1 else "")]

    def _statements(self, numbers: Sequence[int]) -> list[Statement]:
        return [line for number in numbers if not self._silent(number) for line in self._statement(number)]

    def _silent(self, number: int) -> bool:
        """It has no statement of its own."""
        node = self.program.nodes[number]
        merged = number in self.lowered.clamped or number in self._within or number in self._counted
        return self._inline(number) or _fixed(node) or merged

    def _inline(self, number: int) -> bool:
        """A constant, a comparison, or comparisons joined by and or or: printed where it is used."""
        once = number in self._asked or self._uses[number] == 1
        return self.program.nodes[number].op in INLINE or (self._decides(number) and once)

    def _negates(self, number: int) -> bool:
        """Whether it is 0 less a value, mod 2^32, for a difference to be less."""
        node = self.program.nodes[number]
        subtracted = [n.op is Op.WRAP_SUB for n in self.program.nodes if number in n.args]
        return (
            node.op is Op.WRAP_SUB
            and _fixed(self.program.nodes[node.args[0]])
            and (self.program.nodes[node.args[0]].low == 0 and all(subtracted))
        )

    def _joined(self, number: int) -> set[int]:
        """A comparison and those that it joins."""
        return {number}.union(*map(self._joined, self.program.nodes[number].args)) if self._decides(number) else set()

    def _decides(self, number: int) -> bool:
        """Whether it is a comparison, or comparisons joined."""
        node = self.program.nodes[number]
        return node.op in (Op.GT, Op.EQ) or (node.op in (Op.MIN, Op.MAX) and all(self._decides(a) for a in node.args))

    def writes(self) -> list[Statement]:
        """The new context and, where there are several, the knobs."""
        lines = []
        if len(self.program.results) > 1:
            for knob, number in zip(self.program.interface.knobs, self.program.results, strict=True):
                lines.append(Statement(f"action->{knob.name} = {self._knob(number, knob)};"))
        for s in self.program.state:
            stored = f"{s.storage}_t"
            node = self.program.nodes[s.node]
            value = self._value(s.node, type_of(node))
            cast = value if stored == type_of(node) else f"({stored}){value}"
            lines.append(Statement(f"{self.program.interface.agent}->{s.name} = {cast};"))
        return lines

    def head(self) -> str:
        """The C function's head."""
        knobs = self.program.interface.knobs
        returns = f"{knobs[0].storage}_t" if len(knobs) == 1 else "void"
        return f"{returns} rlcc_decide({', '.join(s.parameter() for s in structures(self.program))})"

    def result(self) -> str | None:
        """Returns the C of the return value: the only knob."""
        if len(self.program.results) > 1:
            return None
        return self._knob(self.program.results[0], self.program.interface.knobs[0])

    def _knob(self, number: int, knob: Knob) -> str:
        ctype = type_of(self.program.nodes[number])
        value = self._value(number, ctype)
        return value if ctype == f"{knob.storage}_t" else f"({knob.storage}_t){value}"

    def signals(self) -> set[str]:
        """Raw signals of the event that the printed decision reads."""
        nodes = (self.program.nodes[number] for number in self._needed())
        return {self.program.interface.event[node.imm].name for node in nodes if node.op is Op.EVENT}

    def tuned(self) -> set[str]:
        """Parameters that the printed decision reads."""
        nodes = (self.program.nodes[number] for number in self._needed())
        return {self.program.interface.params[node.imm].name for node in nodes if node.op is Op.PARAM}

    def functions(self) -> list[Function]:
        """Static functions: searches and trees."""
        return [function for trees in self.trees for function in trees.functions()]

    def tables(self) -> list[str]:
        """Constant tables, lines of C at the top of the decision's block."""
        return [
            line
            for trees, walked in zip(self.trees, self.lowered.walks, strict=True)
            for line in trees.tables([self.names[n] for n in walked.sums])
        ]

    def _statement(self, number: int) -> list[Statement]:
        """Returns the statement that gives the node its name."""
        if number in self.lowered.sums:
            return self._trees(number)
        node = self.program.nodes[number]
        return self._assignment(number, f"const {type_of(node)} ")

    def _assignment(self, number: int, declaration: str) -> list[Statement]:
        """Returns the statement that sets the node's name, its temporaries first. ``declaration``: qualifier and type;
        empty where the name is declared."""
        self._before = []
        code = f"{declaration}{self.names[number]} = {self._expression(number)};"
        return [*self._before, Statement(code, self.program.nodes[number].note)]

    def _trees(self, number: int) -> list[Statement]:
        """One walk gives all its sums their names, where the first of them stands."""
        place, walked = next((k, w) for k, w in enumerate(self.lowered.walks) if number in w.sums)
        if number != min(walked.sums):
            return []
        args = walked.features
        names = [self.names[n] for n in walked.sums]
        ranks = {args.index(r.x): self.names[n] for n, r in self._counted.items()} if place == 0 else {}
        return self.trees[place].statements(names, lambda feature, ctype: self._value(args[feature], ctype), ranks)

    def _expression(self, number: int) -> str:
        node = self.program.nodes[number]
        args = [self.program.nodes[a] for a in node.args]
        here = type_of(node)
        if number in self._saturated:
            return self._saturation(number)
        match node.op:
            case Op.EVENT:
                signal = self.program.interface.event[node.imm]
                return self._cast(number, f"event->{signal.name}", f"{signal.storage}_t", here)
            case Op.PARAM:
                return f"params->{self.program.interface.params[node.imm].name}"
            case Op.STATE:
                field = self.program.state[node.imm]
                return self._cast(number, f"{self.program.interface.agent}->{field.name}", f"{field.storage}_t", here)
            case Op.ADD | Op.SUB | Op.MUL:
                wide = joint_type(node, *args)
                sign = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}[node.op]
                first, second = self._value(node.args[0], wide), self._value(node.args[1], wide)
                return self._cast(number, f"{first} {sign} {second}", wide, here)
            case Op.SHL:
                return f"{self._value(node.args[0], here)} << {node.imm}U"
            case Op.SHR:
                wide = type_of(args[0]) if args[0].high >= 2**31 else U32
                return self._cast(number, f"{self._value(node.args[0], wide)} >> {node.imm}U", wide, here)
            case Op.MASK:
                wide = type_of(args[0])
                mask = literal((1 << node.imm) - 1, wide)
                return self._cast(number, f"{self._value(node.args[0], wide)} & {mask}", wide, here)
            case Op.WRAP_SUB if node.args[1] in self._within:  # less a negated one: a sum that may wrap
                return f"{self._value(node.args[0], U32)} + {self._value(args[1].args[1], U32)}"
            case Op.WRAP_SUB:
                return f"{self._value(node.args[0], U32)} - {self._value(node.args[1], U32)}"
            case Op.MUL_SHR:
                wide = U32 if args[0].high * args[1].high < 2**32 else U64
                first, second = self._value(node.args[0], wide), self._value(node.args[1], wide)
                return self._cast(number, f"({first} * {second}) >> {node.imm}U", wide, here)
            case Op.MAX if self._decides(number):  # either
                return f"{self._condition(node.args[0])} ? ({here})1U : {self._value(node.args[1], here)}"
            case Op.MIN if self._decides(number):
                # The lesser of two words: "&&" and "&" are compiled to code whose paths no cut joins.
                first, second = self._named(node.args[0], here), self._value(node.args[1], here)
                return f"({first} < {second}) ? {first} : {second}"
            case Op.MIN | Op.MAX:
                wide = joint_type(*args)
                first, second = self._value(node.args[0], wide), self._value(node.args[1], wide)
                sign = "<" if node.op is Op.MIN else ">"
                return self._cast(number, f"({first} {sign} {second}) ? {first} : {second}", wide, here)
            case Op.SELECT:
                phases = self._is_phase(node)
                first, second = (self._value(number, here, phases=phases) for number in node.args[1:])
                if all(_fixed(arg) for arg in args[1:]):
                    first = f"({here}){first}"  # two bare constants would have a type as narrow as they are
                return f"{self._condition(node.args[0])} ? {first} : {second}"
            case Op.TABLE:
                return self._table(node, here)
        raise AssertionError(f"{node.op.name} is printed elsewhere")

    def _named(self, number: int, ctype: str) -> str:
        """Returns the node as an operand. Comparisons joined, used here alone, get a statement of their own first."""
        value = self._value(number, ctype)
        if self.program.nodes[number].op in INLINE or self._uses[number] > 1 or not self._inline(number):
            return value
        self._before.append(Statement(f"const {ctype} {self.names[number]} = {value[1:-1]};"))
        return self.names[number]

    def _saturation(self, number: int) -> str:
        clamp = self._saturated[number]
        x, name = self._value(clamp.x, U32), f"{self.names[number]}_wrapped"
        self._before.append(Statement(f"const {U32} {name} = {x} - {clamp.floor}U;", "wraps below the floor"))
        return f"({name} > {clamp.limit}U) ? (({x} > {clamp.floor}U) ? {clamp.limit}U : 0U) : {name}"

    def _table(self, node: Node, here: str) -> str:
        """A small table as a binary search in comparisons: no data section, and 8 of them for 256 entries."""
        table = self.program.tables[node.imm]
        index = self._value(node.args[0], U32)

        def between(first: int, last: int) -> str:
            if first == last:
                return literal(table[first], here)
            middle = (first + last) // 2
            return f"(({index} > {middle}U) ? {between(middle + 1, last)} : {between(first, middle)})"

        return between(self.program.nodes[node.args[0]].low, self.program.nodes[node.args[0]].high)

    def _condition(self, number: int) -> str:
        node = self.program.nodes[number]
        if node.op in (Op.MIN, Op.MAX) and self._decides(number) and self._inline(number):
            sign = "&&" if node.op is Op.MIN else "||"
            return f"({self._condition(node.args[0])} {sign} {self._condition(node.args[1])})"
        if node.op in (Op.GT, Op.EQ):
            args = [self.program.nodes[a] for a in node.args]
            wide = joint_type(*args)
            sign = ">" if node.op is Op.GT else "=="
            phases = any(map(self._is_phase, args))
            first, second = (self._value(number, wide, phases=phases) for number in node.args)
            return f"({first} {sign} {second})"
        return f"({self._value(number, type_of(node))} != 0U)"

    def _is_phase(self, node: Node) -> bool:
        """Whether the node is a phase of the interface, by its name."""
        return bool(self.program.interface.phases) and (node.name == PHASE or node.name.startswith(f"{PHASE}_"))

    def _value(self, number: int, ctype: str, *, phases: bool = False) -> str:
        """The node as an operand of type ``ctype``; ``phases``: a constant is a phase, which has a name."""
        node = self.program.nodes[number]
        if _fixed(node):
            named = {value: name for name, value in self.program.interface.phases if phases and ctype == U32}
            return f"RLCC_PHASE_{named[node.low]}" if node.low in named else literal(node.low, ctype)
        if self._decides(number) and self._inline(number):
            return f"({self._condition(number)} ? ({ctype}){literal(1, ctype)} : {literal(0, ctype)})"
        have = I32 if number in self.lowered.sums else type_of(node)
        if (have, ctype) == (I32, U64) and node.low >= 0:
            # Straight from int32_t, gcc warns of the sign beside a constant where uint64_t is unsigned long.
            return f"({U64})({U32}){self.names[number]}"
        return self.names[number] if have == ctype else f"({ctype}){self.names[number]}"

    def _cast(self, number: int, text: str, have: str, want: str) -> str:
        """The value of an expression in another type. One that changes its sign or gets wider has a name of its own
        first: MISRA C 10.8 lets a composite expression only be cut."""
        if have == want:
            return text
        if text.replace("->", "").isidentifier():
            return f"({want}){text}"
        cut = have[0] == want[0] and RANGES[have][1] > RANGES[want][1]
        if cut:
            return f"({want})({text})"
        name = f"{self.names[number]}_{'wide' if have[0] == want[0] else 'signed' if have[0] == 'i' else 'unsigned'}"
        self._before.append(Statement(f"const {have} {name} = {text};"))
        return f"({want}){name}"

    def _needed(self) -> list[int]:
        """Nodes that the result or the new context depends on, in order; of the trees' features those still read."""
        return needed(self.program, self._operands)

    def _operands(self, node: Node) -> list[int]:
        if node.op is Op.TREES:
            return self._tree_operands[node.imm]
        return [] if _fixed(node) else list(node.args)

    def _read_by_trees(self) -> dict[int, list[int]]:
        operands: dict[int, list[int]] = {}
        for walked, sums in zip(self.lowered.walks, self.lowered.walked_together(), strict=True):
            read = [walked.features[feature] for feature in sorted(features_read(walked.choice.lowered))]
            operands |= {self.program.nodes[number].imm: read for number in sums}
        return operands

    def _names(self) -> dict[int, str]:
        """A C identifier for every node that gets one. Twins get their number too; an unnamed node is called after what
        it is made from, or after what it becomes."""
        taken = {*(s.argument for s in structures(self.program)), "leaf", "word", "rank"}
        taken |= {f"{name}{own}" for name in ("", *(walked.name for walked in self.lowered.walks)) for own in OWN}
        consumers = self._consumers()
        names: dict[int, str] = {}
        for number, node in enumerate(self.program.nodes):
            if number in self.lowered.clamped:
                continue
            name = node.name or self._derived(node, names, consumers.get(number, ""))
            names[number] = f"{name}_{number}" if name in taken else name
            taken.add(names[number])
        return names

    def _derived(self, node: Node, names: Mapping[int, str], consumer: str) -> str:
        if node.op in (Op.SHR, Op.SHL) and (source := names.get(node.args[0], "")):
            return f"{source}_{node.op.name.lower()}{node.imm}"
        return f"{consumer}_part" if consumer else node.op.name.lower()

    def _consumers(self) -> dict[int, str]:
        """Returns by node the name of the next named node, field or knob that depends on it."""
        consumers = {s.node: s.name for s in self.program.state}
        consumers |= dict(zip(self.program.results, self.program.interface.knob_names, strict=True))
        for number in reversed(range(len(self.program.nodes))):
            node = self.program.nodes[number]
            for argument in node.args:
                consumers[argument] = node.name or consumers.get(number, "")
        return consumers


def _fixed(node: Node) -> bool:
    """Whether the range leaves one value: then that is printed. (Trees and networks are printed whatever they give.)

    Therefore no shift by a type's whole width, which C leaves undefined, is ever printed: its result would be fixed at
    0.
    """
    return node.low == node.high and node.op not in (Op.TREES, Op.NETWORK)
