"""Training recipes of DDQN: a policy that chooses a row of a table, where it learns, and what it is rewarded for.

format = 1
[policy]            # policy.toml without its weights; its action is a `choice`, of flows a `table`
[network]           # as of `rlcc run`
[ddqn]              # senders and period (not of flows), scenarios, reward, hyper-parameters
[[ddqn.reward]]     # weight, and the feature of the next event that it weighs

If ``ddqn.start`` is given, the policy is that teacher's; ``[policy]`` then has no more than a name and provenance.
"""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.policy.actions import Choice, Table
from netsim.network import MS
from teachers.load import load
from teachers.round_options import RoundConfig, RoundTraining


class TriggerTraining(Strict):
    """``[ddqn.trigger]``: what the trigger of a policy learns by, after the policy as one that is asked every time.
    ``price``: what the reward loses by a decision in which it fires ([HAECN] section 3.3)."""

    price: float = Field(default=0.05, ge=0, description="Reward that a decision costs in which the trigger fires.")
    rounds: int = Field(default=30, ge=1, le=10_000, description="Number of rounds.")
    exploration_decay: Annotated[float, RenamedFrom("explore_decay")] = Field(
        default=0.9, gt=0, le=1, description="Factor of the exploration per round."
    )


class Ddqn(RoundTraining):
    """``senders``: the baseline at the flows; ``period``: how often agents are asked. A round plays every scenario
    once, explores with a probability that falls from ``exploration`` by ``exploration_decay`` a round, and learns
    ``updates`` batches of its memory. ``start``: a teacher to go on from. ``exchange``: learn online, so many batches
    whenever so much time has gone by in a network that runs on, where exploring decays by the exchange."""

    start: str | None = Field(
        default=None, exclude_if=lambda start: start is None, description="Teacher to continue from."
    )
    exchange: DurationPs | None = Field(
        default=None,
        gt=0,
        exclude_if=lambda exchange: exchange is None,
        description="Simulated time between two updates of online learning; without it learning is offline.",
    )
    episode: DurationPs = Field(default=20 * MS, gt=0, description="Duration of a scenario in a round.")
    updates: int = Field(
        default=400, ge=1, le=100_000, description="Gradient steps per round; with an exchange per exchange."
    )
    batch: int = Field(default=256, ge=1, le=65_536, description="Transitions per gradient step.")
    memory: int = Field(
        default=500_000,
        ge=1,
        le=5_000_000,
        description="Transitions in the replay memory; the oldest are removed first.",
    )
    gamma: float = Field(default=0.9, ge=0, lt=1, description="Discount factor.")
    idle_every: int = Field(
        default=10,
        ge=1,
        description="One in this number of transitions that begin with an empty event is remembered.",
    )
    learning_rate: float = Field(default=1e-3, gt=0, le=1, description="Learning rate of Adam in the first round.")
    final_learning_rate: float = Field(
        default=1e-4, gt=0, le=1, description="Learning rate in the last round, approached linearly."
    )
    target_every: int = Field(
        default=200, ge=1, description="Gradient steps between two copies of the weights into the target network."
    )
    exploration: Annotated[float, RenamedFrom("explore")] = Field(
        default=1.0, ge=0, le=1, description="Probability of a random row in the first round."
    )
    exploration_decay: Annotated[float, RenamedFrom("explore_decay")] = Field(
        default=0.93, gt=0, le=1, description="Factor of this probability per round; with an exchange per exchange."
    )
    min_exploration: Annotated[float, RenamedFrom("explore_least")] = Field(
        default=0.02, ge=0, le=1, description="Minimum probability of a random row."
    )

    trigger: TriggerTraining | None = Field(default=None, exclude_if=lambda trigger: trigger is None)

    @property
    def steps(self) -> int:
        """Returns how often exploring decays in a round."""
        return 1 if self.exchange is None else -(-self.episode // self.exchange)


class DdqnConfig(RoundConfig):
    """A training recipe, checked."""

    ddqn: Ddqn

    @property
    def training(self) -> Ddqn:
        return self.ddqn

    @model_validator(mode="before")
    @classmethod
    def _policy_of_start(cls, data: Any) -> Any:
        """Returns the data with the start's policy under the name and provenance that they give."""
        training = data.get("ddqn") if isinstance(data, dict) else None
        start = training.get("start") if isinstance(training, dict) else None
        if not isinstance(start, str):
            return data
        told = data.get("policy", {})
        if not isinstance(told, dict) or not told.keys() <= {"name", "provenance"}:
            raise ValueError(f"the policy is that of ddqn.start, {start}; give no more than its name and provenance")
        try:
            policy = load(Path(start)).policy
        except InputError as error:
            raise ValueError(f"ddqn.start: {error}") from None
        return data | {"policy": policy.model_dump(mode="json", exclude_none=True) | {"provenance": {}} | told}

    @model_validator(mode="after")
    def _trainable(self) -> "DdqnConfig":
        if not isinstance(self.policy.action, Choice | Table):
            raise ValueError(f"DDQN learns which row of a table to choose; the action is a {self.policy.action.kind}")
        self._check_going_on()
        if (self.policy.trigger is None) != (self.ddqn.trigger is None):
            raise ValueError("a policy with a [policy.trigger] learns it by a [ddqn.trigger], and no other; give both")
        if self.ddqn.period is not None and self.ddqn.decision_latency >= self.ddqn.period:
            raise ValueError("ddqn: the period is shorter than the decision takes; give a longer one")
        self.check_trainable("DDQN")
        self.check_places(self.ddqn.episode)
        return self

    def _check_going_on(self) -> None:
        d = self.ddqn
        triggered = d.trigger is not None or self.policy.trigger is not None
        if triggered and (d.start is not None or d.exchange is not None):
            raise ValueError("a trigger is learnt from the beginning and offline; leave start and exchange out")
        if d.exchange is not None and self.flows:
            raise ValueError("agents that learn online stay while the network runs, flows do not; leave exchange out")
        if d.exchange is not None and d.exchange > d.episode:
            raise ValueError("ddqn: the exchange is longer than an episode; give a shorter one")

    def untriggered(self) -> "DdqnConfig":
        """The training of the policy as one that is asked every time."""
        ddqn = self.ddqn.model_copy(update={"trigger": None})
        return self.model_copy(update={"policy": self.policy.untriggered(), "ddqn": ddqn})
