"""The build writes a stub beside each compiled module, of what the module has (netsim/core/CMakeLists.txt)."""

import ast
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

import emulator._fast
import netsim._core
import teachers._mkl

ROOT = Path(__file__).parents[2]
MODULES = (netsim._core, emulator._fast, teachers._mkl)


def stub_of(module: ModuleType) -> Path:
    return ROOT / (module.__name__.replace(".", "/") + ".pyi")


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_stub_declares_what_the_module_has(module: ModuleType) -> None:
    tree = ast.parse(stub_of(module).read_text())
    declared = {node.name for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert declared == {name for name, value in vars(module).items() if callable(value)}


def test_no_stub_is_in_the_repository() -> None:
    stubs = [stub_of(module).relative_to(ROOT) for module in MODULES]
    listed = subprocess.run(["git", "ls-files", *stubs], cwd=ROOT, capture_output=True, text=True, check=True)
    ignored = subprocess.run(["git", "check-ignore", *stubs], cwd=ROOT, capture_output=True, text=True, check=True)
    assert listed.stdout == ""
    assert ignored.stdout.split() == [str(stub) for stub in stubs]
