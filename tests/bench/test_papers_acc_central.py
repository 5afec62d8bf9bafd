"""The page of ACC's figure 14 says what the runs said."""

import numpy as np
import pytest

from bench.papers import acc, acc_central
from bench.papers.acc_central import EACH, JUDGED, LATE, MAIN, NETWORKS, ONE, PAPER, SHOWN, Central, order, verdict
from bench.papers.found import Figure
from bench.training.trained import Training
from decision.artefact.documents import load_toml
from decision.ir.interfaces import FABRIC_MARKING
from netsim.kept import Outcome
from teachers.ddqn_options import DdqnConfig

FCT = {ONE: 90.0, LATE: 99.0, EACH: 90.0, "SECN1": 100.0, "SECN2": 300.0}
RECORDS = {
    "t_ps": np.array([0, acc_central.ARRIVE_PS, acc_central.ARRIVE_PS + 1]),
    "up_kmin_bytes": np.array([20_000, 80_000, 80_000]),
    "down_kmin_bytes": np.array([40_000, 20_000, 80_000]),
}


def outcome(who: str, seed: int) -> Outcome:
    """All of one length; without a spread that the comparison in pairs would not take out."""
    metrics = dict.fromkeys(SHOWN, FCT[who] * seed) | {"completions": 99.0 if who == "SECN2" else 100.0}
    return Outcome(seed, metrics, records=({}, RECORDS))


def found() -> Central:
    outcomes = {(who, network): [outcome(who, seed) for seed in (1, 2, 3)] for who in FCT for network in NETWORKS}
    return Central([Training(0.13, "reward", 1, 5, 80, 90.0)] * 3, outcomes)


def test_the_page_compares_seed_by_seed() -> None:
    text = acc_central.page(found(), (1, 2, 3))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert [MAIN, *["-10.0"] * 2, *["-70.0"] * 2, *["0.0"] * 2, *["-9.1"] * 2] in rows
    assert ["SECN1", "mean", "-16 %", "-10.0 %", "-1.0 %", "less"] in rows
    assert ["SECN2", "p99", "-70 %", "-70.0 %", "-67.0 %", "as much"] in rows
    assert [EACH, "p99", "higher", "0.0 %", "10.0 %", "nothing told from 0"] in rows
    assert [MAIN, "50.0 (50.0 to 50.0)", "100.0 (100.0 to 100.0)"] in rows
    words = " ".join(text.split())
    assert "the fewest that end under anybody are 99.00% of the most" in words
    assert len(JUDGED) * len(PAPER) == 4
    assert "two of the four are there" in words
    assert "longer than D-ACC; here its times are told to be higher nowhere, lower nowhere" in words
    assert "latency they are told to be higher in 60 % (the mean, 10.0 %), 60 % (the p99, 10.0 %), " in words
    assert "was not looked into" not in words


@pytest.mark.parametrize(
    ("mean", "half", "theirs", "says"),
    [
        (-16.0, 0.0, -16.0, "as much"),
        (-10.0, 7.0, -16.0, "as much"),
        (-10.0, 3.0, -16.0, "less"),
        (-30.0, 3.0, -16.0, "more"),
        (-1.0, 3.0, -16.0, "nothing told from 0"),
        (4.0, 3.0, -16.0, "a loss"),
    ],
)
def test_a_gain_is_there_by_its_interval(mean: float, half: float, theirs: float, says: str) -> None:
    assert verdict(Figure(mean, half), theirs) == says


def test_an_order_is_there_by_its_interval() -> None:
    assert [order(Figure(mean, 1.0)) for mean in (2.0, 0.5, -2.0)] == ["higher", "nothing told from 0", "lower"]


def test_the_recipe_gives_each_layer_the_rows_of_a_queue() -> None:
    """In the topology of the paper, with 400 settings: hundreds of actions."""
    central, queue = (load_toml(DdqnConfig, path) for path in (acc_central.CENTRAL, acc.TRAINING))
    assert central.policy.observation.agents is FABRIC_MARKING
    rows = [list(row.values()) for row in queue.policy.action.tables[0]]
    assert [[list(row.values()) for row in group] for group in central.policy.action.tables] == [rows, rows]
    assert all("@leaf-spine:4x8x2:" in name for name in (*central.ddqn.scenarios, *central.ddqn.validate_in))
    same = {"scenarios", "validate_in", "reward"}
    assert central.ddqn.model_dump(exclude=same) == queue.ddqn.model_dump(exclude=same)
    for layer in ("up_", "down_"):
        its = [term for term in central.ddqn.reward if layer in str(term.feature)]
        assert [2 * term.weight for term in its] == [term.weight for term in queue.ddqn.reward]
