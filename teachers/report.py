"""Measure a teacher in the network: many-to-one from 2 to 8192 flows, and the fit of RTT inflation to [RLCC] eq. 2.

    python -m teachers.report fixtures/teachers/rl-cc-mlp

Each run is measured from 50 to 170 ms, as in RL-CC's published code: with 8192 flows that has the end of the start.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decision.artefact.errors import InputError
from netsim.network import MS
from teachers.load import load
from teachers.teacher import Teacher
from teachers.validation import Measured, measure

FLOWS = (2, 4, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192)
PROMISED = 1024
"""Up to here a teacher has to hold [RLCC] eq. 2 while the start is still near; the fit over all flows is told too."""
SETTLE_PS, MEASURE_PS = 50 * MS, 120 * MS
SEED = 2


@dataclass(frozen=True)
class Fit:
    """RTT inflation = slope * sqrt(N) + intercept by least squares; ``r2`` is the share of variance explained."""

    slope: float
    intercept: float
    r2: float


def measure_all(teacher: Teacher, flows: Sequence[int] = FLOWS, seed: int = SEED) -> Iterator[Measured]:
    """One closed-loop run a number of flows."""
    for n in flows:
        yield measure(teacher.policy, teacher.weights, n, settle_ps=SETTLE_PS, measure_ps=MEASURE_PS, seed=seed)


def fit(measured: Sequence[Measured]) -> Fit:
    """Least squares over all runs."""
    if len(measured) < 2:
        raise InputError("a line cannot be fitted to fewer than two numbers of flows")
    root = np.sqrt([m.flows for m in measured])
    inflation = np.array([m.inflation for m in measured])
    slope, intercept = np.polyfit(root, inflation, 1)
    residual = ((inflation - slope * root - intercept) ** 2).sum()
    return Fit(float(slope), float(intercept), float(1 - residual / ((inflation - inflation.mean()) ** 2).sum()))


HEADER = """\
| flows | goodput | utilisation | loss | latency mean us | p99 us | RTT inflation | target*sqrt(N)+beta | Jain |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def row(m: Measured) -> str:
    return (
        f"| {m.flows} | {m.goodput:.3f} | {m.utilisation:.3f} | {m.loss:.5f} | {m.latency_us:.2f} | "
        f"{m.latency_p99_us:.2f} | {m.inflation:.3f} | {m.ideal_inflation:.3f} | {m.jain:.3f} |"
    )


def main(arguments: Sequence[str]) -> int:
    """Print a Markdown table and the fit."""
    if len(arguments) != 1:
        print("usage: python -m teachers.report <teacher folder or weights file>", file=sys.stderr)
        return 2
    try:
        teacher = load(Path(arguments[0]))
        print(HEADER)
        rows = []
        for m in measure_all(teacher):
            print(row(m), flush=True)
            rows.append(m)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for most in (PROMISED, max(FLOWS)):
        line = fit([m for m in rows if m.flows <= most])
        told = f"{line.slope:.4f} * sqrt(N) + {line.intercept:.4f}, R2 = {line.r2:.5f}"
        print(f"\nRTT inflation, 2 to {most} flows: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
