"""docs/example-host: NSCC and a learnt policy over UDP loopback. The window holds, no flow is stuck, and the log
replays to the windows that were decided. Time is virtual: a late process changes no figure but the lateness."""

import json
import os
import signal
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest
from host_header import learnt_student

from decision.ir.forest import oblivious
from rlcc import cli
from rlcc.commands.emit import command

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "example-host"
SOURCES = ("loopback.c", "bottleneck.c", "sender.c", "virtual_time.c")
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
FLOWS, SECONDS, LOSS_PPM, SEED = 4, 1, 20_000, 1
LATENESS = "late_us_max"
PACKET_UNITS = 204  # of 500 ns: a packet's 102.4 us on the line, rounded down
PATH = {
    "base_rtt_recip_q42": 2**42 // 8204,
    "path_rtt_ns": 8204,
    "in_flight_line_q2": 4 * (41_024 * 6 // 5),
    "in_flight_min_bytes": 1024,
}
"""The learnt policy's parameters, in the example's units."""


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("loopback") / "firmware"
    command.main([str(EXAMPLE / "loopback.toml"), "--target", "host", "--out", str(out)], standalone_mode=False)
    return out


Change = tuple[str, str]
HEARD = "    now = head.sent_ns;\n"
STALL: Change = (HEARD, HEARD + "if (head.sequence % 128U == 5U) { (void)usleep(15000U); }\n")
"""A bottleneck that stands still for 15 ms, again and again."""


def built(firmware: Path, place: Path, *changes: Change) -> Path:
    """Returns the example's program, with texts of its sources changed."""
    texts = {name: (EXAMPLE / name).read_text() for name in SOURCES}
    texts["bottleneck.c"] = "#define _DEFAULT_SOURCE\n#include <unistd.h>\n" + texts["bottleneck.c"]
    for before, after in changes:
        assert sum(text.count(before) for text in texts.values()) == 1, before
        texts = {name: text.replace(before, after) for name, text in texts.items()}
    for name, text in texts.items():
        (place / name).write_text(text)
    sources = [str(place / name) for name in SOURCES]
    subprocess.run(["cc", *FLAGS, f"-I{firmware}", f"-I{EXAMPLE}", *sources, "-o", str(place / "run")], check=True)
    return place / "run"


def figures(program: Path, mode: str, log: Path, seed: int = SEED) -> dict[str, float]:
    """Returns what a run prints: a second of four flows, with two packets in a hundred lost."""
    arguments = [mode, str(FLOWS), str(SECONDS), str(LOSS_PPM), str(seed), str(log)]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=True, timeout=60)
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def replayed(firmware: Path, log: Path, out: Path, params: Mapping[str, int] | None = None) -> dict[str, int]:
    """Returns the figures of `rlcc observe`; its exit code stands for whether recorded windows are equal."""
    given = [text for name, value in (params or {}).items() for text in ("--param", f"{name}={value}")]
    code = cli.main(["observe", str(firmware), str(log), *given, "--foreign-sources", "--json", str(out)])
    found: dict[str, int] = json.loads(out.read_text())
    assert code == (1 if found["differ"] else 0)
    return found


@pytest.fixture(scope="module")
def program(firmware: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(firmware, tmp_path_factory.mktemp("built"))


def test_enforcing_holds_the_window_and_no_flow_is_stuck(firmware: Path, program: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.csv"
    shown = figures(program, "enforce", log)
    assert shown["beyond_window"] == 0
    assert shown["lost"] > 0
    assert shown["marked"] > 0
    assert shown["lost_bytes"] > 0
    assert shown["over_acknowledged"] == shown["untimed"] == shown["clock_back"] == shown["datagrams_lost"] == 0
    assert 1 / FLOWS <= shown["jain"] <= 1
    assert shown["goodput_mbps"] > 0
    rows = [line.split(",") for line in log.read_text().splitlines()[1:]]
    assert int(rows[0][0]) < 2**32 < int(rows[-1][0]), "the header's clock does not wrap in the run"
    middle = (int(rows[0][0]) + int(rows[-1][0])) // 2
    late = Counter(row[1] for row in rows if int(row[0]) > middle and int(row[4]) > 0)
    assert len(late) == FLOWS, "a flow that nothing was acknowledged of in the second half"
    found = replayed(firmware, log, tmp_path / "figures.json")
    assert (found["differ"], found["held_back"], found["recorded"]) == (0, 0, len(rows))
    assert found["acked_bytes"] == shown["acked_bytes"]


def test_observing_counts_what_enforcing_would_hold_back(firmware: Path, program: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.csv"
    shown = figures(program, "observe", log)
    assert shown["beyond_window"] > 0
    found = replayed(firmware, log, tmp_path / "figures.json")
    assert (found["differ"], found["held_back"]) == (0, shown["beyond_window"])


@pytest.fixture(scope="module")
def learnt(emitted, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that raises its rate where its path is not congested."""
    student = learnt_student((oblivious(((1, 60_000),), (3000, -3000)),))
    out: Path = emitted(student, tmp_path_factory.mktemp("learnt"), target="host")
    return out


def timeless(shown: dict[str, float]) -> dict[str, float]:
    """Returns the figures that the arguments decide."""
    return {name: value for name, value in shown.items() if name != LATENESS}


@pytest.mark.parametrize("policy", ["firmware", "learnt"])
def test_a_late_process_delays_a_run_and_does_not_change_it(
    policy: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    header = request.getfixturevalue(policy)
    logs = [tmp_path / "punctual.csv", tmp_path / "late.csv"]
    punctual = figures(built(header, tmp_path), "enforce", logs[0])
    late = figures(built(header, tmp_path, STALL), "enforce", logs[1])
    assert late[LATENESS] > 10_000
    assert timeless(late) == timeless(punctual)
    assert logs[0].read_bytes() == logs[1].read_bytes()


def test_processes_that_were_stopped_go_on(program: Path, tmp_path: Path) -> None:
    """As by a terminal's Ctrl-Z, and then `fg`."""
    logs = [tmp_path / "straight.csv", tmp_path / "stopped.csv"]
    straight = figures(program, "enforce", logs[0])
    command = [str(program), "enforce", *map(str, (FLOWS, SECONDS, LOSS_PPM, SEED)), str(logs[1])]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(0.4)
    os.killpg(process.pid, signal.SIGSTOP)
    time.sleep(0.4)
    os.killpg(process.pid, signal.SIGCONT)
    shown, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    stopped = {name: float(value) for name, value in map(str.split, shown.splitlines())}
    assert stopped[LATENESS] > 300_000
    assert timeless(stopped) == timeless(straight)
    assert logs[0].read_bytes() == logs[1].read_bytes()


@pytest.mark.parametrize(
    "changes",
    [
        [
            ("time->now_ns = due;", "time->now_ns = START_NS + (now - time->begin_ns);"),
            ("send_clock(time, end);", "send_clock(time, (time->now_ns > end) ? time->now_ns : end);"),
        ],
        [("(time->clocks_back < number)", "((time->clocks_back < number) && (poll(&ready, 1U, 0) > 0))")],
    ],
    ids=["stamps the real time", "does not wait for the clock"],
)
def test_a_sender_that_depends_on_the_machine_is_noticed(
    firmware: Path, program: Path, tmp_path: Path, changes: list[Change]
) -> None:
    punctual = figures(program, "enforce", tmp_path / "punctual.csv")
    late = figures(built(firmware, tmp_path, STALL, *changes), "enforce", tmp_path / "late.csv")
    assert timeless(late) != timeless(punctual)


def test_another_seed_is_another_run(program: Path, tmp_path: Path) -> None:
    each = [figures(program, "enforce", tmp_path / "calls.csv", seed) for seed in (1, 2)]
    assert timeless(each[0]) != timeless(each[1])


@pytest.mark.parametrize(
    ("line", "harm"),
    [
        ("    if (head.sent_ns < now) {\n", "continue"),
        ("    if (head.sent_ns < now) {\n", "head.sent_ns -= 1000000000U"),
        ("      repeats = 0U;\n", "head.arrives_ns -= 1000000000U"),
    ],
    ids=["lost", "out of order", "acknowledged out of order"],
)
def test_datagrams_that_the_system_loses_are_counted(firmware: Path, tmp_path: Path, line: str, harm: str) -> None:
    """Every hundredth packet, clock or acknowledgement; one that is overtaken counts as lost."""
    change = (line, f"static unsigned heard;\nif (++heard % 100U == 0U) {{ {harm}; }}\n{line}")
    log = tmp_path / "calls.csv"
    shown = figures(built(firmware, tmp_path, change), "enforce", log)
    assert shown["datagrams_lost"] == pytest.approx(shown["sends"] / 100, rel=0.2)
    assert replayed(firmware, log, tmp_path / "figures.json")["differ"] == 0


def test_a_path_that_does_not_answer_ends_the_run(firmware: Path, tmp_path: Path) -> None:
    deaf = (HEARD, "if (head.flow == CLOCK) { continue; }\n" + HEARD)
    program = built(firmware, tmp_path, deaf, ("#define REPEATS 500U", "#define REPEATS 5U"))
    arguments = ["enforce", str(FLOWS), str(SECONDS), "0", str(SEED)]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "not answer" in done.stderr


def quickest(log: Path, packets: int) -> int:
    """Returns the shortest time in which a flow sent so many packets, in the log's units."""
    sends: dict[str, list[int]] = defaultdict(list)
    for line in log.read_text().splitlines()[1:]:
        now, flow, sent = line.split(",")[:3]
        if int(sent):
            sends[flow].append(int(now))
    assert len(sends) == FLOWS
    return min(b - a for each in sends.values() for a, b in zip(each, each[packets - 1 :], strict=False))


def test_a_learnt_policy_paces_and_holds_its_window(learnt: Path, tmp_path: Path) -> None:
    """No flow is faster than the line."""
    log = tmp_path / "calls.csv"
    shown = figures(built(learnt, tmp_path), "enforce", log)
    assert shown["beyond_window"] == shown["over_acknowledged"] == shown["clock_back"] == 0
    assert shown["goodput_mbps"] > 0
    assert quickest(log, 12) >= 11 * PACKET_UNITS
    found = replayed(learnt, log, tmp_path / "figures.json", PATH)
    assert (found["differ"], found["held_back"]) == (0, 0)


def test_a_sender_that_does_not_pace_is_noticed(learnt: Path, tmp_path: Path) -> None:
    log = tmp_path / "calls.csv"
    change = ("return (PACKET_NS << 20U) / rlcc_host_rate_q20(&flow->host);", "return 0U;")
    figures(built(learnt, tmp_path, change), "enforce", log)
    assert quickest(log, 12) < 10 * PACKET_UNITS


@pytest.mark.parametrize(
    "change",
    [
        ("(in_flight + PACKET_BYTES <= window)", "(in_flight + PACKET_BYTES <= window + 8U * PACKET_BYTES)"),
        ("(head->marked != 0U) ?", "(head->marked != 2U) ?"),
    ],
    ids=["beyond the window", "all marked"],
)
def test_a_sender_that_was_changed_is_noticed(firmware: Path, tmp_path: Path, change: Change) -> None:
    """The first is seen in the replay; the second in the log, next to what the bottleneck marked."""
    log = tmp_path / "calls.csv"
    shown = figures(built(firmware, tmp_path, change), "enforce", log)
    found = replayed(firmware, log, tmp_path / "figures.json")
    assert found["held_back"] > 0 or found["marked_bytes"] > 1024 * shown["marked"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["off", "4", "1", "0", "1"], ["enforce", "0", "1", "0", "1"], ["enforce", "65", "1", "0", "1"],
     ["enforce", "4", "x", "0", "1"], ["enforce", "4", "1", "-1", "1"], ["enforce", "4", "1", "1000001", "1"],
     ["enforce", "4", "1", "0"], ["enforce", "4", "1", "0", "calls.csv"]],
    ids=["none", "mode", "no flow", "flows", "text", "negative", "loss", "no seed", "seed"],
)  # fmt: skip
def test_bad_arguments_are_exit_code_2(program: Path, arguments: list[str]) -> None:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
