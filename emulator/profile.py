"""Engine profiles in TOML: the core, its clock, its memories. Cycles belong to a profile; time is cycles / clock.

A profile is named (``ibex-small``: a file of emulator/profiles/) or given as a path. Everything is stated in the file:
there are no defaults, so that a profile's hash says all about the engine.
"""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spec.documents import load_toml
from spec.errors import InputError

PROFILE_FOLDER = Path(__file__).resolve().parent / "profiles"

MemoryBytes = Annotated[int, Field(ge=1024, le=16 * 1024 * 1024, multiple_of=16)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Core(_Table):
    """Parameters that change the RTL: another value is another build of the core."""

    kind: Literal["ibex"]
    multiplier: Literal["slow", "fast", "single-cycle"]
    branch_target_alu: bool
    writeback_stage: bool
    isa: Literal["rv32im", "rv32imc"]


class Clock(_Table):
    """The engine's clock and where the number comes from."""

    mhz: Annotated[float, Field(gt=0, le=10_000, strict=False)]
    reason: Annotated[str, Field(min_length=10)]


class Memory(_Table):
    """A single-ported memory: an access is answered 1 + wait_states cycles after it was granted, one at a time."""

    bytes: MemoryBytes
    wait_states: Annotated[int, Field(ge=0, le=255)]


class Limits(_Table):
    """What the engine allows a policy: context bytes a flow, stack bytes."""

    context_bytes: Annotated[int, Field(ge=4, le=65536, multiple_of=4)]
    stack_bytes: Annotated[int, Field(ge=16, le=65536, multiple_of=16)]


class Profile(_Table):
    """An engine."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    core: Core
    clock: Clock
    instruction_memory: Memory
    data_memory: Memory
    limits: Limits

    @model_validator(mode="after")
    def _stack_fits(self) -> "Profile":
        if self.limits.stack_bytes >= self.data_memory.bytes:
            raise ValueError(
                f"limits.stack_bytes = {self.limits.stack_bytes} must be below "
                f"data_memory.bytes = {self.data_memory.bytes}"
            )
        return self

    def hash(self) -> str:
        """SHA-256 over the profile's meaning (not its comments or its layout)."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def label(self) -> str:
        """The name, with the hash where this is not the profile of that name that comes with rlcc."""
        shipped = self.name in profile_names() and load_profile(self.name) == self
        return self.name if shipped else f"{self.name} ({self.hash()[:8]})"

    def microseconds(self, cycles: float) -> float:
        """Cycles at this profile's clock."""
        return cycles / self.clock.mhz


def profile_names() -> list[str]:
    """The profiles that come with rlcc."""
    return sorted(path.stem for path in PROFILE_FOLDER.glob("*.toml"))


def load_profile(profile: str | Path) -> Profile:
    """Find a profile by name or path; an unknown name, an unknown key or a contradictory value raises InputError."""
    text = str(profile)
    path = Path(profile)
    if not text.endswith(".toml") and "/" not in text:
        path = PROFILE_FOLDER / f"{text}.toml"
        if not path.is_file():
            raise InputError(
                f"there is no engine profile {text!r}; choose one of {', '.join(profile_names())} "
                "or give the path of a .toml file"
            )
    return load_toml(Profile, path)
