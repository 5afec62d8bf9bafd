"""Options of rollouts and of distillation, as they stand in a recipe. Every limit is enforced."""

from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, model_validator

from decision.artefact.option_help import Shown
from decision.artefact.quantity import parse_duration_ps
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from netsim import scenarios
from netsim.simulation import WINDOW_PS

T = TypeVar("T")

MAX_LEAVES = 12_800
"""Of all trees (200 of depth 6): they are solved for together, with a matrix of their square, 1.3 GB."""


def _distinct(values: list[T]) -> list[T]:
    for value in values:
        if values.count(value) > 1:
            raise ValueError(f"{value} stands twice")
    return values


Scenario = Annotated[str, AfterValidator(scenarios.known)]
Scenarios = Annotated[list[Scenario], Field(min_length=1, max_length=64), AfterValidator(_distinct)]
Seed = Annotated[int, Field(ge=0, lt=2**62)]
Seeds = Annotated[list[Seed], Field(min_length=1, max_length=64), AfterValidator(_distinct)]
Step = Annotated[float, Field(gt=0, le=1)]


class RolloutOptions(Strict):
    """Which networks the policy is watched in. One run a scenario and seed."""

    scenarios: Scenarios = Field(description="Scenarios in which the teacher is simulated, and DAgger rounds run.")
    seeds: Seeds = Field(default=[1], description="Seeds; one run per scenario and seed.")
    duration: Annotated[DurationPs, Field(gt=0)] = Field(
        default=parse_duration_ps("40 ms"), description="Duration of each run."
    )
    decision_latency: DurationPs = Field(default=parse_duration_ps("900 ns"), description="Decision latency.")


class TriggerTrees(Strict):
    """Limits of a trigger's own trees, beside those of the choice."""

    trees: int = Field(default=4, ge=1, le=200, description="Maximum number of the trigger's own trees.")
    depth: int = Field(default=3, ge=1, le=8, description="Maximum depth of the trigger's own trees.")


class DistillOptions(Strict):
    """Limits of the student ([RLCC] section 6.1: up to 10 trees of depth 4) and how it is found."""

    trees: int = Field(default=10, ge=1, le=200, description="Maximum number of trees.")
    depth: int = Field(default=4, ge=1, le=8, description="Maximum tree depth.")
    borders: int = Field(default=1024, ge=1, le=65535, description="Candidate thresholds per feature.")
    window: Annotated[int | None, Shown(default="the teacher's window")] = Field(
        default=None, ge=1, le=16, description="History length, decisions."
    )
    """An LSTM needs more than its teacher's window of 1."""
    exclude_features: Annotated[list[str], RenamedFrom("without")] = Field(
        default=[], description="Feature that no tree may use, by its name in student.json."
    )
    labels: Literal["decisions", "values"] = Field(
        default="decisions",
        exclude_if=lambda labels: labels == "decisions",
        description="Regression target for a choice: the teacher's decisions (1 or 0 per row), or its Q-values.",
    )
    trigger: TriggerTrees = Field(
        default=TriggerTrees(),
        exclude_if=lambda trees: trees == TriggerTrees(),
    )
    monotone_decreasing: Annotated[list[str], RenamedFrom("falling")] = Field(
        default=[],
        exclude_if=lambda names: not names,
        description="Feature with a monotone decreasing effect on the rate, by its name in student.json.",
    )
    rounds: int = Field(default=6, ge=0, le=50, description="Maximum number of DAgger rounds.")
    patience: int = Field(default=3, ge=1, le=50, description="Stop after this many rounds without improvement.")
    comparison_scenarios: Annotated[
        Scenarios | None, RenamedFrom("compare_in"), Shown(default="those of the rollouts")
    ] = Field(default=None, description="Scenarios in which each round's student is compared with its teacher.")
    comparison_window: Annotated[
        tuple[DurationPs, DurationPs], RenamedFrom("compare_window"), Shown(default='["50 ms", "170 ms"]')
    ] = Field(default=WINDOW_PS, description="Measured part of each comparison, from the start of a run.")
    rows: int = Field(default=20_000, ge=100, le=10_000_000, description="Decisions sampled per run.")
    learning_rate: list[Step] = Field(
        default=[0.2, 0.4, 0.7],
        min_length=1,
        max_length=16,
        description="Boosting step sizes to try; the best one on held-out decisions is retained.",
    )
    uniform_state_samples: Annotated[float, RenamedFrom("anywhere")] = Field(
        default=0.0, ge=0, le=100, description="Weight of uniform-state samples, in runs."
    )
    """Each round adds them (distill.state_samples)."""
    frozen_signal_samples: Annotated[float, RenamedFrom("held")] = Field(
        default=0.0,
        ge=0,
        le=100,
        exclude_if=lambda weight: weight == 0,
        description="Weight of frozen-signal samples, in runs: no signal changes from decision to decision.",
    )
    max_deviation: Annotated[float | None, RenamedFrom("within")] = Field(
        default=None,
        gt=0,
        le=4,
        exclude_if=lambda limit: limit is None,
        description="Maximum deviation from the teacher's action range; states beyond it become rows.",
    )
    """Around a state, as a multiplier of the rate; the rows are those of distill.coverage_rows."""
    bias_search: Annotated[list[Annotated[int, Field(ge=-10_000, le=10_000)]], RenamedFrom("trim")] = Field(
        default=[],
        max_length=16,
        description="Offsets of the chosen student's bias to try in the network, units of 2^-16 of the rate.",
    )
    ridge: float = Field(
        default=1e-4, ge=0, description="Regularisation of the joint refit of all leaves, relative to the mean weight."
    )

    @model_validator(mode="after")
    def _measurable(self) -> "DistillOptions":
        begin, end = self.comparison_window
        if not 0 <= begin < end:
            raise ValueError(
                f"comparison_window begins at {begin} ps and ends at {end} ps; give an end after its beginning"
            )
        return self

    @model_validator(mode="after")
    def _solvable(self) -> "DistillOptions":
        leaves = self.trees << self.depth
        if leaves > MAX_LEAVES:
            raise ValueError(
                f"{self.trees} trees of depth {self.depth} have {leaves} leaves, and {MAX_LEAVES} can be fitted"
                " together; take fewer trees or a smaller depth"
            )
        return self
