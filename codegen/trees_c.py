"""Lowered trees as C: static functions, a constant table, and the statements that add them up.

static uint32_t place_action_1(const int32_t action_1) { .. }      a search: nested if-else, one word an interval
static int32_t tree_03(const uint32_t congestion_q20) { .. }       a tree in branches that adds to one sum
static int32_t leaf_delta(const int32_t *const row, ..) { .. }     the last search of one table: its ends load
static const int16_t leaves[486] = { .. };                         joint tables, one behind the other
place += place_action_1(action_1);
trees += (int32_t)leaves[(place >> 9U) & 0x7FU];

A tree that adds to several sums is evaluated once. As branches it stands in the caller, and each leaf adds its row. As
tables it has one table per sum, and one index for all of them. (Rows side by side would cost as many cycles and a wider
field of the place.)

Compilers copy what follows a leaf into it, above all where a tree asks other questions on other paths. If there is one
sum, a tree of this kind is given the sum so far and gives the next; of equal sides what lies below comes first:

static int32_t tree_07(const int32_t so_far, const int32_t f0) { int32_t sum; if (f0 <= 3) { sum = so_far + 5; } .. }

One that adds to several sums adds to two words a sum, of 12 bits each time: two instructions where a constant of more
bits takes three.

sum_0 += (-52); sum_0_upper += 11;   ..   sum_0 += sum_0_upper * 4096;
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from types import MappingProxyType

from codegen.ctypes99 import I32, RANGES, U32, U64, literal, type_for
from codegen.forms import Lowered, Search, entry_bytes, questions_of, table_of
from codegen.joint import Axis, Group
from codegen.passes.reorder import mixed
from codegen.search import Ask, Found, SearchNode
from codegen.walk import features_of
from decision.artefact.errors import InputError
from decision.ir.forest import Leaf, Node, leaves

Physical = Callable[[int, int], str]
"""From (feature, threshold) to the comparison ``feature > threshold`` in physical units, for the comment beside it."""

COUNTED = "thresholds that it is above: what the context keeps"
PLACE = "a field a table, in each what the feature adds to its index"
UPPER = 12
"""Bits of an immediate: what a leaf adds of more goes to another word."""
MAX_HALVED = 1 << 29
"""Of all leaves together: with half an immediate a tree that the lower word is off, the upper one stays below 2^31."""
ENTRY_TYPES = {1: "int8_t", 2: "int16_t", 4: "int32_t"}


@dataclass(frozen=True)
class Function:
    """A static function: what it returns, its parameters as (type, name), the numbers of those features, its body."""

    name: str
    returns: str
    parameters: tuple[tuple[str, str], ...]
    features: tuple[int, ...]
    body: tuple[str, ...]


@dataclass(frozen=True)
class Statement:
    """One line of the decision; ``note`` becomes its comment."""

    code: str
    note: str = ""


class TreePrinter:
    """Prints lowered trees. ``one_function``: trees in branches stand in the caller, not in functions of their own.
    ``plain``: every feature is an int32_t (a kernel that is called with a row of them); ``name``: before the names of
    what is declared, where other trees are walked beside these."""

    def __init__(
        self,
        lowered: Lowered,
        physical: Physical | None = None,
        *,
        one_function: bool = False,
        plain: bool = False,
        name: str = "",
    ) -> None:
        self.lowered = lowered
        self.physical = physical
        self.name = name
        self.place = f"{name}place"
        self.one_function = one_function
        self.types = [I32 if plain else type_for(f.low, f.high) for f in lowered.walk.features]
        self._check_sums()

    def functions(self) -> list[Function]:
        made = [self._search(search) for search in (*self.lowered.counts, *self.lowered.searches)]
        if not self.one_function:
            made += [self._tree(number) for number in self.lowered.branches if self._adds_to_one(number)]
        return made

    def tables(self, names: Sequence[str]) -> list[str]:
        """The constant tables, to stand in the block that reads them; ``names``: of the sums."""
        array = self.lowered.array
        lines = _array(f"{self.name}leaves", array, self._rows(names)) if self.lowered.groups else []
        for number in self.lowered.indexed:
            if questions_of(self.lowered.walk.trees[number]):
                entries = self._entries(number)
                lines += array_of_entries(f"{self.name}leaves_{number:02d}", entries)
        return lines

    def _rows(self, names: Sequence[str]) -> list[tuple[int, str]]:
        """The rows of the joint tables: how many entries each has, and what it holds. A row runs over the classes of
        its trees' last feature."""
        rows: list[tuple[int, str]] = []
        for group in self.lowered.groups:
            count = len(group.axes[-1].thresholds) + 1 if group.axes else 1
            for column in group.columns:
                table = group.table(column)
                for place in range(0, len(table), count):
                    intervals = [self._interval(axis, place) for axis in group.axes[:-1]]
                    bounds = _shares(names[column], table[place : place + count])
                    said = ", ".join(filter(None, (*intervals, bounds)))
                    rows.append((count, said if place else f"{_trees(group)}: {said}"))
        used = sum(count for count, _ in rows)
        padding = len(self.lowered.array) - used
        return [*rows, (padding, "what no place leads to")] if padding else rows

    def _interval(self, axis: Axis, place: int) -> str:
        """The class of a feature that an entry at ``place`` is of."""
        number = place // axis.stride % (len(axis.thresholds) + 1)
        name = self.lowered.walk.features[axis.feature].name
        if number == len(axis.thresholds):
            return f"{name} > {axis.thresholds[-1]}"
        if number == 0:
            return f"{name} <= {axis.thresholds[0]}"
        return f"{name} {axis.thresholds[number - 1] + 1}..{axis.thresholds[number]}"

    def _entries(self, number: int) -> list[int]:
        """The tables of an indexed tree, one a sum that it adds to, one behind the other."""
        tree = self.lowered.walk.trees[number]
        return [v for column in self._columns(number) for v in table_of(tree, questions_of(tree), column)]

    def _columns(self, number: int) -> tuple[int, ...]:
        return self.lowered.walk.columns(self.lowered.walk.trees[number])

    def _adds_to_one(self, number: int) -> bool:
        return len(self._columns(number)) == 1

    def statements(
        self, names: Sequence[str], value: Callable[[int, str], str], ranks: Mapping[int, str] = MappingProxyType({})
    ) -> list[Statement]:
        """Statements after which ``names[i]`` holds sum i. ``value(feature, type)`` is a feature as an operand;
        ``ranks``: the name for the thresholds that a feature is above, where they are counted."""
        lines: list[Statement] = []
        asked = self.lowered.searches or self.lowered.direct is not None
        if self.lowered.groups and not asked:  # trees that cancel each other: one entry, no question
            lines.append(Statement(f"const uint32_t {self.place} = 0U;"))
        for search in self.lowered.counts:
            counted = ranks[search.placing.feature]
            lines.append(Statement(f"const uint32_t {counted} = {self._call(search, value)};", COUNTED))
        known: set[int] = set()
        lines += self._placed(value, ranks)
        if self._loading is not None:
            lines += self._loaded(self._loading, names[0], value, ranks)
            known.add(0)
        for number, group in enumerate(() if self._loading else self.lowered.groups):
            lines += self._look_up(number, group, names, known)
        for column, name in enumerate(names):
            if column not in known:
                bias = literal(self.lowered.walk.sums[column].bias, I32)
                lines.append(Statement(f"int32_t {name} = {bias};", "bias"))
        for number in self.lowered.indexed:
            lines += self._indexed(number, names, value)
        halved = self._halved()
        lines += [Statement(f"int32_t {names[k]}_upper = 0;", f"of 2^{UPPER}") for k in halved]
        for number in self.lowered.branches:
            lines += self._branches(number, names, value)
        lines += [Statement(f"{names[k]} += {names[k]}_upper * {1 << UPPER};") for k in halved]
        for column, name in enumerate(names):
            lines += self._clamps(column, name)
        return lines

    def _placed(self, value: Callable[[int, str], str], ranks: Mapping[int, str]) -> list[Statement]:
        """Statements that add up the places of all features, but of that whose search loads: then the row behind them
        is where it does."""
        lines: list[Statement] = []
        heads = chain([(f"uint32_t {self.place} =", PLACE)], repeat((f"{self.place} +=", "")))
        for search in self.lowered.searches:
            if search is not self._loading:
                before, call = self._found(search, "place", value, ranks)
                head, note = next(heads)
                lines += [*before, Statement(f"{head} {call};", note)]
        if self.lowered.direct is not None:
            added, factor = value(self.lowered.direct, U32), self.lowered.share
            head, note = next(heads)
            lines.append(Statement(f"{head} {added};" if factor == 1 else f"{head} {added} * {factor}U;", note))
        if self._loading is not None:
            lines.append(Statement(f"const {self._entry} *const {self.name}row = &{self.name}leaves[{self.place}];"))
        return lines

    def _loaded(
        self, search: Search, name: str, value: Callable[[int, str], str], ranks: Mapping[int, str]
    ) -> list[Statement]:
        """The sum, from the search that loads it."""
        before, call = self._found(search, "leaf", value, ranks)
        call = f"(int32_t){call}" if before else call
        return [*before, Statement(f"int32_t {name} = {call};", _trees(self.lowered.groups[0]))]

    def _found(
        self, search: Search, what: str, value: Callable[[int, str], str], ranks: Mapping[int, str]
    ) -> tuple[list[Statement], str]:
        """The call of a search as an operand, and before it the statements that part ``what`` it finds from a rank."""
        call = self._call(search, value)
        if not search.placing.ranks:
            return [], call
        counted = ranks[search.placing.feature]
        both = f"{counted}_and_{what}"
        rank = Statement(f"const uint32_t {counted} = (uint32_t)({both} >> 32U);", COUNTED)
        return [Statement(f"const uint64_t {both} = {call};"), rank], f"(uint32_t){both}"

    @property
    def _entry(self) -> str:
        """The type of the joint tables' entries."""
        return ENTRY_TYPES[entry_bytes(self.lowered.array)]

    @cached_property
    def _loading(self) -> Search | None:
        """The last search if its ends load the only sum from the row of the feature that is its own place; None where a
        look-up follows the searches. A rank shares the returned word with leaves that are not negative alone."""
        lowered = self.lowered
        if lowered.direct is None or len(lowered.groups) != 1 or not lowered.searches:
            return None
        (group,), last = lowered.groups, lowered.searches[-1]
        if len(lowered.walk.sums) != 1 or group.rests or (last.placing.ranks and min(group.entries) < 0):
            return None
        return last

    def _clamps(self, number: int, name: str) -> list[Statement]:
        total = self.lowered.walk.sums[number]
        if not self.lowered.clamps(number):
            return []
        bounds = [(total.low, ">")] if total.low > -(2**31) else []
        bounds += [(total.high, "<")] if total.high < 2**31 - 1 else []
        return [
            Statement(f"{name} = ({name} {sign} {literal(b, I32)}) ? {name} : {literal(b, I32)};", "the action's limit")
            for b, sign in bounds
        ]

    def _look_up(self, number: int, group: Group, names: Sequence[str], known: set[int]) -> list[Statement]:
        """``known``: the sums that have a value already."""
        index = self.place if group.shift == 0 else f"({self.place} >> {group.shift}U)"
        if group is not self.lowered.groups[-1]:
            index = f"({index} & {(1 << group.width) - 1}U)"
        note = _trees(group)
        lines: list[Statement] = []
        row = f"{self.name}leaves[{index}]"
        if group.start(group.columns[-1]):
            lines.append(Statement(f"const {self._entry} *const {self.name}table_{number} = &{row};", note))
            note = ""
        for column in group.columns:
            if lines:
                row = f"{self.name}table_{number}[{group.start(column)}]"
            entry = _widened(row, entry_bytes(self.lowered.array))
            if group.rest(column):
                entry += f" + {literal(group.rest(column), I32)}"
            first = column not in known
            known.add(column)
            code = f"int32_t {names[column]} = {entry};" if first else f"{names[column]} += {entry};"
            lines.append(Statement(code, note))
        return lines

    def _indexed(self, number: int, names: Sequence[str], value: Callable[[int, str], str]) -> list[Statement]:
        tree, columns = self.lowered.walk.trees[number], self._columns(number)
        questions = questions_of(tree)
        if isinstance(tree, Leaf):
            return [Statement(f"{names[k]} += {literal(tree.value[k], I32)};") for k in columns]
        index = f"{self.name}index_{number:02d}"
        lines = []
        for bit, (feature, asked_for) in enumerate(questions):
            ctype = self.types[feature]
            threshold = self._threshold(feature, asked_for)
            border = self._border(feature, threshold, lambda f: value(f, self.types[f]))
            asked = f"({value(feature, ctype)} > {border}) ? (uint32_t){1 << bit}U : 0U"
            lines.append(
                Statement(
                    f"{index} += {asked};" if bit else f"uint32_t {index} = {asked};", self._meaning(feature, threshold)
                )
            )
        size = entry_bytes(self._entries(number))
        for n, column in enumerate(columns):
            at = f"{index} + {n << len(questions)}U" if n else index
            lines.append(Statement(f"{names[column]} += {_widened(f'{self.name}leaves_{number:02d}[{at}]', size)};"))
        return lines

    def _branches(self, number: int, names: Sequence[str], value: Callable[[int, str], str]) -> list[Statement]:
        tree = self.lowered.walk.trees[number]
        if not self.one_function and self._adds_to_one(number):
            function = self._tree(number)
            arguments = [value(f, self.types[f]) for f in function.features]
            name = names[self._columns(number)[0]]
            if self._carries(tree):
                return [Statement(f"{name} = {function.name}({', '.join((name, *arguments))});")]
            return [Statement(f"{name} += {function.name}({', '.join(arguments)});")]
        # Inside a block each feature goes by its own value: a name where it has one.
        spelled = {f: value(f, self.types[f]) for f in self._with_divisors(features_of(tree))}

        halved = self._halved() if self._halves(number) else ()
        columns, alone = self._columns(number), self._adds_to_one(number)

        def row(leaf: Leaf) -> list[str]:
            added = [k for k in columns if leaf.value[k] or alone]
            words = []
            for k in added:
                upper, lower = _parts(leaf.value[k]) if k in halved else (0, leaf.value[k])
                words += [(names[k], lower)] if lower or not upper else []
                words += [(f"{names[k]}_upper", upper)] if upper else []
            return [f"{name} += {literal(word, I32)};" for name, word in words]

        return [Statement(f"/* {self.name}tree {number} */"), *map(Statement, self._nest(tree, row, spelled, 0))]

    def _carries(self, tree: Node) -> bool:
        """Whether a tree's function is given the sum so far: not one of several, which what is copied would hold."""
        return mixed(tree) and len(self.lowered.walk.sums) == 1

    def _halves(self, number: int) -> bool:
        """Whether a tree in branches adds to two words a sum."""
        return not self._adds_to_one(number) and mixed(self.lowered.walk.trees[number])

    def _halved(self) -> tuple[int, ...]:
        """The sums with an upper word of their own: some leaf adds more than an immediate to it, and no sum of leaves
        comes near 2^31, from which the lower words might lead the upper ones astray."""
        trees = [self.lowered.walk.trees[number] for number in self.lowered.branches if self._halves(number)]
        columns = sorted({k for tree in trees for k in self.lowered.walk.columns(tree)})
        most = {k: sum(max(abs(leaf.value[k]) for leaf in leaves(tree)) for tree in trees) for k in columns}
        upper = {k: any(_parts(leaf.value[k])[0] for tree in trees for leaf in leaves(tree)) for k in columns}
        return tuple(k for k in columns if upper[k] and most[k] < MAX_HALVED)

    def _tree(self, number: int) -> Function:
        tree, (column,) = self.lowered.walk.trees[number], self._columns(number)
        used = self._with_divisors(features_of(tree))
        features = self.lowered.walk.features
        spelled = {f: features[f].name for f in used}
        parameters = tuple((self.types[f], features[f].name) for f in used)
        name = f"{self.name}tree_{number:02d}"
        if self._carries(tree):
            nested = self._nest(
                tree, lambda leaf: [f"sum = so_far + {literal(leaf.value[column], I32)};"], spelled, 1, below=True
            )
            body = ("    int32_t sum;", "", *nested, "", "    return sum;")
            return Function(name, I32, ((I32, "so_far"), *parameters), used, body)
        nested = self._nest(tree, lambda leaf: [f"leaf = {literal(leaf.value[column], I32)};"], spelled, 1)
        return Function(name, I32, parameters, used, ("    int32_t leaf;", "", *nested, "", "    return leaf;"))

    def _search(self, search: Search) -> Function:
        feature, loads = search.placing.feature, search is self._loading
        name = self.lowered.walk.features[feature].name
        used = self._with_divisors((feature,))
        parameters = [(self.types[f], self.lowered.walk.features[f].name) for f in used]
        kind, found, ctype = ("leaf", "leaf", I32) if loads else ("place", "word", U32)
        kind = "rank" if search in self.lowered.counts else kind
        returned, declared = found, [f"    {ctype} {found};"]
        if search.placing.ranks:
            word = "(uint32_t)leaf" if loads else "word"
            returned, ctype = f"((uint64_t)rank << 32U) | (uint64_t){word}", U64
            declared.append("    uint32_t rank;")
        body = (*declared, "", *self._ask(search, search.root, 1), "", f"    return {returned};")
        row = [(f"{self._entry} *const", "row")] if loads else []
        return Function(f"{self.name}{kind}_{name}", ctype, (*row, *parameters), used, body)

    def _call(self, search: Search, value: Callable[[int, str], str]) -> str:
        function = self._search(search)
        row = [f"{self.name}row"] if search is self._loading else []
        return f"{function.name}({', '.join((*row, *(value(f, self.types[f]) for f in function.features)))})"

    def _with_divisors(self, used: Sequence[int]) -> tuple[int, ...]:
        """Features, and behind them those whose multiples some of them are compared with."""
        overs = (self.lowered.walk.features[f].over for f in used)
        return (*used, *sorted({over for over in overs if over >= 0}))

    def _border(self, feature: int, threshold: int, spelled: Callable[[int], str]) -> str:
        """Returns the value that a feature exceeds if it is above a threshold."""
        asked = self.lowered.walk.features[feature]
        if not asked.factors:
            return literal(threshold, self.types[feature])
        factor = asked.factors[threshold]
        return spelled(asked.over) if factor == 1 else f"({factor}U * {spelled(asked.over)})"

    def _ask(self, search: Search, node: SearchNode, level: int) -> list[str]:
        pad = "    " * level
        if isinstance(node, Found):
            word, *rank = search.placing.ends[node.place]
            row = _widened(f"row[{word}]", entry_bytes(self.lowered.array))
            found = f"leaf = {row};" if search is self._loading else f"word = 0x{word:X}U;"
            return [pad + found, *(f"{pad}rank = {r}U;" for r in rank)]
        assert isinstance(node, Ask)
        feature, threshold = search.placing.feature, search.placing.thresholds[node.border]
        first, second = (node.above, node.below) if node.first else (node.below, node.above)
        ends = search.placing.ends
        return self._either(
            feature,
            {f: self.lowered.walk.features[f].name for f in self._with_divisors((feature,))},
            threshold,
            ends[node.border] != ends[node.border + 1],
            node.first,
            self._ask(search, first, level + 1),
            self._ask(search, second, level + 1),
            pad,
        )

    def _nest(
        self,
        node: Node,
        leaf: Callable[[Leaf], list[str]],
        spelled: dict[int, str],
        level: int,
        *,
        below: bool = False,
    ) -> list[str]:
        """The longer side is first; ``below``: of equal ones what lies below the threshold."""
        pad = "    " * level
        if isinstance(node, Leaf):
            return [pad + line for line in leaf(node)]
        over = self._nest(node.above, leaf, spelled, level + 1, below=below)
        under = self._nest(node.below, leaf, spelled, level + 1, below=below)
        first = len(over) > len(under) if below else len(over) >= len(under)
        sides = (over, under) if first else (under, over)
        return self._either(node.feature, spelled, node.threshold, True, first, *sides, pad)

    def _either(
        self,
        feature: int,
        spelled: Mapping[int, str],
        threshold: int,
        asked: bool,
        above: bool,
        first: list[str],
        second: list[str],
        pad: str,
    ) -> list[str]:
        """An if-else whose first side is what lies above the threshold, or below it. ``asked``: by a tree, so it has a
        meaning."""
        threshold = self._threshold(feature, threshold)
        meaning = self._meaning(feature, threshold) if asked else ""
        comment = (f" /* {meaning} */" if above else f" /* not {meaning} */") if meaning else ""
        sign = ">" if above else "<="
        return [
            f"{pad}if ({spelled[feature]} {sign} {self._border(feature, threshold, spelled.__getitem__)}) {{{comment}",
            *first,
            f"{pad}}} else {{",
            *second,
            f"{pad}}}",
        ]

    def _threshold(self, feature: int, threshold: int) -> int:
        """The threshold as the feature's type can say it."""
        low, high = RANGES[self.types[feature]]
        if threshold < low:
            name = self.lowered.walk.features[feature].name
            raise InputError(f"the threshold {threshold} of {name} lies below its type; leave the pass prune in")
        return min(threshold, high)  # above the type: never true, as it should be

    def _meaning(self, feature: int, threshold: int) -> str:
        return self.physical(feature, threshold) if self.physical else ""

    def _check_sums(self) -> None:
        """Partial sums must fit an int32_t, whatever is added first."""
        added = [[leaf.value for leaf in leaves(tree)] for tree in self.lowered.walk.trees]
        for column, total in enumerate(self.lowered.walk.sums):
            low = total.bias + sum(min(0, *(row[column] for row in rows)) for rows in added)
            high = total.bias + sum(max(0, *(row[column] for row in rows)) for rows in added)
            if not RANGES[I32][0] <= low <= high <= RANGES[I32][1]:
                raise InputError(
                    f"the trees can add up to {low}..{high}, which 32 bits cannot hold; use fewer leaf bits"
                )


def _parts(value: int) -> tuple[int, int]:
    """Returns what is added to the upper word and to the lower one, which an immediate holds."""
    half = 1 << (UPPER - 1)
    lower = (value + half) % (2 * half) - half
    return (value - lower) >> UPPER, lower


def features_read(lowered: Lowered) -> set[int]:
    """Features that the lowered trees still look at: where leaves are equal, a split asks for nothing."""
    features = {search.placing.feature for search in (*lowered.searches, *lowered.counts)}
    features |= set() if lowered.direct is None else {lowered.direct}
    for number in (*lowered.branches, *lowered.indexed):
        features |= set(features_of(lowered.walk.trees[number]))
    return features | {over for f in features if (over := lowered.walk.features[f].over) >= 0}


def _widened(entry: str, size: int) -> str:
    return entry if size == 4 else f"(int32_t){entry}"


def _trees(group: Group) -> str:
    return ("trees " if len(group.trees) > 1 else "tree ") + ", ".join(map(str, group.trees))


def _shares(name: str, entries: Sequence[int]) -> str:
    """The least and the greatest entry as fractions, where the name of their sum says their format."""
    bits = re.search(r"_q(\d+)(?:_|$)", name)
    if bits is None:
        return ""
    least, most = (f"{end / 2 ** int(bits[1]):.4f}" for end in (min(entries), max(entries)))
    stem = name[: bits.start()]
    return f"{stem} {least}" if least == most else f"{stem} {least} to {most}"


def array_of_entries(name: str, entries: Sequence[int]) -> list[str]:
    """Returns the lines of a constant array of the narrowest type that holds the entries."""
    return _array(name, entries, [(len(entries), "")])


def _array(name: str, entries: Sequence[int], rows: Sequence[tuple[int, str]]) -> list[str]:
    """``rows``: how many entries a row has, and its comment."""
    ctype = ENTRY_TYPES[entry_bytes(entries)]
    texts = [literal(e, I32).strip("()") if e > -(2**31) else literal(e, I32) for e in entries]
    lines, place = [], 0
    for count, note in rows:
        comment = f" /* {note} */" if note else ""
        lines.append("    " + ", ".join(texts[place : place + count]) + "," + comment)
        place += count
    return [f"static const {ctype} {name}[{len(entries)}] = {{", *lines, "};"]
