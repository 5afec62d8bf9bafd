"""The core is built while other things run; nothing of its build outlives the block or the process that asked."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from emulator import core, core_ahead
from emulator.core import EXECUTABLE, built_core, is_built
from emulator.core_ahead import built_ahead
from emulator.profile import load_profile
from tests.waiting import until

CORE = load_profile("ibex-small").core
RUN = """
import time
from emulator.core_ahead import built_ahead
from emulator.profile import load_profile
if __name__ == "__main__":
    with built_ahead(load_profile("ibex-small").core):
        {}
"""


def compile_by(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a compiler into the folder that is this command of the shell; the cache is there too, and empty."""
    script = folder / "c++"
    script.write_text(f'#!/bin/sh\ncase "$1" in --version) echo 1;; *) {command};; esac\n')
    script.chmod(0o755)
    monkeypatch.setenv("CXX", str(script))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which each compiler leaves its process; the compiler sleeps for a minute."""
    started = tmp_path / "started"
    compile_by(f"echo $$ >>{started}; exec sleep 60", tmp_path, monkeypatch)
    return started


def alive(process: int) -> bool:
    """Whether a process runs: one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def compilers(started: Path) -> list[int]:
    return [int(line) for line in started.read_text().split()]


def test_a_core_that_is_there_is_not_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_ahead, "is_built", lambda core: True)
    monkeypatch.setattr(core_ahead, "get_context", None)
    with built_ahead(CORE):
        pass


def test_it_ends_with_the_block_and_takes_its_compilers_along(compiler: Path) -> None:
    with built_ahead(CORE):
        assert until(compiler.exists)
        running = compilers(compiler)
        assert all(map(alive, running))
        lower = min(19, os.nice(0) + core_ahead.NICENESS)
        assert {os.getpriority(os.PRIO_PROCESS, each) for each in running} == {lower}
    assert until(lambda: not any(map(alive, compilers(compiler))))
    assert not is_built(CORE)


def test_it_ends_when_its_parent_is_killed(compiler: Path, tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(RUN.format("time.sleep(60)"))
    with subprocess.Popen([sys.executable, script]) as parent:
        assert until(compiler.exists)
        assert all(map(alive, compilers(compiler)))
        parent.send_signal(signal.SIGKILL)
    assert until(lambda: not any(map(alive, compilers(compiler))))


def test_a_core_that_cannot_be_built_says_nothing_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    compile_by(f"touch {tmp_path}/called; exit 1", tmp_path, monkeypatch)
    with built_ahead(CORE):
        assert until((tmp_path / "called").exists)
        with pytest.raises(InputError):
            built_core(CORE, lambda text: None)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_who_needs_the_core_waits_for_the_one_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(core, "_build", lambda *_: pytest.fail("built twice"))  # in this process
    texts: list[str] = []
    with built_ahead(CORE):
        assert until((tmp_path / "rlcc" / "cores").exists)
        assert until(lambda: any((tmp_path / "rlcc" / "cores").iterdir()))
        built_core(CORE, texts.append)
    assert len(texts) == 1
    assert [path.name for path in tmp_path.glob(f"rlcc/cores/*/{EXECUTABLE}")] == [EXECUTABLE]
