"""Forgeries of files: a file that is a link, a pipe or a folder, names that lead out, parts of another subject."""

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from bench.forge import judges, seal
from bench.forge.documents import Forgery, Judge
from bench.forge.judges import Files
from bench.forge.subjects import ForgerySubject
from decision.artefact.manifest import NAME, sha256

Edit = Callable[[Path], None]
"""Of one file that is there."""
FOLDER_JUDGES: tuple[Judge, ...] = (judges.check_foreign, judges.gate_unsigned)


def _elsewhere(path: Path) -> Path:
    """The file, moved out of the folder that it belongs to."""
    place = path.parent.parent / f"elsewhere-{path.name}"
    path.rename(place)
    return place


def _link(path: Path) -> None:
    path.symlink_to(_elsewhere(path).resolve())


def _hard_link(path: Path) -> None:
    place = _elsewhere(path)
    os.link(place, path)


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def _byte(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\n")


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _huge(path: Path) -> None:
    os.truncate(path, 2**34)


KINDS: Mapping[str, Edit] = {
    "a link": _link,
    "a hard link": _hard_link,
    "a pipe": _pipe,
    "a folder": _folder,
    "a link to itself": _loop,
    "a link to a device": _device,
    "left out": Path.unlink,
    "empty": _emptied,
    "a byte more": _byte,
    "16 GiB": _huge,
}
NAMES: Sequence[str] = (
    *("../secret", "/etc/passwd", "a/../../secret", "./rlcc_policy.c", "a//b", "", ".", "..", "rlcc_policy.c/", "~/x"),
    *("C:\\x", "a\x00b", "x" * 300, "\u00e9", "a\nb", "link/secret", "manifest.json", "rlcc_policy.c "),
)
"""Of files that a manifest lists besides its own."""
STRANGERS: Mapping[str, str] = {"stdint.h": "typedef int uint32_t;\n", "extra.c": "int x;\n", ".hidden": ""}


def file_forgeries(subject: ForgerySubject, others: Sequence[ForgerySubject], draw: random.Random) -> Iterator[Forgery]:
    """Every file in every way; names in manifests; files that nobody lists; parts of other subjects."""
    root = subject.files.root
    firmware = sorted(p.relative_to(root) for p in subject.files.firmware.rglob("*") if p.is_file())
    beside = [subject.files.certificate, subject.files.attestation, subject.files.public_key, subject.files.recipe]
    for name in firmware:
        for kind, edit in KINDS.items():
            yield _of_file(name, kind, edit, FOLDER_JUDGES)
    for path in beside:
        if path.is_file():
            for kind, edit in KINDS.items():
                yield _of_file(path.relative_to(root), kind, edit, (judges.check, judges.gate))
    for sealed in (True, False):
        yield from (_named(listed, sealed) for listed in NAMES)
        yield from (_stranger(stranger, content, sealed) for stranger, content in STRANGERS.items())
    for other in draw.sample(list(others), min(len(others), 3)):
        yield from _swapped(subject, other)
    if subject.proved:
        yield from _cycles(subject)


def _of_file(name: Path, kind: str, edit: Edit, asked: tuple[Judge, ...]) -> Forgery:
    def write(files: Files) -> None:
        edit(files.root / name)

    return Forgery("files", (str(name),), kind, False, write, asked)


def _named(name: str, sealed: bool) -> Forgery:
    """A manifest that lists a file of this name, there or not, with the hash of what is there or of nothing."""

    def write(files: Files) -> None:
        (files.root / "secret").write_text("secret")
        (files.firmware / "link").symlink_to(files.root.resolve())
        path = files.firmware / NAME
        data = json.loads(path.read_bytes())
        data["files"][name] = sha256(b"secret" if "secret" in name else b"")
        text = json.dumps(data, indent=1).encode()
        path.write_bytes(seal.sealed_manifest(text) if sealed else text)
        if sealed:
            seal.pointed(files.certificate, files.firmware)

    return Forgery("files", (f"{NAME} lists", name), "a name", sealed, write, FOLDER_JUDGES)


def _stranger(name: str, content: str, sealed: bool) -> Forgery:
    def write(files: Files) -> None:
        (files.firmware / name).write_text(content)
        if sealed:
            seal.listed(files.firmware)
            seal.pointed(files.certificate, files.firmware)

    return Forgery("files", (name,), "a file more", sealed, write, FOLDER_JUDGES)


PARTS: Mapping[str, Callable[[Files], Path]] = {
    "firmware": lambda f: f.firmware,
    "certificate": lambda f: f.certificate,
    "attestation": lambda f: f.attestation,
    "teacher": lambda f: f.teacher,
    "public key": lambda f: f.public_key,
    "student.json": lambda f: f.firmware / "student.json",
    "program.json": lambda f: f.firmware / "program.json",
    "vectors.csv": lambda f: f.firmware / "vectors.csv",
    "rlcc_policy.c": lambda f: f.firmware / "rlcc_policy.c",
    "rlcc_policy.h": lambda f: f.firmware / "rlcc_policy.h",
}


def _swapped(subject: ForgerySubject, other: ForgerySubject) -> Iterator[Forgery]:
    """A part of another subject in place of this one's, the rest sealed around it."""
    for name, of in PARTS.items():
        mine, theirs = of(subject.files), of(other.files)
        if mine.exists() and theirs.exists():
            yield _swap(name, other, of)
    if subject.proved and other.proved:
        yield _of_another_subject(other)


def _swap(name: str, other: ForgerySubject, of: Callable[[Files], Path]) -> Forgery:
    def write(files: Files) -> None:
        place, theirs = of(files), of(other.files)
        if place.is_dir():
            shutil.rmtree(place)
            shutil.copytree(theirs, place)
        else:
            place.write_bytes(theirs.read_bytes())
        if place.parent == files.firmware:
            seal.listed(files.firmware)
        if name != "certificate":
            seal.pointed(files.certificate, files.firmware)

    return Forgery("files", (name,), f"of {other.name}", True, write, (*FOLDER_JUDGES, judges.gate))


def _of_another_subject(other: ForgerySubject) -> Forgery:
    """The certificate of another firmware that says it is of this one, image, engine and all."""

    def write(files: Files) -> None:
        mine = json.loads(files.certificate.read_bytes())
        theirs = json.loads(other.files.certificate.read_bytes())
        theirs["subject"] = mine["subject"]
        files.certificate.write_bytes(seal.sealed_certificate(json.dumps(theirs).encode()))

    return Forgery("files", ("certificate",), f"claims of {other.name}", True, write, (judges.check,))


def _cycles(subject: ForgerySubject) -> Iterator[Forgery]:
    """A worst case that is one cycle too low or too high everywhere it is said."""
    for step in (-1, 1, -10):

        def write(files: Files, step: int = step) -> None:
            data = json.loads(files.certificate.read_bytes())
            worst = data["claims"]["worst_case"]
            for key in ("bound", "exact", "rtl_cycles"):
                if worst[key] is not None:
                    worst[key] += step
            files.certificate.write_bytes(seal.sealed_certificate(json.dumps(data).encode()))

        yield Forgery("files", ("certificate", "cycles"), f"all {step:+d}", True, write, (judges.check,))
