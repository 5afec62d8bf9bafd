"""`[network]` and `[agents.NAME]` of a recipe: which network, who decides in it, and which agents are to be taught.

[agents.senders]                        [agents.queues]
interface = "flow_rate"                 interface = "queue_marking"
baseline = "dcqcn"                      teacher = "my-teacher"
                                        period = "100 us"
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

from decision.errors import InputError
from decision.interface import Interface
from decision.interfaces import FLOW_RATE, INTERFACES
from decision.quantity import DurationPs
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.cohorts import Cohort
from netsim.deployment import Deployment
from netsim.network_file import from_table
from netsim.network_file import load as load_network
from netsim.policies import PolicySpec, fixed
from netsim.sites import SITES


def _with_site(name: str) -> str:
    if name not in SITES:
        raise ValueError(f"agents of {name!r} live in no network; choose {', '.join(SITES)}")
    return name


class AgentOptions(BaseModel):
    """One kind of agents, and who decides at them: a ``baseline`` by its name or TOML file, ``fixed`` knobs, or a
    ``teacher`` that is distilled. ``period``: how often those are asked that are not asked on a response; ``level``:
    only when this signal crosses the value."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    interface: Annotated[str, AfterValidator(_with_site)]
    teacher: str | None = None
    baseline: str | None = None
    fixed: dict[str, int] | None = None
    period: DurationPs | None = None
    level: tuple[str, int] | None = None

    @model_validator(mode="after")
    def _decided(self) -> "AgentOptions":
        deciders = [name for name in ("teacher", "baseline", "fixed") if getattr(self, name) is not None]
        if len(deciders) != 1:
            named = " and ".join(deciders) if deciders else "nobody"
            raise ValueError(f"{named} decides here; give one of teacher, baseline and fixed")
        periodic = INTERFACES[self.interface].trigger == "period"
        if self.baseline is not None and self.interface != FLOW_RATE.name:
            raise ValueError(f"a baseline steers flows, not agents of {self.interface}; give a teacher or fixed knobs")
        if periodic and not self.period:
            raise ValueError(f'agents of {self.interface} are asked every period; give one, period = "100 us"')
        if not periodic and (self.period is not None or self.level is not None):
            raise ValueError(f"agents of {self.interface} are asked on a response; leave period and level out")
        return self

    @property
    def of(self) -> Interface:
        return INTERFACES[self.interface]


Agents = Mapping[str, AgentOptions]


def taught(teacher: str | None, agents: Agents) -> AgentOptions:
    """The agents whose teacher is distilled; ``teacher`` alone stands for flows. ValueError unless there is one, and
    unless each place has one who decides."""
    everyone = {**({} if teacher is None else {"teacher": AgentOptions(interface=FLOW_RATE.name, teacher=teacher)})}
    everyone |= agents
    pupils = [name for name, agent in everyone.items() if agent.teacher is not None]
    if len(pupils) != 1:
        said = f"{' and '.join(pupils)} have one each" if pupils else "none is named"
        raise ValueError(f"a recipe has one teacher, and {said}; give `teacher`, or one [agents.NAME] with a teacher")
    for interface in {agent.interface for agent in everyone.values()}:
        same = [name for name, agent in everyone.items() if agent.interface == interface]
        if len(same) > 1:
            raise ValueError(f"{' and '.join(same)} both decide at the agents of {interface}; leave one out")
    if all(agent.interface != FLOW_RATE.name for agent in everyone.values()):
        raise ValueError(
            f'nobody steers the flows; add [agents.NAME] with interface = "{FLOW_RATE.name}" and a baseline'
        )
    return everyone[pupils[0]]


def deployment(network: str | dict[str, Any], pupil: AgentOptions, agents: Agents, path: Path) -> Deployment:
    """Where the recipe in ``path`` has its agents taught and judged. InputError names what is wrong."""
    try:
        net = load_network(path.parent / network) if isinstance(network, str) else from_table(network, "network")
        others = [agent for agent in agents.values() if agent is not pupil]
        flows = [_decider(agent, path.parent) for agent in others if agent.of == FLOW_RATE]
        cohorts = [_cohort(agent, path.parent) for agent in others if agent.of != FLOW_RATE]
        if pupil.level is not None:
            Cohort(fixed(pupil.of, {k.name: k.low for k in pupil.of.knobs}), pupil.period or 0, level=pupil.level)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return Deployment(net, pupil.of, flows[0] if flows else None, tuple(cohorts), pupil.period or 0, pupil.level)


def _cohort(agent: AgentOptions, folder: Path) -> Cohort:
    decider = _decider(agent, folder)
    assert not isinstance(decider, BaselineSpec)
    return Cohort(decider, agent.period or 0, level=agent.level)


def _decider(agent: AgentOptions, folder: Path) -> PolicySpec | BaselineSpec:
    if agent.fixed is not None:
        return fixed(agent.of, agent.fixed)
    assert agent.baseline is not None
    path = folder / agent.baseline
    return baselines.load(path) if path.suffix == ".toml" else baselines.by_name(agent.baseline)
