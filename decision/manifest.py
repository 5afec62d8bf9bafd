"""Artefact folders: a manifest with content hashes, parents, tools and seed; written whole or not at all.

The hash of an artefact covers its kind, its files, its parents' hashes, its details and its seed. A reader checks every
file against the manifest before it believes one.
"""

import hashlib
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from decision.documents import dump_json, load_json, read_bytes, write_atomically
from decision.errors import InputError
from decision.system_errors import writing_to
from decision.temporary import ASIDE, folder_beside, sweep

FORMAT = 1
FORMATS = {"firmware": 2}
"""Of the kinds whose details have changed their form since the first: a firmware's layout names structures by group."""
NAME = "manifest.json"
MAX_FILES, MAX_FOLDER_BYTES = 256, 512 * 2**20
FILE_NAME = re.compile(r"(?!\.{1,2}(/|$))[\w.+-]{1,100}(/(?!\.{1,2}(/|$))[\w.+-]{1,100}){0,8}", re.ASCII)
"""Names of files in artefacts: plain, and down the folder only."""
HASH = re.compile(r"[0-9a-f]{1,64}")
MAX_SEED = 2**64


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

    def parent(self, kind: str, folder: Path) -> str:
        """The hash of what the artefact in ``folder`` was made of; InputError where it does not say."""
        if kind not in self.parents:
            raise InputError(f"{folder} does not say which {kind} it is of; make it again")
        return self.parents[kind]


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
    with writing_to(folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = folder_beside(folder)
    try:
        with writing_to(folder, work):
            yield work
            _finish(work, folder, kind, parents or {}, tools, seed, details or {})
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _finish(
    work: Path,
    folder: Path,
    kind: str,
    parents: Mapping[str, str],
    tools: tuple[str, ...],
    seed: int | None,
    details: Mapping[str, Any],
) -> None:
    """Give the filled folder its manifest, and the place of ``folder``."""
    files = {str(p.relative_to(work)): sha256(p.read_bytes()) for p in sorted(work.rglob("*")) if p.is_file()}
    content = {
        "format": FORMATS.get(kind, FORMAT),
        "kind": kind,
        "hash": artefact_hash(kind, files, parents, details, seed),
        "files": files,
        "parents": dict(parents),
        "tools": {tool: metadata.version(tool) for tool in tools},
        "seed": seed,
        "details": details,
    }
    write_atomically(work / NAME, dump_json(content))
    work.chmod(0o755)
    if not folder.exists():
        work.rename(folder)
        return
    # The old one steps aside first: at no time is it half deleted under its own name.
    old = folder_beside(folder, ASIDE)
    folder.rename(old / "replaced")
    work.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def opened(folder: Path, kind: str) -> Manifest:
    """Read and verify the artefact in ``folder``.

    InputError where it is missing, of another kind or format, or where a file differs from what was written. Nothing
    outside the folder is read: links, special files and names that lead out are refused, and so is what is too large.
    """
    _check_folder(folder, kind)
    manifest = _manifest(folder, kind, load_json(folder / NAME))
    total = 0
    for name, expected in manifest.files.items():
        path = folder / name
        content = read_bytes(path)
        total += len(content)
        if total > MAX_FOLDER_BYTES:
            raise InputError(f"{folder} is over {MAX_FOLDER_BYTES // 2**20} MiB, more than any {kind} that rlcc writes")
        if sha256(content) != expected:
            raise InputError(f"{path} was changed after rlcc wrote it (its hash differs); make the {kind} again")
    _refuse_strangers(folder, manifest.files)
    known = artefact_hash(kind, manifest.files, manifest.parents, manifest.details, manifest.seed)
    if known != manifest.hash:
        raise InputError(f"{folder / NAME} was changed after rlcc wrote it (its hash differs); make the {kind} again")
    if not all(map(HASH.fullmatch, manifest.parents.values())):  # they stand in comments of the C and in reports
        raise InputError(f"{folder / NAME} is not readable (a parent's hash is none); make the {kind} again")
    return manifest


def _check_folder(folder: Path, kind: str) -> None:
    if folder.is_symlink():
        raise InputError(f"{folder} is a link; give the folder of the {kind} itself")
    if folder.is_file():
        raise InputError(f"{folder} is a file; give the folder of the {kind} (an archive has to be unpacked first)")
    if not (folder / NAME).is_file():
        raise InputError(f"{folder} is not a {kind} of rlcc: it has no {NAME}")
    if (folder / NAME).is_symlink():
        raise InputError(f"{folder / NAME} is a link, not a file of the folder; make the {kind} again")


def _manifest(folder: Path, kind: str, data: Any) -> Manifest:
    """The content of ``manifest.json``, its types checked."""
    try:
        if data["kind"] != kind:
            raise InputError(f"{folder} is a {data['kind']}, not a {kind}")
        if data["format"] != (due := FORMATS.get(kind, FORMAT)):
            raise InputError(f"{folder} has manifest format {data['format']!r}, not {due}; make it again")
        files, parents, tools = (_texts(data[key]) for key in ("files", "parents", "tools"))
        seed, details = data["seed"], dict(data["details"])
        if not isinstance(data["hash"], str) or not (seed is None or (type(seed) is int and 0 <= seed < MAX_SEED)):
            raise TypeError("hash or seed is of another type or size")
        manifest = Manifest(kind, data["hash"], files, parents, tools, seed, details)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder / NAME} is not readable ({error!r}); make the {kind} again") from None
    if len(files) > MAX_FILES:
        raise InputError(f"{folder / NAME} names {len(files)} files, more than the {MAX_FILES} of any {kind}")
    for name in files:
        inside = FILE_NAME.fullmatch(name) and (folder / name).resolve() == folder.resolve() / name
        if not inside:
            raise InputError(f"{folder / NAME} names {name!r}, which is outside the folder or a link")
    return manifest


def _texts(data: Any) -> dict[str, str]:
    if not isinstance(data, dict) or not all(
        isinstance(v, str) and v.isascii() and k.isascii() for k, v in data.items()
    ):
        raise TypeError("a table of texts is of another type")
    return data


def artefact_hash(
    kind: str, files: Mapping[str, str], parents: Mapping[str, str], details: Mapping[str, Any], seed: int | None
) -> str:
    """One hash over kind, file hashes, parents, details and seed."""
    lines = [kind, *(f"{k} {v}" for k, v in sorted(files.items())), *(f"<{k} {v}" for k, v in sorted(parents.items()))]
    lines += [dump_json(dict(details)), f"seed {seed}"]
    return sha256("\n".join(lines).encode())


def _refuse_strangers(folder: Path, files: Mapping[str, str]) -> None:
    """A file that the manifest does not name would be trusted unseen: a compiler finds headers beside the C."""
    within = {folder / parent for name in files for parent in Path(name).parents}
    known = {folder / name for name in files} | {folder / NAME}
    waiting = [folder]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if path in within and path.is_dir() and not path.is_symlink():
                waiting.append(path)
            elif path not in known:
                raise InputError(f"{path} is not in the folder's {NAME}; take it out, or make the artefact again")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check_place(folder: Path, kind: str) -> None:
    """InputError where ``folder`` holds something that an artefact of this kind must not replace. Asked before long
    work begins, and again when it is written. What a killed run has left beside it is removed."""
    sweep(folder.parent)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InputError(f"{folder} is not a folder; choose another place for the {kind}")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        there = load_json(folder / NAME).get("kind")
    except (InputError, AttributeError):
        there = None
    if there != kind:
        raise InputError(f"{folder} holds something other than a {kind} of rlcc; choose an empty folder")
