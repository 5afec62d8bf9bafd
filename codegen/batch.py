"""A model over many rows on a host: the same bits for each row, in loops that compilers turn into vector instructions.

    for (i = 0U; i < RLCC_BATCH_ROWS; i++) {                    a key a feature that vectors compare, in 16 bits
        rtt_q10_key[i] = ..;
    }
    for (i = 0U; i < RLCC_BATCH_ROWS; i++) {                    a tree: the index of its leaf
        index[0][i] = (uint16_t)(((rtt_q10_key[i] > 51) ? 1U : 0U) | ((rate_q8_key[i] > 3) ? 2U : 0U));
    }
    for (i = 0U; i < RLCC_BATCH_ROWS; i++) {                    several trees: their leaves
        added_0[i] += (int32_t)leaves_000[index[0][i]] + ..;
    }

A tree is printed in the first form that fits:

- bits: bit k of the index is the answer to the tree's question k. The table has 2^questions entries.
- mask: bit k excludes leaf k, leaves in ascending order [QUICKSCORER]. A feature above a threshold excludes
  the leaves below it. The lowest bit that is 0 is the leaf; a de Bruijn product makes its index in a loop of its own.
- rows: nested if-else, a row at a time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from codegen.ctypes99 import I32, literal
from codegen.forms import Lowered, questions_of, table_of
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.trees_c import Physical, Statement, array_of_entries
from decision.ir.forest import Branch, Leaf, Node, branches, leaves
from decision.ir.program import Op

ROWS = 64
"""Rows of a block: a multiple of the lanes of every vector unit there is, and keys that stay in the first cache."""
TREES = 8
"""Trees whose leaves one loop adds."""
ASKED = 6
"""Questions that one loop asks."""
MIN_ENTRIES, MAX_QUESTIONS = 64, 12
"""Entries that a table may always have, beyond twice the tree's leaves; bits of an index."""
MASK_LEAVES = 16
"""Leaves that a mask has bits for."""
DE_BRUIJN = 0x09AF
"""Each of its 16 shifts has other upper 4 bits."""
INT16 = (-(1 << 15), (1 << 15) - 1)
INT32_MAX = (1 << 31) - 1
NAME = "rlcc_batch_"


@dataclass(frozen=True)
class Key:
    """A feature in 16 bits: ``thresholds`` are those that keys are compared with, ascending.

    Three exact forms: the value cut to 16 bits; the value cut to the thresholds, less an ``offset``; and, where they
    are too far apart, the number of thresholds that it is above, by a search in ``borders``."""

    feature: int
    field: str
    thresholds: tuple[int, ...]

    @cached_property
    def offset(self) -> int | None:
        """Returns what is subtracted; None where thresholds are counted."""
        low, high = self.thresholds[0], self.thresholds[-1] + 1
        if INT16[0] <= low and high <= INT16[1]:
            return 0
        offset = low - INT16[0]
        return offset if high - offset <= INT16[1] and offset <= INT32_MAX else None

    def beyond(self, threshold: int) -> int:
        """Returns the number that the key is above where the feature is above a threshold."""
        return self.thresholds.index(threshold) if self.offset is None else threshold - self.offset

    @property
    def borders(self) -> list[int]:
        """Returns the thresholds and, behind them, up to a power of two less one, numbers that nothing is above."""
        return [*self.thresholds, *[INT32_MAX] * ((1 << len(self.thresholds).bit_length()) - 1 - len(self.thresholds))]

    @property
    def ends(self) -> tuple[int, int]:
        """Returns the least and the greatest value that the cut leaves."""
        return self.thresholds[0], self.thresholds[-1] + 1


def batched(lowered: LoweredProgram, physical: Physical) -> "BatchPrinter | None":
    """Returns the printer of a program whose trees are all in branches; None where it is no batch: the program has no
    trees that loops walk, walks some at another place, or clamps their sums."""
    if len(lowered.walks) != 1:
        return None
    walk = lowered.walks[0].choice.lowered.walk
    free = all(s.low == -INT32_MAX - 1 and s.high == INT32_MAX for s in walk.sums)
    plain = not any(feature.factors for feature in walk.features)
    fields = all(lowered.program.nodes[n].op is Op.EVENT for n in lowered.walks[0].features)
    walked = any(_form(tree) for tree in walk.trees)
    return BatchPrinter(lowered, physical) if walked and free and plain and fields else None


class BatchPrinter(Printer):
    """Prints what follows the trees, and those in rows, as a ``Printer``; the others as loops."""

    def __init__(self, lowered: LoweredProgram, physical: Physical) -> None:
        (walked,) = lowered.walks
        self._walk = walked.choice.lowered.walk
        self._forms = {number: form for number, tree in enumerate(self._walk.trees) if (form := _form(tree))}
        rest = tuple(number for number in range(len(self._walk.trees)) if number not in self._forms)
        only: Lowered = replace(walked.choice.lowered, branches=rest, indexed=(), groups=(), searches=(), direct=None)
        walks = (replace(walked, choice=replace(walked.choice, lowered=only), name=NAME),)
        super().__init__(replace(lowered, walks=walks), physical)
        self.asks_rows = bool(rest)
        self.de_bruijn = DE_BRUIJN

    @cached_property
    def keys(self) -> list[Key]:
        """Returns the keys of the features that loops compare."""
        asked: dict[int, set[int]] = {}
        for number in self._forms:
            for branch in branches(self._walk.trees[number]):
                asked.setdefault(branch.feature, set()).add(branch.threshold)
        args = self.lowered.walks[0].features
        events = self.program.interface.event
        names = {f: events[self.program.nodes[args[f]].imm].name for f in asked}
        return [Key(f, names[f], tuple(sorted(asked[f]))) for f in sorted(asked)]

    @property
    def masks(self) -> bool:
        """Returns whether a loop walks some tree by a mask."""
        return "mask" in self._forms.values()

    @property
    def columns(self) -> list[int]:
        """Returns the sums that loops add to."""
        return sorted({k for n in self._forms for k in self._walk.columns(self._walk.trees[n])})

    def index_count(self) -> int:
        """Returns how many trees a loop adds the leaves of, at most."""
        return min(TREES, len(self._forms))

    def batch_tables(self) -> list[str]:
        """Returns the borders of searches and the leaves of the trees that loops walk."""
        wide = [key for key in self.keys if key.offset is None]
        lines = [line for key in wide for line in array_of_entries(f"{key.field}_borders", key.borders)]
        return lines + [line for n in self._forms for line in array_of_entries(_table_name(n), self._tables[n])]

    def key_statements(self) -> list[Statement]:
        """Returns the statements that make the keys of one row, of ``event`` at place i."""
        return [line for key in self.keys for line in _key(key)]

    def groups(self) -> Iterator[tuple[list[tuple[Statement, str]], list[Statement]]]:
        """Yields for each group of trees the statement of each loop, with what its comment says, and those of the loop
        that adds their leaves."""
        numbers = list(self._forms)
        for start in range(0, len(numbers), TREES):
            part = numbers[start : start + TREES]
            adding = []
            for column in self.columns:
                terms = [term for place, n in enumerate(part) for term in self._term(place, n, column)]
                adding += [Statement(f"added_{column}[i] += {' + '.join(terms)};")] if terms else []
            yield [loop for place, n in enumerate(part) for loop in self._loops(place, n)], adding

    def _trees(self, number: int) -> list[Statement]:
        """Adds what the loops have added to the sums that rows begin."""
        lines = super()._trees(number)
        if not lines:
            return []
        names = [self.names[n] for n in self.lowered.walks[0].sums]
        return [*lines, *(Statement(f"{names[k]} += added_{k}[i];") for k in self.columns)]

    def _loops(self, place: int, number: int) -> list[tuple[Statement, str]]:
        """The loops that find a tree's leaf: a few questions each, or gcc leaves branches in them."""
        tree, form, here = self._walk.trees[number], self._forms[number], f"index[{place}][i]"
        by_feature = {key.feature: key for key in self.keys}
        questions, terms = questions_of(tree), []
        for k, (feature, threshold) in enumerate(questions):
            key = by_feature[feature]
            bits = f"{1 << k}U" if form == "bits" else f"0x{_excluded(tree, feature, threshold):04X}U"
            terms.append(f"(({_key_name(key)}[i] > {literal(key.beyond(threshold), I32)}) ? {bits} : 0U)")
        loops = []
        for start in range(0, len(terms), ASKED):
            before = [f"(uint32_t){here}"] if start else []
            some = " | ".join([*before, *terms[start : start + ASKED]])
            loops.append((Statement(f"{here} = (uint16_t)({some});"), f"tree {number}"))
        if form == "mask":
            loops.append((Statement(f"{here} = {NAME}leaf({here});"), f"tree {number}, its leaf"))
        return loops

    def _entries(self, number: int) -> list[int]:
        """The tree's tables, one a sum that it adds to, one behind the other."""
        tree, questions = self._walk.trees[number], questions_of(self._walk.trees[number])
        columns = self._walk.columns(tree)
        if self._forms[number] == "bits":
            return [v for column in columns for v in table_of(tree, questions, column)]
        return [v for column in columns for v in _hashed([leaf.value[column] for leaf in _ascending(tree)])]

    def _term(self, place: int, number: int, column: int) -> list[str]:
        columns = self._walk.columns(self._walk.trees[number])
        if column not in columns:
            return []
        size = len(self._tables[number]) // len(columns)
        at = columns.index(column) * size
        behind = f" + {at}U" if at else ""
        return [f"(int32_t){_table_name(number)}[index[{place}][i]{behind}]"]

    @cached_property
    def _tables(self) -> dict[int, list[int]]:
        return {number: self._entries(number) for number in self._forms}


def _form(tree: Node) -> str | None:
    """How loops walk a tree; None where they do not."""
    if isinstance(tree, Leaf):
        return None
    asked, count = len(questions_of(tree)), sum(1 for _ in leaves(tree))
    if asked <= MAX_QUESTIONS and 1 << asked <= max(MIN_ENTRIES, 2 * count):
        return "bits"
    return "mask" if count <= MASK_LEAVES else None


def _ascending(tree: Node) -> list[Leaf]:
    """The leaves, those below a threshold first."""
    if isinstance(tree, Leaf):
        return [tree]
    assert isinstance(tree, Branch)
    return [*_ascending(tree.below), *_ascending(tree.above)]


def _excluded(tree: Node, feature: int, threshold: int, start: int = 0) -> int:
    """Bits of the leaves that a feature above a threshold does not lead to; ``start``: the number of the first leaf."""
    if isinstance(tree, Leaf):
        return 0
    assert isinstance(tree, Branch)
    middle = start + sum(1 for _ in leaves(tree.below))
    inner = _excluded(tree.below, feature, threshold, start) | _excluded(tree.above, feature, threshold, middle)
    here = (1 << middle) - (1 << start) if (tree.feature, tree.threshold) == (feature, threshold) else 0
    return inner | here


def _hashed(values: list[int]) -> list[int]:
    """The values by the product of their bit with ``DE_BRUIJN``."""
    entries = [0] * MASK_LEAVES
    for k, value in enumerate(values):
        entries[((1 << k) * DE_BRUIJN & 0xFFFF) >> 12] = value
    return entries


def _key(key: Key) -> list[Statement]:
    """The statements that make a row's key."""
    field, name, value = key.field, _key_name(key), f"event->{key.field}"
    if key.offset is None:
        lines, half = [Statement(f"uint32_t {field}_above = 0U;")], len(key.borders) // 2 + 1
        while half:
            border = f"{field}_borders[{field}_above + {half - 1}U]" if half > 1 else f"{field}_borders[{field}_above]"
            lines.append(Statement(f"{field}_above += ({value} > {border}) ? {half}U : 0U;"))
            half //= 2
        return [*lines, Statement(f"{name}[i] = (int16_t){field}_above;")]
    low, high = (literal(end, I32) for end in key.ends)
    below = f"({value} < {high}) ? {value} : {high}"
    within = f"({field}_cut > {low}) ? {field}_cut : {low}"
    within = f"({within}) - {literal(key.offset, I32)}" if key.offset else within
    return [Statement(f"const int32_t {field}_cut = {below};"), Statement(f"{name}[i] = (int16_t)({within});")]


def _key_name(key: Key) -> str:
    return f"{key.field}_key"


def _table_name(number: int) -> str:
    return f"leaves_{number:03d}"
