"""``emulate``: every vector through the emitted C on the cycle-accurate core, compared bit for bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.manifest import Opened
from emulator.build import Build
from emulator.compare import VectorComparison, compare
from emulator.core import Progress
from emulator.core_run import run_on_core
from emulator.firmware import ENTRY, Firmware, argument_blocks
from emulator.firmware_folder import built
from emulator.job import State
from emulator.layout import outputs
from emulator.memory_map import Block
from emulator.objects import CodeFacts, code_facts
from emulator.profile import Profile
from emulator.report import Cycles, EmulationReport, SlowestVector, StateCost
from emulator.rtl_run import RtlRun
from emulator.states import measured_states
from emulator.vectors import vectors_of


def emulate(
    firmware_dir: Path | Opened,
    *,
    profile: str | Path,
    compiler: str = "clang",
    opt: str = "-O2",
    progress: Progress | None = None,
) -> EmulationReport:
    """``run_vectors`` of a firmware folder."""
    return run_vectors(built(firmware_dir, profile=profile, compiler=compiler, opt=opt), progress)


def run_vectors(build: Build, progress: Progress | None = None) -> EmulationReport:
    """Check the object code and run all vectors on the RTL. Faults of the policy itself (a mismatch, a trap, forbidden
    code) are in the report."""
    if build.linked is None:
        return _report(build, None, {})
    if progress:
        progress(f"running {len(vectors_of(build.firmware))} vectors on {build.engine.name}")

    def run(state: State) -> RtlRun:
        return run_on_core(build.image, ENTRY, build.engine, blocks(build.firmware), progress, state=state)

    hot = run("hot")
    states, runner = ({}, None) if hot.fault else measured_states(build.engine, hot, run)
    return replace(_report(build, hot, states), runner_cycles=runner)


def blocks(firmware: Firmware) -> list[tuple[Block, NDArray[np.void]]]:
    """The arguments of rlcc_decide in their order, with the vectors' records."""
    return [(block, vectors_of(firmware).records[block.name]) for block in argument_blocks(firmware.layouts)]


def _report(build: Build, run: RtlRun | None, states: dict[str, StateCost]) -> EmulationReport:
    firmware, engine, facts = build.firmware, build.engine, code_facts(build)
    vectors, compiler = vectors_of(firmware), build.toolchain.compiler
    cycles = slowest = fault = None
    outcome = VectorComparison(0, None)
    if run is not None:
        outcome = compare(vectors, outputs(firmware.program, run.returned, run.written))
        if run.fault is not None:
            fault = f"vector {run.fault.index} ({vectors.kinds[run.fault.index]}): {run.fault.text}"
        if len(run.cycles):
            cycles = Cycles.of(run.cycles)
            index = int(np.argmax(run.cycles))
            slowest = SlowestVector(index, vectors.kinds[index], cycles.max, vectors.inputs(index))
    micro = {k: round(engine.microseconds(v), 6) for k, v in vars(cycles).items()} if cycles else None
    return EmulationReport(
        profile=engine.label(),
        profile_hash=engine.hash(),
        clock_mhz=engine.clock.mhz,
        compiler=compiler.name,
        compiler_version=compiler.version,
        opt=build.toolchain.opt,
        vectors=len(vectors),
        cycles=cycles,
        microseconds=micro,
        slowest=slowest,
        mismatches=outcome.mismatches,
        first_mismatch=outcome.first,
        fault=fault,
        code_bytes=facts.code_bytes if facts else None,
        table_bytes=facts.table_bytes if facts else None,
        stack_bytes=facts.stack_bytes if facts else None,
        stack_bytes_measured=run.stack_bytes if run else 0,
        context_bytes=firmware.context_bytes,
        context_limit_bytes=engine.limits.context_bytes,
        forbidden=(*build.calls, *build.static, *(facts.forbidden if facts else ())),
        oversized=tuple(_limits(firmware, engine, facts)),
        states=states,
        told=_told(firmware, run.cycles) if run is not None and fault is None else {},
    )


def _told(firmware: Firmware, cycles: NDArray[np.uint64]) -> dict[str, Cycles]:
    """Returns the cycles by what each vector's decision reports."""
    vectors, told = vectors_of(firmware), {}
    for knob in firmware.program.interface.knobs:
        for value in range(knob.low, knob.high + 1) if knob.tells else ():
            those = vectors.expected[knob.name] == value
            if those.any():
                told[f"{knob.name}={value}"] = Cycles.of(cycles[those])
    return told


def _limits(firmware: Firmware, engine: Profile, facts: CodeFacts | None) -> list[str]:
    """Returns the limits of the engine that are exceeded."""
    limits = engine.limits
    needs = [("context", firmware.context_bytes, limits.context_bytes)]
    if facts:
        needs.append(("code", facts.code_bytes, limits.code_bytes))
        needs.append(("constant tables", facts.table_bytes, limits.table_bytes))
        needs.append(("stack", facts.stack_bytes or 0, limits.stack_bytes))
    return [f"{what} of {need} bytes, {engine.name} has {limit}" for what, need, limit in needs if need > limit]
