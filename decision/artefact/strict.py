"""The base of each table that a person or another tool may have written."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Refuses unknown keys, infinities and NaN; not changed once read."""

    # A validator is built when it is first used: a command uses few of some 150, and starts in a sixth less CPU time.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)
