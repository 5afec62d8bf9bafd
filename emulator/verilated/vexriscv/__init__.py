"""VexRiscv, of SpinalHDL, in the variants that LiteX generates: five stages, branches decided in the memory stage.

Cycles of a call: from the first cycle in which the instruction at the entry stands in execute to the first cycle in
which the instruction after the call stands there; what a jump has cancelled does not stand.
"""

from pathlib import Path

from emulator.profile import VexRiscvCore, distribution_of
from emulator.verilated.parts import MEMORY_PORT, Rtl, complete, core_folder

HERE = Path(__file__).resolve().parent


def rtl(core: VexRiscvCore) -> Rtl:
    """The wheel's VexRiscv_<variant>.v."""
    source = core_folder("vexriscv") / "verilog" / f"VexRiscv_{core.variant}.v"
    return Rtl(
        name=f"VexRiscv {core.variant}",
        top="rlcc_vexriscv",
        ours=(HERE / "rlcc_vexriscv.sv", MEMORY_PORT),
        sources=complete("VexRiscv", distribution_of(core), (source,)),
        own_cache=core.variant == "Lite",
    )
