"""The target `host`: one header for C99 and C++, equal to the program, with three modes and every bad input counted."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_header import C99, CPP17, compiled

from codegen import sides
from codegen.targets import HOST, unserved
from decision.ir.interfaces.flow_rate import FLOW_RATE
from decision.ir.interpret import evaluate
from decision.policy.algorithm import load_algorithm
from rlcc.commands.emit import command

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "docs" / "window" / "nscc.toml"

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
        ("? 0U : undelayed;", "? 1U : undelayed;"),
        ("| adapts", "& adapts"),
        ("target_ns - delay_ns", "delay_ns - target_ns"),
        ("if (adjusts != 0U) {", "if (adjusts == 0U) {"),
        ("if (cuts != 0U) {", "if (cuts == 0U) {"),
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
    assert shown["beyond_window"] == (0 if mode == 0 else 60 - 225_000 // 4096)
    assert (shown["over_acknowledged"], shown["clock_back"], shown["in_flight"]) == (1, 1, 0)
    assert (shown["acked_bytes"], shown["lost_bytes"]) == (3 * 4096, 57 * 4096)
    assert shown["decisions"] == (0 if mode == 0 else 4)
    assert shown["untimed"] == (0 if mode == 0 else 2)
    assert shown["window"] == (225_000 if mode == 0 else 4096)
    assert shown["allowed"] == (4096 if mode == 2 else 2**32 - 1)


SPY = """
#include <stdio.h>
#include "rlcc_policy.h"
static rlcc_event last;
static uint32_t spy(rlcc_flow *flow, const rlcc_event *event, const rlcc_params *params)
{
    last = *event;
    return (flow->window_bytes == 0U) ? params->window_max_bytes : 1U;
}
#include "rlcc_host.h"
int main(int argc, char **argv)
{
    rlcc_params params = RLCC_PARAMS_DEFAULT;
    rlcc_host host;
    uint32_t sent, v[8];
    unsigned mode;

    (void)sscanf(argv[argc - 1], "%u %u %u", &mode, &params.mtu_bytes, &params.window_max_bytes);
    rlcc_host_start(&host, &params, mode);
    printf("%u ", (unsigned)host.window_bytes);
    while (scanf("%u %u %u %u %u %u %u %u", &sent, v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6) == 8) {
        const rlcc_host_completion c = { v[0], v[1], v[2], v[3], v[4], 0U, v[5], 0U, v[6], 0U };

        rlcc_host_sent(&host, sent);
        rlcc_host_acknowledged(&host, &c);
    }
    printf("%u %u %u %u %u %u ", last.rtt_ns, last.acked_bytes, last.marked_bytes, last.nacked_bytes,
           last.expired_bytes, last.in_flight_bytes);
    printf("%lu %lu %lu %lu\\n", (unsigned long)host.counters.lost_bytes, (unsigned long)host.counters.untimed,
           (unsigned long)host.counters.clock_back, (unsigned long)host.counters.beyond_window);
    return 0;
}
"""
OBSERVED = ("first_window", "rtt", "acked", "marked", "nacked", "expired", "in_flight", "lost_bytes", "untimed",
            "clock_back", "beyond_window")  # fmt: skip
SECOND = 10**9
OBSERVE = (1, 4096, 225_000)
NOW_BEFORE = [(4096, 5 * 10**8, 0, 0, 4096, 0, 0, 0)]
"""A completion 0.5 s after the clock wrapped."""
LIMIT = "<= RLCC_HOST_STEP_BACK_NS)"
CASES: dict[str, tuple[tuple[int, ...], list[tuple[int, ...]], dict[str, int], tuple[str, str]]] = {
    "an idle gap of 3 s is no step back": (
        OBSERVE, [*NOW_BEFORE, (4096, 5 * 10**8 + 3 * SECOND, 0, 0, 4096, 0, 0, 0)], {"clock_back": 0},
        (f"(back {LIMIT}", "(back <= 0x7FFFFFFFU)"),
    ),
    "half a second back is one, across the wrap": (
        OBSERVE, [*NOW_BEFORE, (4096, 2**32 - 1, 0, 0, 4096, 0, 0, 0)], {"clock_back": 1},
        ("host->last_ns - completion->now_ns", "completion->now_ns - host->last_ns"),
    ),
    "an RTT of 3 s is late": (
        OBSERVE, [(4096, 3 * SECOND, 0, 1, 4096, 0, 0, 0)], {"rtt": 3 * SECOND, "untimed": 0},
        (f"completion->now_ns) {LIMIT}", "completion->now_ns) <= 0x7FFFFFFFU)"),
    ),
    "a send half a second after its completion is not timed": (
        OBSERVE, [(4096, 1000, 1000 + SECOND // 2, 1, 4096, 0, 0, 0)], {"rtt": 0, "untimed": 1},
        (f"completion->now_ns) {LIMIT}", "completion->now_ns) <= 1000U)"),
    ),
    "at most what was in flight is acknowledged, marked and lost": (
        OBSERVE, [(20_000, 1000, 0, 0, 6_000, 9_000, 3_000, 12_000)],
        {"acked": 5_000, "marked": 5_000, "nacked": 3_000, "expired": 12_000, "in_flight": 0, "lost_bytes": 15_000},
        ("landed = (bytes < host->in_flight_bytes) ? bytes : host->in_flight_bytes;", "landed = bytes;"),
    ),
    "of more than was in flight the losses come first": (
        OBSERVE, [(10_000, 1000, 0, 0, 6_000, 0, 3_000, 2**32 - 1)],
        {"acked": 0, "nacked": 3_000, "expired": 7_000, "in_flight": 0, "lost_bytes": 10_000},
        ("landed = (bytes < host->in_flight_bytes) ? bytes : host->in_flight_bytes;", "landed = bytes;"),
    ),
    "a loss is handed over": (
        OBSERVE, [(10_000, 1000, 0, 0, 4_000, 0, 0, 0), (0, 2000, 0, 0, 0, 0, 0, 5_000)],
        {"expired": 5_000, "in_flight": 1_000, "lost_bytes": 5_000}, ("if (lost == 0U) {", "if (lost != 0U) {"),
    ),
    "a loss is not handed over twice": (
        OBSERVE, [(10_000, 1000, 0, 0, 0, 0, 0, 5_000), (0, 2000, 0, 0, 4_000, 0, 0, 0)],
        {"expired": 0, "acked": 4_000, "lost_bytes": 5_000}, ("event.expired_bytes = 0U;", "event.expired_bytes = 1U;"),
    ),
    "the first window is at most the largest that is decided": (
        (1, 4096, 2**32 - 1), [], {"first_window": 2**26 - 1},
        ("= (params->window_max_bytes < most) ? params->window_max_bytes : most;", "= params->window_max_bytes;"),
    ),
    "the first window is a packet at least": (
        (1, 4096, 100), [], {"first_window": 4096}, ("(largest > smallest) ? largest : smallest", "largest"),
    ),
    "nothing is beyond the window in mode off": (
        (0, 4096, 5_000), [(4096, 1000, 0, 0, 0, 0, 0, 0)] * 2, {"beyond_window": 0},
        ("(host->mode != RLCC_HOST_OFF) && ", ""),
    ),
    "a send beyond the window is counted where it is observed": (
        (1, 4096, 5_000), [(4096, 1000, 0, 0, 0, 0, 0, 0)] * 2, {"beyond_window": 1},
        ("(host->mode != RLCC_HOST_OFF) && ", "(host->mode == RLCC_HOST_ENFORCE) && "),
    ),
}  # fmt: skip
"""Mode, mtu and largest window; then, a row each: bytes sent, and now, sent, timed, acked, marked, nacked, expired of a
completion; figures that result; a change of the header after which they do not."""


def spied(firmware: Path, place: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Returns a program that reads sends and completions, and prints the last event that was to be decided."""
    header = (firmware / "rlcc_host.h").read_text()
    for text, instead in (("= rlcc_host_decide(", "= spy("), change):
        assert text in header
        header = header.replace(text, instead, 1)
    place.mkdir(exist_ok=True)
    (place / "rlcc_host.h").write_text(header)
    (place / "rlcc_policy.h").write_text((firmware / "rlcc_policy.h").read_text())
    return compiled(SPY, place, place, ("cc", "-std=c99", "-O0"))


@pytest.fixture(scope="module")
def spy(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return spied(firmware, tmp_path_factory.mktemp("spy"))


def shows(binary: Path, case: str) -> bool:
    """True where every figure of the case results."""
    settings, rows, expected, _ = CASES[case]
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    argument = " ".join(map(str, settings))
    done = subprocess.run([str(binary), argument], input=text, capture_output=True, text=True, check=True)
    shown = dict(zip(OBSERVED, map(int, done.stdout.split()), strict=True))
    return expected.items() <= shown.items()


@pytest.mark.parametrize("case", CASES)
def test_bad_input_comes_to_the_decision_within_bounds(firmware: Path, spy: Path, tmp_path: Path, case: str) -> None:
    assert shows(spy, case)
    assert not shows(spied(firmware, tmp_path / "mutant", CASES[case][3]), case)


def test_the_header_has_no_float_no_allocation_and_no_lock(firmware: Path) -> None:
    code = re.sub(r"/\*.*?\*/", " ", (firmware / "rlcc_host.h").read_text(), flags=re.DOTALL)
    assert set(re.findall(r"#include (\S+)", code)) == {'"rlcc_policy.h"'}
    assert not {"float", "double", "malloc", "calloc", "while", "for", "volatile"} & set(re.findall(r"\w+", code))


def test_no_macro_is_broken_by_the_line_wrapper(firmware: Path) -> None:
    assert "X( \\" not in (firmware / "rlcc_host.h").read_text()


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
