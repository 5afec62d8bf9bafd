"""Device files: the contexts, events, delays, rounding and jitter of a card, as data, one file a device.

    [contexts.flows]
    value = 16
    evidence = "measured"       # documented, measured, or declared: nobody has looked
    source = "..."

Every value has its evidence class and its source, in the file itself. The stand-ins of the adapters' tests, the network
(`netsim.devices`), the gate and the training read the same file. ``ideal`` is a device that changes nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from decision.artefact.documents import Format1, load_toml
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationNs, DurationPs
from decision.artefact.suggest import choices

FOLDER = Path(__file__).resolve().parent
MOST_FLOWS = 4096
"""That may share a context."""

TRANSPORTS = ("go-back-n", "selective-repeat")
"""Repairs of losses."""

T = TypeVar("T")
Evidence = Literal["documented", "measured", "declared"]


class _DeviceTable(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Fact(_DeviceTable, Generic[T]):
    """A value, how it is known, and by whom or where: ``documented`` by who makes the device, ``measured`` on one, or
    ``declared``, which is an assumption."""

    value: T
    evidence: Evidence
    source: Annotated[str, Field(min_length=8, max_length=400)]


Share = Annotated[float, Field(ge=0, lt=1, strict=False)]
Count = Annotated[int, Field(strict=True, ge=1)]
Transport = Literal["go-back-n", "selective-repeat"]
Names = Annotated[list[str], Field(max_length=32)]


class SharedContexts(_DeviceTable):
    """``flows``: queue pairs that share one context, and so one rate; ``bytes``: that the device keeps of it."""

    flows: Fact[Annotated[int, Field(strict=True, ge=1, le=MOST_FLOWS)]]
    bytes: Fact[Count]


class Events(_DeviceTable):
    """Events that an algorithm receives.

    - ``types``, ``fields``: names of the events and of their fields
    - ``interleaved``: events of one context come on several threads, so no decision may rest on shared memory
    - ``jitter``: largest delay of a response's timestamp; delays are uniform from 0
    - ``loss``: share of the responses that never become an event
    """

    types: Fact[Names]
    fields: Fact[Names]
    interleaved: Fact[Annotated[bool, Field(strict=True)]]
    jitter: Fact[DurationPs]
    loss: Fact[Share]


class Rates(_DeviceTable):
    """``bits``: fraction bits of the rate word; ``offset``: share of a rate that is missing on the wire; ``least``: the
    lowest word that the wire still carries; ``actuation``: from the algorithm's answer until the rate holds."""

    bits: Fact[Annotated[int, Field(strict=True, ge=8, le=30)]]
    offset: Fact[Share]
    least: Fact[Annotated[int, Field(strict=True, ge=1, le=2**20)]]
    actuation: Fact[DurationNs]


class ProbeSchedule(_DeviceTable):
    """``a_context``: flows of one context have one request under way between them; else each has its own."""

    a_context: Fact[Annotated[bool, Field(strict=True)]]


class Device(_DeviceTable):
    """A device file. ``transport``: the repairs of losses that it has, its default first."""

    format: Format1
    title: Annotated[str, Field(min_length=4, max_length=120)]
    contexts: SharedContexts
    events: Events
    rates: Rates
    probes: ProbeSchedule
    transport: Fact[Annotated[list[Transport], Field(min_length=1, max_length=2)]]

    @field_validator("rates")
    @classmethod
    def _floor(cls, rates: Rates) -> Rates:
        if rates.least.value > 1 << rates.bits.value:
            raise ValueError("least is a rate word, and above line rate; give one of at most 2^bits")
        return rates

    def facts(self) -> Iterator[tuple[str, Fact[Any]]]:
        """Returns every value by its key, in the order of the file."""
        for table in ("contexts", "events", "rates", "probes"):
            part = getattr(self, table)
            for name in type(part).model_fields:
                yield f"{table}.{name}", getattr(part, name)
        yield "transport", self.transport


def names() -> list[str]:
    """Returns the devices that come along, in the order of their names."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_device(name: str) -> Device:
    """Returns a device by its name or its TOML file. InputError where there is none, or a value lacks its evidence."""
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    if path.parent == FOLDER and path.stem not in names():
        raise InputError(f"there is no device {name!r}; choose {choices(name, names())}, or give a TOML file")
    return load_toml(Device, path)
