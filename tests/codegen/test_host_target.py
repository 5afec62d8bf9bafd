"""The target `host`: one header for C99 and C++, equal to the program, with three modes and every bad input counted."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from codegen import sides
from codegen.targets import HOST, unserved
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.policy.algorithm import load_algorithm
from rlcc.commands.emit import command

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "docs" / "window" / "nscc.toml"
C99 = ("cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
CPP17 = ("c++", "-std=c++17", "-x", "c++", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")

ROWS = """
#include <stdio.h>
#include "rlcc_host.h"
int main(void)
{
    rlcc_event event;
    rlcc_params params;
    rlcc_flow flow;

    while (fread(&event, sizeof event, 1U, stdin) == 1U) {
        uint32_t window;

        if ((fread(&params, sizeof params, 1U, stdin) != 1U) || (fread(&flow, sizeof flow, 1U, stdin) != 1U)) {
            return 1;
        }
        window = rlcc_host_decide(&flow, &event, &params);
        (void)fwrite(&window, sizeof window, 1U, stdout);
        (void)fwrite(&flow, sizeof flow, 1U, stdout);
    }
    return 0;
}
"""

CALLS = """
#include <stdio.h>
#include "rlcc_host.h"
#define SHOW(name) printf("%lu ", (unsigned long)host.counters.name);
int main(int argc, char **argv)
{
    const rlcc_params params = RLCC_PARAMS_DEFAULT;
    rlcc_host_completion c = { 1000U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U };
    rlcc_host host;
    uint32_t n;

    (void)argc;
    rlcc_host_start(&host, &params, (uint32_t)(argv[1][0] - '0'));
    for (n = 0U; n < 60U; n++) {
        rlcc_host_sent(&host, 4096U);
    }
    c.now_ns = 40000U; c.sent_ns = 10000U; c.timed = 1U; c.acked_bytes = 4096U;
    rlcc_host_acknowledged(&host, &c);
    c.now_ns = 30000U; c.timed = 0U;
    rlcc_host_acknowledged(&host, &c);
    c.now_ns = 50000U; c.timed = 1U; c.sent_ns = 60000U;
    rlcc_host_acknowledged(&host, &c);
    c.now_ns = 60000U; c.acked_bytes = 0U; c.expired_bytes = 0xFFFFFFFFU;
    rlcc_host_acknowledged(&host, &c);
    RLCC_HOST_COUNTERS(SHOW)
    printf("%lu %lu %lu\\n", (unsigned long)host.window_bytes, (unsigned long)host.in_flight_bytes,
           (unsigned long)rlcc_host_window(&host));
    return 0;
}
"""
COUNTERS = ("sends", "sent_bytes", "beyond_window", "decisions", "acked_bytes", "lost_bytes", "over_acknowledged",
            "untimed", "clock_back", "window", "in_flight", "allowed")  # fmt: skip


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("host") / "firmware"
    command.main([str(SHIPPED), "--target", "host", "--out", str(out)], standalone_mode=False)
    return out


def compiled(source: str, include: Path, place: Path, compiler: tuple[str, ...] = C99) -> Path:
    file = place / "main.c"
    file.write_text(source)
    subprocess.run([*compiler, f"-I{include}", str(file), "-o", str(place / "main")], check=True)
    return place / "main"


def wrong_rows(binary: Path) -> int:
    """Returns on how many rows the compiled decision is not the program's: any bit pattern, and both sides of each
    choice."""
    algorithm = load_algorithm(SHIPPED)
    program = algorithm.program()
    vectors, _ = sides.make(program, algorithm.params(), seed=7)
    fields = [*program.interface.event_names, *program.interface.param_names, *(s.name for s in program.state)]
    groups = ["event"] * len(program.interface.event) + ["params"] * len(program.interface.params)
    groups += ["context"] * len(program.state)
    given = np.stack([vectors.columns[f"{g}.{f}"] for g, f in zip(groups, fields, strict=True)], axis=1)
    done = subprocess.run([str(binary)], input=given.astype("<u4").tobytes(), capture_output=True, check=True)
    after = np.frombuffer(done.stdout, dtype="<u4").reshape(len(given), 1 + len(program.state)).astype(np.int64)
    split = {g: {f: given[:, n] for n, f in enumerate(fields) if groups[n] == g} for g in set(groups)}
    (window,), context = evaluate(program, split["event"], split["params"], split["context"])
    expected = np.stack([window, *(context[s.name] for s in program.state)], axis=1)
    return int((after != expected).any(axis=1).sum())


@pytest.mark.parametrize("compiler", [C99, CPP17], ids=["c99", "c++17"])
def test_its_decision_is_the_program_s(firmware: Path, tmp_path: Path, compiler: tuple[str, ...]) -> None:
    assert wrong_rows(compiled(ROWS, firmware, tmp_path, compiler)) == 0


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (": 1024U;", ": 1023U;"),
        ("pending_now / window_16", "pending_now / (window_16 + 1U)"),
        ("<< 8U) /", "<< 7U) /"),
        ("? 0U : undelayed_before", "? 1U : undelayed_before"),
    ],
)
def test_a_header_that_was_changed_is_noticed(firmware: Path, tmp_path: Path, text: str, instead: str) -> None:
    header = (firmware / "rlcc_host.h").read_text()
    assert text in header
    (tmp_path / "rlcc_host.h").write_text(header.replace(text, instead, 1))
    (tmp_path / "rlcc_policy.h").write_text((firmware / "rlcc_policy.h").read_text())
    assert wrong_rows(compiled(ROWS, tmp_path, tmp_path)) > 0


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["off", "observe", "enforce"])
def test_modes_and_counters_of_bad_input(firmware: Path, tmp_path: Path, mode: int) -> None:
    """60 packets are sent, 54 fit into the window; then clock, RTT and loss are bad."""
    binary = compiled(CALLS, firmware, tmp_path)
    done = subprocess.run([str(binary), str(mode)], capture_output=True, text=True, check=True)
    shown = dict(zip(COUNTERS, map(int, done.stdout.split()), strict=True))
    assert (shown["sends"], shown["sent_bytes"]) == (60, 60 * 4096)
    assert shown["beyond_window"] == 60 - 225_000 // 4096
    assert (shown["over_acknowledged"], shown["clock_back"], shown["in_flight"]) == (1, 1, 0)
    assert (shown["acked_bytes"], shown["lost_bytes"]) == (3 * 4096, 2**32 - 1)
    assert shown["decisions"] == (0 if mode == 0 else 4)
    assert shown["untimed"] == (0 if mode == 0 else 2)
    assert shown["window"] == (225_000 if mode == 0 else 4096)
    assert shown["allowed"] == (4096 if mode == 2 else 2**32 - 1)


def test_the_header_has_no_float_no_allocation_and_no_lock(firmware: Path) -> None:
    code = re.sub(r"/\*.*?\*/", " ", (firmware / "rlcc_host.h").read_text(), flags=re.DOTALL)
    assert set(re.findall(r"#include (\S+)", code)) == {'"rlcc_policy.h"'}
    assert not {"float", "double", "malloc", "calloc", "while", "for", "volatile"} & set(re.findall(r"\w+", code))


def test_the_measurement_of_its_speed_runs(firmware: Path, tmp_path: Path) -> None:
    source = (ROOT / "bench" / "host_speed.c").read_text()
    done = subprocess.run(
        [str(compiled(source, firmware, tmp_path, (*C99[:3], "-DROUNDS=1U")))],
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["nscc", "swift"]


def test_a_policy_that_sets_a_rate_is_refused() -> None:
    assert unserved(HOST, FLOW_RATE) is not None
