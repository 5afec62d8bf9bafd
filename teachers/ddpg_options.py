"""Training recipes of DDPG: a policy that sets knobs between two ends, where it learns, and what it is rewarded for.

format = 1
[policy]            # policy.toml without its weights; its action is a `level`
[network]           # as of `rlcc run`
[ddpg]              # senders, period, scenarios, reward, hyper-parameters
[[ddpg.reward]]     # weight, and the feature of an event that it weighs: the reward is their sum after a decision over
                    # their sum before it
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from decision.actions import Level
from decision.documents import Format1
from decision.errors import InputError
from decision.policy import Policy
from decision.quantity import DurationPs
from netsim import baselines
from netsim.deployment import Deployment
from netsim.network import MS, Network
from netsim.network_file import from_table
from teachers.curriculum import ScenarioNames
from teachers.transitions import RewardTerm


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Ddpg(_Strict):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked. A round plays every scenario once
    with outputs that are moved by ``explore`` at the most, which falls by ``explore_decay`` a round, and then learns
    ``updates`` batches of what is remembered. ``critic``: the hidden layers of Q(o, a)."""

    seed: int = Field(ge=0, lt=2**31)
    senders: str
    period: DurationPs = Field(gt=0)
    decision_latency: DurationPs = 0
    scenarios: ScenarioNames = Field(min_length=1, max_length=32)
    episode: DurationPs = Field(default=400 * MS, gt=0)
    reward: list[RewardTerm] = Field(min_length=1, max_length=8)
    growth_most: float = Field(default=4.0, gt=1)  # of the reward
    rounds: int = Field(default=60, ge=1, le=10_000)
    updates: int = Field(default=200, ge=1, le=100_000)
    batch: int = Field(default=128, ge=1, le=65_536)
    memory: int = Field(default=100_000, ge=1, le=5_000_000)  # transitions, the oldest forgotten first
    gamma: float = Field(default=0.9, ge=0, lt=1)
    critic: list[int] = Field(default=[64, 64], min_length=1, max_length=8)
    learning_rate: float = Field(default=1e-4, gt=0, le=1)  # of the policy: Lillicrap et al. 2016, section 7
    critic_learning_rate: float = Field(default=1e-3, gt=0, le=1)
    follow: float = Field(default=0.005, gt=0, le=1)  # of the way that the copies go to the networks, an update
    explore: float = Field(default=1.0, ge=0, le=2)
    explore_decay: float = Field(default=0.95, gt=0, le=1)
    explore_least: float = Field(default=0.05, ge=0, le=2)
    validate_every: int = Field(default=5, ge=1)  # rounds
    validate_in: ScenarioNames = Field(min_length=1, max_length=32)
    validate_seeds: list[int] = Field(default=[7001, 7002], min_length=1, max_length=16)

    def exploring(self, number: int) -> float:
        """In this round."""
        return max(self.explore_least, self.explore * self.explore_decay**number)


class DdpgConfig(_Strict):
    """A training recipe, checked."""

    format: Format1
    policy: Policy
    network: dict[str, Any] = {}
    ddpg: Ddpg

    @model_validator(mode="after")
    def _trainable(self) -> "DdpgConfig":
        agents = self.policy.observation.agents
        if not isinstance(self.policy.action, Level):
            raise ValueError(
                f"DDPG learns where to set knobs between two ends; the action is a {self.policy.action.kind}"
            )
        if self.policy.architecture.kind != "mlp":
            raise ValueError("DDPG here trains an MLP; the window is its memory")
        if agents.agent == "flow" or agents.trigger != "period":
            raise ValueError(f"DDPG here trains agents that are asked every period, not those of {agents.name}")
        if self.ddpg.episode < 3 * self.ddpg.period:
            raise ValueError("ddpg: an episode has three periods at the least; give a longer one")
        for term in self.ddpg.reward:
            term.check(self.policy.observation.place)
        try:
            self.deployment()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def built_network(self) -> Network:
        return from_table(self.network, "network")

    def deployment(self) -> Deployment:
        """Where the agents learn."""
        senders, agents = baselines.by_name(self.ddpg.senders), self.policy.observation.agents
        return Deployment(self.built_network(), agents, senders, (), self.ddpg.period)
