"""Proximal policy optimisation (Schulman et al. 2017), readable from top to bottom; what the paper leaves open is as in
CleanRL's ppo_continuous_action.py and ppo.py.

The policy of a `table` draws a row by the softmax of the network's outputs; that of a `multiplier` draws where between
its ends the multiplier lies, a ~ N(tanh(output), deviation), and what lies beyond the ends is cut off. Once it has
learnt, nothing is drawn: the greatest is chosen, or the mean. A round goes on for some decisions of each flow of every
scenario, and ascends in passes over them

    min(p A, clip(p) A) + entropy - (V(o) - A - V_then(o))^2 / 2       p = pi(a | o) / pi_then(a | o)
    A(t) = sum_k (gamma lambda)^k (r(t+k) + gamma V(o(t+k+1)) - V(o(t+k)))

Decisions come one after the other of whichever flow's probe returns, so t + 1 is the next decision of the SAME flow
([PCCRL] appendix A keeps its rollouts apart by flow too), and r(t) is what the recipe's terms make of its event. The
last decision of each flow in a round has only V so far: the sum ends with it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir import exact
from decision.ir.arrays import Floats32
from decision.policy.actions import Table, scale_of
from decision.policy.policy import Policy
from netsim.environments.task import Task
from teachers.adam import adam
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.determinism import same_sums
from teachers.many_networks import ManyNetworks
from teachers.memory import check_place, seed_of
from teachers.networks import seeded, torch
from teachers.playing import mean_reward
from teachers.ppo_options import Ppo, PpoConfig
from teachers.round_options import REWARD
from teachers.round_report import RoundReport
from teachers.save import save
from teachers.teacher import make_teacher
from teachers.training_log import TrainingLog, log_path
from teachers.validation import interval_ps

Progress = Callable[[str], None]
PATIENCE = 16
"""How many times the usual duration a round may take; in a flooded network decisions come late or never."""
REWARD_LIMIT = 10.0
"""Of a scaled reward (CleanRL)."""
ENDED, OPEN = -1, -2
"""What may stand for the number of a flow's next decision: there is none, or it is not known yet."""


@dataclass(frozen=True)
class PpoRollout:
    """N decisions: observations [N, features], what was drawn [N] (a row, or where between -1 and 1, before it
    was cut off), log pi of that and V(o) when it was drawn [N], the reward [N], and the number of the same agent's next
    decision [N], ENDED or OPEN."""

    observed: Floats32
    drawn: Floats32
    log_pi: Floats32
    value: Floats32
    reward: Floats32
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.after)


def advantages(rollout: PpoRollout, reward: Floats32, gamma: float, gae_lambda: float) -> Floats32:
    """A [N] of the decisions, with these rewards; 0 of those that are OPEN."""
    found = np.zeros(len(rollout), dtype=np.float64)
    value = rollout.value.astype(np.float64)
    for i in range(len(rollout) - 1, -1, -1):
        after = rollout.after[i]
        if after == OPEN:
            continue
        then, more = (0.0, 0.0) if after == ENDED else (value[after], found[after])
        found[i] = reward[i] + gamma * then - value[i] + gamma * gae_lambda * more
    return found.astype(np.float32)


class PpoLearner:
    """pi and V, and how far discounted sums of rewards spread."""

    def __init__(self, policy: Policy, options: Ppo) -> None:
        self.options, self.rows = options, isinstance(policy.action, Table)
        self.network = seeded(policy, options.seed)
        widths = [policy.observation.size, *options.critic]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(options.seed)
            layers: list[torch.nn.Module] = []
            for before, units in zip(widths, options.critic, strict=False):
                layers += [torch.nn.Linear(before, units), torch.nn.Tanh()]
            self.critic = torch.nn.Sequential(*layers, torch.nn.Linear(widths[-1], 1))
        self.log_deviation = torch.nn.Parameter(torch.tensor(float(exact.log(options.deviation))))
        self.optimizer = adam(self.parameters(), options.kernels, options.learning_rate, options.adam_eps)
        self.sums = np.zeros(3)  # how many discounted sums there were, their mean, and their squares about it

    def parameters(self) -> list["torch.nn.Parameter"]:
        drawing = [] if self.rows else [self.log_deviation]
        return [*self.network.parameters(), *self.critic.parameters(), *drawing]

    def pi(self, observed: "torch.Tensor") -> "torch.distributions.Distribution":
        if self.rows:
            return torch.distributions.Categorical(logits=self.network.logits(observed), validate_args=False)
        return torch.distributions.Normal(self.network(observed), self.log_deviation.exp(), validate_args=False)

    @torch.no_grad()
    def draw(self, observed: Floats32, random: np.random.Generator) -> tuple[Floats32, Floats32, Floats32]:
        """Draws an action in each row [N]; returns it, its log pi, and V."""
        rows = torch.from_numpy(observed)
        pi = self.pi(rows)
        if isinstance(pi, torch.distributions.Categorical):
            share = torch.cumsum(pi.probs, dim=1)
            drawn = (share < torch.from_numpy(random.random((len(observed), 1)))).sum(dim=1)
            drawn = drawn.clamp(max=share.shape[1] - 1).float()
        else:
            drawn = pi.mean + pi.stddev * torch.from_numpy(random.standard_normal(len(observed), dtype=np.float32))
        return drawn.numpy(), pi.log_prob(drawn).numpy(), self.critic(rows)[:, 0].numpy()

    def scaled(self, rollout: PpoRollout) -> Floats32:
        """The rewards over the standard deviation of all discounted sums so far, these among them."""
        if not self.options.scaled:
            return rollout.reward
        total = np.zeros(len(rollout))
        for i in range(len(rollout) - 1, -1, -1):
            if rollout.after[i] != OPEN:
                total[i] = rollout.reward[i] + (
                    self.options.gamma * total[rollout.after[i]] if rollout.after[i] >= 0 else 0
                )
        new = total[rollout.after != OPEN]
        count, mean, squares = self.sums
        off = new.mean() - mean
        whole = count + new.size
        squares += new.var() * new.size + off**2 * count * new.size / whole
        self.sums = np.array([whole, mean + off * new.size / whole, squares])
        held = np.clip(rollout.reward / np.sqrt(squares / whole + 1e-8), -REWARD_LIMIT, REWARD_LIMIT)
        return np.asarray(held, dtype=np.float32)

    def learn(self, rollout: PpoRollout, done: float, random: np.random.Generator) -> float:
        """Passes over the decisions whose reward is known, where so much of the training is done; their entropy."""
        d = self.options
        for group in self.optimizer.param_groups:
            group["lr"] = d.learning_rate + (d.final_learning_rate - d.learning_rate) * done
        advantage = advantages(rollout, self.scaled(rollout), d.gamma, d.gae_lambda)
        known = np.flatnonzero(rollout.after != OPEN)
        observed, drawn, then = (torch.from_numpy(a) for a in (rollout.observed, rollout.drawn, rollout.log_pi))
        gain, goal = torch.from_numpy(advantage), torch.from_numpy(advantage + rollout.value)
        entropies = []
        for _ in range(d.epochs):
            for part in torch.split(torch.from_numpy(random.permutation(known)), d.batch):
                if len(part) < 2:
                    continue  # one has no standard deviation
                pi, its = self.pi(observed[part]), gain[part]
                its = (its - its.mean()) / (its.std() + 1e-8)
                p = (pi.log_prob(drawn[part]) - then[part]).exp()
                held = p.clamp(1 - d.clip, 1 + d.clip)
                entropy = pi.entropy().mean()
                off = (self.critic(observed[part])[:, 0] - goal[part]).square().mean() / 2
                loss = d.value * off - torch.minimum(p * its, held * its).mean() - d.entropy * entropy
                self.optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.parameters(), d.max_gradient_norm)
                self.optimizer.step()
                entropies.append(float(entropy.detach()))
        return float(np.mean(entropies)) if entropies else float("nan")

    def more(self) -> dict[str, Any]:
        """Returns what a checkpoint stores besides the weights."""
        return {
            "critic": self.critic.state_dict(),
            "log_deviation": float(self.log_deviation.detach()),
            "sums": self.sums.tolist(),
        }

    def take(self, more: dict[str, Any]) -> None:
        """Back to a checkpoint."""
        self.critic.load_state_dict(more["critic"])
        with torch.no_grad():
            self.log_deviation.fill_(more["log_deviation"])
        self.sums = np.array(more["sums"])


def begun(config: PpoConfig, number: int) -> ManyNetworks:
    """Every scenario in ``rollouts_per_scenario`` empty networks, for the rounds of an episode from this one on."""
    d, policy = config.ppo, config.policy
    assert policy.limits is not None
    asked = Task(
        d.scenarios[0],
        policy.observation,
        scale_of(policy.action, "PPO"),
        policy.limits,
        decision_latency_ps=d.decision_latency,
        network=config.built_network(),
    )
    named = [replace(asked, scenario=name) for name in d.scenarios for _ in range(d.rollouts_per_scenario)]
    tasks = [replace(task, duration_ps=d.episode * _most_ps(d, task)) for task in named]
    return ManyNetworks(tasks, [seed_of(d.seed, number, index) for index in range(len(tasks))], d.reward)


def _most_ps(d: Ppo, task: Task) -> int:
    """The longest that a round may last in a network of so many flows."""
    return PATIENCE * d.rollout * interval_ps(task.flows, task.network)


def played(learner: PpoLearner, networks: ManyNetworks, random: np.random.Generator) -> PpoRollout:
    """One round: the networks go on until their flows have made ``rollout`` decisions each on average, or all runs are
    over."""
    columns: list[list[NDArray[Any]]] = [[], [], [], []]
    last, count = np.full(networks.flows, OPEN), 0  # the number of each flow's last decision, and of all so far
    closed: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]] = []
    while count < learner.options.rollout * networks.flows and networks.flow.size:
        flow, observed = networks.flow, networks.observed
        number = count + np.arange(flow.size)
        known = last[flow] != OPEN
        closed.append((last[flow][known], np.where(networks.new, ENDED, number)[known], networks.reward[known]))
        last[flow] = number
        drawn, log_pi, value = learner.draw(observed, random)
        for column, new in zip(columns, (observed, drawn, log_pi, value), strict=True):
            column.append(new)
        count += flow.size
        networks.answer(drawn)
    if not count:
        raise InputError("no flow decides any more in this round; take scenarios in which flows go on")
    after, reward = np.full(count, OPEN), np.zeros(count, np.float32)
    for before, its, its_reward in closed:
        after[before], reward[before] = its, its_reward
    observed, drawn, log_pi, value = (np.concatenate(column).astype(np.float32) for column in columns)
    return PpoRollout(observed, drawn, log_pi, value, reward, after)


def train(config: PpoConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """Train a teacher and write it to the folder ``out``; the checkpoint stands beside it until then, the log stays.

    The same configuration gives the same weights, resumed or not. InputError where ``out`` or the checkpoint is unfit.
    """
    check_place(out)
    with same_sums(config.ppo.kernels):
        return _train(config, out, resume, progress or (lambda _: None))


def _train(config: PpoConfig, out: Path, resume: bool, progress: Progress) -> RoundReport:
    d = config.ppo
    learner = PpoLearner(config.policy, d)
    kept, curve, decisions = Checkpoint.first(learner.network.weights()), list[tuple[int, float]](), 0
    path = checkpoint_path(out)
    if resume:
        kept, more = read_checkpoint(path, config, learner.network, learner.optimizer)
        learner.take(more)
        curve, decisions = [(int(n), float(r)) for n, r in more["curve"]], int(more["decisions"])
    with TrainingLog(log_path(out), "round", kept.episode) as log:
        number, networks = kept.episode, None
        while not d.over(number, decisions):
            random = np.random.default_rng([d.seed, number])
            if networks is None or number % d.episode == 0 or not networks.flow.size:
                networks = begun(config, number)
            rollout = played(learner, networks, random)
            entropy = learner.learn(rollout, d.done(number, decisions), random)
            decisions += len(rollout)
            number += 1
            reward: float | None = None
            if d.judged(number, decisions):
                reward = mean_reward(config, learner.network.weights(), d.validation_duration)
                curve.append((number, reward))
            kept = kept.after(number, None if reward is None else -reward, learner.network.weights())
            scalars = {
                "reward/played": float(rollout.reward[rollout.after != OPEN].mean()),
                "reward/validation": reward,
                "entropy": entropy,
                "deviation": None if learner.rows else float(learner.log_deviation.detach().exp()),
                "learning_rate": learner.optimizer.param_groups[0]["lr"],
                "decisions/played": len(rollout),
            }
            log.add(number, scalars)
            if number % d.episode == 0:
                more = {**learner.more(), "curve": curve, "decisions": decisions}
                write_checkpoint(path, config, learner.network, learner.optimizer, kept, more)
            judged = "" if reward is None else f", reward {reward:.4f} (best {-kept.best_cost:.4f})"
            progress(f"round {number} of {d.rounds}, {decisions} decisions{judged}")
    provenance = {
        **config.policy.provenance,
        "method": "PPO",
        "seed": d.seed,
        "scenarios": d.scenarios,
        "rounds": kept.episode,
        "best_round": kept.best_episode,
        "reward": round(-kept.best_cost, 6),
    }
    policy = config.policy.model_copy(update={"provenance": provenance})
    teacher = make_teacher(policy, kept.best_weights, "training")
    save(teacher, out, seed=d.seed, tools=("numpy", "safetensors", "torch"))
    path.unlink(missing_ok=True)
    return RoundReport(teacher, kept.episode, kept.best_episode, -kept.best_cost, tuple(curve), REWARD)
