"""The prover: the linked code against the decision program, for all inputs.

proof = prove(read_image(elf), program, layouts, load_profile("ibex-small"))
proof.proved            # equal to the program for every input, and safe
proof.worst.bound       # no input takes more cycles
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from decision.ir.forest import MAX_COMBINATIONS
from decision.ir.program import Op, Program
from emulator.elf import Image
from emulator.layout import Layout
from emulator.profile import Profile
from emulator.vectors import Vectors
from verify.code.arguments import structures
from verify.code.failures import Failure, Refused
from verify.code.graph import Graph, build_graph
from verify.prover.concrete import Example, Outcome, Runner
from verify.prover.equality import ENOUGH, Difference, Returns
from verify.prover.expressions import UNKNOWN
from verify.prover.inputs import example_of, input_writer
from verify.prover.joins import Joiner, Meeting
from verify.prover.lanes import Lanes
from verify.prover.refute import INPUTS, refute
from verify.prover.simulate import walk
from verify.prover.solve import Answer, Solvers
from verify.prover.specialise import Cuts, View
from verify.prover.state import State
from verify.prover.worst import Worst, worst_case
from verify.trusted.costs import CycleModel, cycle_model
from verify.trusted.machine import IllegalInstruction, constants, decode_image

ENTRY = "rlcc_decide"
MARGIN_PARTS = 100
"""A bound over joined partial sums is told by so small a part higher: the checker knows less of what paths had in
common, and may find one a cycle longer."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to give up. Above ``cells`` lanes partial sums are joined, above ``many_cells`` where the trees' features
    have more cells than lanes may be; above ``lanes`` there is no proof. ``inputs`` are combined and run before
    anything is proved."""

    cells: int = 20_000
    many_cells: int = 40
    lanes: int = MAX_COMBINATIONS
    solver_seconds: float = 20.0
    worst_seconds: float = 60.0
    inputs: int = INPUTS

    def joined_above(self, program: Program) -> int:
        """Returns how many lanes may lie in cells of their own."""
        return self.cells if program.forest.combinations <= self.lanes else self.many_cells


@dataclass(frozen=True)
class Cut:
    """A join of lanes: position and address, how many there were, which location goes on as which value."""

    position: int
    address: int
    lanes: int
    names: dict[str, str]


@dataclass(frozen=True)
class Proof:
    """Result of a proof. ``failures`` is empty if and only if equality and safety hold for all inputs."""

    failures: tuple[Failure, ...]
    cells: int
    lanes: int
    instructions: int
    stack_bytes: int
    cuts: tuple[Cut, ...]
    answers: tuple[Answer, ...]
    worst: Worst | None
    seconds: float
    gave_up_cells: bool = False

    @property
    def proved(self) -> bool:
        return not self.failures


def prove(
    image: Image,
    program: Program,
    layouts: Mapping[str, Layout],
    profile: Profile,
    *,
    model: CycleModel | None = None,
    limits: Limits | None = None,
    vectors: Vectors | None = None,
) -> Proof:
    """Prove equality, safety and the worst case of ``rlcc_decide`` in a linked program.

    ``vectors``: inputs that are run among others, to see at once whether there is anything to prove.
    """
    limits, start = limits or Limits(), time.monotonic()
    run, failures = attempt(image, program, layouts, profile, model or cycle_model(profile), limits, vectors)
    worst = None if failures else run.worst()
    return run.proof(failures, worst, time.monotonic() - start)


def unfollowed(program: Program, entry: int) -> list[Failure]:
    """Returns the failures for trees that the walk cannot follow; rlcc emits no program with such trees."""
    trees = [node for node in program.nodes if node.op is Op.TREES]
    if len({node.args for node in trees}) > 1:
        return [Failure("not-proved", entry, "the program asks its trees about more than one set of values")]
    for node in trees:
        if node.low < -(2**31) or node.high >= 2**31:
            return [
                Failure("not-proved", entry, f"the sum of the trees can reach {node.low}..{node.high}, beyond a word")
            ]
    return []


def attempt(
    image: Image,
    program: Program,
    layouts: Mapping[str, Layout],
    profile: Profile,
    model: CycleModel,
    limits: Limits,
    vectors: Vectors | None = None,
) -> tuple["Attempt", list[Failure]]:
    """Equality and safety: first a search for an input that goes wrong; then the proof with lanes joined freely, and
    with more and more care, where that leaves open what holds."""
    run = Attempt(image, program, layouts, profile, model, limits)
    failures = run.search(vectors) or unfollowed(program, image.symbols[ENTRY]) or run.execute()
    if failures and failures[0].kind == "too-large" and limits.joined_above(program) > limits.many_cells:
        # A lane may know more than its cell: what a phase or a ratio told multiplies them.
        limits = replace(limits, cells=limits.many_cells)
        again = Attempt(image, program, layouts, profile, model, limits)
        run, again.fault, again.slowest = again, run.fault, run.slowest
        failures = run.execute()
    if run.fault:
        failures = failures or [Failure("not-proved", image.symbols[ENTRY], "an input goes where the proof did not")]
        failures[0] = refuted(failures[0], *run.fault)
    if not failures or failures[0].example or not run.returns.failed:
        return run, failures
    for care in (1, 2):
        again = Attempt(image, program, layouts, profile, model, limits, care=care)
        again.slowest = run.slowest
        if not again.execute():
            return again, []
    return run, [run.solved(failures[0]), *failures[1:]]


def refuted(failure: Failure, example: Example, outcome: Outcome) -> Failure:
    """A failure with an input that shows it; what was only not proved is wrong then."""
    kind = failure.kind
    if kind == "not-proved" and outcome.cycles is not None:
        kind = "wrong-result" if outcome.knob else "wrong-context"
    return replace(failure, kind=kind, example=example, shown=outcome.text)


class Attempt:
    """One proof from beginning to end."""

    def __init__(
        self,
        image: Image,
        program: Program,
        layouts: Mapping[str, Layout],
        profile: Profile,
        model: CycleModel,
        limits: Limits,
        *,
        care: int = 0,
    ) -> None:
        self.care = care
        self.image, self.program, self.layouts, self.profile = image, program, layouts, profile
        self.model, self.limits = model, limits
        self.state = State(structures(program, layouts), constants(image))
        self.cuts = Cuts(program, self.state.pool)
        self.state.counted = self.cuts.counted()
        self.solvers = Solvers(limits.solver_seconds)
        # A careful attempt is asked only whether anything fails: each further question may take a solver all its time.
        self.returns = Returns(self.state, program, self.cuts, self.solvers, 1 if care else ENOUGH)
        self.graph: Graph | None = None
        self.joiner: Joiner | None = None
        self.ends: list[tuple[int, Lanes]] = []
        self.fault: tuple[Example, Outcome] | None = None
        self.slowest: Example = {}
        self.stack = self.most = self.instructions = self.returned = 0

    def search(self, vectors: Vectors | None) -> list[Failure]:
        """Returns the failures that a run input shows. One that the code faults at waits for the proof to name it."""
        entry = self.image.symbols[ENTRY]
        try:
            build_graph(decode_image(self.image), entry)  # what loops or is no code is not run
            searched = refute(self.runner(), vectors, count=self.limits.inputs)
        except (IllegalInstruction, Refused):
            return []
        wrong, self.slowest = searched.wrong, searched.slowest
        if wrong is None:
            return []
        if wrong[1].cycles is None:
            self.fault = wrong
            return []
        return [refuted(Failure("not-proved", entry, wrong[1].text), *wrong)]

    def again(self) -> "Attempt":
        """The same proof, not begun."""
        parts = self.image, self.program, self.layouts, self.profile, self.model, self.limits
        return Attempt(*parts, care=self.care)

    def execute(self, joins: type[Joiner] = Joiner, *, compare: bool = True) -> list[Failure]:
        """Walks all paths; returns why the proof fails, empty where it holds. ``compare`` False: what returns is not
        compared with the program, which takes longest."""
        try:
            graph = self.graph = build_graph(decode_image(self.image), self.image.symbols[ENTRY])
            give_up = self.limits.joined_above(self.program)
            joiner = self.joiner = joins(self.state, graph, self.program, self.cuts, self.model, give_up, self.care)

            def done(number: int, lanes: Lanes) -> None:
                self.ends.append((number, lanes))
                if compare:
                    view = View(self.state, self.cuts, lanes, joiner.used(lanes, list(range(len(lanes.values)))))
                    self.returns.check(graph.positions[number].instruction.address, lanes, view)

            stack_limit = self.profile.limits.stack_bytes
            walked = walk(
                self.state, graph, self.model, joiner, done,
                stack_limit=stack_limit, most_lanes=self.limits.lanes,
            )  # fmt: skip
        except IllegalInstruction as error:
            return [Failure("illegal-instruction", 0, str(error))]
        except Refused as error:
            return [error.failure]
        self.stack, self.most = walked.stack_bytes, walked.most_lanes
        self.instructions, self.returned = walked.instructions, walked.returned
        return [d.failure for d in self.returns.failed]

    def worst(self) -> Worst:
        """The worst case over the graph of joins."""
        assert self.joiner is not None
        parts = [(lanes.origin, lanes.trail, lanes.cycles) for _, lanes in self.ends]
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        ends = Meeting(-1, columns[0], columns[1], columns[2])
        overhead, seconds = self.model.overhead, self.limits.worst_seconds
        worst = worst_case(self.state, self.joiner.meetings, ends, overhead, self.runner(), seconds, self.slowest)
        if worst.exact is None and self.joiner.gave_up:
            return replace(worst, bound=worst.bound + worst.bound // MARGIN_PARTS)
        return worst

    def runner(self) -> Runner:
        return Runner(self.image, self.program, self.layouts, self.profile, self.model, ENTRY)

    def solved(self, failure: Failure) -> Failure:
        """The failure with an input that a solver finds and the code gets wrong, if there is one."""
        for difference in sorted(self.returns.failed, key=lambda d: d.bits):  # those without a product first
            example = self._input(difference)
            if example is not None:
                outcome = self.runner().run(example)
                if not outcome.equal:
                    return refuted(failure, example, outcome)
        return failure

    def _input(self, d: Difference) -> Example | None:
        """An input for which a lane's value is not the program's."""
        if d.word == UNKNOWN:
            return None
        conditions = [
            (word, int(d.lane.low[row, 0]), int(d.lane.high[row, 0]))
            for word, row in self.state.bases.items()
            if row < len(d.lane.low) and (d.lane.low[row, 0], d.lane.high[row, 0]) != self.state.ranges[row]
        ]
        facts = [(c, int(holds), int(holds)) for c, holds in self.state.fact_sets[int(d.lane.facts[0])]]
        words = [w for w, _, _ in conditions + facts]
        writer = input_writer(self.state, self.program, [*words, d.word])
        for word, low, high in conditions + facts:
            writer.interval(word, low, high)
        last = d.bits - 1
        code, expected = writer.word(d.word), writer.node(d.node)
        differ = f"(not (= ((_ extract {last} 0) {code}) ((_ extract {last} 0) {expected})))"
        verdict, model = self.solvers.model(writer.question(differ), 5.0)
        return example_of(self.state.pool, model) if verdict == "sat" else None

    def proof(self, failures: list[Failure], worst: Worst | None, seconds: float) -> Proof:
        meetings = self.joiner.meetings[1:] if self.joiner else []
        return Proof(
            failures=tuple(failures),
            cells=self.most,
            lanes=self.returned,
            instructions=self.instructions,
            stack_bytes=self.stack,
            cuts=tuple(self._cut(m) for m in meetings),
            answers=tuple(self.solvers.answers),
            worst=worst,
            seconds=seconds,
            gave_up_cells=bool(self.joiner and self.joiner.gave_up),
        )

    def _cut(self, meeting: Meeting) -> Cut:
        assert self.graph is not None
        names = {f"{kind}.{at}.{size}": self.state.pool.text(e) for (kind, at, size), e in meeting.cuts.items()}
        address = self.graph.positions[meeting.number].instruction.address
        return Cut(meeting.number, address, len(meeting.origins), names)
