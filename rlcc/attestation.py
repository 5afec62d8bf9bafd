"""The signed claims of a certificate about a firmware folder: in-toto in a DSSE envelope (docs/how-to/attestation.md).

    files of the folder + claims of the certificate --statement--> bytes --PAE, Ed25519--> envelope

https://github.com/in-toto/attestation (Statement v1), https://github.com/secure-systems-lab/dsse (protocol, v1).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from decision.artefact.documents import dump_json, load_json, parse_json, read_bytes
from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.artefact.manifest import NAME, Opened, of_kind, opened, sha256
from rlcc.gate.names import named
from rlcc.gate.verdict import Check
from rlcc.predicate import predicate_of
from verify.trusted.certificate import Certificate, certificate_of, read_certificate

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:x-rlcc:firmware-claims:v1"
MAKE_KEY = "make one: openssl genpkey -algorithm ed25519"


class RefusedAttestation(Exception):
    """Why an envelope attests nothing of this firmware: one phrase."""


def statement(firmware: Opened, certificate: Certificate) -> dict[str, Any]:
    """Each file of the folder with its SHA-256, the manifest too, and the certificate's claims."""
    files = {**firmware.files, NAME: sha256(firmware.contents[NAME])}
    return {
        "_type": STATEMENT_TYPE,
        "subject": [{"name": name, "digest": {"sha256": files[name]}} for name in sorted(files)],
        "predicateType": PREDICATE_TYPE,
        "predicate": predicate_of(certificate).model_dump(mode="json"),
    }


def attest(
    firmware: Path,
    certificate_file: Path,
    key_file: Path,
    teacher: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """The envelope's text; the same bytes for the same folder, certificate and key. ``teacher``: of the distance that
    the certificate claims. InputError where the certificate is another firmware's, or the key is no private Ed25519
    key; ``RefusedAttestation`` where the certificate does not hold, so that nobody signs what is not so."""
    from rlcc.gate.certificate_check import hold
    from rlcc.gate.check_cache import Remembered
    from teachers.load import load
    from verify.check.recheck import rebuilt
    from verify.check.refused import Refused as NotHeld

    key, manifest, content = private_key(key_file), opened(firmware, "firmware"), read_bytes(certificate_file)
    certificate = certificate_of(content, str(certificate_file))
    if certificate.subject.firmware != manifest.hash:
        raise InputError(f"{certificate_file} is of another firmware than {firmware}; give the certificate of this one")
    if certificate.teacher is not None and teacher is None:
        raise InputError(f"{certificate_file} claims a distance from a teacher; give it: --teacher")
    beside = None if teacher is None else load(teacher)
    try:
        build = rebuilt(certificate, manifest)
        hold(certificate, content, build, teacher=beside, progress=progress, remembered=Remembered())
    except NotHeld as error:
        raise RefusedAttestation(f"the certificate does not hold: {error}") from None
    payload = json.dumps(statement(manifest, certificate), sort_keys=True, separators=(",", ":")).encode()
    signature = key.sign(pre_authentication(PAYLOAD_TYPE, payload))
    return dump_json(
        {
            "payloadType": PAYLOAD_TYPE,
            "payload": base64.b64encode(payload).decode(),
            "signatures": [{"keyid": key_id(key.public_key()), "sig": base64.b64encode(signature).decode()}],
        }
    )


def attested(firmware: Path | Opened, certificate: Path | Certificate | None, envelope: Path, key_file: Path) -> Check:
    """Does the envelope, signed with this key, state these files and the claims of this certificate (None: no
    certificate holds)? InputError where the key or the firmware is not readable; all that is wrong with the envelope is
    a FAIL."""
    key, artefact = public_key(key_file), of_kind(firmware, "firmware")
    try:
        said = _signed(envelope, key)
        _compare(said, statement(artefact, _certificate(certificate)))
        wrong = ""
    except RefusedAttestation as refused:
        wrong = str(refused)
    return named("proof.attestation")(
        value=f"refused: {wrong}" if wrong else f"signed by {key_id(key)[:12]}",
        limit="files and claims as signed",
        passed=not wrong,
        detail="ask who signs to judge the folder and to attest it again" if wrong else "",
        file=NAME,
    )


def pre_authentication(payload_type: str, payload: bytes) -> bytes:
    """DSSE's encoding of what is signed: the payload's type with it."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def private_key(path: Path) -> Ed25519PrivateKey:
    """Returns the key of an unencrypted PEM file."""
    with needed():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    try:
        key = load_pem_private_key(read_bytes(path), password=None)
    except (ValueError, TypeError):
        raise InputError(f"{path} is no private key in PEM without a password; {MAKE_KEY}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path} is not an Ed25519 key; {MAKE_KEY}")
    return key


def public_key(path: Path) -> Ed25519PublicKey:
    """Returns the key of a PEM file."""
    with needed():
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    try:
        key = load_pem_public_key(read_bytes(path))
    except ValueError:
        raise InputError(f"{path} is no public key in PEM; write it: openssl pkey -in KEY -pubout") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{path} is not an Ed25519 key; {MAKE_KEY}")
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """SHA-256 of the key's SubjectPublicKeyInfo: a hint for people, on which nothing rests."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _signed(envelope: Path, key: Ed25519PublicKey) -> Any:
    """The statement in the envelope; nothing of the payload is looked at before its signature holds."""
    from cryptography.exceptions import InvalidSignature

    try:
        data = load_json(envelope)
        kind, payload = data["payloadType"], base64.b64decode(data["payload"], validate=True)
        signatures = [base64.b64decode(each["sig"], validate=True) for each in data["signatures"]]
        encoded = pre_authentication(kind, payload)
    except (InputError, KeyError, TypeError, AttributeError, ValueError, binascii.Error):
        raise RefusedAttestation("the file is no whole DSSE envelope") from None
    for signature in signatures:
        try:
            key.verify(signature, encoded)
            break
        except InvalidSignature:
            continue
    else:
        raise RefusedAttestation("no signature of this key on this content")
    if kind != PAYLOAD_TYPE:
        raise RefusedAttestation(f"the payload's type is {kind!r}, not {PAYLOAD_TYPE}")
    try:
        return parse_json(payload, "the signed payload")
    except InputError as error:
        raise RefusedAttestation(str(error)) from None


def _compare(said: Any, due: dict[str, Any]) -> None:
    if not isinstance(said, dict) or said.get("_type") != STATEMENT_TYPE:
        raise RefusedAttestation("what is signed is no in-toto statement, version 1")
    if said.get("predicateType") != PREDICATE_TYPE:
        raise RefusedAttestation(f"the statement's predicate is {said.get('predicateType')!r}, not {PREDICATE_TYPE}")
    if said.get("subject") != due["subject"]:
        raise RefusedAttestation("it is about other files than those of this folder")
    if _written(said) != _written(due):  # to Python 1, 1.0 and true are one value
        raise RefusedAttestation("it claims other things than the certificate")


def _written(statement: dict[str, Any]) -> str:
    return json.dumps(statement, sort_keys=True)


def _certificate(certificate: Path | Certificate | None) -> Certificate:
    if certificate is None:
        raise RefusedAttestation("no certificate that was checked holds")
    try:
        return read_certificate(certificate) if isinstance(certificate, Path) else certificate
    except InputError as error:
        raise RefusedAttestation(f"no certificate to hold its claims against ({error})") from None
