"""Runs side by side: all of them, each once, and none left behind when one fails."""

import math
import multiprocessing
import os
import threading
import time

import pytest

from decision.errors import InputError
from netsim import sweep as sweep_module
from netsim.sweep import over_processes, sweep


def test_threads_keep_the_order_of_the_tasks():
    for threads in (1, 2, 8, None):
        assert sweep(lambda s: time.sleep(s) or s, [0.02, 0.0, 0.01], threads) == [0.02, 0.0, 0.01]


@pytest.mark.parametrize("cores", [1, 3, 5])
def test_as_many_tasks_run_at_once_as_there_are_cores(cores, monkeypatch):
    """All ``cores`` wait for each other: with a thread less none would go on."""
    monkeypatch.setattr(sweep_module, "usable_cores", lambda: cores)
    meeting, running, most = threading.Barrier(cores), [], []

    def meet(_):
        running.append(None)
        most.append(len(running))
        meeting.wait(timeout=30)
        running.pop()

    sweep(meet, range(cores * 2))
    assert max(most) <= cores


@pytest.mark.parametrize("jobs", [1, 5])
def test_each_task_is_run_once_and_told_by_its_index(jobs):
    found = list(over_processes(math.sqrt, [1.0, 4.0, 9.0], jobs))
    assert sorted(found) == [(0, 1.0), (1, 2.0), (2, 3.0)]


def test_several_jobs_are_other_processes_and_one_is_this():
    assert {pid for _, pid in over_processes(own_pid, [1, 2], 1)} == {os.getpid()}
    assert os.getpid() not in {pid for _, pid in over_processes(own_pid, [1, 2], 2)}
    assert not multiprocessing.active_children()


def own_pid(_: int) -> int:
    return os.getpid()


def test_what_a_run_raises_is_raised_here_and_no_process_is_left():
    with pytest.raises(ValueError, match=r"domain|nonnegative"):
        dict(over_processes(sqrt_or_wait, [-1.0, 600.0], 2))
    assert not multiprocessing.active_children()


def sqrt_or_wait(value: float) -> float:
    if value > 100:
        time.sleep(value)
    return math.sqrt(value)


def test_a_caller_that_stops_listening_ends_the_processes():
    running = over_processes(sqrt_or_wait, [4.0, 600.0, 600.0], 2)
    assert next(running) == (0, 2.0)
    running.close()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_one_sentence():
    with pytest.raises(InputError, match="--jobs"):
        dict(over_processes(os._exit, [3, 3], 2))


def test_no_jobs_at_all():
    with pytest.raises(InputError, match="at least 1"):
        list(over_processes(math.sqrt, [1.0], 0))
