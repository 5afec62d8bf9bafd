"""Which flows are there when: a flow that comes back is another one, in the same place."""

import numpy as np
from numpy.typing import NDArray

from netsim import Simulation
from netsim.scenarios import Scenario

Times = NDArray[np.int64]


class Lives:
    """Lives of one simulation whose window has not been reset: it lists those that have ended."""

    def __init__(self, scenario: Scenario) -> None:
        self.receiver = scenario.column("receiver").astype(np.int64)

    def done(self, simulation: Simulation, flow: NDArray[np.int64], t_ps: Times) -> NDArray[np.bool_]:
        """Whether the lives in which these flows decided at these times are over now."""
        return np.asarray((simulation.rates()[flow] == 0) | (simulation.started_ps()[flow] > t_ps))

    def until(self, simulation: Simulation, flow: NDArray[np.int64], t_ps: Times) -> tuple[Times, Times]:
        """How many flows to the receivers of these flows had begun, and had ended, by these times."""
        window = simulation.window()
        ended_flow = window["completed_flow"].astype(np.int64)
        there = np.flatnonzero(simulation.rates() > 0)
        began_flow = np.concatenate([ended_flow, there])
        began_ps = np.concatenate([window["completed_start_ps"], simulation.started_ps()[there]])
        receiver = self.receiver[flow]
        begun, ended = np.zeros(flow.size, np.int64), np.zeros(flow.size, np.int64)
        for port in np.unique(receiver):
            here = receiver == port
            came = np.sort(began_ps[self.receiver[began_flow] == port])
            left = np.sort(window["completed_finish_ps"][self.receiver[ended_flow] == port])
            begun[here] = np.searchsorted(came, t_ps[here], "right")
            ended[here] = np.searchsorted(left, t_ps[here], "right")
        return begun, ended
