"""Values that the lanes from one cut share: a value of the program is made once for all lanes that know the same facts
about it.

A value in a lane depends only on what the lane knows about two kinds of variables: its own, and those that a fact or a
bounded word ties to them, be it through others. Any of these may decide a question about it.
"""

from collections.abc import Callable, Hashable, Mapping

from decision.ir.program import Op, Program
from verify.check.meaning import fits, input_name
from verify.check.path_facts import Known
from verify.check.terms import Term, var

Make = Callable[[], Term]


class Shared:
    """Terms that lanes from one cut have made. ``free`` and ``fixed`` as in ``Meaning``."""

    def __init__(self, program: Program, free: frozenset[str], fixed: Mapping[int, Term]) -> None:
        self.program, self.free, self.fixed = program, free, fixed
        self.terms: dict[Hashable, Term] = {}
        self.states: dict[frozenset[object], int] = {}
        """Numbers for what may be known of some variables."""
        self._parts = frozenset(var(name, bits) for name in free if not name.startswith("node.") for bits in (32, 64))
        self._variables: dict[int, frozenset[Term]] = {}

    def variables(self, n: int) -> frozenset[Term]:
        """Variables that a node may be made of: at least those of its term in any lane, and of what is asked for it."""
        if n not in self._variables:
            node = self.program.nodes[n]
            name = input_name(self.program, node)
            if n in self.fixed and fits(node.low, node.high):
                made_of = self.fixed[n].leaves
            elif name is not None:
                made_of = frozenset((var(name),))
            elif f"node.{n}" in self.free:
                made_of = frozenset((var(f"node.{n}"), var(f"node.{n}", 64)))
            else:
                parts = self._parts if node.op is Op.TREES else frozenset[Term]()
                made_of = parts.union(*(self.variables(a) for a in node.args))
            self._variables[n] = made_of
        return self._variables[n]


class LaneMemory:
    """Memory of one lane: remembers a term for all lanes that know the same facts about its parts."""

    def __init__(self, shared: Shared, known: Known) -> None:
        self.shared = shared
        self._groups = _groups(known)
        self._states: dict[frozenset[Term], tuple[int, ...]] = {}

    def __call__(self, what: Hashable, nodes: tuple[int, ...], make: Make) -> Term:
        """``what`` by these nodes: as another lane has made it, or made now."""
        key = what, *(self._state(self.shared.variables(n)) for n in nodes)
        term = self.shared.terms.get(key)
        if term is None:
            term = self.shared.terms[key] = make()
        return term

    def _state(self, variables: frozenset[Term]) -> tuple[int, ...]:
        """Numbers of all that is known of some variables and of those tied to them."""
        if variables not in self._states:
            items = {id(group): group for v in variables if (group := self._groups.get(v)) is not None}.values()
            numbers = self.shared.states
            self._states[variables] = tuple(sorted(numbers.setdefault(frozenset(i), len(numbers)) for i in items))
        return self._states[variables]


def _groups(known: Known) -> dict[Term, set[object]]:
    """Returns for each variable all that is known of it and of those that something ties to it; one set for all of
    these."""
    groups: dict[Term, set[object]] = {}
    members: dict[int, set[Term]] = {}
    items: list[tuple[Term, object]] = [(fact, fact) for fact in known.facts]
    for term, item in (*items, *((word, (word, bounds)) for word, bounds in known.bounds.items())):
        group, tied = {item}, set(term.leaves)
        for other in {id(g): g for v in term.leaves if (g := groups.get(v)) is not None}.values():
            tied |= members.pop(id(other))
            group |= other
        members[id(group)] = tied
        groups.update(dict.fromkeys(tied, group))
    return groups
