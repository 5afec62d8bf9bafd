"""Hashes of source code that ignore comments, docstrings and white space.

Cached results are keyed by these hashes (netsim.build, rlcc.gate.check_cache): a reworded comment must not invalidate
hours of simulation, and a code change must.
"""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from decision.artefact.digests import Digests, Facts
from decision.artefact.errors import InputError
from decision.artefact.manifest import sha256

ROOT = Path(__file__).resolve().parents[2]
_TOKEN = re.compile(
    r"""(?P<none>\s+|//[^\n]*|/\*.*?\*/)
      | (?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"
      | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
      | \.?[0-9](?:[eEpP][+-]|'?[\w.])*
      | \w+
      | <<=|>>=|<=>|->\*|\.\.\.|::|\+\+|--|->|\.\*|&&|\|\||\#\#|[-+*/%&|^<>=!]=|<<|>>
      | .""",
    re.VERBOSE | re.DOTALL,
)
"""Tokens of C and C++; ``none`` is white space or a comment."""


def _python(text: str) -> str:
    """Returns the syntax tree without docstrings, those of attributes included."""
    parts: list[str] = []
    _write(_parsed(text), parts.append)
    return "".join(parts)


def _write(value: object, write: Callable[[str], object]) -> None:
    """Writes a node with its fields, a list of them, or a constant. Unlike ast.dump it makes no text twice."""
    if isinstance(value, ast.AST):
        write(type(value).__name__)
        write("(")
        for name in value._fields:
            write(name)
            write("=")
            _write(getattr(value, name, None), write)
            write(",")
        write(")")
    elif isinstance(value, list):
        write("[")
        for each in value:
            if not (isinstance(each, ast.Expr) and _says_only(each)):
                _write(each, write)
                write(",")
        write("]")
    else:
        write(repr(value))


@lru_cache(1)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _says_only(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _c(text: str) -> str:
    """Returns one token per line. A preprocessor directive stays one line, with single blanks."""
    lines: list[str] = []
    for part in re.split(r"(?m)^(?=[ \t]*#)", text.replace("\\\n", "")):
        if part.lstrip(" \t").startswith("#"):
            directive, _, part = part.partition("\n")
            words = "".join(" " if found["none"] else found[0] for found in _TOKEN.finditer(directive))
            lines.append(" ".join(words.split()))
        lines += [found[0] for found in _TOKEN.finditer(part) if found["none"] is None]
    return "\n".join(lines)


def _toml(text: str) -> str:
    return json.dumps(tomllib.loads(text), sort_keys=True, default=str)


READERS: dict[str, Callable[[str], str]] = {
    ".py": _python,
    ".toml": _toml,
    **dict.fromkeys((".c", ".h", ".cpp", ".hpp"), _c),
}
VERBATIM = (".csv", ".sv", ".S", ".ld")
"""Suffixes of sources that are hashed byte by byte."""
LOADER = "importlib.import_module"
"""The function that loads modules whose names no import statement has."""


def meaning(path: Path) -> bytes:
    """Returns the part of a file that determines results: all bytes if the file is no source or has a syntax error."""
    return _meaning(path, path.read_bytes())


def _meaning(path: Path, content: bytes) -> bytes:
    if (read := READERS.get(path.suffix)) is None:
        return content
    try:
        return read(content.decode()).encode()
    except (SyntaxError, ValueError, RecursionError):
        return content


def files(path: Path) -> list[Path]:
    """Returns the source files in a folder, sorted; a file itself."""
    if path.is_file():
        return [path]
    found = [p for p in sorted(path.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    return [p for p in found if p.suffix in READERS or p.suffix in VERBATIM]


@cache
def package_hash(*paths: Path) -> str:
    """Returns the SHA-256 over ``meaning`` of all sources in folders, and over compiled files."""
    lines = [f"{p.relative_to(path.parent)} {_digests.of(p)[0]}" for path in paths for p in files(path)]
    _digests.save()
    return sha256("\n".join(lines).encode())


def imported(modules: Iterable[str], root: Path) -> list[Path]:
    """Returns the files of modules below ``root`` and of all that they import there, in any function, sorted: Python
    files, compiled extensions, and data files of their packages. A package that calls import_module counts whole.
    Raises InputError if a module is missing."""
    todo, seen = list(modules), set[str]()
    found: set[Path] = set()
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file(name, root)
        if path is None:
            raise InputError(f"there is no module {name} below {root}")
        found.add(path)
        parent = name.rpartition(".")[0]
        todo += [parent] if parent else []
        if path.suffix == ".py":
            names = _digests.of(path)[1:]
            todo += [each for each in names if each.partition(".")[0] in _packages(root) and _file(each, root)]
            if LOADER in names:
                package = name if path.stem == "__init__" else parent
                there = (*path.parent.glob("[!_]*.py"), *(each.parent for each in path.parent.glob("*/__init__.py")))
                todo += [f"{package}.{each.stem}" for each in there]
    _digests.save()
    reached = {path.parent for path in found}
    data = (p for top in {name.partition(".")[0] for name in seen} for p in files(root / top) if p.suffix != ".py")
    return sorted(found | {p for p in data if _package(p) in reached})


@cache
def _packages(root: Path) -> frozenset[str]:
    return frozenset(path.parent.name for path in root.glob("*/__init__.py"))


def _package(path: Path) -> Path:
    return next(folder for folder in path.parents if (folder / "__init__.py").is_file())


def _file(name: str, root: Path) -> Path | None:
    """Returns the file of a module or package; None if there is no such module."""
    place = root.joinpath(*name.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    compiled = find_spec(name) if root == ROOT and (place.parent / "__init__.py").is_file() else None
    return Path(compiled.origin) if compiled and compiled.origin else None


def _imports(path: Path, content: bytes) -> list[str]:
    """Returns imported names, ``LOADER`` if the file refers to it; none of a file with a syntax error. Functions in
    ``__init__`` files are skipped: their imports are lazy exports."""
    try:
        text = content.decode()
        tree = _parsed(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names = list[str]()
    for node in tree.body if path.stem == "__init__" else _statements(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    loads = "import_module" in text and any(
        isinstance(node, ast.Attribute) and node.attr == "import_module" for node in ast.walk(tree)
    )
    return [*names, LOADER] if loads else names


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Yields the statements below a node, in any depth, with what holds blocks: expressions hold none."""
    for name in tree._fields:
        below = getattr(tree, name, None)
        for node in below if isinstance(below, list) else ():
            if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
                yield node
                yield from _statements(node)


def _facts(path: Path, content: bytes) -> Facts:
    imports = _imports(path, content) if path.suffix == ".py" else []
    return [sha256(_meaning(path, content)), *imports]


_digests = Digests(_facts, Path(__file__))
