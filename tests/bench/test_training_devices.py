"""The bench of training over devices: one row a policy and scenario, next to RL-CC's own weights.

Slow: the page as a whole, which trains.
"""

import re
import tomllib
from pathlib import Path

import pytest

from bench import shared_contexts
from bench.training import devices
from bench.training.__main__ import changed
from decision.artefact.documents import read_text
from teachers.methods import seeded

TINY = "training.episodes = 1\ntraining.segments = 2\nvalidation.flows = [2]\nvalidation.every = 1\n"


def test_every_variant_is_a_recipe_of_its_own() -> None:
    recipe = tomllib.loads(read_text(devices.RECIPE))
    configs = [seeded(changed(recipe, tomllib.loads(variant.keys)), 2) for variant in devices.VARIANTS]
    assert len({config.model_dump_json() for config in configs}) == len(configs)
    assert len({variant.name for variant in devices.VARIANTS}) == len(configs)


@pytest.mark.slow
def test_the_page_compares_with_the_weights_that_saw_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = devices.Variant("devices", TINY + 'training.scenarios = ["many-to-one:2x16"]', "two updates")
    monkeypatch.setattr(devices, "VARIANTS", (tiny,))
    monkeypatch.setattr(devices, "TRAINED", tmp_path / "trained")
    monkeypatch.setattr(shared_contexts, "KEPT", tmp_path / "runs")
    for module in (devices, shared_contexts):
        monkeypatch.setattr(module, "SCENARIOS", ("many-to-one:4x16",))
    out = tmp_path / "page.md"
    assert devices.main(["--seeds", "1", "--jobs", "1", "--out", str(out)]) == 0
    rows = {row.split("|")[1].strip(): row for row in re.findall(r"^\| .* 4x16 .*$", out.read_text(), re.MULTILINE)}
    assert list(rows) == ["RL-CC", "devices"]
    own, _, sixteen, _, ruled = re.findall(r"(0\.\d+) / [\d.]+ / [\d.]+", rows["RL-CC"])
    assert float(sixteen) < 0.9 * float(own)
    assert float(ruled) > 0.99 * float(own)
    assert "two updates" in out.read_text()
