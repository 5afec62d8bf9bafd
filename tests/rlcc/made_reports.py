"""What an emulation might have reported, for the gate's tests."""

from dataclasses import replace
from typing import Any

from emulator.report import Cycles, EmulationReport, SlowestVector


def report(**changes: Any) -> EmulationReport:
    """All vectors ran, and were equal."""
    made = EmulationReport(
        profile="ibex-small",
        profile_hash="0" * 64,
        clock_mhz=350.0,
        compiler="clang",
        compiler_version="clang 20",
        opt="-O2",
        vectors=1000,
        cycles=Cycles(100, 200.0, 300, 315),
        microseconds=None,
        slowest=SlowestVector(7, "edge:all", 315, {}),
        mismatches=0,
        first_mismatch=None,
        fault=None,
        code_bytes=700,
        table_bytes=0,
        stack_bytes=16,
        stack_bytes_measured=16,
        context_bytes=12,
        context_limit_bytes=120,
        forbidden=(),
    )
    return replace(made, **changes)
