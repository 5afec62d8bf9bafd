"""The certificate's cuts: which joins of a proof become places to start from again, and what is said of each.

If an address has only one or two joins, nearly all paths become one there, and the cut states everything that is known.
If lanes of many cells meet and are kept separate, as at the end of a division, each join is a cut. It then says only
what something behind it is made of: of how a quotient came to be nothing is needed where it is held, and what is not
said need not be so on the paths that come, nor be thought of on those that go on.

These may leave more paths than are quickly followed, as with tables over several features whose cells have many
combinations. There are then also cuts at which lanes did not join. Each states what they hold as a sum of steps
(``verify.prover.steps``), so that paths add up over the features instead of multiplying.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial

from decision.ir.program import Op, Program
from verify.code.graph import Graph
from verify.prover.counts import made_of
from verify.prover.expressions import UNKNOWN, WORD
from verify.prover.joins import Meeting
from verify.prover.lanes import Ints
from verify.prover.prove import Attempt
from verify.prover.steps import Watcher
from verify.trusted.certificate import CutClaim

FEW_JOINS = 2
"""So many joins at an address are cuts however few lanes they join."""
MAX_JOINS, MIN_EACH, MIN_LANES = 64, 8, 128
"""So many joins at an address are cuts where they join so many lanes each on average, and so many in all: fewer lanes
the checker follows as quickly by themselves."""
QUICKLY, QUICKLY_MULTIPLIED = 20_000, 2_000
"""So many paths the checker follows in minutes: a path takes 1 to 20 ms, or, where a feature multiplies what is not
known and each path asks about the product, 200."""
FEWER = 4
"""Cuts at every join are tried first if paths join by leaves alone and the usual cuts leave this many times more."""
START = -1
PRODUCT = re.compile(r"\((?:product|mul)")
NAME = re.compile(r"[a-z]+\.\w+")
LEAF = re.compile(r"tree\.[0-9]+")
ITSELF = re.compile(r"\(eq (node\.[0-9]+) \1\)")
VALUE = re.compile(r"(?:node|tree|sum)\.[0-9]+")
Watched = Callable[[], tuple[Attempt, Watcher]]


class CutForms:
    """Forms of a proof's cuts, the likeliest to be followed first; the checker tells which holds. Each is made when it
    is first asked for. Within one, cuts that say most come first: a path takes the first one at its address that fits,
    or none would come to them.

    ``places``: whether they have cuts at different places, and any of them may be followed in seconds where another
    takes minutes."""

    def __init__(self, forms: Iterator[tuple[CutClaim, ...]], places: bool = False) -> None:
        self.places = places
        self._made: list[tuple[CutClaim, ...]] = []
        self._rest = forms

    def __iter__(self) -> Iterator[tuple[CutClaim, ...]]:
        yield from self._made
        for form in self._rest:
            self._made.append(form)
            yield form


def cuts_of(run: Attempt) -> CutForms:
    """Returns the forms of a proof's cuts. The proof is in memory as long as more may be asked for."""
    assert run.joiner is not None
    joins, lanes = Counter[int](), Counter[int]()
    for meeting in run.joiner.meetings[1:]:
        joins[meeting.number] += 1
        lanes[meeting.number] += len(meeting.origins)
    every = {n for n in joins if joins[n] <= MAX_JOINS}
    wide = {n for n in every if joins[n] <= FEW_JOINS or lanes[n] >= max(MIN_LANES, MIN_EACH * joins[n])}
    if _by_leaves_alone(run):  # no sums of steps make the paths fewer
        paths = _paths(run, every)
        fewer = paths <= QUICKLY and paths * FEWER <= _paths(run, wide)
        return CutForms(_forms(run, joins, [every, wide, wide] if fewer else [wide, wide]))
    if wide == every or _quick(run, wide):
        return CutForms(_forms(run, joins, [wide, wide]))
    return CutForms(_forms(run, joins, [wide, every, wide]), places=True)


def _forms(run: Attempt, joins: Counter[int], each: list[set[int]]) -> Iterator[tuple[CutClaim, ...]]:
    """Yields the form with cuts at the joins at ``each`` set of positions of the graph, and no form twice. They are
    with comparisons, but for the first of a set that comes again."""
    watched = cache(partial(_watched, run))  # one more walk for all forms
    made: list[tuple[CutClaim, ...]] = []
    for number, places in enumerate(each):
        steps = None if _by_leaves_alone(run) or _quick(run, places) else watched
        form = _form(run, joins, places, comparisons=places not in each[number + 1 :], watched=steps)
        if form not in made:
            made.append(form)
            yield form


def _quick(run: Attempt, places: set[int]) -> bool:
    """Whether the paths between cuts at the joins at ``places`` are followed in minutes."""
    return _paths(run, places) <= (QUICKLY_MULTIPLIED if _multiplies(run.program) else QUICKLY)


def _form(
    run: Attempt, joins: Counter[int], places: set[int], *, comparisons: bool, watched: Watched | None
) -> tuple[CutClaim, ...]:
    """Returns the cuts at the joins at ``places``, positions of the graph, with or without ``comparisons`` of words.
    ``joins``: the number of joins by position; ``watched``: None if the paths are few enough without sums of steps."""
    assert run.joiner is not None

    def cut(meeting: Meeting, *, ahead: bool) -> CutClaim:
        return _cut(run, meeting, ahead=ahead, comparisons=comparisons)

    chosen = [m for m in run.joiner.meetings[1:] if m.number in places]
    few, many = [[m for m in chosen if (joins[m.number] > FEW_JOINS) is many] for many in (False, True)]
    cuts = [(m.number, cut(m, ahead=False)) for m in few]
    if many:
        apart = [(m.number, cut(m, ahead=True)) for m in many]
        cuts = _without_forgotten(run, cuts, apart, [cut(m, ahead=False) for m in many])
        cuts += {one.model_dump_json(): (n, one) for n, one in apart}.values()  # what is left out may tell two apart
    if _by_leaves_alone(run):
        # Paths join as soon as they are many, under the names of leaves; what a path knows of a tree that it is in the
        # middle of is where it is, which no number tells.
        cuts = _without_ongoing(run, cuts)
    elif watched is not None:
        cuts = _with_steps(*watched(), cuts, comparisons=comparisons)
    return tuple(sorted((one for _, one in cuts), key=lambda c: -_said(c)))


def _without_ongoing(run: Attempt, cuts: list[tuple[int, CutClaim]]) -> list[tuple[int, CutClaim]]:
    """Returns the cuts without what is known of sums that are still to be added up, and of what follows from them. A
    sum is not if other cuts hold a part of it, and neither this one nor any that a path may come to later does: the
    code has asked for it, or has gone where nobody does. A value that follows from it is kept if it is a number or
    held."""
    assert run.graph is not None
    assert run.joiner is not None
    same = {n for n, node in enumerate(run.program.nodes) if node.low == node.high}
    behind = [sums - same for sums in run.joiner.behind]
    parts = [_parts_held(run.program, cut) for _, cut in cuts]
    summed = set[int]().union(*parts)
    ahead = _ahead(run.graph, [(n, sums) for (n, _), sums in zip(cuts, parts, strict=True)])
    left = []
    for (n, cut), sums in zip(cuts, parts, strict=True):
        settled = summed - sums - ahead[n]
        names = {f"node.{k}": of for k, of in enumerate(behind) if of <= settled}
        before = {name for name, of in names.items() if not of}
        held = {name for word in cut.holds.values() for name in VALUE.findall(word)}
        numbers = {text for text, (low, high) in cut.bounds.items() if low == high}
        left.append((n, _weaker(cut, before | (names.keys() & (held | numbers)))))
    return left


def _parts_held(program: Program, cut: CutClaim) -> set[int]:
    """Returns the sums of which a cut holds a part: leaves, or those of the first trees together."""
    trees = len(program.forest.trees)
    names = [name.split(".") for word in cut.holds.values() for name in VALUE.findall(word)]
    outputs = {int(number) // trees for kind, number in names if kind != "node"}
    return {n for n, node in enumerate(program.nodes) if node.op is Op.TREES and node.imm in outputs}


def _ahead(graph: Graph, held: list[tuple[int, set[int]]]) -> list[set[int]]:
    """Returns for each position what is ``held`` at positions that a path from it may come to."""
    here, ahead = [set[int]() for _ in graph.positions], [set[int]() for _ in graph.positions]
    for n, sums in held:
        here[n] |= sums
    for n in range(len(graph.positions) - 1, -1, -1):
        for following in graph.positions[n].following:
            ahead[n] |= here[following] | ahead[following]
    return ahead


def _by_leaves(run: Attempt) -> bool:
    """Whether the trees have so many cells that few lanes are joined under the names of leaves already."""
    return run.limits.joined_above(run.program) == run.limits.many_cells


def _by_leaves_alone(run: Attempt) -> bool:
    """Whether the paths have joined under the names of leaves alone."""
    assert run.joiner is not None
    return run.joiner.gave_up and _by_leaves(run)


def _paths(run: Attempt, places: set[int]) -> int:
    """How many paths lie between the call, the joins at these positions of the graph and the returns."""
    assert run.joiner is not None
    cuts = {n for n, meeting in enumerate(run.joiner.meetings[1:], 1) if meeting.number in places}
    begun, total = [1], 0

    def arriving(origins: Ints) -> int:
        return sum(1 if origin in cuts else begun[origin] for origin in origins.tolist())

    for number, meeting in enumerate(run.joiner.meetings[1:], 1):
        begun.append(arriving(meeting.origins))
        total += begun[number] if number in cuts else 0
    return total + sum(arriving(lanes.origin) for _, lanes in run.ends)


def _without_forgotten(
    run: Attempt, cuts: list[tuple[int, CutClaim]], apart: list[tuple[int, CutClaim]], known: list[CutClaim]
) -> list[tuple[int, CutClaim]]:
    """Cuts without what was known at the last ones before, if these do not say it: behind one that holds a value, and
    not how it came to be, nobody finds that out. ``known``: what was at those ``apart``."""
    assert run.graph is not None
    before: dict[int, list[tuple[CutClaim, CutClaim]]] = {}
    for (n, cut), full in zip(apart, known, strict=True):
        before.setdefault(n, []).append((cut, full))
    last = _last(run.graph, {n for n, _ in (*cuts, *apart)})
    left = []
    for n, cut in sorted(cuts, key=lambda numbered: numbered[0]):
        those = [pair for s in last[n] for pair in before.get(s, ())]
        kept = {t: s for t, s in cut.bounds.items() if not any(_forgotten(t, s, *pair) for pair in those)}
        left.append((n, cut.model_copy(update={"bounds": kept})))
        before.setdefault(n, []).append((left[-1][1], cut))
    return left


def _forgotten(text: str, span: list[int], cut: CutClaim, known: CutClaim) -> bool:
    return _known_before(text, span, known) and not _known_before(text, span, cut)


def _multiplies(program: Program) -> bool:
    """Whether a feature of the trees is made of a product of two numbers that are not known."""
    nodes = program.nodes
    asked = {a for node in nodes if node.op is Op.TREES for a in node.args}
    behind = (nodes[n] for n in made_of(program, asked, set(range(len(nodes)))))
    return any(n.op in (Op.MUL, Op.MUL_SHR) and all(nodes[a].op is not Op.CONST for a in n.args) for n in behind)


def _watched(run: Attempt) -> tuple[Attempt, Watcher]:
    """Returns the same proof once more, with a look at the lanes that do not join."""
    again = run.again()
    again.execute(Watcher, compare=False)
    assert isinstance(again.joiner, Watcher)
    return again, again.joiner


def _with_steps(
    again: Attempt, joiner: Watcher, cuts: list[tuple[int, CutClaim]], *, comparisons: bool
) -> list[tuple[int, CutClaim]]:
    """Returns the cuts with those of sums of steps, in the place of others at their addresses. Behind them every sum of
    leaves is possible: ranges that hold of the trees' sums and what follows only because some leaves never meet are
    left out."""
    steps = dict(_steps(again, joiner, comparisons=comparisons))
    taken = {cut.pc for cut in steps.values()}
    before = {f"node.{n}" for n, sums in enumerate(joiner.behind) if not sums}
    steps = {n: _weaker(cut, before) for n, cut in steps.items()}
    others = [(n, _weaker(cut, before)) for n, cut in cuts if cut.pc not in taken]
    last = _last(joiner.graph, set(steps))
    features = joiner.names_of_features()
    for n in sorted(steps):
        known = [(steps[s], joiner.found[s].decided) for s in last[n] if s != START]
        since = _found_since(again.program, steps[n], known) if known else set()
        steps[n] = _asked_again(steps[n], [cut for cut, _ in known], features | since)
    return [(n, c) for n, c in others if any(s == START or _follows(c, steps[s]) for s in last[n])] + [*steps.items()]


def _weaker(cut: CutClaim, before: set[str]) -> CutClaim:
    """Without ranges of what follows from the trees (values not ``before`` them), and of products that no place holds:
    what was made of one is known by its own name behind a cut that says it, and the product is not."""

    def follows(text: str) -> object:
        held = not PRODUCT.search(text) or any(text in word for word in cut.holds.values())
        return text.startswith("(eq ") or LEAF.fullmatch(text) or (held and before.issuperset(VALUE.findall(text)))

    return cut.model_copy(update={"bounds": {text: span for text, span in cut.bounds.items() if follows(text)}})


def _last(graph: Graph, places: set[int]) -> list[set[int]]:
    """Returns for each position the places that a path to it may have passed last; START if it passed none."""
    last = [set[int]() for _ in graph.positions]
    last[0] = {START}
    for number, position in enumerate(graph.positions):
        for following in position.following:
            last[following] |= {number} if number in places else last[number]
    return last


def _follows(cut: CutClaim, steps: CutClaim) -> bool:
    """Whether a cut knows no more of the numbers than the one with sums of steps before it: what paths knew that it
    stands for is forgotten there, and those that go on from it would come to no cut that says it."""
    return all(_known_before(text, span, steps) for text, span in cut.bounds.items() if not text.startswith("(eq "))


def _known_before(text: str, span: list[int], steps: CutClaim) -> bool:
    before = steps.bounds.get(text, [0, WORD])
    return span[0] <= before[0] and before[1] <= span[1]


def _found_since(program: Program, cut: CutClaim, before: list[tuple[CutClaim, frozenset[int]]]) -> set[str]:
    """Values that a cut knows the number of and no path did at the last cuts before (each with what paths had decided
    there), nor of what they are made of if the cut does not say it: what has decided them is behind those cuts."""
    found = {text for text, (low, high) in cut.bounds.items() if low == high and text.startswith("node.")}
    for known, decided in before:
        said, since = {*known.bounds, *known.holds.values()}, set[int]()
        for n, node in enumerate(program.nodes):
            if f"node.{n}" in said or (n not in decided and since.issuperset(node.args)):
                since.add(n)
        found &= {f"node.{n}" for n in since}
    return found


def _asked_again(cut: CutClaim, before: list[CutClaim], features: set[str]) -> CutClaim:
    """Without what was found of values before the last cuts with sums of steps, and of which nothing is left behind
    them: it holds neither, and no code asks them again."""
    left = features | {name for text in cut.holds.values() for name in NAME.findall(text)}

    def asked(text: str, span: list[int]) -> bool:
        names = set(NAME.findall(text))
        if text.startswith("(eq "):
            return names <= left
        if LEAF.fullmatch(text):  # the code adds a leaf that different cells lead to; a place holds others by name
            return text not in left
        # Places state the number of an input that is known as one.
        return bool(names & left) or (span[0] == span[1] and text in names and not VALUE.fullmatch(text))

    kept = {t: s for t, s in cut.bounds.items() if asked(t, s) or all(_known_before(t, s, step) for step in before)}
    return cut.model_copy(update={"bounds": kept})


def _steps(run: Attempt, joiner: Watcher, *, comparisons: bool) -> Iterator[tuple[int, CutClaim]]:
    places = {n: _place(*key) for key, n in run.state.columns.items()}
    for steps in joiner.found.values():
        cut = _cut(run, steps.known, ahead=False, comparisons=comparisons)
        if any(PRODUCT.search(text) for text in cut.holds.values()):
            continue  # behind it what is multiplied and what is known by name would be apart
        told = {places[n]: text for n, text in steps.told.items()}
        bounds = cut.bounds | {gap: [1, 1] for gap in steps.gaps}
        yield steps.known.number, cut.model_copy(update={"holds": cut.holds | told, "bounds": bounds})


def _place(kind: str, at: int, size: int) -> str:
    return f"x{at}" if kind == "register" else f"{kind}{at:+d}:{size}"


def _said(cut: CutClaim) -> int:
    """How many things a cut says, a number more than a name; that a value keeps its name says nothing."""
    said = sum(ITSELF.fullmatch(text) is None for text in cut.bounds)
    return said + len(cut.holds) + sum(text.isdecimal() for text in cut.holds.values())


def _cut(run: Attempt, meeting: Meeting, *, ahead: bool, comparisons: bool) -> CutClaim:
    """Returns what was known at a join of paths: everything, or what lies ``ahead``; how words compare if asked for."""
    assert run.graph is not None
    pool, columns, program = run.state.pool, run.state.columns, run.program
    leaves = _by_leaves(run)
    products = {word: name for word, name in meeting.products.items() if not (leaves and pool.op(word) == "linear")}

    def text(word: int) -> str:
        # Behind the cut a product under its name is any number of its range, which is easier to reason about; so is a
        # sum with it, or what is found out about the sum would not be known of the product.
        constant, terms = pool.linear(word)
        named = pool.sum(constant, [(meeting.products.get(part, part), factor) for part, factor in terms])
        return pool.text(named, products)

    holds = {
        _place(kind, at, size): text(int(meeting.values[n]))
        for (kind, at, size), n in columns.items()
        if n < len(meeting.values) and meeting.values[n] != UNKNOWN and (kind, at) != ("register", 0)
    }
    known = {
        word: (int(meeting.low[row]), int(meeting.high[row]))
        for word, row in run.state.bases.items()
        if row < len(meeting.low) and (meeting.low[row], meeting.high[row]) != pool.range(word)
    }
    defined = [run.state.definitions[c] for c, _ in run.state.fact_sets[meeting.facts] if c in run.state.definitions]
    equal = sorted((n, word) for n, word in defined if pool.op(word) == "atom")
    numbers = {run.cuts.node(n): n for n in range(len(program.nodes)) if run.cuts.narrow(n)}
    said = {name for word in holds.values() for name in VALUE.findall(word)}
    held = {word for word, n in numbers.items() if f"node.{n}" in said}
    numbered = {word for word, (low, high) in known.items() if low == high}
    placed = {numbers[word] for word in held} | _spelt_out(run, {int(value) for value in meeting.values})
    over = {run.cuts.node(n) for n in _over(run, placed, {numbers[word] for word in numbered if word in numbers})}
    behind = set[int]()
    if ahead:
        needed = _needed(run, held, numbered | over.intersection(known), dict(equal), numbers)
        behind = {word for word, n in numbers.items() if n not in needed}
    bounds = {text(word): [*span] for word, span in known.items() if not pool.atoms(word) & behind}
    named = sorted((n, pool.text(word)) for n, word in equal if run.cuts.node(n) not in behind)
    bounds |= {f"(eq node.{n} {name})": [1, 1] for n, name in named}
    bounds |= {f"(eq node.{numbers[word]} node.{numbers[word]})": [1, 1] for word in sorted(over)}
    if comparisons:
        facts = [(c, holds) for c, holds in run.state.fact_sets[meeting.facts] if c not in run.state.definitions]
        bounds |= {text(c): [int(holds)] * 2 for c, holds in facts if not pool.atoms(c) & behind}
    return CutClaim(pc=run.graph.positions[meeting.number].instruction.address, holds=holds, bounds=bounds)


def _spelt_out(run: Attempt, words: set[int]) -> set[int]:
    """Sums and differences of two values that are one of these words: a place holds them under no name of their own."""
    found = set[int]()
    for n, node in enumerate(run.program.nodes):
        if node.op in (Op.ADD, Op.SUB, Op.WRAP_SUB) and all(map(run.cuts.narrow, node.args)):
            first, second = map(run.cuts.atom, node.args)
            if run.state.pool.sum(0, ((first, 1), (second, 1 if node.op is Op.ADD else -1))) in words:
                found.add(n)
    return found


def _over(run: Attempt, held: set[int], numbered: set[int]) -> set[int]:
    """Features that no place holds any more: not they, nor what they are made of, but what follows from them. A cut
    that says of one that it is itself keeps it in one spelling behind it: what paths find out of its parts would give
    it others, of which its range is not known."""
    assert run.joiner is not None
    computed, program = set(run.joiner.computed), run.program
    after = made_of(program, held | numbered, set(range(len(program.nodes))))
    features = computed.intersection(run.joiner.features, after) - held - numbered
    return {n for n in features if not held & made_of(program, {*program.nodes[n].args}, computed)}


def _needed(
    run: Attempt, held: set[int], numbered: set[int], equal: dict[int, int], numbers: dict[int, int]
) -> set[int]:
    """Nodes that something behind a cut may be made of: those that the function leaves, what the cut holds, and the
    operands of what it neither holds nor knows as a number. Those of a product are needed all the same: what is known
    of them is known of it. ``equal``: atoms that nodes are said to be; ``numbers``: nodes by their atoms."""
    todo, needed = [*run.program.outputs, *(numbers[word] for word in held if word in numbers)], set[int]()
    while todo:
        n = todo.pop()
        if n in needed:
            continue
        needed.add(n)
        node, atom = run.program.nodes[n], run.cuts.node(n) if run.cuts.narrow(n) else UNKNOWN
        if atom in numbered or (atom in held and node.op not in (Op.MUL, Op.MUL_SHR)):
            continue
        todo += [numbers[equal[n]]] if equal.get(n) in numbers else []
        todo += node.args
    return needed
