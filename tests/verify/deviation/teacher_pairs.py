"""Students and teachers by hand and drawn, small enough that all of their states can be looked at."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from decision.ir.arrays import Integers
from decision.ir.forest import Forest, oblivious
from decision.ir.interpret import evaluate, trace
from decision.policy.cells import act
from decision.policy.features import PreviousAction
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import build_observer, feature_name, feature_names
from decision.policy.weights import shapes

CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
ACTION, INFLATION, RATIO = {"kind": "previous_action"}, {"kind": "rtt_inflation"}, {"kind": "cnp_ratio"}
START = {"slow_start": {"until": 3.0}, "brake": {"above": 12.0, "to": "0.002 line"}, "recovery": {"until": 4.0}}
FLOWS, DECISIONS = 200, 25
Weights = dict[str, NDArray[np.float32]]


def policy(
    features: Sequence[Any] = (ACTION, CONGESTION),
    window: int = 2,
    hidden: Sequence[int] = (6,),
    *,
    bias: bool = False,
    start: Any = None,
    lstm: int | None = None,
    action: Any = None,
) -> Policy:
    architecture: dict[str, Any] = {"kind": "mlp", "hidden": list(hidden), "bias": bias}
    if lstm is not None:
        architecture |= {"kind": "lstm", "lstm": lstm}
    data: dict[str, Any] = {
        "format": 1,
        "name": "by-hand",
        "architecture": architecture,
        "observation": {
            "window": window,
            "base_rtt": "8192 ns",
            "line_rate": "100 Gb/s",
            "rtt_max": "4 ms",
            "features": list(features),
        },
        "action": action or {"kind": "tanh_map", "step": 0.2},
        "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
    }
    return Policy.model_validate(data if start is None else data | {"start": start})


def weights(of: Policy, seed: int, gain: float = 1.0) -> Weights:
    random = np.random.default_rng(seed)
    return {
        name: (gain * random.normal(0, 1 / np.sqrt(shape[-1]), shape)).astype(np.float32)
        for name, shape in shapes(of).items()
    }


def student(of: Policy, seed: int, window: int | None = None, trees: int = 4, depth: int = 3) -> Student:
    """Drawn trees: thresholds over the features' ranges, leaves that together reach the limits of the action."""
    random = np.random.default_rng(seed)
    observation = of.observation if window is None else of.observation.with_window(window)
    names = feature_names(observation)
    made = []
    for _ in range(trees):
        splits = []
        for feature in random.integers(0, len(names), depth).tolist():
            past_action = isinstance(observation.features[feature % len(observation.features)], PreviousAction)
            at = random.integers(-9000, 9000) if past_action else int(2.0 ** random.uniform(2, 24))
            splits.append((feature, int(at)))
        made.append(oblivious(tuple(splits), tuple(random.integers(-9000, 9000, 1 << depth).tolist())))
    header = of.header.model_copy(update={"observation": observation})
    return Student("drawn", header, Forest(names, tuple(made), (100,), 16), "0" * 64)


def driven(pupil: Student, window: int, seed: int) -> Integers:
    """States [N, window * features] of flows whose network signals anything: feature rows as the program's own context
    and events have them. Where the start makes the step the next state's newest action is 0, as the context says."""
    random = np.random.default_rng(seed)
    program, observation = pupil.program(), pupil.observation.with_window(window)
    observer = build_observer(pupil.observation)
    params = pupil.params()
    context = {f.name: np.zeros(FLOWS, dtype=np.int64) for f in program.state}
    width = len(observation.features)
    row = np.zeros((FLOWS, observation.size), dtype=np.int64)
    states = []
    event: dict[str, Any] = {}
    for _ in range(DECISIONS):
        rtt = (8000 * np.exp(random.exponential(1.0, FLOWS) * random.choice([0, 1, 3], FLOWS))).astype(np.int64)
        event = {
            "request_sent_ns": np.zeros(FLOWS, np.int64),
            "response_ns": np.minimum(rtt, 4_000_000),
            "cnp_count": random.integers(0, 4, FLOWS),
            "nack_count": (random.random(FLOWS) < 0.03).astype(np.int64),
            "sent_bytes": random.integers(1, 65536, FLOWS),
            "queue_bytes": random.integers(0, 10**6, FLOWS),
        }
        event = {name: event[name] for name in program.interface.event_names}
        rate = context["rate_q30"] & (2**30 - 1)
        rate = np.where(context["rate_q30"] == 0, params["rate_initial_q30"], rate)
        seen = trace(observer.program, event, params, {"rate_q30": rate, "action": row[:, 0]})
        for f, feature in enumerate(observation.features):
            if not isinstance(feature, PreviousAction):
                row[:, f] = np.minimum(seen[observer.nodes[f]], 2**24 - 1)
        for f, feature in enumerate(observation.features):  # what the context keeps is what is told here
            for lag in range(pupil.observation.window):
                name = feature_name(feature, lag)
                if name in context:
                    assert (np.minimum(context[name], 2**24 - 1) == row[:, lag * width + f]).all(), name
        states.append(row.copy())
        before = context
        _, context = evaluate(program, event, params, context)
        decided = act(pupil, row[:, : pupil.observation.size])
        if pupil.start is not None:
            made = next(n for n, node in enumerate(program.nodes) if node.name == "made")
            decided = np.where(trace(program, event, params, before)[made] > 0, 0, decided)
        after = np.zeros_like(row)
        after[:, width:] = row[:, : row.shape[1] - width]
        for f, feature in enumerate(observation.features):
            if isinstance(feature, PreviousAction):
                after[:, f] = decided
        row = after
    return np.concatenate(states)
