"""The run: mutants of function bodies in one warm pytest session, the others each in a new one."""

import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bench.mutants import ISOLATION, fresh
from bench.mutants.children import Fate
from bench.mutants.draw import Mutant
from bench.mutants.session import MutantSession
from decision.artefact.errors import InputError


@dataclass(frozen=True)
class _RemainingMutants:
    """Mutants that the warm session leaves, and what it knows about them."""

    problem: str
    fates: list[Fate]
    orders: dict[Mutant, list[str]]
    seconds: dict[str, float]
    modules: list[str]


def run(
    mutants: list[Mutant], sources: dict[str, bytes], tests: list[str], jobs: int, done: Callable[[Fate], None]
) -> list[Fate]:
    """Returns the fate of each mutant. InputError where the tests do not pass as they are."""
    rest: _RemainingMutants = _in_child(lambda: _warm(mutants, sources, tests, jobs, done))
    if rest.problem:
        raise InputError(rest.problem)
    if not rest.orders:
        return rest.fates
    fresh_fates: list[Fate] = _in_child(lambda: _fresh(rest, sources, jobs, done))
    return [*rest.fates, *fresh_fates]


def _fresh(rest: _RemainingMutants, sources: dict[str, bytes], jobs: int, done: Callable[[Fate], None]) -> list[Fate]:
    os.environ[ISOLATION] = "1"
    fates: list[Fate] = []
    fresh.import_all_but(sources, rest.modules)
    fresh.run(list(rest.orders), sources, rest.orders, rest.seconds, jobs, _both(fates.append, done))
    return fates


def _both(first: Callable[[Fate], None], second: Callable[[Fate], None]) -> Callable[[Fate], None]:
    def each(fate: Fate) -> None:
        first(fate)
        second(fate)

    return each


def _warm(
    mutants: list[Mutant], sources: dict[str, bytes], tests: list[str], jobs: int, done: Callable[[Fate], None]
) -> _RemainingMutants:
    os.environ[ISOLATION] = "1"
    fates: list[Fate] = []
    session = MutantSession(mutants, sources, jobs, _both(fates.append, done))
    code = pytest.main([*fresh.OPTIONS, "-q", *tests], plugins=[session])
    if session.failed:
        return _RemainingMutants(f"{session.failed[0]} fails as it is; mutants tell nothing then", [], {}, {}, [])
    if code != 0 or not session.covered:
        return _RemainingMutants(
            f"pytest cannot run {' '.join(tests)} ({code}); look at its own output", [], {}, {}, []
        )
    if session.disturbed:
        return _RemainingMutants(
            f"after the mutants {session.disturbed} fails without one: they changed what tests share", [], {}, {}, []
        )
    left = {m: session.order(m) for m in mutants if not session.is_body(m)}
    return _RemainingMutants("", fates, left, session.seconds, session.modules)


def _in_child(work: Callable[[], Any]) -> Any:
    """Its result from a forked process, so that what it imports is not here."""
    sys.stdout.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        code = 1
        try:
            result: Any = work()
            with os.fdopen(writing, "wb") as file:
                pickle.dump(result, file)
            code = 0
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.__stderr__)
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        data = file.read()
    _, status = os.waitpid(child, 0)
    if status or not data:
        raise InputError("the session of the tests ended before it was done")
    return pickle.loads(data)
