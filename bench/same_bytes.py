"""Whether every processor gives the same bytes: the hashes of every step (bench/steps.py), as on several processors.

    python -m bench.same_bytes [--qemu CPU ..] [--out FILE]

A processor without what this one has, or of another maker, is pretended: NumPy and OpenBLAS are told so by their
variables, the C library by its tunables. ``--qemu`` runs the steps on a processor that QEMU emulates (qemu-x86_64, of
qemu-user), which takes some hundred times as long.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.artefact.processors import OVERRIDE
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "results" / "same-bytes.md"
COMMITTED = ROOT / "tests" / "bench" / "steps.json"
Hashes = dict[str, dict[str, str]]

FOUND: Sequence[str] = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
"""NumPy's findings on this processor beyond its baseline (x86-64-v2): X86_V3 has AVX2 and FMA, the rest AVX-512."""
AVX512 = [feature for feature in FOUND if feature == "X86_V4" or feature.startswith("AVX512")]
WITHOUT_AVX2 = {"NPY_DISABLE_CPU_FEATURES": " ".join(FOUND)}
ENVIRONMENTS: Mapping[str, Mapping[str, str]] = {
    "this processor": {},
    **(
        {
            "an Intel server": {"OPENBLAS_CORETYPE": "COOPERLAKE"},
            "one without AVX-512": {
                "NPY_DISABLE_CPU_FEATURES": " ".join(AVX512),
                "OPENBLAS_CORETYPE": "HASWELL",
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL",
            },
        }
        if AVX512
        else {
            "one without AVX2": {
                **WITHOUT_AVX2,
                "OPENBLAS_CORETYPE": "SANDYBRIDGE",
                "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA",
            }
        }
    ),
    "an older one": {
        **WITHOUT_AVX2,
        "OPENBLAS_CORETYPE": "NEHALEM",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-AVX,-FMA",
    },
}
"""The variables by which NumPy, OpenBLAS and the C library are told of a processor. OpenBLAS has the same
kernels for every maker's processors with AVX2."""
BEFORE = """
| kind    | one processor | an older one | the first step that differed |
| ------- | ------------: | -----------: | ---------------------------- |
| mlp     |       0 of 14 |      5 of 14 | labels                       |
| lstm    |       5 of 14 |      5 of 14 | labels                       |
| choice  |       0 of 13 |      4 of 13 | student.cbm                  |
| trigger |       0 of 14 |      5 of 14 | student.cbm                  |
| level   |       0 of 13 |      8 of 13 | labels                       |
"""
"""At commit 2c5724af, on the same machine."""


def as_on(
    command: Sequence[str], environment: Mapping[str, str], processors: int | None
) -> "subprocess.CompletedProcess[str]":
    """Runs a command in the checkout as on a pretended processor, on a number of processors; None: on all."""
    allowed = sorted(os.sched_getaffinity(0))[:processors]
    limits = ("_NUM_THREADS", OVERRIDE)
    kept = (name for name in os.environ if not name.endswith(limits) and not name.startswith("OPENBLAS_"))
    free = {name: os.environ[name] for name in kept}
    return subprocess.run(
        command,
        env=free | dict(environment),
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def hashes(
    kinds: Sequence[str], environment: Mapping[str, str], processors: int | None, emulator: Sequence[str] = ()
) -> Hashes:
    """The hashes of each kind's steps, in a process of its own; on so many processors, None: on all."""
    done = as_on([*emulator, sys.executable, "-W", "ignore", "-m", "bench.steps", *kinds], environment, processors)
    if done.returncode:
        raise InputError(f"the steps came to no end: {done.stderr[-2000:]}")
    found: Hashes = json.loads(done.stdout)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all are the committed ones; 1: some are not."""
    parser = argparse.ArgumentParser(prog="python -m bench.same_bytes", description=__doc__)
    parser.add_argument("--qemu", nargs="*", default=[], help="processors that QEMU emulates, as Nehalem")
    parser.add_argument("--out", type=Path, default=PAGE)
    options = parser.parse_args(arguments)
    committed: Hashes = json.loads(COMMITTED.read_text())
    rows: list[list[str]] = []
    for name, environment in ENVIRONMENTS.items():
        for processors in (None, 1):
            said = f"{name}, {'one processor' if processors else f'{len(os.sched_getaffinity(0))} processors'}"
            print(said, file=sys.stderr)
            rows.append([said, *_differing(committed, hashes(list(committed), environment, processors))])
    for cpu in options.qemu:
        qemu = shutil.which("qemu-x86_64")
        if qemu is None:
            raise InputError("there is no qemu-x86_64; install qemu-user, or leave --qemu out")
        print(cpu, file=sys.stderr)
        rows.append([f"QEMU's {cpu}", *_differing(committed, hashes(list(committed), {}, None, (qemu, "-cpu", cpu)))])
    write_atomically(options.out, _page(list(committed), rows, options.qemu).encode())
    return 0 if all(cell.startswith("0 of") for row in rows for cell in row[1:]) else 1


def _differing(committed: Hashes, found: Hashes) -> list[str]:
    return [
        f"{sum(found[kind].get(step) != value for step, value in steps.items())} of {len(steps)}"
        for kind, steps in committed.items()
    ]


def _page(kinds: Sequence[str], rows: Sequence[Sequence[str]], qemu: Sequence[str]) -> str:
    return f"""# The same bytes on every processor
{made_by(" ".join(["python -m bench.same_bytes", *(["--qemu", *qemu] if qemu else [])]))}

Of a small recipe of each kind the hash of every step, from rollouts to the emitted C (`bench/steps.py`); how many
differ from those committed in `tests/bench/steps.json`. "An older one": NumPy, OpenBLAS and the C library are told of
a processor without AVX and FMA. "An Intel server": OpenBLAS takes kernels for one with AVX-512.
[What is done for it](../reference/distill.md#the-same-bytes).

{table(["processor", *kinds], rows)}

## Before
How many steps differed from those on this processor with two cores, before they were computed in `decision/ir/exact.py`
(commit 2c5724af, on an AMD EPYC of two cores): leaves by LAPACK, labels by BLAS.
{BEFORE}"""


if __name__ == "__main__":
    sys.exit(main())
