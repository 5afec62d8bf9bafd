"""A network whose one agent sets the demotion thresholds of all senders' multi-level feedback queues every period:
[AUTO], sRLA.

Sources: [AUTO] sections 4.1 and 5.2: the state is the list of the flows that finished since the last decision, their
sizes and completion times; the action the K - 1 thresholds of K priority queues; the reward the ratio of the mean
throughputs of what finished in two consecutive steps. A list has no fixed length, and a decision's event has: what
finished is handed over by size, in bins that are four times as wide as the one before (netsim/core/finished.hpp). Each
bin has three sums: the flows, the time they would have taken in an empty network, and the time they took. Which flow
went from where to where is lost.
"""

from decision.ir.interface import Interface, Knob, LogUniform, Signal

BINS = ("4k", "16k", "64k", "256k", "1m", "4m", "16m", "more")
"""By the greatest size of their flows, in binary units."""

MAX_LEVELS = 8
LEVELS = 4
"""In [AUTO]'s comparison (section 6)."""


def _bin(name: str) -> tuple[Signal, ...]:
    above = "of longer flows" if name == BINS[-1] else f"of flows up to {name}"
    flows, times = LogUniform(1, 2**26, less=1), LogUniform(1, 2**30, less=1)
    return (
        Signal(f"flows_{name}_q16", "flows / 2^16", f"{above}: how many finished", flows, grows=(0, 2**30)),
        Signal(
            f"alone_{name}_q6",
            "us / 2^6",
            f"{above}: what they would have taken in an empty network",
            times,
            grows=(0, 2**30),
        ),
        Signal(f"took_{name}_q6", "us / 2^6", f"{above}: what they took", times),
    )


def _thresholds(levels: int) -> tuple[Knob, ...]:
    names = [f"threshold_{number}_bytes" for number in range(1, levels)]
    before = [None, *names]
    return tuple(
        Knob(name, "bytes", f"with more, a flow falls to level {level + 1}", 1, 2**31 - 1, not_below=below)
        for level, (name, below) in enumerate(zip(names, before, strict=False))
    )


def _interface(levels: int) -> Interface:
    return Interface(
        name="mlfq_thresholds" + ("" if levels == LEVELS else f"_{levels}"),
        agent="network",
        trigger="period",
        event=(
            *(signal for name in BINS for signal in _bin(name)),
            Signal("flows_q16", "flows / 2^16", "how many finished", LogUniform(1, 2**26, less=1)),
            Signal(
                "rates_q16",
                "line rate / 2^16",
                "sum over them of size / completion time",
                LogUniform(1, 2**26, less=1),
                grows=(0, 2**30),
            ),
        ),
        params=(),
        knobs=_thresholds(levels),
        site="mlfq",
    )


MLFQ = tuple(_interface(levels) for levels in range(2, MAX_LEVELS + 1))
MLFQ_THRESHOLDS = MLFQ[LEVELS - 2]
