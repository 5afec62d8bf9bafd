"""Temporary files: gone after a kill, and never another live run's."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import check_place, writing

LEAVES = """
import os, signal, sys
from pathlib import Path
from decision.artefact import temporary
from decision.artefact.output import write_atomically
place = Path(sys.argv[1])
held = temporary.folder(); (held.__enter__() / "a").write_text("x")
temporary.folder_beside(place / "student"); temporary.file_beside(place / "report.json")
print("ready", flush=True)
signal.pause()
"""


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A process that holds a temporary folder and two files beside artefacts, all in ``tmp_path``."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    process = subprocess.Popen([sys.executable, "-c", LEAVES, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if "rlcc-" in path.name)


def test_what_a_killed_run_left_is_removed_by_the_next_and_not_before(live, tmp_path: Path) -> None:
    assert len(left(tmp_path)) == 3
    temporary.sweep.cache_clear()
    temporary.sweep(tmp_path)
    assert len(left(tmp_path)) == 3  # it lives
    live.send_signal(signal.SIGKILL)
    temporary.sweep.cache_clear()
    os.waitid(os.P_PID, live.pid, os.WEXITED | os.WNOWAIT)  # dead, though nobody has asked how it ended
    with temporary.folder() as mine:
        assert left(tmp_path) == [mine.name]
    assert left(tmp_path) == []


def test_of_another_boot_or_namespace_nothing_is_known(tmp_path: Path) -> None:
    foreign = tmp_path / ".a.rlcc-999999-1-00000000-abcdefgh"
    foreign.mkdir()
    temporary.sweep(tmp_path)
    assert foreign.is_dir()


def test_an_artefact_that_made_room_comes_back_where_nothing_took_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with writing(tmp_path / "a", "thing") as work:
        (work / "x").write_text("1")
    first = opened(tmp_path / "a", "thing")
    monkeypatch.setattr(temporary, "_mark", lambda: f"rlcc-999999-1-{temporary._where()}-")  # of one that is gone
    (aside := temporary.folder_beside(tmp_path / "a", temporary.REPLACED_SUFFIX)).chmod(0o700)
    (tmp_path / "a").rename(aside / "replaced")
    temporary.sweep.cache_clear()
    check_place(tmp_path / "a", "thing")
    assert opened(tmp_path / "a", "thing") == first
    assert left(tmp_path) == []


def test_no_place_for_temporary_files_names_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> str:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr("tempfile.gettempdir", none)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"gone: no .*file"):
        temporary.place()
