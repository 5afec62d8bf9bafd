"""A hand-written algorithm as a body: its program has no trees, and its vectors send every choice both ways."""

from pathlib import Path
from typing import Any

from codegen import sides
from codegen.emit import KIND, Emission, emit_body
from codegen.passes.program import LoweredProgram
from codegen.printer import Printer
from codegen.tree_body import TreeBody
from codegen.vectors import Vectors
from decision.artefact.output import check_place
from decision.ir.program import Program
from decision.policy.algorithm import NAME, Algorithm, load_algorithm


class AlgorithmBody(TreeBody):
    file = NAME
    templates = "algorithm"
    decider: Algorithm

    def vectors(self, program: Program, lowered: LoweredProgram, seed: int) -> tuple[Vectors, dict[str, Any]]:
        vectors, count = sides.make(program, self.decider.params(), seed=seed)
        return vectors, {"sides": {"wanted": count.wanted, "hit": count.hit}}

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        return super().words(lowered, printer) | {
            "made": "configured",
            "algorithm": self.decider.algorithm,
            "nodes": len(lowered.program.nodes),
        }


def emit_algorithm(path: Path, out: Path, emission: Emission, *, dumps: Path | None = None) -> dict[str, Any]:
    """Write the firmware folder ``out`` of an algorithm's TOML; returns the manifest's details. InputError where the
    document is refused, or the target does not serve its agents."""
    check_place(out, KIND)
    return emit_body(AlgorithmBody(load_algorithm(path)), out, emission, dumps=dumps)
