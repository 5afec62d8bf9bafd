"""How a network's input was laid out where it was trained: `[input]` of policy.toml (folding: teachers/folding.py).

order = "oldest_first"                              # of the window's decisions; needed where there is more than one
columns = ["rtt_inflation", "previous_action", 0.5] # of one decision: features, each once, and constants
offset = 0.0                                        # the network took (value - offset) * scale: a number, a list of
scale = 1.0                                         # one a column, or of one a column of each decision
clip = 10.0                                         # the network took no more than this of it, on either side
vec_normalize = "vec_normalize.pkl"                 # offset, scale and clip as VecNormalize saved them; "none"
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from decision.artefact.strict import Strict

Number = Annotated[float, Field(strict=False, allow_inf_nan=False)]
Numbers = Number | Annotated[list[Number], Field(min_length=1, max_length=4096)]


NOT_NORMALIZED = "none"


def spread(values: Numbers, columns: int, window: int) -> list[float]:
    """A number of every column of a row of ``window`` decisions."""
    if not isinstance(values, list):
        return [values] * (columns * window)
    return values if len(values) == columns * window else values * window


class InputLayout(Strict):
    """`[input]`; what is left out is as rlcc has it. ValueErrors name a key."""

    order: Literal["newest_first", "oldest_first"] | None = None
    """Order of the window's decisions in a row."""
    columns: list[str | float] | None = Field(default=None, min_length=1, max_length=256)
    """Columns of one decision: features by name, and constants."""
    offset: Numbers = 0.0
    """Offset: the network takes (value - offset) x scale."""
    scale: Numbers = 1.0
    """Factor behind the offset."""
    clip: float | None = Field(default=None, gt=0)
    """Limit of the scaled value, on both sides."""
    vec_normalize: str | None = Field(default=None, min_length=1, max_length=1024)
    """File in which VecNormalize saved offset, scale and clip, or "none"."""

    @model_validator(mode="after")
    def _said_once(self) -> "InputLayout":
        both = {"offset", "scale", "clip"} & self.model_fields_set
        if self.vec_normalize not in (None, NOT_NORMALIZED) and both:
            raise ValueError(f"input.vec_normalize names the file that has {min(both)}; leave one of them out")
        return self

    @property
    def statistics(self) -> str | None:
        """The file of VecNormalize, where one is named."""
        return None if self.vec_normalize == NOT_NORMALIZED else self.vec_normalize

    def columns_of(self, names: list[str]) -> list[str | float]:
        """Returns the columns of one decision, in the network's order, if the observation has features of these
        names."""
        return list(names) if self.columns is None else list(self.columns)

    def check(self, names: list[str], window: int) -> None:
        """ValueError where the layout is left open and a choice changes the result, or does not fit."""
        if self.order is None and window > 1:
            raise ValueError(
                f"input.order is missing; say in [input] how the {window} decisions of a row stand: "
                'order = "newest_first" (as rlcc has them) or "oldest_first"'
            )
        told = [column for column in self.columns_of(names) if isinstance(column, str)]
        for name in told:
            if name not in names:
                raise ValueError(f"input.columns: {name} is no feature of [observation], which has {', '.join(names)}")
            if told.count(name) > 1:
                raise ValueError(f"input.columns: {name} stands twice")
        if missing := [name for name in names if name not in told]:
            raise ValueError(f"input.columns: {', '.join(missing)} of [observation] is missing")
        columns = len(self.columns_of(names))
        for key, values in (("offset", self.offset), ("scale", self.scale)):
            if isinstance(values, list) and len(values) not in (columns, columns * window):
                raise ValueError(
                    f"input.{key} has {len(values)} numbers; give one, {columns} (a column each) or "
                    f"{columns * window} (a column of each decision)"
                )
        if self.scale == 0 or (isinstance(self.scale, list) and 0 in self.scale):
            raise ValueError("input.scale is 0, which takes a column from the network; give a constant in columns")
