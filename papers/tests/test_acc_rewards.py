"""The page of ACC's two rewards says what the runs said."""

import numpy as np
import pytest

from netsim.result_store import Outcome
from papers import acc_rewards
from papers.acc_rewards import INCAST, LINEAR, LOADED, REWARDS, STEPS, Rewarded
from teachers.ddqn_options import DdqnConfig
from teachers.training_cache import CachedTraining

CHOSEN = {STEPS: [20_000, 20_000, 20_000, 40_000], LINEAR: [2_560_000, 2_560_000, 20_000, 20_000]}


def outcome(who: str) -> Outcome:
    """Four decisions at queues, one at an empty one, at which 80 KB are set, and one before what is measured."""
    chosen = np.array([*CHOSEN.get(who, CHOSEN[STEPS]), 80_000, 160_000])
    queues = np.array([5_000, 6_000, 7_000, 8_000, 0, 9_000])
    when = acc_rewards.SETTLED_PS - (chosen == 160_000)
    records = ({}, {"queue_bytes": queues, "kmin_bytes": chosen, "t_ps": when})
    return Outcome(1, dict.fromkeys(acc_rewards.SHOWN, 12.0), records=records)


def found() -> Rewarded:
    who = (*REWARDS, *acc_rewards.STATIC)
    outcomes = {(name, network): [outcome(name)] * 2 for name in who for network in (INCAST, LOADED)}
    return Rewarded({name: [CachedTraining(0.1, "reward", 1, 5, 80, 100.0)] * 2 for name in REWARDS}, outcomes)


@pytest.mark.slow
def test_choices_at_queues_are_counted_by_reward() -> None:
    its = found()
    assert its.thresholds == [20_000, 40_000, 2_560_000]
    text = acc_rewards.page(its, (1, 2))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    assert ["", "20 KB", "40 KB", "2560 KB"] in rows
    assert [f"`{INCAST}`, steps", "75.0 (75.0 to 75.0)", "25.0 (25.0 to 25.0)", "0.0 (0.0 to 0.0)"] in rows
    assert [f"`{LOADED}`, linear", "50.0 (50.0 to 50.0)", "0.0 (0.0 to 0.0)", "50.0 (50.0 to 50.0)"] in rows
    assert [f"`{INCAST}`", *["+0.0 (+0.0 to +0.0)"] * len(acc_rewards.SHOWN)] in rows
    words = " ".join(text.split())
    assert "100 and 50 % of the decisions (`incast:10`)" in words
    assert "as the paper has it" in words
    assert acc_rewards.picture(its).startswith(b"<?xml")


def test_the_linear_reward_has_the_weight_of_the_steps() -> None:
    """Both lose 0.3 from an empty queue to the longest that they tell apart, and the rest of the recipe is the same."""
    steps, linear = (DdqnConfig.model_validate(acc_rewards.recipe(reward)) for reward in REWARDS)
    term = linear.ddqn.reward[1]
    assert term.weight * acc_rewards.LONGEST / acc_rewards.MIB == pytest.approx(-0.3)
    assert linear.ddqn.model_copy(update={"reward": steps.ddqn.reward}) == steps.ddqn
    assert linear.policy.observation == steps.policy.observation
    assert acc_rewards.linear_of_queue(10**6) == pytest.approx(0.9)
    assert acc_rewards.linear_of_queue(2 * 10**7) == 0
