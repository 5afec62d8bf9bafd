"""Simulations by the dozen: what each one is, what it gives, and a run of them all that loses nothing.

    trials = [Trial("many-to-one:64", policy, seed, duration_ps=10 * MS, window_ps=(0, 10 * MS)) for seed in (1, 2)]
    for outcome in run(trials, Processes(2), Kept(Path("runs"))):
        print(outcome.metrics["goodput"])

A trial's result depends on its content only: not on where it runs, nor on what was run before.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from netsim.answers import Lost
from netsim.build import simulator_hash
from netsim.cohorts import Cohort, Records, Wire
from netsim.content import content
from netsim.engines import Engines
from netsim.metrics import start_metrics
from netsim.mixes import Mix, Steering
from netsim.network import Network
from netsim.places import Place, current_place
from netsim.processes import Processes
from netsim.result_store import FORMAT, Kept, Outcome
from netsim.samples import Sampling, samples
from netsim.scenarios import Scenario
from netsim.series import Series, record
from netsim.simulation import DECISION_LATENCY_PS, Simulation

ATTEMPTS = 3
"""How often a trial is begun whose process is lost."""

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Trial:
    """One simulation from an empty network, and what of it is wanted.

    ``duration_ps``: for how long flows arrive. ``window_ps``: what its metrics are of; None: it has none.
    ``early_ps``: how much of the start is measured apart; then the metrics say of what comes before the window, too.
    ``record_ps``: until when decisions are recorded. ``sampling``: the run over time, its whole duration unless
    that says otherwise; it needs a window, whose completions it keeps.
    ``name``: who decides, for people.
    """

    scenario: Scenario | str
    policy: Steering | Mix
    seed: int
    duration_ps: int
    window_ps: tuple[int, int] | None = None
    early_ps: int = 0
    record_ps: int = 0
    sampling: Sampling | None = None
    decision_latency_ps: int = DECISION_LATENCY_PS
    network: Network = field(default_factory=Network)
    engines: Engines | None = None
    cohorts: tuple[Cohort, ...] = ()
    wires: tuple[Wire, ...] = ()
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        begin, end = self.window_ps or (0, 1)
        if not 0 <= begin < end <= max(self.duration_ps, 1):
            raise InputError(f"the window {begin}..{end} ps is empty or outside the {self.duration_ps} ps of the run")
        if self.sampling is not None and self.window_ps is None:
            raise InputError("a run that is sampled has a window too; give window_ps")
        if not 0 <= self.early_ps <= (0 if self.window_ps is None else begin):
            raise InputError(f"the first {self.early_ps} ps do not lie before the window, which begins at {begin} ps")
        if not 0 <= self.record_ps <= self.duration_ps:
            raise InputError(f"decisions cannot be recorded for {self.record_ps} of {self.duration_ps} ps")

    def __str__(self) -> str:
        scenario = self.scenario if isinstance(self.scenario, str) else self.scenario.name
        return f"{scenario}, seed {self.seed}" + (f", {self.name}" if self.name else "")

    def key(self) -> str:
        """A hash of all that determines the outcome, the simulator among it. InputError where no other process could
        know what decides."""
        return sha256(dump_json([FORMAT, simulator_hash(), np.__version__, content(self)]).encode())


def run(
    trials: Sequence[Trial], where: Place | None = None, keep: Kept | None = None, progress: Progress | None = None
) -> list[Outcome]:
    """The outcome of each; those that are kept are not run again.

    ``where``: a place, else the current one (netsim.places). A trial whose process is lost is begun again, ``ATTEMPTS``
    times in all; where it is lost each time the others are finished (and kept) before the InputError that says so.
    ``progress`` is told how many are done, and how long the rest takes if its runs take as long as those.
    """
    place = where or current_place()
    keys = [trial.key() for trial in trials] if keep is not None else []
    outcomes = {at: kept for at, key in enumerate(keys) if keep is not None and (kept := keep.load(key)) is not None}
    work = partial(perform_alike, simulator_hash()) if isinstance(place, Processes) else perform
    begin, reused = time.monotonic(), len(outcomes)

    def say() -> None:
        if progress is not None:
            done, left = len(outcomes), len(trials) - len(outcomes)
            seconds = (time.monotonic() - begin) / (done - reused) * left if left and done > reused else 0.0
            progress(f"{done} of {len(trials)} runs" + (f", about {seconds:.0f} s left" if seconds >= 1 else ""))

    say()
    # Long runs first, then the last of the list, since lists of networks grow: no processor waits long for another.
    todo = sorted(set(range(len(trials))) - outcomes.keys(), key=lambda at: (-trials[at].duration_ps, -at))
    lost: dict[int, Lost] = {}
    for _ in range(ATTEMPTS):
        lost = {}
        for index, answer in place.answers(work, [trials[at] for at in todo]):
            at = todo[index]
            if isinstance(answer, Lost):
                lost[at] = answer
            else:
                outcomes[at] = answer
                if keep is not None:
                    keep.save(keys[at], answer)
            say()
        todo = sorted(lost)
        if not todo:
            break
    if lost:
        first = todo[0]
        others = f", and {len(todo) - 1} others with it" if len(todo) > 1 else ""
        raise InputError(
            f"the process of {trials[first]} was lost {ATTEMPTS} times ({lost[first].reason}){others}; is there memory "
            "for fewer --jobs?"
        )
    return [outcomes[at] for at in range(len(trials))]


def perform_alike(simulator: str, trial: Trial) -> Outcome:
    """Returns ``perform``'s outcome, in a process that was started since: InputError where it has loaded another
    simulator than the one with this hash, under which the outcome is kept."""
    if simulator_hash() != simulator:
        raise InputError("rlcc was changed while it simulated; start again")
    return perform(trial)


def perform(trial: Trial) -> Outcome:
    """One simulation; it ends when all that is wanted of it is there. Neither sampling nor measuring changes it."""
    simulation = Simulation(
        trial.scenario,
        trial.policy,
        seed=trial.seed,
        duration_ps=trial.duration_ps,
        decision_latency_ps=trial.decision_latency_ps,
        record=trial.record_ps > 0,
        network=trial.network,
        engines=trial.engines,
        cohorts=trial.cohorts,
        wires=trial.wires,
    )
    flows = len(simulation.scenario.flows)
    series: list[Series] = []

    def go_on(until_ps: int) -> None:
        if trial.sampling is None:
            simulation.run(until_ps)
        else:
            every_ps, shown = trial.sampling.every_ps(trial.duration_ps), trial.sampling.shown(flows)
            series.append(record(simulation, until_ps, every_ps, shown))

    begin, end = trial.window_ps or (0, 0)
    whole_ps = trial.duration_ps if trial.sampling is not None and trial.sampling.to_end else 0
    metrics: dict[str, float] = {}
    records: tuple[Records, ...] = ()
    window: dict[str, Any] = {}
    early: dict[str, float] = {}
    start: dict[str, float] = {}
    for now in sorted({trial.early_ps, begin, end, trial.record_ps, whole_ps}):
        go_on(now)
        if now == trial.early_ps > 0:
            early = simulation.metrics()
        if now == trial.record_ps > 0:
            records = tuple(simulation.drain_records(cohort) for cohort in range(len(simulation.interfaces)))
            simulation.start_recording(False)
        if now == begin:
            start = simulation.metrics() if early else {}
            simulation.reset_window()
        if now == end > 0:
            metrics, window = simulation.metrics(), simulation.window() if series else {}
            metrics |= start_metrics(early, start, metrics) if early else {}
    taken = samples(series, simulation.scenario, simulation.network, window) if series else None
    return Outcome(flows, metrics, records, taken)
