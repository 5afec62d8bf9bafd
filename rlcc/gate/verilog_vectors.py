"""Vectors in Verilog: run by Verilator, unless the same test bench passed with the same vectors here before."""

from collections.abc import Callable

from decision.artefact.manifest import Opened, sha256
from decision.artefact.sources import imported, package_hash
from emulator.firmware import VECTORS, prefix_of, under
from rlcc.gate.check_cache import ROOT, Remembered
from verify.rtl.simulate import BENCH, FOLDER, MODULE, simulate

KIND = "simulation"
SEED = 1
"""Of the clocks in which the test bench withholds valid and ready."""


def differing_vectors(firmware: Opened, say: Callable[[str], None], remembered: Remembered) -> tuple[int, int]:
    """Returns how many vectors differ, and how many there are. InputError where a tool fails."""
    names = (*(f"{FOLDER}/{under(prefix_of(firmware), name)}" for name in (MODULE, BENCH)), VECTORS)
    count = firmware.details["vectors"]
    parts = {name: sha256(firmware.content(name)) for name in names} | {"vectors": count, "seed": SEED}
    parts["code"] = package_hash(*imported([__name__], ROOT))
    if remembered.holds(KIND, parts):
        return 0, count
    say("vectors in logic")
    run = simulate(firmware, seed=SEED)
    if (run.differing, run.vectors) == (0, count):
        remembered.keep(KIND, parts)
    return run.differing, run.vectors
