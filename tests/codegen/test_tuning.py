"""Parameters by name and unit: what they become, what is refused, and back."""

import pytest

from codegen.tuning import Word, chosen, linux_words, packed, size_of, time_shift, told, unpacked
from decision.artefact.errors import InputError
from decision.ir.interfaces.flow_rate import GAINS, LINE_RATE_Q30, base_rtt_recip_q42

PARAMS = (
    Word("base_rtt_recip_q42", "2^42 / ns", 2**20, base_rtt_recip_q42(1025), base_rtt_recip_q42(8192)),
    Word("rate_min_q30", "line rate / 2^30", 1, LINE_RATE_Q30, 1074),
    Word("rate_max_q30", "line rate / 2^30", 1, LINE_RATE_Q30, LINE_RATE_Q30),
)
WORDS = (*PARAMS, *linux_words(12_500_000_000, slow_start=False, opens=True))


def test_quantities_become_what_the_device_keeps() -> None:
    said = {"base_rtt": "1.12112 ms", "line_rate": "100 Mb/s", "rate_start": "1 %", "least_of_trip": "yes"}
    assert chosen(WORDS, {}, said | {"start_window": "0 packets"})["start_window"] == 0
    values = chosen(WORDS, {}, said)
    assert values["time_shift"] == 4
    assert values["base_rtt_recip_q42"] == 2**42 // (1_121_120 // 16)
    assert (values["line_rate_bytes"], values["rate_start_q30"]) == (12_500_000, round(2**30 / 100))
    assert (values["least_of_trip"], values["rate_min_q30"]) == (1, 1074)
    content = packed(WORDS, values)
    assert len(content) == size_of(WORDS) == 16 + 8 + 16
    assert content[16:24] == (12_500_000).to_bytes(8, "little")
    assert unpacked(WORDS, content) == values


def test_what_is_told_sets_the_same_again() -> None:
    values = chosen(WORDS, {}, {"base_rtt": "250 us", "line_rate": "40 Gb/s", "rate_max": "50 %"})
    said = {w.quantity: told(w, values) for w in WORDS if w.name != "rate_min_q30"}
    again = chosen(WORDS, {}, said)
    assert again.pop("base_rtt_recip_q42") == pytest.approx(values.pop("base_rtt_recip_q42"), rel=1e-5)
    assert again == values


def test_names_as_in_c_take_what_the_device_keeps() -> None:
    assert chosen(WORDS, {}, {"rate_start_q30": "0", "time_shift": "0", "base_rtt_recip_q42": "9999999"}) == {
        **{w.name: w.default for w in WORDS},
        "rate_start_q30": 0,
        "base_rtt_recip_q42": 9_999_999,
    }


def test_what_is_not_said_stays_as_it_is_now() -> None:
    now = chosen(WORDS, {}, {"line_rate": "1 Gb/s", "rate_start": "2 %"})
    assert chosen(WORDS, now, {"rate_start": "3 %"}) == now | {"rate_start_q30": round(0.03 * 2**30)}
    broken = now | {"time_shift": 77}
    with pytest.raises(InputError, match=r"time_shift .*77, .*1, 2, 4 "):
        chosen(WORDS, broken, {})
    assert chosen(WORDS, broken, {"base_rtt": "8192 ns"})["time_shift"] == 0


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"line_rat": "1 Gb/s"}, "did you mean line_rate"),
        ({"line_rate": "100"}, "number .*unit"),
        ({"line_rate": "100 ms"}, "has the unit 'ms'"),
        ({"line_rate": "0 Gb/s"}, "out of range"),
        ({"line_rate": "9 Pb/s"}, "has the unit 'Pb/s'"),
        ({"line_rate": "9000 Tb/s"}, "out of range"),
        ({"rate_start": "101 %"}, r"rate_start=101 % .*0 % to 100 % \(rate_start_q30 0"),
        ({"rate_min": "0.00000000001 %"}, "device can tell"),
        ({"rate_min": "50 %", "rate_max": "40 %"}, "rate_min is above rate_max"),
        ({"base_rtt": "1 ns"}, "out of range"),
        ({"base_rtt": "100 s"}, "out of range"),
        ({"time_unit": "16 ns"}, "set base_rtt too"),
        ({"time_unit": "3 ns", "base_rtt": "1 ms"}, "1, 2, 4 .. 1024 ns"),
        ({"time_shift": "11", "base_rtt": "1 ms"}, "out of range"),
        ({"least_of_trip": "2"}, "yes nor no"),
        ({"rate_start_q30": "1 %"}, "a whole number"),
        ({"rate_start_q30": "-1"}, "a whole number"),
        ({"rate_start_q30": "1", "rate_start": "1 %"}, "the same field"),
        ({"start_window": "4"}, "number .*unit"),
        ({"start_window": "1025 packets"}, "0 packets to 1024 packets"),
        ({"spare": "1"}, "nothing called 'spare'"),
    ],
)
def test_what_the_device_would_not_take_is_one_sentence(said: dict[str, str], words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        chosen(WORDS, {}, said)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("text", ["100 %", "1 line"])
def test_line_rate_is_the_largest_rate_that_a_context_keeps(text: str) -> None:
    word = Word("rate_initial_q30", "line rate / 2^30", 1, LINE_RATE_Q30, 1)
    assert chosen((word,), {}, {"rate_initial": text}) == {"rate_initial_q30": LINE_RATE_Q30}
    with pytest.raises(InputError, match="out of range"):
        chosen((word,), {}, {"rate_initial": "100.1 %"})


def test_a_fixed_parameter_takes_its_value_only() -> None:
    fixed = (Word("rate_max_q30", "line rate / 2^30", 5, 5, 5), *WORDS[-5:])
    assert chosen(fixed, {}, {"rate_max_q30": "5"})["rate_max_q30"] == 5
    with pytest.raises(InputError, match=r"when .*was emitted"):
        chosen(fixed, {}, {"rate_max_q30": "6"})


def test_bytes_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="39 bytes are not"):
        unpacked(WORDS, bytes(39))


@pytest.mark.parametrize(
    ("base_rtt_ns", "shift"),
    [(0, 0), (8_192, 0), (104_857, 0), (104_858, 1), (1_121_120, 4), (100_000_000, 10), (10**9, 10)],
)
def test_forty_base_rtts_are_told_apart(base_rtt_ns: int, shift: int) -> None:
    assert time_shift(base_rtt_ns) == shift
    assert shift == 10 or base_rtt_ns * 40 >> shift < 1 << 22


def test_a_slack_is_counted_in_the_unit_of_time() -> None:
    words = (
        Word("base_rtt_recip_q42", "2^42 / ns", 1 << 20, 2**32 - 1, 1 << 29),
        Word("rtt_slack_ns", "ns", 0, 2**22 - 1, 0),
        Word("time_shift", "2^n ns", 0, 10, 0),
    )
    near = chosen(words, {}, {"rtt_slack": "4 us", "base_rtt": "1121120 ns"})
    assert (near["rtt_slack_ns"], near["time_shift"]) == (4000 >> 4, 4)
    assert told(words[1], near) == "4000 ns"
    with pytest.raises(InputError, match="set rtt_slack"):
        chosen(words, near, {"base_rtt": "8192 ns"})
    assert chosen(words, near, {"base_rtt": "8192 ns", "rtt_slack": "900 ns"})["rtt_slack_ns"] == 900
    assert chosen(words[:2], {"rtt_slack_ns": 7}, {})["rtt_slack_ns"] == 7


def test_the_target_is_set_in_units_of_the_trained_one() -> None:
    gain = Word("congestion_gain_q28", "1 / 2^28", *GAINS, 1 << 28)
    for ratio, kept in (("2 x", 1 << 26), ("1 x", 1 << 28), ("0.25 x", GAINS[1]), ("16 x", GAINS[0])):
        values = chosen((gain,), {}, {"target_ratio": ratio})
        assert values == {"congestion_gain_q28": kept}
        assert told(gain, values) == ratio
    for ratio in ("17 x", "0.2 x", "2"):
        with pytest.raises(InputError, match=r"0.25 x to 16 x|unit"):
            chosen((gain,), {}, {"target_ratio": ratio})


@pytest.mark.parametrize(("base_rtt", "inflation"), [("8 us", 3.0), ("100 us", 1.16), ("1.6 ms", 1.01)])
def test_a_threshold_may_be_a_queueing_delay(base_rtt: str, inflation: float) -> None:
    """It is counted at the base RTT that is set with it, in whatever unit of time."""
    words = (*PARAMS, Word("brake_above_q10", "base RTTs / 2^10", 0, 1 << 24, 8 << 10), WORDS[-3])
    values = chosen(words, {}, {"brake_above": "16 us", "base_rtt": base_rtt})
    assert abs(values["brake_above_q10"] - 1024 * inflation) <= 0.51
    assert chosen(words, values, {"brake_above": "16 us"}) == values
    assert chosen(words, {}, {"brake_above": "1.5 RTT"})["brake_above_q10"] == 1536
    with pytest.raises(InputError, match="brake_above"):
        chosen(words, {}, {"brake_above": "16 parsecs"})
