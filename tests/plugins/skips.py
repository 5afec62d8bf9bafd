"""Skips that hide nothing: each has its reason in expected_skips.toml; with --no-unexpected-skips any other one fails.

Without the option a run says at its end what to install so that fewer tests are skipped.
"""

import tomllib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).resolve().parent.parent / "expected_skips.toml"
UNEXPECTED, LEFT_OUT = "--no-unexpected-skips", "--not-installable"


@dataclass(frozen=True)
class Expected:
    """``reason``: how the skip's begins; ``install``: what is to be installed so that nothing is skipped, with the
    command that does; neither where the machine decides, which ``why`` tells."""

    reason: str
    why: str
    install: str = ""
    how: str = ""


@cache
def expected() -> tuple[Expected, ...]:
    """The list."""
    entries = tuple(Expected(**entry) for entry in tomllib.loads(LIST.read_text())["skip"])
    for entry in entries:
        if not entry.reason or not entry.why or bool(entry.install) != bool(entry.how):
            raise pytest.UsageError(f"{LIST}: {entry} lacks a part")
    return entries


def entry_of(reason: str) -> Expected | None:
    text = reason.removeprefix("Skipped: ")
    return next((entry for entry in expected() if text.startswith(entry.reason)), None)


def allowed(reason: str, left_out: list[str]) -> bool:
    """Is a skip for this reason allowed where all is installed but what was ``left_out``?"""
    entry = entry_of(reason)
    return entry is not None and (not entry.install or entry.install in left_out)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("skips")
    group.addoption(UNEXPECTED, action="store_true", help=f"Fail a test that is skipped, but as {LIST.name} allows.")
    group.addoption(
        LEFT_OUT, action="append", default=[], metavar="WHAT", help="Allow skips for want of this; repeatable."
    )


def pytest_configure(config: pytest.Config) -> None:
    known = {entry.install for entry in expected()} - {""}
    unknown = [what for what in config.getoption(LEFT_OUT) if what not in known]
    if unknown:
        raise pytest.UsageError(
            f"{LEFT_OUT} {unknown[0]}: there is none such in {LIST.name}: {', '.join(sorted(known))}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return judged(report, item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    return judged(report, collector.config)


def judged(report: Any, config: pytest.Config) -> Any:
    """The report, failed where it is a skip that nobody expects. Where the test ran, so also in a worker of xdist."""
    if report.skipped and config.getoption(UNEXPECTED) and not hasattr(report, "wasxfail"):
        reason = reason_of(report)
        if not allowed(reason, config.getoption(LEFT_OUT)):
            entry = entry_of(reason)
            mend = f"{entry.how}, or {LEFT_OUT}={entry.install}" if entry else f"mend it, or list it in {LIST.name}"
            report.outcome = "failed"
            report.longrepr = f"skipped, which is not expected here: {reason.removeprefix('Skipped: ')} ({mend})"
    return report


def reason_of(report: Any) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What to install for the tests that were skipped."""
    entries = [entry_of(reason_of(report)) for report in terminalreporter.stats.get("skipped", [])]
    wanting = Counter(entry for entry in entries if entry is not None and entry.install)
    if wanting:
        terminalreporter.section("not tested here")
        for entry, count in wanting.items():
            tests = "1 test" if count == 1 else f"{count} tests"
            terminalreporter.line(f"{tests} for want of {entry.install}: {entry.how}")
        terminalreporter.line("`make doctor` says what else is missing")
