"""CV32E40P, of the OpenHW Group: four stages, branches decided in EX.

Cycles of a call: from the first cycle in which the instruction at the entry stands in EX to the first cycle in which
the instruction after the call stands there.
"""

from emulator.cores.rtl import Rtl, complete, core_folder
from emulator.profile import Cv32e40pCore

PACKAGES = ("cv32e40p_apu_core_pkg", "cv32e40p_fpu_pkg", "cv32e40p_pkg")

DISTRIBUTION = "pythondata-cpu-cv32e40p"


def rtl(core: Cv32e40pCore) -> Rtl:
    """The wheel's cv32e40p_core (its cv32e40p_top adds only the FPU).

    It always decodes compressed instructions, whether the code has some or not.
    """
    del core
    folder = core_folder("cv32e40p") / "system_verilog" / "rtl"
    packages = tuple(folder / "include" / f"{name}.sv" for name in PACKAGES)
    register_file = folder / "cv32e40p_register_file_ff.sv"  # the module's name is cv32e40p_register_file
    return Rtl(
        name="CV32E40P",
        top="rlcc_cv32e40p",
        ours=("rlcc_cv32e40p.sv", "rlcc_memory_port.sv"),
        sources=complete("CV32E40P", DISTRIBUTION, (*packages, register_file)),
        libraries=(folder,),
        includes=(folder / "include",),
    )
