"""What AuTO's decisions cost on an engine: trees beside networks, as flows grow, and the C of each half."""

import resource
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.errors import InputError
from decision.policy.actions import Choice
from decision.policy.weights import shapes
from emulator.build import Build, build
from emulator.compile import find_gcc, toolchain
from emulator.firmware_folder import read_firmware
from emulator.profile import load_profile
from emulator.run import run_vectors
from papers import contenders, int8_cost
from papers.contenders import INT8_CYCLES
from papers.int8_cost import Int8
from rlcc.gate.certified import PLACE
from rlcc.recipe import deployment_of, load_recipe
from teachers.load import load
from verify.ranges.bound import Bound, bounded
from verify.trusted.certificate import read_certificate

PAPER_SHORT = 14 * 600 + 600**2 + 3 * 600
"""Multiply-adds of sRLA's network: two hidden layers of 600 ([AUTO] section 5.2.1), on our 14 features."""
PAPER_LONG = 136 * 300 + 9 * 300**2 + 300 * 36
"""Of lRLA's: ten of 300 (section 5.2.2), for the 36 rows of one flow."""
METIS_SHORTER, METIS_FEWER = 27, 156
"""By how many times Metis' trees of AuTO decide sooner, and how many times fewer resources those of all its systems
take at the most ([METIS])."""
GROWTH = ((11, 10), (100, 100), (1000, 1000))
"""Long flows that run, and that have ended lately ([AUTO] section 6.2.3 goes from the first to the last)."""


@dataclass(frozen=True)
class Taken:
    """One compiler's machine code of a decision: what compiling took, its bytes, its cycles over the firmware's
    vectors; ``proved``: of all inputs, where there is a certificate of this very code; ``bound``: of all inputs, by
    ranges."""

    compiler: str
    compile_s: float
    code: int
    tables: int
    stack: int
    mean: float
    slowest: float
    proved: int | None
    clock_mhz: float
    bound: int | None = None


def taken(run: Path) -> list[Taken]:
    """With each compiler that there is, on the engine that the pages' trees are measured on; ``run``: what `rlcc run`
    wrote."""
    return [_taken(run, compiler) for compiler in ("clang", "gcc") if compiler == "clang" or find_gcc()]


def _taken(run: Path, compiler: str) -> Taken:
    firmware, tools = read_firmware(run / "firmware"), toolchain(contenders.ENGINE, compiler, "-O2")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    made = build(firmware, tools)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    report = run_vectors(made)
    if report.cycles is None or report.code_bytes is None:
        raise InputError(f"{run} does not run on {contenders.ENGINE}: {report.fault}; run its recipe again")
    tables, stack = report.table_bytes or 0, report.stack_bytes or report.stack_bytes_measured
    cycles, proved = report.cycles, _proved(run / PLACE, made)
    slowest, clock, found = float(cycles.max), report.clock_mhz, bounded(made)
    bound = found.cycles if isinstance(found, Bound) else None
    return Taken(compiler, seconds, report.code_bytes, tables, stack, cycles.mean, slowest, proved, clock, bound)


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
        f"| {one.mean:,.0f} | {one.slowest:,.0f} | {_known(one.bound)} | {_known(one.proved)} |"
        for name, each in halves.items()
        for one in each
    ]


def _known(cycles: int | None) -> str:
    return "" if cycles is None else f"{cycles:,}"


def own_network(name: str, run: Path) -> Int8:
    """Of the teacher that a recipe's run distilled: emitted in int8 and run where it chooses; a network that sets
    levels is not emitted, so it is reckoned by its multiply-adds, its bytes are its weights."""
    teacher, recipe = load(contenders.TEACHERS / name), contenders.ROOT / "recipes" / f"{name}.toml"
    if isinstance(teacher.policy.action, Choice):
        deployment = deployment_of(load_recipe(recipe), recipe)
        (network,) = int8_cost.measured(teacher, run / "rollouts", deployment, contenders.ENGINE)
        return network
    return reckoned(sum(shape[0] * shape[1] for shape in shapes(teacher.policy).values() if len(shape) == 2))


def reckoned(multiply_adds: int) -> Int8:
    """A network that is not run, on the pages' engine."""
    cycles = multiply_adds * INT8_CYCLES
    clock_mhz = load_profile(contenders.ENGINE).clock.mhz
    return Int8(multiply_adds, cycles, round(cycles), clock_mhz, multiply_adds)


def costs(tree: Taken, own: Int8, paper: int) -> list[str]:
    """What a decision takes, tree and networks on the same engine; ``own``: its teacher; ``paper``: multiply-adds of
    the paper's network."""
    theirs = reckoned(paper)
    rows = [("the tree", tree.mean, tree.slowest, tree.code + tree.tables)]
    rows += [
        (f"{whose} in int8, {n.multiply_adds:,} multiply-adds", n.mean, n.slowest, n.code_bytes)
        for whose, n in (("its teacher", own), ("the paper's network", theirs))
    ]
    return [
        f"| {words} | {mean:,.0f} | {slowest:,.0f} | {slowest / tree.clock_mhz:,.2f} | {slowest / tree.slowest:,.1f} "
        f"| {size:,} | {size / (tree.code + tree.tables):,.1f} |"
        for words, mean, slowest, size in rows
    ]


def beside_metis(name: str, tree: Taken, own: Int8, paper: int) -> str:
    """Whether the tree's decision is shorter, and its bytes fewer, by as much as Metis reports; ``own`` and ``paper``
    as of `costs`."""
    ours, theirs = tree.code + tree.tables, reckoned(paper)
    shorter, fewer = theirs.slowest / tree.slowest, theirs.code_bytes / ours
    return (
        f"{name}'s tree decides {own.slowest / tree.slowest:,.1f} times as fast as its own teacher in int8 "
        f"({_reaches(own.slowest / tree.slowest, METIS_SHORTER)}) with {ours / own.code_bytes:,.1f} times its bytes; "
        f"{shorter:,.0f} times as fast as the paper's network in int8 ({_reaches(shorter, METIS_SHORTER)}), which has "
        f"{fewer:,.0f} times its bytes, in float32 {4 * fewer:,.0f} ({_reaches(4 * fewer, METIS_FEWER)})."
    )


def _reaches(ours: float, theirs: float) -> str:
    """Beside Metis' figure."""
    return f"over {theirs}" if ours > theirs else f"**not** {theirs}"


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
