"""The page on what a place costs: its tables, and CPU time that counts every process."""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.where import __main__ as where
from netsim.places import InThisThread


def test_the_page_has_a_row_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(where, "named", lambda name, jobs: InThisThread())
    monkeypatch.setattr(where, "usual", where.small)
    monkeypatch.setattr(where, "SMALL", 2)
    monkeypatch.setattr(where, "MANY", 1)
    assert where.main(["--rounds", "1", "--out", str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    for name in where.PLACES:
        assert text.count(f"| `{name}` |") == 2
    assert "| `processes` | " in text
    assert "1.00 (1.00 to 1.00) | 1.00 (1.00 to 1.00) |" in text


def test_the_time_of_children_counts_while_they_live_and_when_they_have_ended() -> None:
    before = where.cpu_s()
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    assert where.cpu_s() - before >= 0.25
    child.communicate(b"\n")
    assert where.cpu_s() - before >= 0.25
