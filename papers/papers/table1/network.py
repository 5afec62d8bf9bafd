"""What each column's decision time does to the network: its own C decides, events wait for the engine of their NIC."""

import numpy as np

from netsim import Engines
from netsim.baselines import BaselineSpec
from netsim.network import MS
from netsim.trials import Trial, run
from papers.table1.contenders import Contender
from rlcc.policies import by_path

SCENARIO = "many-to-one:4x16"
"""64 flows of four hosts, RL-CC's section 4: 16 queue pairs a host share the engine of its NIC."""
ENGINES = Engines(1)
SEEDS = (1, 2, 3)
DURATION, WINDOW = 200 * MS, (50 * MS, 170 * MS)  # RL-CC's published code
METRICS = ("goodput", "latency_mean_us", "latency_p99_us", "loss", "engine_utilisation", "decision_latency_mean_us")


def closed_loop(contender: Contender, service_us: float) -> dict[str, float]:
    """64 flows whose decisions take ``service_us`` each: metrics, means over the seeds."""
    with by_path(contender.firmware) as named:
        assert not isinstance(named.policy, BaselineSpec)
        trials = [
            Trial(
                SCENARIO,
                named.policy,
                seed=seed,
                duration_ps=DURATION,
                window_ps=WINDOW,
                decision_latency_ps=round(service_us * 1e6),
                engines=ENGINES,
            )
            for seed in SEEDS
        ]
        outcomes = [outcome.metrics for outcome in run(trials)]
    return {name: float(np.mean([m[name] for m in outcomes])) for name in METRICS}
