"""Busy and idle queues ([ACC] section 4.2): what asking busy ones alone saves a switch's CPU, and what it costs flows.

A queue is idle once it has not exceeded the Kmin in force at so many looks in a row, and busy as soon as it does; an
idle one keeps its setting. The decisions of a switch's ports wait for one CPU.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.records import Columns, Trajectories
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.engines import Engines
from netsim.network import MS
from netsim.places import Place
from netsim.result_store import Kept
from netsim.trials import Trial, run
from papers.acc_bed import Deciders
from papers.runs import Metrics, percent_off, spread
from rlcc.origin import made_by
from rlcc.reports.pages import table
from teachers.ddqn_options import DdqnConfig
from teachers.transitions import rewards

LOADS = ("websearch:60%@acc-fabric", "datamining:60%@acc-fabric")
DURATION_PS, SETTLED_PS, RECORDED_PS = 30 * MS, 5 * MS, 10 * MS
SIGNAL, KNOB = "queue_bytes", "kmin_bytes"
LOOKS = {"every queue": 0, "busy, idle after 3": 3, "busy, idle after 1": 1}
"""The paper's rule is read both ways: below Kmin for "continuous three time slots", or below Kmin once."""
EVERY = next(iter(LOOKS))
SLOTS = 3
PAPER_SAVED = 10
"""Percent of the CPU, about."""
SHOWN = {
    "fct_mean_us": "FCT mean",
    "fct_p99_us": "p99",
    "mice_fct_mean_us": "mice mean",
    "mice_fct_p99_us": "mice p99",
    "elephants_fct_mean_us": "elephants mean",
    "queue_mean_us": "queue",
}


@dataclass(frozen=True)
class Idled:
    """Metrics of each seed by load and rule; ``still`` of each load the share of the looks at every queue at which the
    reward was the same for the third time, and of these the share at which the queue exceeded the Kmin in force;
    ``empty`` the share at which the queue was empty, and the Kmin that was set there most often, bytes."""

    metrics: Mapping[tuple[str, str], Sequence[Metrics]]
    still: Mapping[str, tuple[float, float]]
    empty: Mapping[str, tuple[float, int]]

    def mean(self, load: str, rule: str, metric: str) -> float:
        return float(np.mean([m[metric] for m in self.metrics[load, rule]]))

    def asked(self, load: str, rule: str) -> str:
        """Of the decisions of every queue, seed by seed, how many percent less."""
        return spread(percent_off(self.metrics[load, rule], self.metrics[load, EVERY], "engine_events"))

    def off(self, load: str, rule: str, metric: str) -> str:
        return spread(percent_off(self.metrics[load, rule], self.metrics[load, EVERY], metric))


def played(
    deployment: Deployment,
    deciders: Deciders,
    config: DdqnConfig,
    seeds: Sequence[int],
    where: Place,
    keep: Kept,
    say: Callable[[str], None],
) -> Idled:
    """The student's C in all networks by each rule; the first seed's decisions of the first rule are recorded."""
    policy, late_ps = deciders["ACC tree"]
    assert deployment.flows is not None
    places = [(load, rule, seed) for load in LOADS for rule in LOOKS for seed in seeds]
    trials = []
    for load, rule, seed in places:
        idle = (SIGNAL, KNOB, LOOKS[rule]) if LOOKS[rule] else None
        ports = Cohort(policy, deployment.period_ps, late_ps, Engines(1, "coalesce"), idle=idle)
        recorded = RECORDED_PS if rule == EVERY and seed == seeds[0] else 0
        window_ps = SETTLED_PS, DURATION_PS
        trials.append(
            Trial(
                load,
                deployment.flows,
                seed=seed,
                duration_ps=DURATION_PS,
                window_ps=window_ps,
                record_ps=recorded,
                network=deployment.network,
                cohorts=(ports,),
                name=rule,
            )
        )
    metrics: dict[tuple[str, str], list[Metrics]] = {}
    still: dict[str, tuple[float, float]] = {}
    empty: dict[str, tuple[float, int]] = {}
    for (load, rule, seed), trial, outcome in zip(places, trials, run(trials, where, keep, say), strict=True):
        metrics.setdefault((load, rule), []).append(outcome.metrics)
        if trial.record_ps:
            known = deployment.places(load, seed, DURATION_PS)
            still[load] = standing_still(outcome.records[1], known, config)
            empty[load] = at_empty(outcome.records[1])
    return Idled(metrics, still, empty)


def at_empty(records: Columns) -> tuple[float, int]:
    """Of recorded decisions: see `Idled.empty`."""
    empty = np.asarray(records[SIGNAL]) == 0
    values, times = np.unique(np.asarray(records[KNOB])[empty], return_counts=True)
    return float(empty.mean()), int(values[times.argmax()])


def standing_still(
    records: Columns, places: Mapping[str, NDArray[np.uint32]], config: DdqnConfig
) -> tuple[float, float]:
    """Of recorded decisions: see `Idled.still`."""
    played = Trajectories.of(records, QUEUE_MARKING, dict(places))
    values = rewards(played, config.policy.observation, config.ddqn.reward)
    same = np.ones(len(played), dtype=bool)
    for back in range(1, SLOTS):
        same[back:] &= values[back:] == values[:-back]
    same &= played.position >= SLOTS - 1
    above = np.zeros(len(played), dtype=bool)
    queue, kmin = (played.columns[name].astype(np.int64) for name in (SIGNAL, KNOB))
    above[1:] = queue[1:] > kmin[:-1]
    return float(same.mean()), float((same & above).sum() / max(same.sum(), 1))


def page(found: Idled, seeds: int) -> str:
    """As Markdown."""
    saved = [[f"`{load}`", rule, found.asked(load, rule), *_cpu(found, load, rule)] for load in LOADS for rule in LOOKS]
    costs = [
        [f"`{load}`", rule, *(found.off(load, rule, metric) for metric in SHOWN)]
        for load in LOADS
        for rule in LOOKS
        if rule != EVERY
    ]
    empty = [[f"`{load}`", f"{share:.1%}", f"{kmin / 1000:g}"] for load, (share, kmin) in found.empty.items()]
    stand = [[f"`{load}`", f"{same:.1%}", f"{above:.1%}"] for load, (same, above) in found.still.items()]
    return "\n".join(
        [
            "# ACC's busy and idle queues",
            "",
            made_by("rlcc run recipes/acc.toml && python -m papers.acc idle"),
            "",
            "[ACC] section 4.2: a queue that is shorter than its Kmin, or whose reward has not changed for three "
            "slots, is idle and its inference stops; once it is longer than Kmin it is busy again. The paper has about "
            f"{PAPER_SAVED} % less CPU by it. Here it is `idle` of "
            "[a cohort](../../docs/explanation/netsim.md#agents-beside-the-flows) and of "
            "[a recipe's agents](../../docs/reference/run.md#networks-and-agents), for agents of any kind: "
            "an agent whose signal has not exceeded a knob in force at so many looks in a row is not asked until it "
            "does. Whether three slots are of both conditions the paper does not say; *after 3* and *after 1* are "
            "the two readings.",
            "",
            f"The 288 hosts of [ACC's page](acc.md), {DURATION_PS // MS} ms of which {SETTLED_PS // MS} are "
            f"left out, {seeds} seeds; the C of the student sets each queue of a switch every 50 us, its ports wait "
            "for one `ibex-small`. *Decisions*: in percent of all, mean of the seeds (least to greatest).",
            "",
            "## What it saves",
            "",
            table(["network", "asked", "decisions, %", "CPU busy, mean switch", "busiest"], saved),
            "## What it costs",
            "In percent of what flows have where every queue is asked.",
            "",
            table(["network", "asked", *SHOWN.values()], costs),
            "An idle queue keeps the row that it was given last, as a rule that of an empty queue. Every queue asked, "
            f"the first {RECORDED_PS // MS} ms of the first seed: what empty queues are given most often. Where hardly "
            "a queue exceeds that Kmin (data mining: few long flows) hardly any is asked again, and queues stand at "
            "it that would have been given less.",
            "",
            table(["network", "looks at an empty queue", "Kmin given, KB"], empty),
            "## Rewards that stand still",
            f"Every queue asked, the first {RECORDED_PS // MS} ms of the first seed: looks at which the reward of "
            "[train-acc](../../recipes/train-acc.toml) is the same as at the two before, and in how many of these the "
            "queue exceeds its Kmin. Only the latter are not idle by the first condition already, and a queue above "
            "its Kmin is busy again at the next look: so the second condition is not built.",
            "",
            table(["network", "reward as twice before", "of these above Kmin"], stand),
        ]
    )


def _cpu(found: Idled, load: str, rule: str) -> list[str]:
    return [f"{found.mean(load, rule, f'engine_utilisation{end}'):.1%}" for end in ("", "_max")]
