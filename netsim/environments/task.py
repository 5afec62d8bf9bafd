"""Task to learn: a network, what its flows observe, how they act and what they are rewarded for.

The tables are those of a policy.toml and the features those of decision.policy.features: what is trained on a task
becomes a teacher by writing the same tables down. Defaults: RL-CC's (section 3 and published code).
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from decision.ir.arrays import Floats
from decision.ir.formats import ACTION_BITS, U32_MAX
from decision.ir.interfaces.flow_rate import CONTEXT_RATE_BITS
from decision.ir.tape import Reading
from decision.policy.actions import Scale, Table, TanhMap
from decision.policy.features import PccRlCongestion, RlCcCongestion
from decision.policy.policy import Limits, Observation
from netsim import scenarios
from netsim.arrays import ArrayEnv
from netsim.network import MS, Network
from netsim.scenarios import Scenario
from netsim.simulation import DECISION_LATENCY_PS

RL_CC_CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5}
RL_CC_OBSERVATION = Observation.model_validate(
    {
        "window": 2,
        "base_rtt": "8192 ns",
        "line_rate": "100 Gb/s",
        "rtt_max": "4 ms",
        "features": [{"kind": "previous_action"}, RL_CC_CONGESTION | {"scale": -12.5}],
    }
)
RL_CC_ACTION = TanhMap(kind="tanh_map", step=0.2)
RL_CC_LIMITS = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"})
RL_CC_REWARD = RlCcCongestion.model_validate(RL_CC_CONGESTION | {"scale": 1.0})


@dataclass(frozen=True)
class Task:
    """A network and its learning problem. ``reward`` is the congestion feature whose unscaled square is the cost;
    ``record`` keeps all decisions for ``env.episode.arrays.drain_records()`` (columns: decision.policy.records)."""

    scenario: Scenario | str = "many-to-one:8"
    observation: Observation = RL_CC_OBSERVATION
    action: Scale = RL_CC_ACTION
    limits: Limits = RL_CC_LIMITS
    reward: RlCcCongestion | PccRlCongestion = RL_CC_REWARD
    duration_ps: int = 20 * MS
    decision_latency_ps: int = DECISION_LATENCY_PS
    network: Network = field(default_factory=Network)
    record: bool = False

    @property
    def flows(self) -> int:
        """Number of agents: one a flow of the scenario."""
        scenario = scenarios.parse(self.scenario) if isinstance(self.scenario, str) else self.scenario
        return len(scenario.flows)

    def start(self, seed: int) -> ArrayEnv:
        """The network at time 0. The seed means what it means to ``netsim.simulate``."""
        return ArrayEnv(
            self.scenario,
            seed,
            duration_ps=self.duration_ps,
            decision_latency_ps=self.decision_latency_ps,
            record=self.record,
            network=self.network,
            rate_min_q30=self.limits.rate_min,
            rate_max_q30=self.limits.rate_max,
            rate_initial_q30=self.limits.rate_initial,
            device_rate=self.observation.device_rate,
            acks=self.observation.acks,
            rtt_slack=self.observation.rtt_slack,
        )

    # --- the observation: a row of window x features, newest decision first -------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names of a row's columns: the feature's kind and how many decisions ago."""
        o = self.observation
        return tuple(f"{feature.kind}_{back}" for back in range(o.window) for feature in o.features)

    def initial_row(self) -> NDArray[np.float32]:
        """A new flow's history [window x features]."""
        return np.array([f.initial for f in self.observation.features] * self.observation.window, dtype=np.float32)

    def features(self, read: Reading) -> NDArray[np.float32]:
        """The newest decisions' part of the rows [N, features]."""
        o = self.observation
        return np.stack([f.float_value(read, o.place) for f in o.features], axis=1).astype(np.float32)

    def bounds(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Least and greatest row. Every feature is monotone in each of its inputs, so that its extremes are among the
        corners of the inputs' ranges."""
        low, high = self.action.limits_q16()
        counts, signals = (0.0, float(U32_MAX)), self.observation.agents.event_names[1:]
        ends = [(0.0, 2.0**CONTEXT_RATE_BITS), (float(low), float(high)), *[counts] * len(signals)]
        rate, action, *event = np.array(list(product(*ends))).T
        named = dict(zip(signals, event, strict=True)) | {"request_sent_ns": np.zeros_like(rate)}
        reached = self.features(Reading(named, self.observation.known, rate, {"action": action}))
        initial = self.initial_row()[: reached.shape[1]]
        least, greatest = np.minimum(reached.min(axis=0), initial), np.maximum(reached.max(axis=0), initial)
        return np.tile(least, self.observation.window), np.tile(greatest, self.observation.window)

    # --- the action and the reward ----------------------------------------------------------------------------------

    def multipliers(self, actions: NDArray[Any]) -> Floats:
        """Multipliers of the rates [N], as whole numbers of 2^-16, for actions [N]: outputs of a network after tanh,
        clipped to [-1, 1], or entries of the action table. InputError where an action is neither."""
        if isinstance(self.action, Table):
            entries = np.asarray(self.action.multipliers, dtype=np.float64)
            if not ((actions >= 0) & (actions < entries.size)).all():
                raise InputError(f"an action is not an entry of the action table: 0 to {entries.size - 1}")
            multiplier: Floats = entries[actions.astype(np.int64)]
        else:
            outputs = actions.astype(np.float64)
            if not np.isfinite(outputs).all():
                raise InputError("an action is NaN or infinite; check the policy that made it")
            multiplier = self.action.multiplier(np.clip(outputs, -1.0, 1.0))
        return np.asarray(1.0 + np.rint((multiplier - 1.0) * 2**ACTION_BITS) / 2**ACTION_BITS, dtype=np.float64)

    def rewards(self, read: Reading) -> Floats:
        """-(target - max(inflation - beta, 0) sqrt(rate))^2 [N], [PCCRL] section 4 (beta 0) and [RLCC] eq. 4."""
        delta = self.reward.model_copy(update={"scale": 1.0}).float_value(read, self.observation.place)
        return np.asarray(-(delta**2), dtype=np.float64)
