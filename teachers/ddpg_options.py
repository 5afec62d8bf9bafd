"""Training recipes of DDPG: a policy that sets knobs between two ends, where it learns, and what it is rewarded for.

format = 1
[policy]            # policy.toml without its weights; its action is a `level`, of flows a `multiplier`
[network]           # as of `rlcc run`
[ddpg]              # senders and period (not of flows), scenarios, reward, hyper-parameters
[[ddpg.reward]]     # weight, and the feature of an event that it weighs: the reward is their sum after a decision, of a
                    # `level` over their sum before it
"""

from typing import Annotated

from pydantic import Field, model_validator

from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.policy.actions import Level, Multiplier
from netsim.network import MS
from teachers.round_options import FCT, REWARD, RoundConfig, RoundTraining, Yardstick


class Ddpg(RoundTraining):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked. A round plays every scenario once
    with outputs that are moved by ``exploration`` at the most, which falls by ``exploration_decay`` a round, and learns
    ``updates`` batches of what is remembered. ``critic``: the hidden layers of Q(o, a)."""

    episode: DurationPs = Field(default=400 * MS, gt=0, description="Duration of a scenario in a round.")
    max_growth: Annotated[float, RenamedFrom("growth_most")] = Field(
        default=4.0, gt=1, description="Maximum of the reward, which is a ratio."
    )
    updates: int = Field(default=200, ge=1, le=100_000, description="Gradient steps per round.")
    batch: int = Field(default=128, ge=1, le=65_536, description="Transitions per gradient step.")
    memory: int = Field(
        default=100_000,
        ge=1,
        le=5_000_000,
        description="Transitions in the replay memory; the oldest are removed first.",
    )
    gamma: float = Field(default=0.9, ge=0, lt=1, description="Discount factor.")
    critic: list[int] = Field(
        default=[64, 64], min_length=1, max_length=8, description="Units of the hidden layers of Q."
    )
    learning_rate: float = Field(
        default=1e-4, gt=0, le=1, description="Learning rate of the policy."
    )  # of the policy: Lillicrap et al. 2016, section 7
    critic_learning_rate: float = Field(default=1e-3, gt=0, le=1, description="Learning rate of the critic.")
    target_update_rate: Annotated[float, RenamedFrom("follow")] = Field(
        default=0.005, gt=0, le=1, description="Share by which the target networks approach the networks in an update."
    )
    exploration: Annotated[float, RenamedFrom("explore")] = Field(
        default=1.0, ge=0, le=2, description="Maximum change of an output in the first round."
    )
    exploration_decay: Annotated[float, RenamedFrom("explore_decay")] = Field(
        default=0.95, gt=0, le=1, description="Factor of the exploration per round."
    )
    min_exploration: Annotated[float, RenamedFrom("explore_least")] = Field(
        default=0.05, ge=0, le=2, description="Minimum exploration."
    )


class DdpgConfig(RoundConfig):
    """A training recipe, checked."""

    ddpg: Ddpg

    @property
    def training(self) -> Ddpg:
        return self.ddpg

    @property
    def yardstick(self) -> Yardstick:
        """A ratio of rewards is 1 for whoever is as good throughout: then flows' completion times judge."""
        return REWARD if self.flows else FCT

    @model_validator(mode="after")
    def _trainable(self) -> "DdpgConfig":
        if not isinstance(self.policy.action, Level | Multiplier):
            raise ValueError(
                f"DDPG learns where to set knobs between two ends; the action is a {self.policy.action.kind}"
            )
        if self.ddpg.period is not None and self.ddpg.episode < 3 * self.ddpg.period:
            raise ValueError("ddpg: an episode has three periods at the least; give a longer one")
        self.check_trainable("DDPG")
        self.check_places(self.ddpg.episode)
        return self
