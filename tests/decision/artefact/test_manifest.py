"""Artefact folders: what was written is what is read, or it is said what is wrong; nothing half-written stays."""

import json
import os
import shutil
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, opened
from decision.artefact.output import writing


def artefact(folder, kind="student", **more):
    with writing(folder, kind, **more) as work:
        (work / "a.txt").write_text("alpha")
        (work / "deep").mkdir()
        (work / "deep" / "b.txt").write_text("beta")
    return folder


def change(folder, **changes):
    data = json.loads((folder / NAME).read_text())
    for key, value in changes.items():
        data[key] = value
    (folder / NAME).write_text(json.dumps(data))


def test_what_is_written_is_read(tmp_path):
    folder = artefact(
        tmp_path / "s",
        parents={"teacher": "ab" * 32},
        tools=("numpy",),
        seed=7,
        details={"list": [1, 2], "x": {"y": 0.5}},
    )
    manifest = opened(folder, "student")
    assert set(manifest.files) == {"a.txt", "deep/b.txt"}
    assert manifest.parents == {"teacher": "ab" * 32}
    assert manifest.seed == 7
    assert manifest.details == {"list": [1, 2], "x": {"y": 0.5}}
    assert set(manifest.tools) == {"numpy"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["s"]


def test_the_hash_covers_kind_files_parents_and_details(tmp_path):
    def hash_of(name, **more):
        return opened(artefact(tmp_path / name, **more), more.get("kind", "student")).hash

    same = hash_of("1")
    assert hash_of("2") == same
    others = [hash_of("3", kind="teacher"), hash_of("4", parents={"a": "b"}), hash_of("5", details={"a": 1})]
    assert len({same, *others}) == 4


def test_the_same_artefact_is_the_same_bytes(tmp_path):
    one, two = (artefact(tmp_path / name, seed=1, tools=("numpy",)) for name in "12")
    assert (one / NAME).read_bytes() == (two / NAME).read_bytes()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda f: (f / "a.txt").write_text("alphb"), r"a\.txt .*changed after"),
        (lambda f: (f / "deep" / "b.txt").unlink(), r"no file .*b\.txt"),
        (lambda f: (f / NAME).unlink(), "no manifest.json"),
        (lambda f: (f / NAME).write_text("{"), "is not valid JSON"),
        (lambda f: (f / NAME).write_text("[]"), "is not readable"),
        (lambda f: (f / NAME).write_text("1" * 5000), "is not valid JSON"),
        (lambda f: (f / NAME).write_text("[" * 100_000), "is not valid JSON"),
        (lambda f: change(f, format=2), "manifest format 2, .*1"),
        (lambda f: change(f, kind="firmware"), "firmware, .*student"),
        (lambda f: change(f, files=5), "is not readable"),
        (lambda f: change(f, parents={"teacher": "other"}), r"manifest\.json .*changed after"),
        (lambda f: change(f, details={"context_bytes": 4}), r"manifest\.json .*changed after"),
        (lambda f: change(f, files={}), r"manifest\.json"),
        (lambda f: change(f, hash="0" * 64), r"manifest\.json .*changed after"),
        (lambda f: change(f, files={"../outside": "0" * 64}), "'../outside', .*outside the folder"),
        (lambda f: change(f, files={"/etc/hostname": "0" * 64}), "'/etc/hostname', .*outside the folder"),
        (lambda f: change(f, files={"deep/../../x": "0" * 64}), "which is outside"),
        (lambda f: change(f, files={"missing": "0" * 64}), "no file"),
        (lambda f: change(f, files={"deep": "0" * 64}), "no file"),
    ],
)
def test_damage_is_told_in_one_sentence(damage, says, tmp_path):
    folder = artefact(tmp_path / "s")
    damage(folder)
    with pytest.raises(InputError, match=says) as caught:
        opened(folder, "student")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("linked", ["a.txt", "deep"])
def test_a_link_out_of_the_folder_is_refused(linked, tmp_path):
    """Also where what it leads to has the right content: that may change behind the manifest's back."""
    folder = artefact(tmp_path / "s")
    (folder / linked).rename(tmp_path / linked)
    (folder / linked).symlink_to(tmp_path / linked)
    with pytest.raises(InputError, match=r"folder or .*link"):
        opened(folder, "student")


@pytest.mark.parametrize(
    "name", ["a\0b", "a\nb", "", ".", "..", "deep/..", "deep//b.txt", "a" * 300, "deep/./b.txt", "\ud800", "é"]
)
def test_a_name_that_rlcc_never_writes_is_refused(name, tmp_path):
    folder = artefact(tmp_path / "s")
    change(folder, files={name: "0" * 64})
    with pytest.raises(InputError, match=r"outside the folder|not readable|JSON") as caught:
        opened(folder, "student")
    assert str(caught.value).isprintable()


def odd_folder(folder):
    (folder / "more").mkdir()
    (folder / "more/rlcc_policy.h").write_text("")


@pytest.mark.parametrize(
    ("add", "says"),
    [
        (lambda f: (f / "b").symlink_to("/etc"), "b .*folder's manifest"),
        (lambda f: (f / "b").symlink_to("a.txt"), "b .*folder's manifest"),
        (lambda f: os.mkfifo(f / "b"), "b .*folder's manifest"),
        (lambda f: (f / "empty").mkdir(), "empty .*folder's manifest"),
        (lambda f: odd_folder(f), "more .*folder's manifest"),
        (lambda f: (f / "deep/c").write_text(""), "deep/c .*folder's manifest"),
        (lambda f: ((f / "a.txt").unlink(), os.mkfifo(f / "a.txt")), "no file"),
        (lambda f: ((f / NAME).rename(f / "m"), (f / NAME).symlink_to("m")), "manifest.json is a link"),
        (lambda f: change(f, files={f"f{n}": "0" * 64 for n in range(300)}), "names 300 files"),
        (lambda f: change(f, seed=1.5), "is not readable"),
        (lambda f: change(f, hash=5), "is not readable"),
    ],
)
def test_what_does_not_belong_into_an_artefact_is_refused(add, says, tmp_path):
    folder = artefact(tmp_path / "s")
    add(folder)
    with pytest.raises(InputError, match=says):
        opened(folder, "student")


def test_a_link_to_an_artefact_and_an_archive_of_it_are_refused(tmp_path):
    folder = artefact(tmp_path / "s")
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(InputError, match="is a link"):
        opened(tmp_path / "link", "student")
    archive = shutil.make_archive(str(tmp_path / "s"), "zip", folder)
    with pytest.raises(InputError, match=r"archive .*unpacked"):
        opened(Path(archive), "student")


def test_a_folder_that_is_too_large_is_refused(tmp_path, monkeypatch):
    folder = artefact(tmp_path / "s")
    monkeypatch.setattr("decision.artefact.manifest.MAX_FOLDER_BYTES", 8)
    with pytest.raises(InputError, match="is over 0 MiB"):
        opened(folder, "student")


def test_an_artefact_of_the_same_kind_is_replaced_whole(tmp_path):
    folder = artefact(tmp_path / "s")
    with writing(folder, "student") as work:
        (work / "only.txt").write_text("new")
    assert sorted(p.name for p in folder.iterdir()) == [NAME, "only.txt"]


@pytest.mark.parametrize("foreign", ["file in it", "other kind", "broken manifest", "file", "link"])
def test_nothing_foreign_is_overwritten(foreign, tmp_path):
    folder = tmp_path / "s"
    if foreign == "file":
        folder.write_text("precious")
    elif foreign == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    elif foreign == "other kind":
        artefact(folder, kind="teacher")
    else:
        folder.mkdir()
        (folder / (NAME if foreign == "broken manifest" else "thesis.tex")).write_text("precious")
    before = sorted(str(p) for p in tmp_path.rglob("*"))
    with pytest.raises(InputError, match="choose"), writing(folder, "student"):
        raise AssertionError("nothing is to be written")
    assert sorted(str(p) for p in tmp_path.rglob("*")) == before


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "s").mkdir()
    opened(artefact(tmp_path / "s"), "student")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_while_writing_leaves_everything_as_it_was(error, tmp_path):

    def fail(into):
        with writing(into, "student") as work:
            (work / "half.txt").write_text("half")
            raise error

    folder = artefact(tmp_path / "s")
    before = (folder / NAME).read_bytes()
    with pytest.raises(error):
        fail(folder)
    assert (folder / NAME).read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    with pytest.raises(error):
        fail(tmp_path / "new")
    assert [p.name for p in tmp_path.iterdir()] == ["s"]


def test_files_are_readable_by_others(tmp_path):
    """mkstemp and mkdtemp make them private; an artefact is to be shared."""
    from decision.artefact.output import write_atomically

    folder = artefact(tmp_path / "s")
    write_atomically(folder / "more.txt", "x")
    assert oct((folder / "more.txt").stat().st_mode & 0o777) == "0o644"
    assert os.access(folder, os.X_OK)
    assert oct(folder.stat().st_mode & 0o777) == "0o755"
    assert not [p for p in Path(folder).iterdir() if p.name.startswith(".")]


def test_a_file_that_the_manifest_does_not_name_is_refused(tmp_path: Path) -> None:
    """A header beside the C would be compiled in unseen."""
    with writing(tmp_path / "made", "student") as work:
        (work / "a.txt").write_text("a")
    (tmp_path / "made" / "stdint.h").write_text("#define INJECTED 1\n")
    with pytest.raises(InputError, match=r"stdint\.h .*folder's manifest"):
        opened(tmp_path / "made", "student")


def test_the_hash_covers_the_seed(tmp_path: Path) -> None:
    with writing(tmp_path / "made", "student", seed=1) as work:
        (work / "a.txt").write_text("a")
    manifest = tmp_path / "made" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(InputError, match="its hash differs"):
        opened(tmp_path / "made", "student")


def test_an_artefact_without_a_parent_says_so(tmp_path: Path) -> None:
    with writing(tmp_path / "made", "firmware", parents={"student": "ab"}) as work:
        (work / "a.txt").write_text("a")
    manifest = opened(tmp_path / "made", "firmware")
    assert manifest.parent("student", tmp_path / "made") == "ab"
    with pytest.raises(InputError, match=r"made .*which teacher"):
        manifest.parent("teacher", tmp_path / "made")
