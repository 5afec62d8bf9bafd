"""Engines for the network simulator: an emitted decision behind the seam of decision/include/rlcc_decider.h."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened
from decision.ir.interface import GROUPS
from emulator import _fast
from emulator.fast.machine import machine
from emulator.fast.run import program_of
from emulator.fast.timing import timing
from emulator.firmware import ENTRY
from emulator.firmware_folder import built
from emulator.objects import runnable
from emulator.profile import Profile


class FastDecider:
    """One engine with a memory of its own. Used by one thread at a time; any number may exist."""

    def __init__(
        self, program: _fast.Program, groups: Sequence[int], profile: Profile, engine: _fast.Machine | None = None
    ) -> None:
        self._program, self._groups, self._engine = program, groups, engine
        self._native: _fast.Decider | None = _fast.Decider(program, groups, engine)
        self._context_bytes = self._native.context_bytes
        self.profile = profile

    @property
    def address(self) -> int:
        """Returns the address of its ``rlcc_decider``, which lives as long as this object and until its context is
        left."""
        if self._native is None:
            raise InputError("the decider was closed; make another one")
        return self._native.address

    @property
    def context_bytes(self) -> int:
        """Size of an agent's context, all zero for a new agent."""
        return self._context_bytes

    @property
    def clock_mhz(self) -> float:
        """The engine's clock: a decision of n cycles takes n / clock_mhz microseconds."""
        return self.profile.clock.mhz

    def another(self) -> "FastDecider":
        """One more engine of the same kind, for another thread or simulation; nothing is compiled again."""
        return FastDecider(self._program, self._groups, self.profile, self._engine)

    def __enter__(self) -> "FastDecider":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._native = None


def decider(
    firmware_dir: str | Path | Opened, profile: str | Path | Profile, *, compiler: str = "clang", opt: str = "-O2"
) -> FastDecider:
    """Compile a firmware folder's decision for an engine and make it ready to be called by the network simulator."""
    build = runnable(built(firmware_dir, profile=profile, compiler=compiler, opt=opt))
    engine, figures = build.engine, timing(build.engine)
    program = program_of(build.image, ENTRY, engine, build.blocks, figures)
    groups = [GROUPS.index(block.name) for block in build.blocks]
    return FastDecider(program, groups, engine, machine(build.image, engine, figures, "hot"))
