"""Reading vectors.csv and the manifest's layouts; contradictions are errors that name the place."""

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from decision.artefact.errors import InputError
from emulator.firmware_folder import read_firmware
from emulator.vectors import vectors_of

Maker = Callable[..., Path]


def read_manifest_structs(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())["details"]["layout"]


def test_records_have_the_bytes_of_the_c_structures(firmware_folder: Maker) -> None:
    firmware = read_firmware(firmware_folder())
    v = vectors_of(firmware)
    # vector 2: rate 2^30, action -32768, seen 65535
    assert v.records["context"].tobytes()[16:24].hex() == "000000400080ffff"
    assert v.records["event"].tobytes()[24:32].hex() == "0cfeffff0c7e0000"  # vector 3: 2^32 - 500, 4 * 8192 - 500
    assert v.records["params"].dtype.itemsize == 4
    assert v.inputs(4)["event.response_ns"] == 4 * 8192 - 1
    assert firmware.context_bytes == 8


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (1, 5, 32768, "line 3, column 'context.action_1': 32768 .*int16"),
        (0, 1, -1, "line 2, column 'event.request_sent_ns': -1 .*uint32"),
        (0, 1, "1.5", "'event.request_sent_ns': .*decimal"),
        (0, 7, 10**30, "'expect.rate_q20': .*(decimal|fit)"),
    ],
)
def test_values_that_a_field_cannot_hold(
    firmware_folder: Maker, good_vectors: list[Any], row: int, column: int, value: Any, words: str
) -> None:
    changed = list(good_vectors[row])
    changed[column] = value
    good_vectors[row] = tuple(changed)
    with pytest.raises(InputError, match=words):
        read_firmware(firmware_folder(vectors=good_vectors))


def test_missing_column_short_row_and_no_rows(firmware_folder: Maker, good_vectors: list[Any]) -> None:
    columns = ["kind", "event.request_sent_ns", "event.response_ns", "params.base_rtt_recip_q32", "context.rate_q30"]
    columns += ["context.action_1", "x", "expect.rate_q20"]
    columns += [f"expect.context.{name}" for name in ("rate_q30", "action_1", "seen")]
    with pytest.raises(InputError, match=r"no column 'context\.seen'"):
        read_firmware(firmware_folder(columns=columns, name="a"))
    with pytest.raises(InputError, match=r"line 4: 10 .*11 columns"):
        read_firmware(firmware_folder(vectors=[*good_vectors[:2], good_vectors[2][:-1]], name="b"))
    with pytest.raises(InputError, match="has no vectors"):
        read_firmware(firmware_folder(vectors=[], name="c"))


def test_layout_errors(firmware_folder: Maker) -> None:
    good = read_manifest_structs(firmware_folder(name="good"))
    unknown = deepcopy(good)
    unknown["context"]["fields"][0]["ctype"] = "float"
    with pytest.raises(InputError, match="'float'"):
        read_firmware(firmware_folder(structs=unknown, name="a"))
    with pytest.raises(InputError, match="lay out"):
        read_firmware(firmware_folder(structs={}, name="b"))
    outside = deepcopy(good)
    outside["context"]["fields"][0]["offset"] = 8
    with pytest.raises(InputError, match="lay out"):
        read_firmware(firmware_folder(structs=outside, name="c"))


def test_a_folder_that_is_no_firmware(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a firmware"):
        read_firmware(tmp_path)
