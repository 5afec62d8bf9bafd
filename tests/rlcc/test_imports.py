"""The design's arrows: which package may import which. Read from the source, so that an import in a function counts."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAY_IMPORT = {
    "decision": set(),
    "netsim": {"decision"},
    "teachers": {"decision", "netsim"},
    "distill": {"decision", "netsim", "teachers"},
    "codegen": {"decision"},
    "emulator": {"decision"},
    "verify": {"decision", "emulator"},
    "rlcc": {"decision", "netsim", "teachers", "distill", "codegen", "emulator", "verify"},
}
OURS = {*MAY_IMPORT, "bench", "tests"}
APART = {Path(f"codegen/frontends/{name}.py") for name in ("catboost_export", "predictions")}
"""Run as processes of their own; libraries are imported in their functions only."""
NEVER_IN_DECISION = {"torch", "catboost", "pyarrow", "sklearn", "onnx", "jinja2", "click", "rich"}


def imports(path: Path) -> set[str]:
    """Top-level packages that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.add((node.module or "").partition(".")[0])
    return found


def sources(package: str) -> list[Path]:
    found = sorted((ROOT / package).rglob("*.py"))
    assert found, f"no source in {package}"
    return found


@pytest.mark.parametrize("package", list(MAY_IMPORT))
def test_arrows_point_down_only(package: str) -> None:
    for path in sources(package):
        foreign = (imports(path) & OURS) - {package} - MAY_IMPORT[package]
        assert not foreign, f"{path.relative_to(ROOT)} imports {', '.join(sorted(foreign))}"


def test_every_package_has_its_arrows() -> None:
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages == set(MAY_IMPORT)


def test_decision_stays_a_vocabulary() -> None:
    for path in sources("decision"):
        assert not imports(path) & NEVER_IN_DECISION, path


def test_only_distill_and_processes_of_their_own_know_catboost_and_only_teachers_know_torch() -> None:
    for package in MAY_IMPORT:
        for path in sources(package):
            found = imports(path)
            assert package == "distill" or path.relative_to(ROOT) in APART or "catboost" not in found, path
            assert package == "teachers" or "torch" not in found, path
