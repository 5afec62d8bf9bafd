"""From a built firmware to a certificate: prove, run the witness on the core, calibrate the cost model."""

import time
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256
from emulator.build import Build
from emulator.core import Progress, core_executable
from emulator.core_run import run_on_core
from emulator.firmware import ENTRY
from emulator.layout import Columns, outputs
from emulator.vectors import computed, vectors_of
from verify.code.failures import Failure
from verify.prover.cuts import CutForms, cuts_of
from verify.prover.prove import Limits, Proof, attempt
from verify.prover.worst import Worst
from verify.trusted.calibrate import Calibration, calibrate
from verify.trusted.certificate import (
    ASSUMPTIONS,
    FORMAT,
    Certificate,
    CutClaim,
    Query,
    Subject,
    sealed,
    subject_of,
    witness_bytes,
)
from verify.trusted.costs import CycleModel, cycle_model

SOLVERS = ("z3-solver", "bitwuzla")


@dataclass(frozen=True)
class OnCore:
    """One input on the Verilated core, beside what the program says of it."""

    cycles: int
    outputs: dict[str, int]
    """By knob, and by "context.x"; none where it faulted."""
    expected: dict[str, int]
    fault: str

    @property
    def equal(self) -> bool:
        return not self.fault and self.outputs == self.expected


@dataclass(frozen=True)
class Verification:
    """A proof with what the core says of it. ``certificate`` is None where something is not proved or not confirmed;
    ``cuts``: the forms of its cuts to try, the first of which it has; ``refuted`` holds failures whose input was
    run on the core."""

    build: Build
    proof: Proof
    cuts: CutForms | None
    calibration: Calibration | None
    witness: OnCore | None
    refuted: tuple[tuple[Failure, OnCore], ...]
    certificate: Certificate | None
    problem: str


def certify(build: Build, *, progress: Progress | None = None) -> Verification:
    """Prove a build. Bad input raises InputError; what is wrong with the policy is in the result."""
    model, subject = provable(build), subject_of(build)
    if progress:
        progress("proving")
    proof, cuts = _prove(build, model)
    if proof.failures or proof.worst is None:
        refuted = tuple((f, on_core(build, f.example)) for f in proof.failures if f.example)
        return Verification(build, proof, cuts, None, None, refuted, None, "")
    if progress:
        progress("calibrating the cost model")
    calibration = calibrate(build.engine, core_executable(build.engine.core, progress), progress=progress)
    witness = on_core(build, proof.worst.witness) if proof.worst.witness_cycles is not None else None
    problem = _problem(proof.worst, calibration, witness)
    certificate = None
    if not problem and witness is not None and cuts is not None:
        certificate = _certificate(build, subject, proof, proof.worst, next(iter(cuts)), calibration, witness)
    return Verification(build, proof, cuts, calibration, witness, (), certificate, problem)


def provable(build: Build) -> CycleModel:
    """The cycle model to prove a build with. InputError where nothing can be proved: on an engine whose cycles have no
    model, or of code that loops."""
    if build.program.network is not None:
        raise InputError(
            f"{build.firmware.source} loops over the weights of a network, and only code without loops can be proved "
            "equal; rlcc verify --bound bounds its cycles, and so does rlcc gate"
        )
    return cycle_model(build.engine)


def unprovable(build: Build) -> str:
    """Why nothing can be proved of a build; empty where it can."""
    try:
        provable(build)
    except InputError as error:
        return str(error)
    return ""


def _prove(build: Build, model: CycleModel) -> tuple[Proof, CutForms | None]:
    """The proof, and forms of the cuts that the checker needs."""
    start = time.monotonic()
    firmware = build.firmware
    run, failures = attempt(
        build.image, build.program, firmware.layouts, build.engine, model, Limits(), vectors_of(firmware)
    )
    worst = None if failures else run.worst()
    proof = run.proof(failures, worst, time.monotonic() - start)
    return proof, None if failures else cuts_of(run)


def on_core(build: Build, example: dict[str, int]) -> OnCore:
    """Run one input ("event.response_ns": 5, ...) on the core and through the program."""
    layouts = build.firmware.layouts
    inputs = zip(build.blocks, witness_bytes(build, _whole(build, example)), strict=True)
    records = [(block, np.frombuffer(content, dtype=layouts[block.name].dtype)) for block, content in inputs]
    run = run_on_core(build.image, ENTRY, build.engine, records)
    expected = _first(computed(build.program, {block.name: record for block, record in records}))
    if run.fault is not None:
        return OnCore(0, {}, expected, run.fault.text)
    return OnCore(int(run.cycles[0]), _first(outputs(build.program, run.returned, run.written)), expected, "")


def _first(columns: Columns) -> dict[str, int]:
    return {name: int(values[0]) for name, values in columns.items()}


def _whole(build: Build, example: dict[str, int]) -> dict[str, int]:
    """An input with every field; 0 where the prover does not care."""
    names = [
        f"{group}.{field}"
        for group, fields in build.program.structures.items()
        if group != "action"
        for field in fields
    ]
    return {name: example.get(name, 0) for name in names}


def _problem(worst: Worst, calibration: Calibration, witness: OnCore | None) -> str:
    """Why a proof without failures gets no certificate all the same; empty where it does."""
    if not calibration.holds:
        return f"the cost model is off by +{calibration.above}/-{calibration.below} cycles on random programs"
    if witness is None:
        return "no input was found that shows how long a decision can take"
    if not witness.equal:
        return f"the core computes otherwise than the program for the witness{witness.fault and ': ' + witness.fault}"
    if witness.cycles > worst.bound:
        return f"the witness takes {witness.cycles} cycles on the core, the bound is {worst.bound}"
    if calibration.model == "exact" and worst.exact is not None and witness.cycles != worst.exact:
        return f"the witness takes {witness.cycles} cycles on the core, the proof says {worst.exact}"
    return ""


def _certificate(
    build: Build,
    subject: Subject,
    proof: Proof,
    slowest: Worst,
    cuts: tuple[CutClaim, ...],
    calibration: Calibration,
    witness: OnCore,
) -> Certificate:
    worst = {
        "bound": slowest.bound,
        "exact": slowest.exact if calibration.model == "exact" else None,
        "witness": _whole(build, slowest.witness),
        "outputs": witness.outputs,
        "rtl_cycles": witness.cycles,
    }
    return sealed(
        {
            "format": FORMAT,
            "subject": subject.model_dump(),
            "engine": {
                "profile": build.engine.meaning(),
                "core": calibration.core,
                "model": calibration.model,
                "calibration": calibration.to_json(),
            },
            "claims": {"equality": True, "safety": True, "stack_bytes": proof.stack_bytes, "worst_case": worst},
            "assumptions": list(ASSUMPTIONS),
            "tools": {name: version(name) for name in ("rlcc", *SOLVERS)},
            "cells": proof.cells,
            "cuts": [cut.model_dump() for cut in cuts],
            "queries": [
                Query(sha256=sha256(a.question.text.encode()), solvers=sorted(a.verdicts)).model_dump()
                for a in proof.answers
            ],
        }
    )
