"""A student and its teacher in the same networks, with the same seeds: what the student decides there, to be labelled,
and the metrics of both, to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass

from decision.records import Trajectories
from distill.closeness import Metrics, Place
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import Run
from netsim.policies import PolicySpec
from netsim.simulation import Simulation
from netsim.sweep import sweep

LATER_PS = 10_000
"""By so much the teacher decides later than itself where its noise is measured: about a hundredth of a decision."""


@dataclass(frozen=True)
class Driven:
    """One policy in all networks: its recorded decisions, and the metrics in those where policies are compared."""

    runs: list[Run]
    metrics: dict[Place, Metrics]


@dataclass(frozen=True)
class Networks:
    """Where policies are driven: to learn from for so long, to compare in such a window."""

    learn: list[str]
    learn_ps: int
    compare: list[str]
    window_ps: tuple[int, int]
    decision_latency_ps: int

    @staticmethod
    def of(options: DistillOptions, network: RolloutOptions) -> "Networks":
        """Those of the rollouts, and those that the options compare in."""
        return Networks(
            learn=network.scenarios,
            learn_ps=network.duration,
            compare=network.scenarios if options.compare_in is None else options.compare_in,
            window_ps=options.compare_window,
            decision_latency_ps=network.decision_latency,
        )


@dataclass(frozen=True)
class _Task:
    """One simulation. ``record_ps`` 0: nothing is recorded; ``window_ps`` None: nothing is measured."""

    policy: PolicySpec
    decision_latency_ps: int
    place: Place
    record_ps: int
    window_ps: tuple[int, int] | None


def side_by_side(
    student: PolicySpec, teacher: PolicySpec, networks: Networks, seeds: Sequence[int]
) -> tuple[Driven, Driven]:
    """Student and teacher, each with all seeds. Of the teacher nothing is recorded: it has rollouts of its own."""
    scenarios = [*networks.learn, *(name for name in networks.compare if name not in networks.learn)]
    own = [_task(student, networks, (name, seed), networks.learn) for name in scenarios for seed in seeds]
    beside = [_task(teacher, networks, (name, seed), []) for name in networks.compare for seed in seeds]
    tasks = own + beside
    found = sweep(_run, tasks)
    return _driven(own, found[: len(own)]), _driven(beside, found[len(own) :])


def later_self(teacher: PolicySpec, networks: Networks, seeds: Sequence[int]) -> Driven:
    """The teacher where it is compared, deciding 10 ns later."""
    tasks = [_task(teacher, networks, (name, seed), [], LATER_PS) for name in networks.compare for seed in seeds]
    return _driven(tasks, sweep(_run, tasks))


def _task(policy: PolicySpec, networks: Networks, place: Place, learn: list[str], later_ps: int = 0) -> _Task:
    return _Task(
        policy,
        networks.decision_latency_ps + later_ps,
        place,
        networks.learn_ps if place[0] in learn else 0,
        networks.window_ps if place[0] in networks.compare else None,
    )


def _run(task: _Task) -> tuple[Run | None, Metrics | None]:
    """The two spans, what is recorded and what is measured, may lie in any order."""
    scenario, seed = task.place
    begin, end = task.window_ps or (0, 0)
    simulation = Simulation(
        scenario,
        task.policy,
        seed=seed,
        duration_ps=max(task.record_ps, end),
        decision_latency_ps=task.decision_latency_ps,
        record=task.record_ps > 0,
    )
    run, metrics = None, None
    for now in sorted({task.record_ps, begin, end}):
        simulation.run(now)
        if now == task.record_ps > 0:
            run = Run(scenario, seed, Trajectories.of(simulation.drain_records()))
            simulation.start_recording(False)
        if now == begin:
            simulation.reset_window()
        if task.window_ps and now == end:
            metrics = simulation.metrics()
    return run, metrics


def _driven(tasks: Sequence[_Task], found: Sequence[tuple[Run | None, Metrics | None]]) -> Driven:
    return Driven(
        [run for run, _ in found if run is not None],
        {task.place: metrics for task, (_, metrics) in zip(tasks, found, strict=True) if metrics is not None},
    )
