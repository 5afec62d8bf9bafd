"""Deciders in a network, except for one kind of agents, whose decider is taught or judged there.

Deployment()                                                       flows on a switch, and nothing else decides
Deployment(flows=by_name("dcqcn"), interface=QUEUE_MARKING, period_ps=100 * US)
                                                                   switch queues under DCQCN's senders
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.interface import Interface
from decision.ir.interfaces.flow_rate import FLOW_RATE
from netsim.assembly import facts_in, paths_of, place
from netsim.baselines import BaselineSpec
from netsim.cohorts import Cohort
from netsim.network import Network
from netsim.policies import PolicySpec, interface_of
from netsim.samples import Sampling
from netsim.scenarios import instantiate
from netsim.trials import Trial


@dataclass(frozen=True)
class Deployment:
    """``interface``: of the agents in question; where these are no flows, ``flows`` steers those, and the agents are
    asked every ``period_ps`` (with ``level`` only those whose signal crossed it, with ``idle`` only busy ones, as of a
    ``Cohort``). ``cohorts``: who else decides."""

    network: Network = field(default_factory=Network)
    interface: Interface = FLOW_RATE
    flows: PolicySpec | BaselineSpec | None = None
    cohorts: tuple[Cohort, ...] = ()
    period_ps: int = 0
    level: tuple[str, int] | None = None
    idle: tuple[str, str, int] | None = None

    def __post_init__(self) -> None:
        if (self.flows is None) != (self.interface == FLOW_RATE):
            raise InputError(
                f"the agents in question are of {self.interface.name}: "
                + ("say who steers the flows" if self.flows is None else "nobody else may steer the flows")
            )

    @property
    def cohort(self) -> int:
        """Returns the place of their decisions among an outcome's records."""
        return 0 if self.flows is None else 1

    def places(
        self, scenario: str, seed: int, duration_ps: int, flows: Interface = FLOW_RATE
    ) -> dict[str, NDArray[np.uint32]]:
        """Returns what each agent in question knows of the network, by name [agents]. ``flows``: interface of flows."""
        drawn = instantiate(scenario, seed, duration_ps, self.network)
        if self.flows is None:
            return paths_of(flows, drawn, *place(drawn, self.network), seed).places(flows)
        return dict(facts_in(drawn, self.network, self.interface, self.period_ps, seed).known())

    def trial(
        self,
        decider: PolicySpec | BaselineSpec,
        scenario: str,
        *,
        seed: int,
        duration_ps: int,
        decision_latency_ps: int,
        window_ps: tuple[int, int] | None = None,
        record_ps: int = 0,
        sampling: Sampling | None = None,
        name: str = "",
    ) -> Trial:
        """``decider`` at the agents in question."""
        theirs = FLOW_RATE if isinstance(decider, BaselineSpec) else interface_of(decider)
        if _standing(theirs) != _standing(self.interface):
            raise InputError(
                f"what decides for agents of {theirs.name} cannot stand at those of {self.interface.name}; a recipe "
                "says which agents are in question and who steers the flows: [agents.NAME], for rlcc run and rlcc gate"
            )
        flows, latency_ps, cohorts = decider, decision_latency_ps, self.cohorts
        if self.flows is not None:
            assert not isinstance(decider, BaselineSpec)
            asked = Cohort(decider, self.period_ps, decision_latency_ps, level=self.level, idle=self.idle)
            flows, latency_ps, cohorts = self.flows, 0, (asked, *self.cohorts)
        return Trial(
            scenario,
            flows,
            seed=seed,
            duration_ps=duration_ps,
            window_ps=window_ps,
            record_ps=record_ps,
            sampling=sampling,
            decision_latency_ps=latency_ps,
            network=self.network,
            cohorts=cohorts,
            name=name,
        )


def _standing(interface: Interface) -> tuple[str, ...]:
    """Returns the parts in which two interfaces must agree for one's decider to serve the other's agents."""
    if interface.agent == "flow":
        return (interface.agent,)
    return interface.agent, interface.site_name, *interface.mapped_names
