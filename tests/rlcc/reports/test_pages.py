"""Markdown of generated pages: it reads as plain text too, and a figure shows its confidence."""

from math import nan

from rlcc.reports.pages import Figure, listed, table, wrapped


def test_figures_and_tables_as_text() -> None:
    assert Figure(9.514, 0.021).text(2) == "9.51 ±0.02"
    assert Figure(9.514, 0.004).text(2) == "9.51"
    assert Figure(1234.5, 10).text(1) == "1,234.5 ±10.0"
    assert Figure(9.514).text(1) == "9.5"
    assert Figure(nan).text(2) == "-"
    assert Figure(2, 0.5).times(-3) == Figure(-6, 1.5)
    assert [listed(["1", "2", "3"][:n]) for n in range(4)] == ["", "1", "1 and 2", "1, 2 and 3"]
    assert table(["a", "long one"], [["word", "1"]]) == (
        "| a    | long one |\n| ---- | -------: |\n| word |        1 |\n"
    )


def test_paragraphs_are_filled_and_tables_are_not() -> None:
    rows = table(["a" * 50, "b" * 50, "c" * 50], [["1", "2", "3"]])
    text = f"# Title\nwor1 wor2\nwor3\n\n- ite1\n  goe2 o3\n- nex4\n\n{rows}behin5\n\n    code   a1 i2 i3\n"
    filled = f"# Title\nwor1 wor2 wor3\n\n- ite1 goe2 o3\n- nex4\n\n{rows}\nbehin5\n\n    code   a1 i2 i3\n"
    assert wrapped(text, 14) == filled
