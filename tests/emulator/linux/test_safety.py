"""The firmware that comes and goes in a kernel: the job's shell and what is read of it; the boot itself is slow."""

import shutil
import subprocess

import pytest

from decision.artefact.errors import InputError
from emulator.linux import safety
from emulator.linux.cell import Control

FLOW = "F {t} {flow} 1200 {acked} 0 12500000 10 5 3"
LINES = [
    "P begin 400000", "C 1 0 100 2896", "C 2 0 100 2896", "D", "P short 399000", "C 1 0 100 2896", "X 3 110", "D",
    "P again 399100", "G reno cubic", "B reno cubic rlcc",
    *(FLOW.format(t=t, flow=f, acked=t * (f + 1)) for t in (100_000, 600_000, 1_200_000) for f in (0, 1)), "D",
    "P reload 398000", *(FLOW.format(t=t, flow=0, acked=t) for t in (100_000, 1_200_000)), "D", "P hostile 398000",
]  # fmt: skip


def test_the_job_is_shell() -> None:
    shell = shutil.which("sh")
    assert shell is not None
    text = safety.script(Control("rlcc", b"\x7fELF", bytes(40)), b"\xff" * 40)
    assert subprocess.run([shell, "-n", "-c", text]).returncode == 0
    assert text.index("struct_ops unregister") < text.rindex("struct_ops register") < text.index("ff ff ff")


def test_the_jobs_lines_are_read() -> None:
    got = safety.parsed(LINES)
    assert (got.completed, got.broken, got.hostile_bytes) == ((2, 1), 1, 1_200_000)
    assert got.memory_kb == {
        "begin": 400_000,
        "short": 399_000,
        "again": 399_100,
        "reload": 398_000,
        "hostile": 398_000,
    }
    assert got.acknowledged == (1_800_000, 3_600_000)
    assert (got.gone, got.back) == ("reno cubic", "reno cubic rlcc")


def test_a_job_that_ends_early_is_told() -> None:
    with pytest.raises(InputError, match="E register rlcc"):
        safety.parsed([*LINES[:3], "E register rlcc"])
