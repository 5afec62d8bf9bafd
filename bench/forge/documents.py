"""The documents of a subject: where each lies, how it is sealed, who judges it, and every forgery of it."""

import base64
import json
import random
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import load_pem_private_key

from bench.forge import judges, seal
from bench.forge.edits import Edit, edits
from bench.forge.judges import Files, JudgeAnswer
from bench.forge.places import field_of
from bench.forge.subjects import ForgerySubject
from bench.forge.texts import damaged, dumped
from decision.policy.model import NAME as MODEL
from decision.policy.network_policy import NAME as NETWORK
from decision.policy.student import NAME as STUDENT

Judge = Callable[[Files], JudgeAnswer]
WHOLE = "the whole text"
"""The field of damage that is of no single one."""


@dataclass(frozen=True)
class ForgedDocument:
    """``file``: its place; ``within``: only what lies under this path is edited; ``seal``: of its bytes; ``after``:
    what else is made right once it is written; ``judges``: in turn; ``signed``: it is the payload of an envelope."""

    file: Callable[[Files], Path]
    judges: tuple[Judge, ...]
    seal: Callable[[bytes], bytes] = lambda text: text
    after: Callable[[Files], None] = lambda files: None
    within: tuple[str, ...] = ()
    toml: bool = False
    signed: bool = False
    sealable: bool = True


@dataclass(frozen=True)
class Forgery:
    """``write``: puts it in place of the true document; ``path`` and ``edit``: what was done; ``sealed``: hashes and
    signatures are right again."""

    document: str
    path: tuple[str | int, ...]
    edit: str
    sealed: bool
    write: Callable[[Files], None]
    judges: tuple[Judge, ...]

    @property
    def field(self) -> str:
        return field_of(self.path) or WHOLE


def _folder(files: Files) -> None:
    """The manifest lists the folder's files as they are now, the certificate speaks of them; the true student, which
    would tell, is not there."""
    shutil.rmtree(files.student, ignore_errors=True)
    seal.listed(files.firmware)
    seal.pointed(files.certificate, files.firmware)


def _student_folder(files: Files) -> None:
    seal.listed(files.student)


def _manifest(files: Files) -> Path:
    return files.firmware / "manifest.json"


def decider_name(firmware: Path) -> str:
    """The file of what decides in a firmware folder, forged or not."""
    return next((name for name in (NETWORK, MODEL) if (firmware / name).is_file()), STUDENT)


DOCUMENTS: dict[str, ForgedDocument] = {
    "certificate": ForgedDocument(lambda f: f.certificate, (judges.check, judges.vouched), seal.sealed_certificate),
    "manifest": ForgedDocument(
        _manifest,
        (judges.check_foreign, judges.gate_unsigned),
        seal.sealed_manifest,
        lambda f: seal.pointed(f.certificate, f.firmware),
    ),
    "layout": ForgedDocument(
        _manifest,
        (judges.check_foreign, judges.gate_unsigned),
        seal.sealed_manifest,
        lambda f: seal.pointed(f.certificate, f.firmware),
        within=("details", "layout"),
    ),
    "program": ForgedDocument(
        lambda f: f.firmware / "program.json", (judges.check_foreign, judges.gate_unsigned), after=_folder
    ),
    "student": ForgedDocument(
        lambda f: f.firmware / decider_name(f.firmware), (judges.check_foreign, judges.gate_unsigned), after=_folder
    ),
    "student artefact": ForgedDocument(lambda f: f.student / "student.json", (judges.student,), after=_student_folder),
    "attestation": ForgedDocument(lambda f: f.attestation, (judges.attestation,), signed=True),
    "envelope": ForgedDocument(lambda f: f.attestation, (judges.attestation,), sealable=False),
    "verdict": ForgedDocument(lambda f: f.verdict, (judges.reference,), sealable=False),
    "recipe": ForgedDocument(lambda f: f.recipe, (judges.recipe,), toml=True, sealable=False),
}


BESIDE: dict[str, ForgedDocument] = {
    name: ForgedDocument(lambda f: f.firmware / decider_name(f.firmware), ())
    for name in ("files", "limits", "mutants of data", "mutants of code")
}
"""What is forged otherwise than by edits of one document; what decides is looked at."""


def parsed(document: ForgedDocument, content: bytes) -> Any:
    """A document's data, of an envelope its payload's; None where the bytes are none."""
    try:
        if document.toml:
            return tomllib.loads(content.decode())
        data = json.loads(content, object_pairs_hook=_once)
        if document.signed:
            return json.loads(base64.b64decode(data["payload"]), object_pairs_hook=_once)
        return data
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table; ValueError where a key stands twice: readers differ in which they take."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content


def forgeries(subject: ForgerySubject, name: str, draw: random.Random, most: int) -> Iterator[Forgery]:
    """Every forgery of a document, nothing where the subject has none: single edits of at most ``most`` places of a
    field, sealed, and one of a field that is not; then damage of the text."""
    document = DOCUMENTS[name]
    file = document.file(subject.files)
    if not file.is_file():
        return
    content = file.read_bytes()
    data = parsed(document, content)
    unsealed: set[str] = set()
    for edit in edits(data, draw, most):
        if edit.path[: len(document.within)] != document.within:
            continue
        text = partial(dumped, edit.content, toml=document.toml)
        yield _forgery(document, name, edit.path, edit.name, text, sealed=document.sealable)
        field = field_of(edit.path)
        if document.sealable and field not in unsealed:
            unsealed.add(field)
            yield _forgery(document, name, edit.path, edit.name, text, sealed=False)
    if not document.within:
        true = dumped(data, toml=document.toml) if document.signed else content
        for damage, whole in damaged(true, toml=document.toml):
            yield _forgery(document, name, (), damage, partial(bytes, whole), sealed=document.sealable)


def _forgery(
    document: ForgedDocument,
    name: str,
    path: tuple[str | int, ...],
    edit: str,
    made: Callable[[], bytes],
    *,
    sealed: bool,
) -> Forgery:
    def write(files: Files) -> None:
        place, text = document.file(files), made()
        if document.signed:
            place.write_bytes(_envelope(text, files, sealed=sealed))
        else:
            place.write_bytes(document.seal(text) if sealed else text)
        if sealed:
            document.after(files)

    return Forgery(name, path, edit, sealed, write, document.judges)


def _envelope(payload: bytes, files: Files, *, sealed: bool) -> bytes:
    """The payload under a signature of the key, or under that of the true one."""
    if sealed:
        return seal.signed(payload, load_pem_private_key(files.key.read_bytes(), None))  # type: ignore[arg-type]
    data = json.loads(files.attestation.read_bytes())
    data["payload"] = base64.b64encode(payload).decode()
    return json.dumps(data).encode()


WALKED = re.compile(r"cuts.*|nodes\[\]\.(name|note)|state\[\]\.note|details\.layout.*")
"""Fields whose edits have the checker walk all code anew."""


def chosen(found: list[Forgery], limit: int, draw: random.Random, walked: int | None = None) -> list[Forgery]:
    """``limit`` of them, or one of every field where those are more: field by field one of each in turn. ``walked``: at
    most so many that have the checker walk all code anew; None: all."""
    by_field: dict[str, list[Forgery]] = {}
    for forgery in found:
        by_field.setdefault(forgery.field, []).append(forgery)
    for group in by_field.values():
        draw.shuffle(group)
    turns = max(map(len, by_field.values()), default=0)
    order = [group[n] for n in range(turns) for group in by_field.values() if n < len(group)]
    order = order[: max(limit, len(by_field)) if limit else None]
    if walked is None:
        return order
    dear = [forgery for forgery in order if WALKED.fullmatch(forgery.field)]
    kept = set(map(id, dear[:walked]))  # the first in order, so that a greater limit keeps what a lesser one drew
    return [forgery for forgery in order if id(forgery) in kept or not WALKED.fullmatch(forgery.field)]


__all__ = ["BESIDE", "DOCUMENTS", "Edit", "ForgedDocument", "Forgery", "chosen", "forgeries", "parsed"]
