"""A memory of their own for constant tables: its waits are those of loads from constants, and of nothing else."""

from pathlib import Path

import numpy as np
import pytest

from decision.artefact.errors import InputError
from emulator.compile import toolchain
from emulator.profile import PROFILE_FOLDER, load_profile
from emulator.timing import time_function

SOURCE = """\
#include <stdint.h>
static const int16_t table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
int32_t f(const int32_t *row)
{
    const int32_t a = row[0];
    const int32_t b = row[1];
    return table[a & 7] + table[b & 7] + row[2];
}
"""
TABLE = """
[table_memory]
wait_states = {wait}
reason = "a test of waits"
"""


def profile(folder: Path, table: int | None, data: int = 0) -> Path:
    text = (PROFILE_FOLDER / "ibex-small.toml").read_text()
    first, rest = text.split("[data_memory]")
    rest = rest.replace("wait_states = 0", f"wait_states = {data}")
    path = folder / f"tables{table}-{data}.toml"
    path.write_text(first + "[data_memory]" + rest + ("" if table is None else TABLE.format(wait=table)))
    return path


def cycles(folder: Path, engine: Path) -> tuple[int, int]:
    source = folder / "f.c"
    source.write_text(SOURCE)
    found = time_function(source, "f", [(5, 7, 100)], toolchain(engine))
    return found.cycles.max, int(found.returned[0])


@pytest.mark.parametrize("wait", [0, 1, 54, 255])
def test_a_load_from_a_table_waits_for_it(tmp_path: Path, wait: int) -> None:
    plain, result = cycles(tmp_path, profile(tmp_path, None))
    assert result == 9 + 6 + 100
    assert cycles(tmp_path, profile(tmp_path, wait)) == (plain + 2 * wait, result)


def test_other_loads_wait_for_the_data_memory(tmp_path: Path) -> None:
    plain, _ = cycles(tmp_path, profile(tmp_path, None))
    assert cycles(tmp_path, profile(tmp_path, 0, data=5))[0] == plain + 3 * 5
    assert cycles(tmp_path, profile(tmp_path, 20, data=5))[0] == plain + 3 * 5 + 2 * 20


def test_a_cache_before_the_data_leaves_no_room_for_it(tmp_path: Path) -> None:
    path = profile(tmp_path, 3)
    cache = "cache = { bytes = 1024, line_bytes = 16, ways = 2, miss_cycles = 10 }\n"
    path.write_text(path.read_text().replace("[data_memory]\n", f"[data_memory]\n{cache}"))
    with pytest.raises(InputError, match=r"table_memory .*cache"):
        load_profile(path)


def test_its_reason_is_no_part_of_its_meaning(tmp_path: Path) -> None:
    path = profile(tmp_path, 3)
    one = load_profile(path)
    path.write_text(path.read_text().replace("a test of waits", "the very same waits"))
    assert load_profile(path).hash() == one.hash()
    assert load_profile(profile(tmp_path, 4)).hash() != one.hash()


def test_the_proxy_says_what_it_stands_for() -> None:
    proxy = load_profile("connectx6dx-proxy")
    assert proxy.proxy_for is not None
    assert proxy.table_memory is not None
    assert np.isclose(proxy.microseconds(proxy.clock.mhz), 1.0)
