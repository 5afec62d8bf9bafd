"""AuTO's comparison: thresholds by sRLA, long flows by lRLA, both, beside quantised SJF and LAS, and DCTCP alone.

    rlcc run recipes/auto-srla.toml && rlcc run recipes/auto-lrla.toml
    python -m papers.auto [--seeds N] [--where PLACE]

Whoever decides stands in the paper's network of 32 machines in three planes; what the paper prints stands beside.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.ir.interfaces.mlfq_thresholds import MLFQ_THRESHOLDS
from netsim import scenarios
from netsim.baselines import BaselineSpec, by_name
from netsim.cohorts import Cohort
from netsim.demotion import By, thresholds
from netsim.network import MS, US, Network
from netsim.places import Place as Where
from netsim.policies import NativePolicy, PolicySpec, native
from netsim.result_store import Kept
from netsim.statistics import confidence
from netsim.trials import Trial
from netsim.trials import run as run_trials
from papers import auto_cost, contenders
from papers.contenders import INT8_CYCLES
from papers.runs import Metrics, percent_off, say
from rlcc.commands.run_location import add_options, place_of
from rlcc.origin import made_by
from rlcc.policies import by_path
from teachers.load import load

PAGE = contenders.PAGES / "auto.md"
FABRIC = "planes:3x32:1"
PERIOD_PS = 20 * MS
PATH_PS = 10 * MS
"""From a decision to what follows from it ([AUTO] section 6.2.3: the server answers within 10 ms on average)."""
LONG_PERIOD_PS = 12 * MS
"""How often long flows are looked at (recipes/auto-lrla.toml); a decision has to be there before the next."""
LATENCIES_PS = (10 * US, MS, 10 * MS)
LONG_THRESHOLDS = (100_000, 300_000, 1_000_000)
"""In the network that lRLA learnt in."""
LIMITS = (1 << 16, 1 << 15, 1 << 14)
"""lRLA's limits, of line rate 2^16."""
FIXED = "websearch", 80
"""What the fixed thresholds are for ([AUTO] section 6: the DCTCP distribution at 80 %)."""

HEURISTICS: dict[str, By] = {"QLAS": "sent", "QSJF": "size"}
SEARCH_SEED = 101
LONG_ALONE = "lRLA's thresholds"
ANY_ROW = "any of lRLA's rows"
FORMS = ("network", "tree")
GAINED = {"fct_mean_us": "mean FCT", "fct_p99_us": "p99"}
"""What the paper's gains are of, by metric."""
WHOLE = {"network": "AuTO, networks", "tree": "AuTO, trees"}
"""Both halves together, by form."""

Loads = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Place:
    """A scenario: its phases, of each the loads of equal groups of machines; for how long flows come, and how many more
    such phases they have to end; what the paper says of it, and its gains against heuristics by metric, %."""

    title: str
    phases: tuple[Loads, ...]
    arrivals_ps: int
    idle: int
    paper: str
    gains: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def scenario(self) -> str:
        phases = ["+".join(f"{workload}:{percent}%" for workload, percent in groups) for groups in self.phases]
        return f"{'>'.join(phases)}>idle*{self.idle}@{FABRIC}"

    @property
    def duration_ps(self) -> int:
        return self.arrivals_ps // len(self.phases) * (len(self.phases) + self.idle)


SPATIAL = (("websearch", 60), ("websearch", 80), ("datamining", 60), ("datamining", 80))
PLACES = (
    Place(
        "Web search, 80 %",
        ((("websearch", 80),),),
        600 * MS,
        5,
        "up to -48.14 % against the heuristics",
        {"fct_mean_us": {"QSJF": -48.14, "QLAS": -48.14}},
    ),
    Place("Data mining, 80 %", ((("datamining", 80),),), 1500 * MS, 8, "as QLAS"),
    Place(
        "Spatially heterogeneous",
        (SPATIAL,),
        1000 * MS,
        14,
        "-37.20 % against QLAS (p99 -19.78 %), -27.95 % against QSJF (p99 -11.98 %)",
        {"fct_mean_us": {"QLAS": -37.20, "QSJF": -27.95}, "fct_p99_us": {"QLAS": -19.78, "QSJF": -11.98}},
    ),
    Place(
        "Changing in time",
        ((("websearch", 80),), (("datamining", 60),), (("websearch", 70),), (("datamining", 80),)),
        1200 * MS,
        45,
        "-8.71 % against QSJF in the last hour (p99 -9.18 %)",
        {"fct_mean_us": {"QSJF": -8.71}, "fct_p99_us": {"QSJF": -9.18}},
    ),
)
"""The loads of the paper's four clusters are lost in our text of it: these are ours."""


def network(by: By | None, rows: tuple[tuple[int, ...], ...] = ()) -> Network:
    """Of the paper; ``by``: what says a flow's class, None where all flows have one."""
    plain = Network(buffer_bytes=4 * 2**20)
    if by is None:
        return plain
    return replace(plain, class_weights=(0, 0, 0, 0), nic_priorities=True, class_by=by, demotion=rows)


@dataclass(frozen=True)
class Contender:
    """Who sets the classes: thresholds that stay, or agents with these thresholds to begin with."""

    name: str
    network: Network
    agents: tuple[Cohort, ...] = ()

    def trial(self, place: Place, seed: int) -> Trial:
        return Trial(
            place.scenario,
            by_name("dctcp-1g"),
            seed=seed,
            duration_ps=place.duration_ps,
            window_ps=(0, place.duration_ps),
            record_ps=place.arrivals_ps if self.agents else 0,
            network=self.network,
            cohorts=self.agents,
            name=self.name,
        )


@dataclass(frozen=True)
class Deciders:
    """Of each half of AuTO its network and its tree, by form; and of lRLA's rows any, drawn anew each time."""

    short: dict[str, PolicySpec]
    long: dict[str, PolicySpec]
    any_row: PolicySpec


def fixed(name: str, by: By, row: tuple[int, ...]) -> Contender:
    return Contender(name, network(by, (row,)))


def searched_name(heuristic: str) -> str:
    """The heuristic with thresholds that were searched for the scenario."""
    return f"{heuristic}, searched"


def candidates(place: Place, by: By) -> tuple[tuple[int, ...], ...]:
    """Thresholds that the search tries: theory's for the first phase's first load, divided by 1, 3 and 10, and those
    from 10 or 100 KB on, each 3 or 10 times the one before."""
    best = thresholds(*place.phases[0][0], 4, by)
    theory = [tuple(max(1, row // part) for row in best) for part in (1, 3, 10)]
    spread = [(first, first * ratio, first * ratio**2) for first in (10_000, 100_000) for ratio in (3, 10)]
    return tuple(dict.fromkeys([*theory, *spread]))


def of_place(deciders: Deciders | None, searched: Mapping[str, tuple[int, ...]]) -> list[Contender]:
    """Everybody in one scenario, for which the search chose these thresholds of each heuristic."""
    who = [Contender("DCTCP alone", network(None))]
    who += [fixed(name, by, thresholds(*FIXED, 4, by)) for name, by in HEURISTICS.items()]
    who += [fixed(searched_name(name), by, searched[name]) for name, by in HEURISTICS.items()]
    who.append(fixed(LONG_ALONE, "sent", LONG_THRESHOLDS))
    if deciders is None:
        return who
    whole = [both(name, deciders, PATH_PS, form) for form, name in WHOLE.items()]
    return [*who, *setting_thresholds(deciders), *deciding_flows(deciders), *whole]


def setting_thresholds(deciders: Deciders) -> list[Contender]:
    """sRLA alone."""
    first = network("sent", (thresholds(*FIXED, 4, "sent"),))
    return [Contender(f"sRLA, {form}", first, (Cohort(deciders.short[form], PERIOD_PS, PATH_PS),)) for form in FORMS]


def deciding_flows(deciders: Deciders) -> list[Contender]:
    """lRLA alone, and any of its rows."""
    specs = {f"lRLA, {form}": deciders.long[form] for form in FORMS} | {ANY_ROW: deciders.any_row}
    kept = network("sent", (LONG_THRESHOLDS,))
    return [Contender(name, kept, (Cohort(spec, LONG_PERIOD_PS, PATH_PS),)) for name, spec in specs.items()]


def both(name: str, deciders: Deciders, latency_ps: int, form: str = "tree") -> Contender:
    """sRLA and lRLA together."""
    agents = (
        Cohort(deciders.short[form], PERIOD_PS, latency_ps),
        Cohort(deciders.long[form], LONG_PERIOD_PS, latency_ps),
    )
    return Contender(name, network("sent", (LONG_THRESHOLDS,)), agents)


@dataclass(frozen=True)
class LongSet:
    """Of lRLA's decisions in one scenario: how many there were, and the shares that set each class, each limit and each
    path, and that left the flow on its path."""

    decisions: int
    classes: tuple[float, ...]
    limits: tuple[float, ...]
    paths: tuple[float, ...]
    stays: float

    @staticmethod
    def of(records: Sequence[Mapping[str, NDArray[np.generic]]]) -> "LongSet":
        def column(name: str) -> NDArray[np.int64]:
            return np.concatenate([np.asarray(each[name], dtype=np.int64) for each in records])

        def shares(name: str, values: Sequence[int]) -> tuple[float, ...]:
            return tuple(float((column(name) == value).mean()) for value in values)

        priority, limit, path = LONG_FLOW.mapped_names
        return LongSet(
            len(column(path)),
            shares(priority, range(4)),
            shares(limit, LIMITS),
            shares(path, range(3)),
            float((column(path) == column("active_0_path")).mean()),
        )

    def row(self) -> str:
        def joined(values: tuple[float, ...]) -> str:
            return ", ".join(f"{value:.0%}" for value in values)

        parts = (joined(self.classes), joined(self.limits), joined(self.paths), f"{self.stays:.1%}")
        return f"| {self.decisions:,} | {' | '.join(parts)} |"


@dataclass(frozen=True)
class Outcomes:
    """Metrics of each seed by scenario and by who decided; the thresholds that agents set, their means in KB. By
    scenario: those that the search chose of each heuristic, in bytes; what lRLA set, its network and its tree; how many
    flows came with each seed."""

    seeds: int
    metrics: dict[tuple[str, str], list[Metrics]]
    set_kb: dict[tuple[str, str], list[float]]
    searched: dict[str, dict[str, tuple[int, ...]]]
    long_set: dict[tuple[str, str], "LongSet"]
    came: dict[str, list[int]]

    def ended(self, place: Place) -> float:
        """Of the flows that came the share that ended, where it is least."""
        shares = [
            metrics["completions"] / came
            for (title, _), each in self.metrics.items()
            if title == place.title
            for metrics, came in zip(each, self.came[title], strict=True)
        ]
        return min(shares)

    def mean(self, place: Place, who: str, metric: str) -> float:
        return float(np.mean([m[metric] for m in self.metrics[place.title, who]]))

    def off(self, place: Place, who: str, other: str, metric: str) -> tuple[float, float]:
        """By how many per cent, seed by seed: the mean, and half of its 99 % interval."""
        each = percent_off(self.metrics[place.title, who], self.metrics[place.title, other], metric)
        return float(np.mean(each)), confidence(each)

    def against(self, place: Place, who: str, other: str, metric: str) -> str:
        mean, half = self.off(place, who, other, metric)
        return f"{mean:+.1f} ± {half:.1f}"


@contextmanager
def deciders_of(short: Path, long: Path) -> Iterator[Deciders]:
    """The shipped teachers, and the trees of these firmware folders."""
    with by_path(short) as srla, by_path(long) as lrla:
        assert not isinstance(srla.policy, BaselineSpec)
        assert not isinstance(lrla.policy, BaselineSpec)
        teachers = _teacher("auto-srla"), _teacher("auto-lrla")
        yield Deciders(
            {"network": teachers[0], "tree": srla.policy},
            {"network": teachers[1], "tree": lrla.policy},
            replace(teachers[1], explore=(1.0, 1)),
        )


def played(short: Path, long: Path, seeds: int, keep: Path, where: Where) -> Outcomes:
    """The search of each scenario, everybody everywhere, and both trees after other latencies where traffic changes."""
    searched = search(PLACES, keep, where)
    with deciders_of(short, long) as deciders:
        keys, trials = [], []
        for place in PLACES:
            who = of_place(deciders, searched[place.title])
            if len(place.phases) > 1:
                who += [both(_late(latency), deciders, latency) for latency in LATENCIES_PS]
            for contender in who:
                for seed in range(1, seeds + 1):
                    keys.append((place.title, contender.name))
                    trials.append(contender.trial(place, seed))
        outcomes = run_trials(trials, where, Kept(keep), say)
    metrics: dict[tuple[str, str], list[Metrics]] = {}
    set_kb: dict[tuple[str, str], list[float]] = {}
    decided: dict[tuple[str, str], list[Mapping[str, NDArray[np.generic]]]] = {}
    for key, outcome in zip(keys, outcomes, strict=True):
        metrics.setdefault(key, []).append(outcome.metrics)
        knobs = next((r for r in outcome.records if MLFQ_THRESHOLDS.knob_names[0] in r), None)
        if knobs is not None:
            set_kb[key] = [float(np.mean(knobs[knob])) / 1000 for knob in MLFQ_THRESHOLDS.knob_names]
        if key[1] in [f"lRLA, {form}" for form in FORMS]:
            decided.setdefault(key, []).append(outcome.records[1])
    long_set = {key: LongSet.of(each) for key, each in decided.items()}
    return Outcomes(seeds, metrics, set_kb, searched, long_set, {place.title: came(place, seeds) for place in PLACES})


def came(place: Place, seeds: int) -> list[int]:
    """How many flows a run has with each seed."""
    drawn = (
        scenarios.instantiate(place.scenario, seed, place.duration_ps, network(None)) for seed in range(1, seeds + 1)
    )
    return [len(each.flows) for each in drawn]


def search(places: Sequence[Place], keep: Path, where: Where) -> dict[str, dict[str, tuple[int, ...]]]:
    """Of each scenario and heuristic the candidate with the least mean FCT in one run, with a seed that is not compared
    by."""
    rows = [(place, name, row) for place in places for name, by in HEURISTICS.items() for row in candidates(place, by)]
    trials = [fixed(searched_name(name), HEURISTICS[name], row).trial(place, SEARCH_SEED) for place, name, row in rows]
    fct = [outcome.metrics["fct_mean_us"] for outcome in run_trials(trials, where, Kept(keep), say)]
    best: dict[str, dict[str, tuple[int, ...]]] = {place.title: {} for place in places}
    for at in sorted(range(len(rows)), key=lambda at: fct[at]):
        place, name, row = rows[at]
        best[place.title].setdefault(name, row)
    return best


def _teacher(name: str) -> NativePolicy:
    teacher = load(contenders.TEACHERS / name)
    return native(teacher.policy, teacher.weights)


def _late(latency_ps: int) -> str:
    return f"AuTO, trees, {latency_ps / MS:g} ms"


@dataclass(frozen=True)
class Costs:
    """Rows of the page's tables: a decision of each half beside networks, of long flows by their number, and the C."""

    short: list[str]
    long: list[str]
    grown: list[str]
    written: list[str]
    beside_metis: list[str]

    @staticmethod
    def of(short: Path, long: Path) -> "Costs":
        """Of what `rlcc run` wrote of each half."""
        one, other = auto_cost.taken(short), auto_cost.taken(long)
        own = auto_cost.own_network("auto-srla", short), auto_cost.own_network("auto-lrla", long)
        paper = auto_cost.PAPER_SHORT, auto_cost.PAPER_LONG
        return Costs(
            auto_cost.costs(one[0], own[0], paper[0]),
            auto_cost.costs(other[0], own[1], paper[1]),
            auto_cost.growth(other[0]),
            auto_cost.written({"sRLA": one, "lRLA": other}),
            [
                auto_cost.beside_metis(*half)
                for half in zip(("sRLA", "lRLA"), (one[0], other[0]), own, paper, strict=True)
            ],
        )


def page(o: Outcomes, cost: Costs) -> str:
    lines = [
        "# AuTO beside its paper",
        made_by("rlcc run recipes/auto-srla.toml && rlcc run recipes/auto-lrla.toml && python -m papers.auto"),
        "",
        "[AUTO] section 6: 32 machines with three NICs of 1 Gb/s, each on a switch of its own, base RTT 100 us, DCTCP, "
        "four queues of strict priority at NICs and switches. *QLAS* and *QSJF* are quantised least attained service "
        "and shortest job first with the thresholds that theory gives for web search at 80 % (`netsim/demotion.py`). "
        f"*Searched*: of {len(candidates(PLACES[0], 'sent'))} settings (theory's for the scenario's first load, "
        "divided by 1, 3 and 10; from 10 and 100 KB on, each 3 or 10 times the one before) the one with the least mean "
        f"FCT in one run of this very scenario, with seed {SEARCH_SEED}. *sRLA* starts from QLAS' thresholds and sets "
        f"others every {PERIOD_PS // MS} ms. *{LONG_ALONE}* ({', '.join(f'{b // 1000}' for b in LONG_THRESHOLDS)} KB) "
        f"are what *lRLA* learnt in and stands on: flows are long from 1 MB on, and looked at every "
        f"{LONG_PERIOD_PS // MS} ms; one call decides one flow. *{ANY_ROW}*: its 36 rows drawn evenly, each decision "
        "anew. *AuTO*: both, on lRLA's thresholds to begin with. What is decided holds "
        f"{PATH_PS // MS} ms later. Flows come for "
        f"{', '.join(str(place.arrivals_ps // MS) for place in PLACES)} ms in turn, to an empty network, and are then "
        "followed until they have ended: a mean over those that end while others come gains by every long flow that is "
        f"held back. {o.seeds} seeds; ± is half of the 99 % interval of the mean of paired differences. The paper's "
        "runs last hours.",
    ]
    for place in PLACES:
        who = [name for title, name in o.metrics if title == place.title and name not in map(_late, LATENCIES_PS)]
        lines += [
            "",
            f"## {place.title}",
            f"`{place.scenario}`. The paper, of AuTO's mean FCT: {place.paper}. Of {sum(o.came[place.title]):,} flows "
            f"{o.ended(place):.2%} ended at the least.",
            "",
            "| | mean FCT, us | % of QLAS' | % of QSJF's | p99, us | % of QLAS' | % of QSJF's |",
            "|---|---|---|---|---|---|---|",
        ]
        for name in who:
            mean, p99 = (o.mean(place, name, metric) for metric in ("fct_mean_us", "fct_p99_us"))
            means, tails = (
                " | ".join(o.against(place, name, other, metric) for other in HEURISTICS)
                for metric in ("fct_mean_us", "fct_p99_us")
            )
            lines.append(f"| {name} | {mean:,.0f} | {means} | {p99:,.0f} | {tails} |")
    changing = PLACES[-1]
    lines += ["", "## When a decision takes effect", f"Both trees in `{changing.scenario}`.", ""]
    lines += ["| after | mean FCT, us | % of the same after 10 ms |", "|---|---|---|"]
    for latency in LATENCIES_PS:
        name = _late(latency)
        off = o.against(changing, name, _late(LATENCIES_PS[-1]), "fct_mean_us")
        lines.append(f"| {latency / MS:g} ms | {o.mean(changing, name, 'fct_mean_us'):,.0f} | {off} |")
    lines += ["", "## Thresholds", "KB; of the agents the mean over the last seed's run.", ""]
    found = [f"{what}, first phase and group | searched" for what in ("theory, LAS", "theory, SJF")]
    lines += [f"| | sRLA, network | tree | {' | '.join(found)} |", "|---|---|---|---|---|---|---|"]
    for place in PLACES:
        columns = [o.set_kb[place.title, f"sRLA, {form}"] for form in FORMS]
        for heuristic, by in HEURISTICS.items():
            columns.append([b / 1000 for b in thresholds(*place.phases[0][0], 4, by)])
            columns.append([b / 1000 for b in o.searched[place.title][heuristic]])
        shown = " | ".join(", ".join(f"{kb:,.0f}" for kb in column) for column in columns)
        lines.append(f"| {place.title} | {shown} |")
    lines += [
        "",
        "## What lRLA sets",
        "Shares of decisions, all seeds; where it moves no flow, it does what its thresholds alone do.",
    ]
    lines += ["", "| | decisions | class 0, 1, 2, 3 | limit 1, 1/2, 1/4 | path 0, 1, 2 | stays on its path |"]
    lines += [
        "|---|---|---|---|---|---|",
        *(f"| {title}: {who} {each.row()}" for (title, who), each in o.long_set.items()),
    ]
    lines += [
        "",
        f"## What a decision takes on `{contenders.ENGINE}`",
        "Cycles of whole decisions over vectors, the slowest's us, and bytes of code and tables. lRLA's teacher is "
        "emitted in int8 and run. sRLA's sets levels, which no int8 network does yet, and the paper's networks do not "
        f"fit into the engine's 64 KiB: of these {INT8_CYCLES} cycles a multiply-add ([measured of "
        "others](../../docs/how-to/networks.md)) and a byte a weight, reckoned.",
    ]
    for title, rows in (("sRLA", cost.short), ("lRLA, one flow", cost.long)):
        heads = ("cycles, mean", "slowest", "us", "times the tree's", "bytes", "times the tree's")
        lines += ["", f"| {title} | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|", *rows]
    lines += [
        "",
        f"Metis, which made trees of AuTO's networks too, reports a {auto_cost.METIS_SHORTER} times shorter decision, "
        f"and of all its systems up to {auto_cost.METIS_FEWER} times fewer resources. {' '.join(cost.beside_metis)}",
        "",
        "## Its C",
        f"Compiled with `-O2` for `{contenders.ENGINE}`: CPU time of compiling and linking in s, bytes, cycles over "
        "the firmware's vectors. *Bound*: no input takes more, by ranges of words (`rlcc verify --bound`); *proved*: "
        "by the certificate of that code, where there is one, which shows that it is equal to its program too.",
        "",
        "| | compiler | compile, s | code | tables | stack | mean | slowest | bound | proved |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *cost.written,
        "",
        "## As flows grow",
        "All running long flows decided once, ms. The tree is called once a flow, with the flow and a summary of the "
        "others that does not grow; the means and slowest of its vectors, times the flows: making the summary is not "
        f"counted. The paper's network in int8 at {INT8_CYCLES} cycles a multiply-add, reckoned, not run: its first "
        "layer grows with the flows, its last by 36 rows a running one. The paper's own times are of its server, with "
        "what waits there.",
        "",
        "| running, ended | tree, mean | slowest | the paper's network | times the slowest | the paper's server |",
        "|---|---|---|---|---|---|",
        *cost.grown,
    ]
    return "\n".join([*lines, "", "## What it says", *_words(o)]) + "\n"


def _words(o: Outcomes) -> list[str]:
    """What the figures say, from the figures."""
    long = [_told(o, place, "lRLA, network", LONG_ALONE) for place in PLACES]
    random = [_told(o, place, "lRLA, network", ANY_ROW) for place in PLACES]
    short = [_told(o, place, "sRLA, network", "QLAS") for place in PLACES]
    whole = {other: [_told(o, place, WHOLE["tree"], other) for place in PLACES] for other in HEURISTICS}
    last = [o.set_kb[place.title, "sRLA, network"][-1] for place in PLACES]
    worst = {who: max(abs(o.off(place, f"{who}, tree", f"{who}, network", "fct_mean_us")[0]) for place in PLACES)
             for who in ("sRLA", "lRLA")}  # fmt: skip
    together = max(abs(o.off(place, WHOLE["tree"], WHOLE["network"], "fct_mean_us")[0]) for place in PLACES)
    return [
        f"**lRLA** against its thresholds alone: {'; '.join(long)}. Against {ANY_ROW}: {'; '.join(random)}.",
        "",
        f"**sRLA** against QLAS: {'; '.join(short)}. What it sets hardly differs from scenario to scenario (the last "
        f"threshold {min(last):,.0f} to {max(last):,.0f} KB), so it does not adapt, and it is not what theory sets. "
        "Its reward, a ratio of two noisy means, tells an agent little in the minute of one core that it learns for; "
        "the paper trains for 8 hours, and finds that sRLA's thresholds and an optimiser's perform alike.",
        "",
        f"**Both** against QLAS: {'; '.join(whole['QLAS'])}. Against QSJF, which knows the sizes of flows: "
        f"{'; '.join(whole['QSJF'])}.",
        "",
        f"The paper's gains: {'; '.join(_reproduced(o, place) for place in PLACES if place.gains)}.",
        "",
        f"Trees against their networks, mean FCT: within {worst['sRLA']:.1f} % (sRLA), {worst['lRLA']:.1f} % (lRLA) "
        f"and {together:.1f} % (both) everywhere.",
    ]


def _reproduced(o: Outcomes, place: Place) -> str:
    """Beside each of the paper's gains what both, as networks and as trees, have."""
    cells = []
    for metric, gains in place.gains.items():
        for other, theirs in gains.items():
            off = {form: o.off(place, name, other, metric) for form, name in WHOLE.items()}
            if max(mean for mean, _ in off.values()) <= theirs:
                said = "reproduced"
            else:
                near = max(mean - half for mean, half in off.values()) <= theirs
                said = "within the interval" if near else "**not reproduced**"
            ours = ", ".join(f"{form}s {mean:+.1f} ± {half:.1f} %" for form, (mean, half) in off.items())
            cells.append(f"{theirs:+.2f} % of the {GAINED[metric]} against {other} {said} ({ours})")
    return f"*{place.title}* {', '.join(cells)}"


def _told(o: Outcomes, place: Place, who: str, other: str) -> str:
    mean, half = o.off(place, who, other, "fct_mean_us")
    verdict = "not told from it" if abs(mean) <= half else "below" if mean < 0 else "above"
    return f"*{place.title}* {verdict} ({mean:+.1f} ± {half:.1f} %)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m papers.auto", description="AuTO's comparison beside ours.")
    parser.add_argument("--short", type=Path, default=Path("runs/auto-srla"), help="what rlcc run wrote of sRLA")
    parser.add_argument("--long", type=Path, default=Path("runs/auto-lrla"), help="what it wrote of lRLA")
    parser.add_argument("--seeds", type=int, choices=range(2, 100), metavar="N", default=8)
    add_options(parser)
    parser.add_argument("--out", type=Path, default=PAGE)
    parser.add_argument("--work", type=Path, default=contenders.ROOT / "build" / "papers", help="kept runs")
    options = parser.parse_args(arguments)
    try:
        cost = Costs.of(options.short, options.long)
        firmware = options.short / "firmware", options.long / "firmware"
        outcomes = played(*firmware, options.seeds, options.work / "runs", place_of(options))
        write_atomically(options.out, page(outcomes, cost).encode())
    except InputError as error:
        print(f"papers: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
