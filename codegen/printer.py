"""The C printer: the one place where nodes become C text.

    const uint32_t rtt_ns = response_ns - request_sent_ns;                         one statement a node
    const uint32_t rtt_clamped_ns = (rtt_ns < 4000000U) ? rtt_ns : 4000000U;
    int32_t trees = -12;                                                           bias, then one call a tree
    trees += tree_00(congestion_q20, action_1);

Constants (also values that their range fixes) and comparisons are printed where they are used; every other node gets a
name. Casts keep the value: the types come from proved ranges.
"""

from collections.abc import Callable
from dataclasses import dataclass

from codegen.branches import Branch, Leaf, branches
from codegen.ctypes99 import I32, RANGES, U32, U64, joint_type, literal, type_of
from spec.errors import InputError
from spec.program import Node, Op, Program
from spec.signals import EVENT_NAMES, PARAM_NAMES

INLINE = (Op.CONST, Op.GT, Op.EQ)
Physical = Callable[[int, int], str]
"""From (feature, threshold) to the comparison in physical units, for the comment beside a branch."""


@dataclass(frozen=True)
class TreeFunction:
    """A tree as a static C function: the features it looks at, and its body."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    body: tuple[str, ...]
    features: tuple[int, ...]


@dataclass(frozen=True)
class Statement:
    """One line of the decision; ``note`` becomes its comment."""

    code: str
    note: str = ""


class Printer:
    """Prints one program. ``physical`` explains thresholds in comments."""

    def __init__(self, program: Program, physical: Physical, *, naive: bool = False) -> None:
        """``naive`` prints the trees for trees_only.c: no branch pruned, every feature an int32_t."""
        self.program = program
        self.physical = physical
        self.naive = naive
        self.names = self._names()

    def statements(self) -> list[Statement]:
        """The body of the decision, from the loads to the last value before the context is written."""
        lines: list[Statement] = []
        for number in self._needed():
            node = self.program.nodes[number]
            if node.op in INLINE or _fixed(node):
                continue
            if node.op is Op.TREES:
                lines += self._trees(number)
            else:
                code = f"const {type_of(node)} {self.names[number]} = {self._expression(node)};"
                lines.append(Statement(code, node.note))
        return lines

    def writes(self) -> list[Statement]:
        """The new flow context."""
        lines = []
        for s in self.program.state:
            stored = f"{s.storage}_t"
            node = self.program.nodes[s.node]
            value = self._value(s.node, type_of(node))
            cast = value if stored == type_of(node) else f"({stored}){value}"
            lines.append(Statement(f"flow->{s.name} = {cast};"))
        return lines

    def result(self) -> str:
        node = self.program.nodes[self.program.result]
        return self._cast(self._value(self.program.result, type_of(node)), type_of(node), U32)

    def signals(self) -> set[str]:
        """Raw signals that the printed decision reads."""
        nodes = (self.program.nodes[number] for number in self._needed())
        return {EVENT_NAMES[node.imm] for node in nodes if node.op is Op.EVENT}

    def tree_functions(self) -> list[TreeFunction]:
        """One static function a tree, over the features that it looks at; none where the trees decide nothing."""
        if not self.naive and not any(self.program.nodes[n].op is Op.TREES for n in self._needed()):
            return []
        nodes = self._feature_nodes()
        functions = []
        for number, tree in enumerate(self.program.ensemble.trees):
            root = branches(tree, prune=not self.naive)
            used = tuple(sorted(_features_of(root)))
            parameters = tuple((self._feature_type(nodes[f]), self.program.ensemble.features[f]) for f in used)
            body = tuple(self._branch(root, nodes, 1))
            functions.append(TreeFunction(f"tree_{number:02d}", parameters, body, used))
        return functions

    def _trees(self, number: int) -> list[Statement]:
        node, ensemble = self.program.nodes[number], self.program.ensemble
        name = self.names[number]
        low = ensemble.bias + sum(min(0, *t.leaves) for t in ensemble.trees)
        high = ensemble.bias + sum(max(0, *t.leaves) for t in ensemble.trees)
        if not -(2**31) <= low <= high < 2**31:
            raise InputError(f"the trees can add up to {low}..{high}, which 32 bits cannot hold; use fewer leaf bits")
        lines = [Statement(f"int32_t {name} = {literal(ensemble.bias, I32)};", "bias")]
        for function in self.tree_functions():
            arguments = ", ".join(
                self._value(node.args[f], t) for f, (t, _) in zip(function.features, function.parameters, strict=True)
            )
            lines.append(Statement(f"{name} += {function.name}({arguments});"))
        return lines

    def _branch(self, node: Leaf | Branch, features: list[Node], level: int) -> list[str]:
        pad = "    " * level
        if isinstance(node, Leaf):
            return [f"{pad}leaf = {literal(node.value, I32)};"]
        feature = features[node.feature]
        name = self.program.ensemble.features[node.feature]
        compare = f"{name} > {self._threshold(node.threshold, feature)}"
        return [
            f"{pad}if ({compare}) {{ /* {self.physical(node.feature, node.threshold)} */",
            *self._branch(node.above, features, level + 1),
            f"{pad}}} else {{",
            *self._branch(node.below, features, level + 1),
            f"{pad}}}",
        ]

    def _threshold(self, threshold: int, feature: Node) -> str:
        if not feature.low <= threshold <= feature.high:
            raise InputError(f"the threshold {threshold} lies outside its feature's range; distil the student again")
        ctype = self._feature_type(feature)
        return literal(min(threshold, RANGES[ctype][1]), ctype)

    def _feature_type(self, feature: Node) -> str:
        return I32 if self.naive else type_of(feature)

    def _expression(self, node: Node) -> str:
        args = [self.program.nodes[a] for a in node.args]
        here = type_of(node)
        match node.op:
            case Op.EVENT:
                return f"event->{EVENT_NAMES[node.imm]}"
            case Op.PARAM:
                return f"params->{PARAM_NAMES[node.imm]}"
            case Op.STATE:
                field = self.program.state[node.imm]
                return self._cast(f"flow->{field.name}", f"{field.storage}_t", here)
            case Op.ADD | Op.SUB | Op.MUL:
                wide = joint_type(node, *args)
                sign = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*"}[node.op]
                return self._cast(
                    f"{self._value(node.args[0], wide)} {sign} {self._value(node.args[1], wide)}", wide, here
                )
            case Op.SHL:
                return f"{self._value(node.args[0], here)} << {node.imm}U"
            case Op.SHR:
                wide = type_of(args[0]) if args[0].high >= 2**31 else U32
                return self._cast(f"{self._value(node.args[0], wide)} >> {node.imm}U", wide, here)
            case Op.WRAP_SUB:
                return f"{self._value(node.args[0], U32)} - {self._value(node.args[1], U32)}"
            case Op.MUL_SHR:
                wide = U32 if args[0].high * args[1].high < 2**32 else U64
                first, second = self._value(node.args[0], wide), self._value(node.args[1], wide)
                return self._cast(f"({first} * {second}) >> {node.imm}U", wide, here)
            case Op.MIN | Op.MAX:
                wide = joint_type(*args)
                first, second = self._value(node.args[0], wide), self._value(node.args[1], wide)
                sign = "<" if node.op is Op.MIN else ">"
                return self._cast(f"({first} {sign} {second}) ? {first} : {second}", wide, here)
            case Op.SELECT:
                first, second = self._value(node.args[1], here), self._value(node.args[2], here)
                return f"{self._condition(node.args[0])} ? {first} : {second}"
            case Op.TABLE:
                return self._table(node, here)
        raise AssertionError(f"{node.op.name} is printed elsewhere")

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
        if node.op in (Op.GT, Op.EQ):
            args = [self.program.nodes[a] for a in node.args]
            wide = joint_type(*args)
            sign = ">" if node.op is Op.GT else "=="
            return f"({self._value(node.args[0], wide)} {sign} {self._value(node.args[1], wide)})"
        return f"({self._value(number, type_of(node))} != 0U)"

    def _value(self, number: int, ctype: str) -> str:
        """The node as an operand of type ``ctype``."""
        node = self.program.nodes[number]
        if _fixed(node):
            return literal(node.low, ctype)
        if node.op in (Op.GT, Op.EQ):
            return f"({self._condition(number)} ? {literal(1, ctype)} : {literal(0, ctype)})"
        have = I32 if node.op is Op.TREES else type_of(node)
        return self.names[number] if have == ctype else f"({ctype}){self.names[number]}"

    def _cast(self, text: str, have: str, want: str) -> str:
        if have == want:
            return text
        return f"({want}){text}" if text.replace("->", "").isidentifier() else f"({want})({text})"

    def _feature_nodes(self) -> list[Node]:
        for node in self.program.nodes:
            if node.op is Op.TREES:
                return [self.program.nodes[a] for a in node.args]
        return []

    def _needed(self) -> list[int]:
        """Nodes that the result or the new context depends on, in order."""
        todo = [self.program.result, *(s.node for s in self.program.state)]
        seen: set[int] = set()
        while todo:
            number = todo.pop()
            if number not in seen:
                seen.add(number)
                node = self.program.nodes[number]
                if node.op is Op.TREES:
                    todo += (node.args[feature] for feature in self._looked_at())
                elif not _fixed(node):
                    todo += node.args
        return sorted(seen)

    def _looked_at(self) -> set[int]:
        """Features that a branch is left for: where leaves are equal, a split asks for nothing."""
        roots = (branches(tree, prune=not self.naive) for tree in self.program.ensemble.trees)
        return {feature for root in roots for feature in _features_of(root)}

    def _names(self) -> dict[int, str]:
        """A C identifier for every node that gets one; unnamed nodes are numbered, twins get their number too."""
        taken: set[str] = {"flow", "event", "params", "leaf"}
        names: dict[int, str] = {}
        for number, node in enumerate(self.program.nodes):
            name = node.name or f"v{number}"
            names[number] = f"{name}_{number}" if name in taken else name
            taken.add(names[number])
        return names


def _fixed(node: Node) -> bool:
    """Whether the range leaves one value: then that is printed. (The trees are printed whatever they add up to.)

    So no shift by a type's whole width, which C leaves undefined, is ever printed: its result would be fixed at 0.
    """
    return node.low == node.high and node.op is not Op.TREES


def _features_of(node: Leaf | Branch) -> set[int]:
    if isinstance(node, Leaf):
        return set()
    return {node.feature} | _features_of(node.above) | _features_of(node.below)
