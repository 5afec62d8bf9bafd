"""A point judged quickly: the cost model says what its decision costs, short networks how close it comes.

First the fit to the teacher's own rollouts, a second, and the cost model's cycles, context and tables of it: a point
that is over a limit there is not driven, nor is one that another outdoes by far. Then DAgger as its recipe asks for it,
but compared in the latter part of the rollouts' time; last the student beside its teacher in the same networks, with
the same seeds for every point.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from pathlib import Path
from typing import Any

from codegen.cycle_estimate import decision_cycles
from codegen.emit import options_for, program_of, ranked
from codegen.layout import context_layout
from codegen.targets import ALL, target_named
from codegen.tree_body import StudentBody
from decision.policy.student import Student
from distill import distil, rollout
from distill.closeness import Metrics, Place, distance
from distill.driving import Networks, compared, later_self
from distill.rollout import Rollout
from netsim.deployment import Deployment
from netsim.policies import interpreted
from netsim.result_store import Kept, Outcome
from rlcc.deviating_states import outside
from rlcc.recipe import Recipe
from rlcc.search.options import SearchOptions
from teachers.teacher import Teacher

SEEDS = [501]
"""Of the networks in which every point is judged; DAgger has none of them."""
OUTDONE = 0.8
"""How the losses of two first fits compare where the network would hardly say otherwise."""
FROM = 0.4
"""Of the rollouts' time: where the quick window begins."""


@dataclass(frozen=True)
class Price:
    """Predicted price of the whole decision: cycles in the worst case, bytes."""

    cycles: float
    context: int
    table: int
    code: int


@dataclass(frozen=True)
class Quick:
    """``fit``: the loss of the first fit, whose cycles were ``first``. ``error``: how many times what the recipe's
    tolerance allows, in the network and metric that is furthest off (``worst``); ``unfair``: how far Jain's index is
    below the teacher's. None where the point was not driven. ``broken``: by how much each limit is; ``outdone``: by
    which point."""

    price: Price
    first: float
    fit: float
    error: float | None = None
    worst: str = ""
    unfair: float | None = None
    rmse: float | None = None
    broken: dict[str, float] = field(default_factory=dict)
    outdone: int | None = None

    def to_json(self) -> dict[str, Any]:
        return vars(self) | {"price": vars(self.price)}

    def outdoes(self, price: Price, fit: float) -> bool:
        """Whether its own first fit was cheaper than such a one, and closer to the teacher by more than OUTDONE."""
        return self.first <= price.cycles and self.fit <= fit * OUTDONE

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Quick":
        return Quick(**data | {"price": Price(**data["price"])})


class WithoutRecords(Kept):
    """Keeps what was measured; recorded decisions are large, and no other point asks for them."""

    def save(self, key: str, outcome: Outcome) -> None:
        if not outcome.records:
            super().save(key, outcome)


@dataclass(frozen=True)
class QuickJudge:
    """State that all points share. ``runs``: the rollouts, made once."""

    teacher: Teacher
    runs: list[Rollout]
    deployment: Deployment
    options: SearchOptions
    keep: Kept

    def quick(self, recipe: Recipe, others: Mapping[int, Quick], progress: Callable[[str], None]) -> Quick:
        """InputError where there is no such student, or no form of it keeps the recipe's limits. ``others``: the points
        before it."""
        progress("fitting")
        fitted, fit = distil.first_fit(self.teacher, self.runs, recipe.distill, seed=recipe.seed)
        first = price(fitted.student, recipe)
        if broken := self._over(recipe, first, None):
            return Quick(first, first.cycles, fit, broken=broken)
        better = [
            n for n, one in others.items() if one.error is not None and not one.broken and one.outdoes(first, fit)
        ]
        if better:
            return Quick(first, first.cycles, fit, outdone=better[0])
        around = recipe.gate.neighbourhood
        fitted = distil.distil(
            self.teacher,
            self.runs,
            recipe.distill.model_copy(
                update={"comparison_scenarios": self._scenarios(recipe), "comparison_window": self._window(recipe)}
            ),
            recipe.rollout,
            seed=recipe.seed,
            deployment=self.deployment,
            tolerance=recipe.gate.tolerance,
            outside=lambda student: outside(student, self.teacher, around, recipe.distill.max_deviation or 0.0),
            keep=self.keep,
            progress=progress,
        )
        progress("driving")
        networks = self._networks(recipe)
        original, student = rollout.teacher_policy(self.teacher), interpreted(fitted.student)
        places = networks.places(SEEDS)
        theirs, own = compared(original, networks, places), compared(student, networks, places)
        off = distance(own, theirs, recipe.gate.tolerance)
        unfair = _unfair(own, theirs)
        costs = price(fitted.student, recipe)
        rounds = fitted.student.report["rounds"]
        return Quick(
            costs,
            first.cycles,
            fit,
            round(off.of_tolerance, 6),
            f"{off.metric} {off.value:+.4f} in {off.scenario}",
            round(unfair, 6),
            rounds[fitted.student.report["chosen"]]["rmse"],
            self._over(recipe, costs, unfair),
        )

    def noise(self, recipe: Recipe) -> float:
        """The ``error`` of the teacher itself, deciding 10 ns later."""
        original, networks = rollout.teacher_policy(self.teacher), self._networks(recipe)
        places = networks.places(SEEDS)
        theirs, later = compared(original, networks, places), later_self(original, networks, places)
        return distance(later, theirs, recipe.gate.tolerance).of_tolerance

    def _scenarios(self, recipe: Recipe) -> list[str]:
        return self.options.scenarios or recipe.distill.comparison_scenarios or recipe.rollout.scenarios

    def _window(self, recipe: Recipe) -> tuple[int, int]:
        end = min(recipe.rollout.duration, recipe.distill.comparison_window[1])
        return self.options.window or (round(FROM * end), end)

    def _networks(self, recipe: Recipe) -> Networks:
        latency = recipe.rollout.decision_latency
        return Networks([], 0, self._scenarios(recipe), self._window(recipe), latency, self.deployment, self.keep)

    def _over(self, recipe: Recipe, costs: Price, unfair: float | None) -> dict[str, float]:
        """Returns by how much each limit is broken, relative to it."""
        asked, sizes, target = self.options.limits, recipe.gate.sizes, recipe.emit.target
        fits = None if target == ALL else target_named(target).context_bytes
        most = {
            "context": (
                costs.context,
                min((b for b in (asked.context, sizes.context, fits) if b is not None), default=None),
            ),
            "table": (costs.table, min((b for b in (asked.table, sizes.table) if b is not None), default=None)),
            "fairness": (unfair, asked.fairness),
        }
        return {
            name: round((value - limit) / max(limit, 1e-9), 6)
            for name, (value, limit) in most.items()
            if value is not None and limit is not None and value > limit
        }


def price(student: Student, recipe: Recipe) -> Price:
    """Returns the predicted price of a student by its recipe; InputError if no form keeps the limits."""
    options = options_for(recipe.emit.target, recipe.emit.compiler())
    program, lowered = ranked(StudentBody(student, ""), program_of(student, tuple(recipe.emit.constants)), options)
    return Price(
        round(decision_cycles(lowered, options), 1),
        context_layout(program)[1],
        sum(forest.table_bytes for forest in lowered.forests),
        sum(forest.code_bytes for forest in lowered.forests),
    )


def _unfair(metrics: dict[Place, Metrics], reference: dict[Place, Metrics]) -> float:
    below = [reference[place].get("jain", nan) - metrics[place].get("jain", nan) for place in reference]
    return max((one for one in below if not isnan(one)), default=0.0)


def metrics_store(folder: Path) -> Kept:
    return WithoutRecords(folder)
