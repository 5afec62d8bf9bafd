"""Tasks side by side: all of them, each once, what a lost process leaves, and none left behind when one fails."""

import math
import multiprocessing
import os
import signal
import threading
import time

import pytest

from decision.artefact.errors import InputError
from netsim import places
from netsim.answers import Lost
from netsim.places import InThisThread, Threads, at_place, current_place, named
from netsim.processes import Processes


@pytest.mark.parametrize("place", [InThisThread(), Threads(), Threads(1), Threads(8), Processes(2)])
def test_each_task_is_done_once_and_told_by_its_index(place: places.Place) -> None:
    assert sorted(place.answers(math.sqrt, [1.0, 4.0, 9.0])) == [(0, 1.0), (1, 2.0), (2, 3.0)]
    assert list(place.answers(math.sqrt, [])) == []
    assert not multiprocessing.active_children()


@pytest.mark.parametrize("cores", [1, 3, 5])
def test_as_many_tasks_run_at_once_as_there_are_cores(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All ``cores`` wait for each other: with a thread less none would go on."""
    monkeypatch.setattr(places, "usable_cores", lambda: cores)
    meeting, running, most = threading.Barrier(cores), [], []

    def meet(_: int) -> None:
        running.append(None)
        most.append(len(running))
        meeting.wait(timeout=30)
        running.pop()

    list(Threads().answers(meet, range(cores * 2)))
    assert max(most) <= cores


def test_each_place_has_a_name_and_one_job_needs_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "usable_cores", lambda: 3)
    assert [named("threads", 5), named("threads"), named("processes")] == [Threads(5), Threads(), Processes(3)]
    assert isinstance(named("here"), InThisThread)
    assert isinstance(named("processes", 1), InThisThread)
    assert os.getpid() not in {pid for _, pid in named("processes", 2).answers(own_pid, [1, 2])}


@pytest.mark.parametrize(
    ("name", "jobs", "words"),
    [
        (
            "moon",
            None,
            "'moon' .*ray://HOST:PORT",
        ),
        ("rays", None, "is no place"),
        ("", None, "is no place"),
        ("here", 2, "here .*one .*2"),
        ("threads", 0, "give at least 1"),
    ],
)
def test_what_is_no_place(name: str, jobs: int | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        named(name, jobs)


def test_the_innermost_place_is_the_current_one() -> None:
    with at_place(Threads(2)):
        with at_place(Processes(2)):
            assert current_place() == Processes(2)
        assert current_place() == Threads(2)
    assert current_place() == Threads()


def own_pid(_: int) -> int:
    return os.getpid()


@pytest.mark.parametrize("place", [InThisThread(), Threads(2), Processes(2)])
def test_what_a_task_raises_is_raised_here_and_nothing_goes_on(place: places.Place) -> None:
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        list(place.answers(sqrt_or_wait, [-1.0, 0.5]))
    assert not multiprocessing.active_children()


def test_processes_that_are_under_way_end_with_the_one_that_raised() -> None:
    begin = time.monotonic()
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        list(Processes(2).answers(sqrt_or_wait, [600.0, -1.0]))
    assert time.monotonic() - begin < 300
    assert not multiprocessing.active_children()


def sqrt_or_wait(value: float) -> float:
    if value > 100:
        time.sleep(value)
    return math.sqrt(value)


def test_a_caller_that_stops_listening_ends_the_processes() -> None:
    running = Processes(2).answers(sqrt_or_wait, [4.0, 600.0, 600.0])
    assert next(running) == (0, 2.0)
    running.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()


def test_a_process_that_dies_loses_its_task_only() -> None:
    answers = dict(Processes(2).answers(end_or_double, [1, 9, 2, 15, 3]))
    assert {at: answer for at, answer in answers.items() if not isinstance(answer, Lost)} == {0: 2, 2: 4, 4: 6}
    assert answers[1] == Lost("ended by SIGKILL")
    assert answers[3] == Lost("ended with code 3")


def end_or_double(value: int) -> int:
    if value == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    if value == 15:
        os._exit(3)
    return 2 * value


def test_no_processes_at_all() -> None:
    with pytest.raises(InputError, match="at least 1"):
        Processes(0)
