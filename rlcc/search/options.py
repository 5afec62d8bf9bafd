"""`[search]` of a recipe: how long it is searched, where, and within which limits."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from decision.artefact.quantity_fields import DurationPs
from decision.artefact.strict import Strict
from distill.options import Scenarios

Value = bool | int | float | str
Bytes = Annotated[int, Field(ge=0, lt=2**31)]


class _SearchTable(Strict):
    model_config = ConfigDict(strict=True)


class SearchRange(_SearchTable):
    """Whole numbers, both ends among them."""

    low: int = Field(alias="from", ge=-(2**31), lt=2**31)
    """Lowest value."""
    high: int = Field(alias="to", ge=-(2**31), lt=2**31)
    """Highest value."""

    @model_validator(mode="after")
    def _ascending(self) -> "SearchRange":
        if self.low > self.high:
            raise ValueError(f"from {self.low} to {self.high} there is nothing; give the smaller number first")
        return self


Values = Annotated[list[Value], Field(min_length=1, max_length=256)]


class SearchLimits(_SearchTable):
    """Limits of a point; None: anything that the target takes."""

    context: Bytes | None = None
    """Bytes of an agent."""
    table: Bytes | None = None
    """Bytes of constant tables."""
    fairness: float = Field(default=0.1, ge=0, le=1)
    """By how much Jain's index may be below the teacher's, in any network."""


class SearchOptions(_SearchTable):
    """Points are judged quickly first; those of the best layers are made, proved and judged in the gate's networks."""

    points: int = Field(default=60, ge=1, le=100_000, description="Maximum number of quick evaluations.")
    front: int = Field(default=6, ge=0, le=1000, description="Number of points to build and prove.")
    sampler: Literal["tpe", "nsga2"] = "tpe"
    """Method that proposes points (Optuna's TPE or NSGA-II)."""
    population: int = Field(default=16, ge=2, le=1000)
    """Of a generation of nsga2; of tpe the points that are drawn before it models anything."""
    seed: int = Field(default=1, ge=0, lt=2**31)
    """Of the proposals; not the seed of the recipe, with which each student is fitted."""
    scenarios: Annotated[Scenarios, Field(strict=False)] | None = None
    """Networks of the quick judgement; those of distill.comparison_scenarios where they are left out."""
    window: Annotated[tuple[DurationPs, DurationPs], Field(strict=False)] | None = None
    """What of their time is measured; where it is left out, the latter part of the rollouts' time."""
    limits: SearchLimits = SearchLimits()
    space: dict[str, SearchRange | Values] = Field(default={})
    """By an option's name, "distill.trees", beside what rlcc/search/space.toml has."""

    @model_validator(mode="after")
    def _measurable(self) -> "SearchOptions":
        if self.window is not None and not 0 <= self.window[0] < self.window[1]:
            raise ValueError("the window must end after it begins")
        return self
