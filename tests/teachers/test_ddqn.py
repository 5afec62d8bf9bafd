"""DDQN: transitions close where the same agent decides next, the loss is the paper's, training repeats and resumes.

Slow: that it learns; the fast suite trains and resumes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ddqn_recipe import CONFIG, KMIN, POLICY, QUEUE, SENT, config
from pydantic import ValidationError
from queue_actions import FOUR, LEVEL

from decision.ir.interfaces.queue_marking import QUEUE_MARKING
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.weights import shapes
from netsim import Cohort, Simulation
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.policies import native
from rlcc import cli
from teachers.checkpoint import checkpoint_path
from teachers.ddqn import loss, train
from teachers.ddqn_options import DdqnConfig
from teachers.memory import ReplayMemory
from teachers.networks import seeded
from teachers.transitions import RewardTerm, Transitions, transitions


def records(rows: list[tuple[int, int, int, int, int]]) -> dict[str, Any]:
    """Of (time, queue, step, queue's bytes, sent); decision n of a queue chooses row (queue + n) mod 4."""
    t, queue, step, backlog, sent = np.array(rows, dtype=np.int64).T
    chosen = [FOUR["rows"][number] for number in (queue + step) % 4]
    return {
        "t_ps": t,
        "queue": queue.astype(np.uint32),
        "step": step.astype(np.uint32),
        "queue_bytes": backlog.astype(np.uint32),
        "sent_bytes": sent.astype(np.uint32),
        "marked_bytes": np.zeros_like(sent).astype(np.uint32),
        **{name: np.array([row[name] for row in chosen], np.uint32) for name in QUEUE_MARKING.knob_names},
    }


def test_a_transition_closes_where_the_same_agent_decides_next() -> None:
    """Two queues in turn; of queue 1 decision 2 is not on record."""
    policy = Policy.model_validate(POLICY)
    rows = [(10 * n + q, q, n, 1000 * n, 25_600 * (n + q)) for n in range(4) for q in (0, 1) if (q, n) != (1, 2)]
    played = Trajectories.of(records(rows), QUEUE_MARKING)
    made = transitions(played, policy, [RewardTerm.model_validate(SENT), RewardTerm.model_validate(QUEUE)])
    assert made.action.tolist() == [0, 1, 2, 1]  # queue 0: 0-1, 1-2, 2-3; queue 1: 0-1
    shares = [0.7 * 25_600 * sent / 156_250 for sent in (1, 2, 3, 2)]
    np.testing.assert_allclose(made.reward, shares, rtol=0.01)
    np.testing.assert_array_equal(made.after[:2], made.before[1:3])


def test_the_price_of_a_queue_is_that_of_the_next_event() -> None:
    policy = Policy.model_validate(POLICY)
    rows = [(n, 0, n, backlog, 0) for n, backlog in enumerate((0, 20_000, 20_001, 80_000, 10_240_001))]
    played = Trajectories.of(records(rows), QUEUE_MARKING)
    made = transitions(played, policy, [RewardTerm.model_validate(QUEUE)])
    np.testing.assert_allclose(made.reward, [0, -0.03, -0.06, -0.3], atol=1e-6)  # [ACC] figure 4


def test_of_idle_decisions_a_share_is_kept_whatever_followed() -> None:
    policy = Policy.model_validate(POLICY)
    rows = [(n, 0, n, 100 if n % 7 == 6 else 0, 0) for n in range(700)]
    played = Trajectories.of(records(rows), QUEUE_MARKING)
    terms = [RewardTerm.model_validate(QUEUE)]
    every, fewer = transitions(played, policy, terms), transitions(played, policy, terms, idle_every=10)
    busy = 99  # the last one is followed by nothing
    assert len(every) == 699
    assert len(fewer) == busy + 60


def test_the_loss_is_double_q_learnings() -> None:
    """The next row is chosen by the one network and judged by the other ([ACC] section 3.4)."""
    policy = Policy.model_validate(POLICY)
    network, target = seeded(policy, 1), seeded(policy, 2)
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, 5, 4)).astype(np.float32)
    action, reward = np.array([0, 1, 2, 3, 0]), rng.normal(size=5).astype(np.float32)
    goes_on = np.array([1, 1, 0, 1, 1], np.float32)
    found = loss(network, target, [torch.from_numpy(x) for x in (before, action, reward, after, goes_on)], gamma=0.5)

    def q(of: Any, rows: Any) -> Any:
        return of.logits(torch.from_numpy(rows)).detach().numpy().astype(np.float64)

    best = q(network, after).argmax(axis=1)
    assert (best != q(target, after).argmax(axis=1)).any()  # a plain DQN would take another
    goal = reward + 0.5 * goes_on * q(target, after)[np.arange(5), best]
    off = np.abs(q(network, before)[np.arange(5), action] - goal)
    assert float(found.detach()) == pytest.approx(float(np.mean(np.where(off < 1, off**2 / 2, off - 0.5))), rel=1e-5)


def test_groups_of_outputs_share_a_goal_and_each_learns_its_own() -> None:
    """A group of two rows and one of two: the goal is the mean of what both are worth, and both descend to it."""
    policy = Policy.model_validate(POLICY)
    network, target = seeded(policy, 1), seeded(policy, 2)
    rng = np.random.default_rng(0)
    before, after = rng.normal(size=(2, 5, 4)).astype(np.float32)
    number, reward = np.array([0, 1, 2, 3, 0]), rng.normal(size=5).astype(np.float32)
    batch = [torch.from_numpy(x) for x in (before, number, reward, after, np.ones(5, np.float32))]
    found = loss(network, target, batch, 0.5, (2, 2))

    def q(of: Any, rows: Any) -> Any:
        return of.logits(torch.from_numpy(rows)).detach().numpy().astype(np.float64).reshape(5, 2, 2)

    best = q(network, after).argmax(axis=2)
    worth = np.take_along_axis(q(target, after), best[:, :, None], axis=2)[:, :, 0]
    goal = reward + 0.5 * worth.mean(axis=1)
    rows = np.stack([number // 2, number % 2], axis=1)
    off = np.abs(np.take_along_axis(q(network, before), rows[:, :, None], axis=2)[:, :, 0] - goal[:, None])
    assert float(found.detach()) == pytest.approx(float(np.mean(np.where(off < 1, off**2 / 2, off - 0.5))), rel=1e-5)
    alone = loss(network, target, batch, 0.5)
    assert float(alone.detach()) == float(loss(network, target, batch, 0.5, (4,)).detach()) != float(found.detach())


@pytest.mark.slow
def test_values_of_a_known_chain_are_learnt() -> None:
    """Two states; row 1 goes to the other one, any other row stays. Staying in the second pays 1, all else 0: its value
    is 1 / (1 - 0.8) = 5, the first's 0.8 x 5 = 4."""
    policy = Policy.model_validate(POLICY)
    states = np.eye(2, 4, dtype=np.float32)
    here, row = np.repeat([0, 1], 4), np.tile(np.arange(4), 2)
    there = np.where(row == 1, 1 - here, here)
    reward = ((here == 1) & (row != 1)).astype(np.float32)
    memory = ReplayMemory(100)
    memory.add(Transitions(states[here], row, reward, states[there], np.ones_like(reward)))
    network, target = seeded(policy, 1), seeded(policy, 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
    rng = np.random.default_rng(0)
    for update in range(3000):
        if update % 50 == 0:
            target.load_state_dict(network.state_dict())
        optimizer.zero_grad()
        loss(network, target, memory.batch(32, rng), 0.8).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    values = network.logits(torch.from_numpy(states)).detach().numpy()
    np.testing.assert_allclose(values[1, [0, 2, 3]], 5, atol=0.2)
    np.testing.assert_allclose([values[0, 1], values[1, 1]], [4, 3.2], atol=0.2)


def test_memory_forgets_the_oldest() -> None:
    memory = ReplayMemory(3)
    for number in range(5):
        row = np.full((1, 4), number, np.float32)
        memory.add(
            Transitions(row, np.array([number % 4]), np.array([number], np.float32), row, np.ones(1, np.float32))
        )
    assert memory.stored is not None
    assert memory.stored.reward.tolist() == [2, 3, 4]


def test_exploring_draws_every_row_and_is_of_its_seed() -> None:
    policy = Policy.model_validate(POLICY)
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(policy).items()}
    weights["out.bias"][2] = 1.0

    def kmin(explore: tuple[float, int] | None) -> Any:
        actor = native(policy, weights)
        cohort = Cohort(type(actor)(policy, actor.weights, explore), 10 * US)
        run = Simulation("many-to-one:4", by_name("dcqcn"), seed=1, record=True, cohorts=[cohort])
        run.run(20 * MS)
        return run.drain_records(1)["kmin_bytes"]

    assert set(kmin(None)) == {KMIN[2]}
    drawn = kmin((0.4, 5))
    share = np.array([np.mean(drawn == each) for each in KMIN])
    np.testing.assert_allclose(share, [0.1, 0.1, 0.7, 0.1], atol=0.03)  # 2000 decisions
    np.testing.assert_array_equal(drawn, kmin((0.4, 5)))
    assert (drawn != kmin((0.4, 6))).any()


def test_the_same_recipe_gives_the_same_weights_also_resumed(tmp_path: Path) -> None:
    told: list[str] = []
    whole = train(config(), tmp_path / "whole", progress=told.append)
    assert len(told) == 4
    assert [number for number, _ in whole.curve] == [2, 4]
    assert whole.teacher.policy.provenance["method"] == "DDQN"

    def stop(line: str) -> None:
        if line.startswith("round 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(config(), tmp_path / "parts", progress=stop)
    assert checkpoint_path(tmp_path / "parts").exists()
    parts = train(config(), tmp_path / "parts", resume=True)
    assert parts.curve == whole.curve
    for name, array in whole.teacher.weights.items():
        np.testing.assert_array_equal(array, parts.teacher.weights[name])
    assert not checkpoint_path(tmp_path / "parts").exists()
    other = train(config(seed=4), tmp_path / "other")
    assert any((array != other.teacher.weights[name]).any() for name, array in whole.teacher.weights.items())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"period": "5 us"}, "period .*shorter"),
        ({"senders": "reno"}, "reno"),
        ({"reward": [{"weight": 1, "feature": {"kind": "level", "signal": "rtt_ns"}}]}, "rtt_ns"),
        ({"reward": [{"weight": 1, "feature": {"kind": "previous_knob", "knob": "kmin_bytes"}}]}, "what was decided"),
        ({"scenarios": ["incast:x"]}, "incast:x"),
    ],
)
def test_what_cannot_be_learnt_is_told(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        config(**change)


def test_another_kind_of_action_is_told() -> None:
    with pytest.raises(ValidationError, match=r"action .*level"):
        DdqnConfig.model_validate(CONFIG | {"policy": POLICY | {"action": LEVEL}})


def test_a_kmin_above_its_kmax_is_one_sentence_and_exit_code_2(tmp_path: Path, capsys: Any) -> None:
    recipe = Path(__file__).resolve().parents[2] / "recipes/train-acc.toml"
    text = recipe.read_text().replace(
        "kmin_bytes = 20_000, kmax_bytes = 1_000_000", "kmin_bytes = 2_000_000, kmax_bytes = 1_000_000"
    )
    (tmp_path / "bad.toml").write_text(text)
    assert cli.main(["train", str(tmp_path / "bad.toml"), "--out", str(tmp_path / "out")]) == 2
    assert "kmax_bytes is below kmin_bytes" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
