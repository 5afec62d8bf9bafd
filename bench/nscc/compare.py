"""The integer program of NSCC next to the two references, on the same events."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.nscc.exact import ExactFlow, Numbers, WindowEvent, decide
from bench.nscc.floats import FloatFlow
from decision.ir.interpret import evaluate
from decision.ir.program import Program

LOSSES = ("trimmed_bytes", "nacked_bytes", "skipped_bytes", "expired_bytes")


def fields(event: WindowEvent) -> dict[str, int]:
    """Returns the event as the firmware takes it."""
    lost = dict(zip(LOSSES, (*event.lost, 0, 0, 0, 0), strict=False))
    return {
        "now_ns": event.now,
        "rtt_ns": event.rtt,
        "acked_bytes": event.acked,
        "marked_bytes": event.marked,
        "in_flight_bytes": event.in_flight,
        "path_id": 0,
        **lost,
    }


def run_program(
    program: Program, events: Sequence[WindowEvent], contexts: Sequence[dict[str, int]], params: dict[str, int]
) -> list[dict[str, int]]:
    """Returns the context after each event, of a flow that had the given context before it."""
    rows = [fields(event) for event in events]
    columns = {name: np.array([row[name] for row in rows], dtype=np.int64) for name in program.interface.event_names}
    state = {s.name: np.array([each[s.name] for each in contexts], dtype=np.int64) for s in program.state}
    (window,), after = evaluate(program, columns, params, state)
    assert (window == after["window_bytes"]).all()
    return [{name: int(column[n]) for name, column in after.items()} for n in range(len(rows))]


@dataclass
class NsccComparison:
    """Figures of trajectories: events; contexts that differ from the exact reference's; events by branch. Against the
    float reference, both running freely: events whose branches differ, and differences of the windows as shares of the
    float's, one an event."""

    events: int = 0
    unequal: int = 0
    branches: Counter[str] = field(default_factory=Counter)
    other_branch: int = 0
    off: list[float] = field(default_factory=list)


def compare(program: Program, params: dict[str, int], trajectories: Sequence[Sequence[WindowEvent]]) -> NsccComparison:
    """Returns the figures of all trajectories, each from a new flow."""
    numbers, figures = Numbers.of(params), NsccComparison()
    for events in trajectories:
        flow, floats = ExactFlow(), FloatFlow()
        before, after = [], []
        for event in events:
            before.append(flow.context())
            flow = decide(flow, event, numbers)
            after.append(flow.context())
            window = floats.decide(event, numbers)
            figures.branches.update(flow.branches)
            figures.other_branch += flow.branches != floats.branches
            figures.off.append(abs(float(flow.window) - window) / window)
        figures.events += len(events)
        decided = run_program(program, events, before, params)
        figures.unequal += sum(ours != theirs for ours, theirs in zip(decided, after, strict=True))
    return figures
