"""The ECN marking of a queue, as agents set it: [ACC] section 3.2, action {Kmin, Kmax, Pmax}."""

from decision.ir.interface import Knob

PROBABILITY_BITS = 16
"""Fraction bits of the marking probability: 1 << 16 marks every packet at Kmax."""


def marking(layer: str = "") -> tuple[Knob, ...]:
    """The three knobs, of all queues of a layer by its name before theirs."""
    kmin, kmax, pmax = (f"{layer}{name}" for name in ("kmin_bytes", "kmax_bytes", "pmax_q16"))
    return (
        Knob(kmin, "bytes", "queue above which packets are marked", 0, 2**31 - 1),
        Knob(kmax, "bytes", "queue above which every packet is marked", 0, 2**31 - 1, not_below=kmin),
        Knob(pmax, "2^-16", f"probability of a mark at {kmax}", 0, 1 << PROBABILITY_BITS),
    )
