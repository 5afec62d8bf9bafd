"""A firmware's vectors run through its Verilog by Verilator, in the test bench that is emitted with it."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from emulator.core import CXX_FLAGS, CXX_SLOW, all_of, built_runtime, cxx, verilator
from emulator.firmware import VECTORS, prefix_of, under

FOLDER = "rtl"
MODULE, WRAPPER, BENCH = "rlcc_policy.v", "rlcc_axi_lite.v", "rlcc_policy_tb.cpp"
SAID = re.compile(r"(\d+) of (\d+) differ, (\d+) clocks")


@dataclass(frozen=True)
class VectorRun:
    """``clocks``: of all vectors together."""

    vectors: int
    differing: int
    clocks: int


def simulate(firmware: Opened, *, seed: int = 0) -> VectorRun:
    """Returns what the emitted test bench says. ``seed``: of the clocks in which valid and ready are withheld; 0: in
    none. InputError where the folder holds no Verilog, or a tool fails."""
    prefix = prefix_of(firmware)
    names = [under(prefix, name) for name in (MODULE, BENCH)]
    with temporary.folder() as place:
        for name in names:
            (place / name).write_bytes(firmware.content(f"{FOLDER}/{name}"))
        (place / VECTORS).write_bytes(firmware.content(VECTORS))
        program = built(place, *names)
        said = _run([str(program), VECTORS, *([str(seed)] if seed else [])], place, (0, 1))
    found = SAID.search(said)
    if found is None:
        raise InputError(f"the test bench of {firmware.folder}/{FOLDER} does not say what it found; emit it again")
    differing, vectors, clocks = map(int, found.groups())
    return VectorRun(vectors, differing, clocks)


def built(place: Path, module: str, bench: str) -> Path:
    """Builds the test bench in ``place``, where its sources lie, and returns the program's path."""
    command, env = verilator()
    top = module.removesuffix(".v")
    _run([*command, "--cc", "--top-module", top, "--Mdir", "model", module], place, (0,), env)
    root = Path(env["VERILATOR_ROOT"]) / "include"
    unit = all_of(place / "unit.cpp", [place / bench, *sorted((place / "model").glob("*.cpp"))])
    includes = [f"-I{path}" for path in (place, place / "model", root, root / "vltstd")]
    flags = [*CXX_FLAGS, *CXX_SLOW, *includes]
    _run([cxx(), *flags, str(unit), str(built_runtime()), "-pthread", "-o", "bench"], place, (0,))
    return place / "bench"


def _run(command: Sequence[str], place: Path, allowed: tuple[int, ...], env: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, check=False)
    if done.returncode not in allowed:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
        raise InputError(f"{Path(command[0]).name} failed on the emitted Verilog: {lines[0]}")
    return done.stdout
