"""Firmware that an emulated core runs in the network: `firmware@ibex-small`, `firmware@rtl:ibex-small`.

A simulation has a core of its own, whose cycles are what each decision takes. The fast path serves thousands of flows;
the Verilated core (rtl:) is there for profiles that it cannot time exactly, and to compare.
"""

import weakref
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import emulator
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened, same_artefact
from decision.artefact.sources import package_hash
from emulator.compile import find_compiler
from emulator.decider import RtlDecider, rtl_decider
from emulator.profile import Profile, load_profile, profile_names
from netsim.policies import IntegerPolicy, decider

if TYPE_CHECKING:
    from emulator.fast import FastDecider

RTL = "rtl:"


@dataclass(frozen=True)
class CoreName:
    """Text behind the @: an engine profile, by name or path, and which model of its core."""

    profile: str
    model: Literal["fast", "rtl"] = "fast"

    def __str__(self) -> str:
        return self.profile if self.model == "fast" else RTL + self.profile


def core_name(text: str) -> CoreName | None:
    """``text`` as the name of a core; None where it is none."""
    profile = text.removeprefix(RTL)
    if text.startswith(RTL) or profile in profile_names() or profile.endswith(".toml"):
        return CoreName(profile, "rtl" if text.startswith(RTL) else "fast")
    return None


@dataclass(frozen=True)
class CorePolicy(IntegerPolicy):
    """``hash`` is the firmware's: the folder is read again when a simulation is built."""

    firmware: Path
    hash: str
    on: CoreName

    def core(self, agents: int) -> Any:
        """A ``_core.CoreDecider`` with an engine of its own, which ends with it."""
        engine = self._engine()
        return decider(engine.address, engine.context_bytes, engine.clock_mhz, self.installed, engine).core(agents)

    def content(self) -> list[Any]:
        """Returns the sources of the decisions and their cycles: firmware, profile, emulator and compiler."""
        profile = load_profile(self.on.profile)
        compiler = find_compiler("clang", profile.core.isa).version
        return [self.hash, self.on.model, profile.hash(), emulator_hash(), compiler, self.installed.params]

    def check(self) -> None:
        """InputError where the core cannot run the firmware, or the fast path cannot tell the core's cycles exactly."""
        profile = load_profile(self.on.profile)
        if self.on.model == "fast":
            from emulator.fast import timing

            try:
                timing(profile)
            except InputError as error:
                raise InputError(f"{error}: @{RTL}{self.on.profile}") from None
        self._engine()

    def _engine(self) -> Any:
        profile = load_profile(self.on.profile)
        if self.on.model == "fast":
            return _fast(self.firmware, self.hash, profile).another()
        return _Closing(rtl_decider(_same(self.firmware, self.hash), self.on.profile))


def emulator_hash() -> str:
    """Over the emulator's own files: another build of it may take other cycles."""
    from emulator import _fast

    return package_hash(Path(emulator.__file__).parent, Path(_fast.__file__))


class _Closing:
    """An engine that ends with the last one who uses it."""

    def __init__(self, engine: RtlDecider) -> None:
        self.address, self.context_bytes, self.clock_mhz = engine.address, engine.context_bytes, engine.clock_mhz
        weakref.finalize(self, engine.close)


@lru_cache(maxsize=8)
def _fast(firmware: Path, firmware_hash: str, profile: Profile) -> "FastDecider":
    """Compiled once a process."""
    from emulator.fast import decider as fast_decider

    return fast_decider(_same(firmware, firmware_hash), profile)


def _same(firmware: Path, firmware_hash: str) -> Opened:
    """The firmware as it was when this began; InputError where the folder holds another one."""
    return same_artefact(opened(firmware, "firmware"), firmware_hash)
