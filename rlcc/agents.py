"""`[agents.NAME]` of a recipe: who decides in the network, and which agents are to be taught.

[agents.senders]                        [agents.queues]
interface = "flow_rate"                 interface = "queue_marking"
baseline = "dcqcn"                      teacher = "my-teacher"
                                        period = "100 us"
"""

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from decision.artefact.quantity_fields import DurationPs
from decision.artefact.renamed_keys import RenamedFrom
from decision.artefact.strict import Strict
from decision.artefact.suggest import choices
from decision.ir.interface import Interface
from decision.ir.interfaces import INTERFACES
from decision.ir.interfaces.flow_rate import FLOW_RATE
from netsim import baselines
from netsim.baselines import BaselineSpec
from netsim.cohorts import Cohort
from netsim.policies import PolicySpec, fixed
from netsim.sites import SITES

SHORTEST_PS = 100_000
"""Of a period: in less nobody decides, and a network would do little but ask."""


def _with_site(name: str) -> str:
    if name not in SITES:
        raise ValueError(f"agents of {name!r} live in no network; choose {choices(name, SITES)}")
    return name


class AgentOptions(Strict):
    """One kind of agents and its decider: a ``baseline`` by its name or TOML file, ``fixed_knobs``, or a
    ``teacher`` that is distilled. ``period``: how often agents decide that do not decide on a response; ``level``:
    only when this signal crosses the value; ``idle_rule``: not after so many looks at which the signal was not above
    the knob in force, until it is."""

    interface: Annotated[str, AfterValidator(_with_site)]
    """Interface of the agents."""
    teacher: str | None = None
    """Teacher that is distilled: a folder or weights file."""
    baseline: str | None = None
    """Hand-written algorithm of flows: a name or a TOML file."""
    fixed_knobs: Annotated[dict[str, Annotated[int, Field(strict=True)]] | None, RenamedFrom("fixed")] = None
    """Constant knobs by name."""
    period: DurationPs | None = None
    """Time between two decisions of agents that do not decide on a response."""
    level: tuple[str, int] | None = None
    """A signal and a value: agents decide only when the signal crosses the value."""
    idle_rule: Annotated[tuple[str, str, int] | None, RenamedFrom("idle")] = None
    """A signal, a knob and a number: an agent pauses after this number of periods with the signal not above the
    knob, until it is above."""

    @model_validator(mode="after")
    def _decided(self) -> "AgentOptions":
        deciders = [name for name in ("teacher", "baseline", "fixed_knobs") if getattr(self, name) is not None]
        if len(deciders) != 1:
            named = " and ".join(deciders) if deciders else "nobody"
            raise ValueError(f"{named} decides here; give one of teacher, baseline and fixed_knobs")
        periodic = INTERFACES[self.interface].trigger == "period"
        if self.baseline is not None and self.interface != FLOW_RATE.name:
            raise ValueError(f"a baseline steers flows, not agents of {self.interface}; give a teacher or fixed_knobs")
        if periodic and self.period is not None and self.period < SHORTEST_PS:
            raise ValueError("a period is 100 ns or more, about what the fastest decision takes; give a longer one")
        if periodic and not self.period:
            raise ValueError(f'agents of {self.interface} are asked every period; give one, period = "100 us"')
        if not periodic and (self.period, self.level, self.idle_rule) != (None, None, None):
            raise ValueError(f"agents of {self.interface} decide on a response; leave period, level and idle_rule out")
        return self

    @property
    def of(self) -> Interface:
        return INTERFACES[self.interface]

    def decider(self, folder: Path) -> PolicySpec | BaselineSpec:
        """Returns the decider, unless it is to be distilled; a TOML file lies in the recipe's ``folder``."""
        if self.fixed_knobs is not None:
            return fixed(self.of, self.fixed_knobs)
        assert self.baseline is not None
        path = folder / self.baseline
        return baselines.load(path) if path.suffix == ".toml" else baselines.by_name(self.baseline)

    def cohort(self, folder: Path) -> Cohort:
        """Returns the cohort of agents that are no flows."""
        decider = self.decider(folder)
        assert not isinstance(decider, BaselineSpec)
        return Cohort(decider, self.period or 0, level=self.level, idle=self.idle_rule)
