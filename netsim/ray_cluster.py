"""The machines of a Ray cluster (core tasks only): one that runs, or one of this machine that is started here.

A node whose build is another is refused before it simulates anything. Only the unfinished work of a node or worker that
ends is lost. Ray itself never tries again: that is whoever asked's to say, wherever tasks run.
"""

import atexit
import fcntl
import logging
import os
import pickle
import secrets
import shutil
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from decision.artefact.errors import InputError
from decision.artefact.extras import missing
from decision.artefact.processors import usable_cores
from netsim.answers import Answer, Lost, Raised, Task
from netsim.build import Build, build
from netsim.parcel import Packed, Packing, unpacked

SECONDS = 10
"""Within which a cluster answers."""
PATIENCE = 10
"""Checks, a second apart, before a head that does not answer is given up."""
AHEAD = 4
"""Tasks a processor that are handed over, so that none waits for this machine."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # no word to its makers of what runs here
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # no lines of other machines between ours: they are in Ray's log folder
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # its next default, which it would announce
    "RAY_gcs_server_request_timeout_seconds": str(SECONDS),
}
"""Read as Ray is imported; what the user has set stays."""
SHORT, FOLDER, LOCK = Path("/tmp"), "rlcc-ray-", "lock"
"""Of the folder of such a one: its sockets' paths have 107 characters at most."""
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
SETTINGS = b"\4"
"""How a connection to a gRPC server begins, and the kind of its first frame (RFC 9113, sections 3.4 and 6.5)."""
STORE_BYTES = 512 * 2**20
"""Of a cluster that is started here; what answers wait in."""


@dataclass(frozen=True)
class Ray:
    """``address``: ``ray://HOST:PORT``, a cluster's port for clients; "": the cluster that RAY_ADDRESS names or that
    runs on this machine, else one that is started, with ``number`` processors. ``number``: tasks at a time."""

    address: str = ""
    number: int | None = None

    def answers(self, work: Callable[[Task], Answer], tasks: Sequence[Task]) -> Iterator[tuple[int, Answer | Lost]]:
        if not tasks:
            return
        mine = build()
        ray = _connected(self.address, self.number, mine)
        remote = ray.remote(num_cpus=1, max_retries=0, scheduling_strategy="SPREAD")(_do)
        packing = Packing()
        files: dict[str, Any] = {}
        waiting = list(enumerate(tasks))[::-1]
        running: dict[Any, int] = {}
        most, asked = self._most(ray), time.monotonic()
        head = self.address or ray.get_runtime_context().gcs_address
        try:
            while waiting or running:
                if time.monotonic() - asked > SECONDS:  # nodes come and go
                    _check_head(head)
                    most, asked = self._most(ray), time.monotonic()
                while waiting and len(running) < most:
                    at, task = waiting.pop()
                    packed = packing.packed((work, task))
                    for name in packed.files.keys() - files.keys():
                        files[name] = ray.put(packed.files[name])
                    names = list(packed.files)
                    running[remote.remote(mine, packed.pickled, names, *(files[name] for name in names))] = at
                for ref in ray.wait(list(running), num_returns=1, timeout=SECONDS)[0]:
                    yield running.pop(ref), _answer(ray, ref, mine)
        finally:
            for ref in running:
                ray.cancel(ref, force=True)

    def _most(self, ray: Any) -> int:
        return self.number or max(1, int(AHEAD * ray.cluster_resources().get("CPU", 1)))


def cluster(address: str, number: int | None) -> Ray:
    """InputError where Ray is not installed, or nobody answers at the address."""
    if find_spec("ray") is None:
        raise missing("ray") or InputError("ray is not installed")
    for asked in (address, os.environ.get("RAY_ADDRESS", "")):
        if asked not in ("", "auto", "local"):
            _check_open(asked)
            break
    return Ray(address, number)


def _check_open(address: str) -> None:
    """Before Ray tries for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or not port or parts.path:
        raise InputError(f"{address!r} is no address of a Ray cluster; write ray://HOST:10001")
    try:
        with socket.create_connection((host, port), timeout=SECONDS) as connection:
            connection.sendall(HTTP2)
            answer = connection.recv(9)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"no Ray cluster answers at {address} ({why.lower()}); is it up, and the port open?") from None
    if answer[3:4] != SETTINGS and os.environ.get("RAY_USE_TLS") != "1":
        raise InputError(f"what answers at {address} is no Ray cluster; is it the right port?")


def _check_head(address: str) -> None:
    """InputError where it has gone for good: Ray itself would end this process, after a minute, with a word of its own.
    One that is started anew within ``PATIENCE`` checks goes on."""
    for tried in range(1, PATIENCE + 1):
        try:
            return _check_open(address)
        except InputError:
            if tried < PATIENCE:
                time.sleep(1)
    raise InputError(f"the Ray cluster's head, {address}, has ended; start it again, and call again")


_joined: str | None = None
"""The address of the cluster that this process was connected to here; None: somebody else did that, or nobody."""


def _connected(address: str, number: int | None, mine: Build) -> Any:
    """The module ``ray``, in touch with a cluster until this process ends. InputError where a node is refused."""
    global _joined
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        if _joined in (None, address):
            return ray
        ray.shutdown()
    try:
        with warnings.catch_warnings(action="ignore"):  # what it warns of is the sentence below
            ray.init(address or "auto", log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError as error:
        asked = address or os.environ.get("RAY_ADDRESS", "")
        if asked:
            raise InputError(f"no Ray cluster answers at {asked}: {_line(error)}") from None
        _start(ray, number or usable_cores())
    except (RuntimeError, ValueError, ray.exceptions.RayError) as error:
        raise InputError(f"the Ray cluster at {address} cannot be joined: {_line(error)}") from None
    _joined = address
    _check_nodes(ray, mine)
    return ray


def _check_nodes(ray: Any, mine: Build) -> None:
    """Those that are there now; whoever comes later is asked with its first task."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    strategies = [NodeAffinitySchedulingStrategy(node, soft=False) for node in nodes]
    task = ray.remote(num_cpus=0, max_retries=0)(_foreign)
    for ref in [task.options(scheduling_strategy=strategy).remote(mine) for strategy in strategies]:
        _refuse(_got(ray, ref), mine)


def _start(ray: Any, processors: int) -> None:
    """A cluster of this machine alone. It ends with this process, and leaves nothing."""
    clear(SHORT)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=SHORT))
    lock = (folder / LOCK).open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # else one is written into the home folder
    os.environ.setdefault("RAY_worker_niceness", "0")  # as processes run
    atexit.register(_end, ray, folder, lock)
    ray.init(
        num_cpus=processors,
        include_dashboard=False,
        object_store_memory=STORE_BYTES,
        _temp_dir=str(folder),
        log_to_driver=False,
        logging_level=logging.ERROR,
    )


def _end(ray: Any, folder: Path, lock: IO[str]) -> None:
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)
    lock.close()


def clear(place: Path) -> None:
    """Away with the folders of clusters whose process was killed: it held a lock as long as it lived."""
    for folder in place.glob(f"{FOLDER}*"):
        with suppress(OSError), (folder / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class _Foreign:
    """A node that is not to be believed."""

    node: str
    build: Build


def _foreign(caller: Build) -> _Foreign | None:
    """On a node: itself, where its build is not the caller's."""
    if build().agrees_with(caller):
        return None
    import ray

    return _Foreign(f"{ray.util.get_node_ip_address()}", build())  # type: ignore[no-untyped-call]


def _do(caller: Build, pickled: bytes, names: list[str], *files: bytes) -> bytes:
    """On a node. Pickled here, for Ray would hand over arrays that cannot be written to."""
    answer: Any = _foreign(caller)
    if answer is None:
        with unpacked(Packed(pickled, dict(zip(names, files, strict=True)))) as (work, task):
            try:
                answer = work(task)
            except Exception as error:
                answer = Raised(error)
    return pickle.dumps(answer)


def _answer(ray: Any, ref: Any, mine: Build) -> Any:
    held = _got(ray, ref)
    if isinstance(held, Lost):
        return held
    answer = pickle.loads(held)
    _refuse(answer, mine)
    if isinstance(answer, Raised):
        raise answer.error
    return answer


def _got(ray: Any, ref: Any) -> Any:
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        raise InputError(
            f"a node of the Ray cluster cannot run tasks of rlcc ({_line(error)}); is it installed there?"
        ) from None
    except ray.exceptions.RayError as error:
        return Lost(_line(error))


def _refuse(answer: object, mine: Build) -> None:
    if isinstance(answer, _Foreign):
        raise InputError(
            f"node {answer.node} runs another build of the simulator, {answer.build}, than this machine, {mine}; "
            "install the same rlcc there"
        )


def _line(error: Exception) -> str:
    """The last line of what Ray says."""
    return str(error).strip().splitlines()[-1].strip()
