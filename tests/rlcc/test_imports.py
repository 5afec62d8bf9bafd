"""The design's arrows: which package may import which. Read from the source, so that an import in a function counts."""

import ast
from functools import cache
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
OURS = {*MAY_IMPORT, "bench", "tests", "papers"}
ROOMS: dict[str, set[str]] = {
    "decision.artefact": set(),
    "decision.ir": {"decision.artefact.errors"},
    "decision.cores": {"decision.artefact"},
    "decision.devices": {"decision.artefact"},
    "decision.policy": {"decision.artefact", "decision.ir"},
    "verify.trusted": set(),
    "verify.code": {"verify.trusted"},
    "verify.check": {"verify.trusted"},
    "verify.prover": {"verify.trusted", "verify.code"},
    "verify.ranges": {"verify.trusted", "verify.code"},
    "verify.behaviour": {"verify.trusted"},
    "verify.deviation": {"verify.trusted"},
    "verify.terms": set(),
    "verify.rtl": {"verify.terms"},
    "verify.core_timing": {"verify.rtl.cells", "verify.rtl.netlist", "verify.terms.bits", "verify.trusted"},
    "verify.rv64": {"verify.terms", "verify.code.arguments", "verify.code.failures"},
    "verify.adapter": {"verify.rv64", "verify.terms", "verify.code.arguments", "verify.code.failures"},
}
"""Of a room of a package: which other rooms of it, or files of them, may be imported. What the checker believes must be
as little as can be, and nothing of the prover's."""
APART = {Path(f"codegen/frontends/{name}.py") for name in ("catboost_export", "predictions")}
"""Run as processes of their own; libraries are imported in their functions only."""
NEVER_IN_DECISION = {"torch", "catboost", "pyarrow", "sklearn", "onnx", "jinja2", "click", "rich"}


@cache
def modules(path: Path) -> set[str]:
    """What a file imports, wherever in it, with what it takes from there."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imports(path: Path) -> set[str]:
    """The top-level packages of ``modules``."""
    return {name.partition(".")[0] for name in modules(path)}


def foreign_rooms(path: Path, room: str) -> set[str]:
    """What a file of ``room`` imports of other rooms of its package and may not."""
    package = room.partition(".")[0]
    return {
        name
        for name in modules(path)
        if name.startswith(f"{package}.") and not any(f"{name}.".startswith(f"{may}.") for may in {room} | ROOMS[room])
    }


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


@pytest.mark.parametrize("room", list(ROOMS))
def test_a_room_imports_what_it_may(room: str) -> None:
    for path in sources(room.replace(".", "/")):
        assert not foreign_rooms(path, room), path.relative_to(ROOT)


def test_every_file_of_a_package_with_rooms_is_in_one() -> None:
    for package in {room.partition(".")[0] for room in ROOMS}:
        there = {path.parent.relative_to(ROOT) for path in sources(package)} - {Path(package)}
        assert {".".join(place.parts[:2]) for place in there} == {r for r in ROOMS if r.startswith(f"{package}.")}
        assert [path.name for path in (ROOT / package).glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("verify.check", "from verify.prover.expressions import fold"),
        ("verify.check", "def f():\n    import verify.behaviour.loops"),
        ("verify.check", "from verify import prover"),
        ("verify.prover", "from verify.check.terms import Term"),
        ("verify.trusted", "from verify.code.graph import SP"),
        ("verify.ranges", "from verify.prover.state import State"),
        ("verify.rv64", "from verify.code.graph import build_graph"),
        ("verify.rv64", "from verify.trusted.machine import decode"),
        ("verify.rv64", "from verify.adapter.external import ExternalCall"),
        ("verify.adapter", "from verify.prover.certify import certify"),
        ("decision.ir", "from decision.artefact.documents import load_json"),
        ("decision.ir", "from decision.policy.student import Student"),
        ("decision.artefact", "from decision.ir import forest"),
    ],
)
def test_a_wrong_import_is_seen(tmp_path: Path, room: str, line: str) -> None:
    path = tmp_path / "mutant.py"
    path.write_text(line)
    assert foreign_rooms(path, room)


@pytest.mark.parametrize("folder", [*MAY_IMPORT, "bench", "tests", "docs"])
def test_nothing_imports_the_lab_book(folder: str) -> None:
    """papers/ is a project of its own that uses rlcc; nothing of rlcc uses it."""
    named = (path for path in sources(folder) if "papers" in path.read_text())
    assert not [path for path in named if "papers" in imports(path)]


@pytest.mark.parametrize("path", sorted((ROOT / "papers").rglob("*.py")), ids=lambda path: path.stem)
def test_the_lab_book_imports_rlccs_packages_alone(path: Path) -> None:
    assert not imports(path) & {"bench", "tests"}


@pytest.mark.parametrize("line", ["import papers.runs", "def f():\n    from papers import page", "import papers"])
def test_an_import_of_the_lab_book_is_seen(tmp_path: Path, line: str) -> None:
    path = tmp_path / "mutant.py"
    path.write_text(line)
    assert "papers" in imports(path)


def test_decision_stays_a_vocabulary() -> None:
    for path in sources("decision"):
        assert not imports(path) & NEVER_IN_DECISION, path


def test_only_distill_and_processes_of_their_own_know_catboost_and_only_teachers_know_torch() -> None:
    for package in MAY_IMPORT:
        for path in sources(package):
            found = imports(path)
            assert package == "distill" or path.relative_to(ROOT) in APART or "catboost" not in found, path
            assert package == "teachers" or "torch" not in found, path
