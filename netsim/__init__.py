"""Packet-level simulator of RDMA congestion control: fabrics of switches, paced queue pairs, and who sets their rates.

from netsim import baselines, policies, simulate
simulate("many-to-one:64", policies.native(policy, weights), seed=1).metrics
simulate("websearch:60%@acc-fabric", baselines.by_name("dcqcn"), seed=1).metrics

Each name is imported when it is first used: a command's help needs the names of places, and not the simulator.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netsim import baselines, policies, scenarios
    from netsim.arrays import ArrayEnv, Batch
    from netsim.cohorts import Cohort, Wire
    from netsim.engines import Engines
    from netsim.failures import Failure
    from netsim.mixes import Mix, Part
    from netsim.network import Network
    from netsim.scenarios import Flow, Flows, Scenario
    from netsim.simulation import Result, Simulation, simulate

_MODULES = {
    "arrays": ("ArrayEnv", "Batch"),
    "cohorts": ("Cohort", "Wire"),
    "engines": ("Engines",),
    "failures": ("Failure",),
    "mixes": ("Mix", "Part"),
    "network": ("Network",),
    "scenarios": ("Flow", "Flows", "Scenario"),
    "simulation": ("Result", "Simulation", "simulate"),
}
"""Modules and the names that the package takes from each."""
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "ArrayEnv",
    "Batch",
    "Cohort",
    "Engines",
    "Failure",
    "Flow",
    "Flows",
    "Mix",
    "Network",
    "Part",
    "Result",
    "Scenario",
    "Simulation",
    "Wire",
    "baselines",
    "policies",
    "scenarios",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'netsim' has no attribute {name!r}")
    if name in _MODULE_OF:
        return getattr(import_module(f"netsim.{_MODULE_OF[name]}"), name)
    return import_module(f"netsim.{name}")


def __dir__() -> list[str]:
    return list(__all__)
