"""Hashes of every step from a teacher to its firmware, of one small recipe of each kind.

python -m bench.steps > tests/bench/steps.json      after a change that is meant to change them
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from codegen.emit import emit
from decision.artefact.manifest import opened
from distill import distil, rollout
from distill.dataset import join, label
from distill.fit import student_observation
from distill.student_artefact import KIND
from rlcc.recipe import deployment_of, load_recipe, teacher_path
from teachers.load import load

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Small:
    """The scenarios and times that a recipe is cut down to."""

    recipe: str
    scenarios: list[str]
    duration: str
    window: list[str]


FABRIC = "incast:3@leaf-spine:2x4x1:25/100"
KINDS = {
    "mlp": Small("rl-cc", ["many-to-one:8", "many-to-one:64"], "4 ms", ["1 ms", "4 ms"]),
    "lstm": Small("pcc-rl-lstm", ["many-to-one:8", "many-to-one:64"], "4 ms", ["1 ms", "4 ms"]),
    "choice": Small("acc", [FABRIC, "websearch:80%@leaf-spine:2x4x1:25/100"], "3 ms", ["1 ms", "3 ms"]),
    "trigger": Small("haecn", [FABRIC, "websearch:80%@leaf-spine:2x4x1:25/100"], "9 ms", ["1 ms", "9 ms"]),
    "level": Small("auto-srla", ["websearch:80%@planes:3x8:1"], "4 s", ["100 ms", "300 ms"]),
}


def steps(kind: str, folder: Path) -> Iterator[tuple[str, str]]:
    """The steps of one kind, in order: name and SHA-256."""
    small = KINDS[kind]
    path = ROOT / "recipes" / f"{small.recipe}.toml"
    recipe = load_recipe(path)
    teacher, deployment = load(teacher_path(recipe, path)), deployment_of(recipe, path)
    network = _changed(recipe.rollout, scenarios=small.scenarios, seeds=[1], duration=small.duration)
    cut = {
        "trees": 3,
        "rounds": 1,
        "rows": 1500,
        "comparison_scenarios": small.scenarios,
        "comparison_window": small.window,
    }
    options = _changed(recipe.distill, **cut, bias_search=recipe.distill.bias_search[:1], max_deviation=None)
    runs = rollout.collect(rollout.teacher_policy(teacher), network, deployment)
    yield (
        "rollouts",
        _hash(*(run.trajectories.columns[name] for run in runs for name in sorted(run.trajectories.columns))),
    )
    observation = student_observation(teacher, options)
    data = join(label(runs, teacher, observation, rows=options.rows, seed=1))
    yield "features", _hash(data.x)
    yield "labels", _hash(data.y, data.weight)
    first, _ = distil.first_fit(teacher, runs, options, seed=1)
    yield "first fit", hashlib.sha256(json.dumps(first.student.forest.to_json()).encode()).hexdigest()
    fitted = distil.distil(teacher, runs, options, network, seed=1, deployment=deployment)
    distil.save(fitted, "0" * 64, folder / "student", seed=1)
    for name, value in sorted(opened(folder / "student", KIND).files.items()):
        yield name, value
    emit(folder / "student", folder / "firmware", target="bare", seed=1)
    for name, value in sorted(opened(folder / "firmware", "firmware").files.items()):
        yield name, value


def _changed(options: Any, **changes: Any) -> Any:
    return type(options).model_validate(options.model_dump(mode="json") | changes)


def _hash(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def all_steps(kinds: list[str]) -> dict[str, dict[str, str]]:
    found = {}
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            found[kind] = dict(steps(kind, Path(folder)))
    return found


if __name__ == "__main__":
    print(json.dumps(all_steps(sys.argv[1:] or list(KINDS)), indent=2))
