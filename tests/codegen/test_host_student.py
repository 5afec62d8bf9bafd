"""The target `host` of a policy that scales a rate: its header decides as the program does, window and rate."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from host_header import C99, CPP17, compiled, learnt_student

from codegen import sides
from codegen.inputs import split
from codegen.targets import HOST, unserved
from decision.ir.interfaces.flow_rate import WINDOWED, flow_interface
from decision.ir.interpret import evaluate
from decision.policy.student import Student

SCALED = flow_interface(WINDOWED[0])
ROWS = """
#include <stdio.h>
#include "rlcc_host.h"
int main(void)
{
    rlcc_event event;
    rlcc_params params;
    uint32_t held[8];

    while (fread(&event, sizeof event, 1U, stdin) == 1U) {
        rlcc_flow flow = { FIELDS };
        rlcc_action action;

        if ((fread(&params, sizeof params, 1U, stdin) != 1U) || (fread(held, 4U, COUNT, stdin) != COUNT)) {
            return 1;
        }
        SET
        rlcc_host_decide(&flow, &event, &params, &action);
        printf("%u %u %u\\n", (unsigned)action.rate_q20, (unsigned)action.window_bytes, (unsigned)flow.rate_q30);
    }
    return 0;
}
"""
CALLS = """
#include <stdio.h>
#include "rlcc_host.h"
int main(int argc, char **argv)
{
    const rlcc_params params = RLCC_PARAMS_DEFAULT;
    const rlcc_host_completion c = { 50000U, 10000U, 1U, 4096U, 0U, 0U, 0U, 0U, 0U, 0U };
    rlcc_event decided;
    rlcc_host host;

    (void)argc;
    rlcc_host_start(&host, &params, (uint32_t)(argv[1][0] - '0'));
    printf("%u %u ", (unsigned)host.window_bytes, (unsigned)host.rate_q20);
    rlcc_host_sent(&host, 8192U);
    rlcc_host_acknowledged(&host, &c);
    printf("%u %u %u ", (unsigned)host.window_bytes, (unsigned)host.rate_q20, (unsigned)host.in_flight_bytes);
    printf("%u %u\\n", (unsigned)rlcc_host_window(&host), (unsigned)rlcc_host_rate_q20(&host));
    decided.now_ns = c.now_ns;
    return (RLCC_DECIDED(&host.flow, &decided) == (host.mode != RLCC_HOST_OFF)) ? 0 : 1;
}
"""

LATE = """
#include <stdio.h>
#include "rlcc_host.h"
#ifndef BEGIN
#define BEGIN 0U
#endif
#ifndef SENT
#define SENT 8192U
#define BYTES 1000U
#endif
int main(void)
{
    rlcc_host_completion c[4] = {
        { 50000U, 40000U, 1U, 4096U, 0U, 0U, 0U, 0U, 0U, 0U },
        { 50000U, 40000U, 1U, BYTES, 600U, 70U, 0U, 0U, 0U, 0U },
        { 55000U, 45000U, 1U, BYTES, 600U, 70U, 0U, 0U, 0U, 0U },
        { 90000U, 80000U, 1U, BYTES, 0U, 0U, 0U, 0U, 0U, 0U },
    };
    const rlcc_params params = RLCC_PARAMS_DEFAULT;
    rlcc_host host;
    int k;

    rlcc_host_start(&host, &params, RLCC_HOST_ENFORCE);
    for (k = 0; k < 4; k += 1) {
        c[k].now_ns -= BEGIN;
        c[k].sent_ns -= BEGIN;
        rlcc_host_sent(&host, SENT);
        rlcc_host_acknowledged(&host, &c[k]);
        printf("%u %u ", (unsigned)host.since.acked_bytes, (unsigned)host.since.trimmed_bytes);
        printf("%u ", (unsigned)host.since.marked_bytes);
        printf("%u %u\\n", (unsigned)host.window_bytes, (unsigned)host.flow.rate_q30);
    }
    return 0;
}
"""


@pytest.fixture(scope="module")
def student() -> Student:
    return learnt_student()


@pytest.fixture
def firmware(emitted, student: Student, tmp_path: Path) -> Path:
    out: Path = emitted(student, tmp_path, target="host")
    return out


def wrong_rows(student: Student, include: Path, place: Path, compiler: tuple[str, ...] = C99) -> int:
    """Returns on how many rows the header's decision is not the program's: any bit pattern, and both sides of each
    choice."""
    program = student.program()
    vectors, _ = sides.make(program, student.params(), seed=7)
    names = [f"event.{s.name}" for s in SCALED.event] + [f"params.{s.name}" for s in SCALED.params]
    state = [s.name for s in program.state]
    given = np.stack([vectors.columns[name] for name in [*names, *(f"context.{s}" for s in state)]], axis=1)
    declared = {s.name: f"({s.storage}_t)held[{n}]" for n, s in enumerate(program.state)}
    source = ROWS.replace("FIELDS", ", ".join("0" for _ in state)).replace("COUNT", f"{len(state)}U")
    source = source.replace("SET", " ".join(f"flow.{name} = {value};" for name, value in declared.items()))
    binary = compiled(source, include, place, compiler)
    sent = (given & 0xFFFFFFFF).astype("<u4").tobytes()
    done = subprocess.run([str(binary)], input=sent, capture_output=True, check=True)
    got = np.array([line.split() for line in done.stdout.decode().splitlines()], dtype=np.int64)
    (rate, window), after = evaluate(program, *split(program, vectors.columns))
    return int((got != np.stack([rate, window, after["rate_q30"]], axis=1)).any(axis=1).sum())


@pytest.mark.parametrize("compiler", [C99, CPP17], ids=["c99", "c++17"])
def test_its_decision_is_the_program_s(student: Student, firmware: Path, tmp_path: Path, compiler) -> None:
    assert unserved(HOST, SCALED) is None
    assert wrong_rows(student, firmware, tmp_path, compiler) == 0


@pytest.mark.parametrize(("text", "instead"), [(">> 22U", ">> 21U"), ("== 0U)", "== 1U)")])
def test_a_header_that_was_changed_is_noticed(
    student: Student, firmware: Path, tmp_path: Path, text: str, instead: str
) -> None:
    header = (firmware / "rlcc_host.h").read_text()
    assert text in header
    (tmp_path / "rlcc_host.h").write_text(header.replace(text, instead, 1))
    (tmp_path / "rlcc_policy.h").write_text((firmware / "rlcc_policy.h").read_text())
    assert wrong_rows(student, tmp_path, tmp_path) > 0


def decisions(include: Path, place: Path, *flags: str) -> list[list[int]]:
    """Returns a line after each completion of ``LATE``: acknowledged, trimmed and marked since the last decision,
    window, rate in the context."""
    done = subprocess.run(
        [str(compiled(LATE, include, place, (*C99, *flags)))], capture_output=True, text=True, check=True
    )
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_counts_go_on_over_completions_that_decide_nothing(student: Student, firmware: Path, tmp_path: Path) -> None:
    first, same_poll, late, due = decisions(firmware, tmp_path)
    assert [row[:3] for row in (first, same_poll, late, due)] == [[0] * 3, [1000, 70, 600], [2000, 140, 1200], [0] * 3]
    assert first[3:] == same_poll[3:] == late[3:]
    program, params = student.program(), student.params()
    event = dict.fromkeys(SCALED.event_names, 0) | {"now_ns": 50_000, "rtt_ns": 10_000, "acked_bytes": 4096}
    _, context = evaluate(program, event, params, {field.name: 0 for field in program.state})
    event |= {"now_ns": 90_000, "acked_bytes": 3000, "trimmed_bytes": 140}
    (_, window), after = evaluate(program, event, params, context)
    (_, unlost), _ = evaluate(program, event | {"trimmed_bytes": 0}, params, context)
    assert due[3:] == [np.asarray(window).item(), np.asarray(after["rate_q30"]).item()]
    assert window != unlost


def test_counts_end_at_what_a_word_holds(firmware: Path, tmp_path: Path) -> None:
    first, same_poll, late, due = decisions(firmware, tmp_path, "-DSENT=4000000000U", "-DBYTES=3000000000U")
    assert [row[0] for row in (first, same_poll, late, due)] == [0, 3 * 10**9, 2**32 - 1, 0]
    header = (firmware / "rlcc_host.h").read_text()
    wraps = "return ((a + b) < a) ? UINT32_MAX : (a + b);"
    assert wraps in header
    (tmp_path / "rlcc_host.h").write_text(header.replace(wraps, "return a + b;"))
    (tmp_path / "rlcc_policy.h").write_text((firmware / "rlcc_policy.h").read_text())
    assert decisions(tmp_path, tmp_path, "-DSENT=4000000000U", "-DBYTES=3000000000U")[2][0] < 2**32 - 1


def test_a_flow_that_begins_at_clock_0_decides_as_any_other(firmware: Path, tmp_path: Path) -> None:
    assert decisions(firmware, tmp_path, "-DBEGIN=50000U") == decisions(firmware, tmp_path)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("    RLCC_HOST_COUNTS(RLCC_HOST_ADD)\n", ""),
        ("(host->flow.decided_ns != before.decided_ns)", "RLCC_DECIDED(&host->flow, event)"),
    ],
    ids=["nothing goes on", "one poll is one decision"],
)
def test_a_header_that_forgets_a_late_loss_is_noticed(
    student: Student, firmware: Path, tmp_path: Path, text: str, instead: str
) -> None:
    header = (firmware / "rlcc_host.h").read_text()
    assert text in header
    (tmp_path / "rlcc_host.h").write_text(header.replace(text, instead))
    (tmp_path / "rlcc_policy.h").write_text((firmware / "rlcc_policy.h").read_text())
    with pytest.raises(AssertionError):
        test_counts_go_on_over_completions_that_decide_nothing(student, tmp_path, tmp_path)


@pytest.mark.parametrize("mode", [0, 1, 2], ids=["off", "observe", "enforce"])
def test_a_sender_is_told_a_window_and_a_rate(student: Student, firmware: Path, tmp_path: Path, mode: int) -> None:
    binary = compiled(CALLS, firmware, tmp_path)
    done = subprocess.run([str(binary), str(mode)], capture_output=True, text=True, check=True)
    first, first_rate, window, rate, in_flight, allowed, paced = map(int, done.stdout.split())
    params = student.params()
    assert first == ((1 << 30) - 1) * params["in_flight_line_q2"] >> 32
    assert (first_rate, in_flight) == (1 << 20, 4096)
    assert (window, rate) == (first, first_rate) if mode == 0 else (window, rate) != (first, first_rate)
    assert (allowed, paced) == ((window, rate) if mode == 2 else (2**32 - 1, 1 << 20))
