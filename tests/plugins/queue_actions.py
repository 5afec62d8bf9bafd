"""Actions of deciders at a switch's queue, for the tests of every stage: as they stand in policy.toml."""

from collections.abc import Iterable
from typing import Any

LEVEL: dict[str, Any] = {
    "kind": "level",
    "knobs": {
        "kmin_bytes": {"low": 2_000, "high": 200_000},
        "kmax_bytes": {"low": 10_000, "high": 400_000, "not_below": "kmin_bytes"},
        "pmax_q16": {"low": 655, "high": 65_536},
    },
}


def choice(rows: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """Of settings with these kmin and pmax, and kmax at four times kmin."""
    return {
        "kind": "choice",
        "rows": [{"kmin_bytes": kmin, "kmax_bytes": 4 * kmin, "pmax_q16": pmax} for kmin, pmax in rows],
    }


FOUR = choice(((5_000, 655), (20_000, 13_107), (80_000, 6_554), (320_000, 65_536)))

GROUPS: dict[str, Any] = {
    "kind": "choice",
    "groups": [
        [{"kmin_bytes": kmin} for kmin in (5_000, 20_000, 80_000)],
        [{"kmax_bytes": kmax, "pmax_q16": pmax} for kmax, pmax in ((80_000, 65_536), (320_000, 6_554), (999_999, 655))],
    ],
}
