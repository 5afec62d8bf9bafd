"""Common keys of the training recipes that name their reward, whichever algorithm learns by it."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from decision.artefact.documents import Format1
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.policy.policy import Policy
from netsim import baselines
from netsim.deployment import Deployment
from netsim.network import Network
from netsim.network_file import from_table
from teachers.curriculum import Kernels, ScenarioNames
from teachers.scalars import power
from teachers.transitions import RewardTerm


class ValidatedTraining(Strict):
    """A training in rounds, of which some are validated."""

    seed: int = Field(ge=0, lt=2**31, description="Seed of the first weights, of the traffic and of the draws.")
    kernels: Kernels = Field(default="any", description="Processor whose arithmetic PyTorch and MKL use.")
    decision_latency: DurationPs = Field(default=0, description="Decision latency.")
    scenarios: ScenarioNames = Field(min_length=1, max_length=32, description="Scenarios of each round.")
    rounds: int = Field(default=60, ge=1, le=10_000, description="Maximum number of rounds.")
    validation_interval: Annotated[int, RenamedFrom("validate_every")] = Field(
        default=5, ge=1, description="Rounds between two validations."
    )
    validation_scenarios: Annotated[ScenarioNames, RenamedFrom("validate_in")] = Field(
        min_length=1, max_length=32, description="Scenarios of the validation."
    )
    validation_seeds: Annotated[list[int], RenamedFrom("validate_seeds")] = Field(
        default=[7001, 7002], min_length=1, max_length=16, description="Seeds of the validation."
    )

    def over(self, rounds: int, played: int = 0) -> bool:
        """Returns whether training ends after this number of rounds, in which ``played`` decisions were taken."""
        return rounds >= self.rounds

    def judged(self, rounds: int, played: int = 0) -> bool:
        """Returns whether the weights after this number of rounds are validated."""
        return rounds % self.validation_interval == 0 or self.over(rounds, played)


class RewardedTraining(ValidatedTraining):
    """``decisions``: training ends with the round after which so many have been played; None: with the last round."""

    reward: list[RewardTerm] = Field(
        min_length=1,
        max_length=8,
        description="Terms of the reward: a weight, a feature of the next event, its power and its limit.",
    )
    decisions: int | None = Field(
        default=None,
        ge=1,
        exclude_if=lambda decisions: decisions is None,
        description="Stop after the round in which this number of decisions is reached.",
    )

    def over(self, rounds: int, played: int = 0) -> bool:
        return super().over(rounds, played) or (self.decisions is not None and played >= self.decisions)

    def done(self, number: int, played: int) -> float:
        """The part of the training that lies before this round, 0 to 1; of the last one where rounds alone count, 1."""
        by_rounds = number / max(self.rounds - 1, 1)
        return by_rounds if self.decisions is None else min(max(by_rounds, played / self.decisions), 1.0)


class RoundTraining(RewardedTraining):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked; both only where the agents are
    not the flows themselves. A round plays every scenario once, and explores by what falls from ``exploration`` by
    ``exploration_decay`` a round."""

    senders: str | None = Field(
        default=None,
        exclude_if=lambda senders: senders is None,
        description="Baseline that controls the flows, if the agents are not flows.",
    )
    period: DurationPs | None = Field(
        default=None,
        gt=0,
        exclude_if=lambda period: period is None,
        description="Decision period of agents that are not flows.",
    )
    exploration: Annotated[float, RenamedFrom("explore")] = Field(
        description="Exploration in the first round: a probability (DDQN) or a maximum change of an output (DDPG)."
    )
    exploration_decay: Annotated[float, RenamedFrom("explore_decay")] = Field(
        gt=0, le=1, description="Factor of the exploration per round; with an exchange per exchange."
    )
    min_exploration: Annotated[float, RenamedFrom("explore_least")] = Field(description="Minimum exploration.")

    def exploring(self, number: int) -> float:
        """In this round."""
        return max(self.min_exploration, self.exploration * power(self.exploration_decay, number))


@dataclass(frozen=True)
class Yardstick:
    """Measure that judges weights in the validation: its name in logs and in a teacher's provenance, how it is told, in
    words and in a list, and whether the greatest is the best (1) or the least (-1)."""

    name: str
    kept: str
    told: str
    text: str
    better: int


REWARD = Yardstick("reward", "reward", "a reward of {:.4f} a decision", "{:.4f}", 1)
FCT = Yardstick("fct_us", "fct_mean_us", "a mean FCT of {:.0f} us", "{:.0f} us", -1)


class RewardedConfig(Strict):
    """A policy, and where it is trained."""

    format: Format1
    """Format version of the file."""
    policy: Policy
    network: dict[str, Any] = Field(default={})
    """Keys of the network that differ from the default."""

    @property
    def training(self) -> RewardedTraining:
        raise NotImplementedError

    def built_network(self) -> Network:
        return from_table(self.network, "network")

    def deployment(self) -> Deployment:
        """Returns the network in which the agents learn; flows that learn have no other agents next to them."""
        return Deployment(self.built_network())

    @property
    def flows(self) -> bool:
        """Whether they are the flows."""
        return self.policy.observation.agents.agent == "flow"

    def check_trainable(self, algorithm: str) -> None:
        """ValueError where no algorithm here trains the policy, or not in this network."""
        if self.policy.architecture.kind != "mlp":
            raise ValueError(f"{algorithm} here trains an MLP; the window is its memory")
        if self.flows and (self.policy.start is not None or self.policy.in_flight is not None):
            raise ValueError(f"{algorithm} here trains flows without a [start] and an [in_flight]; leave them out")
        for term in self.training.reward:
            term.check(self.policy.observation.place)
        try:
            self.deployment()
        except InputError as error:
            raise ValueError(str(error)) from None


class RoundConfig(RewardedConfig):
    """The same, learnt round by round."""

    @property
    def training(self) -> RoundTraining:
        raise NotImplementedError

    def check_places(self, duration_ps: int) -> None:
        """ValueError where the agents live in no network of one of the scenarios."""
        for name in dict.fromkeys((*self.training.scenarios, *self.training.validation_scenarios)):
            try:
                self.deployment().places(name, self.training.seed, duration_ps)
            except InputError as error:
                raise ValueError(f"{name}: {error}") from None

    def check_trainable(self, algorithm: str) -> None:
        agents, t = self.policy.observation.agents, self.training
        if not self.flows and agents.trigger != "period":
            raise ValueError(
                f"{algorithm} here trains flows and agents that are asked every period, not those of {agents.name}"
            )
        if self.flows and (t.senders is not None or t.period is not None):
            raise ValueError(
                "flows that learn steer themselves, and decide on a response; leave senders and period out"
            )
        if not self.flows and (t.senders is None or t.period is None):
            raise ValueError(f"agents of {agents.name} are asked every period, beside flows; give senders and period")
        super().check_trainable(algorithm)

    def deployment(self) -> Deployment:
        t = self.training
        if t.senders is None or t.period is None:
            return super().deployment()
        senders, agents = baselines.by_name(t.senders), self.policy.observation.agents
        return Deployment(self.built_network(), agents, senders, (), t.period)
