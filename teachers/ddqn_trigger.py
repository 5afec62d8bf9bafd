"""A policy and its trigger, one after the other ([HAECN] algorithm 1 learns both at once).

First the policy learns as one that is asked every time (teachers/ddqn.py), to a folder of its own beside the one that
is to be written. Then its weights stay, and Q of two choices is learnt: keep what was chosen last, or choose anew,
which costs a price. The trigger learns from what the policy then brings about.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from decision.artefact import manifest
from decision.policy.records import Trajectories
from netsim.policies import native
from netsim.trials import run
from teachers import ddqn
from teachers.checkpoint import Checkpoint, checkpoint_path, read_checkpoint, write_checkpoint
from teachers.ddqn import Learner, Progress
from teachers.ddqn_options import Ddqn, DdqnConfig
from teachers.determinism import same_sums
from teachers.load import load
from teachers.memory import PARTS, ReplayMemory, check_place, seed_of
from teachers.round_options import REWARD
from teachers.round_report import RoundReport
from teachers.save import save
from teachers.teacher import Teacher, Weights, make_teacher
from teachers.training_log import TrainingLog, log_path
from teachers.transitions import Transitions, trigger_transitions


def policy_path(out: Path) -> Path:
    """Returns the place of the policy alone, until its trigger has been learnt."""
    return out.parent / f"{out.name}.untriggered"


def train(config: DdqnConfig, out: Path, resume: bool = False, progress: Progress | None = None) -> RoundReport:
    """Train both and write the teacher to the folder ``out``. Resumed, it goes on in whichever part was interrupted.

    The same configuration gives the same weights. InputError where ``out`` or a checkpoint is unfit.
    """
    check_place(out)
    say, alone = progress or (lambda _: None), policy_path(out)
    learnt = resume and (alone / manifest.NAME).exists()
    if not learnt:
        ddqn.train(config.untriggered(), alone, resume, say)
    with same_sums(config.ddqn.kernels):
        report = _train(config, load(alone), out, learnt and checkpoint_path(out).exists(), say)
    shutil.rmtree(alone)
    return report


def _train(config: DdqnConfig, policy: Teacher, out: Path, resume: bool, progress: Progress) -> RoundReport:
    trigger = config.ddqn.trigger
    assert trigger is not None
    d = config.ddqn.model_copy(update={"rounds": trigger.rounds, "exploration_decay": trigger.exploration_decay})
    learner = Learner(config.policy, d, trigger=True)
    kept, curve = Checkpoint.first(learner.network.weights()), []
    if resume:
        kept, more = read_checkpoint(checkpoint_path(out), config, learner.network, learner.optimizer)
        learner.target.load_state_dict(more["target"])
        learner.memory.stored = Transitions(*(more[name].numpy() for name in PARTS))
        curve = [(int(n), float(r)) for n, r in more["curve"]]
    with TrainingLog(log_path(out), "round", kept.episode) as log:
        while kept.episode < d.rounds:
            number = kept.episode
            places = [(name, seed_of(d.seed, number, index)) for index, name in enumerate(d.scenarios)]
            weights = policy.weights | learner.network.weights()
            new = _played(config, weights, places, d.exploring(number), d.idle_every)
            learner.memory.add(new)
            learner.rate(number / max(d.rounds - 1, 1))
            lost = learner.learn(d.updates, number * d.updates, np.random.default_rng([d.seed, number, 1]))
            reward: float | None = None
            fired = float(np.mean(new.action))
            if d.judged(number + 1):
                reward, fired = _validate(config, d, policy.weights | learner.network.weights())
                curve.append((number + 1, reward))
            kept = kept.after(number + 1, None if reward is None else -reward, learner.network.weights())
            log.add(
                number + 1,
                {
                    "reward/played": float(np.mean(new.reward, dtype=np.float64)),
                    "reward/validation": reward,
                    "triggered": fired,
                    "loss": lost,
                    "exploring": d.exploring(number),
                    "learning_rate": learner.optimizer.param_groups[0]["lr"],
                },
            )
            path, more = checkpoint_path(out), ddqn.more_of(learner, curve, 0)
            write_checkpoint(path, config, learner.network, learner.optimizer, kept, more)
            judged = "" if reward is None else f", reward {reward:.4f} (best {-kept.best_cost:.4f})"
            progress(f"trigger, round {number + 1} of {d.rounds}, fired {fired:.3f}{judged}")
    teacher = _finished(config, policy, kept)
    save(teacher, out, seed=d.seed, tools=("numpy", "safetensors", "torch"))
    checkpoint_path(out).unlink(missing_ok=True)
    return RoundReport(teacher, kept.episode, kept.best_episode, -kept.best_cost, tuple(curve), REWARD)


def validate(config: DdqnConfig, weights: Weights) -> float:
    """The mean reward of a decision, what triggers cost taken off, where nothing is explored."""
    return _validate(config, config.ddqn, weights)[0]


def _validate(config: DdqnConfig, d: Ddqn, weights: Weights) -> tuple[float, float]:
    """The mean reward of a decision, what triggers cost taken off, and how often they fired; each scenario counts
    alike."""
    each = [
        _played(config, weights, [(name, seed) for seed in d.validation_seeds], 0.0) for name in d.validation_scenarios
    ]
    rewards, fired = ([float(np.mean(part, dtype=np.float64)) for part in parts] for parts in _columns(each))
    return float(np.mean(rewards)), float(np.mean(fired))


def _columns(each: list[Transitions]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    return [played.reward for played in each], [played.action for played in each]


def _played(
    config: DdqnConfig, weights: Weights, places: list[tuple[str, int]], exploring: float, idle_every: int = 1
) -> Transitions:
    """Every network with the policy as it is; whether it is asked is drawn with the probability ``exploring``."""
    d, deployment, policy = config.ddqn, config.deployment(), config.policy
    assert d.trigger is not None
    actor = native(policy, weights)
    trials = [
        deployment.trial(
            replace(actor, explore_trigger=(exploring, seed)) if exploring else actor,
            name,
            seed=seed,
            duration_ps=d.episode,
            record_ps=d.episode,
            decision_latency_ps=d.decision_latency,
        )
        for name, seed in places
    ]
    memory = ReplayMemory(1 << 62)
    for (name, seed), outcome in zip(places, run(trials), strict=True):
        known = deployment.places(name, seed, d.episode)
        played = Trajectories.of(outcome.records[deployment.cohort], policy.observation.agents, known)
        memory.add(trigger_transitions(played, policy, d.reward, d.trigger.price, idle_every))
    assert memory.stored is not None
    return memory.stored


def _finished(config: DdqnConfig, policy: Teacher, kept: Checkpoint) -> Teacher:
    assert config.ddqn.trigger is not None
    provenance = {
        **policy.policy.provenance,
        "trigger_rounds": kept.episode,
        "trigger_best_round": kept.best_episode,
        "trigger_price": config.ddqn.trigger.price,
        "trigger_reward": round(-kept.best_cost, 6),
    }
    described = config.policy.model_copy(update={"provenance": provenance})
    return make_teacher(described, policy.weights | kept.best_weights, "training")
