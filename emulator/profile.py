"""Engine profiles in TOML: the core, its clock, its memories. Cycles belong to a profile; time is cycles / clock.

A profile is named (``ibex-small``: a file of emulator/profiles/) or given as a path. Everything is stated in the file:
there are no defaults, so that a profile's hash says all about the engine.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from decision.artefact.documents import WHOLE_NUMBER, load_toml
from decision.artefact.errors import InputError
from decision.artefact.strict import Strict
from decision.artefact.suggest import meant

PROFILE_FOLDER = Path(__file__).resolve().parent / "profiles"

MemoryBytes = Annotated[int, Field(ge=1024, le=16 * 1024 * 1024, multiple_of=16)]
Reason = Annotated[str, Field(min_length=10)]  # why these values, and from which source


class _ProfileTable(Strict):
    model_config = ConfigDict(strict=True)


class _Core(_ProfileTable):
    """Parameters that change the RTL: another value is another build of the core."""

    isa: str
    reason: Reason
    """Source of the core's parameters, free text."""

    @property
    def has_multiplier(self) -> bool:
        """Instructions of the M extension."""
        return "m" in self.isa.split("_")[0].removeprefix("rv32").removeprefix("rv64")


class IbexCore(_Core):
    """Ibex: two stages, or three with the write-back stage."""

    kind: Literal["ibex"]
    isa: Literal["rv32i", "rv32im", "rv32imc", "rv32im_zba_zbb_zbs"]
    """Instruction set."""
    multiplier: Literal["none", "slow", "fast", "single-cycle"]
    """Multiplier of the core (Ibex RV32M)."""
    branch_target_alu: bool
    """Separate adder for branch targets (Ibex BranchTargetALU)."""
    writeback_stage: bool
    """Third pipeline stage (Ibex WritebackStage)."""

    @model_validator(mode="after")
    def _multiplier_fits(self) -> "IbexCore":
        _same_multiplier(self, self.multiplier)
        return self


class PicoRv32Core(_Core):
    """PicoRV32: one instruction at a time over several cycles, one memory port for code and data."""

    kind: Literal["picorv32"]
    isa: Literal["rv32i", "rv32im", "rv32imc"]
    """Instruction set."""
    multiplier: Literal["none", "slow", "fast"]
    """Multiplier of the core."""
    barrel_shifter: bool
    """Shifts in one step (PicoRV32 BARREL_SHIFTER)."""

    @model_validator(mode="after")
    def _multiplier_fits(self) -> "PicoRv32Core":
        _same_multiplier(self, self.multiplier)
        return self


class VexRiscvCore(_Core):
    """VexRiscv in one of the variants that its wheel ships."""

    kind: Literal["vexriscv"]
    isa: Literal["rv32i", "rv32im"]
    """Instruction set."""
    variant: Literal["Min", "Lite"]
    """Variant that the wheel ships."""

    @model_validator(mode="after")
    def _multiplier_fits(self) -> "VexRiscvCore":
        if self.has_multiplier and self.variant == "Min":
            raise ValueError(f'isa = "{self.isa}" contradicts variant = "Min", which has no multiplier')
        return self


class Cv32e40pCore(_Core):
    """CV32E40P: four stages, single-cycle multiplier."""

    kind: Literal["cv32e40p"]
    isa: Literal["rv32im", "rv32imc"]
    """Instruction set."""


class OwnCache(_ProfileTable):
    """An L1 inside a core's RTL: lines in ways, one of which is replaced at random."""

    bytes: Annotated[int, Field(ge=512, le=4096)]
    """Size of the cache, bytes."""
    line_bytes: Annotated[Literal[16, 32, 64], WHOLE_NUMBER]
    """Size of a line, bytes."""
    ways: Annotated[Literal[4, 8], WHOLE_NUMBER]
    """Number of ways."""

    @model_validator(mode="after")
    def _whole_sets(self) -> "OwnCache":
        sets, rest = divmod(self.bytes, self.line_bytes * self.ways)
        if rest or sets < 2 or sets & (sets - 1):
            raise ValueError(
                f"{self.bytes} bytes in {self.ways} ways of lines of {self.line_bytes} are no power of two of sets"
            )
        return self


class Cva6Core(_Core):
    """CVA6: RV64, six stages, one instruction issued in order, branch prediction, caches of its own."""

    kind: Literal["cva6"]
    isa: Literal["rv64imac", "rv64imac_zbb_zbs"]
    """Instruction set."""
    instruction_cache: OwnCache
    data_cache: OwnCache


def _same_multiplier(core: _Core, multiplier: str) -> None:
    if core.has_multiplier == (multiplier == "none"):
        raise ValueError(f'isa = "{core.isa}" contradicts multiplier = "{multiplier}"')


Core = Annotated[IbexCore | PicoRv32Core | VexRiscvCore | Cv32e40pCore | Cva6Core, Field(discriminator="kind")]


def distribution_of(core: Core) -> str:
    """Returns the package that has the core's RTL."""
    return f"pythondata-cpu-{core.kind}"


def core_version(core: Core) -> str:
    """Returns the RTL that the emulated core is built of: the package and its version."""
    return f"{distribution_of(core)} {version(distribution_of(core))}"


class Clock(_ProfileTable):
    """The engine's clock and where the number comes from."""

    mhz: Annotated[float, Field(gt=0, le=10_000)]
    """Clock frequency, MHz."""
    reason: Reason
    """Source of the frequency, free text."""


class Cache(_ProfileTable):
    """An L1 (or instruction buffer) before a memory: ``bytes`` in lines, least recently used of ``ways`` replaced.

    A hit is answered after one cycle, a miss after 1 + ``miss_cycles``; a store goes through and allocates nothing.
    """

    bytes: Annotated[int, Field(ge=64, le=1024 * 1024)]
    """Size of the cache, bytes."""
    line_bytes: Annotated[int, Field(ge=4, le=256)]
    """Size of a line, bytes."""
    ways: Annotated[int, Field(ge=1, le=64)]
    """Number of ways."""
    miss_cycles: Annotated[int, Field(ge=1, le=65535)]
    """Additional cycles of a miss."""

    @model_validator(mode="after")
    def _whole_sets(self) -> "Cache":
        sets, rest = divmod(self.bytes, self.line_bytes * self.ways)
        if rest or sets & (sets - 1) or self.line_bytes & (self.line_bytes - 1):
            raise ValueError(
                f"{self.bytes} bytes in {self.ways} ways of lines of {self.line_bytes} are no power of two of sets"
            )
        return self


class EngineMemory(_ProfileTable):
    """A single-ported memory: an access is answered 1 + wait_states cycles after it was granted, one at a time.

    Behind a core with caches of its own only their misses come here, as to a next level of caches; a line that was not
    read since all were emptied is answered after 1 + ``first_wait_states`` cycles, as from DRAM.
    """

    bytes: MemoryBytes
    """Size of the memory, bytes."""
    wait_states: Annotated[int, Field(ge=0, le=255)]
    """Additional cycles of an access."""
    first_wait_states: Annotated[int, Field(ge=0, le=65535)] | None = None
    """Additional cycles of the first access to a line; for cores with caches of their own."""
    cache: Cache | None = None
    reason: Reason
    """Source of the timing, free text."""

    @model_validator(mode="after")
    def _one_timing(self) -> "EngineMemory":
        if self.cache is not None and self.wait_states:
            raise ValueError("a memory behind a cache has wait_states = 0: its time is the cache's miss_cycles")
        return self


class TableMemory(_ProfileTable):
    """A memory of their own for constant tables, as one that engines share: a load from it is answered after
    1 + ``wait_states`` cycles. Its bytes are limited by ``limits.table_bytes``; in the emulated engine's address space
    they lie in the data memory, whose size must hold them."""

    wait_states: Annotated[int, Field(ge=0, le=255)]
    """Additional cycles of a load."""
    reason: Reason
    """Source of the timing, free text."""


class EngineLimits(_ProfileTable):
    """Limits of the engine for a policy: bytes of context a flow, of stack, of code, of constant tables."""

    context_bytes: Annotated[int, Field(ge=4, le=65536, multiple_of=4)]
    """Maximum context size, bytes per agent."""
    stack_bytes: Annotated[int, Field(ge=16, le=65536, multiple_of=16)]
    """Maximum stack size, bytes."""
    code_bytes: Annotated[int, Field(ge=64, le=16 * 1024 * 1024)]
    """Maximum code size, bytes."""
    table_bytes: Annotated[int, Field(ge=0, le=16 * 1024 * 1024)]
    """Maximum size of constant tables, bytes."""
    reason: Reason
    """Source of the limits, free text."""


class Profile(_ProfileTable):
    """An engine. ``proxy_for``: the real device that it stands for without being it; such a name ends in ``-proxy``.

    Without a ``table_memory`` constant tables lie in the data memory.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    """Name of the profile."""
    proxy_for: str | None = None
    """Device that the engine stands for without being it."""
    core: Core
    clock: Clock
    instruction_memory: EngineMemory
    data_memory: EngineMemory
    table_memory: TableMemory | None = None
    limits: EngineLimits

    @model_validator(mode="after")
    def _fits(self) -> "Profile":
        if self.limits.stack_bytes >= self.data_memory.bytes:
            raise ValueError(
                f"limits.stack_bytes = {self.limits.stack_bytes} must be below "
                f"data_memory.bytes = {self.data_memory.bytes}"
            )
        if self.limits.code_bytes > self.instruction_memory.bytes:
            raise ValueError(
                f"limits.code_bytes = {self.limits.code_bytes} must not be above "
                f"instruction_memory.bytes = {self.instruction_memory.bytes}"
            )
        if self.table_memory is None and self.limits.table_bytes > self.data_memory.bytes:
            raise ValueError(
                f"limits.table_bytes = {self.limits.table_bytes} must not be above "
                f"data_memory.bytes = {self.data_memory.bytes}"
            )
        core, data = self.core, self.data_memory
        waits = bool(data.wait_states or data.cache or self.table_memory)
        if isinstance(core, IbexCore) and core.writeback_stage and not core.branch_target_alu and waits:
            # Seen beside the simulator: "lw t0, 0(a1); bnez sp, target" goes elsewhere, in the RTL itself.
            raise ValueError(
                "an Ibex with writeback_stage and without branch_target_alu jumps to wrong places behind a data access "
                "that waits: it needs data_memory.wait_states = 0, no cache and no table_memory"
            )
        own = isinstance(self.core, Cva6Core)
        for name, memory in (("instruction_memory", self.instruction_memory), ("data_memory", self.data_memory)):
            if own and memory.cache is not None:
                raise ValueError(f"a {self.core.kind} has caches of its own: {name} has none before it")
            if own != (memory.first_wait_states is not None):
                raise ValueError(f"{name}.first_wait_states is for a core with caches of its own, which needs it")
        if self.table_memory is not None and (own or self.data_memory.cache is not None):
            raise ValueError("table_memory is for an engine without a cache before its data")
        if self.name.endswith("-proxy") != (self.proxy_for is not None):
            raise ValueError('a profile with proxy_for, and no other, has a name that ends in "-proxy"')
        return self

    def meaning(self) -> dict[str, Any]:
        """Returns the profile as plain data without its reasons: two with the same meaning are the same engine."""
        parts = ("core", "clock", "instruction_memory", "data_memory", "table_memory", "limits")
        reasons = {part: {"reason"} for part in parts}
        return self.model_dump(mode="json", exclude=reasons, exclude_none=True)

    def hash(self) -> str:
        """SHA-256 over the profile's meaning (not its reasons, comments or layout)."""
        text = json.dumps(self.meaning(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def label(self) -> str:
        """The name, with the hash where this is not the profile of that name that comes with rlcc."""
        shipped = self.name in profile_names() and load_profile(self.name).meaning() == self.meaning()
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
                f"or give the path of a .toml file{meant(text, profile_names())}"
            )
    return load_toml(Profile, path)
