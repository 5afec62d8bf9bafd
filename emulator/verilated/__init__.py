"""The kinds of cores that are Verilated, a folder each: ``rtl(core)``, the top around the core, and stubs of its cells.

A new kind: its folder here, its parameters in emulator/profile.py, its cycles in decision/cores/.
"""

from importlib import import_module
from typing import cast

from emulator.profile import Core
from emulator.verilated.parts import Rtl


def rtl_of(core: Core) -> Rtl:
    """The RTL that makes this core; InputError where its wheel is not installed."""
    return cast(Rtl, import_module(f"emulator.verilated.{core.kind}").rtl(core))
