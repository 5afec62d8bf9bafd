"""All trials of an evaluation: contenders x scenarios x seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from emulator.linux.cell import Bottleneck
from netsim import assembly, scenarios
from netsim.network import MS, Network
from netsim.result_store import Kept, Outcome
from netsim.samples import Samples, Sampling
from netsim.simulation import DURATION_PS, WINDOW_PS
from netsim.trials import Progress, Trial
from netsim.trials import run as run_trials
from rlcc.evaluation.contenders import Contender

EARLY_PS = 5 * MS
"""From the start, when nobody has settled."""


@dataclass(frozen=True)
class Times:
    """Length of each run and the window it is measured in, ps."""

    duration_ps: int
    window_ps: tuple[int, int]

    @classmethod
    def of(cls, duration_ps: int) -> "Times":
        """Measured from 25 % to 85 % of it."""
        begin, end = (edge * duration_ps // DURATION_PS for edge in WINDOW_PS)
        return cls(duration_ps, (begin, end))


@dataclass(frozen=True)
class Cell:
    """A network, the traffic in it, and when it is measured; ``name``: how tables call it; ``held_out``: nothing is
    tuned by it."""

    name: str
    scenario: str
    times: Times
    network: Network = field(default_factory=Network)
    path: Bottleneck | None = None  # of a real kernel's
    held_out: bool = False


@dataclass(frozen=True)
class Grid:
    """Contenders that are compared, and the networks."""

    contenders: tuple[Contender, ...]
    cells: tuple[Cell, ...]
    seeds: tuple[int, ...]

    def runs(self) -> list[tuple[Contender, Cell, int]]:
        """Returns all runs, by cell, then contender, then seed."""
        return [(c, cell, seed) for cell in self.cells for c in self.contenders for seed in self.seeds]


@dataclass(frozen=True)
class Results:
    """Results of each of ``Grid.runs()``, in that order."""

    grid: Grid
    outcomes: Sequence[Outcome]

    def of(self, contender: Contender, cell: Cell) -> Sequence[Outcome]:
        """An outcome a seed."""
        at = self.grid.cells.index(cell) * len(self.grid.contenders) + self.grid.contenders.index(contender)
        return self.outcomes[at * len(self.grid.seeds) : (at + 1) * len(self.grid.seeds)]

    def samples(self, contender: Contender, cell: Cell) -> list[Samples]:
        """The run over time, of each seed."""
        return [outcome.samples for outcome in self.of(contender, cell) if outcome.samples is not None]


def run(grid: Grid, *, keep: Kept | None = None, progress: Progress | None = None) -> Results:
    """Run what is not kept yet."""
    trials = [trial(contender, cell, seed) for contender, cell, seed in grid.runs()]
    return Results(grid, run_trials(trials, keep=keep, progress=progress))


def trial(contender: Contender, cell: Cell, seed: int) -> Trial:
    """One run of the grid, seen over time, its start too."""
    return Trial(
        cell.scenario,
        contender.simulated,
        seed=seed,
        duration_ps=cell.times.duration_ps,
        window_ps=cell.times.window_ps,
        early_ps=min(EARLY_PS, cell.times.window_ps[0]),
        sampling=Sampling(),
        decision_latency_ps=contender.decision_latency_ps,
        network=cell.network,
        engines=contender.engines,
        name=contender.label,
    )


def check(grid: Grid) -> None:
    """InputError where a contender cannot run in a network, before anything slow begins."""
    for cell in grid.cells:
        scenario = scenarios.instantiate(cell.scenario, grid.seeds[0], cell.times.duration_ps, cell.network)
        for contender in grid.contenders:
            assembly.check(scenario, cell.network, contender.simulated)
