"""Flows that learn by DDQN and DDPG: their rewards, what they choose, and recipes that cannot be."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from decision.policy.records import Trajectories
from netsim.network import MS
from netsim.policies import native
from netsim.simulation import Simulation
from teachers import ddpg, ddqn
from teachers.ddpg_options import DdpgConfig
from teachers.ddqn_options import DdqnConfig
from teachers.networks import seeded
from teachers.transitions import RewardTerm, transitions

RECIPES = Path(__file__).parents[2] / "recipes"
SMALL = {
    "kernels": "any",  # as all trainings of this process
    "episode": "1 ms",
    "rounds": 2,
    "updates": 5,
    "batch": 32,
    "validation_interval": 1,
}


def content(method: str, **training: Any) -> dict[str, Any]:
    found = tomllib.loads((RECIPES / f"train-flows-{method}.toml").read_text())
    found[method] |= SMALL | training
    return found


def test_the_reward_is_the_papers() -> None:
    """-(target - RTT inflation x sqrt(rate))^2 of the next decision; what was chosen is an entry of the table."""
    given = DdqnConfig.model_validate(content("ddqn"))
    actor = native(given.policy, seeded(given.policy, 1).weights())
    simulation = Simulation("many-to-one:4", actor, seed=1, decision_latency_ps=900_000, record=True)
    simulation.run(MS)
    records = Trajectories.of(simulation.drain_records(), given.policy.observation.agents)
    made = transitions(records, given.policy, given.ddqn.reward)
    c = {name: column.astype(np.float64) for name, column in records.columns.items()}
    rtt = (c["response_ns"] - c["request_sent_ns"]) % 2**32
    delta = 2.0 - rtt / 8192 * np.sqrt(c["rate_q30"] / 2**30)
    valid = records.float_rows(given.policy.observation)[1]
    closes = np.flatnonzero(records.position[1:] > 0)
    closes = closes[valid[closes] & valid[closes + 1]]
    np.testing.assert_allclose(made.reward, -(delta[closes + 1] ** 2), rtol=1e-3, atol=1e-3)
    chosen = np.asarray(given.policy.action.multipliers)[made.action]  # type: ignore[union-attr]
    np.testing.assert_allclose(chosen, 1 + c["action_q16"][closes] / 2**16, atol=1e-4)


def test_a_limit_holds_a_term() -> None:
    feature = {"kind": "level", "signal": "sent_bytes"}
    given = DdqnConfig.model_validate(content("ddqn"))
    from decision.ir.tape import Reading

    read = Reading({"sent_bytes": np.array([-5.0, 1.0, 9.0])}, {}, np.ones(3), {})
    term = RewardTerm.model_validate({"weight": -2.0, "power": 2, "limit": 3.0, "feature": feature})
    np.testing.assert_allclose(term.value(read, given.policy.observation.place), [-18, -2, -18])


def test_a_multiplier_is_where_between_its_ends() -> None:
    given = DdpgConfig.model_validate(content("ddpg", exploration=2.0))
    made = ddpg.played(given, seeded(given.policy, 1).weights(), 0)
    assert made.action.shape == (len(made), 1)
    assert made.action.min() == pytest.approx(-1, abs=1e-3)
    assert made.action.max() == pytest.approx(1, abs=1e-3)


def test_flows_explore_the_entries_of_their_table() -> None:
    given = DdqnConfig.model_validate(content("ddqn", exploration=1.0))
    made = ddqn._played(given, seeded(given.policy, 1).weights(), 0)
    assert np.bincount(made.action, minlength=6).min() > len(made) / 12


@pytest.mark.parametrize("method", ["ddqn", "ddpg"])
def test_training_is_judged_by_the_reward_and_ends_with_the_budget(tmp_path: Path, method: str) -> None:
    options, trainer = {"ddqn": (DdqnConfig, ddqn), "ddpg": (DdpgConfig, ddpg)}[method]
    given = options.model_validate(content(method, rounds=20, decisions=600))
    report = trainer.train(given, tmp_path / "out")  # type: ignore[arg-type]
    assert report.rounds < 20
    assert report.best == max(reward for _, reward in report.curve) < 0
    assert report.teacher.policy.provenance["reward"] == pytest.approx(report.best, abs=1e-6)


@pytest.mark.parametrize("method", ["ddqn", "ddpg"])
def test_flows_have_no_senders_and_queues_have_some(method: str) -> None:
    options: Any = {"ddqn": DdqnConfig, "ddpg": DdpgConfig}[method]
    with pytest.raises(ValidationError, match=r"senders .*period out"):
        options.model_validate(content(method, senders="dcqcn"))
    shipped = {"ddqn": "train-acc.toml", "ddpg": "train-auto-srla.toml"}[method]
    other = tomllib.loads((RECIPES / shipped).read_text())
    del other[method]["senders"]
    with pytest.raises(ValidationError, match="give senders"):
        options.model_validate(other)
