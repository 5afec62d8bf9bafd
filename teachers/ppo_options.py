"""Training recipes of PPO: a policy of flows, where it learns, and what it is rewarded for.

format = 1
[policy]            # policy.toml without its weights; its action is a `multiplier` or a `table`
[network]           # as of `rlcc run`
[ppo]               # scenarios, reward, hyper-parameters
[[ppo.reward]]      # weight, the feature of the next event that it weighs, its power and limit
"""

from typing import Annotated

from pydantic import Field, model_validator

from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.policy.actions import Multiplier, Table
from netsim.network import MS
from teachers.round_options import RewardedConfig, RewardedTraining


class Ppo(RewardedTraining):
    """A round is ``rollout`` decisions a flow in every scenario, in ``rollouts_per_scenario`` networks side by side,
    then ``epochs`` over them, ``batch`` at a time; after ``episode`` rounds the networks start again, empty.
    ``gae_lambda``: lambda of the advantages. ``deviation``: of the Gaussian at first, whose mean goes from -1 to 1.
    ``critic``: the hidden layers of V(o). ``scaled``: rewards are divided by the standard deviation of their discounted
    sums so far, and held within 10. Defaults: CleanRL's ppo_continuous_action.py where it has them, whose batches are
    64 of 2048."""

    rounds: int = Field(default=100, ge=1, le=100_000, description="Maximum number of rounds.")
    episode: int = Field(default=20, ge=1, le=10_000, description="Rounds after which the networks begin again, empty.")
    rollouts_per_scenario: Annotated[int, RenamedFrom("plays")] = Field(
        default=4, ge=1, le=256, description="Networks per scenario, side by side, each with its own seed."
    )
    rollout: int = Field(default=64, ge=2, le=4096, description="Decisions per flow and round.")
    epochs: Annotated[int, RenamedFrom("passes")] = Field(
        default=10, ge=1, le=100, description="Passes over the decisions of a round."
    )
    batch: int = Field(default=256, ge=2, le=65_536, description="Decisions per gradient step.")
    gamma: float = Field(default=0.99, ge=0, lt=1, description="Discount factor of the advantages.")
    gae_lambda: Annotated[float, RenamedFrom("smooth")] = Field(
        default=0.95, ge=0, le=1, description="Lambda of the advantages."
    )
    clip: float = Field(default=0.2, gt=0, lt=1, description="Clipping range of the probability ratio.")
    entropy: float = Field(default=0.0, ge=0, le=1, description="Weight of the policy's entropy.")
    value: float = Field(default=0.5, ge=0, description="Weight of the critic's loss.")
    scaled: bool = Field(
        default=True, description="Divide rewards by the standard deviation of their discounted sums so far, within 10."
    )
    deviation: float = Field(
        default=0.5,
        gt=0,
        le=2,
        description="Standard deviation of the Gaussian in the first round; its mean goes from -1 to 1.",
    )
    critic: list[int] = Field(
        default=[64, 64], min_length=1, max_length=8, description="Units of the hidden layers of V."
    )
    learning_rate: float = Field(default=3e-4, gt=0, le=1, description="Learning rate of Adam in the first round.")
    final_learning_rate: float = Field(
        default=0.0, ge=0, le=1, description="Learning rate in the last round, approached linearly."
    )
    adam_eps: float = Field(default=1e-5, gt=0, description="Epsilon of Adam.")
    max_gradient_norm: Annotated[float, RenamedFrom("gradient_limit")] = Field(
        default=0.5, gt=0, description="Maximum norm of a gradient."
    )
    validation_duration: Annotated[DurationPs, RenamedFrom("validate_for")] = Field(
        default=20 * MS, gt=0, description="Duration of a validation run."
    )


class PpoConfig(RewardedConfig):
    """A training recipe, checked."""

    ppo: Ppo

    @property
    def training(self) -> Ppo:
        return self.ppo

    @model_validator(mode="after")
    def _trainable(self) -> "PpoConfig":
        if not self.flows:
            raise ValueError(f"PPO here trains flows, not agents of {self.policy.observation.agents.name}")
        if not isinstance(self.policy.action, Multiplier | Table):
            raise ValueError(
                f"PPO draws a multiplier of the rate, or a row of a table; the action is a {self.policy.action.kind}"
            )
        if self.policy.observation.device_rate:
            raise ValueError("PPO here trains flows that are not told the device's rate; leave device_rate out")
        if self.policy.observation.acks:
            raise ValueError("PPO here trains flows that are not told what was acknowledged; leave acks out")
        self.check_trainable("PPO")
        return self
