"""Parts of a core, as Verilator takes them; each kind of core has a folder next to this file that lists them."""

import os
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from decision.artefact.errors import InputError
from decision.artefact.extras import package_folder

MEMORY_PORT = Path(__file__).resolve().parent.parent / "rtl" / "rlcc_memory_port.sv"
"""A memory with its latency, which the tops of the simple cores share."""


@dataclass(frozen=True)
class Rtl:
    """A core's RTL and our top around it. Every top has the ports of emulator/verilated/ibex/rlcc_ibex.sv.

    ``sources`` are given to Verilator in this order, before our own files; what they instantiate is found in
    ``libraries``, what they include in ``includes``. ``own_cache``: the core keeps instructions or data in a cache of
    its own, which only a reset empties.
    """

    name: str
    top: str
    ours: tuple[Path, ...]
    sources: tuple[Path, ...]
    libraries: tuple[Path, ...] = ()
    includes: tuple[Path, ...] = ()
    parameters: tuple[str, ...] = ()  # of the top, as -GNAME=VALUE
    flags: tuple[str, ...] = ()  # more options of Verilator
    bench: str = "engine.hpp"  # of emulator/bench: the class Engine
    own_cache: bool = False

    def hashed(self) -> list[Path]:
        """All files of others that may go into the model."""
        folders = (*self.libraries, *self.includes)
        return [*self.sources, *(path for folder in folders for path in _verilog(folder))]


def _verilog(folder: Path) -> list[Path]:
    """The files *.*v* of a folder in the order of their names."""
    if not folder.is_dir():
        return []
    with os.scandir(folder) as entries:
        return [
            folder / name for name in sorted(e.name for e in entries if fnmatchcase(e.name, "*.*v*") and e.is_file())
        ]


def core_folder(kind: str) -> Path:
    """The wheel pythondata-cpu-KIND, which comes with the extra ``cores``."""
    return package_folder(f"pythondata_cpu_{kind}")


def complete(name: str, distribution: str, files: tuple[Path, ...]) -> tuple[Path, ...]:
    """``files``, all of which must be there."""
    for path in files:
        if not path.is_file():
            raise InputError(
                f"the RTL of {name} is incomplete ({path.name} is missing); "
                f"reinstall it: pip install --force-reinstall {distribution}"
            )
    return files
