"""A policy gradient: what a decision answers for, what it ascends, and that the same recipe gives the same weights."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from decision.artefact.documents import load_toml
from decision.ir.interfaces.long_flow import LONG_FLOW
from decision.policy.actions import Choice
from netsim.network import MS
from netsim.policies import native
from netsim.simulation import Simulation
from rlcc import cli
from teachers.checkpoint import checkpoint_path
from teachers.networks import seeded
from teachers.pg import FlowDecisions, FlowLives, advantages, ascend, begin, played, returns, staying, train, validate
from teachers.pg_options import PgConfig

RECIPE = Path(__file__).parents[2] / "recipes" / "train-auto-lrla.toml"
SMALL = {
    "kernels": "any",  # as all trainings of this process
    "scenarios": ["websearch:90%@planes:3x4:1"],
    "validation_scenarios": ["websearch:90%@planes:3x4:1"],
    "validation_duration": "100 ms",
    "validation_seeds": [7001],
    "episode": "50 ms",
    "horizon": "10 ms",
    "rollouts_per_scenario": 2,
    "rounds": 2,
    "batch": 32,
    "validation_interval": 1,
}


def config(**pg: Any) -> PgConfig:
    content = tomllib.loads(RECIPE.read_text())
    content["pg"] |= SMALL | pg
    return PgConfig.model_validate(content)


def test_the_same_recipe_gives_the_same_weights_resumed_or_not(tmp_path: Path) -> None:
    whole = train(config(), tmp_path / "whole")
    assert len(whole.curve) == 2

    class Interrupted(Exception):
        pass

    def stop(_: str) -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        train(config(), tmp_path / "parts", progress=stop)
    assert checkpoint_path(tmp_path / "parts").exists()
    assert train(config(), tmp_path / "parts", resume=True).teacher.hash == whole.teacher.hash


def test_a_decision_answers_for_the_flows_that_share_a_machine_with_its_own() -> None:
    """Flow 1 shares the sender, 2 the receiver, 3 nothing; 4 comes in the horizon, 5 after it."""
    lives = FlowLives(
        came_ps=np.array([0, 0, 0, 0, 15, 99]),
        went_ps=np.array([14, 100, 12, 100, 100, 100]),
        sender=np.array([0, 0, 1, 1, 0, 0]),
        receiver=np.array([2, 3, 2, 3, 3, 3]),
    )
    assert returns(np.array([0]), np.array([10]), lives, 10) == pytest.approx([-(4 + 10 + 2 + 5) / 10])


def test_what_all_plays_have_in_common_is_no_merit_of_a_decision() -> None:
    value = np.array([-3.0, -5.0, -1.0, -9.0])
    against = advantages(value, np.array([0, 0, 0, 1]), np.array([7, 7, 8, 7]))
    assert against == pytest.approx([1.0, -1.0, 0.0, 0.0])


def test_it_learns_which_row_of_each_group_is_worth_most() -> None:
    """The advantage of row 2 of the second group with row 1 of the third is 1, of all others -0.05, whatever is seen;
    the entropy falls with it."""
    small = config(batch=200)
    action = small.policy.action
    assert isinstance(action, Choice)
    network = seeded(small.policy, 1)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2)
    random = np.random.default_rng(1)
    observed = random.uniform(0, 1, (2000, small.policy.observation.size)).astype(np.float32)
    chosen = random.integers(0, action.sizes, (2000, 3))
    standing = np.zeros((2000, 3), dtype=np.int64)
    best = (chosen[:, 1:] == (2, 1)).all(axis=1)
    rows = FlowDecisions(observed, chosen, np.where(best, 1.0, -0.05).astype(np.float32), standing)
    first, *_, last = (ascend(network, optimizer, rows, small.pg, random, action.sizes) for _ in range(8))
    with torch.no_grad():
        _, second, third = action.split(network.logits(torch.from_numpy(observed)).numpy())
    assert ((second.argmax(1) == 2) & (third.argmax(1) == 1)).mean() > 0.95
    assert last < first


def test_what_stands_is_drawn_with_the_given_probability_and_the_rest_evenly() -> None:
    table = np.array([[c, r, p] for c in (0, 1) for r in (4, 2, 1) for p in (0, 1)], dtype=float)
    drawn = staying(np.array([[1, 4, 0], [0, 2, 1], [7, 4, 0]]), table, 0.8)
    assert drawn.sum(axis=1) == pytest.approx(1)
    assert drawn[0, 6:8] == pytest.approx([0.8**3, 0.8 * 0.8 * 0.2])  # rows (1, 4, 0) and (1, 4, 1)
    assert drawn[0, 4] == pytest.approx(0.2 * 0.1 * 0.8)  # (0, 1, 0)
    assert drawn[1, 3] == pytest.approx(0.8**3)
    assert drawn[2, 0] == pytest.approx(0.5 * 0.8 * 0.8)  # no row has its class: all classes evenly


def test_the_first_round_leaves_flows_as_they_are() -> None:
    small = config(stay_probability=0.8)
    network = seeded(small.policy, 1)
    rows = played(small, network.weights(), 0)[0]
    action = small.policy.action
    assert isinstance(action, Choice)
    begin(network, rows, action, small.pg)
    with torch.no_grad():
        logits = action.split(network.logits(torch.from_numpy(rows.observed)).numpy())
    chosen = [column[part.argmax(1)] for column, part in zip(action.columns(), logits, strict=True)]
    assert (np.concatenate(chosen, axis=1) == rows.standing).all(axis=1).mean() > 0.9


def test_who_holds_long_flows_back_is_judged_by_them() -> None:
    """Limits of a thousandth of line rate: the few flows that end do so as fast as ever, and the others stay."""
    content = tomllib.loads(RECIPE.read_text())
    content["pg"] |= SMALL | {"validation_scenarios": ["websearch:80%@planes:3x8:1"], "validation_duration": "300 ms"}
    content["pg"]["validation_seeds"] = [1]
    stays = {}
    for limit in (1 << 16, 1 << 6):
        rows = [{"priority_class": 3, "limit_q16": limit, "path_number": path} for path in range(3)]
        content["policy"]["action"] = {"kind": "choice", "rows": rows}
        given = PgConfig.model_validate(content)
        weights = {name: np.zeros_like(array) for name, array in seeded(given.policy, 1).weights().items()}
        stays[limit] = validate(given, weights)
    assert stays[1 << 6] > 1.2 * stays[1 << 16]


def test_rows_are_drawn_with_the_probability_of_their_softmax() -> None:
    small = config()
    weights = {name: np.zeros_like(array) for name, array in seeded(small.policy, 1).weights().items()}
    weights["out.bias"][7:] = np.log([8.0, 4.0, 2.0])  # of the paths; limits and classes evenly
    deployment = small.deployment()

    def rows(draw: int | None) -> NDArray[np.int64]:
        actor = replace(native(small.policy, weights), draw=draw)
        trial = deployment.trial(
            actor, "websearch:80%@planes:3x8:1", seed=1, duration_ps=150 * MS, decision_latency_ps=0
        )
        run = Simulation(
            trial.scenario,
            trial.policy,
            seed=1,
            record=True,
            network=trial.network,
            cohorts=trial.cohorts,
            duration_ps=trial.duration_ps,
        )
        run.run(150 * MS)
        records = run.drain_records(1)
        _, firsts = np.unique(
            records[LONG_FLOW.agent], return_index=True
        )  # a flow that is held back decides more often
        return np.stack([records[name][firsts].astype(np.int64) for name in LONG_FLOW.mapped_names])

    assert {tuple(row) for row in rows(None).T} == {(0, 1 << 16, 0)}
    classes, limits, paths = np.concatenate([rows(draw) for draw in range(3, 7)], axis=1)
    assert np.bincount(paths, minlength=3) / paths.size == pytest.approx(np.array([8, 4, 2]) / 14, abs=0.12)
    assert len(set(zip(classes, limits, paths, strict=True))) > 12  # each group by a number of its own
    assert (rows(3) == rows(3)).all()
    assert rows(4).tolist() != rows(3).tolist()


def test_a_round_without_a_long_flow_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.toml"
    few = (
        RECIPE.read_text()
        .replace("1_000_000]]", "2_000_000_000]]")
        .replace("rollouts_per_scenario = 4", "rollouts_per_scenario = 2")
    )
    few = few.replace('kernels = "amd"', 'kernels = "any"')  # as all trainings of this process
    bad.write_text(few.replace('"1.2 s"', '"20 ms"').replace('"300 ms"', '"5 ms"'))
    assert cli.main(["train", str(bad), "--out", str(tmp_path / "out")]) == 2
    assert "no flow was" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("policy", "action"), {"kind": "choice", "rows": []}, "row"),
        (("policy", "architecture"), {"kind": "lstm", "hidden": [8], "lstm": 8, "bias": True}, "trains an MLP"),
        (("pg", "senders"), "reno", "reno"),
        (("pg", "rollouts_per_scenario"), 1, "equal to 2"),
        (("pg", "period"), "10 ms", "period .*shorter"),
        (("network", "demotion"), [[3, 2, 1]], "must ascend"),
        (("network", "demotion"), [[1, 2, 3, 4]], "5 levels, .*class_weights .*4"),
    ],
)
def test_what_cannot_be_trained_is_told(path: tuple[str, ...], value: Any, says: str) -> None:
    content = tomllib.loads(RECIPE.read_text())
    at = content
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    with pytest.raises(ValidationError, match=says):
        PgConfig.model_validate(content)


def test_agents_that_are_no_long_flows_are_told() -> None:
    content = tomllib.loads((RECIPE.parent / "train-acc.toml").read_text()) | {"pg": SMALL | {"seed": 1}}
    del content["ddqn"]
    content["pg"] |= {"senders": "dcqcn", "period": "12 ms"}
    with pytest.raises(ValidationError, match=r"long_flow, .*queue_marking"):
        PgConfig.model_validate(content)


def test_the_shipped_recipe_is_one() -> None:
    shipped = load_toml(PgConfig, RECIPE)
    assert shipped.policy.observation.size == 6
    assert isinstance(shipped.policy.action, Choice)
    assert shipped.policy.action.sizes == (4, 3, 3)


def test_played_decisions_are_those_of_all_plays() -> None:
    small = config(episode="100 ms", horizon="100 ms")
    rows, value = played(small, seeded(small.policy, 1).weights(), 0)
    assert rows.observed.shape == (len(rows), 6)
    assert value < 0
    assert len(np.unique(rows.chosen, axis=0)) > 3
    assert abs(rows.advantage).max() > 0
