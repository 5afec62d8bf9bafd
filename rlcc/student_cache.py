"""Students of earlier runs, in the user's cache folder: the same inputs give the same student.

Each has a folder, named by the hash of all that decides a distillation. Its files are hashed when they are taken. They
need no more trust than a student from elsewhere: firmware, proof and gate judge the one that is there.
"""

import shutil
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from decision.artefact.cache import cache_folder
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import Opened, opened, sha256
from decision.artefact.output import write_atomically, writing
from decision.artefact.sources import imported, package_hash
from distill.student_artefact import KIND, TOOLS
from netsim.content import content
from rlcc.gate.check_cache import ROOT, tools

FOLDER = "students"
DECIDE = ("distill.distil", "rlcc.deviating_states")
"""Modules that, with all that they import, decide what a round and a student are."""


def distillation_key(deciding: Mapping[str, Any]) -> str:
    """Returns the hash of all that decides a distillation. ``deciding``: its inputs. rlcc's code, the compiled
    simulator and the versions of packages are added to them."""
    made = {
        "given": content(deciding),
        "code": package_hash(*imported(DECIDE, ROOT)),
        "tools": tools() | {name: version(name) for name in TOOLS},
    }
    return sha256(dump_json(made).encode())


def taken(key: str, out: Path) -> bool:
    """Whether the cache holds the distillation's student, which is then in ``out``."""
    made = _held(cache_folder() / FOLDER / key)
    if made is not None:
        _copy(made, out)
    return made is not None


def store(key: str, student: Path) -> None:
    """Stores a student in the place of a damaged one. A cache that cannot be written costs time, no more."""
    place = cache_folder() / FOLDER / key
    with suppress(OSError, InputError):
        if _held(place) is None:
            shutil.rmtree(place, ignore_errors=True)
            _copy(opened(student, KIND), place)


def _held(place: Path) -> Opened | None:
    """Returns the student in a folder, if it is there and whole."""
    try:
        return opened(place, KIND)
    except InputError:
        return None


def _copy(made: Opened, out: Path) -> None:
    with writing(out, KIND, parents=made.parents, tools=TOOLS, seed=made.seed, details=dict(made.details)) as work:
        for name in made.files:
            write_atomically(work / name, made.content(name))
