"""Many rows on a host: rlcc_decide_batch() next to CatBoost's own prediction of a batch, on the same rows.

    python -m bench.codegen.batch [--rounds N] [--out FILE]

A round times CatBoost and each build of the C one after the other; a ratio is of one round. About a minute of one core.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from codegen.model_body import emit_file
from decision.artefact.errors import InputError
from decision.artefact.output import write_atomically
from decision.ir.arrays import Integers
from rlcc.origin import made_by
from rlcc.reports.pages import table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "results" / "batch.md"
RUNNER = ROOT / "bench" / "codegen" / "batch_speed.c"
ROWS, REPEATS, ROUNDS = 20_000, 10, 7
COMPILERS = {
    "gcc -O2": ("gcc", "-O2"),
    "gcc -O2 -march=x86-64-v3": ("gcc", "-O2", "-march=x86-64-v3"),
    "clang -O2": (sys.executable, "-m", "ziglang", "cc", "-O2", "-fno-sanitize=all", "-mcpu=x86_64"),
}


@dataclass(frozen=True)
class BatchModel:
    """A CatBoost regressor trained here on random rows: features of ``bits`` fraction bits, from 0 to 2."""

    trees: int
    depth: int
    features: int
    bits: int
    policy: str = "SymmetricTree"

    def __str__(self) -> str:
        kind = "symmetric" if self.policy == "SymmetricTree" else "depthwise"
        return f"{self.trees} {kind} trees of depth {self.depth}, {self.features} features of {self.bits + 1} bits"


MODELS = (
    BatchModel(10, 4, 4, 10),
    BatchModel(50, 6, 12, 10),
    BatchModel(50, 6, 12, 20),
    BatchModel(50, 4, 12, 10, "Depthwise"),
)


@dataclass(frozen=True)
class BatchTimes:
    """ns of CPU a row, one entry a round: of CatBoost, and by compiler of the batch and of a row at a time. ``wrong``:
    rows that a batch gives another result."""

    catboost: list[float]
    batch: dict[str, list[float]]
    each: dict[str, list[float]]
    wrong: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page; 0, or 2 with a sentence on why it could not be."""
    parser = argparse.ArgumentParser(prog="python -m bench.codegen.batch", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"of each model; {ROUNDS}")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    options = parser.parse_args(arguments)
    try:
        times = {model: measured(model, options.rounds) for model in MODELS}
        write_atomically(options.out, page(times, options.rounds))
    except InputError as error:
        print(f"batch: {error}", file=sys.stderr)
        return 2
    return 0


def measured(model: BatchModel, rounds: int) -> BatchTimes:
    """Trains, emits, builds by each compiler that there is, and times the rounds."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        fitted = _fitted(model)
        fitted.save_model(str(folder / "model.cbm"))
        grid = "".join(
            f"[features.{k}]\nlow = 0\nhigh = 2\nfraction_bits = {model.bits}\n" for k in range(model.features)
        )
        (folder / "grid.toml").write_text(f"leaf_bits = 16\n{grid}")
        emit_file(folder / "model.cbm", folder / "grid.toml", folder / "firmware")
        rows = _rows(model, 1, ROWS)
        (folder / "rows").write_bytes(rows.astype(np.int32).tobytes())
        builds = {name: built for name in COMPILERS if (built := _built(folder, name)) is not None}
        if not builds:
            raise InputError("there is no C compiler; install gcc, or ziglang by `make setup-test`")
        found = BatchTimes([], {name: [] for name in builds}, {name: [] for name in builds}, 0)
        wrong = 0
        for _ in range(rounds):
            found.catboost.append(_catboost(fitted, model, rows))
            for compiler, program in builds.items():
                done = subprocess.run(
                    [program, folder / "rows", str(ROWS), str(REPEATS)], capture_output=True, text=True, check=True
                )
                differing, batch, each = done.stdout.split()
                found.batch[compiler].append(float(batch))
                found.each[compiler].append(float(each))
                wrong += int(differing)
        return BatchTimes(found.catboost, found.batch, found.each, wrong)


def _fitted(model: BatchModel) -> Any:
    from catboost import CatBoostRegressor

    x = _rows(model, 0, 4000) / (1 << model.bits)
    y = np.sin(3 * x).sum(axis=1) + x[:, 0] * x[:, -1]
    fitted = CatBoostRegressor(
        iterations=model.trees, depth=model.depth, grow_policy=model.policy, learning_rate=0.2, random_seed=1,
        thread_count=1, verbose=0, allow_writing_files=False,
    )  # fmt: skip
    return fitted.fit(x, y)


def _rows(model: BatchModel, seed: int, count: int) -> Integers:
    return np.random.default_rng(seed).integers(0, (2 << model.bits) + 1, (count, model.features), dtype=np.int64)


def _catboost(fitted: Any, model: BatchModel, rows: Integers) -> float:
    """ns a row of a prediction by one thread, of rows that lie in CatBoost's own pool already."""
    from catboost import Pool

    pool = Pool((rows / (1 << model.bits)).astype(np.float32))
    fitted.predict(pool, thread_count=1)
    begin = time.process_time()
    for _ in range(REPEATS):
        fitted.predict(pool, thread_count=1)
    return (time.process_time() - begin) * 1e9 / (REPEATS * len(rows))


def _built(folder: Path, name: str) -> Path | None:
    out = folder / name.replace(" ", "").replace("=", "-")
    firmware = folder / "firmware"
    command = [*COMPILERS[name], "-I", str(firmware), str(RUNNER), str(firmware / "rlcc_policy.c"), "-o", str(out)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    if done.returncode:
        raise InputError(f"{name} does not build the batch: {done.stderr.strip()[:200]}")
    return out


def page(times: dict[BatchModel, BatchTimes], rounds: int) -> str:
    """As Markdown: a row a model and compiler."""
    rows = []
    for model, found in times.items():
        for compiler in found.batch:
            batch, each = found.batch[compiler], found.each[compiler]
            ratios = [a / b for a, b in zip(found.catboost, batch, strict=True)]
            figures = [f"{median(of):.0f}" for of in (batch, each, found.catboost)]
            rows.append(
                [str(model), compiler, *figures, f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"]
            )
    wrong = sum(found.wrong for found in times.values())
    titles = ["model", "compiler", "batch, ns", "row at a time, ns", "CatBoost, ns", "CatBoost / batch"]
    from catboost import __version__

    return f"""# Many rows on a host
{made_by("python -m bench.codegen.batch")}

`rlcc emit` writes [`rlcc_batch.h`](../how-to/models.md#many-rows-on-a-host) for a model. This page compares it with
CatBoost {__version__} on {ROWS:,} random rows. Figures are ns of CPU a row, medians of {rounds} rounds; less is better.
A ratio above 1 says how many times as long CatBoost takes in the same round, with the least and the greatest in
brackets. The machine was shared with other jobs ({os.cpu_count()} cores).

- *batch*: `rlcc_decide_batch()` over all rows.
- *row at a time*: `rlcc_decide()` in a loop, in the form that `rlcc emit` chose for a NIC.
- *CatBoost*: `predict` of a pool by one thread. It starts from floats and sums doubles; the batch starts from integers
  of the grid.

Rows with a result other than that of `rlcc_decide()`: {wrong}.

{table(titles, rows)}"""


if __name__ == "__main__":
    sys.exit(main())
