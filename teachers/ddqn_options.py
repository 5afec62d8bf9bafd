"""Training recipes of DDQN: a policy that chooses a row of a table, where it learns, and what it is rewarded for.

format = 1
[policy]            # policy.toml without its weights; its action is a `choice`, of flows a `table`
[network]           # as of `rlcc run`
[ddqn]              # senders and period (not of flows), scenarios, reward, hyper-parameters
[[ddqn.reward]]     # weight, and the feature of the next event that it weighs
"""

from pydantic import Field, model_validator

from decision.actions import Choice, Table
from decision.quantity import DurationPs
from netsim.network import MS
from teachers.round_options import RoundConfig, RoundTraining, Strict


class TriggerTraining(Strict):
    """``[ddqn.trigger]``: what the trigger of a policy learns by, after the policy as one that is asked every time.
    ``price``: what the reward loses by a decision in which it fires ([HAECN] section 3.3)."""

    price: float = Field(default=0.05, ge=0)
    rounds: int = Field(default=30, ge=1, le=10_000)
    explore_decay: float = Field(default=0.9, gt=0, le=1)


class Ddqn(RoundTraining):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked. A round plays every scenario
    once, explores with a probability that falls from ``explore`` by ``explore_decay`` a round, and then learns
    ``updates`` batches of what is remembered."""

    episode: DurationPs = Field(default=20 * MS, gt=0)
    updates: int = Field(default=400, ge=1, le=100_000)
    batch: int = Field(default=256, ge=1, le=65_536)
    memory: int = Field(default=500_000, ge=1, le=5_000_000)  # transitions, the oldest forgotten first
    gamma: float = Field(default=0.9, ge=0, lt=1)
    idle_every: int = Field(default=10, ge=1)  # of transitions that begin where nothing happened, one in so many
    learning_rate: float = Field(default=1e-3, gt=0, le=1)  # Adam
    final_learning_rate: float = Field(default=1e-4, gt=0, le=1)  # reached linearly in the last round
    target_every: int = Field(default=200, ge=1)  # updates between two copies of the weights into the target network
    explore: float = Field(default=1.0, ge=0, le=1)
    explore_decay: float = Field(default=0.93, gt=0, le=1)
    explore_least: float = Field(default=0.02, ge=0, le=1)

    trigger: TriggerTraining | None = Field(default=None, exclude_if=lambda trigger: trigger is None)


class Online(Strict):
    """How agents go on learning where they decide. Every ``exchange`` each group of them (a switch) remembers what its
    own decisions led to, gives ``shared`` of it to a memory of all and takes as much from there, and learns
    ``updates`` batches; exploring decays by ``explore_decay`` an exchange."""

    exchange: DurationPs = Field(default=MS, gt=0)
    shared: float = Field(default=0.5, ge=0, le=1)
    updates: int = Field(default=10, ge=1, le=100_000)
    learning_rate: float = Field(default=3e-4, gt=0, le=1)
    explore: float = Field(default=0.2, ge=0, le=1)
    explore_decay: float = Field(default=0.9, gt=0, le=1)
    explore_least: float = Field(default=0.0, ge=0, le=1)

    def exploring(self, exchange: int) -> float:
        """In the time before this exchange."""
        return max(self.explore_least, self.explore * self.explore_decay**exchange)


class DdqnConfig(RoundConfig):
    """A training recipe, checked."""

    ddqn: Ddqn

    @property
    def training(self) -> Ddqn:
        return self.ddqn

    @model_validator(mode="after")
    def _trainable(self) -> "DdqnConfig":
        if not isinstance(self.policy.action, Choice | Table):
            raise ValueError(f"DDQN learns which row of a table to choose; the action is a {self.policy.action.kind}")
        if (self.policy.trigger is None) != (self.ddqn.trigger is None):
            raise ValueError("a policy with a [policy.trigger] learns it by a [ddqn.trigger], and no other; give both")
        if self.ddqn.period is not None and self.ddqn.decision_latency >= self.ddqn.period:
            raise ValueError("ddqn: the period is shorter than the decision takes; give a longer one")
        self.check_trainable("DDQN")
        return self

    def untriggered(self) -> "DdqnConfig":
        """The training of the policy as one that is asked every time."""
        ddqn = self.ddqn.model_copy(update={"trigger": None})
        return self.model_copy(update={"policy": self.policy.untriggered(), "ddqn": ddqn})
