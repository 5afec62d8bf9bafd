"""A log of two flows in a fluid queue, as columns, and a policy.toml without a network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.policy.policy import Header
from decision.policy.policy_header import load_policy_header

POLICY = """\
format = 1
name = "mine"

[observation]
window = 2
base_rtt = "8192 ns"
line_rate = "100 Gb/s"
rtt_max = "4 ms"

[[observation.features]]
kind = "rl_cc_congestion"
target = 0.064
beta = 1.5
scale = -1.0

[action]
kind = "tanh_map"
step = 0.2

[limits]
rate_min = "1 ppm"
rate_max = "100 %"
rate_initial = "100 %"
"""
QUEUE = """\
format = 1
name = "marking"

[observation]
interface = "queue_marking"
window = 1
params = { capacity_bytes = 625000 }

[[observation.features]]
kind = "level"
signal = "queue_bytes"
unit = 1024

[action]
kind = "choice"
rows = [
  { kmin_bytes = 20000, kmax_bytes = 200000, pmax_q16 = 6553 },
  { kmin_bytes = 2560000, kmax_bytes = 10240000, pmax_q16 = 655 },
]
"""
Columns = dict[str, Any]


def log_of(rows: int = 600, seed: int = 1) -> Columns:
    """Rows of two flows, under rlcc's names; the label steers towards an RTT of 12 us."""
    random = np.random.default_rng(seed)
    rtt = random.integers(8192, 40_000, rows)
    return {
        "flow": np.arange(rows) % 2,
        "t_ps": np.arange(1, rows + 1) * 5_000_000,
        "rtt_ns": rtt,
        "rate_q30": random.integers(1, 2**30, rows),
        "label": np.clip(1 + 0.1 * np.tanh((12_000 - rtt) / 8_000), 0.9, 1.1),
    }


@pytest.fixture
def log_columns() -> Callable[..., Columns]:
    return log_of


@pytest.fixture
def header_of(tmp_path: Path) -> Callable[[str], tuple[str, Header]]:
    def read(text: str) -> tuple[str, Header]:
        (tmp_path / "policy.toml").write_text(text)
        return load_policy_header(tmp_path / "policy.toml")

    return read


@pytest.fixture
def header(header_of: Callable[[str], tuple[str, Header]]) -> Header:
    return header_of(POLICY)[1]


@pytest.fixture
def queue_header(header_of: Callable[[str], tuple[str, Header]]) -> Header:
    return header_of(QUEUE)[1]
