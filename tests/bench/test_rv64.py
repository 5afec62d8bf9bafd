"""The table of RV64 proofs: its rows, and what a firmware that cannot be read gives."""

import json

from bench.rv64 import Rv64Row, main, page

ROWS = [
    Rv64Row("demo", "clang", True, "", 339, 28, 91, 1.5),
    Rv64Row("other", "gcc", False, "not-proved: the return value", 1200, 4, 9, 60.2),
]


def test_the_page_counts_what_is_proved_and_gives_reasons() -> None:
    text = page(ROWS, "python -m bench.rv64 RUNS/*/firmware")
    assert "proved: 1 of 2" in text
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| ")]
    assert rows[2:] == [
        ["demo", "clang", "proved", "339", "28", "91", "1.5"],
        ["other", "gcc", "not proved", "1,200", "4", "9", "60.2"],
    ]
    assert f"- other, gcc: {ROWS[1].reason}" in text
    assert "Reasons" not in page(ROWS[:1], "python -m bench.rv64 RUNS/*/firmware")


def test_known_rows_are_not_proved_again(tmp_path) -> None:
    results, out = tmp_path / "rows.json", tmp_path / "page.md"
    results.write_text(json.dumps([vars(ROWS[0])]))
    arguments = [str(tmp_path / "demo" / "firmware"), "--compiler", "clang"]
    assert main([*arguments, "--results", str(results), "--out", str(out)]) == 0
    assert "proved: 1 of 1" in out.read_text()


def test_a_missing_firmware_is_a_sentence(tmp_path, capsys) -> None:
    out = tmp_path / "page.md"
    assert main([str(tmp_path / "demo" / "firmware"), "--compiler", "clang", "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()
