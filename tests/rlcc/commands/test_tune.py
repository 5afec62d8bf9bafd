"""`rlcc tune`: written, read back, refused."""

from pathlib import Path

import pytest

from codegen.emit import emit
from codegen.tuning import packed, unpacked, words_of
from rlcc import cli

SAID = ["base_rtt=1.12112 ms", "line_rate=100 Mb/s", "rate_start=1 %"]


@pytest.fixture(scope="module")
def folder(pipeline, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tune")
    emit(pipeline.student, place / "all", target="all")
    emit(pipeline.student, place / "bpf", target="linux-bpf")
    return place


def test_what_is_written_is_read_back_with_units(folder: Path, tmp_path: Path, capsys) -> None:
    file, again = tmp_path / "map.bin", tmp_path / "again.hex"
    assert cli.main(["tune", str(folder / "bpf"), *SAID, "--out", str(file)]) == 0
    values = unpacked(words_of(folder / "bpf"), file.read_bytes())
    assert (values["line_rate_bytes"], values["time_shift"]) == (12_500_000, 4)
    capsys.readouterr()
    assert cli.main(["tune", str(folder / "bpf"), "--from", str(file)]) == 0
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("100 Mb/s", "16 ns", "1 %", "1121.1"))
    assert cli.main(["tune", str(folder / "bpf"), "--from", str(file), "--as", "hex", "--out", str(again)]) == 0
    assert bytes.fromhex(again.read_text()) == file.read_bytes()


def test_the_command_line_and_the_other_forms(folder: Path, capsys) -> None:
    words = words_of(folder / "bpf")
    assert cli.main(["tune", str(folder / "bpf"), "--as", "bpftool"]) == 0
    line = capsys.readouterr().out.strip()
    assert line.split()[:9] == ["bpftool", "map", "update", "name", "rlcc_bpf.data", "key", "hex", "00", "00"]
    assert bytes.fromhex(line.split("value hex ")[1]) == packed(words, {w.name: w.default for w in words})
    assert cli.main(["tune", str(folder / "all"), "--target", "doca-pcc", "rate_min=1 %", "--as", "words"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == f"1 {round(2**30 / 100)} rate_min_q30"
    assert cli.main(["tune", str(folder / "all"), "--target", "falcon-rue", "nic_window=9 packets", "--as", "c"]) == 0
    assert ", 9U, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{bpf}", "line_rate"], "write NAME=VALUE"),
        (["{bpf}", "line_rate=1 Gb/s", "line_rate=2 Gb/s"], "set twice"),
        (["{bpf}", "line_rate=2 GB"], "has the unit 'GB'"),
        (["{bpf}", "rate_min=200 %"], "out of range"),
        (["{bpf}", "--target", "doca-pcc"], "leave --target doca-pcc out"),
        (["{all}"], "say which by --target"),
        (["{all}", "--target", "generic", "--as", "bpftool"], "target linux-bpf"),
        (["{bpf}", "--as", "bytes"], "file by --out"),
        (["{bpf}", "--out", "{bpf}/map.bin"], "of the firmware"),
        (["{bpf}", "--from", "{bpf}/manifest.json"], "--from"),
        (["{bpf}", "--from", "{bpf}/none"], "none"),
        (["{bpf}/none"], "none"),
    ],
)
def test_what_cannot_be_set_is_one_sentence(folder: Path, arguments: list[str], words: str, capsys) -> None:
    places = {"bpf": str(folder / "bpf"), "all": str(folder / "all")}
    assert cli.main(["tune", *(text.format(**places) for text in arguments)]) == 2
    error = capsys.readouterr().err.strip()
    assert error.startswith("error: ")
    assert words in error
    assert "\n" not in error
