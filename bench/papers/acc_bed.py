"""ACC's micro-benchmark ([ACC] section 5.2, figure 7): two senders of messages of five sizes at one receiver's link.

24 servers at 25 Gb/s on two leaves, two spines, links of 100 Gb/s, as the test bed of the paper's section 2. The queue
is that of the receiver's port, sampled: no other port of the two-to-one traffic has one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bench.papers.found import Figure, table
from netsim.deployment import Deployment
from netsim.kept import Kept, Outcome
from netsim.network import MS
from netsim.places import Place
from netsim.policies import PolicySpec
from netsim.samples import Sampling
from netsim.statistics import confidence
from netsim.trials import Trial, run

LOADS = (20, 60)
FABRIC = "leaf-spine:2x12x2:25/100"
DURATION_PS, SETTLED_PS = 400 * MS, 10 * MS
POINTS = 40_000
"""Samples of the queue, one in 10 us."""
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
NAMES = ("1 KB", "10 KB", "100 KB", "1 MB", "10 MB")
PAPER = {"ACC": (5.6, 13.3), "SECN1": (20.4, 49.6), "SECN2": (37.5, 109.3)}
"""Mean and standard deviation of the queue in KB at 60 %."""

Deciders = Mapping[str, tuple[PolicySpec, int]]


@dataclass(frozen=True)
class Bed:
    """Of each seed by who decided and the load."""

    outcomes: dict[tuple[str, int], list[Outcome]]

    def figure(self, who: str, load: int, of: Callable[[Outcome], float]) -> Figure:
        values = [of(outcome) for outcome in self.outcomes[who, load]]
        return Figure(float(np.mean(values)), confidence(values))


def played(
    deployment: Deployment,
    deciders: Deciders,
    seeds: Sequence[int],
    where: Place,
    keep: Kept,
    say: Callable[[str], None],
) -> Bed:
    places = [(name, load) for load in LOADS for name in deciders]
    trials: list[Trial] = []
    for name, load in places:
        policy, late_ps = deciders[name]
        for seed in seeds:
            trial = deployment.trial(
                policy,
                f"messages:{load}%x2@{FABRIC}",
                seed=seed,
                duration_ps=DURATION_PS,
                window_ps=(SETTLED_PS, DURATION_PS),
                decision_latency_ps=late_ps,
                name=name,
            )
            trials.append(replace(trial, sampling=Sampling(POINTS, 1)))
    outcomes = iter(run(trials, where, keep, say))
    return Bed({place: [next(outcomes) for _ in seeds] for place in places})


def queue_kb(outcome: Outcome) -> np.ndarray:
    """Samples after the start."""
    assert outcome.samples is not None
    return outcome.samples.queue_bytes[outcome.samples.t_us > SETTLED_PS / 1e6].astype(np.float64) / 1e3


def slowdown(size: int, quantile: float | None) -> Callable[[Outcome], float]:
    """Of the messages of this size: mean, or a quantile."""

    def of(outcome: Outcome) -> float:
        assert outcome.samples is not None
        values = outcome.samples.completed_slowdown[outcome.samples.completed_bytes == size]
        return float(values.mean() if quantile is None else np.quantile(values, quantile))

    return of


def section(bed: Bed, seeds: int) -> list[str]:
    """Tables of both loads, the paper's queue beside ours."""
    who = list(dict.fromkeys(name for name, _ in bed.outcomes))
    lines = [
        "## Messages of five sizes from two senders at one receiver",
        f"[ACC] section 5.2 on {FABRIC}: {DURATION_PS // MS} ms, {seeds} seeds, their mean and half of its 99 % "
        "interval. The queue is the receiver's port's; a slowdown is a message's time over that in an empty network.",
        "",
    ]
    for load in LOADS:
        rows = []
        for name in who:
            figure = partial(bed.figure, name, load)
            paper = PAPER.get(name) if load == 60 else None
            rows.append(
                [
                    name,
                    figure(lambda o: float(queue_kb(o).mean())).text(1),
                    figure(lambda o: float(queue_kb(o).std())).text(1),
                    "{} ({})".format(*paper) if paper else "-",
                    *(figure(slowdown(size, None)).text(2) for size in SIZES),
                    *(figure(slowdown(size, 0.99)).text(1) for size in SIZES[:3]),
                ]
            )
        head = ["", "queue KB", "deviation", "paper", *(f"{n} mean" for n in NAMES), *(f"{n} p99" for n in NAMES[:3])]
        lines += [f"### {load} %", "", *table(head, rows).splitlines(), ""]
    return lines
