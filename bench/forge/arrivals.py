"""Decisions that a flow takes from a state to a rate, by the program's interpreter alone.

A witness of ``recovers`` or ``yields`` is the state that a run of decisions starts from. Another state shows the same
if the run from it takes as many.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from bench.forge.judges import Files
from decision.artefact.quantity_fields import LineFractionQ30
from decision.ir.interpret import evaluate
from decision.ir.program_json import program_from_json
from decision.ir.ranks import with_values
from decision.policy.student import NAME, load_student
from emulator.firmware import PROGRAM

LONGEST = 4096
"""Decisions that a run is followed for."""


def decisions(files: Files, asked: Mapping[str, Any], witness: Mapping[str, int]) -> int | None:
    """How many decisions; None for a flow that does not arrive in ``LONGEST``. ``asked``: the property's data;
    ``witness``: the context by "context.NAME", without what decides nothing. ValueError where no run starts there."""
    program = with_values(program_from_json(json.loads((files.firmware / PROGRAM).read_bytes())))
    student = load_student(files.firmware / NAME)
    params, observation = student.params(), student.observation
    assert observation.base_rtt is not None
    assert observation.line_rate is not None
    least, most = params["rate_min_q30"], params["rate_max_q30"]
    rises = asked["kind"] == "recovers"
    start, end = (least, most) if rises else (most, _rate(asked["to"]))
    rtt_ns = round((1 if rises else asked["inflation"]) * int(observation.base_rtt))
    bytes_a_us = int(observation.line_rate) // (8 * 10**6)
    told = {"response_ns": rtt_ns, "queue_bytes": (rtt_ns - int(observation.base_rtt)) * bytes_a_us // 1000}
    event = {name: np.array([told.get(name, 0)]) for name in program.interface.event_names}
    given = {name.removeprefix("context."): value for name, value in witness.items()}
    if not given.keys() <= {s.name for s in program.state} or given.get("rate_q30") != start:
        raise ValueError("a run starts with values of the context, at its first rate")
    state = {s.name: np.array([given.get(s.name, 0)]) for s in program.state}
    for count in range(1, LONGEST + 1):
        _, state = evaluate(program, event, params, state)
        rate = int(state["rate_q30"][0])
        if rate >= end if rises else rate <= end:
            return count
    return None


def _rate(text: str) -> int:
    """Q0.30 of the line rate."""
    return int(TypeAdapter(LineFractionQ30).validate_python(text))
