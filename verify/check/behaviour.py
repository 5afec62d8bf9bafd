"""The properties of a certificate, decided again by looking into every cell of the forest.

A cell is a product of intervals between neighbouring thresholds, as far as the program's ranges go; in each the sum of
the trees is one number, and so is the multiplier. `monotone` and `step` are about nothing else and are found again here
one cell after the other, with their words; `ascending` is asked of a solver. What follows many decisions is the
prover's alone: the certificate says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.errors import InputError
from decision.features import PreviousAction
from decision.formats import ACTION_BITS
from decision.interpret import trace
from decision.program import Op, Program
from decision.ranks import with_values
from decision.rate import multiplied
from decision.student import NAME, Student, load_student
from decision.tree_decision import feature_name
from emulator.build import Build
from verify.certificate import BOTH, PROVER, Certificate, FindingClaim, PropertyClaim, Verdict
from verify.check.order import order_again
from verify.check.refused import Refused

Integers = NDArray[np.int64]
AGAIN = ("monotone", "step", "ascending")
"""Kinds that are decided again."""
MOST_CELLS = 1 << 22
ONE = 1 << ACTION_BITS


def behaviour_again(certificate: Certificate, built: Build) -> None:
    """Refused where a property is not as the certificate says, or says that it was decided by others than it was."""
    if not certificate.behaviour:
        return
    table = None
    for claim in certificate.behaviour:
        kind = claim.asked.get("kind")
        undecided = all(finding.verdict == "undecided" for finding in claim.findings)
        who = BOTH if kind in AGAIN and not undecided else PROVER
        if claim.decided != who:
            raise Refused(f"the property {kind!r} is decided {who}, the certificate says {claim.decided}")
        if kind == "ascending":
            order_again(claim, built.program)
        elif who == BOTH:
            table = table or Table.of(with_values(built.program), _student(built))
            _same(claim, table.step(claim.asked) if kind == "step" else table.monotone(claim.asked), table)


def _student(built: Build) -> Student:
    try:
        return load_student(built.firmware.folder / NAME)
    except InputError as error:
        raise Refused(f"properties are of distilled policies: {error}") from None


def _same(claim: PropertyClaim, ours: Sequence[FindingClaim], table: "Table") -> None:
    told = [finding.model_copy(update={"witness": {}}) for finding in claim.findings]
    for there, here in zip(told, ours, strict=False):
        if there != here:
            raise Refused(
                f"{here.says}: it {here.verdict}, {here.value}; the certificate says {there.verdict}, {there.value}"
                if there.says == here.says
                else f"the certificate says {there.says!r} where {here.says!r} was asked for"
            )
    if len(told) != len(ours):
        raise Refused(f"{claim.asked.get('kind')} has {len(ours)} findings, the certificate {len(told)}")
    for finding in claim.findings:
        table.shows(claim.asked, finding)


@dataclass(frozen=True)
class Table:
    """``value`` [cells of each column]: the multiplier, Q16. ``edges``: the thresholds between a column's cells;
    ``low``, ``high``: its range; ``seen`` [columns]: it is no past action."""

    names: tuple[str, ...]
    edges: tuple[Integers, ...]
    ranges: tuple[tuple[int, int], ...]
    seen: tuple[bool, ...]
    value: Integers

    @staticmethod
    def of(program: Program, student: Student) -> "Table":
        trees = [node for node in program.nodes if node.op is Op.TREES]
        scaled = multiplied(program)
        if len(trees) != 1 or scaled is None:
            raise Refused("properties are of a decision by one sum of trees that scales a rate")
        ranges = tuple((program.nodes[c].low, program.nodes[c].high) for c in trees[0].args)
        asked = program.forest.thresholds()
        edges = []
        for c, (low, high) in enumerate(ranges):
            cuts = np.asarray(asked.get(c, []), dtype=np.int64)
            edges.append(cuts[(cuts >= low) & (cuts < high)])
        shape = [len(cuts) + 1 for cuts in edges]
        if prod(shape) > MOST_CELLS:
            raise Refused(f"a forest of {prod(shape)} cells is too large to decide its properties again")
        places = [np.append(low, cuts + 1) for (low, _), cuts in zip(ranges, edges, strict=True)]
        grid = np.zeros((prod(shape), len(places)), dtype=np.int64)
        for c, axis in enumerate(np.meshgrid(*places, indexing="ij")):
            grid[:, c] = axis.reshape(-1)
        past = {
            feature_name(feature, lag)
            for lag in range(student.observation.window)
            for feature in student.observation.features
            if isinstance(feature, PreviousAction)
        }
        names = program.forest.features
        value = _multiplier(program, student.params(), scaled.multiplier, program.forest.evaluate(grid)[:, 0])
        return Table(names, tuple(edges), ranges, tuple(name not in past for name in names), value.reshape(shape))

    def step(self, asked: dict[str, Any]) -> list[FindingClaim]:
        low, high = self.value.min() / ONE, self.value.max() / ONE
        ends = {"at least": asked.get("at_least"), "at most": asked.get("at_most")}
        limits = [f"{word} {end:g}" for word, end in ends.items() if end is not None]
        inside = (ends["at least"] is None or low >= ends["at least"]) and (
            ends["at most"] is None or high <= ends["at most"]
        )
        verdict: Verdict = "found" if not limits else "holds" if inside else "fails"
        says = f"the multiplier is {' and '.join(limits) or 'bounded'}"
        return [self._finding(says, verdict, f"{low:.5f} to {high:.5f} over all cells")]

    def monotone(self, asked: dict[str, Any]) -> list[FindingClaim]:
        columns = [c for c, seen in enumerate(self.seen) if seen and asked.get("feature") in (None, self.names[c])]
        if not any(self.seen):
            says = "more of what is seen never raises the multiplier"
            return [self._finding(says, "holds", "the trees ask for nothing that is seen")]
        return [self._monotone(c) for c in columns]

    def _monotone(self, column: int) -> FindingClaim:
        says = f"more {self.names[column]} never raises the multiplier"
        by_cell = np.moveaxis(self.value, column, 0)
        rises = np.diff(by_cell.reshape(len(by_cell), -1), axis=0)
        raised = rises.max(axis=1, initial=0) > 0
        if not raised.any():
            return self._finding(says, "holds", f"at each of {len(raised)} thresholds")
        at = ", ".join(map(str, self.edges[column][raised].tolist()))
        value = f"raised at {raised.sum()} of {len(raised)} thresholds ({at}), by {rises.max() / ONE:.4f} at most"
        return self._finding(says, "fails", value)

    def _finding(self, says: str, verdict: Verdict, value: str) -> FindingClaim:
        return FindingClaim(says=says, verdict=verdict, value=value, witness={})

    def shows(self, asked: dict[str, Any], finding: FindingClaim) -> None:
        """Refused where the witness of a finding does not show it."""
        if finding.verdict == "holds" and asked.get("kind") == "monotone":
            return
        witness = finding.witness
        if set(witness) != set(self.names):
            raise Refused(f"{finding.says}: the witness does not have what the trees look at")
        at = []
        for name, cuts, (low, high) in zip(self.names, self.edges, self.ranges, strict=True):
            if not low <= witness[name] <= high:
                raise Refused(f"{finding.says}: the witness has {name} = {witness[name]}, which is out of its range")
            at.append(int(np.searchsorted(cuts, witness[name], side="left")))
        value = self.value[tuple(at)]
        if asked.get("kind") == "step":
            shown = value in (self.value.min(), self.value.max())
        else:
            column = next(c for c, name in enumerate(self.names) if finding.says.split()[1] == name)
            above = [k + (c == column) for c, k in enumerate(at)]
            shown = above[column] < self.value.shape[column] and self.value[tuple(above)] > value
        if not shown:
            raise Refused(f"{finding.says}: the witness does not show it")


def _multiplier(program: Program, params: dict[str, int], node: int, sums: Integers) -> Integers:
    """The node's values [N] where the trees' sum is that, and everything else 0."""
    few, back = np.unique(sums, return_inverse=True)
    zeros = np.zeros(len(few), dtype=np.int64)
    event = dict.fromkeys(program.interface.event_names, zeros)
    context = dict.fromkeys([field.name for field in program.state], zeros)
    number = next(n for n, each in enumerate(program.nodes) if each.op is Op.TREES)
    made: Integers = trace(program, event, params, context, forced={number: few})[node][back.reshape(-1)]
    return made
