"""The records of rlcc_identity.c in any file: which policies an image, an object or a dump of a flash holds.

A record is found by its first eight bytes. Its words are in the byte order in which its ABI number is small.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from decision.artefact.documents import read_bytes
from decision.artefact.errors import InputError
from emulator.firmware import FORM, Firmware

MAGIC = b"rlcc-id\x01"
BYTES = 108
MAX_ABI = 0xFFFF
TEXT = re.compile(rb"[ -~]*\0+")


@dataclass(frozen=True)
class Identity:
    """``policy``: the hash of what decides, 64 hexadecimal digits; ``layout``: of its contexts, 8; ``offset``: of the
    record in the file."""

    abi: int
    layout: str
    context_bytes: int
    policy: str
    prefix: str
    name: str
    offset: int = 0


def identities(path: Path) -> list[Identity]:
    """Returns the records of a file in their order."""
    content = read_bytes(path)
    found, at = [], content.find(MAGIC)
    while at >= 0:
        if (record := _record(content[at : at + BYTES], at)) is not None:
            found.append(record)
        at = content.find(MAGIC, at + 1)
    return found


def _record(content: bytes, offset: int) -> Identity | None:
    """None where the bytes behind the mark are no record."""
    prefix, name = content[52:76], content[76:108]
    if len(content) < BYTES or not (TEXT.fullmatch(prefix) and TEXT.fullmatch(name)):
        return None
    order = next((o for o in ("little", "big") if 0 < int.from_bytes(content[8:12], o) <= MAX_ABI), None)
    text = prefix.rstrip(b"\0").decode("ascii")
    if order is None or not FORM.fullmatch(text):
        return None
    abi, layout, size = (int.from_bytes(content[k : k + 4], order) for k in (8, 12, 16))  # type: ignore[arg-type]
    named = name.rstrip(b"\0").decode("ascii")
    return Identity(abi, f"{layout:08x}", size, content[20:52].hex(), text, named, offset)


def identity_of(firmware: Firmware) -> Identity:
    """Returns the record that a firmware folder brings. InputError where its manifest does not say it."""
    details = firmware.manifest.details
    said = details.get("identity")
    try:
        abi, layout, policy = (said[key] for key in ("abi", "layout", "policy"))  # type: ignore[index]
    except (KeyError, TypeError):
        raise InputError(f"{firmware.folder} does not say its identity; emit the firmware again") from None
    name = str(details.get("policy", ""))
    return Identity(int(abi), str(layout), firmware.context_bytes, str(policy), firmware.prefix, name)
