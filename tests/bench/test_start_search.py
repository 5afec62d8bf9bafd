"""The search for a start: which values it sets, by which cells, and what the page says of each."""

from collections.abc import Sequence
from pathlib import Path

from bench import start_search
from netsim.policies import NativePolicy, native
from rlcc.evaluation.contenders import Contender
from rlcc.evaluation.grid import Cell, Times
from rlcc.evaluation.standing import StandingComparison
from rlcc.evaluation.standing_page import JudgedCell
from rlcc.evaluation.summary import Row
from teachers.load import load

TEACHERS = Path(__file__).parents[2] / "fixtures" / "teachers"
CELLS = (Cell("a", "incast:4", Times.of(10**9)), Cell("b", "incast:8", Times.of(10**9), held_out=True))
PARAMETERS = {"rate_initial_q30", "brake_above_q10", "brake_rate_q30", "recover_until_q10", "in_flight_line_q2"}
"""Parameters of the firmware that a search may set."""
BEST = {"limits.rate_initial": "1.0 line", "start.brake": (("above", 3.0), ("to", "0.0625 line"))}


def policy() -> NativePolicy:
    its = load(TEACHERS / "robust-clear-path")
    return native(its.policy, its.weights)


def judge(tried: NativePolicy, cells: Sequence[Cell]) -> JudgedCell:
    """Returns a policy that loses a pair for each value of BEST that it has not."""
    assert [cell.name for cell in cells] == ["a"], "held-out cells choose nothing"
    values = start_search.values_of(tried)
    row = Row("a", Contender("it", "it", "teacher", "", tried, 0), 1, {}, {})
    pairs = {
        key: StandingComparison(row, row, (), () if values[key] == best else ("p99",)) for key, best in BEST.items()
    }
    return JudgedCell("it", [], [], {"a": pairs}, {})


def test_the_search_sets_what_loses_fewest_pairs_and_leaves_the_rest() -> None:
    own = start_search.values_of(policy())
    found = start_search.chosen(policy(), CELLS, judge)
    assert (found.before, found.after) == (own, own | BEST)
    assert (found.lost, found.lost_with_one_before) == (0, dict.fromkeys(BEST, 1))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in start_search.changes(found).splitlines()[2:]]
    assert rows[:2] == [
        ["`limits.rate_initial`", "0.25 line", "1.0 line", "1"],
        ["`start.brake`", "above 32.0, to 0.001953125 line", "above 3.0, to 0.0625 line", "1"],
    ]
    assert {row[3] for row in rows[2:]} == {"0"}


def test_every_choice_is_a_parameter_of_the_firmware_alone() -> None:
    plain = policy()
    for key, choices in start_search.CHOICES.items():
        for value in choices:
            other = start_search.with_values(plain, {key: value})
            assert other.policy.params().keys() == plain.policy.params().keys()
            assert other.policy.start is not None
            assert plain.policy.start is not None
            assert other.policy.observation == plain.policy.observation
            assert other.policy.start.slow_start == plain.policy.start.slow_start
            changed = {name for name, set_to in other.policy.params().items() if set_to != plain.policy.params()[name]}
            assert changed <= PARAMETERS
            differs = start_search.values_of(other) != start_search.values_of(plain)
            assert (other.policy.bursts != plain.policy.bursts if key == "bursts" else bool(changed)) == differs
