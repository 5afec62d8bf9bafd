"""The command that makes a certificate again: it proves no less than the refused one claimed and the gate asks for."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decision.artefact.documents import load_json
from decision.artefact.errors import InputError
from decision.policy.neighbourhood import Around
from rlcc.recipe import EmulateOptions
from verify.trusted.properties import load_properties


@dataclass(frozen=True)
class Request:
    """Arguments of the gate. ``around``: the neighbourhood of its limits; ``teacher``: None of a model that was
    made elsewhere."""

    recipe: Path | None = None
    teacher: Path | None = None
    around: Around | None = None


def prove(firmware: Path, engine: EmulateOptions, certificate: Path, request: Request) -> str:
    """`rlcc verify ..` for this firmware and engine, into the file of the certificate. The recipe brings its properties
    and its teacher; what the certificate there claims besides is asked for again."""
    words = ["rlcc", "verify", str(firmware)]
    words += [] if request.recipe is None else ["--recipe", str(request.recipe)]
    words += ["--profile", engine.profile, "--compiler", engine.compiler, f"--optimise={engine.optimise}"]
    claims = _claims(certificate)
    if claims is None:  # then it is to be all that the recipe says, or that there is
        claims = dict.fromkeys(("teacher", "behaviour"), request.recipe is None and request.teacher is not None)
    if request.teacher is not None and claims.get("teacher"):
        words += ["--teacher", str(request.teacher), *_around(claims["teacher"], request.around)]
    if claims.get("behaviour"):
        words += ["--properties", _properties(certificate)]
    return shlex.join([*words, "--out", str(certificate)])


def _claims(certificate: Path) -> dict[str, Any] | None:
    """Returns the file's claims, whether they hold or not; nothing if there is no file, None if it cannot be read."""
    if not certificate.is_file():
        return {}
    try:
        data = load_json(certificate)
    except InputError:
        return None
    return data if isinstance(data, dict) else None


def _properties(certificate: Path) -> str:
    """The certificate's own; all that there are where they cannot be read."""
    try:
        load_properties(certificate)
    except InputError:
        return "all"
    return str(certificate)


def _around(claim: Any, asked: Around | None) -> list[str]:
    """The smaller of the claim's neighbourhood and the gate's: a smaller one makes a distance greater, never less."""
    try:
        found = [Around(float(claim["share"]), float(claim["action"]))]
    except (InputError, KeyError, TypeError, ValueError):
        found = []
    known = [*found, *([] if asked is None else [asked])]
    if not known:
        return []
    share, action = min(each.share for each in known), min(each.action for each in known)
    return ["--around", f"{100 * share:.12g} %", "--around-action", f"{action:.12g}"]
