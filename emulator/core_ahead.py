"""The Verilated core, built in another process while this one does what needs no core.

    with built_ahead(core):
        ...  # whatever needs no core
        built_core(core)  # waits until it is there

The core depends on nothing but the engine profile. Its build has low priority, so that it takes what others leave of
the processors. It ends with its compilers when the block ends, and when this process is killed. The next build sweeps
the folder that it leaves.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.context import SpawnProcess

from decision.artefact.errors import InputError
from emulator.core import built_core, is_built
from emulator.profile import Core

NICENESS = 10
"""The build's: a simulation gets nine times its share of a processor."""


@contextmanager
def built_ahead(core: Core) -> Iterator[None]:
    """Builds the core while the block runs. A build that fails says nothing here: whoever needs the core builds it
    (emulator.core), and gets its error."""
    process = _started(core) if _to_build(core) else None
    try:
        yield
    finally:
        if process is not None:
            process.terminate()
            process.join()


def _to_build(core: Core) -> bool:
    """Whether the core is missing in the cache, and can be built here; not in the child, in which a script without a
    main guard runs again."""
    try:
        return parent_process() is None and not is_built(core)
    except InputError:
        return False


def _started(core: Core) -> SpawnProcess | None:
    """Returns the process that builds the core; None where the system starts none."""
    process = get_context("spawn").Process(target=_build, args=(core,), daemon=True)  # a fork would copy locks
    try:
        process.start()
    except OSError:
        return None
    return process


def _build(core: Core) -> None:
    """Builds the core in a group of its own; its end is that of all compilers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.setpgrp()  # not a session: Linux would weigh it against the run as a whole, whatever its niceness
    os.nice(NICENESS)
    parent = parent_process()
    assert parent is not None

    def end(*_: object) -> None:
        os.killpg(os.getpgrp(), signal.SIGKILL)

    def follow() -> None:
        parent.join()
        end()

    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=follow, daemon=True).start()
    with suppress(InputError, OSError):
        built_core(core, lambda text: None)
