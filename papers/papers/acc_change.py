"""A pattern that changes while ACC is at work ([ACC] section 6, figure 16): web search, data mining, and back.

Who learnt before keeps to it (the network, the tree), learns on where it is (online, from the trained weights), or
begins untrained, as the paper's "aggressive version without offline-training".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure as Canvas

from decision.artefact.documents import dump_json
from decision.artefact.manifest import sha256
from decision.artefact.output import write_atomically
from decision.artefact.sources import package_hash
from decision.ir.arrays import Floats
from netsim import Cohort, Simulation
from netsim.assembly import switches_of_queues
from netsim.build import simulator_hash
from netsim.content import content
from netsim.deployment import Deployment
from netsim.network import MS, US
from netsim.policies import native
from papers.acc_bed import Deciders
from papers.pictures import STYLE, svg
from rlcc.evaluation.pictures import COLOURS, LINES
from rlcc.origin import made_by
from rlcc.reports.pages import Figure, table
from teachers.ddqn import Learner
from teachers.ddqn_options import DdqnConfig
from teachers.online import OnlineLearning
from teachers.teacher import Teacher

PHASES = ("websearch", "datamining", "websearch", "datamining")
LOAD, FABRIC = 80, "leaf-spine:2x8x2:25/100"
PHASE_PS, SLICE_PS = 40 * MS, 5 * MS
"""What is measured of flows that end in a slice is looked at over time, and added up to a phase."""
SLICES = PHASE_PS // SLICE_PS
SCENARIO = f"{'>'.join(PHASES)}:{LOAD}%@{FABRIC}"
FLOWS = {"": "all", "mice_": "mice", "elephants_": "elephants"}
"""Of which flows the mean FCT is shown, as metrics begin."""
LEARNING: Mapping[str, Mapping[str, float]] = {
    "ACC online": {},
    "ACC untrained, online": {"exploration": 1.0, "learning_rate": 1e-3},
}
"""What each has otherwise than the recipe."""
SHARED = 0.5
"""Of what is new to a switch, what it gives to all and takes from there."""
CODE = package_hash(Path(__file__).parents[2] / "teachers")
MEASURED = ("completions", "fct_mean_us")
PAPER_SLICES = "each 500 ms, with changes at 4.5, 8.5 and 9.5 s"
PAPER = {"SECN1": -31.1, "SECN2": -56.2}
"""ACC's mean FCT against theirs over the whole experiment, in %."""
JUDGED = (
    "None of the paper's -31.1 and -56.2 %: over all flows nobody differs from the static settings by more than the "
    "seeds do. What was learnt before holds its gain for mice in all four phases, the tree as its network does: after "
    "this change no tree has to be distilled again. It is not unseen, though: the teacher met both workloads in "
    "training. Learning on gives most of that gain away: with 24 queues and 160 ms it drifts towards SECN2's longer "
    "queues, as the untrained network does, which has no bad phase to learn out of either. The paper's phases last "
    "seconds.",
)

JUDGED_16 = (
    "Neither the second of long completion times that the paper sees after its first change nor what it gains after "
    "that is here: in no half of a phase does the untrained network, or any other, differ from SECN1 by more than the "
    "seeds do. What all of them do over time is the traffic's: flows that are followed from an empty network, the few "
    "elephants of data mining, and at 77 ms hardly any flow that ends."
)

Slices = list[dict[str, float]]


@dataclass(frozen=True)
class Changed:
    """Of each seed the metrics of every slice, by who decided."""

    slices: Mapping[str, Sequence[Slices]]

    def means(self, who: str, flows: str, many: int) -> Floats:
        """us, [seeds, spans of ``many`` slices]: the mean FCT of the flows that end in a span; NaN where none does."""
        count, mean = (
            np.array([[each[f"{flows}{metric}"] for each in slices] for slices in self.slices[who]])
            for metric in MEASURED
        )
        total = np.where(count > 0, count * mean, 0)
        spent, ended = (each.reshape(len(each), -1, many).sum(2) for each in (total, count))
        means: Floats = np.divide(spent, ended, out=np.full(spent.shape, np.nan), where=ended > 0)
        return means

    def figure(self, who: str, phase: int, flows: str) -> Figure:
        return Figure.of(self.means(who, flows, SLICES)[:, phase])

    def against(self, who: str, other: str, flows: str) -> Figure:
        """By how many percent, of the mean over all phases."""
        ours, theirs = (self.means(name, flows, SLICES).mean(1) for name in (who, other))
        return Figure.of(100 * (ours / theirs - 1))

    def in_time(self, who: str, other: str, flows: str, many: int) -> list[Figure]:
        """By how many percent, of each span of so many slices."""
        return [Figure.of(off) for off in (100 * (self.means(who, flows, many) / self.means(other, flows, many) - 1)).T]


def played(
    deployment: Deployment,
    deciders: Deciders,
    teacher: Teacher,
    untrained: Teacher,
    config: DdqnConfig,
    seeds: Sequence[int],
    keep: Path,
    say: Callable[[str], None],
) -> Changed:
    """``teacher`` learns on, ``untrained`` from the beginning; the others stay as they are."""
    learners = dict(zip(LEARNING, (teacher, untrained), strict=True))
    slices: dict[str, list[Slices]] = {}
    for name in (*deciders, *learners):
        learner = learners.get(name)
        policy, late_ps = deciders.get(name, (None, 10 * US))
        if learner is not None:
            policy = native(learner.policy, learner.weights)
        assert policy is not None
        cohort = Cohort(policy, deployment.period_ps, late_ps)
        learns = None if learner is None else (learner, learning(config, name))
        slices[name] = [course(deployment, cohort, seed, learns, keep, say, name) for seed in seeds]
    return Changed(slices)


def course(
    deployment: Deployment,
    cohort: Cohort,
    seed: int,
    learns: tuple[Teacher, DdqnConfig] | None,
    keep: Path,
    say: Callable[[str], None],
    name: str,
) -> Slices:
    """The slices of ``name``, which decides as the cohort does, or learns on; those that are kept are not run again."""
    what = [simulator_hash(), SCENARIO, PHASE_PS, SLICE_PS, seed, content(cohort), content(deployment.network)]
    how = [] if learns is None else [learns[0].hash, learns[1].model_dump(mode="json"), SHARED, CODE]
    kept = keep / f"{sha256(dump_json([what, how]).encode())}.json"
    if not kept.exists():
        write_atomically(kept, json.dumps(_run(deployment, cohort, seed, learns)))
        say(f"{name}, seed {seed}")
    made: Slices = json.loads(kept.read_text())
    return made


def learning(config: DdqnConfig, who: str) -> DdqnConfig:
    """How one of LEARNING does."""
    return config.model_copy(update={"ddqn": config.ddqn.model_copy(update=dict(LEARNING[who]))})


def _run(deployment: Deployment, cohort: Cohort, seed: int, learns: tuple[Teacher, DdqnConfig] | None) -> Slices:
    """The metrics of each slice: of the flows that end in it."""
    assert deployment.flows is not None
    simulation = Simulation(
        SCENARIO,
        deployment.flows,
        seed=seed,
        duration_ps=len(PHASES) * PHASE_PS,
        decision_latency_ps=0,
        record=learns is not None,
        network=deployment.network,
        cohorts=[cohort],
    )
    advance: Callable[[int], object] = simulation.run
    if learns is not None:
        group = switches_of_queues(simulation.scenario, deployment.network)
        places = deployment.places(SCENARIO, seed, len(PHASES) * PHASE_PS)
        teacher, config = learns
        learners = [Learner(teacher.policy, config.ddqn, teacher.weights) for _ in range(int(group.max()) + 1)]
        random = np.random.default_rng([config.ddqn.seed, 1])
        advance = OnlineLearning(simulation, 1, config, learners, group, places, random, SHARED).advance
    slices = []
    for number in range(len(PHASES) * SLICES):
        simulation.reset_window()
        advance((number + 1) * SLICE_PS)
        metrics = simulation.metrics()
        slices.append({f"{flows}{name}": metrics[f"{flows}{name}"] for flows in FLOWS for name in MEASURED})
    return slices


def picture(changed: Changed) -> bytes:
    """The mean FCT of all flows and of elephants, over time, means of the seeds; a line where the pattern changes."""
    with rc_context(STYLE):
        canvas = Canvas(figsize=(6.8, 4.6), layout="constrained")
        panels = canvas.subplots(2, 1, sharex=True)
        for axes, flows in zip(panels, ("", "elephants_"), strict=True):
            for name, colour, line in zip(changed.slices, COLOURS, cycle(LINES), strict=False):
                means = changed.means(name, flows, 1)
                counted = np.isfinite(means).any(0)
                t_ms = (np.arange(means.shape[1]) + 0.5) * (SLICE_PS / MS)
                shown = np.nanmean(means[:, counted], axis=0) / 1e3
                axes.plot(t_ms[counted], shown, label=name, color=colour, linestyle=line, linewidth=0.9)
            for number in range(1, len(PHASES)):
                axes.axvline(number * PHASE_PS / MS, color="#999999", linewidth=0.6)
            axes.set_yscale("log")
            axes.set_ylabel(f"FCT of {FLOWS[flows]}, ms")
            axes.grid(linewidth=0.5, color="#DDDDDD")
            for put in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                put(lambda value, _: f"{value:g}" if f"{value:e}"[0] in "125" else "")
        panels[-1].set_xlabel("ms")
        handles, labels = panels[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
        return svg(canvas)


def by_phase(changed: Changed, flows: str, corner: str = "") -> str:
    """The mean FCT of such flows, a row who decided and a column a phase; ``corner``: of the heading."""
    head = [corner, *(f"{number + 1} {phase}" for number, phase in enumerate(PHASES))]
    rows = [[name, *(changed.figure(name, p, flows).text(0) for p in range(len(PHASES)))] for name in changed.slices]
    return table(head, rows)


def page(changed: Changed, seeds: int, config: DdqnConfig) -> str:
    """Tables a kind of flow, all phases beside the paper's figures, the course over time; ``config``: of learners."""
    assert config.ddqn.exchange is not None
    names = list(changed.slices)
    lines = [
        "# ACC beside its paper: a pattern that changes",
        made_by("rlcc run recipes/acc.toml && python -m papers.acc change"),
        "",
        f"`{SCENARIO}`: {len(PHASES)} phases of {PHASE_PS // MS} ms, {seeds} seeds, mean and half of its 99 % "
        "interval. *ACC* and *ACC tree* keep to what they learnt before; *online* learns on, a network a switch that "
        f"exchanges experience every {config.ddqn.exchange // MS} ms, from these weights or untrained ones, as "
        "[`recipes/train-acc-online.toml`](../../docs/reference/training.md#going-on-from-a-teacher) says.",
        "",
    ]
    for flows, label in FLOWS.items():
        lines += [f"Mean FCT of {label}, us:", "", *by_phase(changed, flows).splitlines(), ""]
    learnt = [name for name in names if name.startswith("ACC")]
    against = [
        [
            f"against {other}, {label}",
            f"{PAPER[other]:+.1f}" if not flows else "-",
            *(changed.against(name, other, flows).text(1) for name in learnt),
        ]
        for flows, label in FLOWS.items()
        for other in PAPER
    ]
    halves = [f"{number + 1} {half}" for number in range(len(PHASES)) for half in ("early", "late")]
    course = [[name, *(f.text(0) for f in changed.in_time(name, "SECN1", "", SLICES // 2))] for name in learnt]
    lines += [
        "Mean FCT over all phases against the static settings, in %:",
        "",
        *table(["", "paper", *learnt], against).splitlines(),
        "",
        *JUDGED,
        "",
        "## Figure 16: over time",
        f"What ends in each {SLICE_PS // MS} ms. The paper's is of {PAPER_SLICES}.",
        "",
        "![mean FCT over time](figures/acc-figure-16.svg)",
        "",
        "Against SECN1, of all flows that end in the first half of a phase and in the second, in %:",
        "",
        *table(["", *halves], course).splitlines(),
        "",
        JUDGED_16,
    ]
    return "\n".join(lines) + "\n"
