"""Facts of a path: an interval for each word that was compared with a constant, and conditions of other kinds.

``decide`` may say that it does not know; both sides are then walked. It may never say more than is so: an answer comes
from intervals, or from a solver that finds the other side impossible. The interval of a word follows from those of its
parts and narrows theirs. If k * x does not wrap, k * x <= n is x <= n / k, which decides other multiples of x.
"""

from collections.abc import Iterator, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from verify.check.assignments import Assignments
from verify.check.effort import Spent
from verify.check.linear import Question, ascending, linear, multiple, question
from verify.check.shared_solver import SharedSolver
from verify.check.solver import Prove, Undecided, impossible
from verify.check.terms import FALSE, MEANING, TRUE, Term, const, extend, extract, make, negate, signed, unshifted

HALF, FULL = 1 << 31, (1 << 32) - 1
Bounds = tuple[int, int, int, int]
"""Least and greatest value without and with sign."""
ALL: Bounds = (0, FULL, -HALF, HALF - 1)


def bounded(low: int, high: int) -> Bounds:
    """Bounds of a word that holds an integer of this range."""
    return _meet((low, high, -HALF, HALF - 1) if low >= 0 else (0, FULL, low, high))


def _meet(b: Bounds) -> Bounds:
    """Each pair as tight as the other allows: words without a sign and those with one are looked at apart. Bounds that
    no word has stay as they are."""
    ulow, uhigh, slow, shigh = b
    plain = max(ulow, slow), min(uhigh, shigh)
    minus = max(ulow, slow + FULL + 1), min(uhigh, shigh + FULL + 1)
    if plain[0] > plain[1] and minus[0] > minus[1]:
        return b
    if minus[0] > minus[1]:
        return *plain, *plain
    beyond = minus[0] - FULL - 1, minus[1] - FULL - 1
    if plain[0] > plain[1]:
        return *minus, *beyond
    return plain[0], minus[1], beyond[0], plain[1]


@dataclass
class Oracle:
    """A solver, asked each question once. ``asked`` counts the questions, ``solved`` those that no earlier assignment
    answers; ``prove`` is asked for a proof of what the solver finds impossible. Spent is raised where it would be
    asked more than ``most``."""

    solver: str = "bitwuzla"
    asked: int = 0
    solved: int = 0
    prove: Prove | None = None
    most: int | None = None
    _answers: dict[object, bool] = field(default_factory=dict)
    _assignments: Assignments = field(default_factory=Assignments)
    _shared: SharedSolver = field(default_factory=SharedSolver)

    def impossible(self, conditions: list[Term], known: "Known", multiply: bool = True, together: bool = False) -> bool:
        """Whether no input satisfies all conditions, on a path where ``known`` bounds the factors of products.
        ``together``: one of many easy questions, to be asked of the solver that answers them all."""
        wanted = sorted(set(conditions), key=lambda a: a.serial)
        # The solver bounds a product by its factors as they were before a shift, too.
        factors = {x for a in wanted for p in a.products for f in p.args for x in (f, unshifted(f)[0])}
        key = (multiply, tuple(wanted), frozenset((x, known.span(x)) for x in factors))
        if key not in self._answers:
            self.asked += 1
            self._answers[key] = self._answer(wanted, known, multiply, together)
        return self._answers[key]

    def core(self, conditions: list[Term], known: "Known", multiply: bool) -> list[Term] | None:
        """Returns some of these conditions that no input satisfies together, seldom more than are needed; None where
        nothing is found. bitwuzla names them, which counts as no question; the solver that is relied on is asked."""
        if not multiply and self._assignments.satisfy(conditions, known.span):
            return None
        for exact in (False, True) if multiply and any(a.products for a in conditions) else (False,):
            found = SharedSolver(exact).core(conditions, known.span, self._assignments.add)
            if found is not None:
                near = (other for condition in found for other in known.about(condition))
                return found if self.impossible([*found, *near], known, multiply) else None
        return None

    def _answer(self, conditions: list[Term], known: "Known", multiply: bool, together: bool) -> bool:
        exact = multiply and any(a.products for a in conditions)
        if not exact and self._assignments.satisfy(conditions, known.span):
            return False
        if self.solved == self.most:
            raise Spent
        self.solved += 1
        if together and not exact and self.solver == "bitwuzla" and self.prove is None:
            return self._shared.core(conditions, known.span, self._assignments.add) is not None
        return impossible(conditions, known.span, self.solver, multiply, self.prove, self._assignments.add)


@dataclass(frozen=True)
class Known:
    """Never changed: ``assume`` returns another."""

    bounds: dict[Term, Bounds]
    facts: frozenset[Term] = frozenset()
    _found: dict[Term, Bounds] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def _answers(self) -> dict[Question, bool]:
        """The answers of the facts to comparisons of sums."""
        return dict(asked for fact in self.facts if (asked := question(fact, self.span)) is not None)

    def assume(self, condition: Term) -> "Known":
        """Returns these facts and a further condition that holds."""
        holds, c = (False, condition.args[0]) if condition.op == "not" else (True, condition)
        if c.op in ("=", "bvult", "bvslt") and c.args[0].width == 32:
            a, b = c.args
            if "const" in (a.op, b.op):
                word = a if b.op == "const" else b
                narrowed = self._narrowed(c.op, holds, word, b if word is a else a, word is a)
                if narrowed is not None:
                    return Known({**self.bounds, word: narrowed, **self._inside(word, narrowed)}, self.facts)
        return Known(self.bounds, self.facts | {condition})

    def _inside(self, word: Term, bounds: Bounds) -> dict[Term, Bounds]:
        """Bounds of x from those of x + c, which may wrap, so that x lies outside of a gap. Bounds of x from those of
        k * x, unless some x lets it wrap. One value goes on to what x is made of."""
        x, times, c = word, 1, 0
        if word.op in ("bvadd", "bvshl") and word.args[1].op == "const":
            x, by = word.args[0], word.args[1].value
            times, c = (1, by) if word.op == "bvadd" else (1 << by, 0)
        elif (parts := multiple(linear(word))) is not None:
            x, times = parts
        own = self._spans(x)
        low, high = own[0] * times, own[1] * times
        if x is word or high > FULL:
            return {}
        first, last = (bounds[0] - c) & FULL, (bounds[1] - c) & FULL
        if first <= last or low > last:
            low = max(low, first)
        if first <= last or high < first:
            high = min(high, last)
        narrowed = _meet((-(-low // times), high // times, *own[2:]))
        return {x: narrowed, **(self._inside(x, narrowed) if narrowed[0] == narrowed[1] else {})}

    def _narrowed(self, op: str, holds: bool, word: Term, constant: Term, first: bool) -> Bounds | None:
        """``word op constant`` (or the other way round) as bounds; None where an interval cannot say it."""
        # A sum is narrowed by itself: what its terms allow is left to ``_inside``.
        ulow, uhigh, slow, shigh = self.bounds.get(word, ALL) if word.op == "bvadd" else self._spans(word)
        value = constant.value
        if op == "=":
            if holds:
                return _meet((value, value, signed(value, 32), signed(value, 32)))
            if ulow == value or uhigh == value:
                return _meet((ulow + (ulow == value), uhigh - (uhigh == value), slow, shigh))
            return None
        value = value if op == "bvult" else signed(value, 32)
        low, high = (ulow, uhigh) if op == "bvult" else (slow, shigh)
        if first:  # word < value, or word >= value
            low, high = (low, min(high, value - 1)) if holds else (max(low, value), high)
        else:
            low, high = (max(low, value + 1), high) if holds else (low, min(high, value))
        return _meet((low, high, slow, shigh) if op == "bvult" else (ulow, uhigh, low, high))

    def span(self, a: Term) -> tuple[int, int]:
        """Bounds without sign of any term, from the bounds of its parts."""
        return self._spans(a)[:2]

    def _signed_span(self, a: Term) -> tuple[int, int]:
        return self._spans(a)[2:]

    def _spans(self, a: Term) -> Bounds:
        """Bounds without and with sign, computed once."""
        if a not in self._found:
            self._found[a] = self._from_parts(a)
        return self._found[a]

    def _from_parts(self, a: Term) -> Bounds:
        """Both bounds of a sum at once, or each of its words would be asked twice."""
        if a.op == "bvsub" and a.width == 32 and negate(make("bvult", *a.args)) in self.facts:
            return self._difference(a)
        if a.op != "const" and a in self.bounds:
            return self.bounds[a]
        half, top = 1 << a.width >> 1, (1 << a.width) - 1
        if a.op == "bvadd":
            (*first, slow, shigh), (*second, other_low, other_high) = map(self._spans, a.args)
            ends = slow + other_low, shigh + other_high
            low, high = first[0] + second[0], first[1] + second[1]
            if low >> a.width != high >> a.width:
                low, high = ends if 0 <= ends[0] <= ends[1] <= top else (0, top)
            low, high = low & top, high & top
            if -half <= ends[0] and ends[1] < half:
                return low, high, *ends
        else:
            low, high = self._unsigned_span(a, top)
        if high < half:
            return low, high, low, high
        return low, high, *((low - top - 1, high - top - 1) if low >= half else (-half, half - 1))

    def _difference(self, a: Term) -> Bounds:
        """Returns the bounds of x - y, if x is no less than y without sign."""
        (low, high), (least, most) = map(self.span, a.args)
        own = self.bounds.get(a, ALL)
        return _meet((max(own[0], low - most), min(own[1], max(0, high - least)), own[2], own[3]))

    def _unsigned_span(self, a: Term, top: int) -> tuple[int, int]:
        """Returns bounds without sign of any term but a sum; ``top`` is the most that its bits can be."""
        if a.op == "const":
            return a.value, a.value
        inner = [self.span(x) for x in a.args] if a.op in _MONOTONE or a.op in ("ite", "extract") else []
        match a.op:
            case "ite":
                return min(inner[1][0], inner[2][0]), max(inner[1][1], inner[2][1])
            case "extract" if inner[0][1] >> a.value[1] <= top:
                return inner[0][0] >> a.value[1], inner[0][1] >> a.value[1]
            case "zero":
                return self.span(a.args[0])
            case "bvand":
                return 0, min(x[1] for x in inner)
            case "bvor" | "bvxor":
                return 0, (1 << max(x[1] for x in inner).bit_length()) - 1
            case "bvlshr" if a.args[1].op == "const":
                return inner[0][0] >> a.args[1].value, inner[0][1] >> a.args[1].value
            case "bvshl" if a.args[1].op == "const" and inner[0][1] << a.args[1].value <= top:
                return inner[0][0] << a.args[1].value, inner[0][1] << a.args[1].value
            case "prod" if (high := MEANING[a.op](a.width, inner[0][1], inner[1][1])) <= top:
                return MEANING[a.op](a.width, inner[0][0], inner[1][0]), high
        return 0, top

    def product(self, a: Term, b: Term) -> Term:
        """All 64 bits of a product, by that of the factors before a shift left, without what the shift loses."""
        shift = 0
        factors = []
        for factor in (a, b):
            inner, k = unshifted(factor)
            lost = inner.op != "const" and self.span(inner)[1] >> (32 - k)
            factors.append(extend(extract(inner, 31 - k, 0), 32, False) if lost else inner)
            shift += k
        return make("bvshl", make("prod", *factors), const(shift, 64))

    def decide(self, condition: Term, oracle: Oracle, together: bool = True) -> Term:
        """TRUE or FALSE where that is known, else the condition. ``together``: as in ``Oracle.impossible``; a question
        whose answer is expected to be hard is asked alone."""
        if condition.op == "const":
            return condition
        if condition.op == "not":
            return negate(self.decide(condition.args[0], oracle, together))
        if condition in self.facts or negate(condition) in self.facts:
            return TRUE if condition in self.facts else FALSE
        asked = question(condition, self.span)
        answer = None if asked is None else ascending(asked[0], self._answers, self.span)
        if asked is not None and answer is not None:
            return TRUE if answer == asked[1] else FALSE
        if condition.op == "=" and condition.args[0].width == 32 and len({*map(linear, condition.args)}) == 1:
            return TRUE
        if condition.op in ("=", "bvult", "bvslt"):
            within = self._by_spans(condition)
            if within is not None:
                return TRUE if within else FALSE
            if self._plain(condition):
                return condition
        for facts in self._more_and_more(condition):
            with suppress(Undecided):
                for side, otherwise in ((condition, FALSE), (negate(condition), TRUE)):
                    if oracle.impossible([side, *facts], self, multiply=False, together=together):
                        return otherwise
        return condition

    def _by_spans(self, condition: Term) -> bool | None:
        spans = (self._signed_span if condition.op == "bvslt" else self.span)(condition.args[0])
        others = (self._signed_span if condition.op == "bvslt" else self.span)(condition.args[1])
        if condition.op == "=":
            if spans == others and spans[0] == spans[1]:
                return True
            return False if spans[1] < others[0] or others[1] < spans[0] else None
        return True if spans[1] < others[0] else False if spans[0] >= others[1] else None

    def _plain(self, condition: Term) -> bool:
        """A variable against a constant inside its interval, nothing else known of it: both sides are possible."""
        a, b = condition.args
        word = a if b.op == "const" else b
        if word.op != "var" or "const" not in (a.op, b.op):
            return False
        return not any(word in other.leaves for other in (*self.facts, *self.bounds) if other is not word)

    def about(self, condition: Term) -> list[Term]:
        """Everything known of the variables in a condition."""
        return self._about(condition.leaves)

    def _about(self, variables: Set[Term]) -> list[Term]:
        found = [f for f in self.facts if f.leaves & variables]
        for word, bounds in self.bounds.items():
            if word.leaves & variables:
                found += _conditions(word, bounds)
        return found

    def _more_and_more(self, condition: Term) -> Iterator[list[Term]]:
        """Yields growing lists of the facts that bear on a condition.

        The first list is about the condition's variables alone. Many paths share it, and the oracle caches its answer.
        The next lists add the facts that share a variable with the list before: x <= y and y <= z bound x by z.
        """
        near = dict.fromkeys(self.about(condition))
        alone = [f for f in near if f.leaves <= condition.leaves]
        if len(alone) < len(near):
            yield alone
        yield list(near)
        known, found = near, dict.fromkeys(self._about({v for f in near for v in f.leaves}))
        while len(found) > len(known):
            known, found = found, dict.fromkeys(self._about({v for f in found for v in f.leaves}))
        if len(found) > len(near):
            yield list(found)

    def everything(self) -> list[Term]:
        """All of it as conditions."""
        return list({*self.facts, *(c for word, bounds in self.bounds.items() for c in _conditions(word, bounds))})


@lru_cache(1 << 18)
def _conditions(word: Term, bounds: Bounds) -> tuple[Term, ...]:
    """That a word lies within its bounds, of those with sign as far as they say more."""
    ulow, uhigh, slow, shigh = bounds
    least, most = (-HALF, HALF - 1) if ulow < HALF <= uhigh else (signed(ulow, 32), signed(uhigh, 32))
    if ulow == uhigh and slow <= least <= shigh:
        return (make("=", word, const(ulow)),)
    below = (("bvult", ulow, ulow > 0), ("bvslt", slow, slow > least))
    above = (("bvult", uhigh, uhigh < FULL), ("bvslt", shigh, shigh < most))
    conditions = [make(op, word, const(low)) for op, low, more in below if more]
    conditions += [make(op, const(high), word) for op, high, more in above if more]
    return tuple(negate(c) for c in conditions)


_MONOTONE = ("bvand", "bvor", "bvxor", "bvlshr", "bvshl", "prod")
