"""Deep deterministic policy gradients (Lillicrap et al. 2016; [AUTO] section 5.2.1), readable from top to bottom.

The policy's outputs after tanh are where between its ends each knob is set, a = mu(o). A round plays every scenario
with mu moved by noise, remembers all transitions, and on batches drawn from the memory

    the critic descends    (Q(o, a) - (r + gamma * Q'(o', mu'(o'))))^2
    the policy ascends     Q(o, mu(o))

less what keeps its outputs before tanh from going far beyond 2, where a wrong first guess of Q would leave them for
good: there tanh has no slope. mu' and Q' follow mu and Q slowly. The reward of a `level` is a ratio of what follows a
decision to what went before it, so that which round was best is not judged by it (a policy that is always as good has
1 throughout) but by the flows' mean completion time, the geometric mean over runs without noise. Flows, whose rate a
`multiplier` sets, are rewarded by what follows itself, and judged by it.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from decision.policy.policy import Policy
from netsim.policies import native
from netsim.trials import run
from teachers.adam import adam
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.ddpg_options import Ddpg, DdpgConfig
from teachers.determinism import same_sums
from teachers.memory import PARTS, ReplayMemory, check_place, seed_of
from teachers.networks import seeded, torch
from teachers.playing import mean_reward, trajectories
from teachers.round_options import REWARD
from teachers.round_report import RoundReport
from teachers.save import save
from teachers.scalars import geometric_mean
from teachers.teacher import Weights, make_teacher
from teachers.training_log import TrainingLog, log_path
from teachers.transitions import Transitions, growing, transitions

Progress = Callable[[str], None]
METRIC = "fct_mean_us"
BENT = 2.0
"""Of an output before tanh, from where on it costs something: tanh(2) is 0.96."""


class Critic(torch.nn.Module):
    """Q(o, a) [B] of observations [B, features] and actions [B, knobs]."""

    def __init__(self, policy: Policy, options: Ddpg) -> None:
        super().__init__()
        widths = [policy.observation.size + policy.action.outputs, *options.critic, 1]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in pairwise(widths))

    def forward(self, rows: "torch.Tensor", action: "torch.Tensor") -> "torch.Tensor":
        x = torch.cat([rows, action], 1)
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)[:, 0]  # type: ignore[no-any-return]


class DdpgLearner:
    """mu and Q, their copies, and what they learn from."""

    def __init__(self, policy: Policy, options: Ddpg) -> None:
        self.options = options
        self.network, self.target = (seeded(policy, options.seed) for _ in range(2))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            self.critic = Critic(policy, options)
        self.critic_target = Critic(policy, options)
        self.critic_target.load_state_dict(self.critic.state_dict())
        self.optimizer = adam(self.network.parameters(), options.kernels, options.learning_rate)
        self.critic_optimizer = adam(self.critic.parameters(), options.kernels, options.critic_learning_rate)
        self.memory = ReplayMemory(options.memory)

    def act(self, network: "torch.nn.Module", rows: "torch.Tensor") -> "torch.Tensor":
        """[B, knobs], one knob too."""
        return network(rows).reshape(len(rows), -1)  # type: ignore[no-any-return]

    def learn(self, updates: int, random: np.random.Generator) -> float:
        """On so many batches of the memory; the critic's mean loss."""
        d = self.options
        lost = 0.0
        for _ in range(updates):
            before, action, reward, after, goes_on = self.memory.batch(d.batch, random)
            with torch.no_grad():
                value = self.critic_target(after, self.act(self.target, after))
                goal = reward + d.gamma * goes_on * value
            its = torch.nn.functional.mse_loss(self.critic(before, action), goal)
            self.critic_optimizer.zero_grad()
            its.backward()  # type: ignore[no-untyped-call]
            self.critic_optimizer.step()
            self.optimizer.zero_grad()
            outputs = self.network.logits(before).reshape(len(before), -1)
            beyond = torch.relu(outputs.abs() - BENT).square().mean()
            (beyond - self.critic(before, torch.tanh(outputs)).mean()).backward()
            self.optimizer.step()
            self._follow()
            lost += float(its.detach())
        return lost / updates

    @torch.no_grad()
    def _follow(self) -> None:
        for network, copy in ((self.network, self.target), (self.critic, self.critic_target)):
            for ahead, behind in zip(network.parameters(), copy.parameters(), strict=True):
                behind.lerp_(ahead, self.options.target_update_rate)

    def more(self, curve: list[tuple[int, float]]) -> dict[str, object]:
        """Returns what a checkpoint stores besides the weights."""
        assert self.memory.stored is not None
        parts = {name: torch.from_numpy(array) for name, array in vars(self.memory.stored).items()}
        states = {
            "target": self.target.state_dict(),
            "critic": self.critic.state_dict(),
            "critic_target": self.critic_target.state_dict(),
            "critic_optimizer": self.critic_optimizer.state_dict(),
        }
        return {"curve": curve, **states, **parts}

    def take(self, more: dict[str, object]) -> list[tuple[int, float]]:
        """Back to a checkpoint; its curve."""
        for name in ("target", "critic", "critic_target", "critic_optimizer"):
            getattr(self, name).load_state_dict(more[name])
        self.memory.stored = Transitions(*(more[name].numpy() for name in PARTS))  # type: ignore[attr-defined]
        return [(int(n), float(cost)) for n, cost in more["curve"]]  # type: ignore[attr-defined]


def train(config: DdpgConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """Train a teacher and write it to the folder ``out``; the checkpoint stands beside it until then, the log stays.

    The same configuration gives the same weights, resumed or not. InputError where ``out`` or the checkpoint is unfit.
    """
    check_place(out)
    with same_sums(config.ddpg.kernels):
        return _train(config, out, resume, progress or (lambda _: None))


def _train(config: DdpgConfig, out: Path, resume: bool, progress: Progress) -> RoundReport:
    d, yardstick = config.ddpg, config.yardstick
    learner = DdpgLearner(config.policy, d)
    kept = Checkpoint.first(learner.network.weights())
    curve: list[tuple[int, float]] = []
    path, decisions = checkpoint_path(out), 0
    if resume:
        kept, more = read_checkpoint(path, config, learner.network, learner.optimizer)
        curve, decisions = learner.take(more), int(more["decisions"])
    with TrainingLog(log_path(out), "round", kept.episode) as log:
        while not d.over(kept.episode, decisions):
            number = kept.episode
            new = played(config, learner.network.weights(), number)
            learner.memory.add(new)
            decisions += len(new)
            lost = learner.learn(d.updates, np.random.default_rng([d.seed, number]))
            value: float | None = None
            if d.judged(number + 1, decisions):
                value = validate(config, learner.network.weights())
                curve.append((number + 1, value))
            cost = None if value is None else -yardstick.better * value
            kept = kept.after(number + 1, cost, learner.network.weights())
            scalars = {
                "reward/played": float(np.mean(new.reward, dtype=np.float64)),
                f"{yardstick.name}/validation": value,
                "loss/critic": lost,
                "exploring": d.exploring(number),
                "transitions/played": len(new),
                "transitions/remembered": len(learner.memory),
            }
            log.add(number + 1, scalars)
            more = {**learner.more(curve), "decisions": decisions}
            write_checkpoint(path, config, learner.network, learner.optimizer, kept, more)
            best = -yardstick.better * kept.best_cost
            judged = "" if value is None else f", {yardstick.told.format(value)} (best {best:.4g})"
            progress(f"round {number + 1} of {d.rounds}, exploring {d.exploring(number):.2f}{judged}")
    best = -yardstick.better * kept.best_cost
    provenance = {
        **config.policy.provenance,
        "method": "DDPG",
        "seed": d.seed,
        "scenarios": d.scenarios,
        "rounds": kept.episode,
        "best_round": kept.best_episode,
        yardstick.kept: round(best, 6 if yardstick is REWARD else 3),
    }
    policy = config.policy.model_copy(update={"provenance": provenance})
    teacher = make_teacher(policy, kept.best_weights, "training")
    save(teacher, out, seed=d.seed, tools=("numpy", "safetensors", "torch"))
    path.unlink(missing_ok=True)
    return RoundReport(teacher, kept.episode, kept.best_episode, best, tuple(curve), yardstick)


def played(config: DdpgConfig, weights: Weights, number: int) -> Transitions:
    """Every scenario of a round, with noise."""
    d, actor = config.ddpg, native(config.policy, weights)
    places = [(name, seed_of(d.seed, number, index)) for index, name in enumerate(d.scenarios)]
    actors = [replace(actor, disturb=(d.exploring(number), seed)) for _, seed in places]
    memory = ReplayMemory(1 << 62)
    for its in trajectories(config, actors, places, d.episode):
        grows = not config.flows
        memory.add(
            growing(its, config.policy, d.reward, d.max_growth) if grows else transitions(its, config.policy, d.reward)
        )
    assert memory.stored is not None
    return memory.stored


def validate(config: DdpgConfig, weights: Weights) -> float:
    """Returns the recipe's yardstick without noise: for flows that learn their mean reward, else the flows' mean
    completion time in us, the geometric mean of all runs."""
    d, deployment = config.ddpg, config.deployment()
    if config.flows:
        return mean_reward(config, weights, d.episode)
    actor = native(config.policy, weights)
    trials = [
        deployment.trial(
            actor,
            name,
            seed=seed,
            duration_ps=d.episode,
            decision_latency_ps=d.decision_latency,
            window_ps=(d.episode // 5, d.episode),
        )
        for name in d.validation_scenarios
        for seed in d.validation_seeds
    ]
    return geometric_mean([outcome.metrics[METRIC] for outcome in run(trials)])
