"""A student and its teacher in the same networks, with the same seeds: what the student decides there, to be labelled,
and the metrics of both, to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf

from decision.artefact.processors import usable_cores
from distill.closeness import Metrics, Place, distances
from distill.options import DistillOptions, RolloutOptions
from distill.racing import Distances, Standing, race, worst_first
from distill.rollout import Rollout, made
from netsim.deployment import Deployment
from netsim.policies import PolicySpec, interface_of
from netsim.result_store import Kept
from netsim.tolerance import Tolerance
from netsim.trials import Progress, Trial, run

LATER_PS = 10_000
"""By so much the teacher decides later than itself where its noise is measured: about a hundredth of a decision."""


@dataclass(frozen=True)
class Driven:
    """One policy in all networks: its recorded decisions, and the metrics in those where policies are compared."""

    runs: list[Rollout]
    metrics: dict[Place, Metrics]


@dataclass(frozen=True)
class Networks:
    """Networks in which policies decide: for how long to learn from them, in which window to compare, at the agents of
    which deployment. ``keep``: what was run before and need not be again."""

    learn: list[str]
    learn_ps: int
    compare: list[str]
    window_ps: tuple[int, int]
    decision_latency_ps: int
    deployment: Deployment = field(default_factory=Deployment)
    keep: Kept | None = None
    progress: Progress | None = field(default=None, compare=False)

    def phase(self, name: str) -> "Networks":
        """Returns the same networks; their progress is reported under the name of what they are run for."""
        report = self.progress
        return self if report is None else replace(self, progress=lambda text: report(f"{name}: {text}"))

    def places(self, seeds: Sequence[int]) -> list[Place]:
        """Returns the networks in which policies are compared, each with these seeds."""
        return [(name, seed) for name in self.compare for seed in seeds]

    def recorded_alike(self, name: str) -> bool:
        """Whether a run that is recorded there has the metrics of one that is not: it lasts as long."""
        return name not in self.learn or self.learn_ps <= self.window_ps[1]

    @staticmethod
    def of(
        options: DistillOptions,
        network: RolloutOptions,
        deployment: Deployment | None = None,
        keep: Kept | None = None,
        progress: Progress | None = None,
    ) -> "Networks":
        """Those of the rollouts, and those that the options compare in."""
        return Networks(
            learn=network.scenarios,
            learn_ps=network.duration,
            compare=network.scenarios if options.comparison_scenarios is None else options.comparison_scenarios,
            window_ps=options.comparison_window,
            decision_latency_ps=network.decision_latency,
            deployment=deployment or Deployment(),
            keep=keep,
            progress=progress,
        )


@dataclass(frozen=True)
class SideBySide:
    """A student next to its teacher, and how far off its network is. ``later``: the teacher that decides later, if it
    was asked for."""

    student: Driven
    teacher: dict[Place, Metrics]
    standing: Standing
    later: dict[Place, Metrics]


def side_by_side(
    student: PolicySpec,
    teacher: PolicySpec,
    networks: Networks,
    seeds: Sequence[int],
    tolerance: Tolerance,
    *,
    limit: float = inf,
    last: Standing | None = None,
    later: bool = False,
) -> SideBySide:
    """Runs student and teacher with all seeds, compared until the student is further off than ``limit`` times the
    tolerance (distill.racing); ``last``: the standing of the last student that was compared.

    If ``later``, the teacher runs beside them a second time and decides ``LATER_PS`` later.

    The student's decisions are recorded in every network of ``networks.learn``, also where it was given up before.
    The teacher's are not: it has rollouts of its own.
    """
    interface, deployed = interface_of(student), networks.deployment
    learnt = [(name, seed) for name in networks.learn for seed in seeds]
    runs, own = dict[Place, Rollout](), dict[Place, Metrics]()
    theirs: dict[int, dict[Place, Metrics]] = {0: {}, LATER_PS: {}}
    delays = list(theirs) if later else [0]

    def simulate(learn: Sequence[Place], compare: Sequence[Place] = ()) -> None:
        """One run of the student gives both if a network is learnt from and compared in."""
        places = [*compare, *(place for place in learn if place not in compare)]
        trials = [_trial(student, networks, place, record=place in learn, compare=place in compare) for place in places]
        beside = {
            (delay, place): _trial(teacher, networks, place, later_ps=delay) for delay in delays for place in compare
        }
        outcomes = run([*trials, *beside.values()], keep=networks.keep, progress=networks.progress)
        for place, trial, outcome in zip(places, trials, outcomes, strict=False):
            if place in learn:
                records = outcome.records[deployed.cohort]
                runs[place] = made(*place, trial.duration_ps, records, deployed, interface)
            if place in compare:
                own[place] = outcome.metrics
        for (delay, place), outcome in zip(beside, outcomes[len(trials) :], strict=True):
            theirs[delay][place] = outcome.metrics

    def apart(part: Sequence[Place]) -> Distances:
        # Runs that are only learnt from are needed in any case; they go along with the first part, and no core waits.
        simulate([place for place in learnt if place in part or (place not in compared_in and place not in runs)], part)
        beside = {place: theirs[0][place] for place in part}
        return distances({place: own[place] for place in part}, beside, tolerance)

    compared_in = networks.places(seeds)
    standing = race(worst_first(compared_in, last), limit, -(-usable_cores() // 2), apart)
    if missing := [place for place in learnt if place not in runs]:
        simulate(missing)
    in_order = [place for place in compared_in if place in own]
    return SideBySide(
        Driven([runs[place] for place in learnt], {place: own[place] for place in in_order}),
        {place: theirs[0][place] for place in in_order},
        standing,
        theirs[LATER_PS],
    )


def later_self(teacher: PolicySpec, networks: Networks, places: Sequence[Place]) -> dict[Place, Metrics]:
    """The teacher's metrics where it decides 10 ns later."""
    return compared(teacher, networks, places, later_ps=LATER_PS)


def compared(
    policy: PolicySpec, networks: Networks, places: Sequence[Place], *, later_ps: int = 0
) -> dict[Place, Metrics]:
    """Metrics of a policy in each of the places; nothing is recorded."""
    trials = [_trial(policy, networks, place, later_ps=later_ps) for place in places]
    return {
        place: one.metrics
        for place, one in zip(places, run(trials, keep=networks.keep, progress=networks.progress), strict=True)
    }


def _trial(
    policy: PolicySpec,
    networks: Networks,
    place: Place,
    *,
    record: bool = False,
    compare: bool = True,
    later_ps: int = 0,
) -> Trial:
    scenario, seed = place
    record_ps = networks.learn_ps if record else 0
    window_ps = networks.window_ps if compare else None
    # Flows arrive for as long as in a run that is compared, whose decisions would otherwise be others.
    arrivals_ps = networks.window_ps[1] if scenario in networks.compare else 0
    return networks.deployment.trial(
        policy,
        scenario,
        seed=seed,
        duration_ps=max(record_ps, arrivals_ps),
        window_ps=window_ps,
        record_ps=record_ps,
        decision_latency_ps=networks.decision_latency_ps + later_ps,
    )
