"""Students of earlier runs, in the user's cache folder: the same inputs give the same student.

A folder each, named by the hash of all that decides a distillation. Its files are hashed when they are taken. They need
no more trust than a student from elsewhere: firmware, proof and gate judge the one that is there.
"""

from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from decision.artefact.cache import cache_folder
from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
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
    place = cache_folder() / FOLDER / key
    try:
        opened(place, KIND)
    except InputError:
        return False
    _copy(place, out)
    return True


def store(key: str, student: Path) -> None:
    """Stores a student. A cache that cannot be written costs time, no more."""
    with suppress(OSError, InputError):
        _copy(student, cache_folder() / FOLDER / key)


def _copy(student: Path, out: Path) -> None:
    made = opened(student, KIND)
    with writing(out, KIND, parents=made.parents, tools=TOOLS, seed=made.seed, details=dict(made.details)) as work:
        for name in made.files:
            write_atomically(work / name, made.content(name))
