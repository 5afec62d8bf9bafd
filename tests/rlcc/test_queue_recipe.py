"""A recipe whose agents are switch queues: DCQCN sends, a tree sets marking thresholds, from rollouts to verdict."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from queue_actions import LEVEL

from decision.policy.policy import Policy
from decision.policy.weights import shapes
from rlcc import cli
from teachers.save import save
from teachers.teacher import make_teacher

POLICY = {
    "format": 1,
    "name": "queues",
    "architecture": {"kind": "mlp", "hidden": [2], "bias": True},
    "observation": {
        "interface": "queue_marking",
        "window": 1,
        "params": {"capacity_bytes": 625_000},
        "features": [{"kind": "level", "signal": "queue_bytes", "unit": 65_536, "fraction_bits": 8}],
    },
    "action": LEVEL,
}
RECIPE = """\
format = 1
name = "queues"

[network]
buffer = "8 MiB"

[agents.senders]
interface = "flow_rate"
baseline = "dcqcn-hpcc-marking"

[agents.queues]
interface = "queue_marking"
teacher = "teacher"
period = "50 us"

[rollout]
scenarios = ["many-to-one:8", "many-to-one:32"]
duration = "20 ms"
decision_latency = "3 us"

[distill]
trees = 2
depth = 2
rounds = 1
rows = 2000
comparison_window = ["5 ms", "20 ms"]

[emit]
target = "bare"

[gate]
budget = "5 us"
scenarios = ["many-to-one:8"]
duration = "20 ms"
window = ["5 ms", "20 ms"]

[gate.match]
rmse = 0.2
p99 = 0.6
maximum = 1.0
duration = "20 ms"

[gate.tolerance]
goodput = "±0.1"
latency = "±60 %"
fairness = "-0.3"
queue_max_bytes = "+100 %"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long queue asks for high thresholds."""
    root = tmp_path_factory.mktemp("queues")
    policy = Policy.model_validate(POLICY)
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(policy).items()}
    weights["fc0.weight"][0, 0] = 1.0
    weights["out.weight"][:, 0] = [0.5, 0.4, -0.3]
    weights["out.bias"][:] = [-0.5, -0.3, 0.5]
    save(make_teacher(policy, weights, "the test"), root / "teacher")
    (root / "queues.toml").write_text(RECIPE)
    assert cli.main(["run", str(root / "queues.toml"), "--out", str(root / "out")]) == 0
    return root


def test_rollouts_are_the_queues_decisions(run: Path) -> None:
    table = pq.read_table(run / "out/rollouts/rollouts.parquet")
    assert {"queue", "queue_bytes", "kmin_bytes", "kmax_bytes", "pmax_q16"} <= set(table.column_names)
    assert table.num_rows == 2 * 399  # one port, 50 us apart


def test_the_gate_compares_networks_with_teacher_and_student_at_the_queues(run: Path) -> None:
    verdict = json.loads((run / "out/verdict/verdict.json").read_text())
    assert verdict["verdict"] == "PASS"
    groups = {check["group"] for check in verdict["checks"]}
    assert groups == {"equality", "object code", "size", "proof", "budget", "teacher", "network"}
    ids = [check["id"] for check in verdict["checks"] if check["group"] == "network"]
    assert ids[-1] == "network.queue_max_bytes[many-to-one:8]"
    teacher, student, _ = (each["metrics"][0] for each in verdict["measured"]["network"])
    assert teacher["cnps"] > 0
    assert teacher["decisions"] == student["decisions"]  # of the flows, which DCQCN steers
    assert verdict["measured"]["teacher"]["maximum"] > 0
    assert verdict["measured"]["neighbourhood"] is None


def test_agents_that_are_asked_more_seldom_make_another_network(run: Path) -> None:
    """Both teacher and student really decide at the queues, as often as the recipe says."""
    before = json.loads((run / "out/verdict/verdict.json").read_text())["measured"]["network"]
    (run / "seldom.toml").write_text(RECIPE.replace('period = "50 us"', 'period = "5 ms"'))
    assert cli.main(["run", str(run / "seldom.toml"), "--out", str(run / "out"), "--from", "gate"]) in (0, 1)
    after = json.loads((run / "out/verdict/verdict.json").read_text())["measured"]["network"]
    for often, seldom in zip(before, after, strict=True):
        assert often["metrics"][0]["cnps"] != seldom["metrics"][0]["cnps"]
