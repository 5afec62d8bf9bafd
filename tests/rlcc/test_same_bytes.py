"""The steps from a teacher to its firmware give the bytes that are committed: here, and as on other processors.

``steps.py`` says what a step is, and makes ``steps.json`` again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
COMMITTED: dict[str, dict[str, str]] = json.loads((HERE / "steps.json").read_text())


def older() -> dict[str, str]:
    """The environment of a processor without what this one has: to NumPy, OpenBLAS and the C library."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(found),
        "OPENBLAS_CORETYPE": "NEHALEM",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX,-FMA",
    }


def steps(
    kinds: Sequence[str], environment: dict[str, str], processors: int | None = None
) -> dict[str, dict[str, str]]:
    """The hashes of each kind, in a process of its own; on so many processors, None: on all."""
    allowed = sorted(os.sched_getaffinity(0))[:processors]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "steps.py"), *kinds],
        env={name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")} | environment,
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, dict[str, str]] = json.loads(done.stdout)
    return found


def chosen(*kinds: str) -> dict[str, dict[str, str]]:
    return {kind: COMMITTED[kind] for kind in kinds}


def test_on_this_processor_with_all() -> None:
    assert steps(["mlp", "trigger"], {}) == chosen("mlp", "trigger")


def test_as_on_an_older_processor_with_one() -> None:
    assert steps(["lstm", "choice", "level"], older(), 1) == chosen("lstm", "choice", "level")


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, None], ids=["one", "all"])
@pytest.mark.parametrize("environment", [{}, older()], ids=["this", "older"])
def test_every_kind(environment: dict[str, str], processors: int | None) -> None:
    assert steps(list(COMMITTED), environment, processors) == COMMITTED
