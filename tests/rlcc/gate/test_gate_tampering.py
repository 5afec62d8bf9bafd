"""A good firmware folder tampered with in many ways: each is refused with a sentence of its own, and nothing is written
but, where the folder could be judged, a verdict of FAIL. No compiler sees C that is not as emitted."""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from decision.artefact import manifest
from rlcc import cli
from rlcc.reports import folder as reports
from verify.trusted.certificate import content_hash

Edit = Callable[[Path], None]
SECRET = "root:x:0:0"


def text(name: str, old: str, new: str) -> Edit:
    def edit(folder: Path) -> None:
        content = (folder / name).read_text()
        assert old in content, f"{name} has no {old}"
        (folder / name).write_text(content.replace(old, new, 1))

    return edit


def data(name: str, change: Callable[[Any], None]) -> Edit:
    def edit(folder: Path) -> None:
        content = json.loads((folder / name).read_text())
        change(content)
        (folder / name).write_text(json.dumps(content))

    return edit


def flip_leaf(content: Any) -> None:
    content["ensemble"]["trees"][0]["leaves"][0] ^= 1


def both(*edits: Edit) -> Edit:
    def edit(folder: Path) -> None:
        for one in edits:
            one(folder)

    return edit


def last_vector(change: Callable[[str], str]) -> Edit:
    def edit(folder: Path) -> None:
        lines = (folder / "vectors.csv").read_text().splitlines()
        lines[-1] = change(lines[-1])
        (folder / "vectors.csv").write_text("\n".join(line for line in lines if line) + "\n")

    return edit


def link(name: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).rename(folder.parent / "elsewhere")
        (folder / name).symlink_to(folder.parent / "elsewhere")

    return edit


def pipe(folder: Path) -> None:
    (folder / "rlcc_policy.h").unlink()
    os.mkfifo(folder / "rlcc_policy.h")


def oversized(folder: Path) -> None:
    os.truncate(folder / "vectors.inc", 2**34)  # no such bytes on the disk


def names(name: str) -> Edit:
    return data("manifest.json", lambda m: m["files"].update({name: hashlib.sha256(b"").hexdigest()}))


INCLUDE = text("rlcc_policy.c", '#include "rlcc_policy.h"', '#include "/etc/passwd"\n#include "rlcc_policy.h"')

# What was done -> the edit, the sentence; the manifest's hashes are right again (sealed), or as they were.
SEALED: dict[str, tuple[Edit, str]] = {
    "edited C": (text("rlcc_policy.c", "<< 14U", "<< 13U"), "different: rlcc_policy.c"),
    "C that reads /etc/passwd": (INCLUDE, "different: rlcc_policy.c"),
    "other defaults in the header": (
        text("rlcc_policy.h", "uint32_t rate_min_q30;", "uint32_t rate_max_q30;"),
        "different: rlcc_policy.h",
    ),
    "a flipped leaf in student and program": (
        both(data("student.json", flip_leaf), data("program.json", flip_leaf)),
        "rlcc_policy.c, student.json, trees_only.c, vectors.csv",
    ),
    "a vector less": (last_vector(lambda line: ""), "different: vectors.csv"),
    "half a vector": (last_vector(lambda line: line[:9]), "different: vectors.csv"),
    "another expectation": (
        last_vector(lambda line: line[:-1] + str((int(line[-1]) + 1) % 10)),
        "different: vectors.csv",
    ),
    "no header": (lambda folder: (folder / "rlcc_policy.h").unlink(), "different: rlcc_policy.h"),
    "one file more": (lambda folder: (folder / "stdint.h").write_text("typedef int uint32_t;"), "different: stdint.h"),
}
SEALED_REFUSED: dict[str, tuple[Edit, str]] = {
    "a flipped leaf": (data("student.json", flip_leaf), "is not the program of student.json beside it"),
    "another student's program": (data("program.json", flip_leaf), "is not the program of student.json beside it"),
    "another teacher in the student": (data("student.json", lambda s: s.update(teacher="0" * 64)), "rlcc_policy.c"),
    "counts that no float holds": (
        data("student.json", lambda s: s["report"].update(visits={"x": {"borders": [1], "counts": [10**400]}})),
        "more than 64 bits",
    ),
    "no student": (lambda folder: (folder / "student.json").unlink(), "holds none of student.json"),
    "a program of a bad operator": (data("program.json", lambda p: p["nodes"][0].update(op="exec")), "is not readable"),
    "a program without an end": (data("program.json", lambda p: p.update(results=[10**30])), "more than 64 bits"),
    "a number that JSON has not": (
        text("student.json", '"bias": ', '"bias": NaN, "x": '),
        "is not a number that JSON has",
    ),
}
AS_THEY_WERE: dict[str, tuple[Edit, str]] = {
    "edited C": (text("rlcc_policy.c", "<< 14U", "<< 13U"), "was changed after rlcc wrote it"),
    "a wrong claim in the manifest": (
        data("manifest.json", lambda m: m["details"].update(context_bytes=1)),
        "manifest.json was changed after rlcc wrote it",
    ),
    "one file more": (
        lambda folder: (folder / "stdint.h").write_text(""),
        "stdint.h is not in the folder's manifest.json",
    ),
    "a link in place of the C": (link("rlcc_policy.c"), "rlcc_policy.c is outside the folder or a link"),
    "a pipe in place of the header": (pipe, "there is no file"),
    "a file out of bounds": (oversized, "is over 64 MiB"),
    "a path up": (names("../secret"), "'../secret', which is outside the folder"),
    "a path from the root": (names("/etc/passwd"), "'/etc/passwd', which is outside the folder"),
    "a path through a link": (
        both(lambda folder: (folder / "etc").symlink_to("/etc"), names("etc/passwd")),
        "etc/passwd is outside the folder or a link",
    ),
    "another kind": (data("manifest.json", lambda m: m.update(kind="student")), "kind student, not"),
    "another teacher": (
        data("manifest.json", lambda m: m["parents"].update(teacher="0" * 64)),
        "manifest.json was changed",
    ),
    "a manifest nested without end": (
        lambda folder: (folder / "manifest.json").write_text("[" * 10**5),
        "manifest.json is not valid JSON",
    ),
    "no manifest": (lambda folder: (folder / "manifest.json").unlink(), "it has no manifest.json"),
}


@pytest.fixture
def copy(good: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(good, tmp_path / "copy"))


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever compiles or runs anything is found out; compilers may say their version."""
    real = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        assert command[-1] == "--version", command
        return real(command, **options)

    monkeypatch.setattr("subprocess.run", run)


def gated(copy: Path, firmware: Path) -> tuple[int, dict[str, Any] | None]:
    """Exit code and verdict, those of the quick gate alike; nothing but a verdict may have been written."""
    quick_code, quick = _gated(copy, firmware, "quick-verdict", "--quick")
    code, content = _gated(copy, firmware, "verdict")
    assert quick_code == code
    if content is not None and quick is not None:
        assert quick["not_judged"] == ["teacher", "network"]
        assert quick["checks"] == [row for row in content["checks"] if row["group"] not in quick["not_judged"]]
    return code, content


def _gated(copy: Path, firmware: Path, name: str, *more: str) -> tuple[int, dict[str, Any] | None]:
    before, out = {p for p in copy.rglob("*") if not p.is_relative_to(firmware)}, copy / name
    code = cli.main(["gate", str(firmware), "--recipe", str(copy / "good.toml"), "--out", str(out), *more])
    left = {p for p in copy.rglob("*") if not p.is_relative_to(firmware)} - before
    if code == 2:
        assert left == set()
        return code, None
    assert left == {out, *out.iterdir()}
    content: dict[str, Any] = json.loads((out / reports.JSON).read_text())
    return code, content


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("name", list(SEALED))
def test_a_sealed_folder_that_rlcc_does_not_emit_fails(
    good: Path, copy: Path, resealed: Any, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    edit, says = SEALED[name]
    firmware = resealed(good / "firmware", copy / "tampered", edit)
    code, content = gated(copy, firmware)
    assert code == 1
    assert content is not None
    check, _, *rest = content["checks"]
    assert check["id"] == "equality.emitted"
    assert {row["value"] for row in rest} == {"not reached"}
    assert says in check["value"]
    assert SECRET not in "".join(capsys.readouterr())


CLAIMS: dict[str, dict[str, Any]] = {
    "fewer bytes of context": {"context_bytes": 4},
    "a better form": {"form": None},
    "other parameters": {"params_default": {}},
    "a claim of its own": {"worst_case_cycles": 9},
    "vectors that are not there": {"vectors": 10**6},
}


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("claim", list(CLAIMS))
def test_a_wrong_claim_in_a_sealed_manifest_fails(copy: Path, claim: str) -> None:
    def seal(content: Any) -> None:
        content["details"] |= CLAIMS[claim]
        parts = (content[key] for key in ("kind", "files", "parents", "details", "seed"))
        content["hash"] = manifest.artefact_hash(*parts)

    data("manifest.json", seal)(copy / "firmware")
    code, content = gated(copy, copy / "firmware")
    assert code == 1
    assert content is not None
    assert content["checks"][0]["value"] == "different: manifest.json: details"
    assert {row["value"] for row in content["checks"][2:]} == {"not reached"}


HEADERS: dict[str, dict[str, Any]] = {
    "a parent that is no hash": {"parents": {"student": "x"}},
    "a parent that ends a comment": {"parents": {"student": "00000001*/ #"}},
    "no parents but the teacher": {"parents": {}},
    "a seed below zero": {"seed": -1},
    "a seed without end": {"seed": 10**3000},
}


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("name", list(HEADERS))
def test_a_sealed_manifest_of_odd_values_is_refused(copy: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def seal(content: Any) -> None:
        teacher = content["parents"]["teacher"]
        content |= HEADERS[name]
        content["parents"]["teacher"] = teacher
        parts = (content[key] for key in ("kind", "files", "parents", "details", "seed"))
        content["hash"] = manifest.artefact_hash(*parts)

    data("manifest.json", seal)(copy / "firmware")
    assert gated(copy, copy / "firmware")[0] == 2
    told = capsys.readouterr().err
    assert any(said in told for said in ("manifest.json is not", "say which student"))
    assert "unexpected" not in told


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("name", list(SEALED_REFUSED))
def test_a_sealed_folder_that_contradicts_itself_is_refused(
    good: Path, copy: Path, resealed: Any, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    edit, says = SEALED_REFUSED[name]
    code, content = gated(copy, resealed(good / "firmware", copy / "tampered", edit))
    told = "".join(capsys.readouterr()) + json.dumps(content)
    assert code == 2 or (content is not None and content["verdict"] == "FAIL")
    assert says in told
    assert "unexpected" not in told


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("name", list(AS_THEY_WERE))
def test_a_folder_that_is_not_what_was_written_is_refused(
    copy: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    edit, says = AS_THEY_WERE[name]
    edit(copy / "firmware")
    code, _ = _gated(copy, copy / "firmware", "verdict")
    told = capsys.readouterr().err
    assert code == 2
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    assert says in told
    assert "unexpected" not in told


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("kind", ["zip", "tar", "link"])
def test_what_is_no_folder_is_refused(copy: Path, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    place = copy / "link"
    if kind == "link":
        place.symlink_to(copy / "firmware")
    else:
        place = Path(shutil.make_archive(str(copy / "archive"), kind, copy / "firmware"))
    assert gated(copy, place)[0] == 2
    assert ("is a link" if kind == "link" else "to be unpacked") in capsys.readouterr().err


def forged(change: Callable[[Any], None]) -> Edit:
    """A certificate whose own hash is right."""

    def edit(path: Path) -> None:
        content = json.loads(path.read_text())
        change(content)
        content["hash"] = content_hash(content)
        path.write_text(json.dumps(content))

    return edit


def fewer_cycles(content: Any) -> None:
    for key in ("bound", "exact", "rtl_cycles"):
        content["claims"]["worst_case"][key] -= 1


CERTIFICATES: dict[str, tuple[Edit, str]] = {
    "of another firmware": (forged(lambda c: c["subject"].update(firmware="0" * 64)), "is for another firmware"),
    "of other machine code": (forged(lambda c: c["subject"].update(image="0" * 64)), "is for another image"),
    "of a cycle less": (forged(fewer_cycles), "the witness takes"),
    "of another engine": (forged(lambda c: c["engine"]["profile"]["clock"].update(mhz=999)), "it is of the engine"),
    "edited": (text("certificate.json", '"safety": true', '"safety": false'), "safety"),
    "of a flag": (forged(lambda c: c["subject"]["flags"].insert(0, "-fplugin=/tmp/x.so")), "is for another flags"),
    "missing": (lambda path: path.unlink(), "there is none"),
}


@pytest.mark.parametrize("name", list(CERTIFICATES))
def test_a_certificate_that_is_not_this_firmwares_fails(copy: Path, name: str) -> None:
    edit, says = CERTIFICATES[name]
    path = copy / "certificate/certificate.json"
    edit(path.parent if name == "edited" else path)
    code, content = _gated(copy, copy / "firmware", "verdict", "--quick")
    assert code == 1
    assert content is not None
    failed = [check for check in content["checks"] if not check["passed"]]
    assert [check["group"] for check in failed] == ["proof"]
    assert says in failed[0]["value"]
    assert content["measured"]["worst_case_cycles"] is None


def test_the_folder_that_was_tampered_with_is_good(good: Path, copy: Path, resealed: Any) -> None:
    """Else all of the above would be refused for another reason."""
    assert gated(copy, copy / "firmware")[0] == 0
    known = manifest.opened(good / "firmware", "firmware")
    same = resealed(good / "firmware", copy / "tampered", lambda _: None)
    assert manifest.opened(same, "firmware").hash == known.hash
