"""The stubs of the compiled modules are what nanobind's stubgen makes of them (`make stubs`)."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("module", ["netsim._core", "emulator._fast", "teachers._mkl"])
def test_the_stub_is_current(module: str, tmp_path: Path) -> None:
    stub = tmp_path / "stub.pyi"
    kept = ROOT / (module.replace(".", "/") + ".pyi")
    subprocess.run([sys.executable, "-m", "nanobind.stubgen", "-q", "-m", module, "-o", stub], cwd=ROOT, check=True)
    ruff = [sys.executable, "-m", "ruff", "format", "-q", "--stdin-filename", kept, "-"]
    made = subprocess.run(ruff, input=stub.read_text(), cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert made == kept.read_text(), f"{kept.name} is not what the module has; run `make stubs`"
