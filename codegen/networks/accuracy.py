"""The integer network beside its teacher on recorded decisions: by how much the action is off, or how often another row
is chosen.

Both see the recorded past; what each would do instead is not applied. An LSTM's state is each one's own, so an error
of its state adds up along a flow as it would on the card.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codegen.networks.floats import Weights, actions, activations
from codegen.networks.recorded_decisions import Recorded, integer_rows
from decision.ir.arrays import Integers
from decision.ir.formats import ACTION_BITS
from decision.ir.network import Int8Network
from decision.policy.actions import Action, Choice
from decision.policy.network_decision import Input
from decision.policy.policy import Policy
from decision.policy.records import in_step


def integer_actions(network: Int8Network, rows: Integers, starts: Integers) -> Integers:
    """Actions [N] in Q16 for inputs [N, inputs], along runs that begin at ``starts``."""
    if not network.units:
        return network.evaluate(rows)[:, 0]
    results = np.zeros((len(rows), network.results), dtype=np.int64)
    for now, before in in_step(len(rows), starts):
        state = results[before, 1:] if len(before) else np.zeros((len(now), network.results - 1), dtype=np.int64)
        results[now] = network.evaluate(np.concatenate([rows[now], state], axis=1))
    return results[:, 0]


def errors(
    policy: Policy, weights: Weights, inputs: tuple[Input, ...], network: Int8Network, data: Recorded
) -> NDArray[np.float64]:
    """The action minus the teacher's, of the decisions whose whole history is on record; of a choice 1 where it is
    another."""
    if isinstance(policy.action, Choice):
        theirs = policy.action.chosen(activations(policy, weights, data)["output"])
        ours = policy.action.number(network.evaluate(integer_rows(policy, inputs, data)))
        return np.asarray((ours != theirs)[data.valid], dtype=np.float64)
    of_teacher = actions(policy, activations(policy, weights, data)["output"])
    got = integer_actions(network, integer_rows(policy, inputs, data), data.starts) / 2**ACTION_BITS
    return np.asarray((got - of_teacher)[data.valid], dtype=np.float64)


def told(error: NDArray[np.float64], action: Action) -> dict[str, Any]:
    """Returns the number of decisions and the error: for a choice the share of differing decisions, else root mean
    square, 99th percentile and greatest error of the multiplier."""
    size = np.abs(error) if error.size else np.zeros(1)
    if isinstance(action, Choice):
        return {"decisions": int(error.size), "differ": round(float(np.mean(size)), 8)}
    return {
        "decisions": int(error.size),
        "rmse": round(float(np.sqrt(np.mean(size**2))), 8),
        "p99": round(float(np.quantile(size, 0.99)), 8),
        "max": round(float(size.max()), 8),
    }
