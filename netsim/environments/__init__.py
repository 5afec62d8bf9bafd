"""Environments for people who train elsewhere (docs/how-to/environments.md): each flow of a network is an agent.

from netsim.environments.gymnasium_vector import FlowVectorEnv
env = FlowVectorEnv(Task("many-to-one:8"))
"""

from netsim.environments.task import Task

__all__ = ["Task"]
