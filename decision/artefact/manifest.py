"""Artefact folders: a manifest with content hashes, parents, tools and seed, read and verified.

The hash of an artefact covers its kind, its files, its parents' hashes, its details and its seed. A reader checks every
file against the manifest before it believes one.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decision.artefact.documents import MAX_DOCUMENT_BYTES, as_text, dump_json, parse_json
from decision.artefact.errors import InputError
from decision.artefact.folder import open_folder

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
    """Contents of ``manifest.json``. ``hash`` identifies the artefact; ``details`` are the kind's own."""

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


@dataclass(frozen=True)
class Opened(Manifest):
    """An artefact that was read and verified. ``contents``: the bytes that were hashed, by name, ``manifest.json`` too;
    whoever needs a file takes these, and reads nothing of the folder again."""

    folder: Path = field(default=Path(), compare=False)
    contents: Mapping[str, bytes] = field(default_factory=dict, repr=False, compare=False)

    def content(self, name: str) -> bytes:
        """A file's bytes; InputError where the artefact has none of that name."""
        if name not in self.contents:
            raise InputError(f"{self.folder} has no {name}; make the {self.kind} again")
        return self.contents[name]

    def text(self, name: str) -> str:
        """A file as UTF-8 text."""
        return as_text(self.content(name), str(self.folder / name))

    def json(self, name: str) -> Any:
        """A JSON file's content."""
        return parse_json(self.content(name), str(self.folder / name))


def opened(folder: Path, kind: str) -> Opened:
    """Read and verify the artefact in ``folder``: each file once, and what was hashed is in the result.

    InputError where it is missing, of another kind or format, or where a file differs from what was written. Nothing
    outside the folder is read: links, special files and names that lead out are refused, and so is what is too large.
    """
    _check_folder(folder, kind)
    with open_folder(folder) as inside:
        own = inside.read(NAME, MAX_DOCUMENT_BYTES)
        manifest = _manifest(folder, kind, parse_json(own, str(folder / NAME)))
        contents, total = {NAME: own}, 0
        for name, expected in manifest.files.items():
            contents[name] = inside.read(name, MAX_DOCUMENT_BYTES)
            total += len(contents[name])
            if total > MAX_FOLDER_BYTES:
                raise InputError(
                    f"{folder} is over {MAX_FOLDER_BYTES // 2**20} MiB, more than any {kind} that rlcc writes"
                )
            if sha256(contents[name]) != expected:
                raise InputError(
                    f"{folder / name} was changed after rlcc wrote it (its hash differs); make the {kind} again"
                )
        within = {str(parent) for name in manifest.files for parent in Path(name).parents}
        for name in inside.names(within):  # a file that the manifest does not name is nobody's
            if name not in contents:
                raise InputError(
                    f"{folder / name} is not in the folder's {NAME}; take it out, or make the artefact again"
                )
    known = artefact_hash(kind, manifest.files, manifest.parents, manifest.details, manifest.seed)
    if known != manifest.hash:
        raise InputError(f"{folder / NAME} was changed after rlcc wrote it (its hash differs); make the {kind} again")
    if not all(map(HASH.fullmatch, manifest.parents.values())):  # they stand in comments of the C and in reports
        raise InputError(f"{folder / NAME} is not readable (a parent's hash is none); make the {kind} again")
    return Opened(**vars(manifest), folder=folder, contents=contents)


def same_artefact(artefact: Opened, hash: str) -> Opened:
    """The artefact; InputError where it is not the one of this hash any more."""
    if artefact.hash != hash:
        raise InputError(f"{artefact.folder} was made again since this began; start again")
    return artefact


def of_kind(source: Path | Opened, kind: str) -> Opened:
    """An artefact that was opened before, or that is opened now."""
    return opened(source, kind) if isinstance(source, Path) else source


def _check_folder(folder: Path, kind: str) -> None:
    """The words for what is no artefact's folder; opening it is what refuses."""
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
            raise InputError(f"{folder} is of kind {data['kind']}, not {kind}")
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
        if not FILE_NAME.fullmatch(name) or name == NAME:
            raise InputError(f"{folder / NAME} names {name!r}, which is outside the folder or a link")
    if len({name.casefold() for name in files}) != len(files):
        raise InputError(f"{folder / NAME} names two files that differ by case only; make the {kind} again")
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


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
