"""The core in the loop: a firmware on its own Verilated core, to be called one decision at a time through a C pointer.

It is called through decision/include/rlcc_decider.h. The agent's context, the event and the parameters are
copied into the engine's data memory before each decision, the context and the knobs back after it; a context at another
address than the call before is another agent's, which the data cache does not hold.
"""

import ctypes
from pathlib import Path
from types import TracebackType

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from emulator.core import LIBRARY, Progress, built_core
from emulator.firmware import ENTRY
from emulator.firmware_folder import built
from emulator.job import write_job
from emulator.objects import runnable


class RtlDecider:
    """An ``rlcc_decider`` at ``address`` until it is closed. One thread at a time may use it; there may be many."""

    def __init__(self, library: Path, job: Path, context_bytes: int, clock_mhz: float) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.rlcc_core_open.restype = ctypes.c_void_p
        self._library.rlcc_core_error.restype = ctypes.c_char_p
        self._library.rlcc_core_close.argtypes = [ctypes.c_void_p]
        self._library.rlcc_core_close.restype = None
        address = self._library.rlcc_core_open(str(job).encode())
        if not address:
            raise InputError(f"the emulated core does not start: {self._library.rlcc_core_error().decode()}")
        self.address: int = address
        self.context_bytes = context_bytes
        self.clock_mhz = clock_mhz

    def close(self) -> None:
        """End the core; its address must no longer be used."""
        if self.address:
            self._library.rlcc_core_close(self.address)
            self.address = 0

    def __enter__(self) -> "RtlDecider":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def rtl_decider(
    firmware_dir: Path | Opened,
    profile: str | Path,
    *,
    compiler: str = "clang",
    opt: str = "-O2",
    progress: Progress | None = None,
) -> RtlDecider:
    """The firmware compiled for the profile's engine and loaded into a core of its own.

    Code that would not pass ``emulate`` for what is in it (a call of a library, a float) raises InputError.
    """
    build = runnable(built(firmware_dir, profile=profile, compiler=compiler, opt=opt))
    library = built_core(build.engine.core, progress) / LIBRARY
    with temporary.folder() as folder:
        job = write_job(build.image, ENTRY, build.engine, build.blocks, folder)
        return RtlDecider(library, job, build.firmware.context_bytes, build.engine.clock.mhz)
