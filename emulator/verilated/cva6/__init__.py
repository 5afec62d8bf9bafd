"""CVA6, of the OpenHW Group: RV64 in six stages, one instruction issued in order, with L1 caches in its RTL.

Cycles of a call: from the cycle after the one in which the call retires to the one in which the function's return
retires. Its packages hold cache sizes and bit manipulation as constants, and its top writes a trace file; so two of its
files are edited on their way to Verilator, each edit on a line that must be there.
"""

import hashlib
import json
import re
from pathlib import Path

from decision.artefact.build_cache import built_once
from decision.artefact.errors import InputError
from emulator.profile import Cva6Core, distribution_of
from emulator.verilated.parts import Rtl, complete, core_folder

HERE = Path(__file__).resolve().parent
Edit = tuple[str, str]  # what is sought (a regular expression, found once), what comes in its place

NO_TRACE: Edit = (r"(?s)`ifndef VERILATOR\n  instr_tracer_if.*?`endif // VERILATOR", "")


def rtl(core: Cva6Core) -> Rtl:
    """The wheel's cva6 with write-through data cache and without floating point."""
    root = core_folder("cva6") / "system_verilog"
    cells = root / "common" / "submodules" / "common_cells"
    originals = complete("CVA6", distribution_of(core), (root / "core/include/ariane_pkg.sv", root / "core/cva6.sv"))
    package, top = _edited({originals[0]: _constants(core), originals[1]: (NO_TRACE,)}, distribution_of(core))
    sources = (
        HERE / "cva6_config_pkg.sv",
        root / "core/include/riscv_pkg.sv",
        root / "corev_apu/riscv-dbg/src/dm_pkg.sv",
        package,
        root / "corev_apu/axi/src/axi_pkg.sv",
        *(root / f"core/include/{name}_pkg.sv" for name in ("ariane_rvfi", "ariane_axi", "wt_cache", "std_cache")),
        root / "core/include/cvxif_pkg.sv",
        cells / "src/cf_math_pkg.sv",
        root / "core/ariane_regfile_ff.sv",
        root / "core/fpu/src/fpnew_pkg.sv",
        top,
    )
    folders = ("", "frontend", "cache_subsystem", "pmp/src", "mmu_sv39", "fpu/src", "fpu/src/fpu_div_sqrt_mvp/hdl")
    return Rtl(
        name="CVA6",
        top="rlcc_cva6",
        ours=(HERE / "rlcc_cva6.sv",),
        sources=complete("CVA6", distribution_of(core), sources),
        libraries=(
            *(root / "core" / folder for folder in folders),
            cells / "src",
            root / "common/local/util",
            root / "corev_apu/src/tech_cells_generic/src/rtl",
        ),
        includes=(cells / "include", root / "common/local/util"),
        flags=("-DWT_DCACHE", "-DRVFI_TRACE", "-DRVFI_MEM"),
        bench="cva6_engine.hpp",
        own_cache=True,
    )


def _constants(core: Cva6Core) -> tuple[Edit, ...]:
    """The lines of ariane_pkg that say what the profile says (not those that its OpenPiton variant takes)."""
    edits: list[Edit] = [_constant("bit BITMANIP", "1'b0", f"1'b{int('zbb' in core.isa)}")]
    for letter, cache, size, ways in (
        ("I", core.instruction_cache, r"16\*1024", 4),
        ("D", core.data_cache, r"32\*1024", 8),
    ):
        edits += [
            _constant(f"int unsigned CONFIG_L1{letter}_SIZE", size, cache.bytes),
            _constant(f"int unsigned {letter}CACHE_SET_ASSOC", ways, cache.ways),
            _constant(f"int unsigned {letter}CACHE_LINE_WIDTH", 128, 8 * cache.line_bytes),
        ]
    return tuple(edits)


def _constant(name: str, old: str | int, new: str | int) -> Edit:
    return rf"(localparam {name}\s*= ){old};", rf"\g<1>{new};"


def _edited(edits: dict[Path, tuple[Edit, ...]], distribution: str) -> list[Path]:
    """Copies of the files in the user's cache, with the edits; InputError where the wheel's file is not as expected."""
    texts = {}
    for path, of_file in edits.items():
        text = path.read_text(encoding="utf-8")
        for sought, replacement in of_file:
            text, times = re.subn(sought, replacement, text)
            if times != 1:
                raise InputError(
                    f"{path.name} of {distribution} is not the version that rlcc knows (no single {sought!r}); "
                    "install the version that `pip install 'rlcc[cores]'` names"
                )
        texts[path.name] = text

    def build(folder: Path) -> None:
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")

    folder = built_once("rtl", hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:32], build)
    return [folder / path.name for path in edits]
