"""What an adapter has to do, in Python around the integer program: one flow's context, event after event."""

from dataclasses import dataclass, field

import numpy as np

from codegen.targets import COUNTERS
from decision.ir.formats import U32_MAX
from decision.ir.interpret import evaluate
from decision.ir.program import Program
from decision.policy.once_per_rtt import decides_once


@dataclass
class Flow:
    """A flow as the device keeps it; zeroed for a new one."""

    program: Program
    first_window: int | None = None
    """Most bytes in flight before the first decision."""
    rate: int = 0
    in_flight: int = 0
    """Where the program sets it."""
    state: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    late: bool = False
    """The last answer was not decided on: it left the context as it was, which no decision does."""

    def count(self, **more: int) -> None:
        """An event that only counts."""
        for name, by in more.items():
            self.counts[name] = (self.counts.get(name, 0) + by) & U32_MAX

    def decide(self, params: dict[str, int], **signals: int) -> int:
        """A decision on the counts so far and these signals (those not given are 0)."""
        event = {name: self.counts.get(name, signals.get(name, 0)) for name in self.program.interface.event_names}
        state = {s.name: self.state.get(s.name, 0) for s in self.program.state}
        knobs, after = evaluate(self.program, event, params, state)
        self.state = {name: int(values[0]) for name, values in after.items()}
        self.rate, *others = (int(values[0]) for values in knobs)
        self.in_flight = others[0] if others else 0
        self.late = decides_once(self.program) and self.state == state
        if not self.late:
            self.counts = dict.fromkeys(COUNTERS, 0)
        return self.rate

    def without_decision(self, params: dict[str, int]) -> int:
        """Any other event: the rate stays; before the first decision it is the operator's."""
        if self.rate == 0:
            self.rate = (params["rate_initial_q30"] >> 10) + 1
            if "in_flight_line_q2" in params:
                share = params["rate_initial_q30"] * params["in_flight_line_q2"] >> 32
                first = share if self.first_window is None else min(share, self.first_window)
                self.in_flight = max(first, params["in_flight_min_bytes"])
        return self.rate


def round_trips(rng: np.random.Generator) -> tuple[int, int]:
    """Timestamps of a request and its response, 4 us to 4 ms apart; every fourth time across the wrap."""
    rtt = int(np.exp(rng.uniform(np.log(4e3), np.log(4e6))))
    sent = (2**32 - int(rng.integers(1, rtt))) if rng.random() < 0.25 else int(rng.integers(2**32))
    return sent, (sent + rtt) & U32_MAX
