"""The target `rtl`, and `rtl@200MHz` for another clock: the files that it adds to the C."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codegen.rtl.delays import CLOCK_MHZ
from decision.artefact.errors import InputError
from decision.ir.program import Program

NAME = "rtl"
SHOWN = f"{NAME}[@CLOCKMHz]"
_CLOCK = re.compile(rf"{NAME}@(?P<mhz>[1-9][0-9]{{0,2}}(?:\.[0-9]{{1,3}})?)MHz")


@dataclass(frozen=True)
class VerilogFiles:
    """The decision in Verilog, with stages for a clock."""

    clock_mhz: float = CLOCK_MHZ

    def write(self, folder: Path, program: Program, *, name: str, hash: str, prefix: str) -> dict[str, Any]:
        """Writes the files and returns their entry in the manifest."""
        from codegen.rtl.emit import write

        return write(folder, program, self.clock_mhz, name=name, hash=hash, prefix=prefix)


def files_of(name: str) -> VerilogFiles | None:
    """Returns the files of a target of this name, or None. InputError for a clock that is no number of MHz."""
    if name == NAME:
        return VerilogFiles()
    if clocked := _CLOCK.fullmatch(name):
        return VerilogFiles(float(clocked["mhz"]))
    if name.startswith(f"{NAME}@"):
        raise InputError(f"{name} names no clock; give 1 to 999.999 MHz with at most three decimals, as {NAME}@200MHz")
    return None
