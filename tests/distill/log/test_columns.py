"""Where a log's columns stand, in which unit, and what of them is missing or wrong."""

from fractions import Fraction

import pytest

from decision.artefact.errors import InputError
from decision.policy.policy import Header
from distill.log.columns import layout, observed_signals, resolved

THERE = ("flow", "t_ps", "rtt_ns", "rate_q30", "label")


def test_a_feature_that_reads_no_counter_needs_none(header: Header) -> None:
    of = layout(header)
    assert observed_signals(header.observation) == {"request_sent_ns", "response_ns"}
    assert of.unread == ("cnp_count", "nack_count", "sent_bytes", "queue_bytes")
    assert set(resolved(of, [], THERE, "log")) == set(THERE)


@pytest.mark.parametrize(
    ("option", "factor"),
    [
        ("rtt_ns=flow in us", Fraction(1000)),
        ("t_ps=flow in ms", Fraction(10**9)),
        ("rate_q30=flow in Gb/s", Fraction(2**30, 100)),
        ("rate_q30=flow in %", Fraction(2**30, 100)),
        ("queue_bytes=flow in KiB", Fraction(1024)),
        ("label=flow in %", Fraction(2**16, 100)),
        ("label=flow", Fraction(2**16)),
    ],
)
def test_units_become_exact_factors(header: Header, option: str, factor: Fraction) -> None:
    columns = resolved(layout(header), [option], THERE, "log")
    assert columns[option.partition("=")[0]].factor == factor


def test_a_column_name_may_hold_spaces_and_the_word_in(header: Header) -> None:
    columns = resolved(layout(header), ["rtt_ns=time in queue in us"], (*THERE, "time in queue"), "log")
    assert (columns["rtt_ns"].source, columns["rtt_ns"].unit) == ("time in queue", "us")


@pytest.mark.parametrize(
    ("options", "there", "said"),
    [
        (["rtt=rtt_ns"], THERE, "mean rtt_ns"),
        (["rtt_ns"], THERE, "NAME=COLUMN"),
        (["rtt_ns="], THERE, "NAME=COLUMN"),
        (["rtt_ns= in us"], THERE, "NAME=COLUMN"),
        (["rtt_ns=rtt_n"], THERE, "mean rtt_ns"),
        (["rtt_ns=rtt_ns in fortnights"], THERE, "'fortnights'"),
        (["rtt_ns=rtt_ns in GB"], THERE, "'GB'"),
        (["flow=flow in us"], THERE, "no unit"),
        (["rtt_ns=rtt_ns", "rtt_ns=label"], THERE, "given twice"),
        ([], ("flow", "t_ps", "rate_q30", "label"), "or rtt_ns"),
        ([], ("t_ps", "rtt_ns", "rate_q30", "label"), "column flow"),
        ([], ("flow", "rtt_ns", "rate_q30", "label"), "column t_ps"),
        ([], ("flow", "t_ps", "rtt_ns", "label"), "column rate_q30"),
        ([], (*THERE, "response_ns"), "rtt_ns and response_ns"),
    ],
)
def test_what_does_not_fit_is_named(header: Header, options: list[str], there: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError) as error:
        resolved(layout(header), options, there, "log.csv")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_labels_of_knobs_come_all_or_none(queue_header: Header) -> None:
    of = layout(queue_header)
    assert of.labels == ("label.kmin_bytes", "label.kmax_bytes", "label.pmax_q16")
    assert of.applied == ("applied.kmin_bytes", "applied.kmax_bytes", "applied.pmax_q16")
    with pytest.raises(InputError, match=r"label\.kmax_bytes"):
        resolved(of, [], ("queue", "t_ps", "queue_bytes", "label.kmin_bytes"), "log")
