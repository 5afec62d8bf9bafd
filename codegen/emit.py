"""`rlcc emit`: a student becomes a firmware folder.

rlcc_policy.h  rlcc_policy.c  rlcc_policy.mk     what a firmware engineer embeds
<adapter files of the target>
rlcc_selftest.c  vectors.inc  vectors.csv        the vectors, for a C compiler and for everybody else
trees_only.c                                     the naive if-else of the trees, to be timed beside the decision
program.json  student.json  manifest.json        what it was made from
"""

import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

import jinja2

from codegen.ctypes99 import literal
from codegen.layout import LaidOut, flow_layout, manifest_layouts
from codegen.printer import Physical, Printer
from codegen.targets import Target, target_named
from codegen.vectors import Vectors, make
from spec.decision import feature_name
from spec.documents import dump_json, write_atomically
from spec.errors import InputError
from spec.manifest import opened, writing
from spec.program import Program
from spec.signals import EVENT, LINE_RATE_Q30, PARAMS
from spec.student import NAME as STUDENT_NAME
from spec.student import Student, load_student

KIND = "firmware"
TEMPLATES = Path(__file__).resolve().parent.parent / "firmware_templates"
COMMON = ("rlcc_policy.h", "rlcc_policy.c", "rlcc_policy.mk", "rlcc_selftest.c", "trees_only.c")
PARAM_RANGES = {
    "base_rtt_recip_q32": (2**10, 2**24),
    "rate_min_q30": (1, LINE_RATE_Q30),
    "rate_max_q30": (1, LINE_RATE_Q30),
    "rate_initial_q30": (1, LINE_RATE_Q30),
}
"""What an operator may set: base RTT from 256 ns to 4.2 ms, rates up to line rate."""


def emit(student_folder: Path, out: Path, *, target: str = "connectx6dx", seed: int = 0) -> dict[str, Any]:
    """Write the firmware folder ``out`` for the student artefact; returns the manifest's details.

    InputError where the student is not one, or its context does not fit the target.
    """
    parent = opened(student_folder, "student")
    student = load_student(student_folder / STUDENT_NAME)
    interface = target_named(target)
    details: dict[str, Any] = {}
    parents = {"student": parent.hash, "teacher": student.teacher}
    with writing(out, KIND, parents=parents, tools=("jinja2", "numpy"), seed=seed, details=details) as folder:
        details |= fill(folder, student, parent.hash, interface, seed)
    return details


def differences(firmware: Path) -> list[str]:
    """What in a firmware folder is not what its own student.json, target and seed give, byte for byte.

    A manifest tells a changed file, but anyone can seal a folder anew; only emitting it again tells whether it is ours.
    """
    manifest = opened(firmware, KIND)
    student = load_student(firmware / STUDENT_NAME)
    interface = target_named(str(manifest.details.get("target")))
    if manifest.seed is None:
        raise InputError(f"{firmware} does not say the seed of its vectors; emit it again")
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        again = Path(name)
        details = fill(again, student, manifest.parents.get("student", ""), interface, manifest.seed)
        made = {path.name: path.read_bytes() for path in again.iterdir()}
    wrong = [f for f in sorted(made.keys() | manifest.files.keys()) if made.get(f) != _bytes(firmware / f)]
    if details != manifest.details:
        wrong.append("manifest.json: details")
    if manifest.parents.get("teacher") != student.teacher:
        wrong.append("manifest.json: parents")
    return wrong


def fill(folder: Path, student: Student, student_hash: str, target: Target, seed: int) -> dict[str, Any]:
    """Write every file of a firmware folder but its manifest; returns the manifest's details."""
    program = student.program()
    _check_signals(program, target)
    _check_context(program, target)
    vectors, edges = make(program, student.params(), seed=seed)
    render(program, student, student_hash, target, folder)
    write_atomically(folder / "vectors.csv", vectors.to_csv())
    write_atomically(folder / "vectors.inc", vectors_inc(program, vectors))
    write_atomically(folder / "program.json", dump_json(program.to_json()))
    student.save(folder)
    return {
        "target": target.name,
        "policy": student.name,
        "context_bytes": flow_layout(program)[1],
        "context_limit": target.context_bytes,
        "trees": len(program.ensemble.trees),
        "depth": program.ensemble.depth,
        "vectors": len(vectors),
        "threshold_points": {"wanted": edges.wanted, "hit": edges.hit},
        "visits": {"wanted": edges.visits_wanted, "made": edges.visits_made},
        "layout": manifest_layouts(program),
        "params_default": student.params(),
    }


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def render(program: Program, student: Student, student_hash: str, target: Target, folder: Path) -> None:
    """Fill the templates of the policy and of the target's adapter."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    printer = Printer(program, physical_comments(student))
    common = _context(program, student, student_hash, target)
    decision = {
        "functions": printer.tree_functions(),
        "statements": printer.statements(),
        "writes": printer.writes(),
        "result": printer.result(),
    }
    naive = Printer(program, physical_comments(student), naive=True).tree_functions()
    trees_only = {
        "functions": naive,
        "features": program.ensemble.features,
        "bias": literal(program.ensemble.bias, "int32_t"),
    }
    for name in COMMON:
        extra = trees_only if name == "trees_only.c" else decision
        text = environment.get_template(f"common/{name}.j2").render(**common, **extra)
        write_atomically(folder / name, text)
    for template in target.templates:
        text = environment.get_template(template).render(**common)
        write_atomically(folder / Path(template).name.removesuffix(".j2"), text)


def physical_comments(student: Student) -> Physical:
    """Comparisons in physical units for the program's features (those that some tree looks at)."""
    by_name = {
        feature_name(feature, lag): (feature, lag)
        for lag in range(student.observation.window)
        for feature in student.observation.features
    }
    names = student.program().ensemble.features

    def physical(feature: int, threshold: int) -> str:
        kind, lag = by_name[names[feature]]
        text = kind.physical(threshold)
        return text if lag == 0 else f"{text}, {lag} decision{'s' if lag > 1 else ''} back"

    return physical


def vectors_inc(program: Program, vectors: Vectors) -> str:
    """The vectors as C initialisers, one a line, in the order of the structures."""
    fields, _ = flow_layout(program)
    lines = []
    c = vectors.columns
    for row in range(len(vectors)):
        event = ", ".join(f"{c[f'event.{s.name}'][row]}U" for s in EVENT)
        params = ", ".join(f"{c[f'params.{s.name}'][row]}U" for s in PARAMS)
        before = _initialiser(fields, [int(c[f"flow.{f.name}"][row]) for f in fields])
        after = _initialiser(fields, [int(c[f"expect.{f.name}"][row]) for f in fields])
        lines.append(f"{{{{{event}}}, {{{params}}}, {before}, {c['expect.return'][row]}U, {after}}},")
    return "\n".join(lines) + "\n"


def _initialiser(fields: tuple[LaidOut, ...], values: list[int]) -> str:
    typed = (
        literal(v, "uint32_t" if f.ctype.startswith("u") else "int32_t") for f, v in zip(fields, values, strict=True)
    )
    return "{" + ", ".join(typed) + "}"


def _check_signals(program: Program, target: Target) -> None:
    used = _used_signals(program)
    missing = [name for name in target.lacks if name in used]
    if missing:
        raise InputError(
            f"the policy looks at {missing[0]}, which the target {target.name} does not give; choose another target or "
            f"distil a policy without it"
        )


def _used_signals(program: Program) -> set[str]:
    return Printer(program, lambda feature, threshold: "").signals()


def _check_context(program: Program, target: Target) -> None:
    _, size = flow_layout(program)
    counters = 4 * len(_counters(program)) if target.counts_events else 0
    total = size + target.adapter_bytes + counters
    if total > target.context_bytes:
        raise InputError(
            f"the flow context takes {total} bytes ({size} of the policy, {total - size} of the adapter), but the "
            f"target {target.name} keeps {target.context_bytes} a flow; distil with a smaller window or fewer features"
        )


def _counters(program: Program) -> list[str]:
    used = _used_signals(program)
    return [name for name in ("cnp_count", "nack_count", "sent_bytes") if name in used]


def _context(program: Program, student: Student, student_hash: str, target: Target) -> dict[str, Any]:
    fields, size = flow_layout(program)
    used = _used_signals(program)
    defaults = student.params()
    return {
        "rlcc_version": metadata.version("rlcc"),
        "teacher_name": student.name,
        "teacher_hash": student.teacher,
        "student_hash": student_hash,
        "trees": len(program.ensemble.trees),
        "depth": program.ensemble.depth,
        "thresholds": sum(len(t) for t in program.ensemble.thresholds().values()),
        "target": target.name,
        "context_bytes": size,
        "context_limit": target.context_bytes,
        "adapter_sources": target.adapter_sources,
        "counters": _counters(program),
        "algo_id": f"0x{int(student_hash[:8], 16):08X}",
        "event": [{"name": s.name, "unit": s.unit, "meaning": s.meaning, "used": s.name in used} for s in EVENT],
        "params": [
            {
                "name": s.name,
                "unit": s.unit,
                "meaning": s.meaning,
                "low": PARAM_RANGES[s.name][0],
                "high": PARAM_RANGES[s.name][1],
                "initializer": _initial_parameter(s.name, defaults, student),
            }
            for s in PARAMS
        ],
        "state": fields,
        "meanings": _meanings(program, student),
    }


def _meanings(program: Program, student: Student) -> list[str]:
    """What the features that some tree looks at stand for."""
    looked_at = set(program.ensemble.features)
    lags = range(student.observation.window)
    return [
        feature.meaning()
        for feature in student.observation.features
        if any(feature_name(feature, lag) in looked_at for lag in lags)
    ]


def _initial_parameter(name: str, defaults: dict[str, int], student: Student) -> str:
    if name == "base_rtt_recip_q32":
        return f"RLCC_BASE_RTT_RECIP_Q32({student.observation.base_rtt})"
    return f"{defaults[name]}U"
