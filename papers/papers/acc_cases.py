"""Networks of ACC's applications, who decides at their queues, and what each made of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netsim.baselines import by_name
from netsim.cohorts import Cohort
from netsim.mixes import Mix, Steering
from netsim.network import Network
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial
from netsim.trials import run as run_trials
from papers.acc import setting
from papers.acc_bed import Deciders
from papers.runs import Metrics, percent_off, say, spread
from rlcc.evaluation.grid import Times
from rlcc.reports.pages import Figure

ACC, TREE = "ACC", "ACC tree"
STATIC = ("SECN1", "SECN2")
VENDOR = "vendor's"
VENDORS = (30_000, 270_000, 10)
"""Of storage: Kmin, Kmax and Pmax in % ([ACC] section 5.3.1)."""
RDMA = by_name("dcqcn-hpcc-marking")


@dataclass(frozen=True)
class Case:
    """A network of a figure, run with each scenario and seed of ``runs``, who is compared in it, and when it is
    measured."""

    name: str
    runs: tuple[tuple[str, int], ...]
    times: Times
    who: tuple[str, ...]
    network: Network
    flows: Steering | Mix = RDMA
    paper: str = "-"


def with_seeds(scenario: str, seeds: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """The same scenario with each."""
    return tuple((scenario, seed) for seed in seeds)


@dataclass(frozen=True)
class Outcomes:
    """Metrics of each run, by case and who decided at the queues."""

    metrics: Mapping[tuple[str, str], Sequence[Metrics]]

    def figure(self, case: Case, who: str, metric: str) -> Figure:
        return Figure.of([m[metric] for m in self.metrics[case.name, who]])

    def mean_off(self, case: Case, who: str, other: str, metric: str) -> float:
        """By how many percent, run by run, in the mean."""
        return float(np.mean(self._off(case, who, other, metric)))

    def against(self, case: Case, who: str, other: str, metric: str) -> str:
        """By how many percent, run by run: mean, and from the least to the greatest."""
        return spread(self._off(case, who, other, metric))

    def _off(self, case: Case, who: str, other: str, metric: str) -> list[float]:
        return percent_off(self.metrics[case.name, who], self.metrics[case.name, other], metric)

    def always_less(self, case: Case, who: str, other: str, metric: str) -> bool:
        """In every run."""
        return max(self._off(case, who, other, metric)) < 0

    def share(self, case: Case, who: str) -> Figure:
        """RDMA's of what both deliver, in %."""
        return Figure.of([100 * m["a_goodput"] / m["goodput"] for m in self.metrics[case.name, who]])


def played(cases: Sequence[Case], deciders: Deciders, period_ps: int, where: Place, keep: Kept) -> Outcomes:
    """All cases with everybody, who decides every ``period_ps``."""
    known = {**deciders, VENDOR: (setting(*VENDORS), 0)}
    places = [(case, who) for case in cases for who in case.who]
    trials = []
    for case, who in places:
        policy, late_ps = known[who]
        at_queues = Cohort(policy, period_ps, late_ps)
        begin_end = (case.times.duration_ps, case.times.window_ps)
        trials += [
            Trial(scenario, case.flows, seed, *begin_end, network=case.network, cohorts=(at_queues,), name=who)
            for scenario, seed in case.runs
        ]
    outcomes = iter(run_trials(trials, where, keep, say))
    return Outcomes({(case.name, who): [next(outcomes).metrics for _ in case.runs] for case, who in places})
