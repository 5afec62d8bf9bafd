"""The emitted C on cycle-accurate RISC-V cores: engine profiles, Verilated cores, cycle accounting, object-code checks.

report = emulate(Path("firmware"), profile="ibex-small")
timing = time_function(Path("trees.c"), "trees", rows, toolchain("ibex-small"))
host = run_on_host(Path("firmware"), compiler="gcc")
"""

from emulator.compile import toolchain
from emulator.decider import RtlDecider, rtl_decider
from emulator.facts import tool_versions
from emulator.host import HostReport, host_compilers, run_on_host
from emulator.profile import Profile, load_profile, profile_names
from emulator.report import Cycles, EmulationReport, SlowestVector, StateCost
from emulator.run import emulate
from emulator.timing import FunctionTiming, time_function

__all__ = [
    "Cycles",
    "EmulationReport",
    "FunctionTiming",
    "HostReport",
    "Profile",
    "RtlDecider",
    "SlowestVector",
    "StateCost",
    "emulate",
    "host_compilers",
    "load_profile",
    "profile_names",
    "rtl_decider",
    "run_on_host",
    "time_function",
    "tool_versions",
    "toolchain",
]
