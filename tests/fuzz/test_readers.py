"""Readers of files from outside: what is damaged gives an InputError or a result, no other error, no loop, no bomb."""

import base64
import contextlib
import json
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import bounded, damaged, twisted, twisted_text

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import artefact_hash, opened, sha256
from decision.ir.program import Program
from decision.ir.program_json import program_from_json
from decision.policy.model import load_model
from decision.policy.policy import load_policy
from decision.policy.student import load_student
from distill.rollout import FILE as ROLLOUTS
from emulator.elf import read_image, undefined_and_static
from emulator.firmware import ENTRY
from emulator.layout import Layout, read_layouts
from emulator.objects import check_code
from emulator.profile import load_profile
from emulator.sources import checked
from emulator.vectors import check_against_program, read_vectors
from rlcc import attestation
from rlcc.gate.reference import read_reference
from rlcc.gate.teacher_match import compare, given_rollouts
from rlcc.recipe import load_recipe
from teachers.load import load
from verify.trusted.certificate import content_hash, read_certificate

Reader = Callable[[Path, Path], object]
ROOT = Path(__file__).resolve().parents[2]
QUIET = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def layouts_of(program: Path, corpus: Path) -> tuple[Program, dict[str, Layout]]:
    read, details = program_from_json(load_json(program)), load_json(corpus / "firmware/manifest.json")["details"]
    return read, read_layouts(details, read, "the manifest")


def program_and_vectors(path: Path, corpus: Path) -> None:
    program, layouts = layouts_of(path, corpus)
    content = (corpus / "firmware/vectors.csv").read_bytes()
    check_against_program(read_vectors(content, layouts, program, "vectors.csv"), program, str(path))


def vectors(path: Path, corpus: Path) -> None:
    program, layouts = layouts_of(corpus / "firmware/program.json", corpus)
    read_vectors(path.read_bytes(), layouts, program, str(path))


def rollouts(path: Path, corpus: Path) -> None:
    """Sealed anew: what the hash would tell is not what is tried here."""
    manifest = load_json(corpus / "rollouts/manifest.json")
    manifest["files"][ROLLOUTS] = sha256(path.read_bytes())
    parts = (manifest[key] for key in ("kind", "files", "parents", "details", "seed"))
    (path.parent / "manifest.json").write_text(dump_json(manifest | {"hash": artefact_hash(*parts)}))
    teacher, student = load(corpus / "teacher"), load_student(corpus / "student/student.json")
    runs = given_rollouts(path, teacher)
    compare(student.program(), student.observation, student.params(), teacher, runs, "rollouts")


def certificate(path: Path, _: Path) -> None:
    """Sealed anew, where it has the parts that its hash is of."""
    content = load_json(path)
    with suppress(KeyError, TypeError, AttributeError):
        path.write_text(json.dumps({**content, "hash": content_hash(content)}))
    read_certificate(path)


def envelope(path: Path, corpus: Path) -> None:
    """What does not state this firmware is refused, never an error."""
    firmware = opened(corpus / "firmware", "firmware")
    check = attestation.attested(firmware, corpus / "certificate.json", path, corpus / "signer.pub")
    honest = load_json(corpus / "envelope.json")
    if check.passed:
        assert {key: load_json(path)[key] for key in ("payload", "payloadType")} == {
            key: honest[key] for key in ("payload", "payloadType")
        }


def payload(path: Path, corpus: Path) -> None:
    """Signed by the very key, whatever it is: it is what is due, or refused."""
    content, kind = path.read_bytes(), attestation.PAYLOAD_TYPE
    key = attestation.private_key(corpus / "signer.pem")
    signature = key.sign(attestation.pre_authentication(kind, content))
    parts = {"payloadType": kind, "payload": base64.b64encode(content).decode()}
    signed = parts | {"signatures": [{"keyid": "", "sig": base64.b64encode(signature).decode()}]}
    (path.parent / "envelope.json").write_text(json.dumps(signed))
    firmware = opened(corpus / "firmware", "firmware")
    check = attestation.attested(
        firmware, corpus / "certificate.json", path.parent / "envelope.json", corpus / "signer.pub"
    )
    assert not check.passed or load_json(path) == load_json(corpus / "payload.json")


def weights(path: Path, corpus: Path) -> None:
    (path.parent / "policy.toml").write_bytes((corpus / "teacher/policy.toml").read_bytes())
    load(path)


def elf(path: Path, _: Path) -> None:
    for read in (read_image, undefined_and_static, lambda p: check_code(p, ENTRY)):
        with contextlib.suppress(InputError):
            read(path)


# What is read -> the file, its reader, and whether it is JSON.
READERS: dict[str, tuple[str, Reader]] = {
    "student.json": ("student/student.json", lambda p, _: load_student(p).params()),
    "program.json": ("firmware/program.json", program_and_vectors),
    "certificate.json": ("certificate.json", certificate),
    "model.json": ("model.json", lambda p, _: load_model(p)),
    "envelope.json": ("envelope.json", envelope),
    "payload.json": ("payload.json", payload),
    "verdict.json": ("verdict.json", lambda p, _: read_reference(p)),
    "vectors.csv": ("firmware/vectors.csv", vectors),
    "rlcc_policy.c": ("firmware/rlcc_policy.c", lambda p, _: checked(p.read_bytes(), str(p))),
    "policy.toml": ("teacher/policy.toml", lambda p, _: load_policy(p)),
    "rollouts.parquet": ("rollouts/rollouts.parquet", rollouts),
    "policy.safetensors": ("teacher/policy.safetensors", weights),
    "program.elf": ("program.elf", elf),
    "policy.o": ("policy.o", elf),
    "recipe.toml": (str(ROOT / "recipes/rl-cc.toml"), lambda p, _: load_recipe(p)),
    "profile.toml": (str(ROOT / "emulator/profiles/ibex-small.toml"), lambda p, _: load_profile(p)),
}
JSON = [name for name in READERS if name.endswith(".json")]


def refused_or_read(read: Callable[[], object]) -> bool:
    """Whether it was read. Anything but an InputError of one line is the defect that is looked for."""
    said = None
    with bounded():
        try:
            read()
        except InputError as error:
            said = str(error)
    assert said is None or (said and said.isprintable())
    return said is None


@pytest.mark.parametrize("name", list(READERS))
def test_the_whole_file_is_read(name: str, corpus: Path, tmp_path: Path) -> None:
    """Else every damaged one would be refused for nothing."""
    source, read = READERS[name]
    (tmp_path / name).write_bytes((corpus / source).read_bytes())
    assert refused_or_read(lambda: read(tmp_path / name, corpus))


@pytest.mark.parametrize("name", list(READERS))
@QUIET
@given(data=st.data())
def test_damaged_bytes(name: str, corpus: Path, tmp_path: Path, data: st.DataObject) -> None:
    source, read = READERS[name]
    (tmp_path / name).write_bytes(data.draw(damaged((corpus / source).read_bytes())))
    refused_or_read(lambda: read(tmp_path / name, corpus))


@pytest.mark.parametrize("name", JSON)
@QUIET
@given(data=st.data())
def test_twisted_json(name: str, corpus: Path, tmp_path: Path, data: st.DataObject) -> None:
    source, read = READERS[name]
    text = data.draw(twisted_text(json.loads((corpus / source).read_text())))
    (tmp_path / name).write_text(text, errors="replace")
    refused_or_read(lambda: read(tmp_path / name, corpus))


@QUIET
@given(data=st.data())
def test_twisted_manifests(corpus: Path, tmp_path: Path, data: st.DataObject) -> None:
    """A folder whose manifest is twisted, then sealed again where that is possible."""
    folder = tmp_path / "firmware"
    if not folder.exists():
        folder.mkdir()
        for path in (corpus / "firmware").iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
    text = data.draw(twisted_text(json.loads((corpus / "firmware/manifest.json").read_text())))
    try:
        content = json.loads(text)
        parts = (content[key] for key in ("kind", "files", "parents", "details", "seed"))
        text = json.dumps(content | {"hash": artefact_hash(*parts)})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    (folder / "manifest.json").write_text(text, errors="replace")

    def read() -> None:
        program = program_from_json(load_json(folder / "program.json"))
        read_layouts(opened(folder, "firmware").details, program, "the manifest")

    refused_or_read(read)


def toml_text(data: Any) -> str:
    """TOML of plain data, in inline tables: as it may be, not as people write it."""
    if isinstance(data, dict):
        return "{" + ", ".join(f"{json.dumps(k)} = {toml_text(v)}" for k, v in data.items()) + "}"
    if isinstance(data, list):
        return "[" + ", ".join(map(toml_text, data)) + "]"
    return '"none"' if data is None else json.dumps(data)


TOML = [name for name in READERS if name.endswith(".toml")]


@pytest.mark.parametrize("name", TOML)
@QUIET
@given(data=st.data())
def test_twisted_toml(name: str, corpus: Path, tmp_path: Path, data: st.DataObject) -> None:
    source, read = READERS[name]
    content = data.draw(twisted(tomllib.loads((corpus / source).read_text())))
    entries = content.items() if isinstance(content, dict) else [("x", content)]
    text = "\n".join(f"{json.dumps(key)} = {toml_text(value)}" for key, value in entries)
    for token in data.draw(
        st.lists(st.sampled_from(["nan", "inf", "-inf", "1e400", "2020-01-01", "00:00:00"]), max_size=1)
    ):
        text = text.replace("1", token, 1)
    (tmp_path / name).write_text(text, errors="replace")
    refused_or_read(lambda: read(tmp_path / name, corpus))
