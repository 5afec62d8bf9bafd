"""A pattern that changes while ACC is at work ([ACC] section 6, figure 16): web search, data mining, and back.

Who learnt before keeps to it (the network, the tree), learns on where it is (online, from the trained weights), or
begins untrained, as the paper's "aggressive version without offline-training".
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.papers.acc_bed import Deciders
from bench.papers.found import Figure, table
from decision.documents import dump_json, write_atomically
from decision.manifest import sha256
from netsim import Cohort, Simulation
from netsim.assembly import switches_of_queues
from netsim.build import simulator_hash
from netsim.content import content, package_hash
from netsim.deployment import Deployment
from netsim.network import MS, US
from netsim.policies import native
from netsim.statistics import confidence
from rlcc.origin import made_by
from teachers.ddqn import Learner
from teachers.ddqn_options import DdqnConfig
from teachers.online import OnlineLearning
from teachers.teacher import Teacher

PHASES = ("websearch", "datamining", "websearch", "datamining")
LOAD, FABRIC = 80, "leaf-spine:2x8x2:25/100"
PHASE_PS = 40 * MS
SCENARIO = f"{'>'.join(PHASES)}:{LOAD}%@{FABRIC}"
METRICS = {"fct_mean_us": "FCT mean us", "mice_fct_mean_us": "mice mean", "mice_fct_p99_us": "mice p99"}
LEARNING: Mapping[str, Mapping[str, float]] = {
    "ACC online": {},
    "ACC untrained, online": {"explore": 1.0, "learning_rate": 1e-3},
}
"""What each has otherwise than the recipe."""
SHARED = 0.5
"""Of what is new to a switch, what it gives to all and takes from there."""
CODE = package_hash(Path(__file__).parents[2] / "teachers")
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

Phases = list[dict[str, float]]


@dataclass(frozen=True)
class Changed:
    """Of each seed the metrics of every phase, by who decided."""

    phases: Mapping[str, Sequence[Phases]]

    def values(self, who: str, phase: int, metric: str) -> np.ndarray:
        return np.array([each[phase][metric] for each in self.phases[who]])

    def figure(self, who: str, phase: int, metric: str) -> Figure:
        values = self.values(who, phase, metric)
        return Figure(float(np.mean(values)), confidence(values))

    def against(self, who: str, other: str, metric: str) -> Figure:
        """By how many percent, of the mean over all phases."""
        off = []
        for ours, theirs in zip(self.phases[who], self.phases[other], strict=True):
            off.append(100 * (np.mean([p[metric] for p in ours]) / np.mean([p[metric] for p in theirs]) - 1))
        return Figure(float(np.mean(off)), confidence(off))


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
    phases: dict[str, list[Phases]] = {}
    for name in (*deciders, *learners):
        learner = learners.get(name)
        policy, late_ps = deciders.get(name, (None, 10 * US))
        if learner is not None:
            policy = native(learner.policy, learner.weights)
        assert policy is not None
        cohort = Cohort(policy, deployment.period_ps, late_ps)
        for seed in seeds:
            what = [simulator_hash(), SCENARIO, PHASE_PS, seed, content(cohort), content(deployment.network)]
            learns = None if learner is None else (learner, learning(config, name))
            how = [] if learns is None else [learns[1].model_dump(mode="json"), SHARED, CODE]
            kept = keep / f"{sha256(dump_json([what, how]).encode())}.json"
            if not kept.exists():
                made = _run(deployment, cohort, seed, learns)
                write_atomically(kept, json.dumps(made))
                say(f"{name}, seed {seed}")
            phases.setdefault(name, []).append(json.loads(kept.read_text()))
    return Changed(phases)


def learning(config: DdqnConfig, who: str) -> DdqnConfig:
    """How one of LEARNING does."""
    return config.model_copy(update={"ddqn": config.ddqn.model_copy(update=dict(LEARNING[who]))})


def _run(deployment: Deployment, cohort: Cohort, seed: int, learns: tuple[Teacher, DdqnConfig] | None) -> Phases:
    """The metrics of each phase: of the flows that end in it."""
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
    phases = []
    for number in range(len(PHASES)):
        simulation.reset_window()
        advance((number + 1) * PHASE_PS)
        phases.append({name: simulation.metrics()[name] for name in (*METRICS, "goodput", "queue_mean_us")})
    return phases


def page(changed: Changed, seeds: int, config: DdqnConfig) -> str:
    """A table a phase, and all of it beside the paper's figure; ``config``: of those that learn on."""
    assert config.ddqn.exchange is not None
    names = list(changed.phases)
    lines = [
        "# ACC beside its paper: a pattern that changes",
        made_by("rlcc run recipes/acc.toml && python -m bench.papers.acc change"),
        "",
        f"`{SCENARIO}`: {len(PHASES)} phases of {PHASE_PS // MS} ms, {seeds} seeds, mean and half of its 99 % "
        "interval. *ACC* and *ACC tree* keep to what they learnt before; *online* learns on, a network a switch that "
        f"exchanges experience every {config.ddqn.exchange // MS} ms, from these weights or untrained ones, as "
        "[`recipes/train-acc-online.toml`](../train.md#going-on-from-a-teacher) says.",
        "",
    ]
    head = ["", *(f"{number + 1} {phase} {label}" for number, phase in enumerate(PHASES) for label in ("FCT", "mice"))]
    rows = []
    for name in names:
        cells = []
        for number in range(len(PHASES)):
            cells += [changed.figure(name, number, m).text(0) for m in ("fct_mean_us", "mice_fct_mean_us")]
        rows.append([name, *cells])
    lines += [
        *table(head, rows).splitlines(),
        "",
        "Mean FCT in us over all phases against the static settings, in %:",
        "",
    ]
    learnt = [name for name in names if name.startswith("ACC")]
    against = [
        [
            f"against {other}",
            f"{theirs:+.1f}",
            *(changed.against(name, other, "fct_mean_us").text(1) for name in learnt),
        ]
        for other, theirs in PAPER.items()
    ]
    mice = [
        [f"against {other}, mice", "-", *(changed.against(name, other, "mice_fct_mean_us").text(1) for name in learnt)]
        for other in PAPER
    ]
    return "\n".join([*lines, *table(["", "paper", *learnt], [*against, *mice]).splitlines(), "", *JUDGED]) + "\n"
