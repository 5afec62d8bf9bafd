"""Without a compiled module, or with one of another machine, a command says so in one sentence and exits with 2."""

import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.compiled import MODULES, unusable

ROOT = Path(__file__).resolve().parents[2]
TEACHER = ROOT / "fixtures/teachers/rl-cc-mlp"
NAMES = [f"{package}.{module}" for package, module in MODULES.items()]

WITHOUT = """
import sys
from importlib.machinery import ExtensionFileLoader, ModuleSpec
absent, file = sys.argv.pop(1), sys.argv.pop(1)

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == absent and file:
            return ModuleSpec(name, ExtensionFileLoader(name, file), origin=file)
        if name == absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
from rlcc.cli import main
raise SystemExit(main(sys.argv[1:]))
"""
COMMANDS = {
    "netsim._core": [["check", TEACHER], ["emit", "student", "--out", "out"], ["gate", "FIRMWARE"]],
    "emulator._fast": [["evaluate", TEACHER, "FIRMWARE@ibex-small", "--scenario", "many-to-one:2", "--out", "out"]],
    "teachers._mkl": [["train", ROOT / "recipes/train-rl-cc-mlp.toml", "--out", "out"]],
}
"""One or more that need the module."""


def run_without(module: str, file: Path | None, arguments: list[str], cwd: Path) -> tuple[int, str]:
    command = [sys.executable, "-c", WITHOUT, module, str(file or ""), *arguments]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_every_compiled_module_is_built_and_known() -> None:
    built = (ROOT / "netsim/core/CMakeLists.txt").read_text()
    assert sorted(f"nanobind_add_module({module}" for module in MODULES.values()) == sorted(
        line.strip() for line in built.replace(" STABLE_ABI", "\n").splitlines() if "nanobind_add_module(" in line
    )


@pytest.mark.slow_except("not there-*", "of another machine-netsim._core")
@pytest.mark.parametrize("module", NAMES)
@pytest.mark.parametrize("kind", ["not there", "of another machine"])
def test_a_command_says_which_module_and_ends_with_2(module: str, kind: str, tmp_path: Path, pipeline) -> None:
    package, _, name = module.partition(".")
    foreign = tmp_path / package / f"{name}.so"
    foreign.parent.mkdir()
    foreign.write_bytes(b"\x7fELF" + bytes(60))
    for command in COMMANDS[module] if kind == "not there" else COMMANDS[module][:1]:
        arguments = [str(word).replace("FIRMWARE", str(pipeline.firmware)) for word in command]
        code, said = run_without(module, foreign if kind == "of another machine" else None, arguments, tmp_path)
        last = said.strip().splitlines()[-1]
        assert (code, f"compiled module {module} " in last) == (2, True), said
        assert ("does not load" if kind == "of another machine" else "not built for") in last
        assert "docs/reference/platforms.md" in last
        assert "defect" not in said
        assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {package}


@pytest.mark.parametrize(
    "error",
    [
        ImportError("cannot import name 'Trial' from 'netsim'", name="netsim"),
        ImportError("No module named 'numpy'", name="numpy"),
        ImportError("no name"),
    ],
)
def test_of_another_import_nothing_is_said(error: ImportError) -> None:
    assert unusable(error) is None
