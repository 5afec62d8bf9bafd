"""Recipes: one TOML file that says all of a run, from the teacher to the verdict."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, field_validator, model_validator

from codegen.choose import Limits
from codegen.engines import ENGINES
from codegen.identity import PREFIX, check_prefix
from codegen.lower import PASSES, Options, check
from codegen.targets import SHOWN
from decision.artefact.documents import Format1, load_toml
from decision.artefact.errors import InputError
from decision.artefact.option_help import Shown
from decision.artefact.quantity import parse_duration_ps
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.policy.neighbourhood import Around
from distill.options import DistillOptions, RolloutOptions, Scenarios, Seeds
from emulator.compile import Toolchain, toolchain
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.devices import chosen
from netsim.network_file import from_table
from netsim.network_file import load as load_network
from netsim.policies import fixed
from netsim.simulation import DURATION_PS, WINDOW_PS
from netsim.tolerance import DEFAULT, Allowance, tolerance
from rlcc.agents import AgentOptions
from rlcc.evaluation import linux, prediction
from rlcc.evaluation.grid import Grid
from rlcc.gate.closed_loop import GateNetworks
from rlcc.gate.requirements import Requirement, requirement
from rlcc.scenario_lists import listed
from rlcc.search.options import SearchOptions
from verify.trusted.properties import Property

Positive = Annotated[int, Field(ge=0, lt=2**31)]


class EmitOptions(Strict):
    """`[emit]` of a recipe and the options of `rlcc emit`: the target, and how the decision is compiled."""

    target: str = Field(default="connectx6dx", description=f"Target: {', '.join(SHOWN[:-1])}, or {SHOWN[-1]}.")
    engine: Annotated[str, Shown(choices=tuple(ENGINES))] = Field(
        default="ibex-small", description="Cost model for choosing the form."
    )
    optimise: Literal["worst", "mean", "size"] = Field(default="worst", description="Optimisation goal.")
    form: Literal["auto", "branches", "index", "joint"] = Field(
        default="auto", description="Form of the trees or network."
    )
    max_code: Positive | None = Field(default=None, description="Maximum predicted code size, bytes.")
    max_table: Positive | None = Field(default=2048, description="Maximum size of constant tables, bytes.")
    max_cycles: Positive | None = Field(
        default=None, description="Maximum predicted cycles of the trees: take the smallest form within it."
    )
    exclude_passes: Annotated[list[str], RenamedFrom("without")] = Field(
        default=[], description=f"Pass to skip: {', '.join(PASSES)}."
    )
    one_function: bool = Field(default=False, description="Inline trees that are emitted as branches.")
    constants: Annotated[list[str], RenamedFrom("fix")] = Field(
        default=[], description="Parameter to emit as a constant, at the value the student was distilled for."
    )
    prefix: str = Field(
        default=PREFIX,
        exclude_if=lambda prefix: prefix == PREFIX,
        description="First word of all file and C names; two policies in one image need two.",
    )

    def compiler(self) -> Options:
        """The same as the compiler takes it; InputError for a pass or an engine that there is not."""
        options = Options(
            engine=self.engine,
            optimise=self.optimise,
            form=self.form,
            limits=Limits(self.max_code, self.max_table, self.max_cycles),
            without=tuple(self.exclude_passes),
            one_function=self.one_function,
        )
        check(options)
        check_prefix(self.prefix)
        return options


class EmulateOptions(Strict):
    """The engine profile, and the compiler that makes its machine code."""

    profile: str = Field(default="ibex-small", description="Engine profile, name or TOML file.")
    compiler: Literal["clang", "gcc"] = Field(default="clang", description="clang, or an installed RISC-V gcc.")
    optimise: str = Field(default="-O2", description="Optimisation level.")

    def toolchain(self) -> Toolchain:
        """All of it looked up; InputError for what is not there."""
        return toolchain(self.profile, self.compiler, self.optimise)


class Match(Strict):
    """How far the integer program's actions may be off its teacher's, in states that no training saw.

    An action is the multiplier of the rate - 1. Each limit holds in every network by itself. Most of a large error lies
    in the first decisions of a crowd of flows, where the teacher acts on what the student's window does not hold.
    """

    rmse: float = Field(default=0.01, ge=0, le=4, description="Maximum root mean square of the action error.")
    p99: float = Field(default=0.05, ge=0, le=4, description="Maximum 99th percentile of the action error.")
    maximum: float = Field(default=0.35, ge=0, le=4, description="Maximum action error.")
    trigger_difference: Annotated[float, RenamedFrom("triggered")] = Field(
        default=0.1,
        ge=0,
        le=1,
        exclude_if=lambda share: share == 0.1,
        description="Maximum difference between the shares of decisions in which the two triggers fire.",
    )
    scenarios: Annotated[
        Annotated[Scenarios, BeforeValidator(listed)] | None, Shown(default="those of the closed loop")
    ] = Field(default=None, description="Scenarios of the rollouts that the gate makes if none are given.")
    duration: Annotated[DurationPs, Field(gt=0)] = Field(
        default=parse_duration_ps("100 ms"), description="Duration of each of these rollouts."
    )
    seed: int = Field(
        default=9001, ge=0, lt=2**62, description="Seed of these rollouts; no recipe shipped with rlcc distils with it."
    )


class Neighbourhood(Strict):
    """How far the student's action may lie outside its teacher's actions around a state, in every cell of its forest
    (rlcc.gate.neighbourhood)."""

    limit: float = Field(
        default=0.25,
        ge=0,
        le=4,
        description="Maximum deviation of an action from the teacher's actions in nearby states, fraction of the rate.",
    )
    share: Annotated[float, Shown(percent=True)] = Field(
        default=0.2, ge=0, lt=1, description="Nearby states: each feature differs by at most this fraction."
    )
    action: float = Field(
        default=0.02,
        ge=0,
        le=4,
        description="Nearby states: each past action differs by at most this much; 0.02 is 2 % of the rate.",
    )
    proved_limit: Annotated[float | None, RenamedFrom("proved"), Shown(default="neighbourhood.limit")] = Field(
        default=None, ge=0, le=4, description="Limit of the deviation bound over all states."
    )
    proof: bool = Field(
        default=True,
        exclude_if=lambda proof: proof,
        description="Require the deviation bound over all states to be proved; false: accept one that is not, and an "
        "int8 network without a search.",
    )
    warm_up: int = Field(
        default=4,
        ge=0,
        le=1000,
        description="Number of times an LSTM teacher sees the window's oldest decision before the window.",
    )
    seed: int = Field(
        default=1, ge=0, lt=2**62, description="Seed of the cells to search if a student has too many for all."
    )

    @property
    def around(self) -> Around:
        return Around(self.share, self.action)

    @model_validator(mode="after")
    def _one_of_both(self) -> "Neighbourhood":
        if self.proved_limit is not None and not self.proof:
            raise ValueError("proved_limit limits what proof = false does not demand; leave out one of them")
        return self


OF_PROFILE = Shown(default="the profile's")


class Sizes(Strict):
    """Bytes that the firmware may take beside what the engine's profile allows; None: what that allows."""

    code: Annotated[Positive | None, OF_PROFILE] = Field(default=None, description="Maximum code size, bytes.")
    table: Annotated[Positive | None, OF_PROFILE] = Field(
        default=None, description="Maximum size of constant tables, bytes."
    )
    context: Annotated[Positive | None, OF_PROFILE] = Field(
        default=None, description="Maximum context size, bytes per flow."
    )
    stack: Annotated[Positive | None, OF_PROFILE] = Field(default=None, description="Maximum stack size, bytes.")


def _tolerance(allowed: object) -> dict[str, Allowance]:
    if not isinstance(allowed, dict):
        raise ValueError("give a table of metrics and what is allowed of each")
    try:
        return tolerance(allowed)
    except InputError as error:
        raise ValueError(str(error)) from None


def _texts(allowed: dict[str, Allowance]) -> dict[str, str]:
    """As it can be read again; what is missing of the default is not judged."""
    return dict.fromkeys(DEFAULT, "any") | {name: one.text() for name, one in allowed.items()}


Tolerance = Annotated[dict[str, Allowance], BeforeValidator(_tolerance), PlainSerializer(_texts)]


class OnLinux(Strict):
    """Cells that a real kernel's TCP carries under the firmware, of the target linux-bpf, and that netsim must predict
    (rlcc/evaluation/prediction.py)."""

    paths: Annotated[tuple[str, ...], Field(min_length=1), Shown(default=f'["{linux.PATH}"]')] = Field(
        default=(linux.PATH,), description="Bottlenecks, each RATE, RTT, QUEUE."
    )
    scenarios: Annotated[tuple[str, ...], Field(min_length=1), Shown(default='["many-to-one:8"]')] = Field(
        default=("many-to-one:8",), description="Scenarios in a real kernel."
    )
    duration: Annotated[DurationPs, Field(ge=10**11, le=10**14)] = Field(
        default=parse_duration_ps("3 s"),
        description="Duration of each run in the guest's time; measured from 25 % to 85 %.",
    )
    seed: int = Field(default=11, ge=0, lt=2**31, description="Seed of these runs.")

    def grid(self, firmware: Path) -> Grid:
        """The cells. InputError where the firmware is of another target, or there is nothing to predict."""
        return prediction.grid(firmware, self.paths, self.scenarios, self.duration, self.seed)


def _requirement(text: object) -> Requirement:
    if isinstance(text, Requirement):
        return text
    if not isinstance(text, str):
        raise ValueError(f'{text!r} is no requirement; give a text such as "goodput >= 0.9"')
    try:
        return requirement(text)
    except InputError as error:
        raise ValueError(str(error)) from None


Required = Annotated[Requirement, BeforeValidator(_requirement), PlainSerializer(Requirement.text)]

DEFAULT_TOLERANCE = ", ".join(f'{name} = "{allowed.text()}"' for name, allowed in DEFAULT.items())


class GateOptions(Strict):
    """Requirements on a firmware folder."""

    budget: DurationPs = Field(description='Maximum decision time, for example "0.9 us".')
    scenarios: Annotated[Scenarios, BeforeValidator(listed)] = Field(
        default="all-kinds",
        validate_default=True,
        description="Traffic of a simulated network to judge in. A recipe may name a list of rlcc/scenario_lists.toml "
        "instead.",
    )
    seeds: Seeds = Field(default=[11], description="Seed of the simulated networks.")
    duration: DurationPs = Field(default=DURATION_PS, description="Duration of each simulation.")
    window: Annotated[tuple[DurationPs, DurationPs], Shown(default='["50 ms", "170 ms"]')] = Field(
        default=WINDOW_PS, description="Measured part of each simulation, from its start."
    )
    tolerance: Annotated[Tolerance, Shown(default=DEFAULT_TOLERANCE)] = Field(
        default=dict(DEFAULT), description="Allowed difference of each metric from the teacher's."
    )
    require: list[Required] = Field(
        default=[],
        exclude_if=lambda required: not required,
        description="Limit of a metric in each simulated network, besides the comparison with the teacher: "
        '"goodput >= 0.9".',
    )
    match: Match = Match()
    neighbourhood: Neighbourhood = Neighbourhood()
    sizes: Sizes = Sizes()
    proof: bool = Field(
        default=True,
        description="Require a certificate; false: compare the budget with a bound over all inputs, else with the "
        "slowest vector and the margin.",
    )
    margin: Annotated[float, Shown(percent=True)] = Field(
        default=0.1, ge=0, le=10, description="Margin on the slowest vector if nothing is proved."
    )
    mean_budget: Annotated[
        Annotated[DurationPs, Field(gt=0)] | None, RenamedFrom("mean"), Shown(default="gate.budget")
    ] = Field(
        default=None,
        exclude_if=lambda budget: budget is None,
        description="Maximum mean decision time of a policy with a trigger, at the rate it fires in the rollouts.",
    )
    max_regression: Annotated[float, Shown(percent=True)] = Field(
        default=0.05, ge=0, le=10, description="Maximum regression from the reference."
    )
    property: Annotated[tuple[Property, ...], Shown(default="[]")] = Field(
        default=(), description="Properties that the policy must have, decided for all inputs."
    )
    run_on_host: bool = Field(default=False, description="Also run the C on this machine under sanitizers.")
    linux: OnLinux | None = Field(default=None, exclude_if=lambda linux: linux is None)
    """None: no kernel is booted."""
    device: str | None = Field(
        default=None,
        exclude_if=lambda device: device is None,
        description="Device model to judge on: NAME is a file of decision/devices; with NAME:FLOWS up to FLOWS "
        "queue pairs share a context.",
    )

    @field_validator("require")
    @classmethod
    def _one_a_metric(cls, required: list[Requirement]) -> list[Requirement]:
        metrics = [one.metric for one in required]
        if twice := [metric for metric in metrics if metrics.count(metric) > 1]:
            raise ValueError(f"{twice[0]} is required twice; give one requirement a metric")
        return required

    @field_validator("budget")
    @classmethod
    def _attainable(cls, budget: int) -> int:
        if budget <= 0:
            raise ValueError('a budget of 0 cannot be met; give what a decision may take, for example "0.9 us"')
        return budget

    @field_validator("device")
    @classmethod
    def _is_there(cls, device: str | None) -> str | None:
        try:
            return device if device is None else chosen(device).name
        except InputError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _times(self) -> "GateOptions":
        begin, end = self.window
        if not 0 <= begin < end <= self.duration:
            raise ValueError("the window must lie within the duration")
        return self

    def networks(self, deployment: Deployment) -> GateNetworks:
        """Returns the networks to judge in."""
        return GateNetworks(self.scenarios, self.seeds, deployment, self.duration, self.window)


def _network(value: object) -> object:
    if not isinstance(value, str | dict):
        raise ValueError(f"{value!r} is no network; give a TOML file of one, or its keys in [network]")
    return value


class Recipe(Strict):
    """A recipe file. Paths are relative to its folder. ``teacher`` alone is short for the agents of flow_rate with that
    teacher; ``network``: a TOML file, or its keys."""

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    """Name of the recipe."""
    teacher: str | None = None
    """Teacher of flows: a folder or weights file; short for a table of agents."""
    network: Annotated[str | dict[str, Any], BeforeValidator(_network)] = Field(default={})
    """Network in which the policy is taught and judged: a TOML file, or its keys."""
    agents: dict[str, AgentOptions] = Field(default={})
    seed: int = Field(default=1, ge=0, lt=2**31)
    """Seed of the fit and of the random vectors."""
    rollout: RolloutOptions
    distill: DistillOptions = DistillOptions()
    emit: EmitOptions = EmitOptions()
    emulate: EmulateOptions = EmulateOptions()
    gate: GateOptions
    search: SearchOptions = SearchOptions()

    @property
    def everyone(self) -> dict[str, AgentOptions]:
        """All agents by name, those that ``teacher`` stands for too."""
        if self.teacher is None:
            return self.agents
        return {"teacher": AgentOptions(interface=FLOW_RATE.name, teacher=self.teacher)} | self.agents

    @property
    def pupil(self) -> AgentOptions:
        """The agents whose teacher is distilled."""
        return next(agent for agent in self.everyone.values() if agent.teacher is not None)

    @model_validator(mode="after")
    def _one_decides(self) -> "Recipe":
        """One teacher, and one who decides at each place."""
        everyone = self.everyone
        pupils = [name for name, agent in everyone.items() if agent.teacher is not None]
        if len(pupils) != 1:
            said = f"{' and '.join(pupils)} have one each" if pupils else "none is named"
            raise ValueError(
                f"a recipe has one teacher, and {said}; give `teacher`, or one [agents.NAME] with a teacher"
            )
        for interface in {agent.interface for agent in everyone.values()}:
            same = [name for name, agent in everyone.items() if agent.interface == interface]
            if len(same) > 1:
                raise ValueError(f"{' and '.join(same)} both decide at the agents of {interface}; leave one out")
        if all(agent.interface != FLOW_RATE.name for agent in everyone.values()):
            raise ValueError(
                f'nobody steers the flows; add [agents.NAME] with interface = "{FLOW_RATE.name}" and a baseline'
            )
        pupil = self.pupil
        if pupil.period is not None and self.rollout.decision_latency >= pupil.period:
            raise ValueError(f"the period of {pupils[0]} is shorter than a decision takes; give a longer one")
        return self


def load_recipe(path: Path) -> Recipe:
    """Read and check a recipe; InputError names the key that is wrong."""
    return load_toml(Recipe, path)


def teacher_path(recipe: Recipe, path: Path) -> Path:
    """Returns the teacher's path in the recipe ``path``."""
    place = (path.parent / str(recipe.pupil.teacher)).resolve()
    if not place.exists():
        raise InputError(f"{path}: teacher: there is no {place}; train one with rlcc train or name another")
    return place


def deployment_of(recipe: Recipe, path: Path) -> Deployment:
    """Returns the deployment in which the recipe ``path`` teaches and judges its agents: its network, and the other
    agents in it. InputError names what is wrong."""
    network, pupil, folder = recipe.network, recipe.pupil, path.parent
    try:
        net = load_network(folder / network) if isinstance(network, str) else from_table(network, "network")
        others = [agent for agent in recipe.agents.values() if agent is not pupil]
        flows = [agent.decider(folder) for agent in others if agent.of == FLOW_RATE]
        cohorts = [agent.cohort(folder) for agent in others if agent.of != FLOW_RATE]
        if pupil.level is not None or pupil.idle_rule is not None:
            stays = fixed(pupil.of, {k.name: k.low for k in pupil.of.knobs})
            Cohort(stays, pupil.period or 0, level=pupil.level, idle=pupil.idle_rule)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    asked = pupil.period or 0, pupil.level, pupil.idle_rule
    return Deployment(net, pupil.of, flows[0] if flows else None, tuple(cohorts), *asked)
