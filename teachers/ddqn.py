"""Double deep Q-learning (van Hasselt 2016; [ACC] section 3.4), readable from top to bottom.

The network's outputs are Q(o, a), one a row of the action's table; the greatest is chosen, or, with some probability,
any. A round plays every scenario with the weights of its begin, remembers all transitions of all agents ([ACC]'s
global replay), and descends

    (Q(o, a) - (r + gamma * Q'(o', argmax_a' Q(o', a'))))^2 / 2, linear beyond 1

on batches drawn from the memory; Q' is a copy of Q from some updates ago. If the outputs form groups, a row of each
group is chosen and each group has its Q; the goal of all is r + gamma times the mean of theirs (branching Q: Tavakoli
2018). A queue's life has no end: it is asked for as long as the network runs. If a life has an end, only r follows its
last decision. Training begins with weights of the seed's, or with those of a teacher that it goes on from; then these
are judged first, and stay where nothing better is found. Learning while networks run on is in teachers/online.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from decision.policy.actions import Choice
from decision.policy.policy import Policy
from netsim.policies import native
from teachers.adam import adam
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.ddqn_options import Ddqn, DdqnConfig
from teachers.determinism import same_sums
from teachers.load import load
from teachers.memory import PARTS, ReplayMemory, check_place, seed_of
from teachers.networks import PolicyNetwork, seeded, torch
from teachers.playing import mean_reward, trajectories
from teachers.round_options import REWARD
from teachers.round_report import RoundReport
from teachers.save import save
from teachers.teacher import Teacher, Weights, make_teacher
from teachers.training_log import TrainingLog, log_path
from teachers.transitions import Transitions, transitions

Progress = Callable[[str], None]


def loss(
    network: PolicyNetwork,
    target: PolicyNetwork,
    batch: list["torch.Tensor"],
    gamma: float,
    groups: Sequence[int] | None = None,
) -> "torch.Tensor":
    """Returns the loss of DDQN, the mean over a batch and the groups of outputs; None: all are one."""
    before, action, reward, after, goes_on = batch
    values = network.logits(before)
    sizes = [values.shape[1]] if groups is None else list(groups)
    with torch.no_grad():
        best = torch.split(network.logits(after), sizes, 1)
        worth = [
            part.gather(1, its.argmax(1, keepdim=True))[:, 0]
            for part, its in zip(torch.split(target.logits(after), sizes, 1), best, strict=True)
        ]
        goal = reward + gamma * goes_on * torch.stack(worth).mean(0)
    parts = zip(torch.split(values, sizes, 1), rows_of(action, sizes), strict=True)
    taken = [part.gather(1, row[:, None])[:, 0] for part, row in parts]
    return torch.nn.functional.smooth_l1_loss(torch.stack(taken), goal.expand(len(sizes), -1))


def rows_of(number: "torch.Tensor", sizes: Sequence[int]) -> list["torch.Tensor"]:
    """The row chosen in each group [B], of the numbers of combinations [B] (decision/policy/actions/choice.py)."""
    rows = []
    for size in reversed(sizes):
        rows.append(number % size)
        number = number // size
    return rows[::-1]


class Learner:
    """Q, the copy Q', and what Q learns from. ``weights``: what it begins with, in place of those of the seed;
    ``trigger``: Q of the policy's trigger in place of its own."""

    def __init__(self, policy: Policy, options: Ddqn, weights: Weights | None = None, trigger: bool = False) -> None:
        self.options = options
        self.groups = policy.action.sizes if isinstance(policy.action, Choice) and not trigger else None
        self.network, self.target = (seeded(policy, options.seed, trigger) for _ in range(2))
        if weights is not None:
            self.network.take(weights)
            self.target.take(weights)
        self.optimizer = adam(self.network.parameters(), options.kernels, options.learning_rate)
        self.memory = ReplayMemory(options.memory)

    def rate(self, done: float) -> None:
        """Set the learning rate where so much of the training, 0 to 1, is done."""
        d = self.options
        for group in self.optimizer.param_groups:
            group["lr"] = d.learning_rate + (d.final_learning_rate - d.learning_rate) * done

    def learn(self, updates: int, before: int, random: np.random.Generator) -> float:
        """Descend on so many batches of the memory, after ``before`` others; the mean loss."""
        d = self.options
        lost = 0.0
        for update in range(before, before + updates):
            if update % d.target_every == 0:
                self.target.load_state_dict(self.network.state_dict())
            self.optimizer.zero_grad()
            its = loss(self.network, self.target, self.memory.batch(d.batch, random), d.gamma, self.groups)
            its.backward()  # type: ignore[no-untyped-call]
            self.optimizer.step()
            lost += float(its.detach())
        return lost / updates


@dataclass(frozen=True)
class Learnt:
    """Result of a round: decisions that were learnt from, and the means of their rewards and of the losses."""

    decisions: int
    reward: float
    loss: float


Round = Callable[[DdqnConfig, Learner, int], Learnt]
"""Plays the round of this number with the learner, which learns."""


def learn_round(config: DdqnConfig, learner: Learner, number: int) -> Learnt:
    """Every scenario is played, side by side, and then learnt from."""
    d = config.ddqn
    new = _played(config, learner.network.weights(), number)
    learner.memory.add(new)
    lost = learner.learn(d.updates, number * d.updates, np.random.default_rng([d.seed, number]))
    return Learnt(len(new), float(np.mean(new.reward, dtype=np.float64)), lost)


def train(
    config: DdqnConfig,
    out: Path,
    resume: bool = False,
    progress: Progress | None = None,
    learn: Round = learn_round,
) -> RoundReport:
    """Train a teacher and write it to the folder ``out``; the checkpoint stands beside it until then, the log stays.

    The same configuration gives the same weights, resumed or not. InputError where ``out`` or the checkpoint is unfit.
    """
    check_place(out)
    with same_sums(config.ddqn.kernels):
        return _train(config, out, resume, progress or (lambda _: None), learn)


def _train(config: DdqnConfig, out: Path, resume: bool, progress: Progress, learn: Round) -> RoundReport:
    d = config.ddqn
    learner = Learner(config.policy, d, None if d.start is None else load(Path(d.start)).weights)
    kept, curve, decisions = Checkpoint.first(learner.network.weights()), [], 0
    if resume:
        kept, more = read_checkpoint(checkpoint_path(out), config, learner.network, learner.optimizer)
        learner.target.load_state_dict(more["target"])
        learner.memory.stored = Transitions(*(more[name].numpy() for name in PARTS))
        curve, decisions = [(int(n), float(r)) for n, r in more["curve"]], int(more["decisions"])
    elif d.start is not None:
        reward = validate(config, kept.best_weights)
        kept, curve = kept.after(0, -reward, kept.best_weights), [(0, reward)]
        progress(f"as it is, reward {reward:.4f}")
    with TrainingLog(log_path(out), "round", kept.episode) as log:
        while not d.over(kept.episode, decisions):
            number = kept.episode
            learner.rate(d.done(number, decisions))
            learnt = learn(config, learner, number)
            decisions += learnt.decisions
            judged_by: float | None = None
            if d.judged(number + 1, decisions):
                judged_by = validate(config, learner.network.weights())
                curve.append((number + 1, judged_by))
            kept = kept.after(number + 1, None if judged_by is None else -judged_by, learner.network.weights())
            scalars = {
                "reward/played": learnt.reward,
                "reward/validation": judged_by,
                "loss": learnt.loss,
                "exploring": d.exploring(number * d.steps),
                "learning_rate": learner.optimizer.param_groups[0]["lr"],
                "transitions/played": learnt.decisions,
                "transitions/remembered": len(learner.memory),
            }
            log.add(number + 1, scalars)
            path = checkpoint_path(out)
            write_checkpoint(path, config, learner.network, learner.optimizer, kept, more_of(learner, curve, decisions))
            judged = "" if judged_by is None else f", reward {judged_by:.4f} (best {-kept.best_cost:.4f})"
            progress(f"round {number + 1} of {d.rounds}, exploring {d.exploring(number * d.steps):.2f}{judged}")
    teacher = _finished(config, kept)
    save(teacher, out, seed=d.seed, tools=("numpy", "safetensors", "torch"))
    checkpoint_path(out).unlink(missing_ok=True)
    return RoundReport(teacher, kept.episode, kept.best_episode, -kept.best_cost, tuple(curve), REWARD)


def more_of(learner: Learner, curve: list[tuple[int, float]], decisions: int) -> dict[str, object]:
    """Returns what a checkpoint stores besides the weights; ``decisions``: the number played."""
    assert learner.memory.stored is not None
    parts = {name: torch.from_numpy(array) for name, array in vars(learner.memory.stored).items()}
    return {"target": learner.target.state_dict(), "curve": curve, "decisions": decisions, **parts}


def _played(config: DdqnConfig, weights: Weights, number: int) -> Transitions:
    """Every scenario of a round, side by side."""
    d, actor = config.ddqn, native(config.policy, weights)
    places = [(name, seed_of(d.seed, number, index)) for index, name in enumerate(d.scenarios)]
    actors = [replace(actor, explore=(d.exploring(number), seed)) for _, seed in places]
    memory = ReplayMemory(1 << 62)
    for played in trajectories(config, actors, places, d.episode):
        memory.add(transitions(played, config.policy, d.reward, d.idle_every))
    assert memory.stored is not None
    return memory.stored


def validate(config: DdqnConfig, weights: Weights) -> float:
    """The mean reward of a transition where the best is always chosen; each scenario counts alike."""
    return mean_reward(config, weights, config.ddqn.episode)


def _finished(config: DdqnConfig, kept: Checkpoint) -> Teacher:
    d = config.ddqn
    provenance = {
        **config.policy.provenance,
        "method": "DDQN",
        **({} if d.start is None else {"start": d.start}),
        "seed": d.seed,
        "scenarios": d.scenarios,
        "rounds": kept.episode,
        "best_round": kept.best_episode,
        "reward": round(-kept.best_cost, 6),
    }
    return make_teacher(config.policy.model_copy(update={"provenance": provenance}), kept.best_weights, "training")
