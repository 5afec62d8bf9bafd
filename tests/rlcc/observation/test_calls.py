"""Logs of a host's calls: what is read, and what is refused with its place."""

from pathlib import Path

import numpy as np
import pytest

from decision.artefact.errors import InputError
from rlcc.observation.calls import COLUMNS, read_calls

HEAD = "now_ns,flow,sent_bytes,rtt_ns,acked_bytes"
REFUSED = {
    "no rows": (f"{HEAD}\n", []),
    "empty file": ("", []),
    "one column": ("now_ns\n1\n", []),
    "column unknown": (f"{HEAD},trimed_bytes\n1,1,1,0,0,0\n", ["'trimed_bytes'", "trimmed_bytes"]),
    "column twice": ("now_ns,now_ns,sent_bytes,acked_bytes\n1,1,1,0\n", ["'now_ns'"]),
    "column missing": ("now_ns,sent_bytes\n1,1\n", ["acked_bytes"]),
    "text": (f"{HEAD}\n1,1,1,0,0\n2,1,0,x,1\n", ["row 2", "'rtt_ns'"]),
    "empty value": (f"{HEAD}\n1,1,1,0,\n", ["row 1", "'acked_bytes'"]),
    "empty flow": (f"{HEAD}\n1,,1,0,0\n", ["row 1", "'flow'"]),
    "fraction": (f"{HEAD}\n1,1,1.5,0,0\n", ["row 1", "'sent_bytes'"]),
    "negative": (f"{HEAD}\n1,1,0,-1,1\n", ["row 1", "'rtt_ns'"]),
    "over 32 bits": (f"{HEAD}\n1,1,0,1,4294967296\n", ["row 1", "'acked_bytes'"]),
    "a clock of 2^63": (f"{HEAD}\n9223372036854775808,1,0,1,1\n", ["row 1", "'now_ns'"]),
    "send and completion in one row": (f"{HEAD}\n1,1,1,0,0\n2,1,1,5,1\n", ["row 2", "sent_bytes"]),
    "a row too short": (f"{HEAD}\n1,1\n", []),
    "not text": ("now_ns,sent_bytes,acked_bytes\n\x00\x01,\x02,\x03\n", []),
}
"""Kind -> a log, and words of its refusal."""


def written(folder: Path, text: str) -> Path:
    path = folder / "log.csv"
    path.write_text(text)
    return path


@pytest.mark.parametrize("kind", REFUSED)
def test_a_bad_log_is_refused_with_its_place(kind: str, tmp_path: Path) -> None:
    text, words = REFUSED[kind]
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refused:
        read_calls(path)
    message = str(refused.value)
    assert "\n" not in message
    assert [word for word in [str(path), *words] if word not in message] == []


def test_columns_left_out_are_zero_and_flows_are_counted(tmp_path: Path) -> None:
    calls = read_calls(written(tmp_path, "now_ns,flow,sent_bytes,acked_bytes\n5,b,9,0\n6,a,9,0\n7,b,0,9\n"))
    assert set(calls.columns) == {*COLUMNS} - {"window_bytes"}
    assert calls.columns["flow"].tolist() == [0, 1, 0]
    assert (calls.flows, calls.windows) == (2, None)
    assert calls.sends.tolist() == [True, True, False]
    assert not calls.columns["trimmed_bytes"].any()


def test_parquet_and_npz_are_read_alike(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"now_ns": [1, 2], "sent_bytes": [7, 0], "acked_bytes": [0, 7], "window_bytes": [99, 98]}
    arrays = {name: np.array(values) for name, values in columns.items()}
    pq.write_table(pa.table(columns), tmp_path / "log.parquet")
    np.savez(tmp_path / "log.npz", **arrays)
    for name in ("log.parquet", "log.npz"):
        calls = read_calls(tmp_path / name)
        assert calls.windows is not None
        assert calls.windows.tolist() == [99, 98]
        assert calls.columns["acked_bytes"].tolist() == [0, 7]
