"""A recipe whose one agent sets the marking of a fabric's layers goes the same way, from rollouts to verdict."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from decision.ir.interfaces import FABRIC_MARKING
from decision.policy.policy import Policy
from decision.policy.weights import shapes
from rlcc import cli
from teachers.save import save
from teachers.teacher import make_teacher

POLICY = {
    "format": 1,
    "name": "fabric",
    "architecture": {"kind": "mlp", "hidden": [2], "bias": True},
    "observation": {
        "interface": "fabric_marking",
        "window": 1,
        "params": {"up_capacity_bytes": 1_250_000, "down_capacity_bytes": 1_875_000},
        "features": [
            {"kind": "level", "signal": f"{layer}longest_bytes", "unit": 65_536, "fraction_bits": 8}
            for layer in ("up_", "down_")
        ],
    },
    "action": {
        "kind": "choice",
        "groups": [
            [
                {f"{layer}kmin_bytes": kmin, f"{layer}kmax_bytes": 4 * kmin, f"{layer}pmax_q16": 6_554}
                for kmin in (20_000, 100_000)
            ]
            for layer in ("up_", "down_")
        ],
    },
}
RECIPE = """\
format = 1
name = "fabric"

[network]
buffer = "8 MiB"

[agents.senders]
interface = "flow_rate"
baseline = "dcqcn"

[agents.controller]
interface = "fabric_marking"
teacher = "teacher"
period = "50 us"

[rollout]
scenarios = ["all-to-all:8@leaf-spine:2x4x1"]
duration = "20 ms"
decision_latency = "3 us"

[distill]
trees = 2
depth = 2
rounds = 1
compare_window = ["5 ms", "20 ms"]

[emit]
target = "bare"

[gate]
budget = "5 us"
scenarios = ["all-to-all:8@leaf-spine:2x4x1"]
duration = "20 ms"
window = ["5 ms", "20 ms"]

[gate.match]
rmse = 0.5
p99 = 1.0
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
    """A layer with a long queue is given the high thresholds."""
    root = tmp_path_factory.mktemp("fabric")
    policy = Policy.model_validate(POLICY)
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(policy).items()}
    weights["fc0.weight"][:] = np.eye(2)
    weights["out.weight"][1, 0] = weights["out.weight"][3, 1] = 1.0
    weights["out.bias"][:] = [1.0, 0.0, 1.0, 0.0]
    save(make_teacher(policy, weights, "the test"), root / "teacher")
    (root / "fabric.toml").write_text(RECIPE)
    assert cli.main(["run", str(root / "fabric.toml"), "--out", str(root / "out")]) == 0
    return root / "out"


def test_rollouts_have_every_signal_and_both_layers_settings(run: Path) -> None:
    table = pq.read_table(run / "rollouts/rollouts.parquet")
    assert {*FABRIC_MARKING.event_names, *FABRIC_MARKING.knob_names} < set(table.column_names)
    for layer in ("up_", "down_"):
        longest, kmin = (np.asarray(table[f"{layer}{name}_bytes"]) for name in ("longest", "kmin"))
        np.testing.assert_array_equal(kmin, np.where(longest > 65_536, 100_000, 20_000))
    assert np.unique(table["up_kmin_bytes"]).size == 2


def test_the_c_is_emitted_equal_and_judged(run: Path) -> None:
    header = (run / "firmware/rlcc_policy.h").read_text()
    assert all(f"uint32_t {name};" in header for name in (*FABRIC_MARKING.event_names, *FABRIC_MARKING.knob_names))
    verdict = json.loads((run / "verdict/verdict.json").read_text())
    assert verdict["verdict"] == "PASS"
    assert {check["group"] for check in verdict["checks"]} >= {"equality", "proof", "budget", "teacher", "network"}
