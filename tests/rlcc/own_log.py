"""The log and the policy of docs/bring-your-own, which know nothing of rlcc, and the options that import that log."""

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "bring-your-own"
POLICY = (FOLDER / "policy.toml").read_text()
COLUMNS = {
    "t_ps": "time_us in us",
    "flow": "connection",
    "rtt_ns": "rtt_us in us",
    "rate_q30": "rate_gbps in Gb/s",
    "label": "multiplier",
}
"""rlcc's name -> the log's column and unit."""


def column_options() -> list[str]:
    """Returns the options of `rlcc import` for this log."""
    return [word for name, column in COLUMNS.items() for word in ("--column", f"{name}={column}")]


def log_text(seed: int, flows: int = 8, end_us: float = 15_000.0) -> str:
    """Returns the log as CSV."""
    spec = importlib.util.spec_from_file_location("make_log", FOLDER / "make_log.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text: str = module.log_text(seed, flows, end_us)
    return text
