"""Where the policies do not hold: what a cell says, and that loss at the start is seen."""

import pytest

from bench import limits
from bench.limits import START, LimitNetwork
from netsim.network import MS
from netsim.places import InThisThread
from rlcc.evaluation.contenders import opened


def test_a_cell_says_goodput_and_loss_and_never_rounds_a_loss_away() -> None:
    assert limits.cell([(0.9, 0.0), (0.92, 0.0)]) == "0.91, 0 %"
    assert limits.cell([(0.06, 0.8), (0.06, 0.81)]) == "0.06, 80 %"
    assert limits.cell([(0.9, 0.00002)]) == "0.90, 0.002 %"
    assert limits.cell([(0.9, 0.044)]) == "0.90, 4.4 %"


def test_a_crowd_at_line_rate_loses_at_the_start_and_a_flow_alone_does_not() -> None:
    first = (0, 5 * MS)
    places = [LimitNetwork("many-to-one:2", first), LimitNetwork("many-to-one:256", first)]
    with opened(limits.default_policies()[:1], decision_latency_ps=None, profile="ibex-small") as who:
        found = limits.measured(who, places, (1, 2), InThisThread())
    loss = {place.scenario: [lost for _, lost in found["MLP", place]] for place in places}
    assert loss["many-to-one:2"] == [0, 0]
    assert min(loss["many-to-one:256"]) > 0.2


def test_the_start_is_named() -> None:
    assert LimitNetwork("incast:32", START).name == "`incast:32`, first 50 ms"
    assert LimitNetwork("incast:32", limits.SETTLED).name == "`incast:32`"


def test_an_unknown_policy_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert limits.main(["nobody"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("limits: ")
    assert len(said.splitlines()) == 1
