"""Conditions that Hypothesis draws: of all operators, words and conditions within each other."""

from collections.abc import Callable

from hypothesis import strategies as st

from verify.check.terms import Term, concat, const, extend, extract, ite, make, negate, var

FULL = (1 << 32) - 1
WORDS = [var(f"assignments.{name}") for name in "xyz"]


def anything(_: Term) -> tuple[int, int]:
    return 0, FULL


CONSTANTS = st.sampled_from([0, 1, 2, 3, 4, 5, 31, 32, 33, 100, 1 << 16, (1 << 31) - 1, 1 << 31, FULL - 1, FULL])
BINARY = ("bvadd", "bvsub", "bvmul", "bvand", "bvor", "bvxor", "bvshl", "bvlshr", "bvashr")


@st.composite
def words(draw: Callable[..., Term], depth: int = 3) -> Term:
    """A word of all operators; its conditions and products inside."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(st.sampled_from(WORDS) | CONSTANTS.map(const))
    a, b = (draw(words(depth - 1)) for _ in range(2))
    match draw(st.integers(0, 5)):
        case 0:
            return ite(draw(conditions(depth - 1)), a, b)
        case 1:
            return extract(make("prod", a, b), 63, 32)
        case 2:
            return extract(make("prod", make("bvshl", a, const(3)), b), 31, 0)
        case 3:
            return extend(extract(a, 11, 4), 32, draw(st.booleans()))
        case 4:
            return extract(concat(a, b), 47, 16)
        case _:
            return make(draw(st.sampled_from(BINARY)), a, b)


@st.composite
def conditions(draw: Callable[..., Term], depth: int = 3) -> Term:
    a, b = (draw(words(depth)) for _ in range(2))
    condition = make(draw(st.sampled_from(("=", "bvult", "bvslt"))), a, b)
    return negate(condition) if draw(st.booleans()) else condition
