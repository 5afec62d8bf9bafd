"""Simulations of earlier runs, in the user's cache folder: what gave certain metrics gives them again.

A file each, named by the hash of all that determines the outcome: policies, network, scenario, seed, the compiled
simulator, NumPy's version (netsim.trials.Trial.key). A file there is believed, as those of check_cache are.
"""

from contextlib import suppress

from decision.artefact.cache import cache_folder
from decision.artefact.errors import InputError
from netsim.build import simulator_hash
from netsim.result_store import Kept, Outcome

FOLDER = "networks"


class NetworkCache(Kept):
    """Metrics and samples. Recorded decisions are large, and are not kept. ``made``: outcomes that were saved in this
    process, which need no file and do not count as reused. ``stored`` False: it has these alone."""

    def __init__(self, *, stored: bool = True) -> None:
        super().__init__(cache_folder() / FOLDER)
        self.stored = stored
        self.made: dict[str, Outcome] = {}
        simulator_hash()  # kept for the process: of the files that it has loaded, before they can change

    def load(self, key: str) -> Outcome | None:
        return self.made.get(key) or (self.read(key) if self.stored else None)

    def save(self, key: str, outcome: Outcome) -> None:
        if not outcome.records:
            self.made[key] = outcome
            if self.stored:
                self.write(key, outcome)

    def read(self, key: str) -> Outcome | None:
        """Returns the outcome of an earlier process."""
        return super().load(key)

    def write(self, key: str, outcome: Outcome) -> None:
        """A cache that cannot be written costs time, no more."""
        with suppress(OSError, InputError):
            super().save(key, outcome)
