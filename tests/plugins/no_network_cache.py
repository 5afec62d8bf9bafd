"""Tests neither take network runs and students from the user's cache nor leave any there: some replace parts of what
simulates or fits.

A test of a cache itself has the fixture ``network_cache`` or ``student_cache``: a folder of its own.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rlcc import student_cache as students
from rlcc.gate.network_cache import NetworkCache

READ, WRITE = NetworkCache.read, NetworkCache.write
TAKEN, STORE = students.taken, students.store


@pytest.fixture(scope="session", autouse=True)
def no_network_cache() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NetworkCache, "read", lambda self, key: None)
        patch.setattr(NetworkCache, "write", lambda self, key, outcome: None)
        patch.setattr(students, "taken", lambda key, out: False)
        patch.setattr(students, "store", lambda key, student: None)
        yield


@pytest.fixture
def network_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("rlcc.gate.network_cache.cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(NetworkCache, "read", READ)
    monkeypatch.setattr(NetworkCache, "write", WRITE)
    return tmp_path / "cache" / "networks"


@pytest.fixture
def student_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(students, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.setattr(students, "taken", TAKEN)
    monkeypatch.setattr(students, "store", STORE)
    return tmp_path / "cache" / students.FOLDER
