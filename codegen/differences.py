"""What in a firmware folder is not what its own student or network and its options give, byte for byte.

A manifest tells a changed file, but anyone can seal a folder anew; only emitting it again tells whether it is ours.
"""

import tempfile
from pathlib import Path
from typing import Any

from codegen.emit import KIND, emission_of, fill, lowered_student
from codegen.networks.emit import emission_of_network
from codegen.networks.emit import fill as fill_network
from decision.errors import InputError
from decision.manifest import Manifest, opened
from decision.network_policy import NAME as NETWORK_NAME
from decision.network_policy import load_network_policy
from decision.student import NAME as STUDENT_NAME
from decision.student import load_student


def differences(firmware: Path) -> list[str]:
    """The files that differ, and ``manifest.json: PART``; empty where the folder is as this rlcc emits it.

    InputError where the folder does not say enough to emit it again.
    """
    manifest = opened(firmware, KIND)
    with tempfile.TemporaryDirectory(prefix="rlcc-") as name:
        again = Path(name)
        network = (firmware / NETWORK_NAME).is_file()
        details, teacher = (_network if network else _student)(firmware, manifest, again)
        made = {str(path.relative_to(again)): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    wrong = [f for f in sorted(made.keys() | manifest.files.keys()) if made.get(f) != _bytes(firmware / f)]
    if details != manifest.details:
        wrong.append("manifest.json: details")
    if manifest.parents.get("teacher") != teacher:
        wrong.append("manifest.json: parents")
    return wrong


def _student(firmware: Path, manifest: Manifest, again: Path) -> tuple[dict[str, Any], str]:
    """Emit the folder's student into ``again``; returns the manifest's details and the teacher's hash."""
    student = load_student(firmware / STUDENT_NAME)
    emission = emission_of(firmware)
    if "student" not in manifest.parents:
        raise InputError(f"{firmware} does not say which student it is of; emit it again")
    details = fill(again, student, manifest.parents["student"], lowered_student(student, emission), emission)
    return details, student.teacher


def _network(firmware: Path, manifest: Manifest, again: Path) -> tuple[dict[str, Any], str]:
    """The same of a quantised network."""
    policy = load_network_policy(firmware / NETWORK_NAME)
    return fill_network(again, policy, emission_of_network(manifest)), policy.teacher


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
