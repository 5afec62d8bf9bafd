"""Cycles of each line: the firmware on the core, every cycle told to the instruction that stands in it."""

import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from decision.errors import InputError
from emulator.compile import compile_sources, link_program
from emulator.firmware import ENTRY, SOURCE, Firmware, argument_blocks, read_firmware
from emulator.lines import Frame, SourceLines
from emulator.objects import read_image
from emulator.profile import Profile, load_profile
from emulator.rtl_run import run_on_core
from emulator.vectors import packed
from rlcc.certified import beside
from rlcc.console import Progress
from rlcc.cycles.parts import DECIDE, OTHER, STAGES, part_of_function, parts_of_decide, stage_of
from rlcc.recipe import EmulateOptions
from verify.certificate import Certificate, read_certificate


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
    """Where the cycles of a path go: of one input (``name`` worst) or the mean over all vectors (mean)."""

    name: str
    of: str
    cycles: float
    lines: tuple[LineCost, ...]

    def by_part(self) -> dict[str, float]:
        """Cycles of each part, stage by stage."""
        found: dict[str, float] = {}
        for cost in self.lines:
            found[cost.part] = found.get(cost.part, 0.0) + cost.cycles
        return found


def measure(
    folder: Path, engine: EmulateOptions, progress: Progress | None = None, *, proof: Path | None = None
) -> tuple[Profile, list[PathCosts]]:
    """The worst path and the mean of a firmware folder on an engine.

    Worst is the witness of the certificate ``proof`` (None: beside the folder) where it is of this firmware and engine;
    else the slowest vector. InputError where the code cannot be built, or leaves its bounds.
    """
    profile = load_profile(engine.profile)
    firmware = read_firmware(folder)
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        scratch = Path(name)

        def built(lines: bool) -> Path:
            (folder := scratch / f"lines{lines}").mkdir()
            how = {"compiler": engine.compiler, "opt": engine.optimise}
            policy = compile_sources(firmware.sources, profile, folder=folder, lines=lines, **how)
            return link_program(policy, ENTRY, profile, folder)

        elf = built(lines=True)
        places, image = SourceLines(elf, SOURCE), read_image(elf)
        if image.sections != read_image(built(lines=False)).sections:
            raise InputError(f"{engine.compiler} makes other code with line information, so no line can be told")

    def run(records: Mapping[str, NDArray[np.void]]) -> tuple[NDArray[np.uint64], dict[int, int]]:
        blocks = [(block, records[block.name]) for block in argument_blocks(firmware.layouts)]
        done = run_on_core(image, ENTRY, profile, blocks, progress, by_address=True)
        if done.fault is not None:
            raise InputError(f"{folder} does not run on {profile.name}: {done.fault.text}")
        return done.cycles, done.by_address or {}

    vectors = firmware.vectors
    every = vectors.records
    each, spent = run(every)
    certificate = _certificate(proof or beside(folder), firmware, profile, engine)
    if certificate is not None:
        worst, of = _witness(certificate, firmware), _said(certificate)
    else:
        slowest = int(np.argmax(each))
        worst = {name: records[slowest : slowest + 1] for name, records in every.items()}
        of = f"the slowest vector, {slowest} ({vectors.kinds[slowest]})"
    cycles, spent_worst = run(worst)
    text = firmware.sources.text.splitlines()
    return profile, [
        PathCosts("worst", of, float(cycles[0]), _lines(spent_worst, 1, places, text)),
        PathCosts("mean", f"{len(vectors):,} vectors", float(each.mean()), _lines(spent, len(vectors), places, text)),
    ]


def _lines(spent: Mapping[int, int], calls: int, places: SourceLines, text: list[str]) -> tuple[LineCost, ...]:
    """Cycles an address -> cycles a line, by the innermost function that the instruction belongs to."""
    parts = parts_of_decide(text)
    total: Counter[Frame] = Counter()
    for address, cycles in spent.items():
        total[places.frames(address)[-1]] += cycles
    costs = []
    for frame, cycles in total.items():
        known = 0 < frame.line <= len(text)
        part = parts.get(frame.line, OTHER) if frame.function == DECIDE else part_of_function(frame.function)
        source = text[frame.line - 1].strip() if known else ""
        costs.append(LineCost(part, frame.function, frame.line, source, cycles / calls))
    return tuple(sorted(costs, key=lambda cost: (STAGES.index(stage_of(cost.part)), cost.part, cost.line)))


def _certificate(path: Path, firmware: Firmware, profile: Profile, engine: EmulateOptions) -> Certificate | None:
    """The certificate, where there is one of this firmware on this engine. It is not checked again here."""
    certificate = read_certificate(path) if path.is_file() else None
    return certificate if certificate is not None and _is_of(certificate, firmware, profile, engine) else None


def _said(certificate: Certificate) -> str:
    worst = certificate.claims.worst_case
    if worst.exact is not None:
        return "the certificate's witness: no input takes longer"
    return f"the slowest input that the proof found; no input takes more than {worst.bound} cycles"


def _witness(certificate: Certificate, firmware: Firmware) -> dict[str, NDArray[np.void]]:
    columns = {n: np.array([value], dtype=np.int64) for n, value in certificate.claims.worst_case.witness.items()}
    return packed(firmware.layouts, columns, 1)


def _is_of(certificate: Certificate, firmware: Firmware, profile: Profile, engine: EmulateOptions) -> bool:
    subject = certificate.subject
    same_engine = certificate.engine.profile == profile.meaning()
    same_build = (subject.compiler, subject.flags[-1:]) == (engine.compiler, [engine.optimise])
    return subject.firmware == firmware.hash and same_engine and same_build
