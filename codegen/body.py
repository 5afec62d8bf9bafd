"""Deciders, as the emitter sees them: a student, a network or a model made elsewhere.

All have a name, a program and parameters, and are saved beside their C as one file that they can be emitted from again.
Each difference is a method here: how the C is printed, what the header says, which vectors are worth trying.
"""

from pathlib import Path
from typing import Any, ClassVar, Protocol

from codegen.batch import BatchPrinter
from codegen.layout import LaidOut
from codegen.lower import Options
from codegen.passes.program import LoweredProgram, lower_program
from codegen.printer import Printer
from codegen.targets import Target, misfit
from codegen.trees_c import Physical
from codegen.vectors import Vectors
from codegen.walk import Histogram, Walk, walk_of
from decision.artefact.manifest import sha256
from decision.ir.program import Op, Program
from decision.policy.once_per_rtt import decides_once
from decision.policy.policy import Header


class Decider(Protocol):
    """A decider: its file's form is its own."""

    @property
    def name(self) -> str: ...

    def program(self) -> Program: ...

    def params(self) -> dict[str, int]: ...

    def save(self, folder: Path) -> None: ...


class Body:
    """``file``: what the decider is saved as; ``templates``: the folder of its header and its C."""

    file: ClassVar[str]
    templates: ClassVar[str] = "common"

    def __init__(self, decider: Decider) -> None:
        self.decider = decider

    def parents(self) -> dict[str, str]:
        """The parents that the decider's own file names."""
        return {}

    def hash(self, folder: Path) -> str:
        """Returns the decider's hash in the C: that of its file in ``folder``."""
        return sha256((folder / self.file).read_bytes())

    def header(self) -> Header | None:
        """Returns the decider's header, where it has one: what it asks of who sends its probes and packets."""
        return None

    def lower(self, program: Program, options: Options) -> LoweredProgram:
        return lower_program(program, options, self.visits())

    def visits(self) -> dict[str, Histogram]:
        """Measured frequencies of the features, by name."""
        return {}

    def printer(self, lowered: LoweredProgram) -> Printer:
        return Printer(lowered, self.physical())

    def batch(self, program: Program) -> BatchPrinter | None:
        """Returns the printer of ``program`` over many rows, where a host has a use for it."""
        return None

    def physical(self) -> Physical:
        """A comparison of the program's trees in the units of the feature."""
        return lambda feature, threshold: ""

    def vectors(self, program: Program, lowered: LoweredProgram, seed: int) -> tuple[Vectors, dict[str, Any]]:
        """Test vectors, and what they reach, for the manifest."""
        raise NotImplementedError

    def words(self, lowered: LoweredProgram, printer: Printer) -> dict[str, Any]:
        """Returns what its templates may name besides what all templates may."""
        raise NotImplementedError

    def details(self, lowered: LoweredProgram) -> dict[str, Any]:
        """Returns the manifest's entries about it, among them ``form``."""
        raise NotImplementedError

    def initial(self, name: str, value: int) -> str:
        """A parameter's default, as a C initialiser."""
        return f"{value}U"

    def declared(self, fields: tuple[LaidOut, ...]) -> list[LaidOut]:
        """The context's fields as C declares them."""
        return list(fields)

    def elements(self, fields: tuple[LaidOut, ...]) -> list[LaidOut]:
        """Every value of the context as C names it."""
        return list(fields)

    def misfit(self, target: Target, printer: Printer, context_bytes: int, limit: int) -> str | None:
        """Why the decider cannot go on the target, in one sentence; None where it can."""
        widest = max((len(f.parameters) for f in printer.functions()), default=0)
        return misfit(
            target,
            signals=printer.signals(),
            flow_bytes=context_bytes,
            arguments=widest,
            knobs=printer.program.interface.knob_names,
            once_per_rtt=decides_once(printer.program),
        )


def as_they_came(program: Program) -> Walk | None:
    """The program's trees without any pass; None where it has none."""
    node = next((node for node in program.nodes if node.op is Op.TREES), None)
    if node is None:
        return None
    return walk_of(program.forest, [(program.nodes[a].low, program.nodes[a].high) for a in node.args])
