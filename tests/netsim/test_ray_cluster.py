"""Trials on the nodes of a Ray cluster: the same bytes, what a lost worker or node costs, and who is refused.

One cluster of two nodes on this machine for all tests of this file: a start takes seconds.

Slow: what needs the cluster; refused addresses and heads need none.
"""

import fcntl
import importlib
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.errors import InputError
from netsim import baselines, ray_cluster
from netsim.answers import Lost
from netsim.build import build
from netsim.network import MS
from netsim.places import InThisThread, Threads, named
from netsim.ray_cluster import Ray
from netsim.result_store import Kept
from netsim.trials import Trial, run

TRIAL = Trial(
    "many-to-one:4", baselines.by_name("dcqcn"), seed=3, duration_ps=2 * MS, window_ps=(MS, 2 * MS), record_ps=MS
)


class Two:
    """A cluster of two nodes with a processor each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster
        from ray.util import get_node_ip_address

        # Of two nodes on 127.0.0.1 the second never hears of the first: the machine's own address, or two of its own.
        own = get_node_ip_address()
        self.head, self.other = ("127.0.0.2", "127.0.0.3") if own.startswith("127.") else (own, own)
        self.options: dict[str, Any] = {
            "num_cpus": 1, "object_store_memory": 80 * 2**20,
            "include_dashboard": False, "include_log_monitor": False,
        }  # fmt: skip
        self.cluster = Cluster(initialize_head=True, head_node_args=self.options | {"node_ip_address": self.head})
        self.second = self.another()

    def another(self, **environment: str) -> Any:
        return self.cluster.add_node(**self.options, node_ip_address=self.other, env_vars=environment)

    @property
    def address(self) -> str:
        return str(self.cluster.address)


@pytest.fixture(scope="module")
def two() -> Iterator[Two]:
    folder = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # a socket's path has 107 characters at most
    with pytest.MonkeyPatch.context() as patch:
        settings = {"RAY_TMPDIR": folder, "RAY_AUTH_MODE": "disabled", "RAY_worker_niceness": "0"}
        for name, value in {**ray_cluster.QUIET, **settings}.items():
            patch.setenv(name, value)
        ray = importlib.import_module("ray")
        cluster = Two()
        patch.setenv("RAY_ADDRESS", cluster.address)
        try:
            yield cluster
        finally:
            ray.shutdown()
            cluster.cluster.shutdown()
            shutil.rmtree(folder, ignore_errors=True)


def kept(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


@pytest.mark.slow
def test_two_nodes_give_the_same_bytes_as_this_process(two: Two, tmp_path: Path) -> None:
    others = [replace(TRIAL, scenario="websearch:60%"), replace(TRIAL, policy=baselines.by_name("hpcc"))]
    several = [*(replace(TRIAL, seed=seed) for seed in range(6)), *others]
    over_there = run(several, named("ray"), Kept(tmp_path / "ray"))
    run(several, InThisThread(), Kept(tmp_path / "here"))
    assert kept(tmp_path / "ray") == kept(tmp_path / "here")
    assert [outcome.flows for outcome in over_there] == [4, 4, 4, 4, 4, 4, over_there[6].flows, 4]
    assert all(column.flags.writeable for outcome in over_there for column in outcome.records[0].values())
    (tmp_path / "met").mkdir()
    assert {node for _, node in Ray().answers(meet, [(str(tmp_path / "met"), 2)] * 2)} == nodes()


def nodes() -> set[str]:
    import ray

    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def meet(task: tuple[str, int]) -> str:
    """The node, once so many tasks run side by side."""
    import ray

    folder, others = Path(task[0]), task[1]
    (folder / str(os.getpid())).touch()
    for _ in range(600):
        if len(list(folder.iterdir())) >= others:
            break
        time.sleep(0.1)
    return str(ray.get_runtime_context().get_node_id())


@pytest.mark.slow
def test_what_a_task_raises_is_raised_here(two: Two) -> None:
    with pytest.raises(InputError, match="unknown scenario"):
        run([replace(TRIAL, scenario="nowhere:4")], named("ray"))


@pytest.mark.slow
def test_a_library_that_decides_travels_with_its_trial(two: Two, tmp_path: Path) -> None:
    """A path of this machine is nothing to another: what it leads to is sent."""
    library = tmp_path / "policy.so"
    library.write_bytes(b"held")
    assert list(Ray().answers(read_elsewhere, [(library, str(library))])) == [(0, b"held")]


def read_elsewhere(task: tuple[Path, str]) -> bytes:
    path, before = task
    assert str(path) != before
    return path.read_bytes()


@pytest.mark.slow
def test_a_killed_worker_loses_its_task_only_and_a_trial_is_begun_again(two: Two, tmp_path: Path) -> None:
    tasks = [(tmp_path / "never", False), (tmp_path / "once", True)]
    answers = dict(Ray().answers(end_once, [(str(path), ends) for path, ends in tasks]))
    assert answers[0] == "done"
    assert isinstance(answers[1], Lost)
    assert "worker" in answers[1].reason
    assert dict(Ray().answers(end_once, [(str(tasks[1][0]), True)])) == {0: "done"}


def end_once(task: tuple[str, bool]) -> str:
    path, ends = Path(task[0]), task[1]
    if ends and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


@pytest.mark.slow
def test_a_node_of_another_build_is_refused(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(build(), code="0123456789abcdef")
    monkeypatch.setattr(ray_cluster, "build", lambda: other)
    with pytest.raises(InputError) as error:
        run([TRIAL], named("ray"))
    assert any(f"node {node} " in str(error.value) for node in (two.head, two.other))
    assert str(build()) in str(error.value)
    assert str(other) in str(error.value)


def test_another_build_is_refused_by_what_a_node_answers() -> None:
    """Without a cluster: a node's own answer to a caller of another build."""
    other = replace(build(), code="0123456789abcdef")
    assert ray_cluster._foreign(build()) is None
    with pytest.raises(InputError) as error:
        ray_cluster._refuse(ray_cluster._foreign(other), other)
    assert str(build()) in str(error.value)
    assert str(other) in str(error.value)


@pytest.mark.slow
def test_a_killed_node_costs_time_and_not_the_run(two: Two, tmp_path: Path) -> None:
    extra = two.another()
    several = [replace(TRIAL, scenario="many-to-one:64", duration_ps=40 * MS, seed=seed) for seed in range(16)]
    said: list[str] = []

    def kill_once(text: str) -> None:
        said.append(text)
        if text.startswith("3 of"):
            two.cluster.remove_node(extra, allow_graceful=False)

    run(several, named("ray"), Kept(tmp_path / "ray"), kill_once)
    run(several, Threads(), Kept(tmp_path / "here"))
    assert kept(tmp_path / "ray") == kept(tmp_path / "here")
    assert said[-1] == "16 of 16 runs"


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("ray://127.0.0.1:1", "no Ray cluster answers at ray://127.0.0.1:1 (connection refused); is it up"),
        ("ray://nobody.invalid:10001", "at ray://nobody.invalid:10001 ("),
        ("ray://", "'ray://' is no address"),
        ("ray://host", "'ray://host' is no address"),
        ("ray://host:port", "'ray://host:port' is no address"),
    ],
)
def test_an_address_at_which_nobody_is(address: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        named(address)
    assert words in str(error.value)


def test_a_port_at_which_nobody_speaks_as_ray_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(InputError, match=r"\(timed out\); is it up"):
        named(f"ray://127.0.0.1:{silent.getsockname()[1]}")

    def answer(server: socket.socket) -> None:
        server.accept()[0].sendall(b"HTTP/1.1 400 Bad Request")

    with socket.create_server(("127.0.0.1", 0)) as web:
        threading.Thread(target=answer, args=(web,)).start()
        with pytest.raises(InputError, match=r"ray://127\.0\.0\.1:\d+ .*Ray cluster"):
            named(f"ray://127.0.0.1:{web.getsockname()[1]}")


def test_the_cluster_of_the_environment_is_asked_for_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    with pytest.raises(InputError, match=r"answers at 127\.0\.0\.1:1"):
        named("ray")


def test_a_head_that_has_ended_is_told_and_one_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(ray_cluster.time, "sleep", waits.append)
    with pytest.raises(InputError, match=r"127\.0\.0\.1:1, .*ended"):
        ray_cluster._check_head("127.0.0.1:1")
    assert len(waits) == ray_cluster.PATIENCE - 1
    back = iter([InputError("not yet")] * 3)

    def answers(address: str) -> None:
        if (error := next(back, None)) is not None:
            raise error

    monkeypatch.setattr(ray_cluster, "_check_open", answers)
    ray_cluster._check_head("127.0.0.1:1")
    assert len(waits) == ray_cluster.PATIENCE - 1 + 3


def test_the_folder_of_a_killed_cluster_is_removed_by_the_next(tmp_path: Path) -> None:
    dead, living, other, new = (tmp_path / f"rlcc-ray-{name}" for name in ("dead", "living", "other", "new"))
    for folder in (dead, living, other, new):
        folder.mkdir()
    other.rename(tmp_path / "thesis")
    (dead / "lock").touch()
    with (living / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ray_cluster.clear(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"rlcc-ray-living", "rlcc-ray-new", "thesis"}
    ray_cluster.clear(tmp_path)
    assert not living.exists()


def test_without_ray_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"ray .*not installed; .*'rlcc\[ray\]'"):
        named("ray")
