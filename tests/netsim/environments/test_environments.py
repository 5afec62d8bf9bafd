"""The environments: the libraries' own checks, and the same run as with the policy inside the simulator.

Slow: two further networks.
"""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, NormalizeObservation, RecordEpisodeStatistics
from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test

from decision.artefact.errors import InputError
from decision.policy.actions import Table
from decision.policy.features import FEATURE_KINDS, PccRlCongestion
from decision.policy.policy import Limits, Observation, Policy
from decision.policy.records import Trajectories
from netsim import Network, Simulation
from netsim.environments import Task, pettingzoo_parallel
from netsim.environments.episode import Episode
from netsim.environments.gymnasium_vector import FlowVectorEnv
from netsim.environments.pettingzoo_parallel import FlowParallelEnv, parallel_env
from netsim.environments.spaces import observation_space
from netsim.network import MS
from netsim.policies import native
from netsim.scenarios import Flow, Scenario, long_short

DOCS = Path(__file__).resolve().parents[3] / "docs/how-to/environments.md"
LIMITS = Limits.model_validate({"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "25 %"})
SHORT = Task("many-to-one:4", limits=LIMITS, duration_ps=MS)
COMING_AND_GOING = Task(long_short(5, period_ps=MS, short_bytes=40_000), duration_ps=4 * MS)


def task_of(policy: Policy, scenario: str, duration_ps: int, network: Network | None = None) -> Task:
    return Task(
        scenario,
        policy.observation,
        policy.action,
        policy.limits,
        duration_ps=duration_ps,
        record=True,
        network=network or Network(),
    )


def steer(observations: np.ndarray) -> np.ndarray:
    """A proportional rule on the newest congestion feature [N, 1]."""
    return np.tanh(-0.1 * observations[:, 1:2])


# --- the same run as inside ---------------------------------------------------------------------------------------


def assert_same(inside: dict[str, np.ndarray], outside: dict[str, np.ndarray]) -> None:
    """The same decisions to the last bit; only the network's output is not known outside."""
    assert inside["t_ps"].size > 500
    assert len(np.unique(inside["rate_q30"])) > 50
    for name, column in inside.items():
        if name != "output":
            np.testing.assert_array_equal(column, outside[name], err_msg=name)


def run_vector(env: FlowVectorEnv, seed: int, decide: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
    """Records of one run."""
    observations, _ = env.reset(seed=seed)
    over = False
    while not over:
        observations, _, _, truncated, _ = env.step(decide(observations))
        over = bool(truncated.all())
    assert env.episode is not None
    return env.episode.arrays.drain_records()


def test_a_policy_outside_makes_the_run_of_the_same_policy_inside(make_policy) -> None:
    """A table of two multipliers, whose choice no rounding touches: logits (inflation, 1.9)."""
    policy = make_policy(
        architecture={"hidden": [], "bias": True},
        observation={"window": 1, "features": [{"kind": "rtt_inflation"}]},
        action={"kind": "table", "multipliers": [0.9, 1.05]},
        limits={"rate_initial": "8 %"},
    )
    weights = {"out.weight": np.array([[1], [0]], np.float32), "out.bias": np.array([0, 1.9], np.float32)}
    inside = Simulation("many-to-one:16", native(policy, weights), seed=2, record=True)
    inside.run(5 * MS)
    env = FlowVectorEnv(task_of(policy, "many-to-one:16", 5 * MS))
    outside = run_vector(env, 2, lambda rows: (rows[:, 0] < np.float32(1.9)).astype(np.int64))
    assert_same(inside.drain_records(), outside)
    assert env.episode is not None
    assert inside.conservation() == env.episode.arrays.conservation()
    np.testing.assert_array_equal(env.episode.observations, inside.observations())


LIMITED = Network(device_limit=0.02, device_limit_from_ps=4 * MS, device_limit_for_ps=3 * MS)


@pytest.mark.slow_except("long-short:6-network1-False", "long-short:6-network3-True")
@pytest.mark.parametrize(
    ("scenario", "network", "told"),
    [
        ("many-to-one:8", Network(), False),
        ("long-short:6", Network(), False),
        ("long-short:6", LIMITED, False),
        ("long-short:6", LIMITED, True),
    ],
)
def test_a_networks_outputs_make_the_run_they_made_inside(
    steering, scenario: str, network: Network, told: bool
) -> None:
    """The outputs that an MLP had inside, given as actions: the map, the rates and the rows are the same."""
    policy = steering(0.1, observation={"device_rate": told})
    inside = Simulation(scenario, policy, seed=3, record=True, network=network)
    inside.run(12 * MS)
    records = inside.drain_records()
    of_flow = [iter(records["output"][records["flow"] == flow]) for flow in range(len(inside.scenario.flows))]
    episode = Episode(task_of(policy.policy, scenario, 12 * MS, network), 3)
    while not episode.over:
        episode.answer(np.array([next(of_flow[i]) if decides else np.nan for i, decides in enumerate(episode.decides)]))
    assert_same(records, episode.arrays.drain_records())
    np.testing.assert_array_equal(episode.observations, inside.observations())


def test_rows_are_those_of_spec(steering) -> None:
    """All features at once, over a window of three, against decision.policy.records along a trajectory."""
    features = [{"kind": kind} for kind in FEATURE_KINDS if "congestion" not in kind]
    features.append({"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5})
    base = SHORT.observation.model_dump() | {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
    observation = Observation.model_validate(base | {"window": 3, "features": features})
    task = Task(COMING_AND_GOING.scenario, observation, duration_ps=4 * MS, record=True)
    episode = Episode(task, 2)
    random = np.random.default_rng(0)
    space = observation_space(task)
    rows, keys = [], []
    while not episode.over:
        assert all(row in space for row in episode.observations)
        places = np.flatnonzero(episode.decides)
        rows.append(episode.observations[places].copy())
        keys += [(flow, episode.t_ps[flow]) for flow in places]
        episode.answer(random.uniform(-1, 1, task.flows))
    trajectories = Trajectories.of(episode.arrays.drain_records())
    wanted, valid = trajectories.float_rows(observation)
    assert valid.all()
    order = np.lexsort(([t for _, t in keys], [flow for flow, _ in keys]))
    np.testing.assert_array_equal(np.concatenate(rows)[order], wanted.astype(np.float32))
    assert len(task.names) == wanted.shape[1]
    assert task.names[: len(features)] == tuple(f"{f['kind']}_0" for f in features)


# --- rewards ------------------------------------------------------------------------------------------------------


def test_a_reward_is_the_square_of_what_the_next_decision_sees() -> None:
    task = Task(
        "many-to-one:4", limits=LIMITS, reward=PccRlCongestion(kind="pcc_rl_congestion", target=2.0), duration_ps=MS
    )
    episode = Episode(task, 1)
    assert not episode.rewards.any()
    steps = 0
    while True:
        episode.answer(np.full(4, -0.1))
        if episode.over:
            break
        batch = episode.arrays._batch
        assert batch is not None
        delta = 2.0 - batch.rtt_ns / 8192 * np.sqrt(batch.rate_q30 / 2**30)
        np.testing.assert_allclose(episode.rewards[batch.flow], np.where(batch.step > 0, -(delta**2), 0.0))
        assert not episode.rewards[~episode.decides].any()
        steps += 1
    assert steps > 50
    assert not episode.rewards.any()


def test_only_actions_of_flows_that_decide_count() -> None:
    """Rubbish for the others changes nothing; a flow that decides must have a number."""
    runs = [Episode(SHORT, 1) for _ in range(2)]
    while not runs[0].over:
        actions = np.where(runs[0].decides, 0.5, np.nan)
        runs[0].answer(actions)
        runs[1].answer(np.nan_to_num(actions, nan=-1.0))
        np.testing.assert_array_equal(runs[0].observations, runs[1].observations)
    assert not runs[0].decides.all()
    with pytest.raises(InputError, match="is over"):
        runs[0].answer(np.zeros(4))
    with pytest.raises(InputError, match="NaN or infinite"):
        Episode(SHORT, 1).answer(np.full(4, np.nan))


def test_actions_are_mapped_as_spec_says() -> None:
    np.testing.assert_allclose(
        SHORT.multipliers(np.array([-9.0, -1.0, 0.0, 1.0, 9.0])), [1 / 1.2] * 2 + [1] + [1.2] * 2, atol=1e-5
    )
    table = Task(action=Table(kind="table", multipliers=[0.5, 1.0, 1.5]))
    np.testing.assert_array_equal(table.multipliers(np.array([2, 0, 1])), [1.5, 0.5, 1.0])
    with pytest.raises(InputError, match="0 to 2"):
        table.multipliers(np.array([3]))


# --- Gymnasium ----------------------------------------------------------------------------------------------------


class OneFlow(gymnasium.Env[np.ndarray, Any]):
    """The vector environment of a single flow as Gymnasium's checker wants it: not a vector."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, task: Task) -> None:
        self.flows = FlowVectorEnv(task)
        assert self.flows.num_envs == 1
        self.observation_space = self.flows.single_observation_space
        self.action_space = self.flows.single_action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        observations, infos = self.flows.reset(seed=seed, options=options)
        self.flows.np_random = self.np_random
        return observations[0], {name: value[0] for name, value in infos.items()}

    def step(self, action: Any) -> Any:
        observations, rewards, terminated, truncated, infos = self.flows.step(np.asarray(action)[None])
        info = {name: value[0] for name, value in infos.items()}
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info


@pytest.mark.parametrize("action", [SHORT.action, Table(kind="table", multipliers=[0.8, 1.0, 1.25])])
def test_gymnasiums_checker_finds_nothing(action: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*not having a spec.*")
        check_env(OneFlow(Task("many-to-one:1", action=action, duration_ps=MS)))


def test_a_vector_environment_is_what_gymnasium_says() -> None:
    env = FlowVectorEnv(SHORT)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space
    assert infos["decides"].any()
    env.action_space.seed(0)
    truncations = 0
    for _ in range(600):
        observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
        assert observations in env.observation_space
        assert rewards.shape == terminated.shape == truncated.shape == infos["decides"].shape == (4,)
        assert (rewards.dtype, terminated.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
        assert infos["decides"].any() != truncated.any()
        assert all(infos[f"_{name}"].all() for name in infos if not name.startswith("_"))
        assert not terminated.any()
        assert truncated.any() == truncated.all() == ("goodput" in infos)
        if truncated.any():
            truncations += 1
            assert not infos["decides"].any()
            assert infos["step"].min() > 10
            assert 0 < infos["goodput"][0] < 1
            observations, rewards, _, truncated, infos = env.step(np.full((4, 1), np.nan))  # not looked at
            assert observations in env.observation_space
            assert (infos["step"][infos["decides"]] == 0).all()
            assert not rewards.any()
            assert not truncated.any()
    assert truncations > 1


def test_runs_follow_from_the_first_seed_and_differ() -> None:
    """Two environments of one seed agree over several runs; other seeds and later runs are other networks."""

    def runs(seed: int) -> list[np.ndarray]:
        env = FlowVectorEnv(SHORT)
        observations, _ = env.reset(seed=seed)
        found, rows = [], [observations]
        while len(found) < 3:
            observations, _, _, truncated, infos = env.step(steer(observations))
            rows.append(np.where(infos["decides"], infos["t_ps"], 0))
            if truncated.any():
                found.append(np.concatenate([row.ravel() for row in rows]))
                rows = []
        return found

    first, again, other = runs(9), runs(9), runs(10)
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)
    assert not np.array_equal(first[1], first[2])


def test_a_flow_that_comes_back_begins_with_a_new_flows_history() -> None:
    """The places of short flows hold one flow after the other: decision 0 again, nothing of the last one's actions."""
    env = FlowVectorEnv(COMING_AND_GOING)
    observations, infos = env.reset(seed=1)
    initial = COMING_AND_GOING.initial_row()
    np.testing.assert_array_equal(observations[1:], np.tile(initial, (4, 1)))
    assert infos["step"].tolist() == [0, -1, -1, -1, -1]
    rounds = np.zeros(5, dtype=int)
    while True:
        observations, rewards, _, truncated, infos = env.step(np.full((5, 1), -0.3, dtype=np.float32))
        if truncated.any():
            break
        new = infos["decides"] & (infos["step"] == 0)
        rounds += new
        assert not rewards[new].any()
        np.testing.assert_array_equal(observations[new, 2:], np.tile(initial[2:], (new.sum(), 1)))
        assert (observations[new, 0] == 1.0).all()
        assert (observations[infos["decides"] & ~new, 0] < 0.95).all()
    assert rounds[0] == 0
    assert (rounds[1:] >= 2).all()


def test_gymnasiums_wrappers_work() -> None:
    env = DictInfoToList(RecordEpisodeStatistics(NormalizeObservation(FlowVectorEnv(SHORT))))
    env.reset(seed=1)
    episodes = 0
    for _ in range(600):
        observations, _, _, truncated, infos = env.step(env.action_space.sample())
        assert np.isfinite(observations).all()
        if truncated.any():
            episodes += 1
            assert infos[0]["episode"]["l"] > 10
            assert infos[0]["loss"] >= 0
    assert episodes


def test_wrong_use_of_the_vector_environment_is_said() -> None:
    env = FlowVectorEnv(SHORT)
    with pytest.raises(InputError, match="call reset"):
        env.step(np.zeros((4, 1)))
    env.reset(seed=1)
    with pytest.raises(InputError, match=re.escape("(3, 1)")):
        env.step(np.zeros((3, 1)))
    with pytest.raises(InputError, match="reset alone"):
        env.reset(options={"reset_mask": np.ones(4, dtype=bool)})
    late = Scenario("late", 1, 1, (Flow(0, 0, start_ps=2 * MS),))
    with pytest.raises(InputError, match="no flow decides"):
        FlowVectorEnv(Task(late, duration_ps=MS)).reset(seed=1)


# --- PettingZoo ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "task",
    [
        SHORT,
        COMING_AND_GOING,
        Task("many-to-one:2", action=Table(kind="table", multipliers=[0.8, 1.25]), duration_ps=MS),
    ],
)
def test_pettingzoos_own_tests_pass(task: Task) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(parallel_env(task), num_cycles=300)
        parallel_seed_test(lambda: parallel_env(task), num_cycles=60)


def test_pettingzoos_tests_of_the_module_pass() -> None:
    max_cycles_test(pettingzoo_parallel)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(pettingzoo_parallel.env(SHORT), num_cycles=100)


def test_agents_see_what_the_vector_environment_shows() -> None:
    vector, parallel = FlowVectorEnv(SHORT), FlowParallelEnv(SHORT)
    observations, _ = vector.reset(seed=4)
    by_agent, infos = parallel.reset(seed=4)
    over = False
    while not over:
        np.testing.assert_array_equal(observations, np.stack(list(by_agent.values())))
        actions = {agent: steer(by_agent[agent][None])[0] for agent in parallel.agents if infos[agent]["decides"]}
        observations, rewards, _, _, _ = vector.step(steer(observations))
        by_agent, by_agent_rewards, terminated, truncated, infos = parallel.step(actions)
        assert not any(terminated.values())
        assert rewards.tolist() == list(by_agent_rewards.values())
        over = all(truncated.values())
    assert parallel.agents == []
    assert parallel.step({}) == ({}, {}, {}, {}, {})
    assert 0 < infos["flow_0"]["metrics"]["goodput"] < 1


def test_later_networks_follow_from_the_seed_given_last() -> None:
    def times(env: FlowParallelEnv, seed: int | None) -> list[int]:
        _, infos = env.reset(seed=seed)
        return [infos[agent]["t_ps"] for agent in env.agents]

    env, again = FlowParallelEnv(SHORT), FlowParallelEnv(SHORT)
    first, second = times(env, 7), times(env, None)
    assert first != second
    assert [times(again, 7), times(again, None)] == [first, second]
    assert times(env, 7) == first


def test_what_was_handed_out_is_not_written_to_again() -> None:
    vector, parallel = FlowVectorEnv(SHORT), FlowParallelEnv(SHORT)
    shown, infos = vector.reset(seed=1)
    shown_to, _ = parallel.reset(seed=1)
    kept, decided = shown.copy(), infos["decides"].copy()
    for _ in range(20):
        vector.step(np.full((4, 1), 0.5))
        parallel.step(dict.fromkeys(parallel.agents, 0.5))
    np.testing.assert_array_equal(shown, kept)
    np.testing.assert_array_equal(infos["decides"], decided)
    np.testing.assert_array_equal(np.stack(list(shown_to.values())), kept)
    later, *_ = parallel.step(dict.fromkeys(parallel.agents, 0.5))
    kept = np.stack(list(later.values()))
    for _ in range(20):
        parallel.step(dict.fromkeys(parallel.agents, 0.5))
    np.testing.assert_array_equal(np.stack(list(later.values())), kept)


def test_wrong_use_of_the_parallel_environment_is_said() -> None:
    env = FlowParallelEnv(SHORT)
    with pytest.raises(InputError, match="call reset"):
        env.step({})
    _, infos = env.reset(seed=1)
    with pytest.raises(InputError, match="given no action"):
        env.step({agent: 0.0 for agent in env.agents if not infos[agent]["decides"]})
    with pytest.raises(InputError, match="'flow_4' is no agent"):
        env.step(dict.fromkeys([*env.agents, "flow_4"], 0.0))


# --- the page and the extra ---------------------------------------------------------------------------------------


def test_the_pages_examples_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, str(DOCS), "exec"), {})


@pytest.mark.parametrize(
    ("library", "module"), [("gymnasium", "gymnasium_vector"), ("pettingzoo", "pettingzoo_parallel")]
)
def test_a_missing_library_is_one_sentence(library: str, module: str) -> None:
    code = f"import sys; sys.modules['{library}'] = None\nfrom netsim.environments import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("decision.artefact.errors.InputError")
    assert "pip install 'rlcc[environments]'" in last
