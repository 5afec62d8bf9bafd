"""All trials of an evaluation: contenders x scenarios x seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from netsim import assembly, scenarios
from netsim.kept import Kept, Outcome
from netsim.network import Network
from netsim.places import Place
from netsim.samples import Samples, Sampling
from netsim.trials import Progress, Trial
from netsim.trials import run as run_trials
from rlcc.evaluation.contenders import Contender


@dataclass(frozen=True)
class Times:
    """Length of each run and the window it is measured in, ps."""

    duration_ps: int
    window_ps: tuple[int, int]


@dataclass(frozen=True)
class Grid:
    """Who is set beside whom, and where."""

    contenders: tuple[Contender, ...]
    scenarios: tuple[str, ...]
    seeds: tuple[int, ...]
    times: Times
    network: Network = field(default_factory=Network)

    def cells(self) -> list[tuple[Contender, str, int]]:
        """By scenario, then contender, then seed."""
        return [(c, scenario, seed) for scenario in self.scenarios for c in self.contenders for seed in self.seeds]


@dataclass(frozen=True)
class Results:
    """What each of ``Grid.cells()`` gave, in that order."""

    grid: Grid
    outcomes: Sequence[Outcome]

    def of(self, contender: Contender, scenario: str) -> Sequence[Outcome]:
        """An outcome a seed."""
        at = self.grid.scenarios.index(scenario) * len(self.grid.contenders) + self.grid.contenders.index(contender)
        return self.outcomes[at * len(self.grid.seeds) : (at + 1) * len(self.grid.seeds)]

    def samples(self, contender: Contender, scenario: str) -> list[Samples]:
        """The run over time, of each seed."""
        return [outcome.samples for outcome in self.of(contender, scenario) if outcome.samples is not None]


def run(grid: Grid, where: Place, *, keep: Kept | None = None, progress: Progress | None = None) -> Results:
    """Run what is not kept yet."""
    trials = [trial(grid, contender, scenario, seed) for contender, scenario, seed in grid.cells()]
    return Results(grid, run_trials(trials, where, keep, progress))


def trial(grid: Grid, contender: Contender, scenario: str, seed: int) -> Trial:
    """One cell of the grid, seen over time."""
    return Trial(
        scenario,
        contender.policy,
        seed=seed,
        duration_ps=grid.times.duration_ps,
        window_ps=grid.times.window_ps,
        sampling=Sampling(),
        decision_latency_ps=contender.decision_latency_ps,
        network=grid.network,
        engines=contender.engines,
        name=contender.label,
    )


def check(grid: Grid) -> None:
    """InputError where a contender cannot run in a network, before anything slow begins."""
    for name in grid.scenarios:
        scenario = scenarios.instantiate(name, grid.seeds[0], grid.times.duration_ps, grid.network)
        for contender in grid.contenders:
            assembly.check(scenario, grid.network, contender.policy)
