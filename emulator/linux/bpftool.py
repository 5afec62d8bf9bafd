"""The map of a loaded policy, as the kernel's bpftool takes and shows it."""

import re

from decision.artefact.documents import parse_json
from decision.artefact.errors import InputError

OBJECT, MAP = "rlcc_bpf.o", "rlcc_bpf.data"
"""libbpf calls the map of an object's variables after its file."""
KEY = "key hex 00 00 00 00"


BY_NAME = f"name {MAP}"
NEWEST = f"id $(bpftool map list | grep ' name {MAP} ' | tail -n 1 | cut -d: -f1)"
"""In a shell: of the object that was loaded last. One that was unloaded keeps its map while connections still run under
it, and then the name is that of several."""


def update(content: bytes, which: str = BY_NAME) -> str:
    """The command that writes the map."""
    return f"bpftool map update {which} {KEY} value hex {content.hex(' ')}"


def lookup(which: str = BY_NAME) -> str:
    """The command whose output ``content_of`` reads."""
    return f"bpftool -j map lookup {which} {KEY}"


def content_of(data: bytes, size: int) -> bytes:
    """The ``size`` bytes in ``data``: themselves, hexadecimal digits, or what ``bpftool -j map lookup`` or ``map dump``
    prints. InputError where they are none of these."""
    if len(data) == size:
        return data
    text = data.decode("ascii", "replace").strip()
    digits = "".join(text.split())
    if not re.fullmatch(r"([0-9a-fA-F]{2})+", digits):
        try:
            found = parse_json(text.encode(), "the map's content")
            entry = found[0] if isinstance(found, list) else found
            digits = "".join(f"{int(byte, 16):02x}" for byte in entry["value"])
        except (InputError, ValueError, KeyError, IndexError, TypeError):
            raise InputError(
                f"what is given as the map's content is neither its {size} bytes, nor those in hexadecimal, nor "
                f"bpftool's JSON; write it by `{lookup()}`"
            ) from None
    if len(digits) != 2 * size:
        raise InputError(f"the map's content has {len(digits) // 2} bytes, and this firmware's parameters {size}")
    return bytes.fromhex(digits)
