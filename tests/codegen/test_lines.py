"""Emitted C in lines of at most 110 columns: the same tokens in the same order, whatever is broken."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codegen.lines import WIDTH, wrapped

NAMES = st.sampled_from(["rate_q30", "congestion_q20_1", "sent_bytes_over_capacity_bytes_q8", "12U", "0xFFU"])
OPERATORS = st.sampled_from([" + ", " & ", " && ", " || ", " >> ", " == "])
EXPRESSIONS = st.recursive(
    NAMES,
    lambda inner: st.one_of(
        st.builds("({}{}{})".format, inner, OPERATORS, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("place({}, {})".format, inner, inner),
    ),
    max_leaves=20,
)


def tokens(text: str) -> list[str]:
    return re.findall(r"\w+|[^\s\w]", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL))


@given(EXPRESSIONS, st.sampled_from(["", " /* what it is, in words that take some room */"]))
def test_breaking_keeps_every_token_and_the_width(expression: str, note: str) -> None:
    line = f"    const uint32_t decided = {expression};{note}"
    made = wrapped(line)
    assert tokens(made) == tokens(line)
    assert all(len(one) <= WIDTH for one in made.split("\n"))
    assert ("what it is" in " ".join(made.split())) == bool(note)
    assert wrapped(made) == made


def test_a_comment_goes_above_its_line_and_a_short_line_stays() -> None:
    short = "    const uint32_t a = b; /* note */"
    assert wrapped(short) == short
    above, line = wrapped(f"    const uint32_t a = b; /* {'note ' * 20}*/").split("\n")
    assert above.startswith("    /* note")
    assert line == "    const uint32_t a = b;"


def test_a_macro_goes_on_with_a_backslash_and_a_comment_with_a_star() -> None:
    values = ", ".join(f"{n}U" for n in range(60))
    first, *rest = wrapped(f"#define VALUES \\\n    {{{values}}}").split("\n")
    assert first.endswith("\\")
    assert all(line.endswith(" \\") for line in rest[:-1])
    assert not rest[-1].endswith("\\")
    text = wrapped(f"/* a\n * features  {'word ' * 40}\n */")
    assert all(line.startswith((" * features ", " *           ")) for line in text.split("\n")[1:-1])


@pytest.mark.parametrize("text", ["", "\n", "a" * 200, "    " + "b" * 120 + ";"])
def test_what_has_no_place_to_be_broken_at_stays(text: str) -> None:
    assert wrapped(text) == text
