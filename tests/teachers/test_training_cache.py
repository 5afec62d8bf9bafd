"""The cache of trainings: each is trained once, and its CPU time recorded."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact.errors import InputError
from teachers import training_cache

SMALL = """
format = 1
[policy]
format = 1
name = "small"
architecture = { kind = "mlp", hidden = [4], bias = true }
observation = { interface = "queue_marking", window = 1, params = { capacity_bytes = 156250 }, features = [
  { kind = "ratio", of = "sent_bytes", over = "capacity_bytes" }] }
action = { kind = "choice", rows = [
  { kmin_bytes = 5000, kmax_bytes = 200000, pmax_q16 = 655 },
  { kmin_bytes = 90000, kmax_bytes = 200000, pmax_q16 = 655 }] }
[network]
link = "25 Gb/s"
[ddqn]
seed = 1
senders = "dcqcn"
period = "50 us"
scenarios = ["incast:4"]
episode = "2 ms"
rounds = 1
updates = 2
batch = 8
validation_scenarios = ["incast:4"]
validation_seeds = [7]
[[ddqn.reward]]
weight = 1.0
feature = { kind = "ratio", of = "sent_bytes", over = "capacity_bytes" }
"""


def test_a_training_is_made_once_and_its_time_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document: dict[str, Any] = tomllib.loads(SMALL)
    teacher, told = training_cache.trained(document, 2, tmp_path)
    assert teacher.policy.provenance["seed"] == 2
    assert (told.yardstick, told.better, told.best, told.steps) == ("reward", 1, 1, 1)
    assert told.value == pytest.approx(teacher.policy.provenance["reward"], abs=1e-6)
    assert told.cpu_seconds > 0
    monkeypatch.setattr(training_cache, "method_of", lambda _: pytest.fail("it is trained again"))
    again, same = training_cache.trained(document, 2, tmp_path)
    assert same == told
    assert all(np.array_equal(again.weights[part], teacher.weights[part]) for part in teacher.weights)
    (training_cache.place_of(document, 2, tmp_path) / "manifest.json").unlink()
    with pytest.raises(InputError, match="trained again"):
        training_cache.trained(document, 2, tmp_path)


def test_a_recipe_that_is_none_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"seed 1 .*not valid"):
        training_cache.place_of({"format": 1}, 1, Path())
