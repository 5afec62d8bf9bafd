"""docs/host-shims: what the shims hand to the header, next to a replay of the calls that they stand for."""

import os
import subprocess
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import numpy as np
import pytest
from host_header import learnt_student

from decision.artefact.manifest import Opened, opened
from rlcc.commands.emit import command
from rlcc.observation.calls import COLUMNS, HostCalls
from rlcc.observation.replay import replay

ROOT = Path(__file__).resolve().parents[2]
SHIMS, DRIVERS = ROOT / "docs" / "host-shims", Path(__file__).with_name("shims")
PACKET, LARGEST, LEARNT_LARGEST = 4096, 225_000, 122_880
PACKETS = 128
"""Window that SUET starts with."""
WARNINGS = ("-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
Call = dict[str, int]


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    out = tmp_path_factory.mktemp("shims") / "firmware"
    document = ROOT / "docs" / "window" / "nscc.toml"
    command.main([str(document), "--target", "host", "--out", str(out)], standalone_mode=False)
    return opened(out, "firmware")


@pytest.fixture(scope="module")
def learnt(emitted: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return opened(emitted(learnt_student(), tmp_path_factory.mktemp("learnt"), target="host"), "firmware")


def windows(firmware: Opened, calls: list[Call]) -> list[int]:
    """Returns the header's window in bytes after each of its calls."""
    columns = {
        name: np.array([call.get(name, 0) for call in calls], dtype=np.int64)
        for name in COLUMNS
        if name != "window_bytes"
    }
    return [int(window) for window in replay(firmware, HostCalls(columns, None, 1)).windows]


def changed(source: Path, place: Path, change: tuple[str, str]) -> Path:
    """Returns a copy of a file with one text changed."""
    text = source.read_text()
    assert change[0] in text
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(*change, 1))
    return place


def lines(program: Path, calls: list[str], *arguments: str, mode: str = "") -> list[list[int]]:
    done = subprocess.run(
        [str(program), *arguments], input="\n".join(calls) + "\n", capture_output=True, text=True, check=True,
        env=os.environ | {"RLCC_TEST_MODE": mode},
    )  # fmt: skip
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


def suet(firmware: Opened, place: Path, change: tuple[str, str] = ("", ""), *flags: str) -> Path:
    """Returns the driver on a copy of the shim."""
    source = changed(SHIMS / "suet" / "suet_cc.c", place / "suet_cc.c", change)
    includes = [f"-I{firmware.folder}", f"-I{SHIMS / 'suet'}"]
    options = ["-std=c99", "-Wconversion", "-DRLCC_SUET_CLOCK", *WARNINGS, *includes, *flags]
    subprocess.run(["cc", *options, str(source), str(DRIVERS / "suet_driver.c"), "-o", str(place / "run")], check=True)
    return place / "run"


def suet_calls(seed: int) -> Iterator[tuple[str, int, list[Call]]]:
    """Yields a call of the shim, what is in flight in packets after it, and the header's calls that it stands for."""
    random, now, marks = Random(seed), 10_000, 0
    sent: deque[int] = deque()
    for number in range(600):
        full = number % 300 > 150
        now += random.randint(1500, 4000) if full else random.randint(100, 400)
        if len(sent) < 30:
            sent.append(now)
            yield f"t {now} 0", len(sent), [{"now_ns": now, "sent_bytes": PACKET}]
        elif random.random() < 0.03:
            yield (
                f"x {now} 0",
                len(sent),
                [
                    {"now_ns": now, "trimmed_bytes": PACKET},
                    {"now_ns": now, "sent_bytes": PACKET},
                ],
            )
        elif full and random.random() < 0.4:
            marks += 1
            yield f"m {now} 0", len(sent), []
        else:
            count = random.randint(1, 4)
            newest = [sent.popleft() for _ in range(count)][-1]
            marked = min(marks, count) * PACKET
            marks = 0
            done = {"now_ns": now, "rtt_ns": now - newest, "acked_bytes": count * PACKET, "marked_bytes": marked}
            yield f"a {now} {count}", len(sent), [done]


@pytest.fixture(scope="module")
def suet_rows(firmware: Opened) -> list[list[int]]:
    return suet_expected(firmware, LARGEST)


def suet_expected(firmware: Opened, window: int) -> list[list[int]]:
    """Returns the lines that the driver prints if the shim hands on every call: window and in flight in packets,
    whether a packet may be sent, bytes in flight. ``window``: the first, in bytes."""
    scene = list(suet_calls(1))
    decided = windows(firmware, [call for _, _, calls in scene for call in calls])
    at, rows = 0, []
    for _, in_flight, calls in scene:
        at += len(calls)
        window = decided[at - 1] if at else window
        packets = max(1, min(PACKETS, window // PACKET))
        rows.append([packets, in_flight, int(in_flight < packets), in_flight * PACKET])
    assert len({row[0] for row in rows}) > 5
    return rows


def suet_shown(program: Path) -> list[list[int]]:
    return lines(program, [call for call, _, _ in suet_calls(1)], str(PACKETS))[:-1]


def test_suet_s_window_is_the_header_s(firmware: Opened, suet_rows: list[list[int]], tmp_path: Path) -> None:
    assert suet_shown(suet(firmware, tmp_path)) == suet_rows


def test_suet_takes_a_learnt_policy(learnt: Opened, tmp_path: Path) -> None:
    program = suet(learnt, tmp_path, ("", ""), f"-DRLCC_SUET_PACKET_BYTES={PACKET}U")
    assert suet_shown(program) == suet_expected(learnt, LEARNT_LARGEST)


def test_packets_of_no_bytes_stop_no_sender(learnt: Opened, tmp_path: Path) -> None:
    shown = suet_shown(suet(learnt, tmp_path, ("", ""), "-DRLCC_SUET_PACKET_BYTES=0U"))
    assert all(1 <= row[0] <= PACKETS for row in shown)


@pytest.mark.parametrize(
    "change",
    [
        ("cc->sent_ns[(cc->first - 1U) % RLCC_SUET_TIMES]", "rlcc_suet_now_ns()"),
        ("completion.marked_bytes = marked * packet", "completion.marked_bytes = 0U * marked * packet"),
        ("rlcc_host_sent(&cc->host, completion.trimmed_bytes);", ""),
        ("cc->marked = 0U;", ""),
        ("if (packets != 0U) {\n    cc->marked", "{\n    cc->marked"),
        ("(packets < cc->max_cwnd) ? packets : cc->max_cwnd", "packets + 1U"),
    ],
    ids=["send time", "marks", "sent again", "marks twice", "marks forgotten", "window"],
)
def test_a_shim_of_suet_that_was_changed_is_noticed(
    firmware: Opened, suet_rows: list[list[int]], tmp_path: Path, change: tuple[str, str]
) -> None:
    assert suet_shown(suet(firmware, tmp_path, change)) != suet_rows


BAD_CALLS = ["a 1000 5", "t 2000 0", "a 1500 1", "t 3000 0", "a 4000 7", "x 5000 0", "m 5000 0", "t 6000 0"]
"""More acknowledged than was sent, twice; a clock that goes back; congestion with nothing in flight."""


@pytest.mark.parametrize(
    ("packets", "change"),
    [("128", ("", "")), ("0", ("", "")), ("128", ("(count < cc->in_flight) ? count : cc->in_flight", "count"))],
    ids=["128", "a window of 0 packets", "mutant"],
)
def test_bad_calls_of_suet_are_bounded(firmware: Opened, tmp_path: Path, packets: str, change: tuple[str, str]) -> None:
    *rows, (ecn, trims, over) = lines(suet(firmware, tmp_path, change), BAD_CALLS, packets)
    good = (
        [row[1] for row in rows] == [0, 1, 0, 1, 0, 0, 0, 1]
        and all(row[0] >= 1 for row in rows)
        and rows[-2][2] == 1
        and (ecn, trims, over) == (1, 1, 2)
    )
    assert good == (not change[0])


def uccl(firmware: Opened, place: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Returns the driver on a copy of the shim."""
    changed(SHIMS / "uccl" / "cc" / "cc_state.h", place / "cc" / "cc_state.h", change)
    flags = ["-std=c++17", *WARNINGS, f"-I{firmware.folder}", f"-I{place}"]
    subprocess.run(["c++", *flags, str(DRIVERS / "uccl_driver.cpp"), "-o", str(place / "run")], check=True)
    return place / "run"


def uccl_calls(seed: int) -> Iterator[tuple[str, list[Call]]]:
    """Yields a call of the shim, at 2 ticks a ns, and the header's calls that it stands for."""
    random, now, number = Random(seed), 10_000, 0
    sent: deque[tuple[int, int]] = deque()
    for step in range(500):
        full = step % 250 > 100
        now += random.randint(4000, 8000) if full else random.randint(200, 900)
        if len(sent) < (40 if full else 10):
            number += 1
            sent.append((number, now))
            yield f"s {2 * now} {number} 0", []
        else:
            done, since = sent.popleft()
            bytes = PACKET * random.randint(1, 3)
            completion = {"now_ns": now, "rtt_ns": now - since, "acked_bytes": bytes}
            yield f"a {2 * now} {done} {bytes}", [{"now_ns": now, "sent_bytes": bytes}, completion]


@pytest.fixture(scope="module")
def uccl_windows(firmware: Opened) -> list[int]:
    return uccl_expected(firmware, LARGEST)


def uccl_expected(firmware: Opened, first: int) -> list[int]:
    """Returns the windows in bytes after each call, where the shim hands on every completion."""
    scene = list(uccl_calls(1))
    decided = windows(firmware, [call for _, calls in scene for call in calls])
    at, found = 0, []
    for _, calls in scene:
        at += len(calls)
        found.append(decided[at - 1] if at else first)
    assert len(set(found)) > 5
    return found


def uccl_shown(program: Path, mode: str = "rlcc") -> tuple[list[int], list[int]]:
    """Returns the windows that the engine is given, and those that were decided."""
    rows = lines(program, [call for call, _ in uccl_calls(1)], mode=mode)[:-1]
    return [row[0] for row in rows], [row[1] for row in rows]


@pytest.fixture(scope="module")
def uccl_program(firmware: Opened, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return uccl(firmware, tmp_path_factory.mktemp("uccl"))


def test_uccl_s_window_is_the_header_s(uccl_program: Path, uccl_windows: list[int]) -> None:
    assert uccl_shown(uccl_program) == (uccl_windows, uccl_windows)


def test_uccl_takes_a_learnt_policy(learnt: Opened, tmp_path: Path) -> None:
    expected = uccl_expected(learnt, LEARNT_LARGEST)
    assert uccl_shown(uccl(learnt, tmp_path)) == (expected, expected)


def test_uccl_observes_without_a_limit(uccl_program: Path, uccl_windows: list[int]) -> None:
    allowed, decided = uccl_shown(uccl_program, "rlcc-observe")
    assert decided == uccl_windows
    assert min(allowed) > 2**40


def test_uccl_without_a_mode_is_off(uccl_program: Path) -> None:
    shown = lines(uccl_program, [call for call, _ in uccl_calls(1)], mode="swift")
    assert {tuple(row) for row in shown[:-1]} == {(0, 0)}
    assert shown[-1][0] == 0


@pytest.mark.parametrize(
    "change",
    [
        ("static_cast<uint32_t>(nanoseconds(now - sent));", "static_cast<uint32_t>(now - sent);"),
        ("completion.now_ns = static_cast<uint32_t>(nanoseconds(now))", "completion.now_ns = 1000U"),
        ("rlcc_host_sent(&host_, completion.acked_bytes);", ""),
        (
            "    shared_->window.store(host_.window_bytes, std::memory_order_relaxed);\n  }\n\n  /* Bytes",
            "  }\n  /* Bytes",
        ),
    ],
    ids=["ticks as ns", "no clock", "nothing sent", "window not published"],
)
def test_a_shim_of_uccl_that_was_changed_is_noticed(
    firmware: Opened, uccl_windows: list[int], tmp_path: Path, change: tuple[str, str]
) -> None:
    assert uccl_shown(uccl(firmware, tmp_path, change))[0] != uccl_windows


def test_bad_calls_of_uccl_are_bounded_and_counted(uccl_program: Path) -> None:
    """A request that was never recorded, one of 2^40 bytes, a counter of ticks that goes back, an id used twice."""
    calls = ["a 1000 1 4096", "s 2000 2 0", f"a 3000 2 {2**40}", "s 9000 3 0", "a 8000 3 4096", "a 9500 2 4096"]
    *rows, (enabled, untimed, _) = lines(uccl_program, calls, mode="rlcc")
    assert enabled == 1
    assert untimed == 3
    assert all(PACKET <= row[0] <= LARGEST for row in rows)
