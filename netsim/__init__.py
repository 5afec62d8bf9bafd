"""Packet-level simulator of RDMA congestion control: fabrics of switches, paced queue pairs, and who sets their rates.

from netsim import baselines, policies, simulate
simulate("many-to-one:64", policies.native(policy, weights), seed=1).metrics
simulate("websearch:60%@acc-fabric", baselines.by_name("dcqcn"), seed=1).metrics
"""

from netsim import baselines, policies, scenarios
from netsim.arrays import ArrayEnv, Batch
from netsim.cohorts import Cohort, Wire
from netsim.engines import Engines
from netsim.failures import Failure
from netsim.mixes import Mix, Part
from netsim.network import Network
from netsim.scenarios import Flow, Flows, Scenario
from netsim.simulation import Result, Simulation, simulate

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
