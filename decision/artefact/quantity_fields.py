"""Fields of models that are quantities with units. Apart from decision.artefact.quantity, because a command line reads
quantities without pydantic.
"""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from decision.artefact.errors import InputError
from decision.artefact.quantity import (
    parse_duration_ns,
    parse_duration_ps,
    parse_line_fraction_q30,
    parse_rate_bps,
    parse_size_bytes,
)


def _reading(reader: Callable[[object], int]) -> BeforeValidator:
    def validate(value: Any) -> int:
        try:
            return reader(value)
        except InputError as error:
            raise ValueError(str(error)) from None

    return BeforeValidator(validate)


# They read a quantity with its unit and write it so that reading it gives the same integer.
DurationPs = Annotated[int, _reading(parse_duration_ps), PlainSerializer(lambda v: f"{v} ps")]
DurationNs = Annotated[int, _reading(parse_duration_ns), PlainSerializer(lambda v: f"{v} ns")]
SizeBytes = Annotated[int, _reading(parse_size_bytes), PlainSerializer(lambda v: f"{v} B")]
RateBps = Annotated[int, _reading(parse_rate_bps), PlainSerializer(lambda v: f"{v} b/s")]
LineFractionQ30 = Annotated[int, _reading(parse_line_fraction_q30), PlainSerializer(lambda v: f"{v / 2**30!r} line")]
