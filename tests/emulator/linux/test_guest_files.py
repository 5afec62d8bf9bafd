"""What goes into the guest: archives as the kernel reads them, the job's shell, the lines that come back."""

import shutil
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

from decision.artefact.errors import InputError
from emulator.linux.cell import Bottleneck, Control, TcpFlow, read, run, script
from emulator.linux.cpio import archive

PATH = Bottleneck(100 * 10**6, 10**9, 100_000)
LINES = [
    "Registered tcp_congestion_ops",
    "Q 0 0 0 0 0",
    "Q 1000 3028 1 2 40",
    "F 10000 1 1200 2896 3 12500000 10 5 3",
    "D",
]


def entries(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Mode and content by name, read as the kernel's documentation lays the form out."""
    at, out = 0, {}
    while at < len(data):
        assert data[at : at + 6] == b"070701"
        fields = [int(data[at + 6 + 8 * i : at + 14 + 8 * i], 16) for i in range(13)]
        mode, size, length = fields[1], fields[6], fields[11]
        name = data[at + 110 : at + 110 + length - 1].decode()
        at += (110 + length + 3) // 4 * 4
        out[name] = (mode, data[at : at + size])
        at += (size + 3) // 4 * 4
    return out


def test_an_archive_holds_files_and_their_folders() -> None:
    made = archive({"job/rlcc/a.o": b"abc", "init": b"#!/bin/sh\n"})
    assert made == archive({"init": b"#!/bin/sh\n", "job/rlcc/a.o": b"abc"})
    assert entries(made) == {
        "init": (0o100755, b"#!/bin/sh\n"),
        "job": (0o040755, b""),
        "job/rlcc": (0o040755, b""),
        "job/rlcc/a.o": (0o100755, b"abc"),
        "TRAILER!!!": (0, b""),
    }
    assert list(entries(made + archive({"x": b"1"}))) == ["init", "job", "job/rlcc", "job/rlcc/a.o", "TRAILER!!!", "x"]


@pytest.mark.parametrize("marking", [None, (12_500, 25_000), (20_000, 20_000)])
def test_the_job_is_shell_that_says_what_the_path_is(marking: tuple[int, int] | None) -> None:
    path = Bottleneck(50 * 10**6, 4 * 10**9, 60_000, marking)
    text = script(path, [Control("rlcc", b"\x7fELF", bytes(range(24)))], 8, 3_000_000)
    shell = shutil.which("sh")
    assert shell is not None
    assert subprocess.run([shell, "-n", "-c", text]).returncode == 0
    assert "rate 50000000 burst 1600 limit 60000" in text
    assert "netem delay 4000us" in text
    assert "value hex 00 01 02 03" in text
    assert ("red limit" in text) == ("tcp_ecn=1" in text) == (marking is not None)


def test_lines_come_back_as_columns() -> None:
    seen = read([*LINES, "X 4 110", "C 7 1000 31000 2896", f"F 20000 1 0 0 0 {2**64 - 1} 10 0 0"])
    assert seen.queue.tolist() == [[0, 0, 0, 0, 0], [1000, 3028, 1, 2, 40]]
    assert seen.flows.tolist() == [
        [10000, 1, 1200, 2896, 3, 12500000, 10, 5, 3],
        [20000, 1, 0, 0, 0, 2**63 - 1, 10, 0, 0],
    ]
    assert seen.completed.tolist() == [[7, 1000, 31000, 2896]]
    assert (seen.failed, seen.said, seen.completed.dtype) == (1, ("Registered tcp_congestion_ops",), np.int64)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (LINES[:-1], "Registered tcp_congestion_ops"),
        ([*LINES, "E cubix: No such file or directory"], "cubix"),
        ([], "says nothing"),
    ],
)
def test_a_job_that_failed_is_told(lines: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(lines)


def test_the_kernels_log_is_told_where_it_refuses_a_program() -> None:
    """As Linux 6.1 said it of an adapter that wrote mss_cache."""
    log = [
        "29: (63) *(u32 *)(r1 +1580) = r2",
        "no write support to tcp_sock at off 1580",
        "processed 26 insns (limit 1000000) max_states_per_insn 0 total_states 1 peak_states 1 mark_read 1",
        "-- END PROG LOAD LOG --",
        "libbpf: prog 'rlcc_cong_control': failed to load: -13",
        "E register rlcc",
    ]
    with pytest.raises(InputError, match=r"rlcc_cong_control: .*tcp_sock at off 1580"):
        read(log)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bottleneck(10**9, 10**9, 100_000),
        lambda: Bottleneck(10**8, 10**7, 100_000),
        lambda: Bottleneck(10**8, 10**9, 100),
        lambda: Bottleneck(10**8, 10**9, 100_000, (9, 8)),
        lambda: Bottleneck(10**8, 10**9, 100_000, (9, 200_000)),
        lambda: run(None, PATH, [Control("reno")], [], seed=1, duration_us=1),  # type: ignore[arg-type]
        lambda: run(None, PATH, [Control("reno")], [TcpFlow(0)] * 1025, seed=1, duration_us=1),  # type: ignore[arg-type]
    ],
)
def test_what_the_guest_cannot_carry_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(InputError):
        make()
