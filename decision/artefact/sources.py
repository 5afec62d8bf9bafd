"""What of a source decides: the same hash with other comments, docstrings and white space, another with other code.

What a computation depends on is kept under such hashes (netsim.build, rlcc.gate.remembered): a reworded sentence must
not throw hours away, and a change of code must.
"""

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

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
"""Of C and C++."""


def _python(text: str) -> str:
    """Its syntax tree without strings that stand as statements: docstrings, of modules to attributes."""
    tree = _parsed(text)
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [each for each in block if not _says_only(each)])
    return ast.dump(tree)


@lru_cache(400)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _says_only(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _c(text: str) -> str:
    """Its tokens, a line each; a directive, which ends with its line, in one line, its blanks as one."""
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
"""Sources of which every byte counts, as of all that was compiled."""


def meaning(path: Path) -> bytes:
    """What of a file decides; all of it where that cannot be told, as in a file that is no source or has an error."""
    content = path.read_bytes()
    if (read := READERS.get(path.suffix)) is None:
        return content
    try:
        return read(content.decode()).encode()
    except (SyntaxError, ValueError, RecursionError):
        return content


def files(path: Path) -> list[Path]:
    """The sources in a folder, sorted; of a file itself alone."""
    if path.is_file():
        return [path]
    found = [p for p in sorted(path.rglob("*")) if p.is_file() and "__pycache__" not in p.parts]
    return [p for p in found if p.suffix in READERS or p.suffix in VERBATIM]


@cache
def package_hash(*paths: Path) -> str:
    """Over what decides in the sources in folders, and over compiled files: another build may compute another thing."""
    lines = [f"{p.relative_to(path.parent)} {sha256(meaning(p))}" for path in paths for p in files(path)]
    return sha256("\n".join(lines).encode())


def imported(modules: Iterable[str], root: Path) -> list[Path]:
    """The files of modules below ``root`` and of all that they import there, wherever in them, sorted: Python's, what
    was compiled, and what is no Python in the packages that they lie in. A package that imports by names that are
    computed counts whole. InputError where a module is not there."""
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
            names = _imports(path)
            todo += [each for each in names if each.partition(".")[0] in _packages(root) and _file(each, root)]
            if "importlib" in names or "importlib.import_module" in names:
                package = name if path.stem == "__init__" else parent
                there = (*path.parent.glob("[!_]*.py"), *(each.parent for each in path.parent.glob("*/__init__.py")))
                todo += [f"{package}.{each.stem}" for each in there]
    packages = {path.parent for path in found}
    beside = (p for package in packages for p in files(package) if p.suffix != ".py")
    return sorted(found | {p for p in beside if _package(p) in packages})


@cache
def _packages(root: Path) -> frozenset[str]:
    return frozenset(path.parent.name for path in root.glob("*/__init__.py"))


def _package(path: Path) -> Path:
    return next(folder for folder in path.parents if (folder / "__init__.py").is_file())


def _file(name: str, root: Path) -> Path | None:
    """Of a module, or of a package; None where there is no such module."""
    place = root.joinpath(*name.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    compiled = find_spec(name) if root == ROOT and (place.parent / "__init__.py").is_file() else None
    return Path(compiled.origin) if compiled and compiled.origin else None


def _imports(path: Path) -> list[str]:
    """Of a package's own file those that it begins with: what it imports later, another asks it for by name."""
    tree, names = _parsed(path.read_text()), list[str]()
    for node in tree.body if path.stem == "__init__" else ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return names
