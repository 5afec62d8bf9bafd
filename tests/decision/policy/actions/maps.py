"""Action maps over queue_marking as programs whose sums are fields of the context."""

import numpy as np
from numpy.typing import NDArray

from decision.ir.forest import Forest
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.interpret import trace
from decision.ir.program import Program, ProgramBuilder
from decision.policy.actions import Action


def program_of(action: Action) -> Program:
    """Context fields sum_0, sum_1, .. (int32) in, the interface's knobs out."""
    b = ProgramBuilder(Forest((), (), (0,), action.leaf_bits), QUEUE_MARKING)
    sums = [b.state_in(f"sum_{k}", "int32") for k in range(action.sums)]
    for k, node in enumerate(sums):
        b.state_out(f"sum_{k}", node)
    return b.finish(*action.integer(b, sums))


def knobs_of(program: Program, sums: NDArray[np.int64]) -> NDArray[np.int64]:
    """[N, knobs] of sums [N, K]."""
    event = dict.fromkeys(QUEUE_MARKING.event_names, 0)
    state = {f"sum_{k}": column for k, column in enumerate(sums.T)}
    values = trace(program, event, {"capacity_bytes": 1}, state)
    return np.stack([np.broadcast_to(values[result], len(sums)) for result in program.results], axis=1)
