"""Names of the gate's checks: an id for programs, which stays, and a sentence for people, which may be reworded.

A check that a verdict can have several times has a parameter in its id: ``network.latency[many-to-one:8]``. In the
tables, ``*`` and ``{..}`` stand for what differs between verdicts.
"""

from collections.abc import Callable
from functools import partial
from typing import cast

from rlcc.gate.verdict import Check, Group

NAMES = {
    "equality.emitted": "every file equals what rlcc emits for this student",
    "equality.parents": "parent artefacts have the hashes that the manifest names",
    "equality.core": "test vectors: C on the core equals the program ({profile}, {compiler})",
    "equality.host": "test vectors: C on the host equals the program ({of}, sanitizers)",
    "equality.logic_vectors": "test vectors: Verilog in Verilator equals the program",
    "equality.logic": "Verilog, read by Yosys, equals the program for all inputs (proved)",
    "equality.logic_wrapper": "AXI-Lite wrapper: one decision per START, its result, no write lost (proved)",
    "equality.thresholds": "test vectors cover both sides of every threshold",
    "object_code.forbidden": "forbidden constructs in the object code",
    "size.code": "code size",
    "size.table": "size of constant tables",
    "size.context": "context size per agent",
    "size.stack": "stack size",
    "proof.certificate": "certificate, verified by the independent checker",
    "proof.rv64": "RV64 machine code equals the program for all inputs (proved), cycles not proved",
    "proof.adapter": "adapter for {of}, RV64 machine code: as specified for every event (proved)",
    "proof.attestation": "attestation: signature, files and claims",
    "budget.wcet": "WCET over all inputs (proved)",
    "budget.bound": "WCET bound over all inputs (proved)",
    "budget.measured": "decision time, maximum over {vectors} test vectors{with_margin} (measured, not proved){state}",
    "budget.not_run": "decision time on the core",
    "budget.slowest_vector": "slowest of {vectors} test vectors on the core (measured)",
    "budget.trigger_idle": "decision time without the trigger firing, maximum and margin (measured, not proved)",
    "budget.trigger_fired": "decision time with the trigger firing, maximum and margin (measured, not proved)",
    "budget.mean": "mean decision time, trigger firing in {share} of decisions",
    "regression.wcet": "WCET in cycles (proved) vs reference",
    "regression.slowest_vector": "slowest test vector in cycles vs reference",
    "regression.code": "code size in bytes vs reference",
    "regression.table": "size of constant tables in bytes vs reference",
    "regression.stack": "stack size in bytes vs reference",
    "behaviour.*": "{title}: {says}",
    "teacher.rmse": "action error vs teacher, RMS ({decisions} decisions in all, {rollouts})",
    "teacher.p99": "action error vs teacher, 99th percentile",
    "teacher.maximum": "action error vs teacher, maximum",
    "teacher.interface": "observation, action map and limits equal the teacher's",
    "teacher.deviation": "largest deviation found from the teacher's action range",
    "teacher.deviation_bound": "proof: upper bound of the deviation over all states (features < 2^24)",
    "teacher.trigger_share": "share of decisions with the trigger firing vs teacher",
    "network.*": "{of}, {metric} vs teacher",
    "network.no_scenario": "{of} vs teacher",
    "network.required.*": "{of}, {metric}, required",
    "network.no_required": "{of}, required",
    "network.measured.*": "{of}, {metric}",
    "network.device.goodput": "{of}, goodput vs own contexts without the device",
    "network.device.latency": "{of}, p99 latency vs own contexts without the device",
    "network.closed_loop": "closed loop vs teacher",
    "network.linux": "{of}, Linux vs netsim's prediction",
    "*.all": "all checks of {group}",
}
"""Names by id, without the id's parameter ``{of}``."""

TITLES = {
    "monotone": "monotone action",
    "step": "action range",
    "no_cycle": "no cycle",
    "no_rise_above": "no rise under congestion",
    "recovers": "recovery",
    "yields": "yield to congestion",
    "fixed_point": "fixed point",
    "ascending": "knob order",
    "none": "no finding",
}
"""Titles by kind of property (verify.trusted.properties); the property's own sentence follows."""


def named(key: str, *, part: str = "", of: str = "", **words: object) -> Callable[..., Check]:
    """Returns a check of the kind ``key`` of ``NAMES``, to be called with its figure, limit and outcome. ``part`` takes
    the place of the key's ``*``, ``of`` is the id's parameter, ``words`` fill the name."""
    kind = key.replace("*", part)
    return partial(
        Check,
        id=f"{kind}[{of}]" if of else kind,
        group=cast(Group, kind.partition(".")[0].replace("_", " ")),  # Check refuses any other
        name=NAMES[key].format(of=of, **words),
    )
