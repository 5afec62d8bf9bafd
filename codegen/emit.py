"""From a decider to a firmware folder: integer-only C, header, adapter, vectors, program, manifest.

The C is printed from the decision program as passes have left it (codegen/lower.py). The program itself, with which
every back end is compared, lies next to it as program.json. The folder can be emitted again, because the
student, network or model that decides lies there too.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codegen.body import Body, Decider
from codegen.engines import engine_named
from codegen.identity import ABI, PREFIX, check_prefix, layout_id
from codegen.initialisers import vectors_inc
from codegen.layout import context_layout, manifest_layouts
from codegen.lower import Dump, Options
from codegen.passes.program import LoweredProgram, text_of
from codegen.passes.ranks import chains, with_ranks
from codegen.passes.ratios import ratios, with_multiples
from codegen.render import Source, render, render_core
from codegen.targets import ALL, Target, target_named, targets_named, unnamed, unserved
from codegen.tree_body import StudentBody
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import Manifest, opened
from decision.artefact.output import check_place, write_atomically, writing
from decision.artefact.suggest import choices
from decision.ir.fixed import fixed
from decision.ir.program import Program
from decision.ir.program_json import program_to_json
from decision.policy.deciders import student_of

KIND = "firmware"
WORTH = 0.9
"""Part of the trees' cycles that may be left for a history to be kept as ranks."""


@dataclass(frozen=True)
class Emission:
    """Options of an emission. ``fix``: parameters that become constants; ``seed``: of the random vectors;
    ``context_bytes``: what the device keeps an agent, where that is less than the target's; ``prefix``: of all names in
    the C."""

    target: str = "connectx6dx"
    seed: int = 0
    options: Options = field(default_factory=Options)
    fix: tuple[str, ...] = ()
    context_bytes: int | None = None
    prefix: str = PREFIX

    def __post_init__(self) -> None:
        check_prefix(self.prefix)


def emit(student_folder: Path, out: Path, *, dumps: Path | None = None, **choices: Any) -> dict[str, Any]:
    """Write the firmware folder ``out`` for the student artefact; returns the manifest's details. ``choices``: fields
    of ``Emission``; ``dumps``: a folder for the program and the trees after each pass.

    InputError where the student is not one, its context does not fit the target, or no form keeps the limits.
    """
    emission = Emission(**choices)
    emission = replace(emission, options=options_for(emission.target, emission.options))
    parent = opened(student_folder, "student")
    return emit_body(StudentBody(student_of(parent), parent.hash), out, emission, dumps=dumps)


def emit_body(
    body: Body, out: Path, emission: Emission, *, parents: dict[str, str] | None = None, dumps: Path | None = None
) -> dict[str, Any]:
    """The same of any body. ``parents``: those that its own file does not name."""
    check_place(out, KIND)
    details: dict[str, Any] = {}
    of = (parents or {}) | body.parents()
    with writing(out, KIND, parents=of, tools=("jinja2", "numpy"), seed=emission.seed, details=details) as folder:
        details |= fill(folder, body, emission, dumps)
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


def write_dumps(lowered: LoweredProgram, came: Program, folder: Path) -> None:
    """One text file a pass, numbered in their order; ``came``: the program before the first."""
    folder.mkdir(parents=True, exist_ok=True)
    first, *rest = lowered.dumps
    ranked = [Dump("ranks", first.text)] if first.text != text_of(came) else []
    for number, dump in enumerate([Dump("program", text_of(came)), *ranked, *rest]):
        write_atomically(folder / f"{number:02d}-{dump.name}.txt", dump.text)


def emission_of(manifest: Manifest) -> Emission:
    """How a firmware folder was emitted."""
    details = manifest.details
    fix, asked = details.get("fixed", []), details.get("context_asked")
    if manifest.seed is None:
        raise InputError("the firmware's manifest does not say the seed of its vectors; emit it again")
    if not isinstance(fix, list) or not (asked is None or type(asked) is int):
        raise InputError("the firmware's manifest does not say what was fixed or asked for; emit it again")
    options = Options.from_json(details.get("compiled"))
    prefix = str(details.get("prefix", PREFIX))
    return Emission(str(details.get("target")), manifest.seed, options, tuple(map(str, fix)), asked, prefix)


def program_of(decider: Decider, fix: Sequence[str]) -> Program:
    """The decision program; ``fix``: parameters that are constants in it, at the decider's values."""
    defaults = decider.params()
    if not fix:
        return decider.program()
    unknown = [name for name in fix if name not in defaults]
    if unknown:
        raise InputError(f"there is no parameter {unknown[0]!r} to fix; choose among {choices(unknown[0], defaults)}")
    return fixed(decider.program(), {name: defaults[name] for name in fix})


def ranked(body: Body, program: Program, options: Options) -> tuple[Program, LoweredProgram]:
    """The program with those ratios as threshold tests and histories as ranks that are cheaper so, by the cost model,
    and as it is lowered."""
    best = _without_divisions(body, program, options)
    program = best[0]
    # The model does not see registers: words that wait for a search to end, which small gains would pay for.
    least = WORTH * _price(best[1], options)
    offered = () if "ranks" in options.without else chains(program)
    sets = [kept for kept in dict.fromkeys((offered, *((chain,) for chain in offered))) if kept]
    for candidate in (with_ranks(program, kept, masked=masked) for kept in sets for masked in (False, True)):
        with suppress(InputError):  # no form keeps the limits
            lowered = body.lower(candidate, options)
            if (price := _price(lowered, options)) < least:
                best, least = (candidate, lowered), price
    return best


def _without_divisions(body: Body, program: Program, options: Options) -> tuple[Program, LoweredProgram]:
    """The program with threshold tests in place of the ratios that can be, where that is cheaper, and as it is
    lowered."""
    lowered = body.lower(program, options)
    offered = {} if "ratios" in options.without else ratios(program)
    if not offered:
        return program, lowered
    engine = engine_named(options.engine)
    divisions = sum(engine.division(division.fraction_bits) for division in offered.values())
    candidate = with_multiples(program, offered)
    with suppress(InputError):  # no form keeps the limits
        tested = body.lower(candidate, options)
        if _price(tested, options) < _price(lowered, options) + divisions:
            return candidate, tested
    return program, lowered


def _price(lowered: LoweredProgram, options: Options) -> float:
    """Cycles of the trees, or bytes where size is what counts."""
    small = options.optimise == "size" or options.limits.cycles is not None
    return sum(forest.code_bytes + forest.table_bytes if small else forest.cycles for forest in lowered.forests)


def _lowered_for(
    target: Target, body: Body, program: Program, lowered: LoweredProgram, emission: Emission
) -> LoweredProgram:
    """``lowered``, or in its place the program in the one form that the target takes."""
    if target.form is None or target.form == emission.options.form or not lowered.forests:
        return lowered
    return body.lower(program, replace(emission.options, form=target.form))


def fill(folder: Path, body: Body, emission: Emission, dumps: Path | None = None) -> dict[str, Any]:
    """Write every file of a firmware folder but its manifest; returns the manifest's details."""
    decider, came = body.decider, program_of(body.decider, emission.fix)
    program, lowered = ranked(body, came, emission.options)
    if dumps is not None:
        write_dumps(lowered, came, dumps)
    targets, left_out = _fitting(body, program, lowered, emission)
    limit = min(_limit(target, emission) for target in targets)
    decider.save(folder)
    source = Source(body, body.hash(folder), program, lowered, emission.fix, emission.prefix)
    render(source, targets, emission.target, limit, folder)
    for target in targets:
        own = _lowered_for(target, body, program, lowered, emission)
        if own is not lowered:
            render_core(replace(source, lowered=own), target, folder / target.name)
    extra: dict[str, Any] = {}
    for target in targets:
        if target.extra_files is not None:
            names = {"name": decider.name, "hash": source.hash, "prefix": emission.prefix}
            extra |= target.extra_files.write(folder, program, **names)
    vectors, reached = body.vectors(program, lowered, emission.seed)
    write_atomically(folder / "vectors.csv", vectors.to_csv())
    write_atomically(folder / "vectors.inc", vectors_inc(program, vectors))
    write_atomically(folder / "program.json", dump_json(program_to_json(program)))
    return {
        "target": emission.target,
        "left_out": left_out,
        **dropped(targets, program),
        **wishes(body),
        **extra,
        "policy": decider.name,
        "prefix": emission.prefix,
        "identity": {"abi": ABI, "layout": f"{layout_id(program):08x}", "policy": source.hash},
        "context_bytes": context_layout(program)[1],
        "context_limit": limit,
        "context_asked": emission.context_bytes,
        "vectors": len(vectors),
        **reached,
        "layout": manifest_layouts(program),
        "params_default": decider.params(),
        "fixed": list(emission.fix),
        "compiled": emission.options.to_json(),
        **body.details(lowered),
    }


def dropped(targets: Sequence[Target], program: Program) -> dict[str, Any]:
    """Knobs of the program that a target has no setting for, where there are such, by its name."""
    knobs = {t.name: [name for name in program.interface.knob_names if name in t.drops] for t in targets}
    without = {name: names for name, names in knobs.items() if names}
    return {"dropped": without} if without else {}


def wishes(body: Body) -> dict[str, Any]:
    """Returns when flows are to ask for their RTT, how long their bursts and their first window are, where the decider
    says so."""
    header = body.header()
    found: dict[str, Any] = {}
    if header is None:
        return found
    if header.probes is not None:
        probes = header.probes
        found["probes"] = {"after_bytes": probes.after, "latest_ns": probes.latest, "first": probes.first}
    if header.bursts is not None:
        found["bursts"] = {"bdp": header.bursts.bdp, "bytes": header.burst_bytes}
    if header.first_window_bytes is not None:
        found["first_window_bytes"] = header.first_window_bytes
    return found


def _limit(target: Target, emission: Emission) -> int:
    asked = emission.context_bytes
    return target.context_bytes if asked is None else min(asked, target.context_bytes)


def _fitting(
    body: Body, program: Program, lowered: LoweredProgram, emission: Emission
) -> tuple[tuple[Target, ...], dict[str, str]]:
    """The targets to write; of ``all`` those are left out, with the reason, that cannot hold the decider."""
    size = context_layout(lowered.program)[1]

    def reason(target: Target) -> str | None:
        if why := unserved(target, lowered.program.interface) or unnamed(target, emission.prefix):
            return why
        printer = body.printer(_lowered_for(target, body, program, lowered, emission))
        return body.misfit(target, printer, size, _limit(target, emission))

    reasons = {target: reason(target) for target in targets_named(emission.target)}
    left_out = {target.name: why for target, why in reasons.items() if why is not None}
    kept = tuple(target for target in reasons if target.name not in left_out)
    if not kept or (left_out and emission.target != ALL):
        raise InputError(next(iter(left_out.values())))
    return kept, left_out
