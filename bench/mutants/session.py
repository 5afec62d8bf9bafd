"""One pytest session: its tests run once, then the mutants of function bodies run from where it then stands.

A mutant's function gets other code (``function.__code__``), so everything that was imported from its module keeps its
identity. Fixtures that several tests share are kept as the first run left them, but for those that executed a line of
the mutant's statement: with the mutant they are made again.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.fixtures import FixtureDef
from _pytest.runner import runtestprotocol

from bench.mutants.children import Fate, Report, allow, run_each
from bench.mutants.draw import Mutant
from bench.mutants.trace import IMPORT, Line, Trace


class _WholeRun:
    """Stands for a next test, in whatever file: what the session shares is kept."""

    def __init__(self, session: pytest.Session) -> None:
        self.session = session

    def listchain(self) -> list[Any]:
        return [self.session]


class MutantSession:
    """A pytest plugin. Afterwards ``fates`` holds what became of the mutants and ``tests`` what each test covers."""

    def __init__(
        self, mutants: list[Mutant], sources: dict[str, bytes], jobs: int, done: Callable[[Fate], None]
    ) -> None:
        self.mutants, self.sources, self.jobs, self.done = mutants, sources, jobs, done
        self.paths = {file: os.path.abspath(file) for file in sources}  # noqa: PTH100 - as code objects have it
        self.trace = Trace(frozenset(self.paths.values()))
        self.trace.start()
        self.seconds: dict[str, float] = {}
        self.made: dict[FixtureDef[Any], float] = {}
        self.covered: dict[str, set[Line]] = {}
        self.failed: list[str] = []
        self.imported: set[Line] = set()
        self.modules: list[str] = []
        self.disturbed = ""

    # --- the tests as they are ---

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: FixtureDef[Any]) -> Iterator[None]:
        if fixturedef.scope == "function":
            return (yield)
        before = time.process_time()
        with self.trace.of(fixturedef):
            result = yield
        self.made[fixturedef] = time.process_time() - before
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.whole = _WholeRun(session)
        items = list(session.items)
        for item, following in zip(items, [*items[1:], self.whole], strict=True):
            made, before = sum(self.made.values()), time.process_time()
            with self.trace.of(item.nodeid):
                reports = runtestprotocol(item, nextitem=following, log=False)  # type: ignore[arg-type]
            self.seconds[item.nodeid] = time.process_time() - before - (sum(self.made.values()) - made)
            if any(report.failed for report in reports):
                self.failed.append(item.nodeid)
        self.trace.stop()
        for item in items:
            self.covered[item.nodeid] = self.trace.lines[item.nodeid].union(
                *(self.trace.lines[fixture] for fixture in self._shared(item))
            )
        self.imported = self.trace.lines[IMPORT]
        self.modules = list(sys.modules)
        if not self.failed:
            run_each([m for m in self.mutants if self.is_body(m)], self._run, self.jobs, self.done)
            nothing = replace(self.mutants[0], becomes=self.mutants[0].was)
            run_each([nothing], lambda _, report: self._passes(list(self.items), report), 1, self._last)
        return True

    def _last(self, fate: Fate) -> None:
        """All tests once more where nothing is mutated: if one fails, mutants fell to what others had left behind."""
        if fate.state != "survived":
            self.disturbed = fate.by

    def _shared(self, item: pytest.Item) -> list[FixtureDef[Any]]:
        known: dict[str, Any] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
        return [f for fixtures in known.values() for f in fixtures if f.scope != "function"]

    # --- a mutant ---

    def lines(self, mutant: Mutant) -> set[Line]:
        """Its own lines and the first one of its statement."""
        path = self.paths[mutant.file]
        return {(path, n) for n in (mutant.statement, *range(mutant.first, mutant.last + 1))}

    def is_body(self, mutant: Mutant) -> bool:
        """Whether other code for the function is all it takes: no import and no collection executes it."""
        return bool(mutant.function) and not self.lines(mutant) & self.imported

    def order(self, mutant: Mutant) -> list[str]:
        """The tests that execute its lines, the quickest first; for what is executed on import, all of the module's."""
        lines = self.lines(mutant)
        tests = [test for test, covered in self.covered.items() if covered & lines]
        if not mutant.function or (not tests and lines & self.imported):
            path = self.paths[mutant.file]
            tests = [test for test, covered in self.covered.items() if any(file == path for file, _ in covered)]
        return sorted(tests, key=lambda test: self.seconds[test])

    def _run(self, mutant: Mutant, report: Report) -> bool:
        stale = self._stale(mutant)
        for fixture in stale:
            fixture.cached_result = None
        again = sum(self.made[fixture] for fixture in stale if fixture in self.made)
        _replace(mutant, self.sources[mutant.file], self.paths[mutant.file])
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        return self._passes(self.order(mutant), report, again)

    def _passes(self, tests: list[str], report: Report, more_seconds: float = 0.0) -> bool:
        for test in tests:
            report(test)
            item: Any = self.items[test]
            item._initrequest()
            allow(self.seconds[test] + more_seconds)
            if any(r.failed for r in runtestprotocol(item, nextitem=self.whole, log=False)):  # type: ignore[arg-type]
                return False
        return True

    def _stale(self, mutant: Mutant) -> list[FixtureDef[Any]]:
        """Shared fixtures that the mutant's lines had a part in, and what was made of them."""
        lines = self.lines(mutant)
        stale = [fixture for fixture in self.made if self.trace.lines[fixture] & lines]
        names = {fixture.argname for fixture in stale}
        while more := [f for f in self.made if f not in stale and names & set(f.argnames)]:
            stale += more
            names |= {fixture.argname for fixture in more}
        return stale


def _replace(mutant: Mutant, source: bytes, path: str) -> None:
    """Give the function of a mutant its other code; what functions of its module have remembered they ask anew."""
    code = compile(mutant.applied(source), path, "exec", dont_inherit=True)
    module = next(m for m in list(sys.modules.values()) if getattr(m, "__file__", None) == path)
    holder: Any = module
    *classes, name = mutant.function.split(".")
    for part in classes:
        holder, code = vars(holder)[part], _inner(code, part)
    found = vars(holder)[name]
    if isinstance(found, property):
        found = found.fget
    found = getattr(found, "__func__", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    assert isinstance(found, FunctionType), mutant.function
    for remembering in [of for of in vars(module).values() if hasattr(of, "cache_clear")]:
        remembering.cache_clear()
    found.__code__ = _inner(code, name)


def _inner(code: CodeType, name: str) -> CodeType:
    return [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name][-1]
