"""All runs of an evaluation, over processes. Finished ones may be kept, so that an interruption loses little."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from netsim import assembly, scenarios
from netsim.network import Network
from netsim.sweep import over_processes
from rlcc.evaluation import runs
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.runs import Finished, Run, Times

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Grid:
    """Contenders x scenarios x seeds."""

    contenders: tuple[Contender, ...]
    scenarios: tuple[str, ...]
    seeds: tuple[int, ...]
    times: Times
    network: Network = field(default_factory=Network)

    def runs(self) -> list[Run]:
        """By scenario, then contender, then seed."""
        return [
            Run(c, s, seed, self.times, self.network)
            for s in self.scenarios
            for c in self.contenders
            for seed in self.seeds
        ]


@dataclass(frozen=True)
class Results:
    """What each run of ``Grid.runs()`` gave, in that order, and how many were kept from before."""

    grid: Grid
    finished: list[Finished]
    reused: int

    def of(self, contender: Contender, scenario: str) -> list[Finished]:
        """A run a seed."""
        at = self.grid.scenarios.index(scenario) * len(self.grid.contenders) + self.grid.contenders.index(contender)
        return self.finished[at * len(self.grid.seeds) : (at + 1) * len(self.grid.seeds)]


def run(grid: Grid, *, jobs: int, keep: Path | None = None, progress: Progress | None = None) -> Results:
    """Run what is not kept in ``keep`` yet. The results depend neither on ``jobs`` nor on what was kept."""
    todo = grid.runs()
    found: dict[int, Finished] = {}
    files = [keep / f"{runs.key(r)}.npz" for r in todo] if keep is not None else []
    for i, file in enumerate(files):
        kept = runs.load(file)
        if kept is not None:
            found[i] = kept
    reused = len(found)
    missing = [i for i in range(len(todo)) if i not in found]
    _say(progress, len(found), todo)
    for at, finished in over_processes(runs.execute, [todo[i] for i in missing], jobs):
        i = missing[at]
        found[i] = finished
        if files:
            runs.save(finished, files[i])
        _say(progress, len(found), todo)
    return Results(grid, [found[i] for i in range(len(todo))], reused)


def check(grid: Grid) -> None:
    """InputError where a contender cannot run in a network, before anything slow begins."""
    for name in grid.scenarios:
        scenario = scenarios.instantiate(name, grid.seeds[0], grid.times.duration_ps, grid.network)
        for contender in grid.contenders:
            assembly.check(scenario, grid.network, contender.policy)


def _say(progress: Progress | None, done: int, todo: list[Run]) -> None:
    if progress is not None:
        progress(f"{done} of {len(todo)} runs")
