"""Training recipes of a policy gradient: a policy that chooses a row for each long flow, where it learns, and how.

format = 1
[policy]            # policy.toml without its weights; its action is a `choice`
[network]           # as of `rlcc run`
[pg]                # senders, period, scenarios, hyper-parameters
"""

from typing import Annotated, Any

from pydantic import Field, model_validator

from decision.artefact.documents import Format1
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.policy.actions import Choice
from decision.policy.policy import Policy
from netsim import baselines
from netsim.deployment import Deployment
from netsim.network import MS, Network
from netsim.network_file import from_table
from teachers.round_options import ValidatedTraining


class Pg(ValidatedTraining):
    """``senders``: the baseline at the flows; ``period``: how often the network looks which long flows are to be asked.
    A round plays every scenario ``rollouts_per_scenario`` times with the same arrivals, and learns from all decisions
    of the first ``episode`` in ``epochs``; ``clip``: teachers/pg.py. ``horizon``: for how long a decision answers for
    the flows around it. ``stay_probability``: the probability with which the first round leaves what a flow has of a
    knob; 0: its rows are drawn evenly. ``entropy``: what a nat of the policy's entropy is worth, in standard deviations
    of the return."""

    senders: str = Field(description="Baseline that controls the flows.")
    period: DurationPs = Field(
        gt=0, description="Period in which the network looks for long flows that need a decision."
    )
    episode: DurationPs = Field(
        default=300 * MS, gt=0, description="Learn from the decisions in this first part of each run."
    )
    horizon: DurationPs = Field(
        default=100 * MS, gt=0, description="Time in which a decision answers for the flows around it."
    )
    rollouts_per_scenario: Annotated[int, RenamedFrom("plays")] = Field(
        default=4, ge=2, le=64, description="Runs per scenario and round, with the same arrivals."
    )
    epochs: Annotated[int, RenamedFrom("passes")] = Field(
        default=4, ge=1, le=100, description="Passes over the decisions of a round."
    )
    clip: float = Field(default=0.2, gt=0, lt=1, description="Clipping range of the probability ratio.")
    batch: int = Field(default=256, ge=1, le=65_536, description="Decisions per gradient step.")
    learning_rate: float = Field(default=1e-3, gt=0, le=1, description="Learning rate of Adam in the first round.")
    final_learning_rate: float = Field(
        default=1e-4, gt=0, le=1, description="Learning rate in the last round, approached linearly."
    )
    stay_probability: Annotated[float, RenamedFrom("stays")] = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="Probability in the first round that a knob keeps its value; 0: all rows are equally likely.",
    )
    entropy: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Weight of the policy's entropy, in standard deviations of the return per nat.",
    )
    validation_duration: Annotated[DurationPs, RenamedFrom("validate_for")] = Field(
        default=400 * MS, gt=0, description="Duration of a validation run."
    )


class PgConfig(Strict):
    """A training recipe, checked."""

    format: Format1
    """Format version of the file."""
    policy: Policy
    network: dict[str, Any] = Field(default={})
    """Keys of the network that differ from the default."""
    pg: Pg

    @model_validator(mode="after")
    def _trainable(self) -> "PgConfig":
        agents = self.policy.observation.agents
        if not isinstance(self.policy.action, Choice):
            raise ValueError(
                f"this policy gradient chooses a row of a table; the action is a {self.policy.action.kind}"
            )
        if self.policy.architecture.kind != "mlp":
            raise ValueError("this policy gradient trains an MLP")
        if agents.name != LONG_FLOW.name:
            raise ValueError(f"this policy gradient trains agents of {LONG_FLOW.name}, not those of {agents.name}")
        if self.policy.trigger is not None:
            raise ValueError("this policy gradient trains no trigger; leave [policy.trigger] out")
        if self.pg.decision_latency >= self.pg.period:
            raise ValueError("pg: the period is shorter than the decision takes; give a longer one")
        try:
            self.deployment()
        except InputError as error:
            raise ValueError(str(error)) from None
        return self

    def deployment(self) -> Deployment:
        """Returns the network in which the agents learn, and its agents."""
        network: Network = from_table(self.network, "network")
        senders, agents = baselines.by_name(self.pg.senders), self.policy.observation.agents
        return Deployment(network, agents, senders, (), self.pg.period)
