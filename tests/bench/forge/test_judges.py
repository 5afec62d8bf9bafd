"""Judges, seals and memory: answers are told apart, hashes are right again, only the same question is remembered."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.forge import judges, memory, seal, session
from bench.forge.judges import Files, commanded, read
from bench.forge.memory import ForgeryMemory, contents, remembering
from bench.forge.subjects import ForgerySubject
from decision.artefact.errors import InputError
from decision.artefact.manifest import opened
from decision.artefact.output import writing
from rlcc import cli
from rlcc.attestation import PAYLOAD_TYPE, pre_authentication
from verify.trusted.certificate import read_certificate


@pytest.mark.parametrize(
    ("does", "outcome"),
    [
        (lambda: 0, "accepted"),
        (lambda: 1, "refused"),
        (lambda: 2, "refused"),
        (lambda: 3, "crashed"),
        (lambda: print("unexpected ValueError: x (a defect in rlcc; ..)") or 2, "crashed"),
        (lambda: 1 // 0, "crashed"),
        (lambda: (_ for _ in ()).throw(judges.NoEnd("no answer")), "crashed"),
    ],
)
def test_exit_codes_are_answers(monkeypatch: pytest.MonkeyPatch, does: Any, outcome: str) -> None:
    monkeypatch.setattr(cli, "main", lambda arguments: does())
    assert commanded("check", ["verify"]).outcome == outcome


def test_readers_are_answers() -> None:
    def refuse() -> None:
        raise InputError("it is none")

    assert read("r", lambda: "whole").outcome == "accepted"
    assert read("r", refuse).outcome == read("r", lambda: False).outcome == "refused"
    assert read("r", lambda: {}["x"]).outcome == "crashed"


def test_a_judge_without_an_end_is_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import os

    monkeypatch.setattr(judges, "PATIENCE_S", 1)
    os.mkfifo(tmp_path / "pipe")
    answer = read("r", lambda: (tmp_path / "pipe").read_bytes())
    assert answer.outcome == "crashed"
    assert "after 1 s" in answer.said


def test_a_certificate_is_sealed_again(tmp_path: Path, certificate: dict[str, Any]) -> None:
    path = tmp_path / "certificate.json"
    certificate = {**certificate, "assumptions": ["none"]}
    path.write_text(json.dumps(certificate))
    with pytest.raises(InputError, match="changed after"):
        read_certificate(path)
    path.write_bytes(seal.sealed_certificate(path.read_bytes()))
    assert read_certificate(path).assumptions == ["none"]
    assert seal.sealed_certificate(b"{") == b"{"


def test_a_manifest_is_sealed_again(tmp_path: Path) -> None:
    with writing(tmp_path / "a", "student", seed=1) as work:
        (work / "x.txt").write_text("1")
    (tmp_path / "a/x.txt").write_text("2")
    with pytest.raises(InputError, match="was changed"):
        opened(tmp_path / "a", "student")
    seal.listed(tmp_path / "a")
    assert opened(tmp_path / "a", "student").seed == 1


def test_a_payload_is_signed() -> None:
    import base64

    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    data = json.loads(seal.signed(b"no json", key))
    payload, signature = base64.b64decode(data["payload"]), base64.b64decode(data["signatures"][0]["sig"])
    assert payload == b"no json"
    key.public_key().verify(signature, pre_authentication(PAYLOAD_TYPE, payload))


def test_only_the_same_arguments_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    import verify.check.on_core as holder

    asked: list[Any] = []

    def calibrate(profile: Any, *, progress: Any = None) -> Any:
        asked.append(profile)
        return [profile]

    monkeypatch.setattr(holder, "calibrate", calibrate)
    with remembering(ForgeryMemory()) as kept:
        for profile in ({"mhz": 1}, {"mhz": 1}, {"mhz": 2}, {"mhz": 1}):
            assert holder.calibrate(profile, progress=print) == [profile]
    assert asked == [{"mhz": 1}, {"mhz": 2}]
    assert (kept.asked, kept.found) == (4, 2)
    assert holder.calibrate is calibrate


def test_what_is_remembered_is_there() -> None:
    with remembering(ForgeryMemory()):
        pass
    assert memory.key_of([1], print) == memory.key_of([1])
    assert memory.key_of([1]) != memory.key_of([2])
    assert memory.key_of(iter([1])) is None


def test_a_raised_error_and_old_results_are_forgotten() -> None:
    kept = ForgeryMemory()
    with pytest.raises(InputError):
        kept.of("f", "k", lambda: (_ for _ in ()).throw(InputError("no")))
    assert kept.of("f", "k", lambda: 1) == 1
    for n in range(memory.LATEST):
        kept.of("f", f"other {n}", lambda: 0)
    assert kept.of("f", "k", lambda: 2) == 2


def test_contents_tell_links_and_bytes_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = contents(tmp_path)
    (tmp_path / "a").write_text("2")
    changed = contents(tmp_path)
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to("/dev/null")
    assert len({str(before), str(changed), str(contents(tmp_path))}) == 3


def test_the_command_line_is_asked_as_it_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[Any] = []

    def run(command: list[str], **options: Any) -> Any:
        asked.append(command[1:])
        assert options["env"]["XDG_CACHE_HOME"] == str(tmp_path.resolve()), "a cache of its own"
        return subprocess.CompletedProcess(command, 1, "refused", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert judges.in_a_process(["verify", Path("x")], "check", tmp_path).outcome == "refused"
    assert asked == [["-m", "rlcc", "verify", "x"]]


def test_what_was_forged_is_undone_and_a_vast_file_is_not_read(subject: ForgerySubject, tmp_path: Path) -> None:
    place = session.prepared_copy(subject, tmp_path)
    true = {p.relative_to(place): p.read_bytes() for p in place.rglob("*") if p.is_file()}
    certificate = Files(place).certificate
    with certificate.open("wb") as file:
        file.truncate(1 << 40)  # more than any machine has memory
    assert not judges._speaks_of_a_teacher(certificate)
    (place / "more").write_text("x")
    session.restore(subject, place)
    assert {p.relative_to(place): p.read_bytes() for p in place.rglob("*") if p.is_file()} == true
