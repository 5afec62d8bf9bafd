"""A policy gradient (Williams 1992; [AUTO] section 4.2, lRLA), readable from top to bottom.

The network's outputs are logits, one a row of the action's table (priority, rate, path); a call decides one flow. While
it learns, a row is drawn with the probability pi(a | o) of its softmax, by one number for all decisions of a flow: by
another for each, the next would undo what one did before it can be told from noise. Afterwards the greatest is chosen.
If the outputs form groups, each has a softmax, a number of its own and a row: pi is the product of theirs.
A round plays every scenario several times with the same arrivals and other draws, and ascends in batches, a few passes
over them all,

    min(p A, clip(p) A) + entropy of pi(. | o)     A = (R - b) / its standard deviation, p = pi(a | o) / pi_drawn(a | o)

pi_drawn is the policy that drew; p is 1 at first, where the gradient is that of A log pi, and is held within `clip` of
1, so that later passes go no further than the draws can tell (Schulman et al. 2017).

The first round's policy mostly leaves a flow as it is: in the states that untrained weights lead to it learns to draw
what stands of each knob with `stay_probability`, and the other values evenly. From rows drawn evenly it has first to
learn that limits leave links idle; and as the greatest of equals is the same row for all, flows that were drawn onto
three paths go by one when there are no more draws.

R: what a decision answers for. The mean completion time of flows is the mean number of flows that are there, over their
rate of arrival (Little's law); so R is less the mean number of flows, in the `horizon` after the decision, that share a
machine with the decided one, itself among them. b is the mean R of the same flow's decision of the same number in all
plays of these arrivals: which flows come next is by far the most of R's variance, and the same in all of them (Mao et
al. 2019, input-dependent baselines). [AUTO]'s own reward is the ratio of mean throughputs of consecutive steps, one for
all flows of a step. Which round was best is judged by how long flows are there on average, without draws.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats32
from decision.policy.actions import Choice
from decision.policy.records import Trajectories
from netsim.answers import Lost
from netsim.network import US
from netsim.places import current_place
from netsim.policies import native
from netsim.simulation import Simulation
from netsim.trials import Trial
from teachers.adam import Optimizer, adam
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.determinism import same_sums
from teachers.memory import check_place, seed_of
from teachers.networks import PolicyNetwork, seeded, torch
from teachers.pg_options import Pg, PgConfig
from teachers.round_options import FCT
from teachers.round_report import RoundReport
from teachers.save import save
from teachers.scalars import geometric_mean
from teachers.teacher import Weights, make_teacher
from teachers.training_log import TrainingLog, log_path

STANDING = ("active_0_priority", "active_0_rate_q16", "active_0_path")
"""The signals that say what stands of the flow in question, in the order of a row's knobs."""
BEGIN_STEPS, BEGIN_RATE = 2000, 3e-3

Progress = Callable[[str], None]


@dataclass(frozen=True)
class FlowDecisions:
    """N decisions: the observations [N, features], the rows that were drawn [N, groups], the advantages R - b [N],
    and the knobs that stood before [N, knobs]."""

    observed: Floats32
    chosen: NDArray[np.int64]
    advantage: Floats32
    standing: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.chosen)


@dataclass(frozen=True)
class FlowLives:
    """F flows: when each came and went (a time after the end if it did not), and between which machines."""

    came_ps: NDArray[np.int64]
    went_ps: NDArray[np.int64]
    sender: NDArray[np.int64]
    receiver: NDArray[np.int64]


def returns(
    flow: NDArray[np.int64], at_ps: NDArray[np.int64], lives: FlowLives, horizon_ps: int
) -> NDArray[np.float64]:
    """R of decisions [N] of these flows at these times."""
    values = np.empty(len(flow))
    for i, (f, begin) in enumerate(zip(flow, at_ps, strict=True)):
        close = (lives.sender == lives.sender[f]) | (lives.receiver == lives.receiver[f])
        there = np.minimum(lives.went_ps, begin + horizon_ps) - np.maximum(lives.came_ps, begin)
        values[i] = -np.maximum(there[close], 0).sum() / horizon_ps
    return values


def advantages(value: NDArray[np.float64], plays: NDArray[np.int64], same: NDArray[np.int64]) -> NDArray[np.float64]:
    """R less its mean over the decisions that are the ``same`` in several plays; 0 where there is but one."""
    _, group = np.unique(np.stack([plays, same]), axis=1, return_inverse=True)
    group = group.reshape(-1)
    mean = np.bincount(group, value) / np.maximum(np.bincount(group), 1)
    return np.asarray(value - mean[group])


def staying(standing: NDArray[np.int64], table: NDArray[np.float64], stays: float) -> Floats32:
    """Probabilities of the table's rows [N, rows] for flows whose knobs stand so [N, knobs]: each stays with one
    probability, and becomes any other evenly."""
    probability = np.ones((len(standing), len(table)))
    for now, column in zip(standing.T, table.T, strict=True):
        values = np.unique(column)
        share = (1 - stays) / max(len(values) - 1, 1)
        each = np.where(values == now[:, None], stays, share)
        each /= each.sum(axis=1, keepdims=True)
        probability *= each[:, np.searchsorted(values, column)]
    normed: Floats32 = (probability / probability.sum(axis=1, keepdims=True)).astype(np.float32)
    return normed


def log_softmax(network: PolicyNetwork, observed: "torch.Tensor", sizes: Sequence[int]) -> list["torch.Tensor"]:
    """log pi(. | o) of each group [N, its rows]."""
    return [torch.log_softmax(part, dim=1) for part in torch.split(network.logits(observed), list(sizes), 1)]


def begin(network: PolicyNetwork, rows: FlowDecisions, action: Choice, d: Pg) -> None:
    """Towards a policy under which flows mostly stay as they are."""
    optimizer = adam(network.parameters(), d.kernels, BEGIN_RATE)
    random = np.random.default_rng([d.seed, BEGIN_STEPS])
    wanted, knob = [], 0
    for table in action.columns():
        wanted.append(
            torch.from_numpy(staying(rows.standing[:, knob : knob + table.shape[1]], table, d.stay_probability))
        )
        knob += table.shape[1]
    for _ in range(BEGIN_STEPS):
        part = random.integers(len(rows), size=d.batch)
        log_pi = log_softmax(network, torch.from_numpy(rows.observed[part]), action.sizes)
        likelihood = [(its[part] * log_p).sum(dim=1).mean() for its, log_p in zip(wanted, log_pi, strict=True)]
        optimizer.zero_grad()
        (-torch.stack(likelihood).sum()).backward()  # type: ignore[no-untyped-call]
        optimizer.step()


def ascend(
    network: PolicyNetwork,
    optimizer: Optimizer,
    rows: FlowDecisions,
    d: Pg,
    random: np.random.Generator,
    sizes: Sequence[int],
) -> float:
    """Passes over the decisions, of a choice in groups of these sizes; the mean entropy in nats before them."""
    observed, chosen = torch.from_numpy(rows.observed), torch.from_numpy(rows.chosen)
    advantage = torch.from_numpy(rows.advantage / max(float(rows.advantage.std()), 1e-6))

    def drawn(log_pi: list["torch.Tensor"], part: "torch.Tensor") -> "torch.Tensor":
        """log of the probability of what was drawn [N]."""
        return reduce(torch.add, [p.gather(1, chosen[part, k : k + 1])[:, 0] for k, p in enumerate(log_pi)])

    def nats(log_pi: list["torch.Tensor"]) -> "torch.Tensor":
        """Entropy [N]."""
        together = torch.cat(log_pi, dim=1)
        return -(together.exp() * together).sum(dim=1)

    with torch.no_grad():
        log_first = log_softmax(network, observed, sizes)
        entropy = float(nats(log_first).mean())
        log_drawn = drawn(log_first, torch.arange(len(rows)))
    for _ in range(d.epochs):
        order = torch.from_numpy(random.permutation(len(rows)))
        for part in order.split(d.batch):  # type: ignore[no-untyped-call]
            log_pi = log_softmax(network, observed[part], sizes)
            p = (drawn(log_pi, part) - log_drawn[part]).exp()
            held = p.clamp(1 - d.clip, 1 + d.clip)
            gain = torch.minimum(p * advantage[part], held * advantage[part])
            gain = gain + d.entropy * nats(log_pi)
            optimizer.zero_grad()
            (-gain.mean()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return entropy


def train(config: PgConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """Train a teacher and write it to the folder ``out``; the checkpoint stands beside it until then, the log stays.

    The same configuration gives the same weights, resumed or not. InputError where ``out`` or the checkpoint is unfit.
    """
    check_place(out)
    with same_sums(config.pg.kernels):
        return _train(config, out, resume, progress or (lambda _: None))


def _train(config: PgConfig, out: Path, resume: bool, progress: Progress) -> RoundReport:
    d = config.pg
    network = seeded(config.policy, d.seed)
    optimizer = adam(network.parameters(), d.kernels, d.learning_rate)
    action = config.policy.action
    assert isinstance(action, Choice)
    if d.stay_probability > 0 and not resume:
        begin(network, played(config, network.weights(), d.rounds)[0], action, d)
    kept, curve = Checkpoint.first(network.weights()), list[tuple[int, float]]()
    path = checkpoint_path(out)
    if resume:
        kept, more = read_checkpoint(path, config, network, optimizer)
        curve = [(int(n), float(cost)) for n, cost in more["curve"]]
    with TrainingLog(log_path(out), "round", kept.episode) as log:
        while kept.episode < d.rounds:
            number = kept.episode
            for group in optimizer.param_groups:
                done = number / max(d.rounds - 1, 1)
                group["lr"] = d.learning_rate + (d.final_learning_rate - d.learning_rate) * done
            rows, value = played(config, network.weights(), number)
            random = np.random.default_rng([d.seed, number])
            entropy = ascend(network, optimizer, rows, d, random, action.sizes)
            fct_us: float | None = None
            if d.judged(number + 1):
                fct_us = validate(config, network.weights())
                curve.append((number + 1, fct_us))
            kept = kept.after(number + 1, fct_us, network.weights())
            scalars = {
                "return/played": value,
                "fct_us/validation": fct_us,
                "entropy": entropy,
                "learning_rate": optimizer.param_groups[0]["lr"],
                "decisions/played": len(rows),
            }
            log.add(number + 1, scalars)
            write_checkpoint(path, config, network, optimizer, kept, {"curve": curve})
            judged = "" if fct_us is None else f", mean FCT {fct_us:.0f} us (best {kept.best_cost:.0f})"
            progress(f"round {number + 1} of {d.rounds}, entropy {entropy:.2f}{judged}")
    provenance = {
        **config.policy.provenance,
        "method": "policy gradient",
        "seed": d.seed,
        "scenarios": d.scenarios,
        "rounds": kept.episode,
        "best_round": kept.best_episode,
        "fct_mean_us": round(kept.best_cost, 3),
    }
    policy = config.policy.model_copy(update={"provenance": provenance})
    teacher = make_teacher(policy, kept.best_weights, "training")
    save(teacher, out, seed=d.seed, tools=("numpy", "safetensors", "torch"))
    path.unlink(missing_ok=True)
    return RoundReport(teacher, kept.episode, kept.best_episode, kept.best_cost, tuple(curve), FCT)


def played(config: PgConfig, weights: Weights, number: int) -> tuple[FlowDecisions, float]:
    """Every scenario of a round, each play with draws of its own; and the mean R."""
    d, deployment, action = config.pg, config.deployment(), config.policy.action
    assert isinstance(action, Choice)
    actor = native(config.policy, weights)
    trials, arrivals = [], []
    for index, name in enumerate(d.scenarios):
        for play in range(d.rollouts_per_scenario):
            drawing = replace(
                actor, draw=seed_of(d.seed, number, len(d.scenarios) + index * d.rollouts_per_scenario + play)
            )
            arrivals.append(index)
            trials.append(
                deployment.trial(
                    drawing,
                    name,
                    seed=seed_of(d.seed, number, index),
                    duration_ps=d.episode + d.horizon,
                    record_ps=d.episode,
                    decision_latency_ps=d.decision_latency,
                )
            )
    observed, chosen, value, plays, same, standing = [], [], [], [], [], []
    for index, (records, lives) in zip(arrivals, _all_followed(trials), strict=True):
        rows = Trajectories.of(records, config.policy.observation.agents)
        flow, when = (rows.columns[name].astype(np.int64) for name in (rows.interface.agent, "t_ps"))
        observed.append(rows.float_rows(config.policy.observation)[0].astype(np.float32))
        label = action.label(np.stack(list(rows.decided().values()), axis=1).astype(np.float64))
        chosen.append(np.stack([np.argmax(part, axis=1) for part in action.split(label)], axis=1))
        value.append(returns(flow, when, lives, d.horizon))
        plays.append(np.full(len(rows), index))
        same.append(flow << 32 | rows.columns["step"].astype(np.int64))
        standing.append(np.stack([rows.columns[name].astype(np.int64) for name in STANDING], axis=1))
    every = np.concatenate(value)
    if not every.size:
        raise InputError("no flow was long in this round; take longer episodes, or a lower last threshold of demotion")
    against = advantages(every, np.concatenate(plays), np.concatenate(same)).astype(np.float32)
    parts = (np.concatenate(observed), np.concatenate(chosen), against, np.concatenate(standing))
    return FlowDecisions(*parts), float(every.mean())


Followed = tuple[dict[str, NDArray[np.generic]], FlowLives]


def _all_followed(trials: Sequence[Trial]) -> Iterator[Followed]:
    """One after the other; InputError where a process was lost."""
    answers = dict(current_place().answers(_followed, trials))
    for at, trial in enumerate(trials):
        answer = answers[at]
        if isinstance(answer, Lost):
            raise InputError(f"the process of {trial} was lost ({answer.reason}); go on with --resume")
        yield answer


def _followed(trial: Trial) -> Followed:
    """A trial's decisions, and all its flows to the end."""
    simulation = Simulation(
        trial.scenario,
        trial.policy,
        seed=trial.seed,
        duration_ps=trial.duration_ps,
        record=True,
        network=trial.network,
        cohorts=trial.cohorts,
    )
    simulation.run(trial.record_ps)
    records = dict(simulation.drain_records(1))
    simulation.start_recording(False)
    simulation.run(trial.duration_ps)
    scenario, window = simulation.scenario, simulation.window()
    planes = 1 if scenario.topology is None else scenario.topology.planes
    went = np.full(len(scenario.flows), np.iinfo(np.int64).max)
    went[window["completed_flow"]] = window["completed_finish_ps"]
    machines = (scenario.column(end).astype(np.int64) // planes for end in ("host", "receiver"))
    return records, FlowLives(scenario.column("start_ps").astype(np.int64), went, *machines)


def validate(config: PgConfig, weights: Weights) -> float:
    """For how long in us a flow is there on average, where the best is always chosen: the geometric mean of all runs.
    One that has not ended counts to the run's end: who holds long flows back for good must not gain by it."""
    d, deployment = config.pg, config.deployment()
    trials = [
        deployment.trial(
            native(config.policy, weights),
            name,
            seed=seed,
            duration_ps=d.validation_duration,
            decision_latency_ps=d.decision_latency,
        )
        for name in d.validation_scenarios
        for seed in d.validation_seeds
    ]
    there_us = [
        float(np.mean(np.minimum(lives.went_ps, d.validation_duration) - lives.came_ps)) / US
        for _, lives in _all_followed(trials)
    ]
    return geometric_mean(there_us)
