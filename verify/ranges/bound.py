"""The bound of a built firmware: safe, and at most so many cycles, for all inputs; equal to its program or not."""

from dataclasses import dataclass

from emulator.build import Build
from emulator.firmware import ENTRY
from verify.code.arguments import structures
from verify.code.failures import Failure, Refused
from verify.ranges.memory import Layout
from verify.ranges.walk import walk
from verify.trusted.costs import cycle_model
from verify.trusted.machine import IllegalInstruction, constants


@dataclass(frozen=True)
class Bound:
    """No input takes more than ``cycles`` or ``stack_bytes``, loads or stores outside its own memory, jumps elsewhere
    or changes a register that a call keeps."""

    cycles: int
    stack_bytes: int
    steps: int


def bounded(build: Build) -> Bound | Failure:
    """The bound, or why there is none. InputError where the cycles of the engine have no model; how far the model holds
    on an engine, ``verify.trusted.calibrate`` tells."""
    model, image = cycle_model(build.engine), build.image
    arguments, stack_limit = structures(build.program, build.firmware.layouts), build.engine.limits.stack_bytes
    try:
        walked = walk(image, ENTRY, Layout(arguments, constants(image), stack_limit), model)
    except IllegalInstruction as error:
        return Failure("illegal-instruction", 0, str(error))
    except Refused as error:
        return error.failure
    return Bound(walked.cycles, walked.stack_bytes, walked.steps)
