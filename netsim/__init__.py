"""Packet-level simulator of RDMA congestion control: one switch, paced queue pairs, a decision an RTT probe.

from netsim import simulate, policies
simulate("many-to-one:64", policies.native(policy, weights), seed=1).metrics
"""

from netsim import policies, scenarios
from netsim.arrays import ArrayEnv, Batch
from netsim.network import Network
from netsim.scenarios import Scenario
from netsim.simulation import Result, Simulation, simulate

__all__ = ["ArrayEnv", "Batch", "Network", "Result", "Scenario", "Simulation", "policies", "scenarios", "simulate"]
