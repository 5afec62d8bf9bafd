"""Settings of all tests, rlcc's and the lab book's: reproducible Hypothesis runs, one compute thread a process (xdist
uses the cores)."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by torch and the BLAS when they are first imported

from hypothesis import HealthCheck, settings

import teachers.mkl  # noqa: F401 - before any test imports torch

# Deadlines measure the machine, not the code. Derandomised: a run fails or passes for all alike; `-m slow` tests and
# HYPOTHESIS_PROFILE=explore look further.
settings.register_profile("same", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
