"""Subjects: finished runs, each with all documents that can be forged, made ready to be judged quickly.

runs/NAME -> FOLDER/NAME: teacher, recipe.toml (networks cut to the least), student, firmware, certificate, verdict,
                          signer.pem, signer.pub, attestation.json
"""

import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from bench.forge.judges import Files, attest, attestation, check, failed, gate
from bench.forge.judges import recipe as recipe_read
from bench.forge.texts import dumped
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.policy.deciders import load_decider
from emulator.build import build
from emulator.firmware_folder import read_firmware
from netsim.tolerance import DEFAULT
from rlcc import stages
from rlcc.commands.console import Figures
from rlcc.recipe import EmulateOptions, load_recipe, teacher_path
from rlcc.shipped_recipes import recipes
from teachers.load import load
from verify.prover.certify import unprovable

MADE = ".made"
"""Suffix of the folders of subjects that the forger makes."""
READY = "ready"
"""A file of a subject that is whole."""
PARTS = ("student", "firmware", "certificate")
SIGNER = bytes(range(32))
"""The private key, nobody's."""
SHORT = {"duration": "2 ms", "window": ["1 ms", "2 ms"], "seeds": [11]}
"""Of the networks that a judgement runs."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class ForgerySubject:
    """``files``: the true documents; ``agent``: the kind of agent that decides."""

    name: str
    agent: str
    files: Files

    @property
    def proved(self) -> bool:
        """Whether it has a certificate."""
        return self.files.certificate.is_file()

    @property
    def small(self) -> bool:
        """Whether the forger made it, so that a walk of its code takes a second."""
        return self.files.root.parent.suffix == MADE

    @property
    def distilled(self) -> bool:
        """Whether it has a teacher."""
        return self.files.teacher.exists()


def from_run(run: Path, folder: Path, say: Say) -> ForgerySubject:
    """The subject of a finished run of a shipped recipe. InputError where the run has no firmware, or does not pass."""
    recipe = recipes().get(run.name)
    if recipe is None or not (run / "firmware").is_dir():
        raise InputError(f"{run} is no finished run of a recipe; make it with rlcc run recipes/{run.name}.toml")
    return standing(folder / run.name, say) or prepared(run, recipe, folder / run.name, say)


def finished(place: Path) -> ForgerySubject | None:
    """The subject that was made ready in a folder; None where none was."""
    if not (place / READY).is_file():
        return None
    return ForgerySubject(place.name, agent_of(place / "firmware"), Files(place))


def standing(place: Path, say: Say) -> ForgerySubject | None:
    """The finished subject of a folder, where today's judges still accept all that is true of it; else None."""
    subject = finished(place)
    if subject is None:
        return None
    say(f"{subject.name}: do its judges accept it?")
    judges = [gate, *([check, attestation] if subject.proved else []), *([recipe_read] if subject.distilled else [])]
    refused = [answer for judge in judges if (answer := judge(subject.files)).outcome != "accepted"]
    shutil.rmtree(subject.files.root / "gated", ignore_errors=True)
    for answer in refused:
        say(f"{subject.name}: {answer.judge} does not: {answer.said[:200]}")
    return None if refused else subject


def prepared(run: Path, recipe: Path | None, place: Path, say: Say) -> ForgerySubject:
    """A run and its recipe (none of a model made elsewhere) as a subject in ``place``: proved anew where its
    certificate does not hold, gated, signed."""
    files = Files(place)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for part in PARTS:
        if (run / part).is_dir():
            shutil.copytree(run / part, place / part)
    if recipe is not None:
        _recipe(recipe, files)
    _certificate(files, say)
    _sign(files)
    say(f"{place.name}: gate")
    answer = gate(files)
    if answer.outcome != "accepted":
        raise InputError(f"{place} does not pass as it is: {failed(answer)} {answer.said[-300:]}")
    shutil.move(place / "gated", place / "verdict")
    (place / READY).write_text("")
    return ForgerySubject(place.name, agent_of(files.firmware), files)


def agent_of(firmware: Path) -> str:
    """Returns the kind of decider and its agent: "Student, flow"."""
    decider = load_decider(opened(firmware, "firmware"))
    return f"{type(decider).__name__}, {decider.program().interface.agent}"


def _recipe(recipe: Path, files: Files) -> None:
    """Write the recipe with short networks and the teacher beside it."""
    data: dict[str, Any] = tomllib.loads(recipe.read_text())
    loaded = load_recipe(recipe)
    teacher = teacher_path(loaded, recipe)
    (shutil.copytree if teacher.is_dir() else shutil.copy)(teacher, files.teacher)
    for holder in (data, *data.get("agents", {}).values()):
        if "teacher" in holder:
            holder["teacher"] = "teacher"
    first = loaded.gate.scenarios[0]
    data["gate"] |= SHORT | {"scenarios": [first], "tolerance": dict.fromkeys(DEFAULT, "any")}
    data["gate"]["match"] = data["gate"].get("match", {}) | {"scenarios": [first]}
    files.recipe.write_bytes(dumped(data, toml=True))
    load_recipe(files.recipe)


def _certificate(files: Files, say: Say) -> None:
    """A certificate that holds today, where the recipe asks for a proof."""
    recipe = load_recipe(files.recipe) if files.recipe.is_file() else None
    if recipe is not None and not recipe.gate.proof:
        return
    say(f"{files.root.name}: check of the certificate")
    if files.certificate.is_file() and check(files).outcome == "accepted":
        return
    engine = recipe.emulate if recipe else EmulateOptions()
    made = build(read_firmware(files.firmware), engine.toolchain())
    if unprovable(made):
        return
    say(f"{files.root.name}: proof")
    if recipe is not None:
        stages.certify(made, load(files.teacher), recipe.gate, files.certificate, Figures(), say)
    else:
        stages.keep_certificate(stages.verify(made, Figures(), say), files.certificate)
    answer = check(files)
    if answer.outcome != "accepted":
        raise InputError(f"{files.root} has no certificate that holds: {answer.said}")


def _sign(files: Files) -> None:
    """Key pair, and the attestation of what is proved."""
    key = Ed25519PrivateKey.from_private_bytes(SIGNER)
    files.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    files.public_key.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    if not files.certificate.is_file():
        return
    answer = attest(files)
    if answer.outcome != "accepted":
        raise InputError(f"{files.root} is not attested: {answer.said}")
    shutil.move(files.root / "signed.json", files.attestation)


def copy_of(subject: ForgerySubject, place: Path) -> Files:
    """The true documents in another place, to be forged there."""
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(subject.files.root, place, symlinks=True)
    return Files(place)


@cache
def hash_of(subject: ForgerySubject) -> str:
    """The firmware's."""
    return opened(subject.files.firmware, "firmware").hash
