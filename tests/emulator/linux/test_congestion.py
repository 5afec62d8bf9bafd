"""The map of a loaded policy: as bpftool takes it, as it shows it, and what is read back in the guest."""

import json

import pytest

from decision.artefact.errors import InputError
from emulator.linux import bpftool
from emulator.linux.cell import Control, check_maps, read

CONTENT = bytes(range(40))
ENTRY = {"key": ["0x00"] * 4, "value": [f"0x{byte:02x}" for byte in CONTENT], "formatted": {"value": {}}}


@pytest.mark.parametrize(
    "data",
    [
        CONTENT,
        CONTENT.hex().encode(),
        CONTENT.hex(" ").encode() + b"\n",
        json.dumps(ENTRY).encode(),
        json.dumps([ENTRY]).encode(),
    ],
)
def test_the_content_is_read_in_every_form(data: bytes) -> None:
    assert bpftool.content_of(data, 40) == CONTENT


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b'{"value": [1]}', b"\xff" * 39, b"00 11", b"null", b"not hex", b"[" * 10**5],
    ids=["none", "table", "list", "number", "short", "digits", "null", "words", "deep"],
)
def test_what_is_no_content_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"bpftool -j map lookup|40"):
        bpftool.content_of(data, 40)


def test_what_was_written_is_read_back() -> None:
    controls = [Control("rlcc", b"ELF", CONTENT), Control("cubic")]
    back = read([f"M {json.dumps(ENTRY)}", "D"]).maps
    check_maps(controls, back)
    other = {**ENTRY, "value": ["0x01", *ENTRY["value"][1:]]}
    for maps in ((), (json.dumps(other),)):
        with pytest.raises(InputError, match="does not hold"):
            check_maps(controls, maps)
