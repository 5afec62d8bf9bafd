"""Source hashes: comments change nothing, operators do; the files that a module depends on."""

import subprocess
from pathlib import Path

import pytest

from decision.artefact import sources
from decision.artefact.errors import InputError
from decision.artefact.sources import imported, meaning, package_hash

PYTHON = '''"""A module."""

LIMIT = 3
"""Its docstring."""


def double(x: int) -> int:
    """Twice x."""
    return x * 2  # no more


class Empty:
    """Nothing."""
'''
C = """/* A file. */
#include "a.h"  // of ours
#define TWICE(x) \\
  ((x) * 2)
#define NONE
int f(int a, int b) {  // adds
  const char *s = "/* no comment */ // nor this";
  return a + +b - 'x' + 1'000 + s[0];
}
"""
RAW = 'auto r = R"sv(// " not a comment)sv";  // one\n'
TOML = '# A file.\na = 1\n[b]\nc = "# no comment"\n'
SAME = [
    ("a.py", PYTHON, PYTHON.replace("  # no more", "").replace("Twice x.", "Two times x.")),
    (
        "a.py",
        PYTHON,
        PYTHON.replace("A module.", "Another.").replace("Its docstring.", "More.").replace("\n\n\n", "\n"),
    ),
    ("a.py", PYTHON, PYTHON.replace('    """Nothing."""', "    # nothing\n    'Still nothing.'")),
    ("a.cpp", C, C.replace("  // adds", "").replace("/* A file. */\n", "")),
    ("a.hpp", C, C.replace("a + +b", "a  +\n +b").replace("\\\n  ((x)", "  ((x)").replace("  // of ours", "")),
    ("a.cpp", RAW, RAW.replace("  // one", " // two")),
    ("a.toml", TOML, "a=1\nb.c = '# no comment'"),
]
OTHER = [
    ("a.py", PYTHON, PYTHON.replace("x * 2", "x + 2")),
    ("a.py", PYTHON, PYTHON.replace("x * 2", "'x' * 2")),
    ("a.py", PYTHON, PYTHON.replace("LIMIT = 3", "LIMIT = 4")),
    ("a.c", C, C.replace("a + +b", "a ++b")),
    ("a.c", C, C.replace("a + +b", "a - +b")),
    ("a.c", C, C.replace("/* no comment */", "")),
    ("a.c", C, C.replace("'x'", "' '")),
    ("a.c", C, C.replace("#define NONE\nint", "#define NONE int")),
    ("a.c", C, C.replace("int a", "inta")),
    ("a.c", C, C.replace("TWICE(x)", "TWICE (x)")),
    ("a.cpp", RAW, RAW.replace('// " not', '// "not')),
    ("a.toml", TOML, TOML.replace("# no", "no")),
    ("a.S", "nop # one", "nop # two"),
    ("a.py", "def (", "def  ("),
]


def meant(folder: Path, name: str, text: str) -> bytes:
    (folder / name).write_text(text)
    return meaning(folder / name)


@pytest.mark.parametrize(("name", "one", "two"), SAME)
def test_words_decide_nothing(tmp_path: Path, name: str, one: str, two: str) -> None:
    assert one != two
    assert meant(tmp_path, name, one) == meant(tmp_path, name, two)


@pytest.mark.parametrize(("name", "one", "two"), OTHER)
def test_code_decides(tmp_path: Path, name: str, one: str, two: str) -> None:
    assert one != two
    assert meant(tmp_path, name, one) != meant(tmp_path, name, two)


def test_a_docstring_alone_is_an_empty_body(tmp_path: Path) -> None:
    assert meant(tmp_path, "a.py", 'def f():\n    """Says."""') == meant(tmp_path, "a.py", "def f():\n    'Says more.'")


@pytest.mark.parametrize("name", ["decode", "compressed"])
def test_what_is_kept_compiles_to_the_same_code(tmp_path: Path, name: str) -> None:
    core = sources.ROOT / "emulator/fast/core"
    (tmp_path / "kept.cpp").write_bytes(meaning(core / f"{name}.cpp"))
    assert (tmp_path / "kept.cpp").read_bytes() == meaning(tmp_path / "kept.cpp")
    compiled = []
    for path in (core / f"{name}.cpp", tmp_path / "kept.cpp"):
        out = tmp_path / "out.s"
        subprocess.run(["g++", "-std=c++20", "-O1", "-S", "-I", core, path, "-o", out], check=True)
        compiled.append([line for line in out.read_text().splitlines() if not line.startswith("\t.file")])
    assert compiled[0] == compiled[1]
    assert len(compiled[0]) > 100


def test_all_sources_of_a_package_count_and_what_was_compiled(tmp_path: Path) -> None:
    package, built = tmp_path / "package", tmp_path / "built"
    package.mkdir()
    built.write_text("x")
    found = set()
    for name in ("runner.S", "link.ld", "bench.cpp", "notes.txt"):
        (package / name).write_text("x")
        package_hash.cache_clear()
        found.add(package_hash(package, built))
    assert len(found) == 3
    built.write_text("y")
    package_hash.cache_clear()
    assert package_hash(package, built) not in found


@pytest.fixture
def house(tmp_path: Path) -> Path:
    for name, text in {
        "a/__init__.py": "def late():\n    from c import never",
        "a/one.py": "def f():\n    from b.two import g",
        "a/data.toml": "x = 1",
        "a/deep/notes.toml": "x = 2",
        "a/other/__init__.py": "",
        "a/other/unused.toml": "x = 3",
        "b/__init__.py": "",
        "b/two.py": "import b.kinds\nimport json",
        "b/kinds/__init__.py": "from importlib import import_module",
        "b/kinds/x.py": "",
        "b/kinds/y/__init__.py": "",
        "b/unused.py": "",
        "c/__init__.py": "",
        "c/never.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_all_that_a_module_imports_is_found(house: Path) -> None:
    found = {str(path.relative_to(house)) for path in imported(["a.one"], house)}
    assert found == {
        *("a/__init__.py", "a/one.py", "a/data.toml", "a/deep/notes.toml", "b/__init__.py", "b/two.py"),
        *("b/kinds/__init__.py", "b/kinds/x.py", "b/kinds/y/__init__.py"),
    }


def test_a_module_that_is_not_there_is_told(house: Path) -> None:
    with pytest.raises(InputError, match=r"a\.gone"):
        imported(["a.gone"], house)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("from importlib import import_module", True),
        ("import importlib\ndef f(name):\n    return importlib.import_module(name)", True),
        ("from importlib import metadata", False),
        ("import importlib.metadata\nVERSION = importlib.metadata.version('x')", False),
        ("def broken(:", False),
    ],
)
def test_a_package_counts_whole_only_where_it_loads_modules_by_name(tmp_path: Path, text: str, whole: bool) -> None:
    package = tmp_path / "p"
    package.mkdir()
    for name, content in {"__init__": "", "loads": text, "other": ""}.items():
        (package / f"{name}.py").write_text(content)
    assert {path.stem for path in imported(["p.loads"], tmp_path)} == {
        "__init__",
        "loads",
        *(["other"] if whole else []),
    }
