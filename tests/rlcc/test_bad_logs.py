"""Bad logs and options of `rlcc import` and what follows: one sentence that names the place, exit code 2, nothing
written."""

import sys
from pathlib import Path

import pytest
from own_log import POLICY, column_options, log_text
from refusals import refused

from rlcc import cli

LOG = log_text(1, flows=2, end_us=200)
HEAD, FIRST, *REST = LOG.splitlines()


def with_row(number: int, **changes: str) -> str:
    """Returns the log with values of one row changed, by column."""
    lines, names = LOG.splitlines(), HEAD.split(",")
    values = dict(zip(names, lines[number].split(","), strict=True)) | changes
    lines[number] = ",".join(values[name] for name in names)
    return "\n".join(lines) + "\n"


LOGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty file": ("", ("log.csv", "0 columns")),
    "no rows": (HEAD + "\n", ("log.csv", "no rows")),
    "semicolons": (LOG.replace(",", ";"), ("log.csv", "1 columns")),
    "column twice": (LOG.replace("rtt_us", "time_us", 1), ("two columns", "'time_us'")),
    "column missing": (LOG.replace("rtt_us", "delay_us", 1), ("rtt_ns=rtt_us", "delay_us")),
    "short row": (f"{HEAD}\n{FIRST}\n1,2\n", ("log.csv", "Expected 5")),
    "text": (with_row(7, rtt_us="fast"), ("row 7", "'rtt_us' (rtt_ns)", "'fast'")),
    "nan": (with_row(7, rtt_us="nan"), ("row 7", "nan is not")),
    "infinite": (with_row(7, rate_gbps="inf"), ("row 7", "inf is not")),
    "empty value": (with_row(7, rtt_us=""), ("row 7", "is empty")),
    "empty agent": (with_row(7, connection=""), ("row 7", "'connection' (flow)")),
    "negative": (with_row(7, rtt_us="-1"), ("row 7", "-1 is not")),
    "rate above the line": (with_row(7, rate_gbps="100.1"), ("row 7", "and 100 Gb/s")),
    "rate of zero": (with_row(7, rate_gbps="0"), ("row 7", "0 is not")),
    "rate in bits": (with_row(7, rate_gbps="100000000000"), ("row 7", "and 100 Gb/s")),
    "label out of range": (with_row(7, multiplier="1.5"), ("row 7", "'multiplier' (label)", "and 1.2")),
    "label as a step": (with_row(7, multiplier="-0.05"), ("row 7", "-0.05 is not")),
    "time twice": (with_row(9, time_us=LOG.splitlines()[7].split(",")[0]), ("row 9", "'time_us' (t_ps)", "twice")),
    "time goes back": (with_row(9, time_us="0.001"), ("row 9", "decided later")),
    "time negative": (with_row(1, time_us="-5"), ("row 1", "-5 is not")),
    "time since 1970": (with_row(9, time_us="1764200000000000"), ("row 9", "'time_us' (t_ps)")),
    "not UTF-8": (LOG.replace("time_us", "time_\udcff", 1), ("log.csv",)),
}
"""A log -> what the sentence names."""
BASE = ["--policy", "policy.toml"]
UNLABELLED = ["import", "log.csv", *BASE, *column_options()[:-2]]
OPTIONS: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "no such log": (["import", "nowhere.csv", *BASE], ("nowhere.csv",)),
    "a folder": (["import", ".", *BASE], ("is a folder",)),
    "another ending": (["import", "policy.toml", *BASE], ("policy.toml", ".parquet")),
    "a CSV that is called Parquet": (["import", "log.parquet", *BASE], ("log.parquet",)),
    "no policy": (["import", "log.csv", "--policy", "nowhere.toml"], ("nowhere.toml",)),
    "no option for the policy": (["import", "log.csv"], ("--policy",)),
    "unmapped column": (["import", "log.csv", *BASE], ("column flow", "connection", "--column")),
    "unknown name": (["import", "log.csv", *BASE, "--column", "rt_ns=rtt_us"], ("'rt_ns'", "mean rtt_ns")),
    "unknown unit": (["import", "log.csv", *BASE, "--column", "rtt_ns=rtt_us in s/m"], ("'s/m'", "us")),
    "unit of an agent": (["import", "log.csv", *BASE, "--column", "flow=connection in us"], ("'us'", "no unit")),
    "no equals sign": (["import", "log.csv", *BASE, "--column", "rtt_us"], ("NAME=COLUMN",)),
    "unit forgotten": (
        ["import", "log.csv", *BASE, *[word.replace("rtt_us in us", "rtt_us") for word in column_options()]],
        ("row 1", "'rtt_us' (rtt_ns)", "whole number"),
    ),
    "no labels": (UNLABELLED, ("column label", "--labels")),
    "labels twice": (["import", "log.csv", *BASE, *column_options(), "--labels", "math:sin"], ("of its own",)),
    "teacher and function": (
        ["import", "log.csv", *BASE, "--teacher", "t", "--labels", "math:sin"],
        ("--teacher", "--labels"),
    ),
    "no module": (
        [*UNLABELLED, "--labels", "nowhere_at_all:f"],
        ("nowhere_at_all",),
    ),
    "no function": ([*UNLABELLED, "--labels", "math:sine"], ("math", "sine")),
    "no colon": ([*UNLABELLED, "--labels", "math"], ("MODULE:FUNCTION",)),
    "no teacher": ([*UNLABELLED, "--teacher", "nowhere"], ("nowhere",)),
    "a place that is taken": (["import", "log.csv", *BASE, *column_options(), "--out", "taken"], ("taken",)),
    "a log for rollouts": (["distill", "log.csv"], ("rlcc import log.csv",)),
    "a teacher and a log": (["distill", "nowhere", "log.csv"], ("rlcc import log.csv",)),
    "a folder with a log": (["distill", "taken"], ("rlcc import taken/log.csv",)),
    "three folders": (["distill", "a", "b", "c"], ("3 folders",)),
    "no folder": (["distill"], ("ROLLOUTS",)),
}
"""Arguments -> what the sentence names."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "log.csv").write_text(LOG)
    (tmp_path / "log.parquet").write_text(LOG)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "log.csv").write_text(LOG)
    return tmp_path


def refused_import(
    arguments: list[str], names: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(arguments if "--out" in arguments else [*arguments, "--out", "out"], names, here, capsys)


@pytest.mark.parametrize("kind", LOGS)
def test_a_log_with_one_thing_wrong(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, names = LOGS[kind]
    (here / "log.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused_import(["import", "log.csv", *BASE, *column_options()], names, here, capsys)


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_line_with_one_thing_wrong(kind: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments, names = OPTIONS[kind]
    refused_import(arguments, names, here, capsys)


def test_the_log_itself_is_taken(here: Path) -> None:
    assert cli.main(["import", "log.csv", *BASE, *column_options(), "--out", "out"]) == 0


def test_a_file_that_a_refusal_leaves_is_seen(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def leaves(arguments: list[str]) -> int:
        (here / "out").mkdir()
        sys.stderr.write("error: log.csv is empty\n")
        return 2

    monkeypatch.setattr(cli, "main", leaves)
    with pytest.raises(AssertionError):
        refused_import(["import", "log.csv"], ("log.csv",), here, capsys)


def test_there_are_forty_five() -> None:
    assert len(LOGS) + len(OPTIONS) >= 45
