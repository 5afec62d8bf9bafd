"""Bad simulators behind `rlcc distill --simulator`: one sentence that names the line or row, no student, no rounds."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from own_log import FOLDER, column_options, log_text
from refusals import refused

from rlcc import cli

ROW = {"time_us": 1.0, "connection": "a", "rtt_us": 9.0, "rate_gbps": 50.0}


def rows(*changes: dict[str, object]) -> list[str]:
    """Returns the lines of a run with one row per change of the good one."""
    return [json.dumps({"row": ROW | change}) for change in changes] + ['{"done": 1}']


def without(column: str) -> list[str]:
    return [json.dumps({"row": {name: value for name, value in ROW.items() if name != column}}), '{"done": 1}']


ANSWERS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no JSON": (["hello"], ("line 1", "'hello'")),
    "no message": (['{"rwo": {"time_us": 1}}'], ("line 1", "rwo", "decide, forget")),
    "no row": (['{"done": 1}'], ("run 8, seed 1001", "without a row")),
    "an unknown signal": (['{"decide": {"flow": 1, "cnps": 1}}'], ("line 1", "'cnps'", "cnp_count")),
    "an unknown agent": (['{"decide": {"cnp_count": 1}}'], ("line 1", "flow")),
    "a column missing": (without("rate_gbps"), ("8, seed 1001", "rate_q30", "rtt_us")),
    "nan": (rows({"rtt_us": float("nan")}), ("row 1", "'rtt_us' (rtt_ns)", "nan")),
    "text": (rows({"rtt_us": "fast"}), ("row 1", "'rtt_us' (rtt_ns)", "'fast'")),
    "negative": (rows({}, {"time_us": 2.0, "rtt_us": -1.0}), ("row 2", "'rtt_us' (rtt_ns)", "-1")),
    "above the line rate": (rows({"rate_gbps": 100.1}), ("row 1", "'rate_gbps' (rate_q30)", "100 Gb/s")),
    "time goes back": (rows({"time_us": 5.0}, {}), ("row 2", "'time_us' (t_ps)", "flow a")),
}
"""Lines of the first run, and what the sentence names."""
OPTIONS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no such command": (["--simulator", "./nowhere", "--scenario", "8"], ("./nowhere",)),
    "an empty command": (["--simulator", "", "--scenario", "8"], ("--simulator is empty",)),
    "a command that ends": (["--simulator", f"{shlex.quote(sys.executable)} -c 0", "--scenario", "8"], ("code 0",)),
    "a command that fails": (
        ["--simulator", f"{shlex.quote(sys.executable)} -c 'raise SystemExit(3)'", "--scenario", "8"],
        ("code 3",),
    ),
    "a scenario without a simulator": (["--scenario", "8"], ("--simulator",)),
    "rounds without a simulator": (["--rounds", "1"], ("--simulator",)),
}
SMALL = ["--rounds", "1", "--trees", "1", "--depth", "1"]


@pytest.fixture(scope="module")
def small_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rollouts of a short log, labelled by the rule behind it."""
    root = tmp_path_factory.mktemp("small-record")
    (root / "log.csv").write_text(log_text(1, flows=2, end_us=2000.0))
    (root / "rule.py").write_text((FOLDER / "rule.py").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        words = ["import", "log.csv", "--policy", str(FOLDER / "policy.toml"), *column_options()[:-2]]
        assert cli.main([*words, "--labels", "rule:decide", "--out", "rollouts"]) == 0
    return root


@pytest.mark.parametrize("kind", ANSWERS)
def test_a_simulator_with_one_thing_wrong(
    kind: str, small_record: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, names = ANSWERS[kind]
    text = "\n".join(lines)
    program = f"import sys\nsys.stdin.readline()\nprint({text!r}, flush=True)\nsys.stdin.readline()\n"
    (small_record / "simulator.py").write_text(program)
    monkeypatch.chdir(small_record)
    command = f"{shlex.quote(sys.executable)} simulator.py"
    words = ["distill", "rollouts", "--simulator", command, "--scenario", "8", *SMALL]
    refused([*words, "--out", "student"], names, small_record, capsys)


@pytest.mark.parametrize("kind", OPTIONS)
def test_options_of_a_simulator_with_one_thing_wrong(
    kind: str, small_record: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    options, names = OPTIONS[kind]
    monkeypatch.chdir(small_record)
    limits = SMALL if "--simulator" in options else []
    refused(["distill", "rollouts", *options, *limits, "--out", "student"], names, small_record, capsys)
