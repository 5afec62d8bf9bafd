"""Options of a comparison in netsim: how long, on which engines and devices, which columns."""

from typing import Annotated

from pydantic import Field

from decision.artefact.option_help import Shown
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.strict import Strict
from netsim.engines import MAX_ENGINES, UNLIMITED, Overload


class EvaluateOptions(Strict):
    """Options of `rlcc evaluate`. None: what netsim, a suite or the device says."""

    suite: str | None = Field(
        default=None,
        description="Suite: quick, full, families or a TOML file. Writes a page that ranks the policies.",
    )
    duration: Annotated[DurationPs | None, Shown(default="200 ms")] = Field(
        default=None, description="Duration of each run; measured from 25 % to 85 %."
    )
    decision_latency: DurationPs | None = Field(default=None, description="Decision latency, unless given by @LATENCY.")
    engines: Annotated[int | None, Shown(default="one per flow")] = Field(
        default=None, ge=1, le=MAX_ENGINES, description="Engines per NIC; decisions queue for them."
    )
    engine_queue: int | None = Field(default=None, ge=0, lt=UNLIMITED, description="Queue length of an engine, events.")
    overload: Annotated[Overload | None, Shown(default="wait")] = Field(
        default=None, description="Policy for events at a busy engine."
    )
    device: str | None = Field(
        default=None, description="Device of the NICs, NAME[:FLOWS]: decision/devices, FLOWS share a context."
    )
    transport: Annotated[str | None, Shown(default="the device's")] = Field(
        default=None, description="Repair of losses: go-back-n or selective-repeat."
    )
    metrics: Annotated[list[str], Shown(default="a selection")] = Field(default=[], description="Column of the table.")
