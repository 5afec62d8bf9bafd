"""Sets of words: whatever an operation makes of members is a member of what it makes of the sets."""

import random

import pytest
from drawn_words import WORD_EDGES, few, members, sets
from hypothesis import assume, example, given
from hypothesis import strategies as st

from verify.ranges.words import ANY, COMPUTED, MODULUS, SIGN, WORD, Words, between, hull, within
from verify.trusted.execute import COMPUTED as EXACTLY


@given(st.data(), sets(), sets(), st.sampled_from(sorted(COMPUTED)))
def test_no_result_is_missed(data: st.DataObject, a: Words, b: Words, name: str) -> None:
    x, y = data.draw(members(a)), data.draw(members(b))
    assert EXACTLY[name](x, y, 0) in COMPUTED[name](a, b)


@given(st.data(), sets(), st.integers(0, WORD) | st.sampled_from(WORD_EDGES), st.sampled_from(sorted(COMPUTED)))
@example(None, between(0, 1), 0, "sll")
def test_nor_beside_a_single_word(data: st.DataObject | None, a: Words, word: int, name: str) -> None:
    x = a.low if data is None else data.draw(members(a))
    assert EXACTLY[name](x, word, 0) in COMPUTED[name](a, Words(word))
    assert EXACTLY[name](word, x, 0) in COMPUTED[name](Words(word), a)


@given(st.data(), sets(), sets())
def test_a_hull_holds_both(data: st.DataObject, a: Words, b: Words) -> None:
    both = hull(a, b)
    assert data.draw(members(a)) in both
    assert data.draw(members(b)) in both


@given(st.data(), sets())
def test_both_readings_hold_every_member(data: st.DataObject, a: Words) -> None:
    x = data.draw(members(a))
    assert a.unsigned[0] <= x <= a.unsigned[1]
    assert a.signed[0] <= (x - MODULUS if x >= SIGN else x) <= a.signed[1]


@given(st.data(), sets(), st.integers(0, WORD), st.integers(0, WORD))
def test_what_lies_within_is_kept_and_nothing_new_comes(data: st.DataObject, a: Words, low: int, high: int) -> None:
    assume(low <= high)
    x, kept = data.draw(members(a)), within(a, low, high, a.low)
    if low <= x <= high:
        assert kept is not None
        assert x in kept
    if kept is not None and a.low + a.span < MODULUS:  # what wraps may have a gap
        assert (kept.low, kept.low + kept.span) >= (low, low)
        assert kept.low + kept.span <= high


def as_signed(word: int) -> int:
    return word - MODULUS if word >= SIGN else word


@given(few(), st.sampled_from(WORD_EDGES) | st.integers(0, WORD))
@example((between(WORD, WORD + 1), [WORD, 0]), 0)
@example((between(SIGN - 1, SIGN), [SIGN - 1, SIGN]), 0)
def test_of_few_words_ends_and_members_are_exact(drawn: tuple[Words, list[int]], word: int) -> None:
    a, held = drawn
    assert a.unsigned == (min(held), max(held))
    assert a.signed == (min(map(as_signed, held)), max(map(as_signed, held)))
    assert [n % MODULUS for n in a.members()] == held or a.span == MODULUS - a.step
    for each in (word, held[0] - 1, held[-1] + 1, held[0] + 1):
        assert (each % MODULUS in a) == (each % MODULUS in held)


@given(few(), st.sampled_from(WORD_EDGES) | st.integers(0, WORD), st.sampled_from(["add", "sub", "mul", "sll"]))
def test_few_words_and_one_give_no_others(drawn: tuple[Words, list[int]], word: int, name: str) -> None:
    a, held = drawn
    found = COMPUTED[name](a, Words(word))
    wanted = {EXACTLY[name](each, word, 0) for each in held}
    if name != "mul":
        assert {n % MODULUS for n in found.members()} == wanted
    elif a.span * abs(as_signed(word)) < MODULUS:
        assert {found.low, (found.low + found.span) % MODULUS} <= wanted
        assert found.exact or found.step == a.step * (word & -word)


@given(few(), st.integers(0, 31), st.sampled_from(["srl", "sra"]))
def test_what_is_shifted_right_has_the_ends_of_what_it_was(drawn: tuple[Words, list[int]], by: int, name: str) -> None:
    a, held = drawn
    found = COMPUTED[name](a, Words(by))
    wanted = [EXACTLY[name](each, by, 0) for each in held]
    if name == "srl":
        assert found.unsigned == (min(wanted), max(wanted))
    else:
        assert found.signed == (min(map(as_signed, wanted)), max(map(as_signed, wanted)))


@given(few(), few(), st.sampled_from(["slt", "sltu", "mulhu", "mulh"]))
def test_comparisons_and_high_words_are_as_near_as_their_ends(
    drawn: tuple[Words, list[int]], other: tuple[Words, list[int]], name: str
) -> None:
    (a, held), (b, held_there) = drawn, other
    found = COMPUTED[name](a, b)
    wanted = {EXACTLY[name](x, y, 0) for x in held for y in held_there}
    ends = found.signed if name == "mulh" else found.unsigned
    signed = map(as_signed, wanted) if name == "mulh" else iter(wanted)
    least = min(signed)
    most = max(map(as_signed, wanted)) if name == "mulh" else max(wanted)
    assert ends == (least, most)


@given(few(), st.integers(0, WORD) | st.sampled_from(WORD_EDGES), st.integers(0, WORD) | st.sampled_from(WORD_EDGES))
def test_of_few_words_what_lies_within_is_exact(drawn: tuple[Words, list[int]], low: int, high: int) -> None:
    a, held = drawn
    wanted = sorted(each for each in held if low <= each <= high)
    found = within(a, low, high, a.low)
    assert (found is None) == (not wanted)
    if found is not None and a.low + a.span < MODULUS:
        assert [n % MODULUS for n in found.members()] == wanted


@given(few(), few())
def test_a_hull_begins_and_ends_where_one_of_both_does(
    drawn: tuple[Words, list[int]], other: tuple[Words, list[int]]
) -> None:
    (a, _), (b, _) = drawn, other
    found = hull(a, b)
    if found.span < MODULUS - found.step:
        ends = [(each.low, (each.low + each.span) % MODULUS) for each in (a, b)]
        assert found.low in [first for first, _ in ends]
        assert (found.low + found.span) % MODULUS in [last for _, last in ends]
        assert 2 * found.span <= MODULUS + a.span + b.span


def test_nor_among_very_many() -> None:
    rng = random.Random(5)

    def drawn() -> Words:
        low = rng.choice(WORD_EDGES) if rng.random() < 0.5 else rng.getrandbits(32)
        step = 1 << (rng.randrange(32) if rng.random() < 0.5 else rng.randrange(4))
        most = min(1 << rng.randrange(1, 33), MODULUS // step - 1)
        return between(low, low + step * (rng.randint(0, most) if most else 0), step)

    def member(of: Words) -> int:
        count = of.span // of.step
        return (of.low + of.step * rng.choice((0, count, count // 2, rng.randint(0, count)))) % MODULUS

    for n in range(2000 * len(COMPUTED)):
        name, a, b = sorted(COMPUTED)[n % len(COMPUTED)], drawn(), drawn()
        x, y = member(a), member(b)
        assert EXACTLY[name](x, y, 0) in COMPUTED[name](a, b), (name, a, b, x, y)


@pytest.mark.parametrize(
    ("name", "a", "b", "found"),
    [
        ("and", between(0x120, 0x12F), Words(0xFF), between(0x20, 0x2F)),
        ("and", between(0x120, 0x220), Words(0xFF), between(0, 0xFF)),
        ("and", between(0x120, 0x220, 16), Words(0xFF), between(0, 0xF0, 16)),
        ("and", between(3, 3 + 512, 256), Words(0xFF), Words(3)),
        ("and", between(0x12, 0x35), Words(WORD - 15), between(0x10, 0x30, 16)),
        ("and", between(0, 4096, 64), Words(WORD - 15), between(0, 4096, 64)),
        ("and", between(3, 9), Words(0), Words(0)),
        ("and", Words(1022), between(0, 512), between(0, 512, 2)),
        ("and", between(-1, 0), between(40, 60, 4), between(0, 60, 4)),
        ("and", between(40, 60), between(-1, 0), between(0, 60)),
        ("and", between(-9, 5), between(-1, 0), between(-9, 5)),
        ("and", between(0, 9), between(0, 5), between(0, 5)),
        ("or", between(0, 64, 16), Words(7), between(7, 71, 16)),
        ("or", Words(7), between(0, 64, 16), between(7, 71, 16)),
        ("or", between(0, 64, 16), Words(16), between(16, 80)),
        ("or", between(1, 4), between(2, 9), between(2, 13)),
        ("or", between(1, 14), between(2, 15), between(2, 15)),
        ("xor", between(3, 9), Words(SIGN), between(SIGN + 3, SIGN + 9)),
        ("xor", Words(WORD), between(3, 9), between(-10, -4)),
        ("xor", between(1, 4), between(2, 9), between(0, 13)),
        ("mul", between(-3, 5), between(-2, 7), between(-21, 35)),
        ("mul", between(-3, 5), Words(0), Words(0)),
        ("mulhsu", between(-1, 5), between(0, WORD), between(-1, 4)),
        ("sll", between(0, 1), between(0, 1), ANY),
        ("srl", between(16, 64), between(1, 2), between(0, 64)),
        ("sra", between(-16, 64), between(1, 2), between(-16, 64)),
        ("sra", between(-16, -4), between(1, 2), between(-16, -1)),
        ("slt", between(-5, 3), between(3, 4), between(0, 1)),
        ("sltu", between(5, 9), between(3, 5), Words(0)),
    ],
)
def test_each_is_as_near_as_this(name: str, a: Words, b: Words, found: Words) -> None:
    assert COMPUTED[name](a, b) == found


def test_a_sum_of_what_wraps_is_no_wider_than_it_must_be() -> None:
    assert COMPUTED["add"](between(-3, 5), between(0, 8, 4)) == between(-3, 13)
    assert COMPUTED["mul"](between(-3, 5), Words(-2 % MODULUS)) == between(-10, 6, 2)
    assert COMPUTED["and"](between(0, 512), Words(1022)) == between(0, 512, 2)
    assert COMPUTED["or"](between(0, 4 << 20, 1 << 20), between(0, 7)).unsigned == (0, (4 << 20) + 7)
    assert COMPUTED["sra"](between(-5, 9), Words(1)).signed == (-3, 4)
    assert COMPUTED["slt"](between(-5, -1), between(0, 3)) == Words(1)
    assert hull(Words(WORD), Words(1)) == between(-1, 1, 2)
