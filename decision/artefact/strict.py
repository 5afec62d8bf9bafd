"""The base of each table that a person or another tool may have written."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Refuses unknown keys, infinities and NaN; not changed once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
