"""The kinds of cores that are Verilated. A new kind: its parameters in emulator/profile.py, its RTL in a file here, its
top in emulator/rtl/."""

from emulator.cores import ibex
from emulator.cores.rtl import Rtl
from emulator.profile import Core, IbexCore
from spec.errors import InputError


def rtl_of(core: Core) -> Rtl:
    """The RTL that makes this core; InputError where its wheel is not installed."""
    match core:
        case IbexCore():
            return ibex.rtl(core)
        case _:
            raise InputError(f"the core {core.kind} cannot be built yet")
