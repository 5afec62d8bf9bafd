"""The NIC's own rate in force, where the device changes it behind the policy's back: `device_rate` of an observation.

    in_force = min(rate_q30 of the context, device_rate_q20 << 10)

A limiter, a reaction of the NIC's own or an operator cut a rate, and the policy would go on from what it last asked
for: what it raises is not in force meanwhile, and comes all at once when the cut ends. If the signal is given, every
decision, and every step of a flow's start, goes on from the rate in force. A device that does as it is told reports the
knob, which is never below the context's rate: then nothing changes, to the last bit. A rate that the device has raised
is not taken over: the decision sets its own.
"""

from decision.ir.forest import Forest
from decision.ir.interface import Interface
from decision.ir.interfaces.flow_rate import CONTEXT_RATE_BITS, DEVICE_RATE, RATE_FRACTION_BITS
from decision.ir.program import Op, Program, ProgramBuilder

SHIFT = CONTEXT_RATE_BITS - RATE_FRACTION_BITS


def held_to_device(b: ProgramBuilder, rate: int) -> int:
    """The rate (Q0.30) that is in force of one that was asked for; the same node where no event tells."""
    if DEVICE_RATE not in b.interface.event_names:
        return rate
    line_rate = b.const(1 << RATE_FRACTION_BITS)
    clamped = b.add(Op.MIN, (b.event(DEVICE_RATE), line_rate))
    told = b.add(Op.SELECT, (b.add(Op.EQ, (clamped, b.const(0))), line_rate, clamped), name="device_rate_told_q20")
    told = b.add(Op.SHL, (told,), SHIFT)
    return b.add(Op.MIN, (rate, told), name="rate_held_to_device_q30", note="the NIC may have cut it")


def device_rate_program(interface: Interface) -> tuple[Program, int]:
    """The rate in force alone, of an event and the rate in the context's place, and its node: what evaluators of
    another body (a teacher's network in floats) ask of each event."""
    b = ProgramBuilder(Forest((), (), (0,), 0), interface)
    rate = held_to_device(b, b.state_in("rate_q30", "uint32"))
    b.state_out("rate_q30", rate)
    return b.finish(*[rate] * len(interface.knobs)), rate
