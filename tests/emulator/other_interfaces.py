"""Decisions that are not a flow's, emitted: a queue's three knobs, with a memory and without; a model on its grid."""

from pathlib import Path

from codegen.kernel import head
from codegen.layout import manifest_layouts, structures
from codegen.lower import Options
from codegen.passes.program import lower_program
from codegen.printer import Printer
from codegen.vectors import make
from decision.artefact.documents import dump_json
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.ir.interface import Interface, Knob, Signal, Uniform
from decision.ir.interfaces import grid
from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.ir.program import Op, Program, ProgramBuilder
from decision.ir.program_json import program_to_json

MOST = 2**31 - 1
TREES = (
    oblivious(((0, 40_000), (1, 90_000)), (3000, -200, 900, 70)),
    oblivious(((0, 200_000), (2, 5)), (-1500, 40, 11, 8000)),
)
DEFAULTS = {"queue_marking": {"capacity_bytes": 1_250_000}, "grid": {}, "mlfq_thresholds": {}}


def queue(memory: bool = True) -> Program:
    """Kmin by the trees, Kmax above it by what was sent, Pmax by what is left of the capacity."""
    b = ProgramBuilder(Forest(("queue", "sent", "last"), TREES, (20_000,), 0), QUEUE_MARKING)
    length = b.add(Op.MIN, (b.event("queue_bytes"), b.const(MOST)), name="queue_held")
    sent = b.add(Op.MIN, (b.event("sent_bytes"), b.const(MOST)), name="sent_held")
    last = b.state_in("last_pmax_q16", "uint16") if memory else b.add(Op.SHR, (length,), 20)
    shifts = b.state_in("shift", "int8") if memory else b.const(0)
    trees = b.add(Op.TREES, (length, sent, last), name="trees")
    kmin = b.add(Op.MAX, (trees, b.const(1000)), name="kmin")
    kmax = b.add(Op.ADD, (kmin, b.add(Op.SHR, (sent,), 3)), name="kmax")
    left = b.add(Op.MIN, (b.param("capacity_bytes"), b.const(60_000)))
    pmax = b.add(Op.MAX, (left, b.add(Op.SHR, (b.event("marked_bytes"),), 17)), name="pmax")
    if memory:
        b.state_out("last_pmax_q16", pmax)
        b.state_out("shift", b.add(Op.SELECT, (b.add(Op.GT, (length, sent)), b.const(-5), shifts)))
    return b.finish(kmin, kmax, pmax)


def model_grid() -> Interface:
    """Signals of every width, so that a structure has gaps."""
    kinds = {"load": "uint16", "delay": "int32", "kind": "int8", "trend": "int16", "size": "uint32"}
    spans = {"uint16": (0, 900), "int32": (-70_000, 70_000), "int8": (-9, 9), "int16": (-300, 300), "uint32": (0, 9999)}
    event = [Signal(name, "", name, Uniform(*spans[kind]), kind) for name, kind in kinds.items()]
    return grid.grid(event, [Knob("score", "", "what the model says", -(2**31), MOST, "int32")])


def on_grid() -> Program:
    """A model's sum, less what a feature says: a result with a sign."""
    trees = (
        oblivious(((0, 300), (1, -5000)), (-30, 70, 500, -900)),
        oblivious(((2, 3), (3, -20), (4, 4000)), (1, 2, 3, 4, -5, -6, -7, -8)),
    )
    b = ProgramBuilder(Forest(("load", "delay", "kind", "trend", "size"), trees, (-40,), 4), model_grid())
    features = tuple(b.event(name) for name in ("load", "delay", "kind", "trend", "size"))
    return b.finish(b.add(Op.SUB, (b.add(Op.TREES, features, name="trees"), features[3]), name="score"))


PROGRAMS = {"queue": queue(), "queue without memory": queue(memory=False), "grid": on_grid()}


def printed(program: Program, options: Options | None = None) -> tuple[str, str]:
    """Header and C of a program."""
    printer = Printer(lower_program(program, options or Options()), lambda feature, threshold: "")
    lines = ["#ifndef RLCC_POLICY_H", "#define RLCC_POLICY_H", "#include <stdint.h>"]
    for s in structures(program):
        lines.append(f"typedef struct {{ {' '.join(f'{f.ctype} {f.name};' for f in s.fields)} }} {s.ctype};")
    lines += [f"{printer.head()};", "#endif", ""]
    body = ['#include "rlcc_policy.h"']
    for function in printer.functions():
        body += [head(function), "{", *function.body, "}"]
    unused = [f"    (void){s.argument};" for s in structures(program)]
    body += [printer.head(), "{", *printer.tables(), *unused, *(f"    {s.code}" for s in printer.statements())]
    body += [*(f"    {s.code}" for s in printer.writes()), f"    return {printer.result() or ''};", "}", ""]
    return "\n".join(lines), "\n".join(body)


def emitted(program: Program, place: Path, source: str | None = None) -> Path:
    """A firmware folder of the program; ``source`` in place of its C."""
    header, code = printed(program)
    vectors, _ = make(program, DEFAULTS[program.interface.name], seed=3, random_rows=200)
    with writing(place, "firmware", details={"layout": manifest_layouts(program)}) as folder:
        (folder / "rlcc_policy.h").write_text(header)
        (folder / "rlcc_policy.c").write_text(source or code)
        (folder / "vectors.csv").write_text(vectors.to_csv())
        (folder / "program.json").write_text(dump_json(program_to_json(program)))
    return place
