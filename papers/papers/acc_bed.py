"""ACC's micro-benchmark ([ACC] section 5.2, figure 7): two senders of messages of five sizes at one receiver's link.

24 servers at 25 Gb/s on two leaves, two spines, links of 100 Gb/s, as the test bed of the paper's section 2. The queue
is that of the receiver's port, sampled: no other port of the two-to-one traffic has one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from netsim.deployment import Deployment
from netsim.network import MS
from netsim.places import Place
from netsim.policies import PolicySpec
from netsim.result_store import Kept, Outcome
from netsim.samples import Sampling
from netsim.trials import Trial, run
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, table

LOADS = (20, 60)
FABRIC = "leaf-spine:2x12x2:25/100"
DURATION_PS, SETTLED_PS = 20_000 * MS, 10 * MS
"""Long for the tails: at 20 % some 1,100 messages of each size end in it, at 60 % three times as many."""
POINTS = 40_000
"""Samples of the queue, one in 500 us."""
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
NAMES = ("1 KB", "10 KB", "100 KB", "1 MB", "10 MB")
OF: dict[str, float | None] = {"mean": None, "p99": 0.99, "p99.9": 0.999}
PAPER = {"ACC": (5.6, 13.3), "SECN1": (20.4, 49.6), "SECN2": (37.5, 109.3)}
"""Mean and standard deviation of the queue in KB at 60 %."""

JUDGED = (
    "The order is the paper's: ACC's queue is the shortest of the three, SECN2's the longest, and so are the tails of "
    "small messages. At 20 % p99 of messages to 10 KB is 1.5 to 2.0 times ACC's, the paper's tails 1.5 to 3 times; at "
    "60 % SECN1's is 1.2 to 1.3 times and SECN2's 1.8 to 2.0, the paper's 2 to 7. All queues are longer than the "
    "paper's; what it does not print may be why: how many messages are under way at once, Pmax, DCQCN's parameters. "
    "The largest messages pay: SECN1's take an eighth less time than ACC's at 60 %. SECN0, which the paper leaves out "
    "here, has the shortest queue of all, and messages from 100 KB on wait for it. At 20 % a p99.9 is of some 1,100 "
    "messages: hardly more than the slowest of them.",
)

Deciders = Mapping[str, tuple[PolicySpec, int]]


@dataclass(frozen=True)
class Bed:
    """Of each seed by who decided and the load."""

    outcomes: dict[tuple[str, int], list[Outcome]]

    @property
    def who(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.outcomes))

    def values(self, who: str, load: int, of: Callable[[Outcome], float]) -> NDArray[np.float64]:
        """Of each seed."""
        return np.array([of(outcome) for outcome in self.outcomes[who, load]])

    def figure(self, who: str, load: int, of: Callable[[Outcome], float]) -> Figure:
        return Figure.of(self.values(who, load, of))

    def over(self, who: str, other: str, load: int, of: Callable[[Outcome], float]) -> str:
        """How many times the other's, seed by seed: mean, and from the least to the greatest."""
        times = self.values(who, load, of) / self.values(other, load, of)
        return f"{times.mean():.2f} ({times.min():.2f} to {times.max():.2f})"


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


def queue_mean_kb(outcome: Outcome) -> float:
    return float(queue_kb(outcome).mean())


def queue_kb(outcome: Outcome) -> NDArray[np.float64]:
    """Samples after the start."""
    assert outcome.samples is not None
    return outcome.samples.queue_bytes[outcome.samples.t_us > SETTLED_PS / 1e6].astype(np.float64) / 1e3


def port_gbps(outcome: Outcome) -> float:
    """Payload through the receiver's port."""
    return 25 * outcome.metrics["goodput"]


def slowdown(size: int, quantile: float | None) -> Callable[[Outcome], float]:
    """Of the messages of this size: mean, or a quantile."""

    def of(outcome: Outcome) -> float:
        assert outcome.samples is not None
        values = outcome.samples.completed_slowdown[outcome.samples.completed_bytes == size]
        return float(values.mean() if quantile is None else np.quantile(values, quantile))

    return of


def page(bed: Bed, seeds: int) -> str:
    """Of both loads the queue beside the paper's, and what messages take."""
    lines = [
        "# ACC beside its paper: messages of five sizes from two senders",
        made_by("rlcc run recipes/acc.toml && python -m papers.acc messages"),
        "",
        f"[ACC] section 5.2, figure 7, on {FABRIC}: {DURATION_PS // MS // 1000} s, {seeds} seeds, their mean and half "
        "of its 99 % interval; *times ACC's* is divided by ACC's of the same seed (least to greatest). The queue is "
        "the receiver's port's; a slowdown is a message's time over that in an empty network.",
        "",
    ]
    for load in LOADS:
        lines += [f"## {load} %", "", *queues(bed, load).splitlines(), "", *messages(bed, load).splitlines(), ""]
    return "\n".join([*lines, *JUDGED]) + "\n"


def queues(bed: Bed, load: int) -> str:
    rows = []
    for name in bed.who:
        figure = partial(bed.figure, name, load)
        paper = PAPER.get(name) if load == 60 else None
        rows.append(
            [
                name,
                figure(queue_mean_kb).text(1),
                figure(lambda o: float(queue_kb(o).std())).text(1),
                "{} ({})".format(*paper) if paper else "-",
                bed.over(name, "ACC", load, queue_mean_kb),
                f"{paper[0] / PAPER['ACC'][0]:.2f}" if paper else "-",
                figure(port_gbps).text(2),
            ]
        )
    return table(["", "queue KB", "deviation", "paper", "times ACC's", "paper", "port, Gb/s"], rows)


def messages(bed: Bed, load: int) -> str:
    """Slowdowns by size, each in the figures of ``OF``."""
    rows = [
        [
            f"{size_name}, {name}",
            *(bed.figure(name, load, slowdown(size, quantile)).text(2) for quantile in OF.values()),
            *(bed.over(name, "ACC", load, slowdown(size, quantile)) for quantile in OF.values()),
        ]
        for size, size_name in zip(SIZES, NAMES, strict=True)
        for name in bed.who
    ]
    return table(["slowdown", *OF, *(f"{of}, times ACC's" for of in OF)], rows)
