"""Learning where agents decide: each switch its own network, exchanged experience, exploring that decays.

Slow: training between runs; the fast suite trains online.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ddqn_recipe import CONFIG, KMIN, POLICY, config
from pydantic import ValidationError

from decision.artefact.errors import InputError
from decision.policy.policy import Policy
from decision.policy.records import Trajectories
from decision.policy.weights import shapes
from netsim import Cohort, Simulation
from netsim.assembly import switches_of_queues
from netsim.baselines import by_name
from netsim.network import MS, US
from netsim.policies import native
from rlcc import cli
from teachers import ddqn
from teachers.checkpoint import checkpoint_path
from teachers.ddqn import Learner
from teachers.ddqn_options import DdqnConfig
from teachers.online import OnlineLearning, train
from teachers.save import save
from teachers.teacher import make_teacher
from teachers.transitions import transitions

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
FABRIC = "incast:4@leaf-spine:2x4x1:25/100"


def constant(row: int) -> dict[str, Any]:
    """A network that always chooses this row."""
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(Policy.model_validate(POLICY)).items()}
    weights["out.bias"][row] = 1.0
    return weights


def running(weights: dict[str, Any]) -> Simulation:
    policy = Policy.model_validate(POLICY)
    marking = Cohort(native(policy, weights), 50 * US, 10 * US)
    return Simulation(FABRIC, by_name("dcqcn"), seed=1, duration_ps=40 * MS, record=True, cohorts=[marking])


def test_queues_belong_to_the_switch_of_their_port() -> None:
    """Two leaves of four hosts and an uplink each, and a spine of two ports; hosts' ports come first."""
    simulation = running(constant(0))
    queues = switches_of_queues(simulation.scenario, simulation.network)
    assert queues.tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 0, 1, 2, 2]


def test_each_group_decides_by_its_own_network() -> None:
    simulation = running(constant(0))
    group = switches_of_queues(simulation.scenario, simulation.network)
    simulation.set_networks(1, [constant(row) for row in (1, 2, 3)], group)
    simulation.run(2 * MS)
    records = simulation.drain_records(1)
    np.testing.assert_array_equal(records["kmin_bytes"], np.array(KMIN)[group[records["queue"]] + 1])
    for networks, of in (([constant(1)], group), ([], group), ([constant(1)], group[:1] * 0)):
        with pytest.raises(InputError, match="of one shape"):
            simulation.set_networks(1, networks, of)
    with pytest.raises(InputError, match=r"cohort 0 .*native"):
        simulation.set_networks(0, [], group)


def learning(simulation: Simulation, shared: float = 0.5, **options: Any) -> OnlineLearning:
    policy = Policy.model_validate(POLICY)
    group = switches_of_queues(simulation.scenario, simulation.network)
    asked = config(**{"idle_every": 1, "memory": 100_000, "batch": 256, "exchange": "1 ms", "updates": 3} | options)
    learners = [Learner(policy, asked.ddqn, constant(0)) for _ in range(3)]
    return OnlineLearning(simulation, 1, asked, learners, group, {}, np.random.default_rng(1), shared)


def test_every_decision_is_learnt_from_once_by_its_own_switch() -> None:
    simulation = running(constant(0))
    simulation.set_networks(1, [constant(0)] * 3, switches_of_queues(simulation.scenario, simulation.network))
    simulation.run(4 * MS)
    records = simulation.drain_records(1)
    policy = Policy.model_validate(POLICY)
    together = transitions(Trajectories.of(records, policy.observation.agents), policy, config().ddqn.reward)
    learner = learning(running(constant(0)), shared=0.0, exploration=0.0, updates=1, learning_rate=1e-9)
    learner.advance(4 * MS)
    parts = [len(each.memory) for each in learner.learners]
    assert sum(parts) == len(together)
    assert len(learner.shared) == 0
    assert learner.exchanges == 4


def test_switches_learn_apart_and_exchange() -> None:
    learner = learning(running(constant(0)), exploration=1.0, exploration_decay=0.5)
    assert learner.options.exploring(3) == 0.125
    learner.advance(3 * MS)
    weights = [each.network.weights()["out.bias"] for each in learner.learners]
    assert (weights[0] != weights[1]).any()
    assert len(learner.shared) > 0
    again = learning(running(constant(0)), exploration=1.0, exploration_decay=0.5)
    again.advance(3 * MS)
    np.testing.assert_array_equal(weights[0], again.learners[0].network.weights()["out.bias"])


@pytest.fixture
def start(tmp_path: Path) -> Path:
    save(make_teacher(Policy.model_validate(POLICY), constant(0), "a test"), tmp_path / "start")
    return tmp_path / "start"


def going_on(teacher: Path, **ddqn: Any) -> DdqnConfig:
    options = {**CONFIG["ddqn"], "start": str(teacher), "rounds": 2, "validation_interval": 1, **ddqn}
    return DdqnConfig.model_validate({**CONFIG, "policy": {"name": "further"}, "ddqn": options})


ONLINE: dict[str, Any] = {"exchange": "1 ms", "updates": 5, "exploration": 0.5, "exploration_decay": 0.5}


@pytest.mark.slow_except("online")
@pytest.mark.parametrize("how", [{}, ONLINE], ids=["between runs", "online"])
def test_training_goes_on_from_a_teacher_also_resumed(start: Path, tmp_path: Path, how: dict[str, Any]) -> None:
    asked = going_on(start, **how)
    learn = train if how else ddqn.train
    whole = learn(asked, tmp_path / "whole")
    assert asked.policy.name == whole.teacher.policy.name == "further"
    assert whole.teacher.policy.provenance["start"] == str(start)
    assert [number for number, _ in whole.curve] == [0, 1, 2]  # what it began with is judged too
    assert whole.best == max(reward for _, reward in whole.curve)

    def stop(line: str) -> None:
        if line.startswith("round 1"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(asked, tmp_path / "parts", progress=stop)
    assert checkpoint_path(tmp_path / "parts").exists()
    parts = learn(asked, tmp_path / "parts", resume=True)
    assert parts.curve == whole.curve
    for name, array in whole.teacher.weights.items():
        np.testing.assert_array_equal(array, parts.teacher.weights[name])


def test_where_nothing_is_learnt_the_weights_stay(start: Path, tmp_path: Path) -> None:
    report = train(going_on(start, **ONLINE, learning_rate=1e-12, final_learning_rate=1e-12), tmp_path / "same")
    assert report.best_round == 0
    for name, array in constant(0).items():
        np.testing.assert_array_equal(report.teacher.weights[name], array)


def test_exploring_decays_by_the_exchange_from_round_to_round(
    start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[int] = []

    class Seen(OnlineLearning):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            before.append(options["exchanges"])
            super().__init__(*arguments, **options)

    monkeypatch.setattr("teachers.online.OnlineLearning", Seen)
    train(going_on(start, **ONLINE), tmp_path / "out")
    assert before == [0, 0, 4, 4]  # two scenarios a round
    rows = list(csv.DictReader((tmp_path / "out.training" / "scalars.csv").open()))
    assert [float(row["exploring"]) for row in rows] == [0.5, 0.5**5]  # 4 ms a round


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"start": "/nowhere"}, "ddqn.start: .*/nowhere"),
        ({"exchange": "5 ms"}, "longer .*episode"),
        ({"exchange": "0 ms"}, "exchange"),
        ({"trigger": {}}, "start and exchange"),
        ({"start": "fixtures/teachers/haecn"}, "start and exchange"),
    ],
)
def test_what_cannot_be_gone_on_with_is_told(start: Path, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        going_on(start, **change)


def test_a_policy_beside_a_start_is_one_sentence_and_exit_code_2(tmp_path: Path, capsys: Any) -> None:
    text = (RECIPES / "train-acc-online.toml").read_text()
    (tmp_path / "bad.toml").write_text(text.replace("[policy]", "[policy]\nformat = 1"))
    assert cli.main(["train", str(tmp_path / "bad.toml"), "--out", str(tmp_path / "out")]) == 2
    told = capsys.readouterr().err
    assert "ddqn.start, fixtures/teachers/acc; " in told
    assert told.count("\n") == 1
    assert not (tmp_path / "out").exists()
