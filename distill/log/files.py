"""Logs as batches of rows: CSV, Parquet, NPZ, and columns in memory. Only the columns that are asked for are read.

CSV values stay text until a column's type is known (distill.log.values), so that what cannot be read is named by row.
"""

from __future__ import annotations

import csv
import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from decision.artefact.errors import InputError
from decision.artefact.extras import needed
from decision.artefact.suggest import alike

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 16
"""Rows."""
BLOCK_BYTES = 8 * 2**20
"""Of a CSV file, read at once; no line is longer."""
MAX_HEADER_BYTES = 2**20
MAX_NPZ_BYTES = 2**32
"""Unpacked."""
UNREADABLE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    OverflowError,
    MemoryError,
    RuntimeError,
    csv.Error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What the readers of others raise of a damaged, encrypted or lying file."""
Batch = Mapping[str, "pa.Array"]


@dataclass(frozen=True)
class Log:
    """Rows that somebody recorded. ``where``: its name in sentences; ``columns``: their names, in order; ``rows``: how
    many there are, where that is known before they are read; ``hash``: SHA-256 of the file, hexadecimal."""

    where: str
    columns: tuple[str, ...]
    rows: int | None
    hash: str
    read: Callable[[Sequence[str]], Iterator[Batch]]

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """The columns in batches of rows. InputError where the file cannot be read."""
        with needed():
            import pyarrow as pa
        try:
            yield from self.read(columns)
        except (pa.ArrowException, *UNREADABLE) as error:
            raise InputError(f"{self.where} is not readable: {_said(error)}") from None


def open_log(path: Path) -> Log:
    """A log by the ending of its name. InputError where there is no such file, or its columns cannot be read."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the log's file, {', '.join(READERS)}")
    if not path.is_file():
        raise InputError(f"there is no log {path}")
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        near = alike(path.suffix.lower(), READERS)
        raise InputError(
            f"{path} is no log that rlcc reads; give one of {', '.join(READERS)}" + (f" (not {near})" if near else "")
        )
    with needed():
        import pyarrow as pa
    try:
        log = reader(path)
    except (pa.ArrowException, *UNREADABLE) as error:
        raise InputError(f"{path} is not readable as {path.suffix.lower()}: {_said(error)}") from None
    for name in log.columns:
        if log.columns.count(name) > 1:
            raise InputError(f"{path} has two columns {name!r}; name them apart")
    return log


def _said(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def columns_log(columns: Mapping[str, Any], where: str) -> Log:
    """A log in memory: arrays [rows] or lists by name. InputError where they differ in length or are no columns."""
    with needed():
        import pyarrow as pa
    arrays: dict[str, Any] = {}
    for name, values in columns.items():
        try:
            arrays[str(name)] = pa.array(values) if isinstance(values, list | tuple) else pa.array(_flat(values))
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            first = " ".join(str(error).split())[:120]
            raise InputError(f"{where}: column {name!r} is no column of numbers or texts: {first}") from None
    lengths = {name: len(values) for name, values in arrays.items()}
    if len({*lengths.values()}) > 1:
        (first, most), (other, fewer) = next(iter(lengths.items())), min(lengths.items(), key=lambda one: one[1])
        if most == fewer:
            other, fewer = max(lengths.items(), key=lambda one: one[1])
        raise InputError(
            f"{where}: column {other!r} has {fewer} rows and {first!r} has {most}; give one row a decision"
        )
    rows = next(iter(lengths.values()), 0)

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        for begin in range(0, rows, BATCH):
            yield {name: arrays[name].slice(begin, BATCH) for name in asked}

    digest = hashlib.sha256()
    for name, values in arrays.items():
        digest.update(f"\n{name} {values.type}\n".encode())
        numbers = not (pa.types.is_string(values.type) or values.null_count)
        digest.update(values.to_numpy(zero_copy_only=False).tobytes() if numbers else str(values.to_pylist()).encode())
    return Log(where, tuple(arrays), rows, digest.hexdigest(), read)


def _flat(values: Any) -> Any:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"it has the shape {list(array.shape)}; give one value a row")
    return array


def _csv(path: Path) -> Log:
    import pyarrow as pa
    import pyarrow.csv as pc

    with path.open("rb") as file:
        first = file.readline(MAX_HEADER_BYTES).decode("utf-8-sig")
    names = next(csv.reader(io.StringIO(first)), [])
    if len(names) < 2:
        raise ValueError(f"its first line names {len(names)} columns; write their names there, with commas between")

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        options = pc.ConvertOptions(
            include_columns=list(asked), column_types={name: pa.string() for name in asked}, strings_can_be_null=False
        )
        with pc.open_csv(path, pc.ReadOptions(block_size=BLOCK_BYTES), convert_options=options) as reader:
            for batch in reader:
                yield dict(zip(asked, batch.columns, strict=True))

    return Log(str(path), tuple(names), None, _hash(path), read)


def _parquet(path: Path) -> Log:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        names, rows = tuple(file.schema_arrow.names), file.metadata.num_rows

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=BATCH, columns=list(asked)):
                yield {name: batch.column(name) for name in asked}

    return Log(str(path), names, rows, _hash(path), read)


def _npz(path: Path) -> Log:
    with zipfile.ZipFile(path) as archive:
        size = sum(entry.file_size for entry in archive.infolist())
    if size > MAX_NPZ_BYTES:
        raise ValueError(f"it unpacks to {size} bytes, more than {MAX_NPZ_BYTES}; write Parquet")
    with np.load(path, allow_pickle=False) as archive:
        names = tuple(archive.files)

    def read(asked: Sequence[str]) -> Iterator[Batch]:
        with np.load(path, allow_pickle=False) as archive:
            columns = {name: archive[name] for name in asked}
        yield from columns_log(columns, str(path)).read(asked)

    return Log(str(path), names, None, _hash(path), read)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


READERS: Mapping[str, Callable[[Path], Log]] = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}
"""By the ending of the file's name."""
