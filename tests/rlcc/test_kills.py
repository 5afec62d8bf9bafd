"""Kills: an artefact is whole or absent, a rerun goes on or starts over, nothing is left behind.

By default a process kills itself before each of the renames that put an artefact in place. Thirty kills at random
moments of the commands themselves are for `-m slow`.

Slow: the kill of a distillation.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from decision.artefact import temporary
from decision.artefact.errors import InputError
from decision.artefact.manifest import NAME, opened
from decision.artefact.output import check_place, write_atomically, writing

ROOT = Path(__file__).resolve().parents[2]
TEACHER = ROOT / "fixtures" / "teachers" / "rl-cc-mlp"


def write(folder: Path, text: str) -> None:
    with writing(folder, "thing") as work:
        (work / "x").write_text(text)


def killed_at(call: int, folder: Path) -> bool:
    """Whether a child that replaces the artefact was killed before its ``call``-th change of a name."""
    child = os.fork()
    if child == 0:
        count = 0
        for name in ("rename", "replace", "unlink", "rmdir"):
            real = getattr(os, name)

            def counted(*arguments, real=real, **options):
                nonlocal count
                count += 1
                if count == call:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments, **options)

            setattr(os, name, counted)
        try:
            temporary.sweep.cache_clear()
            write(folder, "second")
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_an_artefact_is_whole_wherever_its_writer_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    write(folder, "first")
    seen = set()
    for call in range(1, 30):
        if not killed_at(call, folder):
            break
        temporary.sweep.cache_clear()
        check_place(folder, "thing")
        opened(folder, "thing")
        seen.add((folder / "x").read_text())
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        write(folder, "first")
    assert call > 4
    assert seen == {"first", "second"}


def test_a_file_is_whole_wherever_its_writer_is_killed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[assignment]
        try:
            write_atomically(tmp_path / "a.json", "{}")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert len(list(tmp_path.iterdir())) == 1
    temporary.sweep.cache_clear()
    write_atomically(tmp_path / "b.json", "{}")
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]


# --- the commands ----------------------------------------------------------------------------------------------------

RECIPE = f"""
format = 1
name = "small"
teacher = "{TEACHER}"
[rollout]
scenarios = ["many-to-one:2", "many-to-one:8"]
duration = "4 ms"
[distill]
trees = 2
depth = 2
rounds = 1
comparison_window = ["1 ms", "4 ms"]
[gate]
budget = "0.9 us"
scenarios = ["many-to-one:2"]
duration = "4 ms"
window = ["1 ms", "4 ms"]
tolerance = {{ goodput = "±1", latency = "±900 %", fairness = "any", loss = "any" }}
match = {{ rmse = 4, p99 = 4, maximum = 4, duration = "4 ms" }}
neighbourhood = {{ limit = 4 }}
"""
TRAINING = (ROOT / "recipes" / "train-rl-cc-mlp.toml").read_text()
TRAINING_SECONDS = 12.0
"""Of a training that is not waited for: it is killed twice and goes on in between."""

COMMANDS = {
    "rollout": f"rollout {TEACHER} --scenario many-to-one:8 --duration 20ms --out out",
    "distill": f"distill {TEACHER} PREPARED/made/rollouts --trees 2 --depth 2 --rounds 1 --out out",
    "emit": "emit PREPARED/made/student --out out",
    "emulate": "emulate PREPARED/made/firmware --json out.json",
    "verify": "verify PREPARED/made/firmware --out out.json",
    "run": "run PREPARED/recipe.toml --out out",
    "evaluate": "evaluate hpcc dcqcn --scenario many-to-one:64 --duration 60ms --seed 1 --no-pictures --out out",
    "train": "train PREPARED/train.toml --out out",
}
KILLS = [(name, number) for number in range(4) for name in COMMANDS][:30]


def start(line: str, folder: Path, temporaries: Path) -> "subprocess.Popen[bytes]":
    temporaries.mkdir(exist_ok=True)
    # PyTorch's optimiser imports its compiler, which makes a folder for itself.
    env = {**os.environ, "TMPDIR": str(temporaries), "TORCHINDUCTOR_CACHE_DIR": str(temporaries.parent / "compiler")}
    command = [sys.executable, "-m", "rlcc.cli", *line.split()]
    out = (folder / "log").open("wb")
    return subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=out, start_new_session=True)


def finished(line: str, folder: Path, temporaries: Path) -> float:
    begin = time.monotonic()
    code = start(line, folder, temporaries).wait()
    assert code in (0, 1), (folder / "log").read_text()
    return time.monotonic() - begin


def hashes(folder: Path) -> dict[str, str]:
    """Of every artefact, by its place; all of them whole."""
    found = {}
    for manifest in sorted(folder.rglob(NAME)):
        try:
            kind = json.loads(manifest.read_text())["kind"]
            found[str(manifest.parent.relative_to(folder))] = opened(manifest.parent, kind).hash
        except InputError as error:
            pytest.fail(f"{manifest}: {error}")
    return found


def group_lives(group: int) -> bool:
    """Whether a process of the session is left, that is no zombie."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, of = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(of) == group and state not in "ZX":
            return True
    return False


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("prepared")
    (folder / "recipe.toml").write_text(RECIPE)
    (folder / "train.toml").write_text(TRAINING)
    finished("run recipe.toml --out made", folder, folder / "tmp")
    return folder


@cache
def undisturbed(line: str, folder: Path) -> tuple[dict[str, str], float]:
    """What the command makes, and how long it takes."""
    folder.mkdir(parents=True)
    seconds = finished(line, folder, folder / "tmp")
    return hashes(folder), seconds


@pytest.mark.slow
@pytest.mark.parametrize(("name", "number"), KILLS)
def test_a_killed_command_loses_nothing_and_leaves_nothing(
    name: str, number: int, prepared: Path, tmp_path: Path
) -> None:
    line, temporaries = COMMANDS[name].replace("PREPARED", str(prepared)), tmp_path / "tmp"
    (cut := tmp_path / "cut").mkdir()
    whole, seconds = ({}, TRAINING_SECONDS) if name == "train" else undisturbed(line, prepared / "whole" / name)
    kill_within(line, random.Random(f"{name} {number}").uniform(0.1, 1.0) * seconds, cut, temporaries)
    if name == "train":
        resume = " --resume" if list(cut.glob("*.checkpoint*")) else ""
        kill_within(line + resume, seconds, cut, temporaries)
        assert "error" not in (cut / "log").read_text()
        finished(f"rollout {TEACHER} --scenario many-to-one:2 --duration 1ms --out cut", cut, temporaries)
    else:
        finished(line, cut, temporaries)
        assert hashes(cut) == whole
    assert list(temporaries.iterdir()) == []
    assert [path for path in cut.rglob("*") if "rlcc-" in path.name] == []


DISTILL = f"distill {TEACHER} rollouts --trees 4 --depth 3 --rows 500 --rounds 2 --out"


@pytest.mark.slow
def test_a_killed_distillation_goes_on_from_its_last_round(tmp_path: Path) -> None:
    """Killed when its first round stands; then with another seed, whose rounds those are not."""
    temporaries = tmp_path / "tmp"
    finished(f"rollout {TEACHER} --scenario many-to-one:2 --duration 2ms --out rollouts", tmp_path, temporaries)
    finished(f"{DISTILL} whole", tmp_path, temporaries)
    process = start(f"{DISTILL} cut", tmp_path, temporaries)
    first = tmp_path / "cut.rounds" / "round-0"
    while not first.exists():
        assert process.poll() is None, (tmp_path / "log").read_text()
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (tmp_path / "cut").exists()
    shutil.copytree(first.parent, tmp_path / "other.rounds")
    finished(f"{DISTILL} cut", tmp_path, temporaries)
    assert "resumed" in (tmp_path / "log").read_text()
    for file in (tmp_path / "whole").iterdir():
        assert (tmp_path / "cut" / file.name).read_bytes() == file.read_bytes(), file.name
    finished(f"{DISTILL} other --seed 2", tmp_path, temporaries)
    assert "not resumed" in (tmp_path / "log").read_text()
    assert opened(tmp_path / "other", "student").seed == 2
    assert not list(tmp_path.glob("*.rounds"))


def kill_within(line: str, seconds: float, folder: Path, temporaries: Path) -> None:
    """Kill the command after so long; what it has written is whole, and no process of it goes on."""
    process = start(line, folder, temporaries)
    time.sleep(seconds)
    process.kill()
    process.wait()
    hashes(folder)
    end = time.monotonic() + 30
    while group_lives(process.pid) and time.monotonic() < end:
        time.sleep(0.2)
    assert not group_lives(process.pid), "a process of the killed command goes on"
