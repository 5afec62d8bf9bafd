"""A tiny recipe over a hand-made teacher, run once a session, and firmware folders edited under a valid manifest."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from decision.artefact import manifest, output
from decision.artefact.documents import load_json
from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import feature_names
from rlcc import cli
from teachers.load import load
from teachers.save import save
from teachers.teacher import make_teacher

POLICY: dict[str, Any] = {
    "format": 1,
    "name": "hand-made",
    "architecture": {"kind": "mlp", "hidden": [12], "bias": False},
    "observation": {
        "window": 2,
        "base_rtt": "8192 ns",
        "line_rate": "100 Gb/s",
        "rtt_max": "4 ms",
        "features": [
            {"kind": "previous_action"},
            {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5},
        ],
    },
    "action": {"kind": "tanh_map", "step": 0.2},
    "limits": {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"},
}

RECIPE = """\
format = 1
name = "tiny"
teacher = "teacher"
seed = 1

[rollout]
scenarios = ["many-to-one:2", "many-to-one:8"]
duration = "4 ms"

[distill]
trees = 3
depth = 3
rounds = 1
rows = 2000
learning_rate = [0.4]
comparison_window = ["2 ms", "4 ms"]

[emit]
target = "generic"

[gate]
budget = "20 us"
scenarios = ["many-to-one:2"]
duration = "4 ms"
window = ["1 ms", "4 ms"]

[gate.tolerance]
goodput = 0.2
latency = 0.5

[gate.neighbourhood]
limit = 0.4  # three trees of depth 3 that have seen 8 flows
"""


def hand_made(folder: Path, gain: float = 1.0) -> None:
    """Save a teacher x = tanh(-k r_t - d (r_t - r_{t-1})) with k = 0.12, d = 0.05: two ReLU units of the twelve."""
    hidden, out = np.zeros((12, 4), np.float32), np.zeros((1, 12), np.float32)
    hidden[0] = 0, gain * 0.17, 0, -gain * 0.05
    hidden[1] = -hidden[0]
    out[0, :2] = -1, 1
    weights = {"fc0.weight": hidden, "out.weight": out}
    save(make_teacher(Policy.model_validate(POLICY), weights, "the test"), folder)


@dataclass(frozen=True)
class Pipeline:
    """Folders of one run of the tiny recipe, and what it printed."""

    root: Path
    code: int

    @property
    def recipe(self) -> Path:
        return self.root / "tiny.toml"

    @property
    def teacher(self) -> Path:
        return self.root / "teacher"

    @property
    def other_teacher(self) -> Path:
        return self.root / "other-teacher"

    @property
    def rollouts(self) -> Path:
        return self.root / "out/rollouts"

    @property
    def student(self) -> Path:
        return self.root / "out/student"

    @property
    def firmware(self) -> Path:
        return self.root / "out/firmware"

    @property
    def verdict(self) -> Path:
        return self.root / "out/verdict"

    def copy(self, to: Path) -> "Pipeline":
        shutil.copytree(self.root, to)
        return Pipeline(to, self.code)


MadeOnce = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def pipeline(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """The run, simulated in two processes, a copy for each worker. Its folders are shared: tests that change anything
    take a copy."""

    def make(place: Path) -> None:
        root = place / "run"
        root.mkdir()
        (root / "tiny.toml").write_text(RECIPE)
        hand_made(root / "teacher")
        hand_made(root / "other-teacher", gain=0.5)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHON_CPU_COUNT", "2")
            code = cli.main(["run", str(root / "tiny.toml"), "--out", str(root / "out")])
        (place / "exit-code").write_text(str(code))

    place = made_once("pipeline", make)
    root = Path(shutil.copytree(place / "run", tmp_path_factory.mktemp("pipeline") / "run"))
    return Pipeline(root, int((place / "exit-code").read_text()))


@pytest.fixture(scope="session")
def recipe_text() -> str:
    return RECIPE


@pytest.fixture(scope="session")
def save_teacher() -> Callable[..., None]:
    return hand_made


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that must exit with 2 and exactly one line on stderr, which is returned."""

    def run(*arguments: object) -> str:
        capsys.readouterr()
        code = cli.main([str(a) for a in arguments])
        err = capsys.readouterr().err
        assert code == 2, err
        assert err.startswith("error: "), err
        assert err.count("\n") == 1, err
        assert "unexpected" not in err
        assert "Traceback" not in err
        return err

    return run


@pytest.fixture(scope="session")
def resealed() -> Callable[..., Path]:
    """Copies an artefact, lets ``edit`` change its files, and seals it again: manifest and hash are right."""

    def make(folder: Path, to: Path, edit: Callable[[Path], None]) -> Path:
        kind = load_json(folder / manifest.NAME)["kind"]
        known = manifest.opened(folder, kind)
        options = {"parents": known.parents, "seed": known.seed, "details": dict(known.details)}
        with output.writing(to, kind, **options) as work:
            for name in known.files:
                shutil.copy(folder / name, work / name)
            edit(work)
        return to

    return make


GATE = """\
format = 1
name = "good"
teacher = "teacher"

[rollout]
scenarios = ["many-to-one:2"]

[gate]
budget = "20 us"
scenarios = ["many-to-one:2"]
duration = "4 ms"
window = ["1 ms", "4 ms"]
tolerance = { goodput = 1, latency = 1, fairness = 1, loss = 1 }
match = { rmse = 1, p99 = 1, maximum = 1, duration = "2 ms" }
"""


@pytest.fixture(scope="session")
def good(made_once: MadeOnce, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with teacher, student, firmware, certificate and the recipe good.toml whose gate passes; the student is
    two trees written by hand. Each worker has a copy. Shared: tests that change anything take a copy."""
    made = made_once("good", make_good)
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("good"), dirs_exist_ok=True))


def make_good(root: Path) -> None:
    hand_made(root / "teacher")
    (root / "good.toml").write_text(GATE)
    teacher = load(root / "teacher")
    names = feature_names(teacher.policy.observation)
    at = next(n for n, name in enumerate(names) if name.startswith("congestion"))
    trees = (
        oblivious(((at, 48_173), (names.index("action_1"), 200)), (0, -1800, 300, -1500)),
        oblivious(((at, 5_134_823),), (0, -4000)),
    )
    policy = teacher.policy
    ensemble = Forest(names, trees, (600,), policy.action.leaf_bits)
    made = Student(policy.name, policy.header, ensemble, teacher.hash)
    with output.writing(root / "student", "student", parents={"teacher": teacher.hash}) as work:
        made.save(work)
    assert cli.main(["emit", str(root / "student"), "--target", "generic", "--out", str(root / "firmware")]) == 0
    proved = ["verify", str(root / "firmware"), "--out", str(root / "certificate/certificate.json")]
    assert cli.main(proved) == 0


@pytest.fixture
def rlcc(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command; exit code, stdout, stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = cli.main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run
