"""Subjects that the forger makes itself in some seconds each: small ones of every kind of agent.

flow      a perceptron of 12 units to trees, proved, with properties and the distance from its teacher
lstm      an LSTM of 3 cells to trees, proved
queue     ACC's agents, a choice among rows
trigger   HAECN's agents, a choice and a trigger
model     a CatBoost classifier of three classes, proved, without a teacher
network   a perceptron as an int8 network
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bench.forge.judges import commanded
from bench.forge.subjects import MADE, ForgerySubject, Say, prepared, standing
from decision.artefact.errors import InputError
from decision.artefact.output import writing
from decision.ir.forest import Forest, oblivious
from decision.policy.policy import Policy
from decision.policy.student import Student
from decision.policy.tree_decision import seen_names
from decision.policy.weights import shapes
from rlcc.shipped_recipes import FOLDER
from teachers.load import load
from teachers.save import save
from teachers.teacher import Teacher, make_teacher

FLOWS = """\
format = 1
name = "{name}"
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
exclude_features = [{without}]
comparison_window = ["2 ms", "4 ms"]

[emit]
target = "generic"

[gate]
budget = "80 us"
scenarios = ["many-to-one:2"]
duration = "4 ms"
window = ["1 ms", "4 ms"]
proof = {proof}

[gate.match]
rmse = 0.1
p99 = 0.3

[gate.tolerance]
goodput = 0.2
latency = 0.5

[gate.neighbourhood]
limit = 0.29
proof = {distance}
"""
PROPERTIES = """
[[gate.property]]
kind = "step"

[[gate.property]]
kind = "yields"

[[gate.property]]
kind = "fixed_point"
"""
QUEUES = """\
format = 1
name = "{name}"

[network]
link = "25 Gb/s"

[agents.senders]
interface = "flow_rate"
baseline = "dcqcn"

[agents.queues]
interface = "queue_marking"
teacher = "teacher"
period = "50 us"

[rollout]
scenarios = ["many-to-one:4"]

[emit]
target = "bare"

[gate]
budget = "2 us"
scenarios = ["many-to-one:4"]
duration = "2 ms"
window = ["1 ms", "2 ms"]
proof = false
match = {{ rmse = 0.01, p99 = 0.01, maximum = 0.01, duration = "2 ms" }}
"""
CONGESTION = {"kind": "rl_cc_congestion", "target": 0.064, "beta": 1.5, "scale": -12.5}
PATH = {"base_rtt": "8192 ns", "line_rate": "100 Gb/s", "rtt_max": "4 ms"}
LIMITS = {"rate_min": "1 ppm", "rate_max": "100 %", "rate_initial": "100 %"}
LONGEST = 11
"""Of a queue, in doublings of 5 kB, for which the table's first row is chosen."""


def flow(place: Path, say: Say) -> ForgerySubject:
    _perceptron(place / "teacher")
    recipe = place / "flow.toml"
    recipe.write_text(FLOWS.format(name="flow", without="", proof="true", distance="true") + PROPERTIES)
    return _distilled(place, recipe, say)


def lstm(place: Path, say: Say) -> ForgerySubject:
    _lstm(place / "teacher")
    recipe = place / "lstm.toml"
    recipe.write_text(FLOWS.format(name="lstm", without="", proof="true", distance="false"))
    return _distilled(place, recipe, say)


def queue(place: Path, say: Say) -> ForgerySubject:
    return _of_queues("queue", "acc", place, say)


def trigger(place: Path, say: Say) -> ForgerySubject:
    return _of_queues("trigger", "haecn", place, say)


def model(place: Path, say: Say) -> ForgerySubject:
    from catboost import CatBoostClassifier

    rows = [[a, b] for a in range(0, 64, 3) for b in range(0, 64, 3)]
    classes = [0 if a * b < 700 else 1 if a > b else 2 for a, b in rows]
    options: dict[str, Any] = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False}
    fitted = CatBoostClassifier(loss_function="MultiClass", thread_count=1, **options).fit(rows, classes)
    fitted.save_model(str(place / "model.cbm"))
    grid = "".join(f'[features."{f}"]\nlow = 0\nhigh = 63\nfraction_bits = 0\n' for f in (0, 1))
    (place / "grid.toml").write_text(grid)
    run = place / "run"
    _run("emit", place / "model.cbm", "--grid", place / "grid.toml", "--out", run / "firmware")
    return prepared(run, None, place / "model", say)


def network(place: Path, say: Say) -> ForgerySubject:
    _perceptron(place / "teacher")
    recipe, run = place / "network.toml", place / "run"
    recipe.write_text(FLOWS.format(name="network", without="", proof="false", distance="false"))
    scenarios = ["--scenario", "many-to-one:2", "--scenario", "many-to-one:8", "--duration", "3ms"]
    _run("rollout", place / "teacher", *scenarios, "--out", run / "rollouts")
    form: list[str | Path] = ["--form", "mlp-int8", "--rollouts", run / "rollouts", "--target", "generic"]
    _run("emit", place / "teacher", *form, "--out", run / "firmware")
    return prepared(run, recipe, place / "network", say)


MAKERS: Mapping[str, Callable[[Path, Say], ForgerySubject]] = {
    "flow": flow,
    "lstm": lstm,
    "queue": queue,
    "trigger": trigger,
    "model": model,
    "network": network,
}


def made(name: str, folder: Path, say: Say) -> ForgerySubject:
    """The subject of that name; taken from ``folder`` where it was made before."""
    place = folder / f"{name}{MADE}"
    ready = standing(place / name, say)
    if ready is not None:
        return ready
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    say(f"making {name}")
    return MAKERS[name](place, say)


def _run(*arguments: str | Path) -> None:
    answer = commanded(str(arguments[0]), arguments)
    if answer.outcome != "accepted":
        raise InputError(f"rlcc {arguments[0]} did not make a subject: {answer.said}")


def _distilled(place: Path, recipe: Path, say: Say) -> ForgerySubject:
    run = place / "run"
    answer = commanded("run", ["run", recipe, "--out", run])
    if not (run / "firmware").is_dir():
        raise InputError(f"{recipe} made no firmware: {answer.said}")
    return prepared(run, recipe, place / recipe.stem, say)


def _perceptron(folder: Path) -> None:
    """x = tanh(-k r_t - d (r_t - r_{t-1})), k = 0.12, d = 0.05, by two ReLU units of twelve."""
    hidden, out = np.zeros((12, 4), np.float32), np.zeros((1, 12), np.float32)
    hidden[0] = 0, 0.17, 0, -0.05
    hidden[1] = -hidden[0]
    out[0, :2] = -1, 1
    features: list[dict[str, Any]] = [{"kind": "previous_action"}, CONGESTION]
    policy = _policy("flow", {"kind": "mlp", "hidden": [12], "bias": False}, 2, features)
    save(make_teacher(policy, {"fc0.weight": hidden, "out.weight": out}, "bench.forge"), folder)


def _lstm(folder: Path) -> None:
    policy = _policy("lstm", {"kind": "lstm", "hidden": [6], "lstm": 3, "bias": True}, 1, [CONGESTION])
    rng = np.random.default_rng(5)
    weights = {n: rng.uniform(-0.7, 0.7, shape).astype(np.float32) for n, shape in shapes(policy).items()}
    save(make_teacher(policy, weights, "bench.forge"), folder)


def _policy(name: str, architecture: dict[str, Any], window: int, features: list[dict[str, Any]]) -> Policy:
    return Policy.model_validate(
        {
            "format": 1,
            "name": name,
            "architecture": architecture,
            "observation": {"window": window, **PATH, "features": features},
            "action": {"kind": "tanh_map", "step": 0.2},
            "limits": LIMITS,
        }
    )


def _of_queues(name: str, shipped: str, place: Path, say: Say) -> ForgerySubject:
    teacher = _first_row(shipped)
    save(teacher, place / "teacher")
    recipe, run = place / f"{name}.toml", place / "run"
    recipe.write_text(QUEUES.format(name=name))
    with writing(run / "student", "student", parents={"teacher": teacher.hash}) as work:
        _row_student(teacher).save(work)
    _run("emit", run / "student", "--target", "bare", "--out", run / "firmware")
    return prepared(run, recipe, place / name, say)


def _first_row(shipped: str) -> Teacher:
    """A network with the policy of a shipped one, which always chooses the table's first row, anew each time."""
    policy = load(FOLDER / "fixtures" / "teachers" / shipped).policy
    weights = {part: np.zeros(shape, np.float32) for part, shape in shapes(policy).items()}
    weights["out.bias"][0] = 1.0
    if policy.trigger is not None:
        weights["trigger_out.bias"][1] = 1.0
    return make_teacher(policy, weights, "bench.forge")


def _row_student(teacher: Teacher) -> Student:
    """A student that chooses the first row for queues up to ``LONGEST``, the last row for longer ones."""
    policy = teacher.policy
    action: Any = policy.action
    sums, half = action.sums, 1 << (action.leaf_bits - 1)
    triggered = () if policy.trigger is None else (half,)
    first, last = ((*(9 * (n == chosen) for n in range(sums)), *(0 for _ in triggered)) for chosen in (0, sums - 1))
    trees = [oblivious(((0, LONGEST),), (first, last))]
    if triggered:
        silent = (0,) * sums
        trees.insert(0, oblivious(((0, LONGEST),), ((*silent, 9), (*silent, -9))))
    names = seen_names(policy.observation, policy.trigger)
    forest = Forest(names, tuple(trees), (*[0] * sums, *triggered), action.leaf_bits)
    return Student(policy.name, policy.header, forest, teacher.hash)
