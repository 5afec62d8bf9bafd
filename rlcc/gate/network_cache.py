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
    """Metrics and samples. Recorded decisions are large, and are not stored."""

    def __init__(self) -> None:
        super().__init__(cache_folder() / FOLDER)
        simulator_hash()  # kept for the process: of the files that it has loaded, before they can change

    def save(self, key: str, outcome: Outcome) -> None:
        """A cache that cannot be written costs time, no more."""
        if not outcome.records:
            with suppress(OSError, InputError):
                super().save(key, outcome)
