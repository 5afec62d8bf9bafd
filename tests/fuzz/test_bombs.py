"""Small files that unpack to more than any memory."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mutations import bounded

from decision.artefact.documents import dump_json, load_json
from decision.artefact.errors import InputError
from decision.artefact.manifest import artefact_hash, sha256
from distill import rollout
from teachers.load import load


def sealed(table: pa.Table, corpus: Path, folder: Path) -> Path:
    """Rollouts of the corpus' teacher that hold ``table``."""
    folder.mkdir()
    pq.write_table(table, folder / rollout.FILE, compression="zstd", store_schema=False)
    manifest = load_json(corpus / "rollouts/manifest.json")
    manifest["files"] = {rollout.FILE: sha256((folder / rollout.FILE).read_bytes())}
    parts = (manifest[key] for key in ("kind", "files", "parents", "details", "seed"))
    (folder / "manifest.json").write_text(dump_json(manifest | {"hash": artefact_hash(*parts)}))
    return folder


def repeated(corpus: Path, rows: int) -> dict[str, pa.Array]:
    one = pq.read_table(corpus / "rollouts" / rollout.FILE).slice(0, 1)
    at = pa.array(np.zeros(rows, np.int32))
    return {name: one[name].combine_chunks().take(at) for name in one.column_names if name != "scenario"}


def test_a_name_that_is_repeated_fills_no_memory(corpus: Path, tmp_path: Path) -> None:
    rows = 300_000  # of 20,000 characters: 6 GB
    names = pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["x" * 20_000])
    folder = sealed(pa.table({"scenario": names} | repeated(corpus, rows)), corpus, tmp_path / "bomb")
    assert (folder / rollout.FILE).stat().st_size < 100_000
    with bounded(), pytest.raises(InputError):  # no network has such a name
        list(rollout.read(folder, load(corpus / "teacher")))


@pytest.mark.parametrize("name", ["seed", "rate_q30"])
def test_a_column_of_another_type_is_refused(corpus: Path, tmp_path: Path, name: str) -> None:
    columns = {"scenario": pa.array(["x"])} | repeated(corpus, 1) | {name: pa.array(["1"])}
    with pytest.raises(InputError, match=f"column '{name}' .*string"):
        list(rollout.read(sealed(pa.table(columns), corpus, tmp_path / "odd"), load(corpus / "teacher")))
