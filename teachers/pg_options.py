"""Training recipes of a policy gradient: a policy that chooses a row for each long flow, where it learns, and how.

format = 1
[policy]            # policy.toml without its weights; its action is a `choice`
[network]           # as of `rlcc run`
[pg]                # senders, period, scenarios, hyper-parameters
"""

from typing import Any

from pydantic import Field, model_validator

from decision.artefact.documents import Format1
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs
from decision.ir.interfaces import LONG_FLOW
from decision.policy.actions import Choice
from decision.policy.policy import Policy
from netsim import baselines
from netsim.deployment import Deployment
from netsim.network import MS, Network
from netsim.network_file import from_table
from teachers.curriculum import Kernels, ScenarioNames
from teachers.round_options import Strict


class Pg(Strict):
    """``senders``: the baseline at the flows; ``period``: how often the network looks which long flows are to be asked.
    A round plays every scenario ``plays`` times with the same arrivals, and learns from all decisions of the first
    ``episode`` in ``passes``; ``clip``: teachers/pg.py. ``horizon``: for how long a decision answers for the flows
    around it. ``stays``: with what probability the first round leaves what a flow has of a knob; 0: its rows are drawn
    evenly. ``validate_for``: how long a run is by which rounds are judged. ``entropy``: what a nat of the policy's
    entropy is worth, in standard deviations of the return."""

    seed: int = Field(ge=0, lt=2**31)
    kernels: Kernels = "any"
    senders: str
    period: DurationPs = Field(gt=0)
    decision_latency: DurationPs = 0
    scenarios: ScenarioNames = Field(min_length=1, max_length=32)
    episode: DurationPs = Field(default=300 * MS, gt=0)
    horizon: DurationPs = Field(default=100 * MS, gt=0)
    plays: int = Field(default=4, ge=2, le=64)
    rounds: int = Field(default=60, ge=1, le=10_000)
    passes: int = Field(default=4, ge=1, le=100)
    clip: float = Field(default=0.2, gt=0, lt=1)
    batch: int = Field(default=256, ge=1, le=65_536)
    learning_rate: float = Field(default=1e-3, gt=0, le=1)  # Adam
    final_learning_rate: float = Field(default=1e-4, gt=0, le=1)  # reached linearly in the last round
    stays: float = Field(default=0.0, ge=0, lt=1)
    entropy: float = Field(default=0.01, ge=0, le=1)
    validate_every: int = Field(default=5, ge=1)  # rounds
    validate_in: ScenarioNames = Field(min_length=1, max_length=32)
    validate_for: DurationPs = Field(default=400 * MS, gt=0)
    validate_seeds: list[int] = Field(default=[7001, 7002], min_length=1, max_length=16)


class PgConfig(Strict):
    """A training recipe, checked."""

    format: Format1
    policy: Policy
    network: dict[str, Any] = Field(default={})
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
        """Where the agents learn."""
        network: Network = from_table(self.network, "network")
        senders, agents = baselines.by_name(self.pg.senders), self.policy.observation.agents
        return Deployment(network, agents, senders, (), self.pg.period)
