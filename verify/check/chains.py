"""Paths one after the other, from call to return: which cost more than a limit, and whether an input takes them.

Most chains that none takes are impossible for the reason that others are: two or three conditions of their paths are
never so together. A solver says which, once, and is not asked about a chain that has them again. Nor is it asked where
two paths put a word in intervals that have no value in common. A hundred paths may cost the same, a load from each
entry of a table say: it is asked about what all of them know before it is asked about each.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from verify.check.effort import FULL
from verify.check.path_facts import Bounds, Known
from verify.check.refused import Refused
from verify.check.terms import Term
from verify.trusted.machine import Instruction

START = -1
Key = tuple[int, Instruction | None]
"""A cut's number (START: the call) and the instruction before it, where that matters for the cycles."""


@dataclass(frozen=True)
class Path:
    """A way from a cut to the next (None: the return)."""

    cycles: int
    following: Key | None
    known: Known

    @cached_property
    def conditions(self) -> frozenset[Term]:
        """Returns all that is known on it."""
        return frozenset(self.known.everything())


@dataclass
class Chains:
    """``paths`` and ``bound`` of a cut; ``contradiction``: those of the paths' conditions that no input satisfies
    together, None where one may take all of these paths. That asks little where several paths are taken for one, and
    else whatever it takes (its second argument). Paths are told apart as objects: ``paths`` gives the same ones each
    time. It is refused to try more chains than ``most``."""

    paths: Callable[[Key], list[Path]]
    bound: Callable[[Key], int]
    contradiction: Callable[[list[Path], bool], frozenset[Term] | None]
    most: int = FULL.chains
    _tried: int = 0
    _alike: dict[Key, list[Path]] = field(default_factory=dict)
    _members: dict[int, list[Path]] = field(default_factory=dict)
    """What each of those stands for, if not for itself."""
    _never: list[frozenset[Term]] = field(default_factory=list)
    """Sets of conditions that no input satisfies together."""

    def dearer(self, limit: int) -> Iterator[list[Path]]:
        """Chains that cost more than ``limit`` cycles and may be possible."""
        stack: list[tuple[Key, int, list[Path]]] = [((START, None), 0, [])]
        while stack:
            key, spent, chain = stack.pop()
            for path in self._together(key):
                rest = self.bound(path.following) if path.following else 0
                longer = [*chain, path]
                if spent + path.cycles + rest <= limit or self._known_impossible(longer):
                    continue
                self._count(limit)
                if path.following is None:
                    yield from self._possible(longer, limit)
                else:
                    stack.append((path.following, spent + path.cycles, longer))

    def _possible(self, chain: list[Path], limit: int) -> Iterator[list[Path]]:
        """The chains of single paths that a chain stands for and that may be possible: what stands for several is
        taken apart, the fewest first, only where all that is known together does not rule the chain out."""
        several = [n for n, path in enumerate(chain) if id(path) in self._members]
        # A solver may have an answer about the first paths where it has none about all.
        asked = (len(chain),) if several else (len(chain), *range(1, len(chain)))
        if any(self._found_impossible(chain[:count], not several) for count in asked):
            return
        if not several:
            yield chain
            return
        at = min(several, key=lambda n: len(self._members[id(chain[n])]))
        for path in self._members[id(chain[at])]:
            narrower = [*chain[:at], path, *chain[at + 1 :]]
            if not self._known_impossible(narrower):
                self._count(limit)
                yield from self._possible(narrower, limit)

    def _together(self, key: Key) -> list[Path]:
        """One for all paths from a cut that lead to the same and cost the same, of which it knows what all know."""
        if key not in self._alike:
            alike: dict[tuple[int, Key | None], list[Path]] = {}
            for path in self.paths(key):
                alike.setdefault((path.cycles, path.following), []).append(path)
            self._alike[key] = [p[0] if len(p) == 1 else Path(*of, _common(p)) for of, p in alike.items()]
            named = zip(self._alike[key], alike.values(), strict=True)
            self._members |= {id(one): p for one, p in named if len(p) > 1}
        return self._alike[key]

    def _count(self, limit: int) -> None:
        self._tried += 1
        if self._tried > self.most:
            text = f"more than {self.most} chains of paths may cost more than {limit} cycles"
            raise Refused(text, unfinished=True)

    def _known_impossible(self, chain: list[Path]) -> bool:
        conditions = frozenset[Term]().union(*(path.conditions for path in chain))
        return any(never <= conditions for never in self._never) or _apart(chain)

    def _found_impossible(self, chain: list[Path], whatever: bool) -> bool:
        found = self.contradiction(chain, whatever)
        if found is not None:
            self._never.append(found)
        return found is not None


def _apart(chain: list[Path]) -> bool:
    """Whether two paths put a word in intervals that have no value in common."""
    within: dict[Term, Bounds] = {}
    for path in chain:
        for word, (ulow, uhigh, slow, shigh) in path.known.bounds.items():
            if word in within:
                a, b, c, d = within[word]
                ulow, uhigh, slow, shigh = max(a, ulow), min(b, uhigh), max(c, slow), min(d, shigh)
                if ulow > uhigh or slow > shigh:
                    return True
            within[word] = ulow, uhigh, slow, shigh
    return False


def _common(paths: list[Path]) -> Known:
    """Returns what is known on all of these paths."""
    bounds = [path.known.bounds for path in paths]
    words = set(bounds[0]).intersection(*bounds[1:])
    ends = {word: list(zip(*(known[word] for known in bounds), strict=True)) for word in words}
    hulls = {word: (min(of[0]), max(of[1]), min(of[2]), max(of[3])) for word, of in ends.items()}
    return Known(hulls, frozenset.intersection(*(path.known.facts for path in paths)))
