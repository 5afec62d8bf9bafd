"""Which simulator this is. Machines whose builds are equal give a trial the same bytes."""

from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from decision.artefact.manifest import sha256
from decision.artefact.sources import package_hash
from netsim import _core


@dataclass(frozen=True)
class Build:
    """``code``: over what decides, simulates and emulates. ``compiler``: of firmware that an
    emulated core runs in the network; empty where none is installed, and then none does."""

    code: str
    numpy: str
    compiler: str

    def __str__(self) -> str:
        compiler = f", ziglang {self.compiler}" if self.compiler else ""
        return f"{self.code[:12]} (numpy {self.numpy}{compiler})"

    def agrees_with(self, other: "Build") -> bool:
        compilers = {self.compiler, other.compiler} - {""}
        return replace(self, compiler="") == replace(other, compiler="") and len(compilers) < 2


def simulator_hash() -> str:
    """Over the simulator's own files, and those of the decisions that it makes."""
    folder = Path(__file__).parent
    return package_hash(folder.parent / "decision", folder, Path(_core.__file__))


@cache
def build() -> Build:
    """Returns the build of this machine."""
    root, compiled = Path(__file__).parents[1], Path(_core.__file__).parents[1]
    emulator = package_hash(root / "emulator", *sorted((compiled / "emulator").glob("_fast*.so")))
    core_in_the_loop = package_hash(root / "rlcc" / "core_policy.py")
    return Build(
        code=sha256("\n".join([simulator_hash(), emulator, core_in_the_loop]).encode()),
        numpy=np.__version__,
        compiler=version("ziglang") if find_spec("ziglang") else "",
    )
