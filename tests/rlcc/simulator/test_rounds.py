"""DAgger in simulators that are not rlcc's: in C++ by the emitted C, and in Python."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_log import COLUMNS, FOLDER, column_options, log_text

import rlcc
from decision.artefact.errors import InputError
from rlcc import cli
from rlcc.simulator.command import command_simulator
from rlcc.simulator.student_library import DrivenStudent, driven

RULE = (FOLDER / "rule.py").read_text()
BASE_RTT_US = 8.192


@pytest.fixture(scope="module")
def rollouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rollouts of the log, labelled by the rule behind it."""
    root = tmp_path_factory.mktemp("rounds")
    (root / "log.csv").write_text(log_text(1))
    (root / "rule.py").write_text(RULE)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        asked = ["import", "log.csv", "--policy", str(FOLDER / "policy.toml"), *column_options()[:-2]]
        assert cli.main([*asked, "--labels", "rule:decide", "--out", "rollouts"]) == 0
    return root / "rollouts"


def test_a_log_in_memory_and_a_function_make_the_same_record(rollouts: Path, tmp_path: Path) -> None:
    lines = [line.split(",") for line in (rollouts.parent / "log.csv").read_text().splitlines()]
    log = {name: [row[place] for row in lines[1:]] for place, name in enumerate(lines[0])}
    columns = {name: column for name, column in COLUMNS.items() if name != "label"}
    decide = rule_of(rollouts.parent)
    policy = FOLDER / "policy.toml"
    made = rlcc.import_log(log, policy, tmp_path / "rollouts", columns=columns, labels=decide)
    assert made.manifest.parents == rlcc.Rollouts(rollouts).manifest.parents
    assert made.table().num_rows == len(lines) - 1
    with pytest.raises(InputError, match="one of"):
        rlcc.import_log(log, policy, tmp_path / "other", columns=columns, labels=decide, teacher="nowhere")


def test_a_simulator_in_cpp_drives_the_emitted_c(
    rollouts: Path, cpp_simulator: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flows rest where theory has them: inflation = beta + target * sqrt(N) (RL-CC, section 4)."""
    monkeypatch.chdir(rollouts.parent)
    asked = ["distill", str(rollouts), "--simulator", str(cpp_simulator), "--scenario", "8", "--rounds", "1"]
    assert cli.main([*asked, "--out", str(tmp_path / "student")]) == 0
    student = rlcc.Student(tmp_path / "student").load()
    rounds = student.report["rounds"]
    assert [each["round"] for each in rounds] == [0, 1]
    assert rounds[1]["decisions"] > rounds[0]["decisions"] + 1000
    assert rounds[student.report["chosen"]]["rmse"] == min(each["rmse"] for each in rounds)
    with driven(student) as given, command_simulator(str(cpp_simulator)) as simulator:
        for flows in (2, 8):
            rows = simulator.run(given, str(flows), 99)
            late = np.array(rows["time_us"]) > 10_000
            inflation = np.array(rows["rtt_us"])[late].mean() / BASE_RTT_US
            assert inflation == pytest.approx(1.5 + 0.064 * flows**0.5, abs=0.03)


def rule_of(folder: Path) -> Any:
    """The rule as a function of no module that can be imported by its name."""
    spec = importlib.util.spec_from_file_location("rule", folder / "rule.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.decide


class Fluid:
    """The queue of the C++ simulator, in Python."""

    def run(self, student: DrivenStudent, scenario: str, seed: int) -> dict[str, Any]:
        random = np.random.default_rng(seed)
        flows, queue, now = int(scenario), 0.0, 0.0
        rates, due = [100.0] * flows, random.uniform(0, 10, flows)
        rows: dict[str, list[Any]] = {name.partition(" in ")[0]: [] for name in list(COLUMNS.values())[:-1]}
        while now < 3000:
            flow = int(np.argmin(due))
            queue = float(np.clip(queue + (sum(rates) - 100) * (due[flow] - now) * 125, 0, 1e6))
            now = float(due[flow])
            rtt = round(BASE_RTT_US + queue * 8 / 100e3, 3)
            for name, value in zip(rows, (now, flow, rtt, rates[flow]), strict=True):
                rows[name].append(value)
            now_ns = round(1000 * now)
            event = {"request_sent_ns": (now_ns - round(1000 * rtt)) % 2**32, "response_ns": now_ns}
            rates[flow] = max(100 * student.decide(flow, event)["rate_q20"] / 2**20, 1e-4)
            due[flow] = now + rtt
        return rows


def test_a_simulator_in_python_gives_the_same_student_again(
    rollouts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(rollouts.parent)
    options = {"rounds": 1, "trees": 3, "depth": 3, "learning_rate": [0.7], "scenarios": ["4"]}
    made = [rlcc.distill(rollouts, tmp_path / name, simulator=Fluid(), **options) for name in ("one", "two")]
    assert made[0].hash == made[1].hash
    assert made[0].load().report["rounds"][0]["rows"] != made[0].load().report["rounds"][1]["rows"]


def test_a_log_with_labels_needs_a_simulator_with_labels(rollouts: Path, tmp_path: Path) -> None:
    """The simulator has the rule in it: its rows say what should be decided."""

    class Labelling(Fluid):
        def run(self, student: DrivenStudent, scenario: str, seed: int) -> dict[str, Any]:
            rows = super().run(student, scenario, seed)
            room = 0.064 - np.maximum(np.array(rows["rtt_us"]) / BASE_RTT_US - 1.5, 0)
            return rows | {"multiplier": 1 + 0.16 * np.tanh(room)}

    policy, log = FOLDER / "policy.toml", rollouts.parent / "log.csv"
    record = rlcc.import_log(log, policy, tmp_path / "rollouts", columns=COLUMNS)
    options = {"rounds": 1, "trees": 2, "depth": 2, "learning_rate": [0.7], "scenarios": ["2"]}
    made = rlcc.distill(record, tmp_path / "student", simulator=Labelling(), **options).load()
    assert [each["round"] for each in made.report["rounds"]] == [0, 1]
    with pytest.raises(InputError, match="column label"):
        rlcc.distill(record, tmp_path / "other", simulator=Fluid(), **options)


def test_rows_are_held_to_what_a_log_is_held_to(
    rollouts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(rollouts.parent)

    class Wrong(Fluid):
        def run(self, student: DrivenStudent, scenario: str, seed: int) -> Any:
            rows = super().run(student, scenario, seed)
            rows["rtt_us"][3] = float("nan")
            return rows

    class Nothing:
        def run(self, student: DrivenStudent, scenario: str, seed: int) -> Any:
            return None

    for simulator, said in ((Wrong(), "row 4"), (Nothing(), "NoneType")):
        with pytest.raises(InputError, match=said):
            rlcc.distill(rollouts, tmp_path / "student", simulator=simulator, scenarios=["2"], trees=2, depth=2)
    assert not (tmp_path / "student").exists()


def test_the_rule_must_be_the_one_that_labelled_the_log(
    rollouts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other(rows: Any, state: Any) -> Any:
        return np.zeros(len(rows)), state

    with pytest.raises(InputError, match="rule:decide"):
        rlcc.distill(rollouts, tmp_path / "student", simulator=Fluid(), labels=other)
    monkeypatch.chdir(rollouts.parent)
    with pytest.raises(InputError, match="no teacher"):
        rlcc.distill(
            rollouts, tmp_path / "student", simulator=Fluid(), teacher=FOLDER.parents[1] / "fixtures/teachers/rl-cc-mlp"
        )
