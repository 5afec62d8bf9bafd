"""The back end's files, in the folder rtl/ of a firmware folder: the module, its AXI-Lite wrapper, test benches."""

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from codegen.identity import PREFIX, prefixed
from codegen.rtl.delays import CLOCK_MHZ
from codegen.rtl.expand import expand
from codegen.rtl.schedule import schedule
from codegen.rtl.verilog import Module, module
from codegen.templates import environment
from decision.artefact.output import write_atomically
from decision.ir.program import Program

FOLDER = "rtl"


@dataclass(frozen=True)
class EmittedLogic:
    """A module and what its stages are estimated to come to."""

    module: Module
    clock_mhz: float
    longest_ns: float

    def to_json(self) -> dict[str, Any]:
        """Returns the manifest's entry."""
        return {
            "clock_mhz": self.clock_mhz,
            "stages": self.module.stages,
            "longest_stage_ns": self.longest_ns,
            "latency_ns": round(1000 / self.clock_mhz * self.module.stages, 1),
            "register_bits": self.module.register_bits,
            "multipliers": self.module.multipliers,
        }


def logic_of(program: Program, clock_mhz: float = CLOCK_MHZ) -> EmittedLogic:
    """Returns the module for a clock. InputError for an operator that logic lacks, or a clock that cannot be met."""
    made = expand(program)
    plan = schedule(made.wires, list(made.outputs.values()), clock_mhz)
    return EmittedLogic(module(program, made.wires, made.outputs, plan), clock_mhz, plan.longest_ns)


def write(folder: Path, program: Program, clock_mhz: float, *, name: str, hash: str, prefix: str) -> dict[str, Any]:
    """Writes the back end's files and returns their entry in the manifest.

    ``name``, ``hash``: of the policy that decides; ``prefix``: of the names of files and modules."""
    logic = logic_of(program, clock_mhz)
    words = {"name": name, "hash": hash, "prefix": prefix, "rlcc_version": metadata.version("rlcc")}
    (folder / FOLDER).mkdir(exist_ok=True)
    for template in environment().list_templates(filter_func=lambda path: path.startswith(f"{FOLDER}/")):
        text = environment().get_template(template).render(m=logic.module, logic=logic.to_json(), **words)
        file = Path(template).name.removesuffix(".j2").replace(PREFIX, prefix)
        write_atomically(folder / FOLDER / file, prefixed(text, prefix))
    return {"rtl": logic.to_json()}
