"""A log of a training: rows, a file that TensorBoard reads, a picture; a resumed one goes on behind its checkpoint."""

import struct
from pathlib import Path

import pytest

from decision.artefact.errors import InputError
from teachers import event_file
from teachers.training_log import CURVES, EVENTS, TrainingLog


def messages(data: bytes) -> list[bytes]:
    """Of a file of records, each checked against its two checksums."""
    read = []
    while data:
        (length,) = struct.unpack_from("<Q", data)
        message = data[12 : 12 + length]
        assert data[: 16 + length] == event_file.record(message)
        read.append(message)
        data = data[16 + length :]
    return read


def test_the_checksum_is_crc_32c() -> None:
    assert event_file.crc32c(b"123456789") == 0xE3069283  # RFC 3720, and the catalogue of CRCs
    assert event_file.crc32c(bytes(32)) == 0x8A9136AA  # RFC 3720 B.4


def test_a_record_is_what_tensorboard_reads() -> None:
    """These bytes tensorboard 2.21 read as step 300, loss 0.5."""
    assert event_file.scalars(1.0, 300, {"loss": 0.5}).hex() == (
        "1b000000000000001a0d9e1309000000000000f03f10ac022a0d0a0b0a046c6f7373150000003f4e5c1fd1"
    )


def test_rows_that_lack_a_scalar_are_empty_there(tmp_path: Path) -> None:
    with TrainingLog(tmp_path / "t.training", "round") as log:
        log.add(1, {"loss": 0.5, "reward": None})
        log.add(2, {"loss": float("nan"), "reward": 0.25})
    assert (tmp_path / "t.training" / "scalars.csv").read_text() == "round,loss,reward\n1,0.5,\n2,,0.25\n"
    picture = (tmp_path / "t.training" / CURVES).read_text()
    assert picture.count('<g id="axes_') == 2
    (events,) = (tmp_path / "t.training").glob(f"{EVENTS}.*")
    header, _, first, second = messages(events.read_bytes())
    assert header.endswith(b"brain.Event:2")
    assert b"loss" in first
    assert b"loss" not in second


def test_a_resumed_log_drops_what_its_checkpoint_does_not_know(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path, "round")
    for number in (1, 2, 3):
        log.add(number, {"loss": float(number)})
    again = TrainingLog(tmp_path, "round", after=2)
    again.add(3, {"loss": 30.0})
    assert again.table() == "round,loss\n1,1.0\n2,2.0\n3,30.0\n"
    assert len(list(tmp_path.glob(f"{EVENTS}.*"))) == 2
    fresh = TrainingLog(tmp_path, "round")
    assert fresh.rows == []
    assert len(list(tmp_path.glob(f"{EVENTS}.*"))) == 1


def test_what_is_no_log_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "scalars.csv").write_text("a,b\n1,x\n")
    with pytest.raises(InputError, match="no log"):
        TrainingLog(tmp_path, "round")
    assert (tmp_path / "scalars.csv").read_text() == "a,b\n1,x\n"
