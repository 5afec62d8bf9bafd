"""docs/example-host: NSCC over UDP loopback. The window holds, no flow is stuck, and the log replays to the windows
that were decided. Times are the machine's: no figure of speed is judged here."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from rlcc import cli
from rlcc.commands.emit import command

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "example-host"
SOURCES = ("loopback.c", "bottleneck.c", "sender.c")
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror")
FLOWS, SECONDS, LOSS_PPM = 4, 1, 20_000


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("loopback") / "firmware"
    command.main([str(EXAMPLE / "loopback.toml"), "--target", "host", "--out", str(out)], standalone_mode=False)
    return out


def built(firmware: Path, place: Path, change: tuple[str, str] = ("", "")) -> Path:
    """Returns the example's program, with one text of its sender changed."""
    for name in SOURCES:
        text = (EXAMPLE / name).read_text()
        assert name != "sender.c" or change[0] in text
        (place / name).write_text(text.replace(*change, 1) if name == "sender.c" else text)
    sources = [str(place / name) for name in SOURCES]
    subprocess.run(["cc", *FLAGS, f"-I{firmware}", f"-I{EXAMPLE}", *sources, "-o", str(place / "run")], check=True)
    return place / "run"


def figures(program: Path, mode: str, log: Path) -> dict[str, float]:
    """Returns what a run prints: a second of four flows, with two packets in a hundred lost."""
    arguments = [mode, str(FLOWS), str(SECONDS), str(LOSS_PPM), str(log)]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=True, timeout=60)
    return {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}


def replayed(firmware: Path, log: Path, out: Path) -> dict[str, int]:
    """Returns the figures of `rlcc observe`; its exit code stands for whether recorded windows are equal."""
    code = cli.main(["observe", str(firmware), str(log), "--foreign-sources", "--json", str(out)])
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
    assert shown["over_acknowledged"] == shown["untimed"] == shown["clock_back"] == 0
    assert 1 / FLOWS <= shown["jain"] <= 1
    assert shown["goodput_mbps"] > 0
    rows = [line.split(",") for line in log.read_text().splitlines()[1:]]
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


@pytest.mark.parametrize(
    "change",
    [
        ("(in_flight + PACKET_BYTES <= window)", "(in_flight + PACKET_BYTES <= window + 8U * PACKET_BYTES)"),
        ("(head->marked != 0U) ?", "(head->marked != 2U) ?"),
    ],
    ids=["beyond the window", "all marked"],
)
def test_a_sender_that_was_changed_is_noticed(firmware: Path, tmp_path: Path, change: tuple[str, str]) -> None:
    """The first is seen in the replay; the second in the log, next to what the bottleneck marked."""
    log = tmp_path / "calls.csv"
    shown = figures(built(firmware, tmp_path, change), "enforce", log)
    found = replayed(firmware, log, tmp_path / "figures.json")
    assert found["held_back"] > 0 or found["marked_bytes"] > 1024 * shown["marked"]


@pytest.mark.parametrize(
    "arguments",
    [[], ["off", "4", "1", "0"], ["enforce", "0", "1", "0"], ["enforce", "65", "1", "0"], ["enforce", "4", "x", "0"],
     ["enforce", "4", "1", "-1"], ["enforce", "4", "1", "1000001"]],
    ids=["none", "mode", "no flow", "flows", "text", "negative", "loss"],
)  # fmt: skip
def test_bad_arguments_are_exit_code_2(program: Path, arguments: list[str]) -> None:
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
