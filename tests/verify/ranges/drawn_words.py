"""Drawn sets of words, and their members."""

from hypothesis import strategies as st

from verify.ranges.words import MODULUS, SIGN, WORD, Words, between

WORD_EDGES = (0, 1, 2, 3, 7, 8, 255, 256, 0x7FFF, 0x8000, SIGN - 1, SIGN, SIGN + 1, WORD - 1, WORD)


@st.composite
def sets(draw: st.DrawFn) -> Words:
    low = draw(st.sampled_from(WORD_EDGES) | st.integers(0, WORD))
    if draw(st.booleans()):
        return Words(low)
    step = 1 << draw(st.integers(0, 31))
    members = draw(st.sampled_from((1, 2, 3)) | st.integers(1, MODULUS // step - 1))
    return between(low, low + step * members, step)


@st.composite
def members(draw: st.DrawFn, of: Words) -> int:
    count = of.span // of.step
    place = draw(st.sampled_from((0, count // 2, count)) | st.integers(0, count))
    return (of.low + of.step * place) % MODULUS


@st.composite
def few(draw: st.DrawFn) -> tuple[Words, list[int]]:
    """A set of at most 40 words, and these."""
    low, step = draw(st.sampled_from(WORD_EDGES) | st.integers(0, WORD)), 1 << draw(st.integers(0, 31))
    count = draw(st.integers(1, min(40, MODULUS // step)))
    return between(low, low + step * (count - 1), step), [(low + step * n) % MODULUS for n in range(count)]
