"""What AuTO's decisions cost on an engine: trees beside networks, as flows grow, and the C of each half."""

import resource
from dataclasses import dataclass
from pathlib import Path

from bench.papers import contenders
from bench.papers.contenders import INT8_CYCLES
from decision.errors import InputError
from decision.weights import shapes
from emulator.build import Build, build
from emulator.compile import find_gcc, toolchain
from emulator.firmware import read_firmware
from emulator.run import run_vectors
from rlcc.certified import PLACE
from teachers.load import load
from verify.certificate import read_certificate

PAPER_SHORT = 14 * 600 + 600**2 + 3 * 600
"""Multiply-adds of sRLA's network: two hidden layers of 600 ([AUTO] section 5.2.1), on our 14 features."""
PAPER_LONG = 136 * 300 + 9 * 300**2 + 300 * 36
"""Of lRLA's: ten of 300 (section 5.2.2), for the 36 rows of one flow."""
GROWTH = ((11, 10), (100, 100), (1000, 1000))
"""Long flows that run, and that have ended lately ([AUTO] section 6.2.3 goes from the first to the last)."""


@dataclass(frozen=True)
class Taken:
    """One compiler's machine code of a decision: what compiling took, its bytes, its cycles over the firmware's
    vectors; ``proved``: of all inputs, where there is a certificate of this very code."""

    compiler: str
    compile_s: float
    code: int
    tables: int
    stack: int
    mean: float
    slowest: float
    proved: int | None
    clock_mhz: float


def taken(run: Path) -> list[Taken]:
    """With each compiler that there is, on the engine that the pages' trees are measured on; ``run``: what `rlcc run`
    wrote."""
    return [_taken(run, compiler) for compiler in ("clang", "gcc") if compiler == "clang" or find_gcc()]


def _taken(run: Path, compiler: str) -> Taken:
    firmware, tools = read_firmware(run / "firmware"), toolchain(contenders.ENGINE, compiler, "-O2")
    before = _children_s()
    made = build(firmware, tools)
    seconds = _children_s() - before
    report = run_vectors(made)
    if report.cycles is None or report.code_bytes is None:
        raise InputError(f"{run} does not run on {contenders.ENGINE}: {report.fault}; run its recipe again")
    tables, stack = report.table_bytes or 0, report.stack_bytes or report.stack_bytes_measured
    cycles, proved = report.cycles, _proved(run / PLACE, made)
    slowest, clock = float(cycles.max), report.clock_mhz
    return Taken(compiler, seconds, report.code_bytes, tables, stack, cycles.mean, slowest, proved, clock)


def _children_s() -> float:
    """CPU time of the processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _proved(path: Path, made: Build) -> int | None:
    """The certificate's worst case, where it is of this firmware and compiler."""
    if not path.is_file():
        return None
    certificate = read_certificate(path)
    subject = certificate.subject
    same = subject.firmware == made.firmware.hash and subject.compiler == made.toolchain.compiler.name
    return certificate.claims.worst_case.cycles if same else None


def written(halves: dict[str, list[Taken]]) -> list[str]:
    """The C of both halves, by compiler."""
    return [
        f"| {name} | {one.compiler} | {one.compile_s:.2f} | {one.code:,} | {one.tables:,} | {one.stack} "
        f"| {one.mean:,.0f} | {one.slowest:,.0f} | {'' if one.proved is None else f'{one.proved:,}'} |"
        for name, each in halves.items()
        for one in each
    ]


def costs(tree: Taken, name: str, paper: int) -> list[str]:
    """What a decision takes, tree and networks on the same engine; ``paper``: multiply-adds of the paper's network."""
    own = sum(
        shape[0] * shape[1] for shape in shapes(load(contenders.TEACHERS / name).policy).values() if len(shape) == 2
    )
    rows = [("the tree, mean", tree.mean), ("the tree, its slowest vector", tree.slowest)]
    rows += [(f"its teacher in int8, {own:,} multiply-adds", own * INT8_CYCLES)]
    rows += [(f"the paper's in int8, {paper:,}", paper * INT8_CYCLES)]
    return [
        f"| {words} | {cycles:,.0f} | {cycles / tree.clock_mhz:,.2f} | {cycles / tree.slowest:,.1f} |"
        for words, cycles in rows
    ]


def growth(tree: Taken) -> list[str]:
    """What deciding all long flows takes: a call a flow, whose features do not grow, beside one pass of the paper's
    network, whose first layer does (6 numbers a running flow and 7 of one that has ended, [AUTO] section 5.2.2)."""
    lines = []
    for running, ended in GROWTH:
        paper = PAPER_LONG + (6 * running + 7 * ended - 136) * 300 + (running - 1) * 300 * 36
        trees, slowest, network = (
            cycles / tree.clock_mhz / 1000
            for cycles in (running * tree.mean, running * tree.slowest, paper * INT8_CYCLES)
        )
        told = {(11, 10): "10 on average", (1000, 1000): "81.82"}.get((running, ended), "")
        lines.append(
            f"| {running:,}, {ended:,} | {trees:,.3f} | {slowest:,.3f} | {network:,.1f} | {network / slowest:,.0f} "
            f"| {told} |"
        )
    return lines
