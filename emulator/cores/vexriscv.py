"""VexRiscv, of SpinalHDL, in the variants that LiteX generates: five stages, branches decided in the memory stage.

Cycles of a call: from the first cycle in which the instruction at the entry stands in execute to the first cycle in
which the instruction after the call stands there; what a jump has cancelled does not stand.
"""

from emulator.cores.rtl import Rtl, complete, core_folder
from emulator.profile import VexRiscvCore

DISTRIBUTION = "pythondata-cpu-vexriscv"


def rtl(core: VexRiscvCore) -> Rtl:
    """The wheel's VexRiscv_<variant>.v."""
    source = core_folder("vexriscv") / "verilog" / f"VexRiscv_{core.variant}.v"
    return Rtl(
        name=f"VexRiscv {core.variant}",
        top="rlcc_vexriscv",
        ours=("rlcc_vexriscv.sv", "rlcc_memory_port.sv"),
        sources=complete("VexRiscv", DISTRIBUTION, (source,)),
        own_cache=core.variant == "Lite",
    )
