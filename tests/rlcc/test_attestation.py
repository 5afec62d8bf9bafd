"""An attestation is believed where key, files, claims and type are all as signed, and refused after any one byte."""

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from decision.artefact.errors import InputError
from decision.artefact.manifest import opened, sha256
from rlcc import attestation, cli, predicate
from rlcc.gate.certified import PLACE
from rlcc.gate.verdict import Check
from verify.trusted.certificate import content_hash

ROOT = Path(__file__).resolve().parents[2]


def save_key(path: Path, seed: bytes = bytes(32)) -> Path:
    key = Ed25519PrivateKey.from_private_bytes(seed)
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(pem, pkcs8, serialization.NoEncryption()))
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    path.with_suffix(".pub").write_bytes(key.public_key().public_bytes(pem, public))
    return path


@pytest.fixture(scope="module")
def attested(pipeline: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a firmware, its certificate, the key and the envelope of `rlcc attest`."""
    root = tmp_path_factory.mktemp("attested")
    shutil.copytree(pipeline.firmware, root / "firmware")
    shutil.copytree(pipeline.firmware.parent / PLACE.parent, root / PLACE.parent)
    key = save_key(root / "signer.pem")
    arguments = ["attest", root / "firmware", "--key", key, "--teacher", pipeline.teacher]
    arguments += ["-o", root / "envelope.json"]
    assert cli.main([str(each) for each in arguments]) == 0
    return root


@pytest.fixture
def signed(attested: Path, tmp_path: Path) -> Path:
    """A copy of the folder that a test may edit."""
    return shutil.copytree(attested, tmp_path, dirs_exist_ok=True)


def check(folder: Path) -> Check:
    places = (folder / "firmware", folder / PLACE, folder / "envelope.json", folder / "signer.pub")
    return attestation.attested(*places)


def sign_again(folder: Path, kind: str | None = None, **changes: Any) -> None:
    """The statement with changes, signed by the very key: what only the comparison can refuse."""
    data = json.loads((folder / "envelope.json").read_text())
    content = json.loads(base64.b64decode(data["payload"])) | changes
    sign_bytes(folder, json.dumps(content).encode(), kind)


def sign_bytes(folder: Path, payload: bytes, kind: str | None = None) -> None:
    """Any bytes at all, signed by the very key."""
    data = json.loads((folder / "envelope.json").read_text())
    kind = kind or data["payloadType"]
    signature = Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(attestation.pre_authentication(kind, payload))
    sealed = {"keyid": "", "sig": base64.b64encode(signature).decode()}
    data |= {"payloadType": kind, "payload": base64.b64encode(payload).decode(), "signatures": [sealed]}
    (folder / "envelope.json").write_text(json.dumps(data))


def edit(folder: Path, key: str, change: Callable[[Any], Any]) -> None:
    data = json.loads((folder / "envelope.json").read_text())
    data[key] = change(data[key])
    (folder / "envelope.json").write_text(json.dumps(data))


def of_payload(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def changed(text: str) -> str:
        before = base64.b64decode(text)
        assert change(before) != before
        return base64.b64encode(change(before)).decode()

    return lambda folder: edit(folder, "payload", changed)


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def replaced(path: Path, before: bytes) -> None:
    """A digit more of the one number behind this; another byte may be in a cut of a certificate, which is no claim."""
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, before + b"1"))


def cut(path: Path) -> None:
    path.write_text(path.read_text()[:-9])


def another_certificate(folder: Path) -> None:
    """Whole and of this firmware, with one cycle less."""
    path = folder / PLACE
    data = json.loads(path.read_text())
    data["claims"]["worst_case"]["bound"] -= 1
    data["hash"] = content_hash(data)
    path.write_text(json.dumps(data))


def test_it_holds_where_nothing_was_changed(signed: Path) -> None:
    held = check(signed)
    assert held.passed
    assert held.value.startswith("signed by ")
    assert held.group == "proof"


def test_the_statement_names_every_file_and_the_certificates_claims(signed: Path) -> None:
    envelope = json.loads((signed / "envelope.json").read_text())
    said = json.loads(base64.b64decode(envelope["payload"]))
    assert (envelope["payloadType"], said["_type"]) == (attestation.PAYLOAD_TYPE, attestation.STATEMENT_TYPE)
    files = {each["name"]: each["digest"]["sha256"] for each in said["subject"]}
    on_disk = {str(p.relative_to(signed / "firmware")): sha256(p.read_bytes()) for p in (signed / "firmware").rglob("*")
               if p.is_file()}  # fmt: skip
    assert files == on_disk
    certificate = json.loads((signed / PLACE).read_text())
    assert said["predicate"]["claims"] == certificate["claims"]
    assert said["predicate"]["certificate"] == certificate["hash"]
    assert said["predicate"]["subject"]["firmware"] == opened(signed / "firmware", "firmware").hash


def test_the_same_firmware_and_key_give_the_same_bytes(signed: Path, pipeline: Any) -> None:
    again = attestation.attest(signed / "firmware", signed / PLACE, signed / "signer.pem", pipeline.teacher)
    assert again == (signed / "envelope.json").read_text()


def test_any_dsse_tool_would_accept_it(signed: Path) -> None:
    """The encoding of the protocol's own example, and the signature over it by the library alone."""
    assert attestation.pre_authentication("http://example.com/HelloWorld", b"hello world") == (
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    )
    envelope = json.loads((signed / "envelope.json").read_text())
    payload, kind = base64.b64decode(envelope["payload"]), envelope["payloadType"].encode()
    message = b" ".join([b"DSSEv1", str(len(kind)).encode(), kind, str(len(payload)).encode(), payload])
    key = serialization.load_pem_public_key((signed / "signer.pub").read_bytes())
    key.verify(base64.b64decode(envelope["signatures"][0]["sig"]), message)


DOUBLED = b'{"_type": "https://in-toto.io/Statement/v1", "_type": "https://in-toto.io/Statement/v1"}'
PAYLOADS: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"in-toto",
    "nested 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "nested 70 deep": b"[" * 70 + b"]" * 70,
    "an integer of 10,000 digits": b"9" * 10_000,
    "an integer of 65 bits": str(2**64).encode(),
    "no UTF-8": b'"\xff\xfe"',
    "half a character": rb'{"_type": "\ud800"}',
    "not a number": b"NaN",
    "beyond floats": b"1e999",
    "a key twice": DOUBLED,
    "a number": b"7",
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_payload_that_is_no_statement_is_refused_though_it_is_signed(name: str, signed: Path) -> None:
    sign_bytes(signed, PAYLOADS[name])
    refused = check(signed)
    assert not refused.passed
    assert refused.value.startswith("refused: ")


def test_a_key_that_stands_twice_is_refused_though_both_say_what_is_due(signed: Path) -> None:
    payload = base64.b64decode(json.loads((signed / "envelope.json").read_text())["payload"])
    sign_bytes(signed, payload)
    assert check(signed).passed
    sign_bytes(
        signed, payload.replace(b'"predicateType":', b'"_type":"https://in-toto.io/Statement/v1","predicateType":', 1)
    )
    assert "twice" in check(signed).value


@pytest.mark.parametrize(("true", "other"), [(b'"equality":true', b'"equality":1'), (b'"above":0', b'"above":false')])
def test_a_truth_value_and_a_number_are_two_claims(signed: Path, true: bytes, other: bytes) -> None:
    payload = base64.b64decode(json.loads((signed / "envelope.json").read_text())["payload"])
    assert true in payload
    sign_bytes(signed, payload.replace(true, other, 1))
    assert "than the certificate" in check(signed).value


MUTANTS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a byte of the claims": (of_payload(lambda p: p.replace(b'"safety":true', b'"safety":tRue')), "no signature"),
    "a figure of the claims": (of_payload(lambda p: p.replace(b'"bound":', b'"bound":1')), "no signature"),
    "a byte of a digest": (of_payload(lambda p: p.replace(b'"sha256":"', b'"sha256":"0', 1)), "no signature"),
    "another key": (lambda f: save_key(f / "signer.pem", b"\1" * 32), "no signature"),
    "a byte of the signature": (
        lambda f: edit(f, "signatures", lambda s: [{**s[0], "sig": base64.b64encode(bytes(64)).decode()}]),
        "no signature",
    ),
    "no signature": (lambda f: edit(f, "signatures", lambda s: []), "no signature"),
    "the payload's type": (lambda f: edit(f, "payloadType", lambda k: k + "x"), "no signature"),
    "another type, signed": (lambda f: sign_again(f, kind="text/plain"), "the payload's type is 'text/plain'"),
    "a truncated envelope": (lambda f: cut(f / "envelope.json"), "whole"),
    "a truncated payload": (lambda f: edit(f, "payload", lambda p: p[:-3]), "whole"),
    "a strange letter": (lambda f: edit(f, "payload", lambda p: p[:8] + "\n" + p[8:]), "whole"),
    "no envelope": (lambda f: (f / "envelope.json").unlink(), "whole"),
    "an empty list": (lambda f: (f / "envelope.json").write_text("[]"), "whole"),
    "another kind of statement": (lambda f: sign_again(f, _type="https://in-toto.io/Statement/v0.1"), "no in-toto"),
    "another predicate": (lambda f: sign_again(f, predicateType="https://slsa.dev/provenance/v1"), "predicate is"),
    "a file less, signed": (lambda f: sign_again(f, subject=[]), "other files"),
    "other claims, signed": (lambda f: sign_again(f, predicate={}), "other things"),
    "something besides, signed": (lambda f: sign_again(f, more=1), "other things"),
    "a claim of the certificate": (lambda f: replaced(f / PLACE, b'"rtl_cycles": '), "other things"),
    "a byte of the certificate": (lambda f: replaced(f / PLACE, b'{\n  "assumptions'), "no certificate"),
    "another certificate": (another_certificate, "other things"),
    "no certificate": (lambda f: (f / PLACE).unlink(), "no certificate"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_change_is_refused(signed: Path, mutant: str) -> None:
    change, said = MUTANTS[mutant]
    change(signed)
    refused = check(signed)
    assert not refused.passed
    assert said in refused.value


def test_another_firmwares_statement_is_refused(signed: Path, pipeline: Any) -> None:
    shutil.copytree(pipeline.student, signed / "student")
    arguments = ["emit", signed / "student", "--seed", "77", "--out", signed / "firmware"]
    assert cli.main([str(each) for each in arguments]) == 0
    assert "other files" in check(signed).value


def test_a_byte_of_the_firmware_is_refused_before_anything_is_judged(signed: Path) -> None:
    flipped(signed / "firmware/rlcc_policy.c")
    with pytest.raises(InputError, match=r"rlcc_policy\.c was changed"):
        check(signed)


def test_the_gate_has_a_row_for_it(signed: Path, pipeline: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """And a FAIL of it alone is a FAIL."""
    asked = ["gate", signed / "firmware", "--recipe", pipeline.recipe, "--key", signed / "signer.pub"]
    asked += ["--attestation", signed / "envelope.json"]
    assert cli.main([str(each) for each in asked]) == 0
    sign_again(signed, predicate={})
    assert cli.main([str(each) for each in asked]) == 1
    checks = json.loads((signed / "verdict/verdict.json").read_text())["checks"]
    assert [each["id"] for each in checks if not each["passed"]] == ["proof.attestation"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--attestation", "envelope.json"], "give --attestation and --key"),
        (["--key", "signer.pub"], "give --attestation and --key"),
    ],
)
def test_attestation_and_key_go_together(
    pipeline: Any, tmp_path: Path, refused: Any, arguments: list[str], said: str
) -> None:
    out = ("--out", tmp_path / "verdict")  # a gate that is refused leaves no verdict, so none of the others'
    assert said in refused("gate", pipeline.firmware, "--recipe", pipeline.recipe, *out, *arguments)


def test_bad_keys_are_one_sentence(signed: Path, refused: Any) -> None:
    key = signed / "other.pem"
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    for content in (
        b"no key",
        X25519PrivateKey.generate().private_bytes(pem, pkcs8, serialization.NoEncryption()),
        Ed25519PrivateKey.generate().private_bytes(pem, pkcs8, serialization.BestAvailableEncryption(b"word")),
        (signed / "signer.pub").read_bytes(),
    ):
        key.write_bytes(content)
        assert "other.pem" in refused("attest", signed / "firmware", "--key", key, "-o", signed / "new.json")
    assert not (signed / "new.json").exists()
    for content in (b"no key", (signed / "signer.pem").read_bytes()):
        key.write_bytes(content)
        with pytest.raises(InputError, match="key in PEM"):
            attestation.attested(signed / "firmware", signed / PLACE, signed / "envelope.json", key)


def test_a_certificate_of_another_firmware_is_not_attested(signed: Path, pipeline: Any, refused: Any) -> None:
    another = signed / "again/firmware"
    assert cli.main(["emit", str(pipeline.student), "--seed", "77", "--out", str(another)]) == 0
    said = refused(
        *("attest", another, "--certificate", signed / PLACE, "--key", signed / "signer.pem", "-o", signed / "n.json")
    )
    assert "of another firmware" in " ".join(said.split())


def test_the_documented_schema_is_the_predicates() -> None:
    documented = json.loads((ROOT / "docs/reference/attestation.schema.json").read_text())
    assert documented == predicate.schema(), (
        "write docs/reference/attestation.schema.json anew: "
        "python -c 'import json; from rlcc import predicate; print(json.dumps(predicate.schema(), indent=2))'"
    )


def test_nobody_signs_what_does_not_hold(signed: Path, pipeline: Any) -> None:
    """A certificate sealed anew that says too much: exit code 1, and no envelope."""
    another_certificate(signed)
    out = signed / "forged.json"
    arguments = ["attest", signed / "firmware", "--key", signed / "signer.pem", "-o", out]
    assert cli.main([*map(str, arguments), "--teacher", str(pipeline.teacher)]) == 1
    assert not out.exists()
