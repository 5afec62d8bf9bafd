"""Firmware folders and certificates made by hand: what a forger could write, everything sealed as it should be."""

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from codegen.layout import manifest_layouts
from decision.artefact.documents import dump_json
from decision.artefact.output import writing
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.ir.program import Program
from decision.ir.program_json import program_to_json
from emulator.build import Build
from emulator.core import core_executable
from emulator.firmware_folder import built as build_folder
from emulator.profile import Profile, load_profile
from verify.prover.certify import on_core
from verify.trusted.calibrate import Calibration, calibrate
from verify.trusted.certificate import ASSUMPTIONS, FORMAT, subject_of
from verify.trusted.costs import cycle_model

ENGINE = load_profile("ibex-small")
TYPES = """
#include <stdint.h>
typedef struct { uint32_t request_sent_ns, response_ns, cnp_count, nack_count, sent_bytes, queue_bytes; } event_t;
typedef struct { uint32_t recip, low, high, initial; } params_t;
"""
Input = Mapping[str, int]


@cache
def calibrated(profile: Profile) -> Calibration:
    """Returns the calibration of an engine, measured once."""
    return calibrate(profile, core_executable(profile.core))


def whole(program: Program, given: Input) -> dict[str, int]:
    """An input by the names of its columns; 0 where nothing is given."""
    names = [f"event.{n}" for n in FLOW_RATE.event_names] + [f"params.{n}" for n in FLOW_RATE.param_names]
    return {name: given.get(name, 0) for name in [*names, *(f"context.{s.name}" for s in program.state)]}


def decided(program: Program, given: Input) -> dict[str, int]:
    """What the program says, by knob and by "context.x"."""
    values = whole(program, given)
    parts = [
        {n.partition(".")[2]: v for n, v in values.items() if n.startswith(f"{struct}.")}
        for struct in ("event", "params", "context")
    ]
    knobs, state = evaluate(program, *parts)
    said = zip(program.interface.knob_names, knobs, strict=True)
    return {**{n: v.item() for n, v in said}, **{f"context.{n}": v.item() for n, v in state.items()}}


def write_folder(
    folder: Path,
    program: Program,
    source: str,
    vectors: list[Input],
    layout: Mapping[str, Any] | None = None,
    part: Mapping[str, Any] | None = None,
) -> Path:
    """A firmware folder around a program and C; the vectors' expectations are the program's. ``part``: more keys of the
    program's file."""
    header = [f"event.{n}" for n in FLOW_RATE.event_names] + [f"params.{n}" for n in FLOW_RATE.param_names]
    header = ["kind", *header, *(f"context.{s.name}" for s in program.state)]
    header += [f"expect.{name}" for name in decided(program, {})]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(header)
    for given in vectors:
        table.writerow(["by hand", *whole(program, given).values(), *decided(program, given).values()])
    with writing(folder, "firmware", details={"layout": layout or manifest_layouts(program)}) as work:
        (work / "program.json").write_text(dump_json({**program_to_json(program), **(part or {})}))
        (work / "rlcc_policy.c").write_text(TYPES + source)
        (work / "vectors.csv").write_text(text.getvalue())
    return folder


def certificate_of(built: Build, witness: Input, stack_bytes: int = 0) -> dict[str, Any]:
    """A certificate's content without a proof: the witness' cycles on the core are said to be exact."""
    model, run = cycle_model(built.engine), on_core(built, dict(witness))
    assert run.equal
    worst = {
        "bound": run.cycles,
        "exact": run.cycles if model.exact else None,
        "witness": whole(built.program, witness),
    }
    calibration = calibrated(built.engine)
    return {
        "format": FORMAT,
        "subject": subject_of(built).model_dump(),
        "engine": {
            "profile": built.engine.meaning(),
            "core": calibration.core,
            "model": model.kind,
            "calibration": calibration.to_json(),
        },
        "claims": {
            "equality": True,
            "safety": True,
            "stack_bytes": stack_bytes,
            "worst_case": {**worst, "outputs": run.outputs, "rtl_cycles": run.cycles},
        },
        "assumptions": list(ASSUMPTIONS),
        "tools": {},
        "cells": 0,
        "cuts": [],
        "queries": [],
    }


def forged(folder: Path, witness: Input, opt: str = "-O2") -> tuple[Build, dict[str, Any]]:
    """The folder compiled, and a certificate's content for it."""
    built = build_folder(folder, profile=ENGINE, compiler="clang", opt=opt)
    return built, certificate_of(built, witness)
