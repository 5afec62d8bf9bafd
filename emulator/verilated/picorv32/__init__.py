"""PicoRV32, of Claire Wolf: one instruction at a time over several cycles, one memory interface for code and data.

Cycles of a call: from the cycle in which the instruction at the entry begins (launch_next_insn) to the cycle in which
the instruction after the call begins.
"""

from pathlib import Path

from emulator.profile import PicoRv32Core, distribution_of
from emulator.verilated.parts import MEMORY_PORT, Rtl, complete, core_folder

HERE = Path(__file__).resolve().parent


def rtl(core: PicoRv32Core) -> Rtl:
    """The wheel's picorv32, without interrupts and counters; with M it has its divider too."""
    source = core_folder("picorv32") / "verilog" / "picorv32.v"
    return Rtl(
        name="PicoRV32",
        top="rlcc_picorv32",
        ours=(HERE / "rlcc_picorv32.sv", MEMORY_PORT),
        sources=complete("PicoRV32", distribution_of(core), (source,)),
        parameters=(
            f"-GCompressed={int('c' in core.isa)}",
            f"-GSlowMul={int(core.multiplier == 'slow')}",
            f"-GFastMul={int(core.multiplier == 'fast')}",
            f"-GBarrelShifter={int(core.barrel_shifter)}",
        ),
    )
