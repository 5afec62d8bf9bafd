"""Ibex, of lowRISC: two stages, or three with the write-back stage.

Cycles of a call: from the first cycle in which the instruction at the entry stands in ID/EX to the first cycle in which
the instruction after the call stands there.
"""

from pathlib import Path

from decision.artefact.extras import package_folder
from emulator.profile import IbexCore, distribution_of
from emulator.verilated.parts import MEMORY_PORT, Rtl, complete

HERE = Path(__file__).resolve().parent
MULTIPLIERS = {"none": 0, "slow": 1, "fast": 2, "single-cycle": 3}  # ibex_pkg::rv32m_e
BALANCED = 1  # ibex_pkg::RV32BBalanced, the smallest that has all of Zba, Zbb and Zbs
PACKAGES = ("util", "ram_1p", "secded", "mubi", "cipher", "count")  # of prim, in the order of their use


def rtl(core: IbexCore) -> Rtl:
    """The wheel's ibex_top; stubs of ours stand for three cells of its library."""
    ibex = package_folder("pythondata_cpu_ibex") / "system_verilog"
    vendor = ibex / "vendor" / "lowrisc_ip"
    prim = vendor / "ip" / "prim" / "rtl"
    packages = (*(prim / f"prim_{name}_pkg.sv" for name in PACKAGES), ibex / "rtl" / "ibex_pkg.sv")
    return Rtl(
        name="Ibex",
        top="rlcc_ibex",
        ours=(
            HERE / "rlcc_ibex.sv",
            MEMORY_PORT,
            HERE / "prim_buf.sv",
            HERE / "prim_clock_gating.sv",
            HERE / "prim_flop.sv",
        ),
        sources=complete("Ibex", distribution_of(core), packages),
        libraries=(ibex / "rtl", prim),
        includes=(vendor / "dv" / "sv" / "dv_utils", prim),
        parameters=(
            f"-GRV32M={MULTIPLIERS[core.multiplier]}",
            f"-GRV32B={BALANCED if 'zbb' in core.isa else 0}",
            f"-GBranchTargetALU={int(core.branch_target_alu)}",
            f"-GWritebackStage={int(core.writeback_stage)}",
        ),
    )
