"""What an operator sets of a firmware for a path: the map's bytes, and a unit of time that suits its RTT."""

import struct

import pytest

from decision.manifest import Manifest
from emulator.linux.congestion import time_shift, tuning

NAMES = ("base_rtt_recip_q42", "rate_min_q30", "rate_max_q30", "rate_initial_q30")


def manifest(names: tuple[str, ...]) -> Manifest:
    fields = [{"name": name, "ctype": "uint32_t", "offset": 4 * i} for i, name in enumerate(names)]
    details = {"params_default": dict.fromkeys(names, 7), "layout": {"params": {"fields": fields}}}
    return Manifest("firmware", "0", {}, details=details)


@pytest.mark.parametrize(
    ("names", "start"), [(NAMES, 1 << 27), (NAMES[:3], 1 << 27), ((*NAMES[:3], "slow_start_until_q10"), 1 << 24)]
)
def test_the_map_is_laid_out_as_c_does(names: tuple[str, ...], start: int) -> None:
    """The line rate is a 64-bit word at a multiple of its size."""
    made = tuning(manifest(names), {"rate_min_q30": 9, "line_rate_bytes": 1 << 33, "time_shift": 4})
    assert len(made) == 16 + 8 + 16
    assert struct.unpack_from("<3I", made) == (7, 9, 7)
    assert struct.unpack_from("<Q4I", made, 16) == (1 << 33, start, 4, 0, 0)


@pytest.mark.parametrize(
    ("base_rtt_ns", "shift"),
    [(0, 0), (8_192, 0), (104_857, 0), (104_858, 1), (1_121_120, 4), (100_000_000, 10), (10**9, 10)],
)
def test_forty_base_rtts_are_told_apart(base_rtt_ns: int, shift: int) -> None:
    assert time_shift(base_rtt_ns) == shift
    assert shift == 10 or base_rtt_ns * 40 >> shift < 1 << 22
