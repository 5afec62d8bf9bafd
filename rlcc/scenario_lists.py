"""Lists of scenarios that recipes call by a name, as a file that a person reads (scenario_lists.toml)."""

import tomllib
from pathlib import Path

from decision.artefact.suggest import meant

FILE = Path(__file__).with_suffix(".toml")


def listed(scenarios: object) -> object:
    """The list of that name; what is no text is left as it is. ValueError names those there are."""
    if not isinstance(scenarios, str):
        return scenarios
    lists = tomllib.loads(FILE.read_text())
    if scenarios not in lists:
        there = f"choose {', '.join(lists)}, or give a list{meant(scenarios, lists)}"
        raise ValueError(f"there is no list {scenarios!r} of scenarios; {there}")
    return lists[scenarios]
