"""Device files: the contexts, events, delays, rounding and jitter of a card, as data, one file a device.

    [contexts.flows]
    value = 16
    evidence = "measured"       # documented, measured, or declared: nobody has looked
    source = "..."

A file that ``extends`` a device has the values that differ, each with its own evidence; the others are those of that
device. Every value has its evidence class and its source, in the file itself. The stand-ins of the adapters' tests,
the network (`netsim.devices`), the gate and the training read the same file. ``ideal`` is a device that changes
nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, field_validator, model_validator

from decision.artefact.documents import Format1, read_bytes, toml_tables, validate
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationNs, DurationPs
from decision.artefact.strict import Strict
from decision.artefact.suggest import choices

FOLDER = Path(__file__).resolve().parent
MAX_FLOWS = 4096
"""That may share a context."""

TRANSPORTS = ("go-back-n", "selective-repeat")
"""Repairs of losses."""

T = TypeVar("T")
Evidence = Literal["documented", "measured", "declared"]


class Fact(Strict, Generic[T]):
    """A value, how it is known, and by whom or where: ``documented`` by who makes the device, ``measured`` on one, or
    ``declared``, which is an assumption."""

    value: T
    evidence: Evidence
    source: Annotated[str, Field(min_length=8, max_length=400)]


Share = Annotated[float, Field(ge=0, lt=1, strict=False)]
Count = Annotated[int, Field(strict=True, ge=1)]
Transport = Literal["go-back-n", "selective-repeat"]
Names = Annotated[list[str], Field(max_length=32)]


class SharedContexts(Strict):
    """``flows``: queue pairs that share one context, and so one rate; ``bytes``: that the device keeps of it."""

    flows: Fact[Annotated[int, Field(strict=True, ge=1, le=MAX_FLOWS)]]
    bytes: Fact[Count]


class Events(Strict):
    """Events that an algorithm receives.

    - ``types``, ``fields``: names of the events and of their fields
    - ``interleaved``: events of one context come on several threads, so no decision may rest on shared memory
    - ``jitter``: largest delay of a response's timestamp; delays are uniform from 0
    - ``loss``: share of the responses that never become an event
    - ``reorder``: share of the responses whose event comes late, so that later ones overtake it; only of a device whose
      threads interleave. Time stamps stay
    - ``reorder_by``: largest delay of these events; delays are uniform from 0
    """

    types: Fact[Names]
    fields: Fact[Names]
    interleaved: Fact[Annotated[bool, Field(strict=True)]]
    jitter: Fact[DurationPs]
    loss: Fact[Share]
    reorder: Fact[Share]
    reorder_by: Fact[DurationPs]

    @model_validator(mode="after")
    def _order(self) -> "Events":
        if self.reorder.value and not self.interleaved.value:
            raise ValueError("a device that reorders events handles them on several threads; set interleaved to true")
        if (self.reorder.value > 0) != (self.reorder_by.value > 0):
            raise ValueError("reorder is a share of events and reorder_by their delay; give both above 0, or both 0")
        return self


class Rates(Strict):
    """``bits``: fraction bits of the rate word; ``offset``: share of a rate that is missing on the wire; ``least``: the
    lowest word that the wire still carries; ``actuation``: from the algorithm's answer until the rate holds."""

    bits: Fact[Annotated[int, Field(strict=True, ge=8, le=30)]]
    offset: Fact[Share]
    least: Fact[Annotated[int, Field(strict=True, ge=1, le=2**20)]]
    actuation: Fact[DurationNs]


class ProbeSchedule(Strict):
    """``a_context``: flows of one context have one request under way between them; else each has its own."""

    a_context: Fact[Annotated[bool, Field(strict=True)]]


class Device(Strict):
    """A device file. ``extends``: the device whose values hold where the file has none; ``transport``: the repairs of
    losses that it has, its default first."""

    format: Format1
    extends: str | None = None
    """Device whose values hold where the file has none."""
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
    return validate(Device, _tables(path), str(path))


def _tables(path: Path) -> dict[str, Any]:
    """Returns the file's tables over those of the device that it extends: a fact is taken whole or not at all."""
    tables = toml_tables(read_bytes(path), str(path))
    base = tables.get("extends")
    if base is None:
        return tables
    if base not in names() or path == FOLDER / f"{base}.toml":
        raise InputError(
            f"{path}: extends: there is no device {base!r} to extend; choose {choices(str(base), names())}"
        )
    below = toml_tables(read_bytes(FOLDER / f"{base}.toml"), str(base))
    if "extends" in below:
        raise InputError(f"{path}: extends: {base} extends {below['extends']} itself; extend {below['extends']}")
    for name, table in tables.items():
        both = isinstance(table, dict) and "value" not in table and isinstance(below.get(name), dict)
        below[name] = {**below[name], **table} if both else table
    return below
