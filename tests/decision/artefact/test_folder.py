"""Folders that nobody has vouched for: special files, links, odd names and sizes, each refused or read as it is."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from decision.artefact.documents import dump_json
from decision.artefact.errors import InputError
from decision.artefact.folder import open_folder
from decision.artefact.manifest import NAME, artefact_hash, opened, sha256
from decision.artefact.output import writing

LIMIT = 1000


def artefact(folder: Path) -> Path:
    with writing(folder, "student") as work:
        (work / "a.txt").write_text("alpha")
        (work / "deep").mkdir()
        (work / "deep" / "b.txt").write_text("beta")
    return folder


def resealed(folder: Path, files: dict[str, str]) -> None:
    """The manifest names these files, and its hash is right."""
    content = {"format": 1, "kind": "student", "files": files, "parents": {}, "tools": {}, "seed": None, "details": {}}
    content["hash"] = artefact_hash("student", files, {}, {}, None)
    (folder / NAME).write_text(dump_json(content))


def a_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # a socket's name is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


SPECIAL: dict[str, Any] = {
    "a pipe": os.mkfifo,
    "a socket": a_socket,
    "a folder": os.mkdir,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link to the same content": lambda path: (path.with_name("c").write_text("alpha"), path.symlink_to("c")),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "nothing": lambda path: None,
}


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", ["a.txt", "deep/b.txt", NAME])
def test_what_is_no_plain_file_is_refused_and_never_waited_for(kind: str, name: str, tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    (folder / name).unlink()
    SPECIAL[kind](folder / name)
    with pytest.raises(InputError):
        opened(folder, "student")


def test_a_file_with_another_name_elsewhere_is_read_as_it_is_when_it_is_read(tmp_path: Path) -> None:
    """A hard link is a plain file: installers make them. What it holds is hashed and kept, whatever it becomes."""
    folder = artefact(tmp_path / "s")
    os.link(folder / "a.txt", tmp_path / "outside")
    read = opened(folder, "student")
    (tmp_path / "outside").write_text("gamma")
    assert read.contents["a.txt"] == b"alpha"
    with pytest.raises(InputError, match="changed after"):
        opened(folder, "student")


@pytest.mark.parametrize(
    "name",
    ["../s/a.txt", "/etc/hostname", "deep/../a.txt", "./a.txt", "a.txt/", "//a.txt", "~/a.txt", "a.txt\0", "\\a", NAME],
)
def test_a_name_that_is_not_plain_is_refused_though_the_manifest_is_sealed(name: str, tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    resealed(folder, {"a.txt": sha256(b"alpha"), "deep/b.txt": sha256(b"beta"), name: sha256(b"alpha")})
    with pytest.raises(InputError, match=r"outside the folder|not readable"):
        opened(folder, "student")


def test_names_that_differ_by_case_only_are_refused(tmp_path: Path) -> None:
    """On some file systems they are one file."""
    folder = artefact(tmp_path / "s")
    (folder / "A.txt").write_text("alpha")
    files = {name: sha256((folder / name).read_bytes()) for name in ("a.txt", "A.txt", "deep/b.txt")}
    resealed(folder, files)
    with pytest.raises(InputError, match="by case only"):
        opened(folder, "student")


def test_a_folder_on_the_way_that_is_a_link_is_refused(tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    (folder / "deep").rename(tmp_path / "deep")
    (folder / "deep").symlink_to(tmp_path / "deep")
    with open_folder(folder) as inside, pytest.raises(InputError, match="a link"):
        inside.read("deep/b.txt", LIMIT)


def test_an_open_folder_stays_the_one_it_was(tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    with open_folder(folder) as inside:
        folder.rename(tmp_path / "old")
        artefact(tmp_path / "s")
        (tmp_path / "s/a.txt").write_text("other")
        assert inside.read("a.txt", LIMIT) == b"alpha"


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    (folder / "pipe").mkdir()
    os.mkfifo(folder / "pipe/c")

    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    before = descriptors()
    with open_folder(folder) as inside:
        for name in ("a.txt", "deep/b.txt", "deep", "pipe/c", "none", "deep/none", "none/none", "a.txt/none"):
            try:
                inside.read(name, LIMIT)
            except InputError:
                continue
        list(inside.names({"deep"}))
    assert descriptors() == before


@pytest.mark.parametrize("size", [LIMIT, LIMIT + 1])
def test_a_file_is_read_up_to_a_limit(size: int, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(size))
    with open_folder(tmp_path) as inside:
        if size <= LIMIT:
            assert len(inside.read("a", LIMIT)) == size
            return
        with pytest.raises(InputError, match="is over"):
            inside.read("a", LIMIT)


def test_a_sparse_file_of_a_terabyte_is_not_read_whole(tmp_path: Path) -> None:
    folder = artefact(tmp_path / "s")
    os.truncate(folder / "a.txt", 2**40)
    with pytest.raises(InputError, match="is over 64 MiB"):
        opened(folder, "student")


@given(name=st.text(max_size=12))
def test_no_name_leads_out(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("names") / "s"
    folder.mkdir()
    (folder.parent / "secret").write_text("x")
    try:
        resealed(folder, {name: sha256(b"x")})
        opened(folder, "student")
    except (InputError, UnicodeError):
        return
    raise AssertionError(f"{name!r} was read")
