"""Mutants of Verilog by their places in a text."""

from bench.logic_mutants import MUTANTS

TEXT = """wire [7:0] n1_a = x;
assign v = (s1_x[3] & y);
    s1_a <= a;
    s2_a <= s1_a;
    s3_a <= s2_a;
"""


def changed(name):
    """Returns the lines that a mutant makes of the text, one a place."""
    (mutant,) = [one for one in MUTANTS if one.name == name]
    texts = [mutant.applied(TEXT, place) for place in mutant.places(TEXT)]
    return [(set(text.splitlines()) - set(TEXT.splitlines())).pop().strip() for text in texts]


def test_a_mutant_changes_one_line_at_each_place():
    assert changed("narrower_wire") == ["wire [6:0] n1_a = x;"]
    assert changed("lowest_digit") == ["assign v = (s1_x[3] | y);"]


def test_a_swapped_stage_takes_the_register_before():
    assert changed("swapped_stage") == ["s2_a <= a;", "s3_a <= s1_a;"]


def test_names_are_unique():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
