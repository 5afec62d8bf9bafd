"""Mutants of what a module does on import (tables, constants, classes): a new pytest session for each.

It is forked from a process that has imported everything but the modules that depend on a mutated one; those come anew,
the mutated one from the mutant's source.
"""

import ast
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from bench.mutants.children import Fate, Report, allow, run_each
from bench.mutants.draw import Mutant

OPTIONS = (
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "-o",
    "addopts=",
    "--import-mode=importlib",
    "--capture=sys",
)


def module_name(file: str) -> str:
    """The module that a file of the repository is."""
    name = file.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def import_all_but(files: Iterable[str], modules: Iterable[str]) -> None:
    """Import those of the modules that need none of the files."""
    touched = {module_name(file) for file in files}
    sources = {name: spec for name in modules if (spec := _source(name)) is not None}
    while more := {n for n, path in sources.items() if n not in touched and (_imports(path) | _above(n)) & touched}:
        touched |= more
    for name in modules:
        top = name.partition(".")[0]
        if name not in touched and name not in sys.modules and top not in ("conftest", "tests", "__main__"):
            try:
                importlib.import_module(name)
            except BaseException:  # a name that stands in sys.modules need not be one that can be imported
                continue
    assert not touched & set(sys.modules), "a module that depends on a mutated one was imported"


def _above(name: str) -> set[str]:
    """The module and the packages it is in."""
    parts = name.split(".")
    return {".".join(parts[:n]) for n in range(1, len(parts) + 1)}


def _source(name: str) -> Path | None:
    """The file of a module of ours: of the repository, or of a folder that tests have put on the path."""
    here = Path.cwd()
    for folder in [here, *(Path(entry) for entry in sys.path if Path(entry).is_relative_to(here / "tests"))]:
        for path in (folder / (name.replace(".", "/") + ".py"), folder / name.replace(".", "/") / "__init__.py"):
            if path.is_file():
                return path
    return None


def _imports(path: Path) -> set[str]:
    """All modules that a file imports, wherever in it; the packages above them too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return {above for name in found for above in _above(name)}


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the mutated module before anyone else does."""

    def __init__(self, mutant: Mutant, source: bytes) -> None:
        self.name, self.path = module_name(mutant.file), str(Path(mutant.file).resolve())
        self.code = compile(mutant.applied(source), self.path, "exec", dont_inherit=True)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != self.name:
            return None
        return importlib.util.spec_from_file_location(name, self.path, loader=self)

    def exec_module(self, module: Any) -> None:
        exec(self.code, module.__dict__)


class _FreshOrder:
    """A pytest plugin: these tests in this order, each within its time."""

    def __init__(self, tests: list[str], seconds: dict[str, float], report: Report) -> None:
        self.tests, self.seconds, self.report = {test: n for n, test in enumerate(tests)}, seconds, report

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.tests), key=lambda i: self.tests[i.nodeid])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        self.report(item.nodeid)
        allow(
            self.seconds[item.nodeid] + max(self.seconds.values()) + 5
        )  # shared fixtures are made by whoever is first


def run(
    mutants: list[Mutant],
    sources: dict[str, bytes],
    orders: dict[Mutant, list[str]],
    seconds: dict[str, float],
    jobs: int,
    done: Callable[[Fate], None],
) -> None:
    """Each mutant with its tests."""

    def body(mutant: Mutant, report: Report) -> bool:
        tests = orders[mutant]
        if not tests:
            return True
        sys.meta_path.insert(0, _Finder(mutant, sources[mutant.file]))
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        report("import")
        return pytest.main([*OPTIONS, "-x", *files], plugins=[_FreshOrder(tests, seconds, report)]) == 0

    run_each(mutants, body, jobs, done)
