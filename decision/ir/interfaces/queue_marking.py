"""A queue of a switch port that sets its ECN marking thresholds every period: [ACC], [HAECN].

Sources: [ACC] section 3.2: state of queue length, transmission rate, rate of marked packets and the setting
in force; action {Kmin, Kmax, Pmax}. The amount sent is given in bytes since the last decision, so that a decider
divides by nothing: a rate is the count over a period of known length. If a trigger decides whether the setting is
chosen again ([HAECN] section 3.2), the decision reports that too, and a switch writes its registers only then.
"""

from dataclasses import replace

from decision.ir.interface import TRIGGERED, Interface, Knob, LogUniform, Signal

QUEUE_MARKING = Interface(
    name="queue_marking",
    agent="queue",
    trigger="period",
    event=(
        Signal("queue_bytes", "bytes", "queue now", LogUniform(1, 2e7, less=1), grows=(0, 2**30)),
        Signal(
            "sent_bytes",
            "bytes",
            "on the wire since the queue's last decision",
            LogUniform(1, 1e7, less=1),
            grows=(0, 2**30),
        ),
        Signal(
            "marked_bytes",
            "bytes",
            "of these, in packets that this queue marked",
            LogUniform(1, 1e7, less=1),
            grows=(0, 2**30),
        ),
    ),
    site="queue",
    params=(Signal("capacity_bytes", "bytes", "what the port can send in a period", settable=(1, 2**31 - 1)),),
    knobs=(
        Knob("kmin_bytes", "bytes", "queue above which packets are marked", 0, 2**31 - 1),
        Knob("kmax_bytes", "bytes", "queue above which every packet is marked", 0, 2**31 - 1, not_below="kmin_bytes"),
        Knob("pmax_q16", "2^-16", "probability of a mark at kmax_bytes", 0, 1 << 16),  # 1 << 16 marks every packet
    ),
)

QUEUE_TRIGGERED = replace(QUEUE_MARKING, name="queue_marking_triggered", knobs=(*QUEUE_MARKING.knobs, TRIGGERED))
