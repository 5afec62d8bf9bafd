"""The vocabulary: what `[[property]]` of a TOML file may ask of a policy.

    format = 1
    [[property]]
    kind = "monotone"          # more of a feature never raises the multiplier; `feature` absent: each that is seen
    [[property]]
    kind = "step"              # the multiplier lies within
    at_least = 0.8
    at_most = 1.2
    [[property]]
    kind = "no_cycle"          # at constant features the multiplier does not go round in circles of up to `length`
    length = 8
    [[property]]
    kind = "no_rise_above"     # at this rate and above this inflation the rate never rises
    rate = "0.015625 line"
    inflation = 3.0
    [[property]]
    kind = "recovers"          # uncongested, from the lowest rate to the highest in at most so many decisions
    decisions = 100
    [[property]]
    kind = "yields"            # from the highest rate to this one at such an inflation, in at most so many decisions
    inflation = 16.0
    to = "0.0001220703125 line"
    decisions = 80
    [[property]]
    kind = "fixed_point"       # of N flows: inflation within so much (a part of it) of target * sqrt(N) + beta
    flows = [2, 8192]
    within = 0.1
    [[property]]
    kind = "ascending"         # a knob that may not lie below another (thresholds of queues) never does

Without its limit (at_least, at_most, inflation of no_rise_above, decisions, within) a property asks for the least that
holds.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, field_validator

from decision.artefact.documents import Format1, load_json, load_toml, validate
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import LineFractionQ30
from decision.artefact.strict import Strict


class _PropertyTable(Strict):
    model_config = ConfigDict(validate_default=True)


class Monotone(_PropertyTable):
    kind: Literal["monotone"] = "monotone"
    feature: str | None = None
    """Feature of the student; by default each one that it sees."""


class Step(_PropertyTable):
    kind: Literal["step"] = "step"
    at_least: float | None = Field(default=None, ge=0)
    """Lowest multiplier of the rate."""
    at_most: float | None = Field(default=None, ge=0)
    """Highest multiplier of the rate."""


class NoCycle(_PropertyTable):
    kind: Literal["no_cycle"] = "no_cycle"
    length: int = Field(default=8, ge=2, le=4096)
    """Longest cycle to exclude, decisions."""


class NoRiseAbove(_PropertyTable):
    kind: Literal["no_rise_above"] = "no_rise_above"
    rate: LineFractionQ30 = Field(default="1 line")  # type: ignore[assignment]  # validated
    """Rate of the flow."""
    inflation: float | None = Field(default=None, ge=1, le=2**14)
    """Inflation above which the rate must not rise."""


class Recovers(_PropertyTable):
    kind: Literal["recovers"] = "recovers"
    decisions: int | None = Field(default=None, ge=1)
    """Maximum number of decisions from the lowest rate to the highest at the base RTT."""


class Yields(_PropertyTable):
    kind: Literal["yields"] = "yields"
    inflation: float = Field(default=16.0, ge=1, le=2**14)
    """Inflation that the flow sees."""
    to: LineFractionQ30 = Field(default="0.0001220703125 line")  # type: ignore[assignment]  # 1/8192, validated
    """Rate that the flow must reach from its highest rate."""
    decisions: int | None = Field(default=None, ge=1)
    """Maximum number of decisions."""


class FixedPoint(_PropertyTable):
    kind: Literal["fixed_point"] = "fixed_point"
    flows: tuple[int, int] = (2, 8192)
    """Lowest and highest number of equal flows."""
    within: float | None = Field(default=None, gt=0)
    """Maximum relative difference from the theory's RTT; 0.5 is ±50 %."""

    @field_validator("flows")
    @classmethod
    def _ordered(cls, flows: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= flows[0] <= flows[1] <= 1 << 20:
            raise ValueError(f"{list(flows)} is no range of flows within 1 and 2^20")
        return flows


class Ascending(_PropertyTable):
    kind: Literal["ascending"] = "ascending"


Property = Annotated[
    Monotone | Step | NoCycle | NoRiseAbove | Recovers | Yields | FixedPoint | Ascending, Field(discriminator="kind")
]


class Properties(_PropertyTable):
    """A file of them."""

    format: Format1
    """Format version of the file."""
    property: list[Property] = Field(min_length=1, max_length=256)


ALL = Properties(
    format=1,
    property=[
        Monotone(),
        Step(),
        NoCycle(),
        *(NoRiseAbove(rate=rate) for rate in ("1 line", "0.015625 line", "0.0001220703125 line")),  # type: ignore[arg-type]
        Recovers(),
        Yields(),
        FixedPoint(),
    ],
)
"""One of each kind that is of a rate, without a limit where there can be none."""


def load_properties(path: Path) -> Properties:
    """Read and check a TOML file, or what a certificate (.json) claims. InputError names the key and what is wrong."""
    if path.suffix != ".json":
        return load_toml(Properties, path)
    data = load_json(path)
    claims = data.get("behaviour") if isinstance(data, dict) else None
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims):
        raise InputError(f"{path} is no certificate that claims properties; give one, or a TOML file of properties")
    return validate(Properties, {"format": 1, "property": [claim.get("asked") for claim in claims]}, str(path))
