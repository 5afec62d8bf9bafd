"""Whoever decides is told the network's base RTT, by each way that leads into the simulator."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.policy.student import load_student
from distill.rollout import collect, teacher_policy
from netsim import Network, assembly, simulate
from netsim.mixes import Mix, Part
from netsim.network import MS
from netsim.places import InThisThread, at_place
from netsim.policies import IntegerPolicy, NativePolicy, interpreted, native
from netsim.sites import Paths
from rlcc import cli
from rlcc.recipe import deployment_of, load_recipe
from teachers.load import load
from teachers.randomisation import Randomisation, draw

OTHER_NS = 30_000
NETWORK = Network(base_rtt_ps=OTHER_NS * 1000)
TABLE = f'base_rtt = "{OTHER_NS} ns"\n'
FAT_TREE = "many-to-one:6@fat-tree:4"
EVALUATE = ["--scenario", "many-to-one:2", "--duration", "400 us", "--seed", "1", "--where", "here", "--no-pictures"]


class Told(list[tuple[np.ndarray, np.ndarray | None]]):
    """Of each decider: the base RTTs of the network's flows, and what it was told [flows], ns."""

    @property
    def of_network(self) -> set[int]:
        return {int(ns) for there, _ in self for ns in there}

    @property
    def right(self) -> bool:
        return len(self) > 0 and all(told is not None and np.array_equal(there, told) for there, told in self)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    """What deciders are told from now on; runs may go side by side."""
    seen, here, build = Told(), threading.local(), assembly.build

    def building(scenario: Any, network: Network, spec: Any, **options: Any) -> Any:
        fabric, _ = assembly.place(scenario, network)
        rtts_ps = fabric.base_rtts_ps(scenario.column("host"), scenario.column("receiver"))
        here.base_rtts_ns = np.rint(rtts_ps / 1000).astype(np.uint32)
        return build(scenario, network, spec, **options)

    monkeypatch.setattr(assembly, "build", building)
    for kind in (NativePolicy, IntegerPolicy):

        def listening(self: Any, agents: int, where: Any = None, *, build: Any = kind.build) -> Any:
            seen.append((here.base_rtts_ns, where.base_rtt_ns if isinstance(where, Paths) else None))
            return build(self, agents, where)

        monkeypatch.setattr(kind, "build", listening)
    return seen


def network_file(folder: Path) -> Path:
    path = folder / "network.toml"
    path.write_text(TABLE)
    return path


def evaluated(*policies: str) -> Callable[[Path, Path], None]:
    def way(good: Path, folder: Path) -> None:
        names = [text.replace("GOOD", str(good)) for text in policies]
        network = ["--network", str(network_file(folder))]
        assert cli.main(["evaluate", *names, *network, *EVALUATE]) == 0

    return way


def suite(good: Path, folder: Path) -> None:
    (folder / "suite.toml").write_text(
        f"""format = 1
name = "slow"
seeds = [1, 2]
baselines = ["dcqcn"]
yardstick = "max-min"

[[cells]]
scenarios = ["many-to-one:2"]
duration = "400 us"
window = ["100 us", "400 us"]
label = "far"
network = {{ {TABLE.strip()} }}
"""
    )
    assert cli.main(["evaluate", str(good / "teacher"), "--suite", str(folder / "suite.toml"), "--where", "here"]) == 0


def in_recipe(good: Path, folder: Path, text: str = TABLE) -> Path:
    path = folder / "recipe.toml"
    written = (good / "good.toml").read_text().replace('"teacher"', f'"{good / "teacher"}"')
    path.write_text(f"{written}\n[network]\n{text}")
    return path


def gate(good: Path, folder: Path) -> None:
    options = ["--no-certificate", "--where", "here", "--out", str(folder / "verdict")]
    assert cli.main(["gate", str(good / "firmware"), "--recipe", str(in_recipe(good, folder)), *options]) in (0, 1)


def rollouts(good: Path, folder: Path) -> None:
    path = in_recipe(good, folder)
    recipe = load_recipe(path)
    short = recipe.rollout.model_copy(update={"duration": MS})
    with at_place(InThisThread()):
        (run,) = collect(teacher_policy(load(good / "teacher")), short, deployment_of(recipe, path))
    assert set(run.trajectories.places["base_rtt_ns"].tolist()) == {OTHER_NS}  # and its rows are read by it


def in_python(good: Path, folder: Path) -> None:
    student = interpreted(load_student(good / "student/student.json"))
    teacher = load(good / "teacher")
    mix = Mix((Part(student, 50), Part(native(teacher.policy, teacher.weights), 50)))
    simulate("many-to-one:2", mix, seed=1, duration_ps=MS, window_ps=(0, MS), network=NETWORK)


def training(good: Path, folder: Path) -> None:
    """As recipes of training draw networks."""
    what = Randomisation.model_validate({"base_rtt": [f"{OTHER_NS} ns"] * 2})
    drawn = draw("many-to-one:2", what, np.random.default_rng(1), 1, MS)
    teacher = load(good / "teacher")
    simulate(
        drawn.scenario,
        native(teacher.policy, teacher.weights),
        seed=1,
        duration_ps=MS,
        window_ps=(0, MS),
        network=drawn.network,
    )


WAYS: dict[str, Callable[[Path, Path], None]] = {
    "evaluate a teacher": evaluated("GOOD/teacher"),
    "evaluate a student": evaluated("GOOD/student"),
    "evaluate firmware": evaluated("GOOD/firmware@1us"),
    "evaluate firmware on a core": evaluated("GOOD/firmware@ibex-small"),
    "evaluate a mix": evaluated("GOOD/student@50%+dcqcn@50%"),
    "a suite": suite,
    "a recipe's gate": gate,
    "a recipe's rollouts": rollouts,
    "Python": in_python,
    "training": training,
}


@pytest.mark.parametrize("way", WAYS)
def test_each_way_into_the_simulator_tells_the_networks_base_rtt(
    way: str, good: Path, told: Told, tmp_path: Path
) -> None:
    WAYS[way](good, tmp_path)
    assert told.right
    assert told.of_network == {OTHER_NS}


def test_a_fabric_tells_each_flow_its_own(good: Path, told: Told, tmp_path: Path) -> None:
    assert (
        cli.main(["evaluate", str(good / "teacher"), str(good / "student"), *EVALUATE[2:], "--scenario", FAT_TREE]) == 0
    )
    assert told.right
    assert len(told.of_network) > 1
