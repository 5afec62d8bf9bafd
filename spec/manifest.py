"""Artefact folders: a manifest with content hashes, parents, tools and seed; written whole or not at all.

The hash of an artefact covers its kind, its files, its parents' hashes, its details and its seed. A reader checks every
file against the manifest before it believes one.
"""

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from spec.documents import dump_json, load_json, read_bytes, write_atomically
from spec.errors import InputError

FORMAT = 1
NAME = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What ``manifest.json`` says. ``hash`` identifies the artefact; ``details`` are the kind's own."""

    kind: str
    hash: str
    files: Mapping[str, str]
    parents: Mapping[str, str] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def writing(
    folder: Path,
    kind: str,
    *,
    parents: Mapping[str, str] | None = None,
    tools: tuple[str, ...] = (),
    seed: int | None = None,
    details: dict[str, Any] | None = None,
) -> Iterator[Path]:
    """Write an artefact: fill the yielded folder; it gets its manifest and takes ``folder``'s place when all is well.

    ``details`` may be filled while writing. An existing folder is replaced only if it is an artefact of the same kind.
    """
    check_place(folder, kind)
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield work
        files = {str(p.relative_to(work)): sha256(p.read_bytes()) for p in sorted(work.rglob("*")) if p.is_file()}
        content = {
            "format": FORMAT,
            "kind": kind,
            "hash": artefact_hash(kind, files, parents or {}, details or {}, seed),
            "files": files,
            "parents": dict(parents or {}),
            "tools": {tool: metadata.version(tool) for tool in tools},
            "seed": seed,
            "details": details or {},
        }
        write_atomically(work / NAME, dump_json(content))
        work.chmod(0o755)
        if folder.exists():
            # The old one steps aside first: at no time is it half deleted under its own name.
            old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
            folder.rename(old / "replaced")
            work.rename(folder)
            shutil.rmtree(old, ignore_errors=True)
        else:
            work.rename(folder)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def opened(folder: Path, kind: str) -> Manifest:
    """Read and verify the artefact in ``folder``.

    InputError where it is missing, of another kind or format, or where a file differs from what was written.
    """
    if not (folder / NAME).is_file():
        raise InputError(f"{folder} is not a {kind} of rlcc: it has no {NAME}")
    data = load_json(folder / NAME)
    try:
        if data["format"] != FORMAT:
            raise InputError(f"{folder} has manifest format {data['format']!r}, not {FORMAT}; make it again")
        if data["kind"] != kind:
            raise InputError(f"{folder} is a {data['kind']}, not a {kind}")
        files, parents = dict(data["files"]), dict(data["parents"])
        tools, details = dict(data["tools"]), dict(data["details"])
        manifest = Manifest(kind, data["hash"], files, parents, tools, data["seed"], details)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder / NAME} is not readable ({error!r}); make the {kind} again") from None
    for name, expected in files.items():
        path = folder / name
        if Path(name).is_absolute() or ".." in Path(name).parts or path.resolve() != folder.resolve() / name:
            raise InputError(f"{folder / NAME} names {name!r}, which is outside the folder or a link")
        if sha256(read_bytes(path)) != expected:
            raise InputError(f"{path} was changed after rlcc wrote it (its hash differs); make the {kind} again")
    _refuse_strangers(folder, files)
    if artefact_hash(kind, files, parents, manifest.details, manifest.seed) != manifest.hash:
        raise InputError(f"{folder / NAME} was changed after rlcc wrote it (its hash differs); make the {kind} again")
    return manifest


def artefact_hash(
    kind: str, files: Mapping[str, str], parents: Mapping[str, str], details: Mapping[str, Any], seed: int | None
) -> str:
    """One hash over kind, file hashes, parents, details and seed."""
    lines = [kind, *(f"{k} {v}" for k, v in sorted(files.items())), *(f"<{k} {v}" for k, v in sorted(parents.items()))]
    lines += [dump_json(dict(details)), f"seed {seed}"]
    return sha256("\n".join(lines).encode())


def _refuse_strangers(folder: Path, files: Mapping[str, str]) -> None:
    """A file that the manifest does not name would be trusted unseen: a compiler finds headers beside the C."""
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_dir() and name != NAME and name not in files:
            raise InputError(f"{path} is not in the folder's {NAME}; take it out, or make the artefact again")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check_place(folder: Path, kind: str) -> None:
    """InputError where ``folder`` holds something that an artefact of this kind must not replace. Asked before long
    work begins, and again when it is written."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder; choose another place for the {kind}")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        found = load_json(folder / NAME).get("kind")
    except (InputError, AttributeError):
        found = None
    if found != kind:
        raise InputError(f"{folder} holds something other than a {kind} of rlcc; choose an empty folder")
