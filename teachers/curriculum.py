"""Training recipes: a policy, the scenarios it learns in, ADPG's hyper-parameters and how progress is judged.

    format = 1
    [policy]            # policy.toml without its weights
    [training]          # seed, scenarios, optimiser
    [validation]        # numbers of flows, how often, when to stop

PCC-RL trains on many-to-one with 2, 4 and 8 flows alone; RL-CC on many-to-one and all-to-all. Flows that come and go,
first rates drawn at random, and networks drawn at random are options; without them training is what it was.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, field_validator, model_validator

from decision.artefact.documents import Format1, load_toml
from decision.artefact.errors import InputError
from decision.artefact.option_help import Shown
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.devices import Device
from decision.ir.interfaces.flow_rate import flow_interface
from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.flow_options import OBSERVED
from decision.policy.policy import Policy
from netsim import scenarios
from netsim.assembly import check_contexts
from netsim.devices import chosen
from netsim.network import MS, Network
from teachers.credit import Credit
from teachers.randomisation import NO_RANDOMISATION, Randomisation, Starts


def _known(names: list[str]) -> list[str]:
    return [scenarios.known(name) for name in names]


ScenarioNames = Annotated[list[str], AfterValidator(_known)]
Kernels = Literal["any", "intel", "amd"]
"""Which PyTorch and MKL compute with: teachers/mkl.py."""


class Training(Strict):
    """Networks in which the policy learns, and its learning rates. Sources: RL-CC's paper and the published research
    code ([code])."""

    seed: int = Field(ge=0, lt=2**31, description="Seed of the first weights and of the traffic.")
    kernels: Kernels = Field(default="any", description="Processor whose arithmetic PyTorch and MKL use.")
    scenarios: ScenarioNames = Field(min_length=1, max_length=32, description="Scenarios of the episodes, in turn.")
    episodes: int = Field(
        ge=0, le=100_000, description="Number of episodes; 0: the weights of start under this recipe's policy."
    )
    segments: int = Field(
        default=40, ge=1, le=10_000, description="Gradient steps per episode; each episode begins in an empty network."
    )
    rollout: int = Field(default=15, ge=2, le=1024, description="Decisions per flow and gradient step.")  # [code]
    horizon: int = Field(default=5, ge=1, le=64, description="Deltas that a decision answers for.")
    gamma: float = Field(default=0.99, gt=0, le=1, description="Discount factor.")  # [code]
    action_difference: float = Field(
        default=0.5, ge=0, description="Weight of the mean squared change of the output."
    )  # [code]
    delta_limit: float = Field(
        default=2.0, gt=0, description="Maximum size of delta / target."
    )  # a full buffer is just "too much"
    leak: float = Field(
        default=0.1, ge=0, description="Share of a softsign beside tanh in the gradient, against saturation."
    )
    learning_rate: float = Field(
        default=0.01, gt=0, le=1, description="Learning rate of Adam in the first episode."
    )  # [code]
    final_learning_rate: float = Field(
        default=0.001, gt=0, le=1, description="Learning rate in the last episode, approached linearly."
    )
    adam_eps: float = Field(default=1e-5, gt=0, description="Epsilon of Adam.")  # [code]
    max_gradient_norm: Annotated[float, RenamedFrom("gradient_limit")] = Field(
        default=0.5, gt=0, description="Maximum norm of a gradient."
    )  # [code]
    start: str | None = Field(default=None, description="Teacher of the same architecture to continue from.")
    starts: Starts | None = Field(default=None, description="Distribution of each flow's first rate.")
    start_phase: bool = Field(
        default=False, description="Flows start, brake and recover by the policy's [start] while it learns."
    )
    randomise: Annotated[Randomisation, Shown(default="{}")] = Field(
        default=NO_RANDOMISATION, description="Ranges from which each episode draws its network."
    )
    segment_time: DurationPs = Field(
        default=MS, description="Duration of a segment in which flows come and go."
    )  # a round is 10 ms
    changing_weight: float = Field(
        default=1.0, gt=0, description="Weight of a scenario whose flows come and go, relative to another."
    )
    credit: Annotated[Credit, Shown(default="{}")] = Field(
        default=Credit(), description="Deltas that count for a decision."
    )

    @model_validator(mode="after")
    def _weights(self) -> "Training":
        if self.episodes == 0 and self.start is None:
            raise ValueError("without an episode there are no weights; give start, a teacher that has them")
        return self

    @model_validator(mode="after")
    def _devices_fit(self) -> "Training":
        for device in self.randomise.devices or ():
            network = chosen(device).on(Network())
            for name in self.scenarios:
                try:
                    scenario = scenarios.instantiate(name, self.seed, self.segment_time, network)
                    check_contexts(scenario, network)
                except InputError as error:
                    raise ValueError(f"device {device}: {error}") from None
        return self


class Validation(Strict):
    """Closed-loop runs of many-to-one that decide which weights are kept, and of changing traffic beside them."""

    flows: list[int] = Field(
        default=[2, 8, 64, 512, 2048],
        min_length=1,
        max_length=16,
        description="Numbers of flows of the many-to-one runs.",
    )
    every: int = Field(default=5, ge=1, description="Episodes between two validations.")
    patience: int = Field(default=10, ge=1, description="Stop after this many validations without improvement.")
    settle: DurationPs = Field(
        default=30 * MS, description="Time before the measurement."
    )  # flows start at line rate: a flooded buffer takes some 20 ms to drain
    measure: DurationPs = Field(default=10 * MS, description="Measured time.")
    intervals: int = Field(
        default=40, ge=1, description="Minimum number of decisions per flow before, and in, the measurement."
    )
    seed: int = Field(default=1, ge=0, description="Seed of these runs.")
    changing: ScenarioNames = Field(default=[], max_length=16, description="Scenarios whose flows come and go.")
    changing_time: DurationPs = Field(
        default=50 * MS, description="Measured time of these scenarios, from their start."
    )
    changing_weight: float = Field(
        default=1.0, ge=0, description="Weight of their mean cost, relative to that of many-to-one."
    )

    @field_validator("flows")
    @classmethod
    def _possible(cls, flows: list[int]) -> list[int]:
        if any(not 1 <= n <= 16384 for n in flows):
            raise ValueError("a number of flows is 1 to 16384")
        return flows


class TrainConfig(Strict):
    """A training recipe, checked."""

    format: Format1
    """Format version of the file."""
    policy: Policy
    training: Training
    validation: Validation = Validation()

    @property
    def devices(self) -> dict[str, Device]:
        """The devices that episodes draw, by their names in the recipe."""
        return {name: chosen(name).device for name in self.training.randomise.devices or ()}

    @property
    def learner(self) -> Policy:
        """The policy as it decides in episodes: with its [start] only where the recipe asks for that."""
        if self.policy.start is None or self.training.start_phase:
            return self.policy
        observation = self.policy.observation
        left = [] if self.policy.in_flight is None else ["in_flight"]
        left += [name for name in OBSERVED if getattr(observation, name)]
        observation = observation.model_copy(update={"interface": flow_interface(left).name})
        return self.policy.model_copy(update={"start": None, "observation": observation})

    @model_validator(mode="after")
    def _trainable(self) -> "TrainConfig":
        if self.policy.action.outputs != 1:
            raise ValueError("ADPG trains one continuous action; the action table is for policies from elsewhere")
        congestion_feature(self.policy)
        return self


def congestion_feature(policy: Policy) -> RlCcCongestion | PccRlCongestion:
    """The feature whose delta the policy is rewarded by: the reward is -delta^2."""
    for feature in policy.observation.features:
        if isinstance(feature, RlCcCongestion | PccRlCongestion):
            return feature
    raise ValueError("the policy observes no congestion feature, and the reward is made of one; add rl_cc_congestion")


def load_recipe(path: Path) -> TrainConfig:
    """Read and check a training recipe. InputError names the key and what is wrong with it."""
    return load_toml(TrainConfig, path)
