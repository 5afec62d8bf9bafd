"""Long flows of a network, for each of which its central system sets a class, a rate limit and a path: [AUTO], lRLA.

Sources: [AUTO] sections 4.1 and 5.2.2: the state is 11 active and 10 finished long flows, 136 numbers (6 of each that
is active, 7 of each that finished); of one call the paper's network gives the probabilities of (priority, rate, path)
for all 11. Here a call decides one flow: the one in question comes first, and of any other stands, in the place of its
5-tuple, which ends it shares with that one: 1 none, 2 the sender, 3 the receiver, 4 both; 0: there is no flow. A flow
is long when it has fallen to the last class; it is asked in the first period after it came, or one came or went that
shares its sender or its receiver. Flows beyond the 11 are not seen: those that share an end come first, the oldest
first.
"""

from decision.ir.interface import Interface, Knob, LogUniform, Signal, Uniform

ACTIVE, FINISHED = 11, 10
PRIORITIES, PATHS = 8, 8
"""At the most; a network has as many as its classes and planes."""

RATE_BITS = 16


def _common(name: str, whose: str) -> tuple[Signal, ...]:
    return (
        Signal(f"{name}_ends", "code", f"{whose}: 0 none, 1 others, 2 same sender, 3 receiver, 4 both", Uniform(0, 4)),
        Signal(f"{name}_path", "path", f"{whose}: the path it takes", Uniform(0, PATHS - 1)),
        Signal(f"{name}_priority", "class", f"{whose}: its class, 0 the first", Uniform(0, PRIORITIES - 1)),
        Signal(
            f"{name}_rate_q16",
            "line rate / 2^16",
            f"{whose}: its rate limit",
            LogUniform(1, 2**16 + 1),
            grows=(0, 2**16),
        ),
    )


def _active(number: int) -> tuple[Signal, ...]:
    name, whose = f"active_{number}", "the flow in question" if number == 0 else f"active flow {number}"
    return (
        *_common(name, whose),
        Signal(f"{name}_sent_kb", "KB", f"{whose}: what it has sent", LogUniform(1, 1e6), grows=(0, 2**30)),
        Signal(f"{name}_age_us", "us", f"{whose}: since it is long", LogUniform(1, 1e7, less=1), grows=(0, 2**30)),
    )


def _finished(number: int) -> tuple[Signal, ...]:
    name, whose = f"finished_{number}", f"finished flow {number}, 0 the last one"
    return (
        *_common(name, whose),
        Signal(f"{name}_kb", "KB", f"{whose}: what it sent", LogUniform(1, 1e6), grows=(0, 2**30)),
        Signal(f"{name}_took_us", "us", f"{whose}: for how long it was long", LogUniform(1, 1e7), grows=(0, 2**30)),
        Signal(f"{name}_ago_us", "us", f"{whose}: since it ended", LogUniform(1, 1e7, less=1), grows=(0, 2**30)),
    )


LONG_FLOW = Interface(
    name="long_flow",
    agent="network",
    trigger="period",
    event=(
        *(signal for number in range(ACTIVE) for signal in _active(number)),
        *(signal for number in range(FINISHED) for signal in _finished(number)),
    ),
    params=(),
    knobs=(
        Knob("priority_class", "class", "of its packets from now on, 0 the first", 0, PRIORITIES - 1),
        Knob("limit_q16", "line rate / 2^16", "the most it may send", 1, 1 << RATE_BITS),
        Knob("path_number", "path", "by which it goes", 0, PATHS - 1),
    ),
)
