"""Which pydantic writes what this rlcc reads: with an older one the same artefact would have other bytes."""

import pydantic

from decision.artefact.errors import InputError

MIN_VERSION = (2, 12, 2)
"""Versions before 2.12 do not know ``exclude_if``, and write what is to be left out; 2.12.0 warns of every union."""


def check(version: str) -> None:
    """InputError for a version below ``MIN_VERSION``."""
    numbers = tuple(int("".join(filter(str.isdigit, part)) or 0) for part in version.split(".")[:3])
    if numbers < MIN_VERSION:
        least = ".".join(map(str, MIN_VERSION))
        raise InputError(f"pydantic {version} would write other files than rlcc reads; pip install 'pydantic>={least}'")


check(pydantic.VERSION)
