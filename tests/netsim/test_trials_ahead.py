"""Trials that run ahead: the same outcomes under the same keys, and an end with the block, however it ends."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from netsim import baselines, trials_ahead
from netsim import trials as trials_of_netsim
from netsim.network import MS
from netsim.places import InThisThread, Place, Threads, at_place
from netsim.processes import Processes
from netsim.result_store import Kept
from netsim.trials import Trial, run
from netsim.trials_ahead import run_ahead
from tests.waiting import until

SHORT = Trial("many-to-one:4", baselines.by_name("dctcp"), seed=1, duration_ps=2 * MS, window_ps=(MS, 2 * MS))
LONG = replace(SHORT, scenario="many-to-one:64", duration_ps=100 * MS)
INTERRUPTED = """
import signal, time
from pathlib import Path
from netsim import baselines
from netsim.network import MS
from netsim.result_store import Kept
from netsim.trials import Trial
from netsim.trials_ahead import run_ahead
trials = [
    Trial("many-to-one:64", baselines.by_name("dctcp"), seed, duration_ps=100 * MS, window_ps=(0, 100 * MS))
    for seed in range(500)
]
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background has it ignored
with run_ahead(trials, Kept(Path("kept"))):
    Path("begun").touch()
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials_ahead, "usable_cores", lambda: 2)


def seeds(trial: Trial, number: int) -> list[Trial]:
    return [replace(trial, seed=seed) for seed in range(1, number + 1)]


def running() -> bool:
    return "trials ahead" in {thread.name for thread in threading.enumerate()}


def test_outcomes_are_kept_and_those_of_a_run(tmp_path: Path) -> None:
    trials, keep = seeds(SHORT, 3), Kept(tmp_path)
    with run_ahead(trials, keep):
        assert until(lambda: len(list(tmp_path.glob("*.npz"))) == 3)
    assert run(trials, keep=keep) == run(trials)
    assert keep.reused == 3


def test_a_block_that_raises_ends_the_runs(tmp_path: Path) -> None:
    def fail() -> None:
        assert until(lambda: any(tmp_path.glob("*.npz")))
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"), run_ahead(seeds(LONG, 500), Kept(tmp_path)):
        fail()
    saved = len(list(tmp_path.glob("*.npz")))
    assert saved < 100
    assert not running()
    time.sleep(0.2)
    assert len(list(tmp_path.glob("*.npz"))) == saved


def test_a_simulator_that_was_changed_meanwhile_is_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trials_of_netsim, "simulator_hash", lambda: "what this process has loaded")
    with pytest.raises(InputError, match="changed"):
        run([SHORT], Processes(1), Kept(tmp_path))
    with run_ahead([SHORT], Kept(tmp_path)):
        assert until(lambda: not running())
    assert list(tmp_path.iterdir()) == []


def test_a_process_of_another_begins_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    given: list[Place] = []
    monkeypatch.setattr(trials_ahead, "parent_process", lambda: "a process")
    monkeypatch.setattr(trials_ahead, "run", lambda trials, where, keep, progress: given.append(where))
    with run_ahead([SHORT], Kept(tmp_path)):
        assert until(lambda: not running())
    assert given == []


def test_an_error_is_left_to_the_later_run(tmp_path: Path) -> None:
    trials = [replace(SHORT, scenario="no-such-scenario")]
    with run_ahead(trials, Kept(tmp_path)):
        assert until(lambda: not running())
    with pytest.raises(InputError):
        run(trials, keep=Kept(tmp_path))


@pytest.mark.parametrize(
    ("cores", "place", "number"),
    [
        (1, Threads(), 0),
        (2, Threads(), 1),
        (8, Threads(), 7),
        (8, Threads(3), 2),
        (64, Threads(), 8),
        (2, Threads(9), 1),
        (8, Threads(1), 0),
        (8, Processes(4), 3),
        (8, InThisThread(), 0),
    ],
)
def test_one_processor_is_left_to_the_caller(
    cores: int, place: Place, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Place] = []
    monkeypatch.setattr(trials_ahead, "usable_cores", lambda: cores)
    monkeypatch.setattr(trials_ahead, "run", lambda trials, where, keep, progress: given.append(where))
    with at_place(place), run_ahead([SHORT], Kept(tmp_path)):
        assert until(lambda: not running())
    assert given == ([Processes(number)] if number else [])


def test_the_first_process_does_not_hear_an_interrupt() -> None:
    """From its start on: before Python can ignore it, it would end in a traceback."""
    script = (
        "import signal; from functools import partial; from netsim.processes import Processes; "
        "print(*Processes(1).answers(partial(signal.pthread_sigmask, signal.SIG_BLOCK), [[]]))"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "SIGINT" in shown


@pytest.mark.parametrize("saved", [False, True])
def test_an_interrupt_ends_them_all(saved: bool, tmp_path: Path) -> None:
    """As a terminal's, of the whole group; also while the first process starts."""
    environment = os.environ | {"PYTHON_CPU_COUNT": "2"}
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert until((tmp_path / "begun").exists)
    assert until(lambda: not saved or any(tmp_path.glob("kept/*.npz")))
    time.sleep(0.0 if saved else 0.4)  # the worker is being started
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert errors.count("Traceback") == 1
    assert len(list(tmp_path.glob("kept/*.npz"))) < 250
