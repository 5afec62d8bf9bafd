"""The folder of a distillation's rounds until its student is written, and the key that must match to resume."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from decision.artefact.documents import dump_json
from decision.artefact.manifest import sha256
from decision.artefact.sources import imported, package_hash
from distill.fitted_student import TOOLS
from distill.rounds import Rounds
from netsim.content import content
from rlcc.gate.check_cache import ROOT, tools

DECIDE = ("distill.distil", "rlcc.deviating_states")
"""Modules that, with all that they import, decide what a round is."""


def rounds_of(out: Path, deciding: Mapping[str, Any]) -> Rounds:
    """Returns the rounds next to the student's folder ``out``. ``deciding``: all that the caller gives the
    distillation; rlcc's code and the versions of packages are added to it."""
    made = {
        "given": content(deciding),
        "code": package_hash(*imported(DECIDE, ROOT)),
        "tools": tools() | {name: version(name) for name in TOOLS},
    }
    return Rounds(out.parent / f"{out.name}.rounds", sha256(dump_json(made).encode()))
