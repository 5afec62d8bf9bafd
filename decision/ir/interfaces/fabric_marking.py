"""A fabric whose one agent sets the ECN marking of all switches every period, layer by layer: [ACC], C-ACC.

Sources: [ACC] section 3.2: a controller that knows the states of all switches and sets all of them, "several
milliseconds" later; section 5.4: "we apply the same setting for all uplink ports or downlink ports". So each layer has
the state and the action of a queue (queue_marking.py), the queues' sum and the longest of them in place of one queue.
Which queue it is that is long is lost, and with it anything that one port alone would need.
"""

from decision.ir.interface import Interface, LogUniform, Signal
from decision.ir.interfaces.marking import marking

LAYERS = {"up_": "ports that lead away from the machines", "down_": "ports that lead to the machines"}


def _layer(prefix: str, ports: str) -> tuple[Signal, ...]:
    queue, sent = LogUniform(1, 1e9, less=1), LogUniform(1, 1e9, less=1)
    return (
        Signal(f"{prefix}queue_bytes", "bytes", f"in all queues of {ports} now", queue, grows=(0, 2**31)),
        Signal(
            f"{prefix}longest_bytes", "bytes", "of these in the longest", LogUniform(1, 2e7, less=1), grows=(0, 2**30)
        ),
        Signal(f"{prefix}sent_bytes", "bytes", "on the wire since the last decision", sent, grows=(0, 2**31)),
        Signal(
            f"{prefix}marked_bytes", "bytes", "of these, in packets that these queues marked", sent, grows=(0, 2**31)
        ),
    )


FABRIC_MARKING = Interface(
    name="fabric_marking",
    agent="network",
    trigger="period",
    event=tuple(signal for prefix, ports in LAYERS.items() for signal in _layer(prefix, ports)),
    site="fabric",
    params=tuple(
        Signal(f"{prefix}capacity_bytes", "bytes", f"what all {ports} can send in a period", settable=(1, 2**32 - 1))
        for prefix, ports in LAYERS.items()
    ),
    knobs=tuple(knob for prefix in LAYERS for knob in marking(prefix)),
)
