"""One golden file for wording: the fixture ``wording`` compares a text with the test's entry in wording.toml.

``pytest --update-wording`` writes the entries of the tests that pass from the texts they got, also under xdist. It
replaces all entries of a test function, so run whole functions. The folder of ``tmp_path`` stands as TMP.
"""

import json
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parent.parent / "wording.toml"
UPDATE = "--update-wording"
HEADER = f"# Texts that rlcc writes, by test: pytest {UPDATE} writes this file. Do not edit it.\n"
Wording = Callable[[object], None]
updated: dict[str, list[str]] = {}


@cache
def golden() -> dict[str, list[str]]:
    return tomllib.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}


@pytest.fixture
def wording(request: pytest.FixtureRequest) -> Iterator[Wording]:
    """Yields a function that compares a text, an exception's for instance, with the next golden one of this test."""
    texts: list[str] = []
    folder = str(request.getfixturevalue("tmp_path")) if "tmp_path" in request.fixturenames else None
    update, name = request.config.getoption(UPDATE), request.node.nodeid.removeprefix("tests/")
    expected = golden().get(name, [])

    def compare(text: object) -> None:
        if update and not texts:
            request.node.user_properties.append(("wording", [name, texts]))
        texts.append(str(text) if folder is None else str(text).replace(folder, "TMP"))
        if not update:
            assert texts == expected[: len(texts)], f"if the new wording is meant, run this test with {UPDATE}"

    yield compare
    if not update:
        assert len(texts) == len(expected), f"{len(texts)} texts were compared, {GOLDEN.name} has {len(expected)}"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("wording").addoption(UPDATE, action="store_true", help=f"Write {GOLDEN.name} from this run.")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        updated.update(value for key, value in report.user_properties if key == "wording")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes the file: in a run with xdist its controller does, which gets all reports."""
    if session.config.getoption(UPDATE) and not hasattr(session.config, "workerinput"):
        functions = {name.partition("[")[0] for name in updated}
        entries = {name: texts for name, texts in golden().items() if name.partition("[")[0] not in functions} | updated
        lines = (f"{json.dumps(n)} = {json.dumps(t, ensure_ascii=False)}\n" for n, t in sorted(entries.items()))
        GOLDEN.write_text(HEADER + "".join(lines), encoding="utf-8")
