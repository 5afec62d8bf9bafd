"""A student and its teacher in the same networks, with the same seeds: what the student decides there, to be labelled,
and the metrics of both, to be compared."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from decision.ir.interface import Interface
from distill.closeness import Metrics, Place
from distill.options import DistillOptions, RolloutOptions
from distill.rollout import Rollout, made
from netsim.deployment import Deployment
from netsim.kept import Kept, Outcome
from netsim.policies import PolicySpec, interface_of
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
    """Where policies are driven: to learn from for so long, to compare in such a window, at the agents of a
    deployment. ``keep``: what was run before and need not be again."""

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


def side_by_side(
    student: PolicySpec, teacher: PolicySpec, networks: Networks, seeds: Sequence[int]
) -> tuple[Driven, Driven]:
    """Student and teacher, each with all seeds. Of the teacher nothing is recorded: it has rollouts of its own."""
    scenarios = [*networks.learn, *(name for name in networks.compare if name not in networks.learn)]
    own = [_trial(student, networks, name, seed, record=name in networks.learn) for name in scenarios for seed in seeds]
    beside = [_trial(teacher, networks, name, seed) for name, seed in networks.places(seeds)]
    outcomes = run(own + beside, keep=networks.keep, progress=networks.progress)
    deployed = networks.deployment
    interface = interface_of(student)
    return (
        _driven(own, outcomes[: len(own)], deployed, interface),
        _driven(beside, outcomes[len(own) :], deployed, interface),
    )


def later_self(teacher: PolicySpec, networks: Networks, places: Sequence[Place]) -> dict[Place, Metrics]:
    """The teacher's metrics where it decides 10 ns later."""
    return compared(teacher, networks, places, later_ps=LATER_PS)


def compared(
    policy: PolicySpec, networks: Networks, places: Sequence[Place], *, later_ps: int = 0
) -> dict[Place, Metrics]:
    """Metrics of a policy in each of the places; nothing is recorded."""
    trials = [_trial(policy, networks, name, seed, later_ps=later_ps) for name, seed in places]
    return {
        place: one.metrics
        for place, one in zip(places, run(trials, keep=networks.keep, progress=networks.progress), strict=True)
    }


def _trial(
    policy: PolicySpec, networks: Networks, scenario: str, seed: int, *, record: bool = False, later_ps: int = 0
) -> Trial:
    record_ps = networks.learn_ps if record else 0
    window_ps = networks.window_ps if scenario in networks.compare else None
    return networks.deployment.trial(
        policy,
        scenario,
        seed=seed,
        duration_ps=max(record_ps, window_ps[1] if window_ps else 0),
        window_ps=window_ps,
        record_ps=record_ps,
        decision_latency_ps=networks.decision_latency_ps + later_ps,
    )


def _driven(trials: Sequence[Trial], outcomes: Sequence[Outcome], deployed: Deployment, interface: Interface) -> Driven:
    each = [(str(t.scenario), t.seed, t.duration_ps, outcome) for t, outcome in zip(trials, outcomes, strict=True)]
    return Driven(
        [
            made(name, seed, duration_ps, outcome.records[deployed.cohort], deployed, interface)
            for name, seed, duration_ps, outcome in each
            if outcome.records
        ],
        {(name, seed): outcome.metrics for name, seed, _, outcome in each if outcome.metrics},
    )
