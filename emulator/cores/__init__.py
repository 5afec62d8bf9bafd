"""The kinds of cores that are Verilated: KIND.py has ``rtl(core)``.

A new kind: its parameters in emulator/profile.py, its file here, its top in emulator/rtl/, its cycles in
decision/cores/.
"""

from importlib import import_module
from typing import cast

from emulator.cores.rtl import Rtl
from emulator.profile import Core


def distribution_of(core: Core) -> str:
    """The package whose RTL it is."""
    return str(import_module(f"emulator.cores.{core.kind}").DISTRIBUTION)


def rtl_of(core: Core) -> Rtl:
    """The RTL that makes this core; InputError where its wheel is not installed."""
    return cast(Rtl, import_module(f"emulator.cores.{core.kind}").rtl(core))
