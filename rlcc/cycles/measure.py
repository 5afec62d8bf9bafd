"""Cycles of each line: the firmware on the core, every cycle told to the instruction that stands in it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.artefact.errors import InputError
from emulator.build import Build
from emulator.core_run import run_on_core
from emulator.firmware import ENTRY, Firmware
from emulator.lines import Frame, SourceLines, source_lines
from emulator.vectors import vectors_of
from rlcc.commands.console import Progress
from rlcc.cycles.parts import DECIDE, OTHER, STAGES, part_of_function, parts_of_decide, stage_of
from rlcc.gate.certified import PLACE
from verify.trusted.certificate import Certificate, read_certificate, witness_bytes


@dataclass(frozen=True)
class LineCost:
    """Cycles of one line of C. ``line`` 0: code that no line of the policy asked for (a library, the runner)."""

    part: str
    function: str
    line: int
    text: str
    cycles: float


@dataclass(frozen=True)
class PathCosts:
    """Cycles of a path by cause: of one input (``name`` worst) or the mean over all vectors (mean)."""

    name: str
    of: str
    cycles: float
    lines: tuple[LineCost, ...]

    def by_part(self) -> dict[str, float]:
        """Cycles of each part, stage by stage."""
        parts: dict[str, float] = {}
        for cost in self.lines:
            parts[cost.part] = parts.get(cost.part, 0.0) + cost.cycles
        return parts


def measure(build: Build, progress: Progress | None = None, *, proof: Path | None = None) -> list[PathCosts]:
    """The worst path and the mean of a build. Worst is the witness of the certificate ``proof`` (None: beside the
    folder) where it is of this firmware and engine; else the slowest vector. InputError where the code leaves its
    bounds."""
    places, vectors = source_lines(build), vectors_of(build.firmware)
    each, spent = _run(build, vectors.records, progress)
    certificate = _certificate(proof or build.firmware.folder.resolve().parent / PLACE, build)
    worst = worst_costs(build, int(np.argmax(each)), progress, certificate=certificate, places=places)
    lines = _lines(spent, len(vectors), places, build.firmware)
    return [worst, PathCosts("mean", f"{len(vectors):,} vectors", float(each.mean()), lines)]


def worst_costs(
    build: Build,
    slowest: int,
    progress: Progress | None = None,
    *,
    certificate: Certificate | None = None,
    places: SourceLines | None = None,
) -> PathCosts:
    """Returns the costs of the certificate's witness, or without a witness of the vector ``slowest``."""
    firmware = build.firmware
    if certificate is not None:
        worst = certificate.claims.worst_case
        of = "the certificate's witness: no input takes longer"
        if worst.exact is None:
            of = f"the slowest input that the proof found; no input takes more than {worst.cycles} cycles"
        inputs = zip(build.blocks, witness_bytes(build, worst.witness), strict=True)
        records: Mapping[str, NDArray[np.void]] = {
            block.name: np.frombuffer(content, dtype=firmware.layouts[block.name].dtype) for block, content in inputs
        }
    else:
        records = {name: every[slowest : slowest + 1] for name, every in vectors_of(firmware).records.items()}
        of = f"the slowest vector, {slowest} ({vectors_of(firmware).kinds[slowest]})"
    cycles, spent = _run(build, records, progress)
    return PathCosts("worst", of, float(cycles[0]), _lines(spent, 1, places or source_lines(build), firmware))


def _run(
    build: Build, records: Mapping[str, NDArray[np.void]], progress: Progress | None
) -> tuple[NDArray[np.uint64], dict[int, int]]:
    """Cycles of each call, and of all by the instruction's address."""
    blocks = [(block, records[block.name]) for block in build.blocks]
    done = run_on_core(build.image, ENTRY, build.engine, blocks, progress, by_address=True)
    if done.fault is not None:
        raise InputError(f"{build.firmware.folder} does not run on {build.engine.name}: {done.fault.text}")
    return done.cycles, done.by_address or {}


def _lines(spent: Mapping[int, int], calls: int, places: SourceLines, firmware: Firmware) -> tuple[LineCost, ...]:
    """Cycles an address -> cycles a line, by the innermost function that the instruction belongs to."""
    text = firmware.sources.text.splitlines()
    entry = firmware.named(DECIDE)
    parts = parts_of_decide(text, entry)
    total: Counter[Frame] = Counter()
    for address, cycles in spent.items():
        total[places.frames(address)[-1]] += cycles
    costs = []
    for frame, cycles in total.items():
        known = 0 < frame.line <= len(text)
        part = parts.get(frame.line, OTHER) if frame.function == entry else part_of_function(frame.function)
        source = text[frame.line - 1].strip() if known else ""
        costs.append(LineCost(part, frame.function, frame.line, source, cycles / calls))
    return tuple(sorted(costs, key=lambda cost: (STAGES.index(stage_of(cost.part)), cost.part, cost.line)))


def _certificate(path: Path, build: Build) -> Certificate | None:
    """The certificate, where there is one of this firmware on this engine. It is not checked again here."""
    if not path.is_file():
        return None
    certificate, tools = read_certificate(path), build.toolchain
    subject = certificate.subject
    same_engine = certificate.engine.profile == build.engine.meaning()
    same_build = (subject.compiler, subject.flags[-1:]) == (tools.compiler.name, [tools.opt])
    return certificate if subject.firmware == build.firmware.hash and same_engine and same_build else None
