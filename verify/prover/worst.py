"""The worst case: a bound for all inputs, then the exact maximum with an input that attains it.

The joins make a graph: from the call over joins to the returns, each edge with its cycles and the conditions on it.
Every execution is a path, so the longest path is a bound. It is exact if some input takes it; so paths are tried from
the longest down. Conditions of a path that exclude each other drop it at once. Otherwise a solver looks for an input.
If no input exists, it says which of the conditions exclude each other, and no path with these is tried again. The first
path with an input is the maximum. The program first finds what ranges alone exclude (a join's range of the trees' sum
and the cells before it), without a solver. Nothing depends on the solver's "yes": the input is run.
"""

import heapq
import time
from dataclasses import dataclass, field
from itertools import product

import bitwuzla
import numpy as np

from decision.ir.interface import Interface
from verify.prover.concrete import Example, Runner
from verify.prover.inputs import Condition, example_of, input_writer
from verify.prover.joins import Meeting
from verify.prover.lanes import Ints, Lanes
from verify.prover.questions import Question
from verify.prover.solve import Verdict
from verify.prover.specialise import Cuts, View
from verify.prover.state import State

WALL = 20
"""Times as long on the wall clock a solver may take, should it not come to look at the processor's."""


FEW_TURNS = 3
"""Once a path stays open the maximum is hardly exact any more: then only a slow witness is looked for, with these."""


Turn = tuple[float, dict[str, int]]
"""Seconds for a path, and inputs that are fixed at first."""


def turns(interface: Interface) -> tuple[Turn, ...]:
    """Returns the turns of the search. Inverting products is hard, and the interface's factors make shifts of them: all
    together, then each alone. Only the turns that fix nothing can say that there is no input. Seconds are the
    processor's: what is found must not depend on what else the machine does."""
    factors = {key: signal.factors for key, signal in interface.signals().items() if signal.factors}
    together = [dict(zip(factors, values, strict=True)) for values in product(*factors.values())] if factors else []
    alone = [{key: values[len(values) // 2]} for key, values in factors.items()] if len(factors) > 1 else []
    return (0.5, {}), *((0.5, fixed) for fixed in (*together, *alone)), (4.0, {})


@dataclass(frozen=True)
class Worst:
    """``bound`` holds for all inputs. ``exact``: attained by ``witness``; None where time ran out before it was found.

    ``witness_cycles``: the most cycles of an input that was run (``witness``), at most ``bound``.
    """

    bound: int
    exact: int | None
    witness_cycles: int | None
    witness: Example
    paths_tried: int
    seconds: float


@dataclass(frozen=True)
class _Edges:
    """Edges into a join, the most expensive path first: where from, by which trail, cycles, longest path through."""

    origins: Ints
    trails: Ints
    cycles: Ints
    longest: Ints


@dataclass(order=True)
class _Path:
    """The end of a path: from edge ``edge`` of node ``node`` on, ``after`` cycles follow it."""

    priority: int
    tie: int
    node: int = field(compare=False)
    edge: int = field(compare=False)
    after: int = field(compare=False)
    conditions: dict[int, tuple[int, int]] = field(compare=False)


def worst_case(
    state: State, meetings: list[Meeting], ends: Meeting, overhead: int, runner: Runner, seconds: float, slow: Example
) -> Worst:
    """The bound, and the exact maximum if it is found in time. ``ends`` holds the edges to the returns. If the solver
    finds no input, ``slow``, one that was slow among many, is taken first."""
    start = time.monotonic()
    graph = _longest([*meetings, ends])
    bound = int(graph[-1].longest[0]) + overhead
    search = _Search(state, graph, runner, overhead, slow)
    exact, witness_cycles, witness = search.run(time.thread_time() + seconds)
    return Worst(bound, exact, witness_cycles, witness, search.tried, time.monotonic() - start)


def _longest(meetings: list[Meeting]) -> list[_Edges]:
    """Edges of each node by the longest path through them; origins always come before."""
    best = np.zeros(len(meetings), dtype=np.int64)
    graph = []
    for n, m in enumerate(meetings):
        through = m.cycles + best[m.origins]
        order = np.argsort(-through, kind="stable")
        graph.append(_Edges(m.origins[order], m.trails[order], m.cycles[order], through[order]))
        best[n] = through.max(initial=0)
    return graph


class _Search:
    """Best first over the ends of paths: ``priority`` is minus the most cycles that a path with this end can have."""

    def __init__(self, state: State, graph: list[_Edges], runner: Runner, overhead: int, slow: Example) -> None:
        self.state, self.graph, self.runner, self.overhead, self.slow = state, graph, runner, overhead, slow
        self.turns = turns(runner.program.interface)
        self.cuts = Cuts(runner.program, state.pool)
        self.excluded: list[list[Condition]] = []
        self.tried = 0
        self.unsure = False

    def run(self, until: float) -> tuple[int | None, int | None, Example]:
        """(exact maximum, most cycles that an input took, that input)."""
        last = len(self.graph) - 1
        queue = [_Path(-int(self.graph[last].longest[0]), 0, last, 0, 0, {})]
        count, unsure = 0, 0  # the most cycles of a path of which the solver could not say whether it is taken
        best: tuple[int | None, Example] = (None, {})
        while queue and time.thread_time() < until:
            path = heapq.heappop(queue)
            if best[0] is not None and best[0] >= self.overhead - path.priority:
                return (best[0] if best[0] >= unsure else None), best[0], best[1]
            edges = self.graph[path.node]
            if path.edge + 1 < len(edges.origins):
                following = -(int(edges.longest[path.edge + 1]) + path.after)
                count += 1
                heapq.heappush(queue, _Path(following, count, path.node, path.edge + 1, path.after, path.conditions))
            conditions = self._with(path.conditions, int(edges.trails[path.edge]))
            if conditions is None or self._excluded(conditions):
                continue
            origin, after = int(edges.origins[path.edge]), path.after + int(edges.cycles[path.edge])
            if origin:
                count += 1
                before = int(self.graph[origin].longest[0])
                heapq.heappush(queue, _Path(-(before + after), -count, origin, 0, after, conditions))
                continue
            verdict, example = self._ask([(w, a, b) for w, (a, b) in conditions.items()], until)
            if verdict == "unsat":
                continue
            cycles = self.runner.run(example).cycles if verdict == "sat" else None
            if cycles is not None and (best[0] is None or cycles > best[0]):
                best = (cycles, example)
            if verdict == "unknown" or cycles != after + self.overhead:
                unsure = max(unsure, after + self.overhead)
                best = best if best[1] else self._run_before()
        best = best if best[1] else self._run_before()
        most = self.overhead + int(self.graph[last].longest[0])
        # Its path was the last one, or is the longest there is.
        done = best[0] is not None and (best[0] == most or (not queue and best[0] >= unsure))
        return (best[0] if done else None), best[0], best[1]

    def _run_before(self) -> tuple[int | None, Example]:
        """The slow input that is known without a solver, and its cycles."""
        return (self.runner.run(self.slow).cycles, self.slow) if self.slow else (None, {})

    def _with(self, known: dict[int, tuple[int, int]], trail: int) -> dict[int, tuple[int, int]] | None:
        """Conditions and those of a trail; None where they exclude each other."""
        result = dict(known)
        for word, low, high in self.state.trails.conditions(trail):
            a, b = result.get(word, (low, high))
            result[word] = (max(a, low), min(b, high))
            if result[word][0] > result[word][1]:
                return None
        return result

    def _excluded(self, conditions: dict[int, tuple[int, int]]) -> bool:
        nothing = (-(1 << 40), 1 << 40)
        for core in self.excluded:
            if all(a <= conditions.get(w, nothing)[0] and conditions.get(w, nothing)[1] <= b for w, a, b in core):
                return True
        return False

    def _contradict(self, conditions: list[Condition]) -> bool:
        """Whether the program, by ranges, excludes conditions together: what a join says of the trees' sum, and the
        features' cells on the way there, between which solvers would have to look through products."""
        end = np.array([-1])
        empty = np.zeros((0, 1), dtype=np.int64)
        lane = Lanes(empty, empty.copy(), empty.copy(), end * 0, end, end * 0, end * 0, end)
        self.state.widen(lane)
        lane.facts[0] = self.state.facts(
            frozenset((w, bool(low)) for w, low, high in conditions if w not in self.state.bases and low == high)
        )
        for word, low, high in conditions:
            if word in self.state.bases:
                row = self.state.bases[word]
                lane.low[row], lane.high[row] = max(low, lane.low[row, 0]), min(high, lane.high[row, 0])
        atoms = set[int]().union(*(self.state.pool.atoms(word) for word, _, _ in conditions))
        for used in ({atom: np.ones(1, dtype=bool) for atom in atoms}, {}):  # by the names of joins, and without
            view = View(self.state, self.cuts, lane, used)
            for n in range(len(self.runner.program.nodes)):
                view.bounds(n)
            if not (lane.reachable() & view.possible).all():
                return True
        return False

    def _ask(self, conditions: list[Condition], until: float) -> tuple[Verdict, Example]:
        """An input for which all conditions hold; without one the conditions that exclude each other are noted."""
        self.tried += 1
        if self._contradict(conditions):
            needed = list(conditions)
            for condition in conditions:
                fewer = [c for c in needed if c != condition]
                needed = fewer if time.thread_time() < until and self._contradict(fewer) else needed
            self.excluded.append(needed)
            return "unsat", {}
        writer = input_writer(self.state, self.runner.program, [w for w, _, _ in conditions])
        names = []
        for n, (word, low, high) in enumerate(conditions):
            text = writer.word(word)
            names.append(f"c{n}")
            span = f"(bvule (bvsub {text} #x{low & 0xFFFF_FFFF:08x}) #x{high - low:08x})"
            writer.lines.append(f"(declare-const c{n} Bool)\n(assert (= c{n} {span}))")
        question = writer.question()
        declared = {name: f"|{name}|" for name, _ in question.atoms}
        for seconds, hint in self.turns[:FEW_TURNS] if self.unsure else self.turns:
            left = until - time.thread_time()
            if left <= 0 or not set(hint) <= set(declared):
                continue
            fixed = [f"(= {declared[name]} #x{value:08x})" for name, value in hint.items()]
            verdict, example, core = self._solved(writer.question(*fixed), names, min(seconds, left))
            if verdict == "sat":
                return verdict, example
            if verdict == "unsat" and not hint:
                self.excluded.append([c for c, name in zip(conditions, names, strict=True) if name in core])
                return verdict, {}
        self.unsure = True
        return "unknown", {}

    def _solved(self, question: Question, names: list[str], seconds: float) -> tuple[Verdict, Example, set[str]]:
        """The solver's verdict, an input, or the names of the assumptions that exclude each other."""
        terms, options = bitwuzla.TermManager(), bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(WALL * 1000 * seconds)))
        parser = bitwuzla.Parser(terms, options)
        parser.parse(question.text, True, False)
        solver, symbols = parser.bitwuzla(), {t.symbol().strip("|"): t for t in parser.get_declared_funs()}
        until = time.thread_time() + seconds
        solver.configure_terminator(lambda: time.thread_time() > until)
        verdict = str(solver.check_sat(*(symbols[name] for name in names)))
        if verdict == "sat":
            model = {e: int(solver.get_value(symbols[name]).value(10)) for name, e in question.atoms}
            return "sat", example_of(self.state.pool, model), set()
        if verdict == "unsat":
            return "unsat", {}, {t.symbol().strip("|") for t in solver.get_unsat_assumptions()}
        return "unknown", {}, set()
