"""CSV, Parquet, NPZ and columns in memory say the same; what is none of them is refused."""

import io
import zipfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.parquet as pq
import pytest

from decision.artefact.errors import InputError
from distill.log import files
from distill.log.columns import Column, Quantity
from distill.log.files import Log, columns_log, open_log
from distill.log.values import whole_numbers

ROWS = 200_000
VALUES = {"a": np.arange(ROWS) * 7, "b": np.arange(ROWS) % 3, "unused": np.full(ROWS, 0.5)}
WIDE = Quantity(0, 2**62, {})


@pytest.fixture
def written(tmp_path: Path) -> dict[str, Path]:
    table = pa.table(VALUES)
    paths = {name: tmp_path / f"log.{name}" for name in ("csv", "parquet", "npz")}
    pc.write_csv(table, paths["csv"])
    pq.write_table(table, paths["parquet"])
    np.savez(paths["npz"], **VALUES)
    return paths


def read(log: Log, name: str) -> list[int]:
    whole, count = Column(name, name, Fraction(1), ""), 0
    values: list[int] = []
    for batch in log.batches([name]):
        assert set(batch) == {name}
        values += whole_numbers(batch[name], whole, WIDE, "log", count).tolist()
        count = len(values)
    return values


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_each_kind_says_the_same(written: dict[str, Path], kind: str) -> None:
    log = open_log(written[kind])
    assert log.columns == tuple(VALUES)
    assert read(log, "a") == VALUES["a"].tolist()
    assert read(log, "b") == VALUES["b"].tolist()
    assert len(log.hash) == 64


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_a_log_comes_in_batches(written: dict[str, Path], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 16)
    sizes = [len(batch["a"]) for batch in open_log(written[kind]).batches(["a"])]
    assert sum(sizes) == ROWS
    assert len(sizes) > 2
    assert max(sizes) <= files.BATCH


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("log.txt", b"a,b\n1,2\n", "log.txt"),
        ("log.csv", b"", "0 columns"),
        ("log.csv", b"a;b\n1;2\n", "1 columns"),
        ("log.csv", b"a,a\n1,2\n", "two columns 'a'"),
        ("log.csv", b"\xff\xfea,b\n", "log.csv"),
        ("log.parquet", b"a,b\n1,2\n", "log.parquet"),
        ("log.npz", b"PK\x03\x04", "log.npz"),
        ("log.csv", b"a," + b"b" * 131_073 + b"\n1,2\n", "log.csv"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        open_log(tmp_path / name)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n3\n", b"a,b\n1,2,3\n"])
def test_a_broken_line_is_refused_as_it_is_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.csv").write_bytes(content)
    log = open_log(tmp_path / "log.csv")
    with pytest.raises(InputError, match=r"log\.csv"):
        list(log.batches(["a"]))


def test_a_pickle_in_an_npz_is_not_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "log.npz", a=np.array([{}], dtype=object))
    with pytest.raises(InputError, match=r"log\.npz"):
        list(open_log(tmp_path / "log.npz").batches(["a"]))


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        open_log(tmp_path)
    with pytest.raises(InputError, match="no log"):
        open_log(tmp_path / "log.csv")


def test_columns_in_memory_have_one_length_and_one_axis() -> None:
    with pytest.raises(InputError, match="'b' has 1"):
        columns_log({"a": [1, 2], "b": [1]}, "rows")
    with pytest.raises(InputError, match="'a'"):
        columns_log({"a": np.zeros((2, 2))}, "rows")
    assert columns_log({"a": [1, 2]}, "rows").hash != columns_log({"a": [1, 3]}, "rows").hash


def damaged(content: bytes, encrypted: bool = False, tail: bytes = b"") -> bytes:
    """An archive of one array. ``encrypted``: so it says; ``tail``: stands for its packed bytes."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", content)
    archive_bytes = bytearray(made.getvalue())
    if encrypted:
        for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            archive_bytes[archive_bytes.index(signature) + flags] |= 1
    begin = 30 + len("a.npy")
    archive_bytes[begin : begin + len(tail)] = tail
    return bytes(archive_bytes)


def array_bytes(claimed: int = 3) -> bytes:
    written = io.BytesIO()
    shape = {"descr": "<i8", "fortran_order": False, "shape": (claimed,)}
    np.lib.format.write_array_header_1_0(written, shape)
    return written.getvalue() + bytes(24)


@pytest.mark.parametrize(
    "content",
    [
        damaged(array_bytes(), tail=b"\xff" * 8),
        damaged(array_bytes(), encrypted=True),
        damaged(array_bytes(claimed=10**14)),
        damaged(array_bytes(claimed=10**25)),
    ],
    ids=["packed bytes", "encrypted", "too large", "larger than any number"],
)
def test_a_damaged_archive_is_refused_in_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"log\.npz") as error:
        list(open_log(tmp_path / "log.npz").batches(["a"]))
    assert "\n" not in str(error.value)


def test_a_number_too_large_for_a_column_is_refused() -> None:
    with pytest.raises(InputError, match="'a'"):
        columns_log({"a": [1, 2**70]}, "rows")
