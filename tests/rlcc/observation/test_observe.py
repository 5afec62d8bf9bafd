"""`rlcc observe`: the emitted header's windows on a log, equal to the program's; a header that was changed differs."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from bench.nscc.compare import fields
from bench.nscc.events import trajectory
from bench.nscc.exact import Numbers
from decision.artefact.manifest import Opened, opened
from decision.ir.interpret import evaluate
from decision.policy.algorithm import load_algorithm
from rlcc import cli
from rlcc.commands.emit import command
from rlcc.observation import replay as replay_module
from rlcc.observation.calls import COMPLETION, HostCalls, read_calls
from rlcc.observation.replay import replay
from rlcc.observation.report import report

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = ROOT / "docs" / "window" / "nscc.toml"
SEEDS, EVENTS, SURPLUS = (30, 35), 150, 2000
LOSSES = ("trimmed_bytes", "nacked_bytes", "skipped_bytes", "expired_bytes")
COLUMNS = ("now_ns", "flow", "sent_bytes", "rtt_ns", "acked_bytes", "marked_bytes", *LOSSES, "window_bytes")


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("observe") / "firmware"
    command.main([str(SHIPPED), "--target", "host", "--prefix", "nic", "--out", str(out)], standalone_mode=False)
    return out


def drawn_rows(changed: Mapping[str, int] | None = None) -> list[dict[str, int]]:
    """Returns a log of two flows, with the windows that the program's interpreter decides: each event's bytes are sent
    before it, and ``SURPLUS`` more, so that windows are exceeded. ``changed``: parameters that are not as emitted."""
    algorithm = load_algorithm(SHIPPED)
    program, params = algorithm.program(), algorithm.params() | (changed or {})
    rows: list[tuple[int, dict[str, int]]] = []
    for flow, seed in enumerate(SEEDS):
        state, window, in_flight = {s.name: np.zeros(1, np.int64) for s in program.state}, params["window_max_bytes"], 0
        for event in trajectory(seed, Numbers.of(params), EVENTS):
            given = fields(event)
            gone = given["acked_bytes"] + sum(given[name] for name in LOSSES)
            sent = gone + SURPLUS
            in_flight += sent
            rows.append((event.now, {"flow": flow, "sent_bytes": sent, "window_bytes": window}))
            in_flight -= gone
            given |= {"in_flight_bytes": in_flight}
            columns = {name: np.array([given[name]]) for name in program.interface.event_names}
            (decided,), state = evaluate(program, columns, params, state)
            window = int(decided[0])
            done = {name: value for name, value in given.items() if name in COLUMNS and name != "now_ns"}
            rows.append((event.now, {"flow": flow, **done, "window_bytes": window}))
    rows.sort(key=lambda row: row[0])
    return [dict.fromkeys(COLUMNS, 0) | {"now_ns": now} | row for now, row in rows]


def log_of(rows: list[dict[str, int]], path: Path) -> Path:
    lines = [",".join(COLUMNS), *(",".join(str(row[name]) for name in COLUMNS) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return log_of(drawn_rows(), tmp_path_factory.mktemp("log") / "log.csv")


@pytest.fixture(scope="module")
def calls(log: Path) -> HostCalls:
    return read_calls(log)


def test_the_command_shows_windows_as_the_interpreter_decides_them(
    firmware: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, figures = tmp_path / "rows.csv", tmp_path / "figures.json"
    options = ["--foreign-sources", "--out", str(rows), "--json", str(figures)]
    assert cli.main(["observe", str(firmware), str(log), *options]) == 0
    shown = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert {"flows", "window", "held", "bad", "recorded"} <= shown
    found = json.loads(figures.read_text())
    assert (found["flows"], found["sends"], found["completions"]) == (2, 2 * EVENTS, 2 * EVENTS)
    assert (found["differ"], found["recorded"]) == (0, 4 * EVENTS)
    decided = np.loadtxt(rows, delimiter=",", skiprows=1, dtype=np.int64)
    recorded = [row["window_bytes"] for row in drawn_rows()]
    assert decided[:, 2].tolist() == recorded
    assert decided[:, 4].sum() == found["held_back"] > 0


def mutant(firmware: Path, change: tuple[str, str]) -> Opened:
    """Returns the firmware with another header."""
    kept = opened(firmware, "firmware")
    header = kept.contents["nic_host.h"].decode()
    assert change[0] in header
    contents: Mapping[str, bytes] = {**kept.contents, "nic_host.h": header.replace(*change, 1).encode()}
    return Opened(**{**vars(kept), "contents": contents})


def test_parameters_of_the_flows_are_set(firmware: Path, tmp_path: Path) -> None:
    changed = {"window_max_bytes": 60_000, "path_rtt_ns": 9000}
    file = log_of(drawn_rows(changed), tmp_path / "log.csv")
    assert cli.main(["observe", str(firmware), str(file)]) == 1
    given = [text for name, value in changed.items() for text in ("--param", f"{name}={value}")]
    assert cli.main(["observe", str(firmware), str(file), *given]) == 0


@pytest.mark.parametrize(
    "given",
    [["base_rtt=9000"], ["path_rtt_ns"], ["path_rtt_ns=-1"], ["path_rtt_ns=0"], ["path_rtt_ns=" + "9" * 5000],
     ["path_rtt_ns=9,000"], ["path_rtt_ns=9000", "path_rtt_ns=9001"], ["path_rtt_ns=9000; abort()"]],
    ids=["name", "no value", "negative", "range", "digits", "comma", "twice", "code"],
)  # fmt: skip
def test_parameters_that_the_firmware_does_not_take_are_refused(
    firmware: Path, log: Path, given: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    options = [text for each in given for text in ("--param", each)]
    assert cli.main(["observe", str(firmware), str(log), *options]) == 2
    said = capsys.readouterr().err
    assert "--param" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "change",
    [("pending_now / window_16", "pending_now / (window_16 + 64U)"), ("<< 8U) /", "<< 7U) /")],
    ids=["growth", "cut"],
)
def test_a_changed_header_differs_from_the_recorded_windows(
    firmware: Path, calls: HostCalls, change: tuple[str, str]
) -> None:
    found = report(calls, replay(mutant(firmware, change), calls))
    assert found.differ
    assert found.first_difference


def test_a_replay_without_marks_differs_from_the_recorded_windows(
    firmware: Path, calls: HostCalls, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "replay.c"
    source.write_text(replay_module.SOURCE.read_text().replace("in[MARKED]", "0U"))
    monkeypatch.setattr(replay_module, "SOURCE", source)
    assert report(calls, replay(opened(firmware, "firmware"), calls)).differ


def test_a_recorded_window_that_differs_is_exit_code_1(firmware: Path, tmp_path: Path) -> None:
    rows = drawn_rows()[:40]
    rows[30]["window_bytes"] += 1
    path, figures = log_of(rows, tmp_path / "log.csv"), tmp_path / "figures.json"
    assert cli.main(["observe", str(firmware), str(path), "--foreign-sources", "--json", str(figures)]) == 1
    found = json.loads(figures.read_text())
    assert (found["differ"], found["first_difference"]) == (1, 31)


def test_a_log_is_not_written_over(firmware: Path, tmp_path: Path) -> None:
    path = log_of(drawn_rows()[:40], tmp_path / "log.csv")
    before = path.read_bytes()
    assert cli.main(["observe", str(firmware), str(path), "--foreign-sources", "--out", str(path)]) == 2
    twice = ["--json", str(tmp_path / "one"), "--out", str(tmp_path / "one")]
    assert cli.main(["observe", str(firmware), str(path), "--foreign-sources", *twice]) == 2
    assert (path.read_bytes(), (tmp_path / "one").exists()) == (before, False)


BAD = """now_ns,sent_bytes,rtt_ns,acked_bytes,expired_bytes
1000,4096,0,0,0
14000,0,13000,8192,0
13000,0,0,1,0
20000,4096,0,0,0
30000,0,0,0,4294967295
5000000000,0,4000000000,1,0
"""


def test_bad_completions_are_counted_and_bounded(firmware: Path, tmp_path: Path) -> None:
    """More acknowledged and lost than was sent, a clock that goes back, RTTs of 0 and of more than the clock holds."""
    path = tmp_path / "log.csv"
    path.write_text(BAD)
    calls = read_calls(path)
    replayed = replay(opened(firmware, "firmware"), calls)
    found = report(calls, replayed)
    assert found.bad == {"over_acknowledged": 4, "untimed": 2, "clock_back": 1}
    assert replayed.in_flight.tolist() == [4096, 0, 0, 4096, 0, 0]
    assert replayed.counters["lost_bytes"] == 4096
    assert found.window is not None
    assert 4096 <= found.window.least <= found.window.greatest <= 225_000
    unbounded = mutant(firmware, ("(bytes < host->in_flight_bytes) ? bytes : host->in_flight_bytes;", "bytes;"))
    assert replay(unbounded, calls).in_flight.tolist() != replayed.in_flight.tolist()


def test_a_completion_of_more_than_was_in_flight_hides_no_loss(firmware: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("now_ns,sent_bytes,rtt_ns,acked_bytes,skipped_bytes\n1000,4096,0,0,0\n14000,0,13000,4096,1024\n")
    replayed = replay(opened(firmware, "firmware"), read_calls(path))
    counted = {name: replayed.counters[name] for name in ("acked_bytes", "lost_bytes", "over_acknowledged")}
    assert counted == {"acked_bytes": 3072, "lost_bytes": 1024, "over_acknowledged": 1}
    assert replayed.in_flight.tolist() == [4096, 0]


def garbage(rows: int) -> HostCalls:
    """Returns sends of any size and completions of any words, in any order of time."""
    random = np.random.default_rng(1)
    names = ("now_ns", "sent_bytes", *COMPLETION)
    words = {name: random.integers(0, 2 ** random.integers(1, 33, rows), dtype=np.int64) for name in names}
    send = random.random(rows) < 0.5
    for name, values in words.items():
        if name != "now_ns":
            values[send != (name == "sent_bytes")] = 0
    return HostCalls({**words, "flow": np.zeros(rows, dtype=np.int64)}, None, 1)


@pytest.mark.parametrize(
    "change",
    [("", ""), ("(window_shrunk_capped > smallest_bytes)", "(window_shrunk_capped > 0U)")],
    ids=["as emitted", "mutant"],
)
def test_no_completion_takes_the_window_below_a_packet(firmware: Path, change: tuple[str, str]) -> None:
    """A flow with nothing in flight may always send, so that it is never stuck; nothing takes in_flight below 0."""
    calls = garbage(4000)
    replayed = replay(mutant(firmware, change), calls)
    assert (replayed.windows.min() >= 4096) == (not change[0])
    assert replayed.windows.max() <= 225_000
    gone = replayed.counters["acked_bytes"] + replayed.counters["lost_bytes"]
    assert gone + replayed.in_flight[-1] <= replayed.counters["sent_bytes"]
    assert replayed.counters["over_acknowledged"] > 0


def test_a_firmware_of_another_target_is_refused(
    firmware: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(firmware, changed)
    (changed / "nic_host.h").unlink()
    for folder in (changed, tmp_path):
        assert cli.main(["observe", str(folder), str(log), "--foreign-sources"]) == 2
        said = capsys.readouterr().err
        assert str(folder) in said
        assert "Traceback" not in said


def test_a_changed_firmware_is_refused_before_it_is_compiled(
    firmware: Path, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(firmware, changed)
    header = changed / "nic_host.h"
    header.write_text(header.read_text() + "#error compiled\n")
    assert cli.main(["observe", str(changed), str(log)]) == 2
    said = capsys.readouterr().err
    assert "nic_host.h" in said
    assert "#error" not in said
