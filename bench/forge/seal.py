"""Hashes and signatures made right again after an edit, so that a forgery's content decides and not its seal.

Each takes the bytes of a forged document and returns them sealed, or as they are where they cannot be: text that is no
JSON has no content to be hashed.
"""

import base64
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from bench.forge.edits import UNKNOWN
from decision.artefact.manifest import NAME, artefact_hash, sha256
from rlcc.attestation import PAYLOAD_TYPE, pre_authentication
from verify.trusted.certificate import FILES, content_hash

UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError)
"""What parsing and hashing of a forged document raise."""
HASH = "hash"


def with_hash(text: bytes, old: str, new: str) -> bytes:
    """The text with another hash in place of ``old``; the rest, what JSON cannot express too, as it is."""
    return text.replace(f'"{old}"'.encode(), f'"{new}"'.encode()) if old else text


def sealed_certificate(text: bytes) -> bytes:
    """A certificate whose hash is of its content."""
    with suppress(*UNREADABLE):
        data = json.loads(text)
        return with_hash(text, data[HASH], content_hash(data))
    return text


def sealed_manifest(text: bytes) -> bytes:
    """A manifest whose hash is of what it says."""
    with suppress(*UNREADABLE):
        data = json.loads(text)
        parts = [data[key] for key in ("kind", "files", "parents", "details", "seed")]
        return with_hash(text, data[HASH], artefact_hash(*parts))
    return text


def listed(folder: Path) -> None:
    """Write the hashes of a folder's files, as they are now, into its manifest, and seal it."""
    path = folder / NAME
    data = json.loads(path.read_bytes())
    files = {str(p.relative_to(folder)): p for p in sorted(folder.rglob("*")) if p.is_file() and p != path}
    data["files"] = {name: sha256(p.read_bytes()) for name, p in files.items()}
    path.write_bytes(sealed_manifest(json.dumps(data, indent=1).encode()))


def pointed(certificate: Path, firmware: Path, image: str | None = None) -> None:
    """Have a certificate speak of a firmware folder as it is now, and of another ``image`` where one is given."""
    with suppress(*UNREADABLE, OSError):
        data: Any = json.loads(certificate.read_bytes())
        manifest = json.loads((firmware / NAME).read_bytes())
        data["subject"]["firmware"] = manifest[HASH]
        present = {key: firmware / file for key, file in FILES.items() if (firmware / file).is_file()}
        data["subject"]["files"] = {key: sha256(path.read_bytes()) for key, path in present.items()}
        if image is not None:
            data["subject"]["image"] = image
        certificate.write_bytes(sealed_certificate(json.dumps(data).encode()))


def signed(payload: bytes, key: Ed25519PrivateKey, kind: str = PAYLOAD_TYPE) -> bytes:
    """An envelope over any payload."""
    signature = base64.b64encode(key.sign(pre_authentication(kind, payload))).decode()
    content = {
        "payloadType": kind,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": UNKNOWN, "sig": signature}],
    }
    return json.dumps(content).encode()
