"""Students for the targets' tests: what RL-CC looks like; one that counts everything; one without a past; RL-CC's with
options of flows: a start and a cap; the NIC's own rate; the operator's target; one that carries values on."""

from typing import Any

import numpy as np
from drawing import ACTIONS, FEATURES, make_student

from decision.ir.forest import oblivious
from decision.ir.interfaces.flow_rate import OPTIONS, flow_interface
from decision.policy.bursts import Bursts
from decision.policy.in_flight import InFlight
from decision.policy.probes import Probes
from decision.policy.start import Start
from decision.policy.student import Student

LARGEST = {"action": 9000, "congestion": 400_000, "rtt_inflation": 4000, "rate": 1 << 20, "cnp": 255, "nack": 255}
LARGEST |= {"rtt_ns": 1_000_000, "response_ns": 4_000_000, "acked_bytes": 4_000, "marked_bytes": 256}
LARGEST |= {"sent_bytes_over_acked": 1024}
"""Where thresholds of a feature lie, by how its name begins: each branch is taken now and then."""


CARRYING: list[dict[str, Any]] = [
    {"kind": "above_minimum", "signal": "rtt_ns"},
    {"kind": "average", "signal": "rtt_ns", "shift": 2},
    {"kind": "decaying_count", "signal": "nack_count", "shift": 3, "most": 255},
    {"kind": "interval", "signal": "response_ns"},
]
"""Features whose values a context carries on; none is of CNPs, which some devices do not tell."""


ACKING: list[dict[str, Any]] = [
    {"kind": "ratio", "of": "sent_bytes", "over": "acked_bytes", "over_unit": 1024, "at_most": 4},
    {"kind": "ratio", "of": "marked_bytes", "over": "acked_bytes"},
    {"kind": "level", "signal": "acked_bytes", "unit": 16},
]
"""Features of what was acknowledged: the send ratio, the ECN fraction of ACKs, delivered bytes."""


def grown(kinds: list[Any], action: int, *, trees: int, depth: int = 4, window: int = 2, seed: int = 1) -> Student:
    """A student with random trees over these features, by their kind or as they are."""
    rng = np.random.default_rng(seed)
    features = [FEATURES[kind] if isinstance(kind, str) else kind for kind in kinds]
    acks = any("acked_bytes" in str(feature) for feature in features)
    names = make_student(features, ACTIONS[action], (), window=window, acks=acks).forest.features

    def split() -> tuple[int, int]:
        feature = int(rng.integers(len(names)))
        most = next(most for start, most in LARGEST.items() if names[feature].startswith(start))
        return (feature, int(rng.integers(0, most)))

    drawn = tuple(
        oblivious(tuple(split() for _ in range(depth)), tuple(rng.integers(-4000, 4000, 1 << depth).tolist()))
        for _ in range(trees)
    )
    return make_student(features, ACTIONS[action], drawn, window=window, bias=-17, acks=acks)


TABLES = {"start": Start(), "in_flight": InFlight(), "probes": Probes(after="16 KiB", latest="150 us", first=3)}


def with_options(student: Student, *names: str) -> Student:
    """The student with these tables of flows."""
    interface = flow_interface([name for name in names if name in OPTIONS])
    said: dict[str, object] = {"interface": interface.name, "device_rate": "device_rate" in names}
    said |= {"target_ratio": 2.0} if "target_ratio" in names else {}
    said |= {"rtt_slack": True} if "rtt_slack" in names else {}
    observation = student.observation.model_copy(update=said)
    tables = {name: table for name, table in TABLES.items() if name in names}
    return student.with_parts(observation=observation, once_per_rtt="once_per_rtt" in names, **tables)


STUDENTS = {
    "rl_cc": grown(["previous_action", "rl_cc_congestion"], 0, trees=10),
    "counting": grown(["previous_action", "rl_cc_congestion", "cnp_ratio", "nack_ratio"], 1, trees=6),
    "losing": grown(["rtt_inflation", "nack_ratio"], 1, trees=6, window=1),
    "table": grown(["rtt_inflation", "rate"], 3, trees=3, depth=3, window=1),
}
STUDENTS["carrying"] = grown(CARRYING, 1, trees=6)
STUDENTS["options"] = with_options(STUDENTS["rl_cc"], "start", "in_flight")
STUDENTS["first-window"] = STUDENTS["options"].with_parts(in_flight=InFlight(first=0.5), bursts=Bursts(bdp=0.05))
STUDENTS["told"] = with_options(STUDENTS["rl_cc"], "device_rate", "rtt_slack")
STUDENTS["once"] = with_options(STUDENTS["counting"], "once_per_rtt")
STUDENTS["all-once"] = with_options(STUDENTS["rl_cc"], "start", "in_flight", "once_per_rtt")
STUDENTS["losing-once"] = with_options(STUDENTS["losing"], "once_per_rtt")
STUDENTS["tunable"] = with_options(STUDENTS["rl_cc"], "target_ratio")
STUDENTS["acks"] = grown(ACKING, 1, trees=6, window=1)
STUDENTS["delivered"] = grown(ACKING[2:], 1, trees=6, window=1)
"""The part of ``acks`` that Falcon tells."""
FALCON_STUDENTS = [name for name in STUDENTS if name not in ("counting", "once", "acks")]
"""Those for Falcon, whose events tell of no CNPs nor marks."""
