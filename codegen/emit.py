"""`rlcc emit`: from a student to a firmware folder: integer-only C, header, adapter, vectors, manifest.

The C is compiled from the decision program in passes (codegen/lower.py); the program itself, which every back end is
held to, lies beside it as program.json.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codegen.edges import trees_node
from codegen.initialisers import vectors_inc
from codegen.layout import context_layout, manifest_layouts
from codegen.lower import Options
from codegen.passes.fix import fixed
from codegen.passes.program import LoweredProgram, lower_program
from codegen.printer import Printer
from codegen.render import Source, render, render_core
from codegen.targets import ALL, Target, misfit, target_named, targets_named
from codegen.vectors import make
from codegen.walk import Histogram, Walk, walk_of
from decision.documents import dump_json, write_atomically
from decision.errors import InputError
from decision.forest import integer
from decision.manifest import opened, writing
from decision.program import Program
from decision.student import NAME as STUDENT_NAME
from decision.student import Student, load_student

KIND = "firmware"


@dataclass(frozen=True)
class Emission:
    """What to emit. ``fix``: parameters that become constants; ``seed``: of the random vectors."""

    target: str = "connectx6dx"
    seed: int = 0
    options: Options = field(default_factory=Options)
    fix: tuple[str, ...] = ()


def emit(student_folder: Path, out: Path, *, dumps: Path | None = None, **choices: Any) -> dict[str, Any]:
    """Write the firmware folder ``out`` for the student artefact; returns the manifest's details. ``choices``: fields
    of ``Emission``; ``dumps``: a folder for the program and the trees after each pass.

    InputError where the student is not one, its context does not fit the target, or no form keeps the limits.
    """
    emission = Emission(**choices)
    emission = replace(emission, options=options_for(emission.target, emission.options))
    parent = opened(student_folder, "student")
    student = load_student(student_folder / STUDENT_NAME)
    details: dict[str, Any] = {}
    parents = {"student": parent.hash, "teacher": student.teacher}
    tools = ("jinja2", "numpy")
    with writing(out, KIND, parents=parents, tools=tools, seed=emission.seed, details=details) as folder:
        lowered = lowered_student(student, emission)
        details |= fill(folder, student, parent.hash, lowered, emission)
        if dumps is not None:
            write_dumps(lowered, dumps)
    return details


def options_for(target: str, options: Options) -> Options:
    """The options with the form that the target asks for, if it does; InputError where another was asked for."""
    form = None if target == ALL else target_named(target).form
    if form is not None and options.one_function:
        raise InputError(f"the target {target} wants a function a tree; leave out --one-function")
    if form is None or options.form == form:
        return options
    if options.form != "auto":
        raise InputError(f"the target {target} takes trees as {form} only; leave out --form {options.form}")
    return replace(options, form=form)


def write_dumps(lowered: LoweredProgram, folder: Path) -> None:
    """One text file a pass, numbered in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, dump in enumerate(lowered.dumps):
        write_atomically(folder / f"{number:02d}-{dump.name}.txt", dump.text)


def emission_of(firmware: Path) -> Emission:
    """How a firmware folder was emitted, from its manifest."""
    manifest = opened(firmware, KIND)
    if manifest.seed is None:
        raise InputError(f"{firmware} does not say the seed of its vectors; emit it again")
    fix = manifest.details.get("fixed", [])
    if not isinstance(fix, list):
        raise InputError(f"{firmware} does not say which parameters are fixed; emit it again")
    options = Options.from_json(manifest.details.get("compiled"))
    return Emission(str(manifest.details.get("target")), manifest.seed, options, tuple(str(name) for name in fix))


def program_of(student: Student, fix: Sequence[str]) -> Program:
    """The student's decision program; ``fix``: parameters that are constants in it, at the student's values."""
    defaults = student.params()
    if not fix:
        return student.program()
    unknown = [name for name in fix if name not in defaults]
    if unknown:
        raise InputError(f"there is no parameter {unknown[0]!r} to fix; choose among {', '.join(defaults)}")
    return fixed(student.program(), {name: defaults[name] for name in fix})


def lowered_student(student: Student, emission: Emission) -> LoweredProgram:
    return lower_program(program_of(student, emission.fix), emission.options, _visits(student))


def _lowered_for(target: Target, student: Student, lowered: LoweredProgram, emission: Emission) -> LoweredProgram:
    """``lowered``, or in its place the program in the one form that the target takes."""
    if target.form is None or target.form == emission.options.form:
        return lowered
    return lowered_student(student, replace(emission, options=replace(emission.options, form=target.form)))


def _visits(student: Student) -> dict[str, Histogram]:
    """The frequencies that the distillation measured; InputError where they are not such."""
    try:
        measured = student.report.get("visits", {})
        return {
            str(name): Histogram(tuple(map(integer, v["borders"])), tuple(float(integer(c)) for c in v["counts"]))
            for name, v in measured.items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(
            f"{STUDENT_NAME}: report.visits is not readable ({error!r}); distil the student again"
        ) from None


def fill(
    folder: Path, student: Student, student_hash: str, lowered: LoweredProgram, emission: Emission
) -> dict[str, Any]:
    """Write every file of a firmware folder but its manifest; returns the manifest's details."""
    program = program_of(student, emission.fix)
    targets, left_out = _fitting(student, lowered, emission)
    vectors, edges = make(program, student.params(), seed=emission.seed, groups=_groups(lowered))
    source = Source(student, student_hash, lowered, _as_they_came(program), emission.fix)
    render(source, targets, emission.target, folder)
    for target in targets:
        own = _lowered_for(target, student, lowered, emission)
        if own is not lowered:
            render_core(replace(source, lowered=own), target, folder / target.name)
    write_atomically(folder / "vectors.csv", vectors.to_csv())
    write_atomically(folder / "vectors.inc", vectors_inc(program, vectors))
    write_atomically(folder / "program.json", dump_json(program.to_json()))
    student.save(folder)
    return {
        "target": emission.target,
        "left_out": left_out,
        "policy": student.name,
        "context_bytes": context_layout(program)[1],
        "context_limit": min(target.context_bytes for target in targets),
        "trees": len(program.forest.trees),
        "depth": program.forest.depth,
        "vectors": len(vectors),
        "threshold_points": {"wanted": edges.wanted, "hit": edges.hit},
        "visits": {"wanted": edges.visits_wanted, "made": edges.visits_made},
        "layout": manifest_layouts(program),
        "params_default": student.params(),
        "fixed": list(emission.fix),
        "compiled": emission.options.to_json(),
        "form": lowered.choice.to_json() if lowered.choice else None,
    }


def _fitting(
    student: Student, lowered: LoweredProgram, emission: Emission
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """The targets to write; of ``all`` those are left out, with the reason, that cannot hold the policy."""

    def reason(target: Target) -> str | None:
        printer = Printer(_lowered_for(target, student, lowered, emission), lambda feature, threshold: "")
        widest = max((len(f.parameters) for f in printer.functions()), default=0)
        size = context_layout(lowered.program)[1]
        return misfit(target, signals=printer.signals(), flow_bytes=size, arguments=widest)

    reasons = {target: reason(target) for target in targets_named(emission.target)}
    left_out = {target.name: why for target, why in reasons.items() if why is not None}
    kept = tuple(target for target in reasons if target.name not in left_out)
    if not kept or (left_out and emission.target != ALL):
        raise InputError(next(iter(left_out.values())))
    return kept, left_out


def _as_they_came(program: Program) -> Walk | None:
    trees = trees_node(program)
    if trees is None:
        return None
    args = program.nodes[trees].args
    return walk_of(program.forest, [(program.nodes[a].low, program.nodes[a].high) for a in args])


def _groups(lowered: LoweredProgram) -> tuple[Any, ...]:
    return lowered.forest.groups if lowered.forest else ()
