"""What training recipes of agents that are asked every period have in common, whichever algorithm learns."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from decision.documents import Format1
from decision.errors import InputError
from decision.policy import Policy
from decision.quantity import DurationPs
from netsim import baselines
from netsim.deployment import Deployment
from netsim.network import Network
from netsim.network_file import from_table
from teachers.curriculum import ScenarioNames
from teachers.transitions import RewardTerm


class Strict(BaseModel):
    """No key that is not known, no number that is none."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class PeriodicTraining(Strict):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked. A round plays every scenario
    once, and explores by what falls from ``explore`` by ``explore_decay`` a round."""

    seed: int = Field(ge=0, lt=2**31)
    senders: str
    period: DurationPs = Field(gt=0)
    decision_latency: DurationPs = 0
    scenarios: ScenarioNames = Field(min_length=1, max_length=32)
    reward: list[RewardTerm] = Field(min_length=1, max_length=8)
    rounds: int = Field(default=60, ge=1, le=10_000)
    explore: float
    explore_decay: float = Field(gt=0, le=1)
    explore_least: float
    validate_every: int = Field(default=5, ge=1)  # rounds
    validate_in: ScenarioNames = Field(min_length=1, max_length=32)
    validate_seeds: list[int] = Field(default=[7001, 7002], min_length=1, max_length=16)

    def exploring(self, number: int) -> float:
        """In this round."""
        return max(self.explore_least, self.explore * self.explore_decay**number)


class PeriodicConfig(Strict):
    """A policy, and where it is trained."""

    format: Format1
    policy: Policy
    network: dict[str, Any] = {}

    @property
    def training(self) -> PeriodicTraining:
        raise NotImplementedError

    def check_trainable(self, algorithm: str) -> None:
        """ValueError where no algorithm here trains the policy, or not in this network."""
        agents = self.policy.observation.agents
        if self.policy.architecture.kind != "mlp":
            raise ValueError(f"{algorithm} here trains an MLP; the window is its memory")
        if agents.agent == "flow" or agents.trigger != "period":
            raise ValueError(f"{algorithm} here trains agents that are asked every period, not those of {agents.name}")
        for term in self.training.reward:
            term.check(self.policy.observation.place)
        try:
            self.deployment()
        except InputError as error:
            raise ValueError(str(error)) from None

    def built_network(self) -> Network:
        return from_table(self.network, "network")

    def deployment(self) -> Deployment:
        """Where the agents learn."""
        training = self.training
        senders, agents = baselines.by_name(training.senders), self.policy.observation.agents
        return Deployment(self.built_network(), agents, senders, (), training.period)
