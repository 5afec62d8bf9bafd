"""Settings of all tests, rlcc's and the lab book's: reproducible Hypothesis runs, one compute thread a process (xdist
uses the cores), one cache of the pinned clang.

The fast suite simulates in its own processes: for runs of milliseconds each process more would start Python and NumPy
again. `make test-slow` takes as many as a user's command does; a test that is about processes says how many.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by torch and the BLAS when they are first imported

from hypothesis import HealthCheck, settings

import teachers.mkl  # noqa: F401 - before any test imports torch
from decision.artefact.cache import cache_folder

# Tests that start zig themselves find the runtimes (30 CPU s to build) that rlcc has built for its own runs.
os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(cache_folder() / "zig"))

PROFILES = {"same": 21, "wide": 100, "explore": 2000}
"""Examples of a property that names no number. ``make test`` takes ``same``, ``make test-slow`` takes ``wide``.
Four broken passes over trees are found by the seventh example at the latest: ``same`` has three times as many."""
SHARE = 4
"""Share of a property's own number that ``same`` draws: a quarter of it."""
FEWEST = 8
"""Examples that ``same`` draws at least, where a property names as many and no smaller number."""

# Deadlines measure the machine, not the code. Derandomised: a run fails or passes for all alike; ``explore`` looks
# further at each run.
for name, number in PROFILES.items():
    settings.register_profile(
        name,
        deadline=None,
        derandomize=name != "explore",
        max_examples=number,
        suppress_health_check=[HealthCheck.too_slow],
    )
profile = os.environ.get("HYPOTHESIS_PROFILE", "same")
settings.load_profile(profile)
if profile == "same":
    os.environ.setdefault("PYTHON_CPU_COUNT", "1")


def examples(number: int, fewest: int = FEWEST) -> int:
    """Returns how many examples a property with a number of its own draws in this run; in the fast suite a quarter of
    them, but ``fewest`` at least."""
    return number if profile != "same" else min(number, max(fewest, number // SHARE))
