"""CV32E40P, of the OpenHW Group: four stages, branches decided in EX.

Cycles of a call: from the first cycle in which the instruction at the entry stands in EX to the first cycle in which
the instruction after the call stands there.
"""

from pathlib import Path

from emulator.profile import Cv32e40pCore, distribution_of
from emulator.verilated.parts import MEMORY_PORT, Rtl, complete, core_folder

PACKAGES = ("cv32e40p_apu_core_pkg", "cv32e40p_fpu_pkg", "cv32e40p_pkg")

HERE = Path(__file__).resolve().parent


def rtl(core: Cv32e40pCore) -> Rtl:
    """The wheel's cv32e40p_core (its cv32e40p_top adds only the FPU).

    It always decodes compressed instructions, whether the code has some or not.
    """
    folder = core_folder("cv32e40p") / "system_verilog" / "rtl"
    packages = tuple(folder / "include" / f"{name}.sv" for name in PACKAGES)
    register_file = folder / "cv32e40p_register_file_ff.sv"  # the module's name is cv32e40p_register_file
    return Rtl(
        name="CV32E40P",
        top="rlcc_cv32e40p",
        ours=(HERE / "rlcc_cv32e40p.sv", MEMORY_PORT),
        sources=complete("CV32E40P", distribution_of(core), (*packages, register_file)),
        libraries=(folder,),
        includes=(folder / "include",),
    )
