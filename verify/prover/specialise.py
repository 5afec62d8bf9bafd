"""The decision program in the lanes: what each node is, given what the lane knows.

``View.words(n)`` is an expression that equals node n's value (mod 2^32) for every input of the lane; it is found by
following the program's own definition. Inputs are atoms. A node that the code's registers hold under its own name
(a cut) is that atom. The lane's intervals and facts decide a minimum, a maximum or a comparison. Trees are evaluated
over the lane's box of features, leaf by leaf.

``View.bounds(n)`` are bounds of the node's integer in each lane, from the operator and the operands, narrowed by what
the lane knows about the words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from decision.ir.arrays import Bools
from decision.ir.forest import Leaf, Question, leaves
from decision.ir.forest import Node as TreeNode
from decision.ir.program import Node, Op, Program
from verify.prover.bits import asked, both, either
from verify.prover.counts import TOGETHER, Counts, counts, inputs_of
from verify.prover.expressions import FIRST, MODULUS, UNKNOWN, WORD, Pool
from verify.prover.implications import by_common_factor, by_neighbours, implied_in
from verify.prover.intervals import simple
from verify.prover.lanes import FEW_LANES, Ints, Lanes, groups, pairs, words
from verify.prover.spans import Spans, products
from verify.prover.state import State

HALF = MODULUS >> 1
MAX_WORK = 4_000_000
FAR = 1 << 62
"""Beyond what any feature is."""


@dataclass
class Cuts:
    """Names under which values of the program may stand in registers: atoms, and what is already in use.

    node.n   the value of node n
    tree.k   what the leaf of tree k adds; sum.k what the leaves of trees 0..k add, without the bias

    The second output of n trees counts k on from n, and so forth.
    """

    program: Program
    pool: Pool
    leaf_ranges: list[tuple[int, int]] = field(default_factory=list)
    leaf_sums: list[tuple[int, int]] = field(default_factory=list)
    boxes: list[list["Box"]] = field(default_factory=list)
    declared: set[int] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        self.counts = counts(self.program)
        self.steps = _steps(self.program)
        forest = self.program.forest
        for output in range(forest.outputs):
            low = high = 0
            for tree in forest.trees:
                column = [leaf.value[output] for leaf in leaves(tree)]
                low, high = low + min(column), high + max(column)
                self.leaf_ranges.append((min(column), max(column)))
                self.leaf_sums.append((low, high))
        self.boxes = [list(_boxes(tree, {})) for tree in forest.trees]

    def node(self, n: int) -> int:
        return self.pool.atom(f"node.{n}", self.program.nodes[n].low, self.program.nodes[n].high, self.steps[n])

    def input(self, node: Node) -> int:
        key = self.program.key(node)
        assert key is not None
        return self.pool.atom(key, node.low, node.high)

    def atom(self, n: int) -> int:
        """Returns the name of a node's value: an input has its own."""
        node = self.program.nodes[n]
        return self.input(node) if self.program.key(node) else self.node(n)

    def tree(self, k: int) -> int:
        return self.pool.atom(f"tree.{k}", *self.leaf_ranges[k])

    def sum(self, k: int) -> int:
        return self.pool.atom(f"sum.{k}", *self.leaf_sums[k])

    def counted(self) -> frozenset[frozenset[int]]:
        """The inputs that each comparison is about which is only counted."""
        behind = inputs_of(self.program)
        about = (behind[n] for n in self.counts.bits if self.program.nodes[n].op not in TOGETHER)
        return frozenset(frozenset(self.input(self.program.nodes[i]) for i in inputs) for inputs in about)

    def declared_parts(self) -> set[int]:
        """Partial sums and leaves that something goes on as."""
        return {atom for atom in self.declared if self.pool.name(atom).startswith(("sum.", "tree."))}

    def narrow(self, n: int) -> bool:
        """Whether a word holds the node."""
        node = self.program.nodes[n]
        return (node.low >= 0 and node.high <= WORD) or (node.low >= -HALF and node.high < HALF)


def _steps(program: Program) -> list[int]:
    """Returns for each node a power of two that its value is a multiple of: quotients grow by bits from the highest
    on."""
    steps: list[int] = []
    for node in program.nodes:
        of = [steps[a] for a in node.args]
        match node.op:
            case Op.CONST:
                step = node.imm & -node.imm or WORD + 1
            case Op.ADD | Op.SUB | Op.WRAP_SUB | Op.MIN | Op.MAX:
                step = min(of)
            case Op.SELECT:
                step = min(of[1:])
            case Op.SHL:
                step = of[0] << node.imm
            case _:
                step = 1
        steps.append(min(step, WORD + 1))
    return steps


class View:
    """The program over some lanes. ``used``: atoms that their columns are made of, and in which lanes."""

    def __init__(self, state: State, cuts: Cuts, lanes: Lanes, used: dict[int, Bools]) -> None:
        self.state, self.cuts, self.lanes, self.used = state, cuts, lanes, used
        self.program, self.pool, self.count = cuts.program, state.pool, len(lanes)
        self.spans = Spans(state, lanes)
        self.possible = np.ones(len(lanes), dtype=bool)
        """Lanes of which what was asked so far does not exclude that some input takes them."""
        self._raw: dict[int, Ints] = {}
        self._words: dict[int, Ints] = {}
        self._bounds: dict[int, tuple[Ints, Ints]] = {}
        self._answers: dict[tuple[Op, int, int], Ints] = {}
        self._leaves: dict[int, tuple[Ints, Ints]] = {}
        self._sums: list[tuple[Ints, Ints, Bools]] = []
        self._definitions = self._defined_by_facts()
        self._named_parts = bool(cuts.declared_parts())

    def _defined_by_facts(self) -> dict[int, Ints]:
        """Words of the nodes that the lanes' facts define; UNKNOWN where they do not."""
        defined_nodes: dict[int, Ints] = {}
        for number in np.unique(self.lanes.facts):
            defined = [
                self.state.definitions[c] for c, _ in self.state.fact_sets[number] if c in self.state.definitions
            ]
            rows = self.lanes.facts == number if defined else None
            for n, word in defined:
                column = defined_nodes.setdefault(n, np.full(self.count, UNKNOWN, dtype=np.int64))
                column[rows] = word
        return defined_nodes

    def words(self, n: int) -> Ints:
        """Expressions of node n; UNKNOWN where none was found."""
        column = self._words.get(n)
        if column is None:
            column = self._raw_words(n)
            if self.cuts.narrow(n):
                low, high = self.bounds(n)
                column = np.where(low == high, low & WORD, column)
            self._words[n] = column
        return column

    def holds(self, n: int, column: Ints) -> Bools:
        """Lanes in which a column is node n, by its own name or by what it is made of, which may have another."""
        same: Bools = self.words(n) == column
        return same if same.all() or self.cuts.node(n) not in self.used else same | (self._defined(n) == column)

    def learn(self, n: int, column: Ints) -> None:
        """Take as known what node n is."""
        self._raw[n] = self._words[n] = column
        self._answers.clear()

    def bounds(self, n: int) -> tuple[Ints, Ints]:
        ends = self._bounds.get(n)
        if ends is None:
            node = self.program.nodes[n]
            low, high = self._transfer(n)
            low, high = np.maximum(low, node.low), np.minimum(high, node.high)
            if self.cuts.narrow(n):
                low, high = self._known(node, self._raw_words(n), low, high)
                atom = self.cuts.node(n)
                if atom in self.used:
                    low, high = self._known(node, self._defined(n), low, high)
                if atom in self.state.bases:
                    low, high = self._known(node, np.full(self.count, atom, dtype=np.int64), low, high)
            ends = self._bounds[n] = (low, high)
        return ends

    def tree(self, k: int) -> Ints:
        """Expressions of the leaf of tree k."""
        low, high = self.leaf(k)
        return np.where((low == high) & ~self._held(self.cuts.tree(k)), low & WORD, self.cuts.tree(k))

    def number(self, word: int, row: int) -> int | None:
        """Returns a sum of leaves in a lane that knows which they are; None for any other word."""
        total, terms = self.pool.linear(word)
        trees = {self.cuts.tree(k): k for k in range(len(self.cuts.leaf_sums))}
        for atom, times in terms:
            if atom not in trees:
                return None
            low, high = self.leaf(trees[atom])
            if low[row] != high[row]:
                return None
            total += times * int(low[row])
        return total & WORD

    def _held(self, atom: int) -> Bools:
        """Lanes whose columns hold an atom: what they learn of its value later is no other word for it."""
        return self.used.get(atom, np.zeros(self.count, dtype=bool))

    def sums(self, last: int) -> Ints:
        """Expressions of the sum of trees 0..last, without the bias."""
        return self._sum(last)[0]

    def _sum(self, last: int) -> tuple[Ints, Ints, Bools]:
        """Expressions of a partial sum; where every leaf is known (the third), its value (the second)."""
        trees = len(self.program.forest.trees)
        for k in range(len(self._sums), last + 1):
            none = np.zeros(self.count, dtype=np.int64)
            total, exact, known = self._sums[-1] if k % trees else (none, none, np.ones(self.count, dtype=bool))
            low, high = self.leaf(k)
            named = self._held(self.cuts.tree(k)) | self._held(self.cuts.sum(k))
            exact, known = exact + low, known & (low == high) & ~named
            total = words(self.pool, "add", total, self.tree(k))
            if self.cuts.sum(k) in self.used:
                total = np.where(self.used[self.cuts.sum(k)], self.cuts.sum(k), total)
            self._sums.append((np.where(known, exact & WORD, total), exact, known))
        return self._sums[last]

    def _known(self, node: Node, column: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Bounds of a node narrowed by the intervals of the words that stand for it. If nearly every lane has a word of
        its own, that would cost lanes times words, and say little."""
        if not self.count:
            return low, high
        number = np.where(column > node.high, column - MODULUS, column)
        fine = (column != UNKNOWN) & (column < FIRST) & (low <= number) & (number <= high)
        low, high = np.where(fine, number, low), np.where(fine, number, high)
        if self.count <= FEW_LANES:
            different = sorted(set(column.tolist()))
        else:
            different = column[:1].tolist() if (column == column[0]).all() else np.unique(column).tolist()
        single = len(different) == 1
        if len(different) * self.count > MAX_WORK:
            return low, high
        for word in different:
            if word < FIRST:
                continue
            first, last = self.spans.congruent(word)
            least, most = low, high
            at: slice | Ints = slice(None)
            if not single:
                at = np.flatnonzero(column == word)
                first, last, least, most = first[at], last[at], least[at], most[at]
            a, b = np.maximum(first, least), np.minimum(last, most)
            if (a <= b).all() and not _turned(first, last, node):  # as it mostly is
                low[at], high[at] = a, b
                continue
            below, above = most + 1, least - 1
            for turn in _turns(first, last, least, most):
                a, b = np.maximum(first + turn, least), np.minimum(last + turn, most)
                some = a <= b
                below = np.where(some, np.minimum(below, a), below)
                above = np.where(some, np.maximum(above, b), above)
            fine = below <= above  # else the program excludes what the branches said
            self.possible[at] &= fine
            low[at], high[at] = np.where(fine, below, least), np.where(fine, above, most)
        return low, high

    def _raw_words(self, n: int) -> Ints:
        column = self._raw.get(n)
        if column is None:
            column, atom = self._defined(n), self.cuts.node(n)
            if n in self._definitions:
                word = self._definitions[n]
                column = np.where((word == UNKNOWN) | self._named(column), column, word)
            if atom in self.used:
                column = np.where(self.used[atom], atom, column)
            if atom in self.cuts.declared:
                column = np.where(column == UNKNOWN, atom, column)
            self._raw[n] = column
        return column

    def _named(self, column: Ints) -> Bools:
        """Lanes in which a word is a name in use: what a fact says that it is too is not what the code goes on with."""
        named = np.zeros(self.count, dtype=bool)
        for word in np.unique(column):
            if int(word) in self.used:
                named |= (column == word) & self.used[int(word)]
        return named

    def _defined(self, n: int) -> Ints:
        """The node by its definition."""
        node, pool = self.program.nodes[n], self.pool
        narrow = self.cuts.narrow(n)

        def pair(op: str) -> Ints:
            return words(pool, op, self.words(node.args[0]), self.words(node.args[1]))

        def shifted(op: str, column: Ints) -> Ints:
            return words(pool, op, column, np.full(self.count, node.imm, dtype=np.int64))

        if n in self.cuts.counts.bits:
            return self._bit(node)
        match node.op:
            case Op.CONST if narrow:
                return np.full(self.count, node.imm & WORD, dtype=np.int64)
            case Op.EVENT | Op.PARAM | Op.STATE:
                return np.full(self.count, self.cuts.input(node), dtype=np.int64)
            case Op.ADD if narrow:
                return pair("add")
            case Op.SUB | Op.WRAP_SUB if narrow:
                return pair("sub")
            case Op.MUL if narrow:
                return pair("mul")
            case Op.SHL if narrow and node.imm < 32:
                return shifted("sll", self.words(node.args[0]))
            case Op.SHR if node.imm < 32 and self.program.nodes[node.args[0]].high <= WORD:
                return shifted("srl", self.words(node.args[0]))
            case Op.MASK if node.imm < 32 and self.program.nodes[node.args[0]].high <= WORD:
                mask = np.full(self.count, (1 << node.imm) - 1, dtype=np.int64)
                return words(pool, "and", self.words(node.args[0]), mask)
            case Op.MUL_SHR if narrow and all(self.program.nodes[a].high <= WORD for a in node.args):
                return self._product(node.args, node.imm)
            case Op.MIN | Op.MAX:
                a, b = (self.words(x) for x in node.args)
                return self._chosen(self._larger(*node.args), *((b, a) if node.op is Op.MIN else (a, b)))
            case Op.GT:
                greater = self._greater(*node.args)
                return np.where(greater >= 0, greater, self._odd(*map(self.words, node.args)))
            case Op.EQ:
                equal = self._equal(*node.args)
                return np.where(equal >= 0, equal, UNKNOWN)
            case Op.SELECT:
                low, high = self.bounds(node.args[0])
                decided = np.where(low == high, low, -1)
                return self._step(n, self._chosen(decided, self.words(node.args[1]), self.words(node.args[2])))
            case Op.TABLE:
                low, high = self.bounds(node.args[0])
                table = np.array(self.program.tables[node.imm], dtype=np.int64)
                return np.where(low == high, table[np.minimum(low, len(table) - 1)] & WORD, UNKNOWN)
            case Op.TREES if narrow:
                bias = np.full(self.count, self.program.forest.bias[node.imm] & WORD, dtype=np.int64)
                trees = len(self.program.forest.trees)
                return words(pool, "add", bias, self.sums(trees * (node.imm + 1) - 1)) if trees else bias
        return np.full(self.count, UNKNOWN, dtype=np.int64)

    def _bit(self, node: Node) -> Ints:
        """A comparison that is only counted: the word that asks it, where the lane does not know."""
        x, y = node.args
        a, b = self.words(x), self.words(y)
        if node.op in (Op.MIN, Op.MAX):
            return _each(partial(both if node.op is Op.MIN else either, self.pool), a, b)
        known = self._greater(x, y) if node.op is Op.GT else self._equal(x, y)
        op = self._comparison(x, y)
        if not op:
            return np.where(known >= 0, known, UNKNOWN)
        if node.op is Op.EQ:
            op = "eq"
        return np.where(known >= 0, known, _each(partial(asked, self.pool, op), b, a))

    def _comparison(self, *args: int) -> str:
        """The machine's comparison that orders words as these nodes are, if there is one."""
        nodes = [self.program.nodes[n] for n in args]
        if all(n.low >= 0 and n.high <= WORD for n in nodes):
            return "sltu"
        return "slt" if all(n.low >= -HALF and n.high < HALF for n in nodes) else ""

    def _product(self, args: tuple[int, ...], shift: int) -> Ints:
        """As the code has compared it, which may have been before the lane knew that a factor has not overflowed."""
        a, b = self.words(args[0]), self.words(args[1])
        result = products(self.spans, a, b, shift)
        for x, y, rows in pairs(a, b):
            plain = self.pool.product(x, y, shift)
            if simple(self.pool, plain) not in self.state.bases:
                continue
            for word in np.unique(result[rows]):
                at = rows[result[rows] == word]
                result[at[self._in_use(plain, at) | ~self._in_use(int(word), at)]] = plain
        return result

    def _in_use(self, word: int, rows: Ints) -> Bools:
        """In which lanes a word is the value of a column, or has an interval of its own."""
        row = self.state.bases.get(simple(self.pool, word), len(self.lanes.low))
        held: Bools = (self.lanes.values[:, rows] == word).any(axis=0)
        if row < len(self.lanes.low):
            low, high = self.state.ranges[row]
            held |= (self.lanes.low[row, rows] > low) | (self.lanes.high[row, rows] < high)
        return held

    def _chosen(self, first: Ints, yes: Ints, no: Ints) -> Ints:
        """``yes`` where ``first`` is 1, ``no`` where it is 0; where it is not known, what both are if they agree."""
        either = np.where(yes == no, yes, UNKNOWN)
        return np.where(first == 1, yes, np.where(first == 0, no, either))

    def _step(self, n: int, column: Ints) -> Ints:
        """Returns the second side + k * the condition for a choice that is not decided and whose two sides differ by a
        constant k."""
        args = self.program.nodes[n].args
        if not self.cuts.narrow(n) or not (column == UNKNOWN).any():
            return column
        condition, yes, no = (self.words(x) for x in args)
        difference = words(self.pool, "sub", yes, no)
        fine = (column == UNKNOWN) & (condition != UNKNOWN) & (difference >= 0) & (difference < FIRST)
        if not fine.any():
            return column
        sums = words(self.pool, "add", no, words(self.pool, "mul", difference, condition))
        return np.where(fine, sums, column)

    def _odd(self, x: Ints, y: Ints) -> Ints:
        """The lowest bit of a word that is compared with itself without that bit."""
        one = np.ones(self.count, dtype=np.int64)
        even = words(self.pool, "and", x, WORD - one)
        return np.where((even == y) & (x != UNKNOWN), words(self.pool, "and", x, one), UNKNOWN)

    def _greater(self, x: int, y: int) -> Ints:
        """1 where node x > node y, 0 where not, -1 where the lane does not say."""
        if (Op.GT, x, y) not in self._answers:
            self._answers[Op.GT, x, y] = self._found_greater(x, y)
        return self._answers[Op.GT, x, y]

    def _found_greater(self, x: int, y: int) -> Ints:
        (la, ha), (lb, hb) = self.bounds(x), self.bounds(y)
        known = np.where(la > hb, 1, np.where(ha <= lb, 0, -1))
        op = self._comparison(x, y)
        if op:
            self._ask(known, op, self.words(y), self.words(x))
        return self._by_parts(known, x, y)

    def _by_parts(self, known: Ints, x: int, y: int) -> Ints:
        """Decides x > y, where it is open, by the operands of a minimum or maximum, whose order compilers change.

        Compilers compare z + 1 > y as z not less than y, which is decided too.
        """
        node = self.program.nodes[x]
        if node.op is Op.ADD and self._is_one(node.args[1]) and (known < 0).any():
            less = self._greater(y, node.args[0])
            known = np.where((known < 0) & (less >= 0), 1 - less, known)
        for side, n in enumerate((x, y)):
            node = self.program.nodes[n]
            if node.op in (Op.MIN, Op.MAX) and (known < 0).any():
                a, b = (self._greater(*((part, y) if side == 0 else (x, part))) for part in node.args)
                all_ = (node.op is Op.MIN) == (side == 0)  # min(a, b) > y: both are; x > min(a, b): one is enough
                known = np.where(known >= 0, known, _together(a, b, all_))
        return known

    def _is_one(self, n: int) -> bool:
        node = self.program.nodes[n]
        return node.op is Op.CONST and node.imm == 1

    def _larger(self, x: int, y: int) -> Ints:
        """1 where node x >= node y, 0 where x <= y (either, where they are equal), -1 where the lane does not say."""
        known, other = self._greater(x, y), self._greater(y, x)
        (la, ha), (lb, hb) = self.bounds(x), self.bounds(y)
        known = np.where((known < 0) & (other >= 0), 1 - other, known)
        return np.where(known >= 0, known, np.where(la >= hb, 1, np.where(lb >= ha, 0, -1)))

    def _equal(self, x: int, y: int) -> Ints:
        """1 where node x = node y, 0 where not, -1 where the lane does not say."""
        if (Op.EQ, x, y) not in self._answers:
            self._answers[Op.EQ, x, y] = self._found_equal(x, y)
        return self._answers[Op.EQ, x, y]

    def _found_equal(self, x: int, y: int) -> Ints:
        (la, ha), (lb, hb) = self.bounds(x), self.bounds(y)
        known = np.where((la == ha) & (lb == hb) & (la == lb), 1, np.where((la > hb) | (lb > ha), 0, -1))
        if self._comparison(x, y):  # else -1 and 2^32 - 1 are one word
            self._ask(known, "eq", self.words(x), self.words(y))
        return known

    def _ask(self, known: Ints, op: str, a: Ints, b: Ints) -> None:
        """Fills in the answers of the lanes' facts about a condition.

        The features' cells may decide it too, though a partial sum under its name does not. No input takes a lane whose
        facts contradict the cells.
        """
        if not self.lanes.facts.any():
            return
        asked = (known < 0) | self._named_parts
        rows = np.flatnonzero(asked & (a != UNKNOWN) & (b != UNKNOWN) & (self.lanes.facts != 0))
        if not rows.size:
            return
        found, before = np.full(len(rows), -1, dtype=np.int64), known[rows]
        for (p, q, number), at in groups(a[rows], b[rows], self.lanes.facts[rows]):
            condition = self.pool.make(op, p, q)
            holds: bool | None = bool(condition) if condition < FIRST else None
            if holds is None:
                holds = implied_in(self.state, number, condition)
            if holds is None:
                holds = by_common_factor(self.spans, self.state.fact_sets[number], condition, rows[at])
            if holds is None and condition >= FIRST:
                found[at] = by_neighbours(self.spans, self.state.fact_sets[number], condition, rows[at])
                continue
            found[at] = -1 if holds is None else holds
        self.possible[rows] &= (before < 0) | (found < 0) | (before == found)
        known[rows] = np.where(before < 0, found, before)

    def _transfer(self, n: int) -> tuple[Ints, Ints]:
        """Bounds of a node from its operands' bounds."""
        node = self.program.nodes[n]
        if node.op in (Op.CONST, Op.EVENT, Op.PARAM, Op.STATE, Op.WRAP_SUB, Op.MUL_SHR):
            if node.op is Op.MUL_SHR:
                ends = [self.bounds(a) for a in node.args]
                low, high = (ends[0][i].astype(np.uint64) * ends[1][i].astype(np.uint64) for i in (0, 1))
                shift = np.uint64(node.imm)
                return (low >> shift).astype(np.int64), (high >> shift).astype(np.int64)
            return self._widest(node)
        if node.op is Op.TREES:
            forest = self.program.forest
            first = node.imm * len(forest.trees)
            parts = [self.leaf(k) for k in range(first, first + len(forest.trees))]
            bias = forest.bias[node.imm]
            none = np.zeros(self.count, dtype=np.int64)
            return none + bias + sum(p[0] for p in parts), none + bias + sum(p[1] for p in parts)
        (a, b), *rest = (self.bounds(x) for x in node.args)
        c, d = rest[0] if rest else (a, b)
        match node.op:
            case Op.TABLE:
                return _entries(self.program.tables[node.imm], a, b)
            case Op.ADD:
                return a + c, b + d
            case Op.SUB:
                least, most = a - d, b - c
                if ((least < 0) & (most > 0)).any():
                    larger = self._larger(*node.args)
                    least = np.where(larger == 1, np.maximum(least, 0), least)
                    most = np.where(larger == 0, np.minimum(most, 0), most)
                return least, most
            case Op.MUL:
                ends_ = np.stack([a * c, a * d, b * c, b * d])
                return ends_.min(axis=0), ends_.max(axis=0)
            case Op.SHL:
                return a << node.imm, b << node.imm
            case Op.SHR:
                return a >> node.imm, b >> node.imm
            case Op.MASK:
                mask, same = (1 << node.imm) - 1, a >> node.imm == b >> node.imm
                return np.where(same, a & mask, 0), np.where(same, b & mask, mask)
            case Op.MIN | Op.MAX:
                end = np.minimum if node.op is Op.MIN else np.maximum
                least, most = end(a, c), end(b, d)
                if ((b > c) & (d > a)).any():  # else the ends alone say which it is
                    larger = self._larger(*node.args)
                    first, second = (1, 0) if node.op is Op.MAX else (0, 1)
                    least = np.where(larger == first, a, np.where(larger == second, c, least))
                    most = np.where(larger == first, b, np.where(larger == second, d, most))
                return least, most
            case Op.GT | Op.EQ:
                known = self._greater(*node.args) if node.op is Op.GT else self._equal(*node.args)
                return np.where(known == 1, 1, 0), np.where(known == 0, 0, 1)
            case Op.SELECT:
                e, f = rest[1]
                low, high = np.minimum(c, e), np.maximum(d, f)
                return (
                    np.where(a == 1, c, np.where(b == 0, e, low)),
                    np.where(a == 1, d, np.where(b == 0, f, high)),
                )
        return self._widest(node)

    def _widest(self, node: Node) -> tuple[Ints, Ints]:
        return np.full(self.count, node.low, dtype=np.int64), np.full(self.count, node.high, dtype=np.int64)

    def leaf(self, k: int) -> tuple[Ints, Ints]:
        """The least and the greatest that a leaf adds which a lane's box of features reaches; k as in ``Cuts``."""
        if k not in self._leaves:
            trees = len(self.program.forest.trees)
            for output, ends in enumerate(self._ends(k % trees)):
                place = output * trees + k % trees
                self._leaves[place] = self._noted(place, *ends)
        return self._leaves[k]

    def _noted(self, k: int, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Ends narrowed by what a join has noted of the leaf."""
        row = self.state.bases.get(self.cuts.tree(k), len(self.lanes.low))
        if row >= len(self.lanes.low):
            return low, high
        first, last = np.maximum(low, self.lanes.low[row]), np.minimum(high, self.lanes.high[row])
        fine = first <= last
        self.possible &= fine
        return np.where(fine, first, low), np.where(fine, last, high)

    def _ends(self, number: int) -> list[tuple[Ints, Ints]]:
        """Returns for each output the least and the greatest leaf of a tree."""
        features, forest = self._features(), self.program.forest
        sides: dict[tuple[int, int], tuple[Bools, Bools]] = {}  # may be greater, may be not
        low = np.full((forest.outputs, self.count), np.iinfo(np.int64).max)
        high = np.full((forest.outputs, self.count), np.iinfo(np.int64).min)
        for box in self.cuts.boxes[number]:
            possible = np.ones(self.count, dtype=bool)
            for question, above in box.answers:
                if question not in sides:
                    first, last = self.bounds(features[question[0]])
                    sides[question] = last > question[1], first <= question[1]
                possible &= sides[question][0 if above else 1]
            for feature, (least, most) in box.between.items():  # both sides of a feature at once
                first, last = self.bounds(features[feature])
                possible &= np.maximum(first, least) <= np.minimum(last, most)
            for output, value in enumerate(box.value):
                low[output] = np.where(possible, np.minimum(low[output], value), low[output])
                high[output] = np.where(possible, np.maximum(high[output], value), high[output])
        empty = low > high  # a lane that no input takes: any bounds are true
        ranges = [self.cuts.leaf_ranges[k * len(forest.trees) + number] for k in range(forest.outputs)]
        return [
            (np.where(empty[k], least, low[k]), np.where(empty[k], most, high[k]))
            for k, (least, most) in enumerate(ranges)
        ]

    def _features(self) -> tuple[int, ...]:
        return next(node.args for node in self.program.nodes if node.op is Op.TREES)


def _together(a: Ints, b: Ints, both_: bool) -> Ints:
    """Whether both hold, or one does: 1, 0, or -1 where the two, known or not, leave it open."""
    decides = 0 if both_ else 1
    return np.where((a == decides) | (b == decides), decides, np.where((a < 0) | (b < 0), -1, 1 - decides))


def _turned(first: Ints, last: Ints, node: Node) -> bool:
    """Whether the ranges first..last, shifted by a multiple of 2^32, may meet the node's range."""
    return node.low - int(last.max()) <= -MODULUS or node.high - int(first.min()) >= MODULUS


def _turns(first: Ints, last: Ints, least: Ints, most: Ints) -> Iterator[int]:
    """Yields the multiples of 2^32 by which the ranges first..last may have to be shifted to meet least..most."""
    nearest, furthest = int(least.min()) - int(last.max()), int(most.max()) - int(first.min())
    return (turn for turn in (-MODULUS, 0, MODULUS) if nearest <= turn <= furthest)


def _each(make: Callable[[int, int], int], a: Ints, b: Ints) -> Ints:
    """A word of each lane's two."""
    result = np.full(len(a), UNKNOWN, dtype=np.int64)
    for x, y, rows in pairs(a, b):
        if UNKNOWN not in (x, y):
            result[rows] = make(x, y)
    return result


def _entries(table: tuple[int, ...], first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """The least and the greatest entry from one place to another; a lane that no input takes may have any."""
    ends = np.clip(np.stack([first, last]), 0, len(table) - 1)
    spans, back = np.unique(ends, axis=1, return_inverse=True)
    parts = [table[min(i, j) : max(i, j) + 1] for i, j in spans.T.tolist()]
    low, high = (np.array([end(part) for part in parts], dtype=np.int64) for end in (min, max))
    return low[back.reshape(-1)], high[back.reshape(-1)]


@dataclass(frozen=True)
class Box:
    """A leaf that can be reached: the answers that lead to it, and the features that these bound from both sides."""

    value: tuple[int, ...]
    answers: tuple[tuple[Question, bool], ...]
    between: dict[int, tuple[int, int]]


def _boxes(
    node: TreeNode, known: dict[int, tuple[int, int]], answers: tuple[tuple[Question, bool], ...] = ()
) -> Iterator[Box]:
    """The leaves under a node. ``known``: what the answers say of the features."""
    if isinstance(node, Leaf):
        between = {f: (a, b) for f, (a, b) in known.items() if a > -FAR and b < FAR}
        yield Box(node.value, answers, between)
        return
    question = node.feature, node.threshold
    low, high = known.get(node.feature, (-FAR, FAR))
    if high > node.threshold:
        inside = known | {node.feature: (max(low, node.threshold + 1), high)}
        yield from _boxes(node.above, inside, (*answers, (question, True)))
    if low <= node.threshold:
        inside = known | {node.feature: (low, min(high, node.threshold))}
        yield from _boxes(node.below, inside, (*answers, (question, False)))
