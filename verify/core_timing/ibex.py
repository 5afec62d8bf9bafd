"""Ibex: its RTL as a netlist, and which of its nets say where an instruction is.

Yosys reads the SystemVerilog (`read_slang`). One declaration of ibex_top, of a variable that nothing reads, is left out
because that reader refuses it. Three cells of its library are the emulator's own (buffer, flip-flop, clock gate).
"""

import re
from collections.abc import Sequence
from pathlib import Path

from decision.artefact import temporary
from decision.artefact.errors import InputError
from emulator.profile import IbexCore
from emulator.verilated.ibex import rtl
from emulator.verilated.parts import Rtl
from verify.core_timing.pipeline_view import PipelineView
from verify.rtl.netlist import OUT, Netlist, read_by

UNREAD = re.compile(r"logic unused_scramble_inputs =[^;]*;")
OPTIONS = ("--ignore-assertions", "--ignore-initial", "-j", "1", "-D", "SYNTHESIS")
PASSES = "hierarchy -check -top {top}; proc -norom; flatten; memory_map; opt_clean; write_json {out}"

CORE = "u_top.u_ibex_core."
IF, LSU = f"{CORE}if_stage_i.", f"{CORE}load_store_unit_i."

VIEW = PipelineView(
    clock="clk_i",
    enters=f"{IF}if_id_pipe_reg_we",
    redirects=f"{CORE}pc_set",
    instruction=(f"{CORE}instr_rdata_id", f"{CORE}instr_rdata_alu_id"),
    taken=f"{CORE}branch_decision",
    never={
        "an access that is not aligned": ((f"{LSU}split_misaligned_access", 0), (f"{CORE}lsu_req", 0)),
        "a jump that is not aligned": ((f"{CORE}pc_set", 0), (f"{IF}fetch_addr_n", 1)),
    },
    zero_where_one_begins=(
        (f"{CORE}instr_is_compressed_id", 0),
        (f"{CORE}illegal_c_insn_id", 0),
        (f"{CORE}instr_fetch_err", 0),
        ("id_pc_o", 0),
        ("id_pc_o", 1),
    ),
    inputs={"clk_i": 0, "rst_ni": 1, "instr_wait_i": 0, "data_wait_i": 0, "instr_fault_i": 0},
    operands=(f"{CORE}rf_rdata_a", f"{CORE}rf_rdata_b"),
    data=re.compile(
        r"register_file_i|mhpmcounter|minstret_raw|fifo_i\.(rdata_q|err_q)|load_store_unit_i\.rdata_q|instr_rdata$"
        r"|data_rdata$|imd_val|multdiv_i\.op_|unused_crash_dump|fetch_addr_q|stored_addr_q|id_pc_o|instr_rdata_c_id"
        r"|data_type_q|rdata_offset_q|data_sign_ext_q|data_we_q|div_by_zero_q|pc_wb|rf_wdata_wb_q"
    ),
)
"""What Ibex's names mean here; a net that its RTL lacks is refused."""


def netlist(core: IbexCore) -> Netlist:
    """Returns the core of a profile with its memory ports, flattened. InputError where Yosys does not read it."""
    parts = rtl(core)
    top = next(folder / "ibex_top.sv" for folder in parts.libraries if (folder / "ibex_top.sv").exists())
    text, found = UNREAD.subn("", top.read_text())
    if found != 1:
        raise InputError(f"{top} is not the ibex_top.sv that this proof reads; install the locked pythondata-cpu-ibex")
    with temporary.folder() as place:
        (place / top.name).write_text(text)
        script = f"{' '.join(_read(parts))}; {PASSES.format(top=parts.top, out=OUT)}"
        return read_by(script, place, parts.top, f"the RTL of {parts.name}")


def _read(parts: Rtl) -> Sequence[str]:
    return [
        "read_slang",
        "--top",
        parts.top,
        *OPTIONS,
        *(f"-I{folder}" for folder in parts.includes),
        *parts.parameters,
        *(f"-y{folder}" for folder in (Path(), *parts.libraries)),
        "-Y",
        ".sv",
        *map(str, (*parts.sources, *parts.ours)),
    ]
