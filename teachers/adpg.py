"""Analytic deterministic policy gradient ([PCCRL] section 5, [RLCC] eq. 3), on-policy, readable from top to bottom.

The native simulator decides with the current weights and records; PyTorch computes pi(o_t) again on those rows and
follows

    grad = mean_t( (sum_j gamma^(j-1) delta_(t+j), j = 1..horizon) * grad pi(o_t) )  -  grad of the action difference

where delta = target - max(inflation - beta, 0) * sqrt(rate): raise the action where less congestion than the target
follows, lower it where more does. No critic, no exploration noise, no replay. Answering for the NEXT deltas, not for
the one observed, is what teaches damping: at the fixed point what follows is uncorrelated with what was seen.

An episode starts in an empty network and has ``segments`` updates; between two of them the flows just go on. A flow's
decisions answer for nothing after its end, and what others caused can be weighed apart (teachers/credit.py). An LSTM is
trained by truncated back-propagation: every segment starts from the hidden state that the simulator had there.
Checkpoints are taken between episodes, so that a resumed run repeats an uninterrupted one bit for bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from decision.artefact import manifest
from decision.artefact.errors import InputError
from decision.ir.arrays import Floats32
from decision.ir.formats import ACTION_BITS
from decision.ir.interfaces.flow_rate import CONTEXT_RATE_BITS
from decision.policy.policy import Policy
from decision.policy.records import ACTION, Trajectories
from netsim import Simulation
from netsim.network import Network
from netsim.places import Threads
from netsim.policies import NativePolicy, native
from netsim.simulation import Records, at_random, merge
from teachers.adam import Optimizer, adam
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.credit import Credit, Presence, answered, counted, to_go
from teachers.curriculum import TrainConfig, Training, Validation, congestion_feature
from teachers.determinism import same_sums
from teachers.flow_lifetimes import Lives
from teachers.load import load
from teachers.networks import PolicyNetwork, seeded, torch
from teachers.randomisation import draw, first_rates
from teachers.save import save
from teachers.teacher import Teacher, Weights, make_teacher
from teachers.training_log import TrainingLog, log_path
from teachers.validation import Changing, Measured, Steady, interval_ps, measure_all

Task = TypeVar("Task")
Answer = TypeVar("Answer")
PATIENCE = 16
"""How many times the usual duration a segment may take; in a flooded network decisions come late or never."""


@dataclass(frozen=True)
class EpisodeReport:
    """Report to progress after every episode; ``measured`` is empty where there was no validation."""

    episode: int
    episodes: int
    mean_square_delta: float
    cost: float | None
    best_cost: float
    measured: tuple[Measured | Changing, ...]


@dataclass(frozen=True)
class TrainReport:
    """The trained teacher (the best by validation), and how it came about."""

    teacher: Teacher
    episodes: int
    best_episode: int
    cost: float
    measured: tuple[Measured | Changing, ...]
    stopped_early: bool


Progress = Callable[[EpisodeReport], None]


def train(config: TrainConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> TrainReport:
    """Train a teacher and write it to the folder ``out``; the checkpoint stands beside it until then, the log stays.

    The same configuration gives the same weights, resumed or not. InputError where the start or checkpoint is unfit.
    """
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or (out / manifest.NAME).exists())):
        raise InputError(f"{out} is not an empty folder or a teacher; name another place before training for nothing")
    mode = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("error")  # as use_deterministic_algorithms(True), which imports the compiler too
    try:
        with same_sums(config.training.kernels):
            return _train(config, out, resume, progress)
    finally:
        torch.set_deterministic_debug_mode(mode)


def _train(config: TrainConfig, out: Path, resume: bool, progress: Progress | None) -> TrainReport:
    t, v = config.training, config.validation
    network = seeded(config.policy, t.seed)
    if t.start is not None:
        network.take(load(Path(t.start), config.policy).weights)
    optimizer = adam(network.parameters(), t.kernels, t.learning_rate, t.adam_eps)
    kept = Checkpoint.first(network.weights())
    if resume:
        kept, _ = read_checkpoint(checkpoint_path(out), config, network, optimizer)

    if t.episodes == 0:  # the weights of ``start`` under this policy
        kept = kept.after(0, cost_of(v, validate(config, network.weights())), network.weights())
    with TrainingLog(log_path(out), "episode", kept.episode) as log:
        while kept.episode < t.episodes and kept.stale < v.patience:
            for group in optimizer.param_groups:
                done = kept.episode / max(t.episodes - 1, 1)
                group["lr"] = t.learning_rate + (t.final_learning_rate - t.learning_rate) * done
            square, decisions = run_episode(config.learner, t, network, optimizer, kept.episode)
            episode = kept.episode + 1
            cost: float | None = None
            measured: tuple[Measured | Changing, ...] = ()
            if episode % v.every == 0 or episode == t.episodes:
                measured = validate(config, network.weights())
                cost = cost_of(v, measured)
            kept = kept.after(episode, cost, network.weights())
            scalars = {
                "mean_square_delta": square,
                "cost": cost,
                "learning_rate": optimizer.param_groups[0]["lr"],
                "decisions/played": decisions,
            }
            log.add(episode, scalars | {f"cost/{m.scenario}": m.cost for m in measured})
            write_checkpoint(checkpoint_path(out), config, network, optimizer, kept)
            if progress is not None:
                progress(EpisodeReport(episode, t.episodes, square, cost, kept.best_cost, measured))

    teacher = _finished(config, kept)
    save(teacher, out, seed=t.seed, tools=("numpy", "safetensors", "torch"))
    checkpoint_path(out).unlink(missing_ok=True)
    stopped = kept.episode < t.episodes
    return TrainReport(
        teacher, kept.episode, kept.best_episode, kept.best_cost, validate(config, teacher.weights), stopped
    )


def run_episode(
    policy: Policy, t: Training, network: PolicyNetwork, optimizer: Optimizer, episode: int
) -> tuple[float, int]:
    """All scenarios of the curriculum side by side, one update a segment. Mean squared delta over the episode, and how
    many decisions it had."""
    actor = native(policy, network.weights())
    runs = [AdpgRun(_begin(actor, t, episode, index), policy, t) for index in range(len(t.scenarios))]
    target = congestion_feature(policy).target
    squares, decisions = [], 0
    for _ in range(t.segments):
        segments = _side_by_side(partial(AdpgRun.advance, weights=network.weights()), runs)
        losses = []
        for run, segment in zip(runs, segments, strict=True):
            its = loss(network, segment, t, target)
            if its is not None:
                losses.append(its * (t.changing_weight if run.scenario.finite else 1.0))
        if losses:
            optimizer.zero_grad()
            torch.stack(losses).mean().backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(network.parameters(), t.max_gradient_norm)
            optimizer.step()
        squares += [float(np.mean(s.delta[s.mask()] ** 2)) for s in segments if s.mask().any()]
        decisions += sum(int(s.length.sum()) for s in segments)
    return float(np.mean(squares)) if squares else float("nan"), decisions


def _begin(actor: NativePolicy, t: Training, episode: int, index: int) -> Simulation:
    """One scenario of an episode, with all that is drawn for it."""
    seed = _seed(t.seed, episode, index)
    random = np.random.default_rng([t.seed, episode, index, 1])
    duration_ps = t.segments * t.segment_time
    around = draw(t.scenarios[index], t.randomise, random, seed, duration_ps)
    scenario = at_random(around.scenario, seed, duration_ps, around.network)
    return Simulation(
        scenario,
        actor,
        seed=seed,
        decision_latency_ps=around.decision_latency_ps,
        record=True,
        network=around.network,
        starts_q30=None if t.starts is None else first_rates(t.starts, len(scenario.flows), random),
    )


@dataclass(frozen=True)
class Segment:
    """Some decisions of every flow, or of every life of one: observations [T, B, features], deltas [T, B], how many are
    real [B], the LSTM's memory before the first [B, 2 H]; which lives are ``done`` [B], who was there, and which
    decisions were the policy's [T, B], not those of its flow's start."""

    rows: Floats32
    delta: Floats32
    length: NDArray[np.int64]
    memory: Floats32
    done: NDArray[np.bool_] | None = None
    presence: Presence | None = None
    own: NDArray[np.bool_] | None = None

    def mask(self) -> NDArray[np.bool_]:
        real = np.arange(len(self.rows))[:, None] < self.length[None, :]
        return real if self.own is None else real & self.own

    def counted(self, t: Training, target: float) -> NDArray[np.bool_]:
        """Decisions [T, B] that teach something: it is known what followed, and they are not left out."""
        done = np.zeros(self.length.shape, dtype=bool) if self.done is None else self.done
        known = answered(self.length, done, len(self.rows), t.horizon)
        return known & self.mask() & counted(self.delta / target, self.presence, t.credit, t.horizon)


def loss(network: PolicyNetwork, segment: Segment, t: Training, target: float) -> torch.Tensor | None:
    """Returns the loss of ADPG: its gradient is the one above. None where no decision teaches anything."""
    teaches = segment.counted(t, target)
    if not teaches.any():
        return None
    half = segment.memory.shape[1] // 2
    state = None
    if network.lstm is not None:
        memory = torch.from_numpy(segment.memory).unsqueeze(0)
        state = (memory[..., :half].contiguous(), memory[..., half:].contiguous())
    logits = network.logits(torch.from_numpy(segment.rows), state)
    outputs = torch.tanh(logits)

    delta = np.clip(segment.delta / target, -t.delta_limit, t.delta_limit)
    answers = torch.from_numpy(to_go(delta, segment.presence, t.credit, horizon=t.horizon, gamma=t.gamma))
    # A saturated tanh has no gradient: where the sign is wrong, a softsign beside it leads back.
    wrong = answers * logits.detach() < 0
    pushed = outputs + t.leak * wrong * torch.nn.functional.softsign(logits)
    gained = (answers * pushed)[torch.from_numpy(teaches)].mean()

    mask = segment.mask()
    both = mask[1:] & mask[:-1]
    if not both.any():
        return -gained
    changes = (outputs[1:] - outputs[:-1])[torch.from_numpy(both)]
    return t.action_difference * changes.square().mean() - gained


class AdpgRun:
    """One simulation of an episode, advanced segment by segment."""

    def __init__(self, simulation: Simulation, policy: Policy, t: Training) -> None:
        self.simulation = simulation
        self.policy = policy
        self.feature = congestion_feature(policy)
        self.scenario = scenario = simulation.scenario
        self.lives = Lives(scenario) if scenario.finite or t.credit != Credit() else None
        self.segment_ps = t.segment_time if scenario.finite else None
        flows_a_port = len(scenario.flows) // scenario.receivers
        self.step_ps = interval_ps(flows_a_port, simulation.network)
        self.usual_ps = (t.rollout + t.horizon) * self.step_ps
        self.wanted = (t.rollout + t.horizon) * len(scenario.flows)
        self.before: list[Records] = []
        self.places = simulation.places()

    def advance(self, weights: Weights) -> Segment:
        simulation = self.simulation
        simulation.set_weights(weights)
        memory = simulation.hidden_state()
        begin = simulation.now_ps
        if self.segment_ps is not None:
            simulation.run(begin + self.segment_ps)
            return self._segment(self._with_history(simulation.drain_records()), begin, memory)
        parts, decisions = [], 0
        while decisions < self.wanted and simulation.now_ps < begin + PATIENCE * self.usual_ps:
            simulation.run(simulation.now_ps + self.step_ps)
            parts.append(simulation.drain_records())
            decisions += parts[-1]["flow"].size
        return self._segment(self._with_history(merge(parts)), begin, memory)

    def _with_history(self, now: Records) -> Trajectories:
        """The segment before gives the first rows their history; what is older than that is not needed."""
        records, interface = merge([*self.before, now]), self.simulation.interfaces[0]
        trajectories = Trajectories.of(records, interface, self.places)
        self.before = [now]
        return trajectories

    def _segment(self, trajectories: Trajectories, begin_ps: int, memory: Floats32) -> Segment:
        rows, _ = trajectories.float_rows(self.policy.observation)
        observation = self.policy.observation
        delta = self.feature.float_value(trajectories.reading(observation), observation.place) / self.feature.factor
        columns = trajectories.columns
        fresh = np.flatnonzero(columns["t_ps"].astype(np.int64) >= begin_ps)
        flow, step = (columns[name][fresh].astype(np.int64) for name in ("flow", "step"))
        life, lives = flow, len(memory)
        if self.lives is not None:  # each life is a column of its own
            new = np.ones(fresh.size, dtype=bool)
            new[1:] = (flow[1:] != flow[:-1]) | (step[1:] == 0)
            life, lives = np.cumsum(new) - 1, int(new.sum())
            memory = np.where((step[new] > 0)[:, None], memory[flow[new]], np.float32(0))
        length = np.bincount(life, minlength=lives).astype(np.int64)
        place = np.arange(fresh.size) - np.repeat(np.cumsum(length) - length, length)

        def padded(values: NDArray[np.generic], kind: type) -> NDArray[Any]:
            table = np.zeros((int(length.max(initial=0)), lives, *values.shape[1:]), dtype=kind)
            table[place, life] = values
            return table

        table, deltas = padded(rows[fresh], np.float32), padded(delta[fresh], np.float32)
        own = None if self.policy.start is None else padded(trajectories.of_policy()[fresh], np.bool_)
        if self.lives is None:
            return Segment(table, deltas, length, memory, own=own)
        last = np.cumsum(length) - 1
        t_ps = columns["t_ps"][fresh].astype(np.int64)
        done = self.lives.done(self.simulation, flow[last], t_ps[last])
        begun, ended = self.lives.until(self.simulation, flow, t_ps)
        rate = columns["rate_q30"][fresh].astype(np.float64)
        asked = rate * (1 + columns[ACTION][fresh].astype(np.float64) / 2**ACTION_BITS)
        limits = self.policy.limits
        assert limits is not None
        presence = Presence(
            padded(step, np.int64),
            padded(rate / 2.0**CONTEXT_RATE_BITS, np.float32),
            padded((asked < limits.rate_min) | (asked > limits.rate_max), np.bool_),
            padded(begun, np.int64),
            padded(ended, np.int64),
        )
        return Segment(table, deltas, length, memory, done, presence, own)


def validate(config: TrainConfig, weights: Weights) -> tuple[Measured | Changing, ...]:
    """Closed-loop runs of the weights with every number of flows of the recipe, and in its changing traffic."""
    v = config.validation

    flows = [
        Steady(number, max(v.settle, v.intervals * interval), max(v.measure, v.intervals * interval))
        for number in v.flows
        for interval in [interval_ps(number, Network())]
    ]
    return measure_all(config.policy, weights, flows, v.changing, changing_ps=v.changing_time, seed=v.seed)


def _side_by_side(work: Callable[[Task], Answer], tasks: Sequence[Task]) -> list[Answer]:
    """Returns the results of each task in turn. On threads wherever trials run: the simulations of an episode go on in
    this process."""
    answers = dict(Threads().answers(work, tasks))
    return [answers[at] for at in range(len(tasks))]


def cost_of(v: Validation, measured: Sequence[Measured | Changing]) -> float:
    """The mean of many-to-one's costs, and the weighed one of changing traffic's."""
    steady = float(np.mean([m.cost for m in measured if isinstance(m, Measured)]))
    changing = [m.cost for m in measured if isinstance(m, Changing)]
    return steady + v.changing_weight * float(np.mean(changing)) if changing else steady


def _finished(config: TrainConfig, kept: Checkpoint) -> Teacher:
    provenance = {
        **config.policy.provenance,
        "method": "ADPG",
        "seed": config.training.seed,
        "scenarios": config.training.scenarios,
        "episodes": kept.episode,
        "best_episode": kept.best_episode,
        "cost": round(kept.best_cost, 6),
    }
    return make_teacher(config.policy.model_copy(update={"provenance": provenance}), kept.best_weights, "training")


def _seed(seed: int, episode: int, index: int) -> int:
    return int(np.random.SeedSequence([seed, episode, index]).generate_state(1)[0])
