"""A suite: cells that a policy is judged in and the baselines that it is set beside, as a file that a person reads.

    load("quick")                 a file of rlcc/evaluation/suites
    load("my-suite.toml")         one of your own

Cells that are measured at the same time in the same network stand together. A network that differs from the default
one is written as for `rlcc evaluate --network`, and its `label` tells its cells from others of the same traffic. Cells
that are held out of tuning say so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from decision.artefact.documents import Format1, load_toml
from decision.artefact.errors import InputError
from decision.artefact.quantity_fields import DurationPs
from decision.artefact.strict import Strict
from decision.artefact.suggest import choices, meant
from decision.policy.policy import POLICY_NAME
from netsim import baselines
from netsim.network import LATEST_PS, Network
from netsim.network_file import from_table
from rlcc.evaluation.grid import Cell, Times

FOLDER = Path(__file__).parent / "suites"


class SuiteCells(Strict):
    """Traffic by name, measured ``window`` (from, to) of ``duration``, in the default network but for ``network``.

    ``held_out``: nothing may be tuned, trained or chosen by these cells; they are only reported.
    """

    scenarios: list[str] = Field(min_length=1)
    """Traffic by name."""
    duration: DurationPs
    """Duration of each run."""
    window: tuple[DurationPs, DurationPs]
    """Measured part of each run, from its start."""
    label: str = ""
    """Name of the cells on the page."""
    network: dict[str, Any] = Field(default={})
    """Keys of the network that differ from the default."""
    held_out: bool = False
    """Whether the cells are only reported, and nothing is tuned by them."""

    @model_validator(mode="after")
    def _times(self) -> "SuiteCells":
        begin, end = self.window
        if not 0 <= begin < end <= self.duration <= LATEST_PS:
            raise ValueError("the window must lie within the duration, which is at most 100 s")
        return self


class Suite(Strict):
    """``yardstick``: an ideal beside the baselines, shown and not judged by."""

    format: Format1
    """Format version of the file."""
    name: str = Field(pattern=POLICY_NAME)
    """Name of the suite."""
    seeds: list[int] = Field(min_length=2)  # one alone says nothing of what is chance
    """Seeds; one run per contender, cell and seed."""
    baselines: list[str] = Field(min_length=1)
    """Baselines that a policy is compared with."""
    yardstick: str
    """Ideal that is shown and not judged by."""
    cells: list[SuiteCells] = Field(min_length=1)

    @model_validator(mode="after")
    def _names(self) -> "Suite":
        for name in (*self.baselines, self.yardstick):
            if name not in baselines.names():
                known = baselines.names()
                raise ValueError(f"there is no baseline {name!r}; the names are {choices(name, known)}")
        if min(self.seeds) < 0 or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("seeds must differ and not be negative")
        return self


def load(name: str) -> Suite:
    """A suite by its name or the path of its file; InputError names the key and what is wrong with it."""
    path = Path(name)
    if path.suffix != ".toml":
        path = FOLDER / f"{name}.toml"
        if not path.is_file():
            known = sorted(p.stem for p in FOLDER.glob("*.toml"))
            there = f"choose {', '.join(known)}, or the path of a TOML file{meant(name, known)}"
            raise InputError(f"there is no suite {name!r}; {there}")
    return load_toml(Suite, path)


def cells(suite: Suite) -> tuple[Cell, ...]:
    """Each cell under a name of its own; InputError where two would have the same."""
    made = tuple(cell for group in suite.cells for cell in _of(group, suite.name))
    names = [cell.name for cell in made]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"suite {suite.name}: two cells are called {name!r}; give one of them a label")
    return made


def _of(group: SuiteCells, suite: str) -> Iterator[Cell]:
    network = from_table(group.network, f"suite {suite}") if group.network else Network()
    for scenario in group.scenarios:
        name = f"{scenario}, {group.label}" if group.label else scenario
        yield Cell(name, scenario, Times(group.duration, group.window), network, held_out=group.held_out)
